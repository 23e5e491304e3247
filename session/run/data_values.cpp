#include "session/run/data_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>

#include "frontend/syntax/literals.h"
#include "frontend/text/suggest.h"
#include "ir/base/counted_work.h"
#include "ir/base/interrupt.h"
#include "ir/io/picture_files.h"
#include "ir/tokens/tokenizer.h"

namespace quern {

namespace {

std::string listed(const TensorFile& file, size_t most) {
  std::vector<std::string> names;
  for (const std::string& name : file.names()) {
    names.push_back(names.size() == most ? "…" : "`" + name + "`");
    if (names.size() > most) break;
  }
  return fmt::format("{}", fmt::join(names, ", "));
}

std::string mismatch(const HostTensor& tensor, Type type) {
  if (type->dtype.is_vector() && tensor.dtype() == type->dtype.lane())
    return fmt::format("its last axis has to be the {} lanes", type->dtype.lanes);
  if (tensor.dtype() != type->dtype)
    return fmt::format("the dtype is {} and has to be {}", to_string(tensor.dtype()), to_string(type->dtype));
  if (tensor.shape().size() != type->dims.size())
    return fmt::format("its rank is {} and has to be {}", tensor.shape().size(), type->dims.size());
  for (size_t i = 0; i < type->dims.size(); ++i) {
    auto wanted = as_const(type->dims[i]);
    if (wanted && *wanted != tensor.shape()[i])
      return fmt::format("dimension {} is {} and has to be {}", i, tensor.shape()[i], *wanted);
  }
  return "";
}

/// `file_name`: for messages.
Result<Value> load_tensor(TensorFile& file, const std::string& file_name, const StoredTensor& wanted) {
  if (!wanted.type->is_tensor())
    return Failure{fmt::format("what {} is in `{}` is not known: its type is {}", wanted.owner, file_name,
                               to_string(wanted.type))};
  const std::optional<size_t> entry = file.find(wanted.name);
  if (!entry)
    return Failure{fmt::format("`{}` has no tensor `{}`, which {} needs; it has {}", file_name, wanted.name,
                               wanted.owner, listed(file, 12))};
  const DType dtype = wanted.type->dtype;
  auto in_file = file.tensor_as(*entry, dtype.lane(), wanted.type->dims.size() + (dtype.is_vector() ? 1 : 0));
  if (!in_file) return in_file.error();
  TensorPtr vectors = dtype.is_vector() ? HostTensor::vectors_of(*in_file, dtype) : nullptr;
  const TensorPtr& tensor = vectors ? vectors : *in_file;
  std::string problem = mismatch(*tensor, wanted.type);
  if (problem.empty()) return Value::tensor(tensor);
  const std::string described = wanted.name.empty() ? "the tensor" : "the tensor `" + wanted.name + "`";
  return Failure{fmt::format("{} in `{}` is {}, but {} is declared as {}: {}", described, file_name,
                             type_to_string(tensor->dtype(), tensor->shape()), wanted.owner,
                             to_string(wanted.type), problem)};
}

/// Assembles a value of a type from the tensors from `next` on, in order.
Value assembled(Type type, const DataLookup& lookup, std::vector<Value>::iterator& next) {
  std::vector<Value> parts;
  if (type->kind == TypeKind::Tuple) {
    for (Type part : type->args) parts.push_back(assembled(part, lookup, next));
    return Value::tuple(std::move(parts));
  }
  if (type->kind != TypeKind::Data) return std::move(*next++);
  const DataDefinition& data = *lookup(type);
  const DataConstructor& constructor = data.constructors[0];
  for (Type part : field_types(data, constructor, type)) parts.push_back(assembled(part, lookup, next));
  return Value::data(*constructor.interned, std::move(parts));
}

/// Loads values from a file by name.
class ByName {
 public:
  ByName(TensorFile& file, std::string file_name, const DataLookup& lookup)
      : file_(file), file_name_(std::move(file_name)), lookup_(lookup) {}

  LoadedByName loaded;

  /// `takes_all`: the entries need not begin with its name.
  void add(const NamedType& wanted, bool takes_all) {
    LoadedByName::Loaded& taken = loaded.values.emplace_back();
    auto tensors = stored_tensors(wanted.name, wanted.type, lookup_);
    if (!tensors) {
      taken.problems.push_back(tensors.error().message);
      return;
    }
    const auto is_there = [&](const StoredTensor& t) { return file_.find(t.name).has_value(); };
    if (takes_all && std::ranges::none_of(*tensors, is_there))
      tensors = stored_tensors("", wanted.type, lookup_);
    if (std::ranges::none_of(*tensors, is_there) && !tensors->empty()) return;
    std::vector<Value> values;
    for (const StoredTensor& tensor : *tensors) {
      names_.push_back(tensor.name);
      if (!is_there(tensor)) {
        taken.problems.push_back(
            fmt::format("`{}` has no tensor `{}`: {}", file_name_, tensor.name, to_string(tensor.type)));
        taken.lacks_tensors = true;
      } else {
        used_.insert(tensor.name);
        auto value = load_tensor(file_, file_name_, tensor);
        if (value)
          values.push_back(std::move(*value));
        else
          taken.problems.push_back(value.error().message);
      }
    }
    if (values.size() != tensors->size()) return;
    auto next = values.begin();
    taken.value = assembled(wanted.type, lookup_, next);
  }

  void tell_unused(const std::vector<std::string>& given) {
    for (const std::string& name : file_.names()) {
      const auto is_of = [&](const std::string& value) {
        return name == value || name.starts_with(value + ".");
      };
      if (used_.contains(name) || std::ranges::any_of(given, is_of)) continue;
      std::vector<std::string> missing;
      std::ranges::copy_if(names_, std::back_inserter(missing), [&](auto& n) { return !used_.contains(n); });
      const auto meant = did_you_mean(name, missing);
      loaded.unused.push_back(fmt::format("`{}` has `{}`, which nothing takes{}", file_name_, name,
                                          meant ? fmt::format("; did you mean `{}`?", *meant) : ""));
    }
  }

 private:
  TensorFile& file_;
  const std::string file_name_;
  const DataLookup& lookup_;
  std::vector<std::string> names_;  ///< the names looked up
  std::set<std::string> used_;
};

/// Polymorphic recursion can nest tuples arbitrarily deep.
constexpr size_t kDeepest = 1000;

/// Why a file cannot hold the value, or "". Uses the value's structure, since the type may be a variable.
std::string collect(const std::string& name, const Value& value, size_t depth, Entries<TensorPtr>& out) {
  if (depth > kDeepest) return fmt::format("its parts are nested deeper than {} levels", kDeepest);
  if (TensorPtr tensor = value.as_tensor()) {
    out.emplace_back(name, tensor);
    return "";
  }
  const auto* data = value.object_as<DataObject>();
  if (data && data->constructor.siblings.size() > 1)
    return fmt::format("`{}` is one of several constructors", data->constructor.name);
  const std::vector<Value>* fields = value.fields();
  if (!fields) return "it has a function or a reference";
  for (size_t i = 0; i < fields->size(); ++i) {
    const std::string part = part_name(name, data ? data->constructor.fields[i] : "", i);
    if (std::string fault = collect(part, (*fields)[i], depth + 1, out); !fault.empty()) return fault;
  }
  return "";
}

/// Of those tensors that are there.
uint64_t bytes_to_read(TensorFile& file, const std::vector<StoredTensor>& tensors) {
  uint64_t bytes = 0;
  for (const StoredTensor& tensor : tensors) {
    const std::optional<size_t> entry = file.find(tensor.name);
    const auto header = entry ? file.header(*entry) : Result<TensorHeader>(Failure{});
    if (!header) continue;
    uint64_t elements = 1;
    for (const int64_t extent : header->shape) elements *= static_cast<uint64_t>(extent);
    bytes += elements * header->dtype.bytes();
  }
  return bytes;
}

}  // namespace

Result<Value> input_value(const std::string& text, Type type, const DataLookup& lookup,
                          std::optional<Place>* field) {
  if (is_data_file(text) || !type->is_scalar()) return load_value(text, "", type, lookup, field);
  const DType dtype = type->dtype;
  if (dtype.is_bool() && (text == "True" || text == "False")) return Value(Scalar::from_bool(text == "True"));
  const auto literal = dtype.is_bool() ? std::nullopt : parse_number(text);
  const auto value = literal ? literal_as(*literal, dtype) : std::nullopt;
  if (value) return Value(*value);
  return Failure{fmt::format("`{}` is no {}, and no name of a {} file", text, to_string(dtype),
                             listed_data_endings("or", DataUse::Read))};
}

Result<Value> load_value(const std::string& path, std::string_view entry, Type type, const DataLookup& lookup,
                         std::optional<Place>* field) {
  auto tensors = stored_tensors(std::string(entry), type, lookup);
  if (!tensors)
    return Failure{
        fmt::format("a value of type {} cannot be loaded: {}", to_string(type), tensors.error().message)};
  auto opened = open_tensor_file(path);
  if (!opened) return opened.error();
  TensorFile& file = **opened;
  const std::string file_name = std::filesystem::path(path).filename().string();
  if (type->is_tensor() && entry.empty() && file.names().size() != 1)
    return Failure{fmt::format("`{}` has {} entries ({}): name the one to load, `load(\"{}\", \"…\")`",
                               file_name, file.names().size(), listed(file, 12), file_name)};
  // A single tensor may have any name; a .npy's has none.
  const bool is_unnamed = file.names().size() == 1 && file.names().front().empty();
  if (entry.empty() && tensors->size() == 1 && (type->is_tensor() || is_unnamed))
    tensors->front().name = file.names().front();
  std::vector<Value> values;
  const CountedWork reading("reading " + file_name, bytes_to_read(file, *tensors), CountedWork::Unit::Bytes);
  for (const StoredTensor& tensor : *tensors) {
    auto value = load_tensor(file, file_name, tensor);
    if (!value) {
      if (field) *field = tensor.field;
      return value;
    }
    values.push_back(std::move(*value));
  }
  auto next = values.begin();
  return assembled(type, lookup, next);
}

Result<Value> load_tokens(const std::string& path, const std::string& tokens, Type type) {
  const auto tokenizer = open_tokenizer(tokens);
  if (!tokenizer) return tokenizer.error();
  const auto text = read_tensors(path);
  if (!text) return text.error();
  const HostTensor& bytes = *text->front().second;
  const auto ids = (*tokenizer)->encode({reinterpret_cast<const char*>(bytes.data()), bytes.bytes()});
  if (is_interrupted()) return Failure{kInterrupted};
  if (!ids)
    return Failure{fmt::format("Cannot read '{}' as tokens of '{}': {}.", path, tokens, ids.error().message)};
  const TensorPtr tensor =
      HostTensor::from<int32_t>(DType::int32(), {static_cast<int64_t>(ids->size())}, std::span(*ids));
  const std::string problem = type->is_tensor() ? mismatch(*tensor, type) : "they are a vector";
  if (problem.empty()) return Value::tensor(tensor);
  return Failure{fmt::format("the tokens of `{}` are {}, but they are declared as {}: {}", path,
                             type_to_string(tensor->dtype(), tensor->shape()), to_string(type), problem)};
}

Result<Done> save_tokens(const std::string& path, const std::string& tokens, const Value& value, Type type) {
  const TensorPtr tensor = value.as_tensor();
  if (!tensor || tensor->shape().size() != 1 || !tensor->dtype().is_int())
    return Failure{
        fmt::format("Cannot write '{}': the ids of tokens are a vector of integers, and this is {}.", path,
                    to_string(type))};
  const auto tokenizer = open_tokenizer(tokens);
  if (!tokenizer) return tokenizer.error();
  std::vector<int64_t> ids;
  for (int64_t k = 0; k < tensor->size(); ++k) ids.push_back(element_as_int(*tensor, k));
  const auto text = (*tokenizer)->decode(ids);
  if (!text)
    return Failure{
        fmt::format("Cannot write '{}' of tokens of '{}': {}.", path, tokens, text.error().message)};
  const auto* bytes = reinterpret_cast<const uint8_t*>(text->data());
  return write_tensors(path,
                       {{"", HostTensor::from<uint8_t>(DType::uint8(), {static_cast<int64_t>(text->size())},
                                                       std::span(bytes, text->size()))}});
}

Result<LoadedByName> load_by_name(const std::string& path, const std::vector<NamedType>& wanted,
                                  const DataLookup& lookup, const std::vector<std::string>& given) {
  auto opened = open_tensor_file(path);
  if (!opened) return opened.error();
  ByName by_name(**opened, std::filesystem::path(path).filename().string(), lookup);
  const auto has_parts = [](const NamedType& value) { return !value.type->is_tensor(); };
  const bool one_has_parts = std::ranges::count_if(wanted, has_parts) == 1;
  for (const NamedType& value : wanted) by_name.add(value, one_has_parts && has_parts(value));
  by_name.tell_unused(given);
  return std::move(by_name.loaded);
}

Result<Value> random_value(Type type, const DataLookup& lookup, Threefry& numbers) {
  auto tensors = stored_tensors("", type, lookup);
  if (!tensors) return tensors.error();
  std::vector<Value> values;
  for (const StoredTensor& tensor : *tensors) {
    Shape shape;
    for (Dim dim : tensor.type->is_tensor() ? tensor.type->dims : std::span<const Dim>()) {
      const auto extent = as_const(dim);
      if (!extent) return Failure{fmt::format("the extent `{}` is not known", to_string(dim))};
      shape.push_back(*extent);
    }
    if (!tensor.type->is_tensor() || tensor.type->dtype.is_var())
      return Failure{fmt::format("its type `{}` is not known", to_string(tensor.type))};
    values.push_back(Value::tensor(numbers.tensor(tensor.type->dtype, std::move(shape))));
  }
  auto next = values.begin();
  return assembled(type, lookup, next);
}

Result<Done> save_value(const std::string& path, const Value& value, Type type, const DrawCurves& draw) {
  Entries<TensorPtr> entries;
  if (std::string fault = collect("", value, 0, entries); !fault.empty())
    return Failure{fmt::format("a value of type {} cannot be saved: {}", to_string(type), fault)};
  Entries<SavedTensor> saved;
  for (auto& [name, tensor] : entries) {
    tensor = HostTensor::lanes_of(tensor);
    saved.emplace_back(name, SavedTensor{tensor->dtype(), tensor->shape().size()});
  }
  if (!is_drawn(path, saved)) return write_tensors(path, entries);
  if (auto fits = check_curves(path, saved); !fits) return fits;
  if (!draw) return Failure{fmt::format("Cannot draw '{}': there are no pictures here.", path)};
  return draw(path, entries);
}

}  // namespace quern
