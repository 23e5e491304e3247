#include "session/data_values.h"

#include <fmt/format.h>

#include <filesystem>

namespace quern {

namespace {

class Loader {
 public:
  Loader(std::string file, const Entries<TensorPtr>& entries, const DataLookup& lookup,
         std::optional<Place>* field)
      : file_(std::move(file)), entries_(entries), lookup_(lookup), field_(field) {}

  /// `owner`: what asks for the entry, for messages.
  Result<Value> value(const std::string& name, Type type, const std::string& owner) {
    if (type->is_tensor()) return tensor(name, type, owner);
    if (type->kind == TypeKind::Data) return record(name, type);
    return Failure{fmt::format("a file cannot hold a value of type {}", to_string(type))};
  }

 private:
  Result<Value> tensor(const std::string& name, Type type, const std::string& owner) {
    for (auto& [entry, in_file] : entries_) {
      if (entry != name) continue;
      TensorPtr vectors = type->dtype.is_vector() ? HostTensor::vectors_of(in_file, type->dtype) : nullptr;
      const TensorPtr& tensor = vectors ? vectors : in_file;
      if (std::string problem = mismatch(*tensor, type); !problem.empty())
        return Failure{fmt::format("{} in `{}` is {}, but {} is declared as {}: {}", described(name), file_,
                                   type_to_string(tensor->dtype(), tensor->shape()), owner, to_string(type),
                                   problem)};
      return Value::tensor(tensor);
    }
    std::vector<std::string> known;
    for (auto& [entry, _] : entries_) known.push_back("`" + entry + "`");
    if (known.size() > 12) {
      known.resize(12);
      known.push_back("…");
    }
    return Failure{fmt::format("`{}` has no tensor `{}`, which {} needs; it has {}", file_, name, owner,
                               fmt::join(known, ", "))};
  }
  static std::string described(const std::string& name) {
    return name.empty() ? "the tensor" : "the tensor `" + name + "`";
  }

  static std::string mismatch(const HostTensor& tensor, Type type) {
    if (type->dtype.is_vector() && tensor.dtype() == type->dtype.lane())
      return fmt::format("its last axis has to be the {} lanes", type->dtype.lanes);
    if (tensor.dtype() != type->dtype)
      return fmt::format("the dtype is {} and has to be {}", to_string(tensor.dtype()),
                         to_string(type->dtype));
    if (tensor.shape().size() != type->dims.size())
      return fmt::format("its rank is {} and has to be {}", tensor.shape().size(), type->dims.size());
    for (size_t i = 0; i < type->dims.size(); ++i) {
      auto wanted = as_const(type->dims[i]);
      if (wanted && *wanted != tensor.shape()[i])
        return fmt::format("dimension {} is {} and has to be {}", i, tensor.shape()[i], *wanted);
    }
    return "";
  }

  Result<Value> record(const std::string& prefix, Type type) {
    const DataDefinition* data = lookup_(type);
    if (!data || data->constructors.size() != 1)
      return Failure{fmt::format(
          "only a record (a type with one constructor) can be loaded, and `{}` is none", type->name)};
    const DataConstructor& constructor = data->constructors[0];
    Substitution substitution;
    for (size_t i = 0; i < type->args.size(); ++i)
      substitution.types.emplace(data->header.type_vars[i], type->args[i]);
    std::vector<Value> fields;
    for (size_t i = 0; i < constructor.fields.size(); ++i) {
      const DataField& f = constructor.fields[i];
      std::string part = f.name.empty() ? std::to_string(i) : f.name;
      std::string name = prefix.empty() ? part : fmt::format("{}.{}", prefix, part);
      auto field = value(name, substitute(f.type, substitution),
                         fmt::format("the field `{}` of `{}`", part, data->name));
      if (!field) {
        if (field_ && !field_->has_value()) *field_ = f.place;
        return field;
      }
      fields.push_back(*field);
    }
    return Value::data(*constructor.interned, std::move(fields));
  }

  std::string file_;
  const Entries<TensorPtr>& entries_;
  const DataLookup& lookup_;
  std::optional<Place>* field_;
};

std::string listed(const Entries<TensorPtr>& entries) {
  std::vector<std::string> names;
  for (auto& [name, _] : entries) names.push_back("`" + name + "`");
  return fmt::format("{}", fmt::join(names, ", "));
}

Result<Done> collect(const std::string& name, const Value& value, Type type, const DataLookup& lookup,
                     Entries<TensorPtr>& out) {
  if (TensorPtr tensor = value.as_tensor()) {
    out.emplace_back(name, tensor);
    return Done{};
  }
  const std::vector<Value>* fields = value.fields();
  if (!fields) return Failure{fmt::format("a value of type {} cannot be saved", to_string(type))};
  const DataDefinition* data = type->kind == TypeKind::Data ? lookup(type) : nullptr;
  for (size_t i = 0; i < fields->size(); ++i) {
    bool named = data && data->constructors.size() == 1 && !data->constructors[0].fields[i].name.empty();
    std::string part = named ? data->constructors[0].fields[i].name : std::to_string(i);
    Type field_type = data ? data->constructors[0].fields[i].type : type->args[i];
    std::string entry = name.empty() ? part : fmt::format("{}.{}", name, part);
    auto done = collect(entry, (*fields)[i], field_type, lookup, out);
    if (!done) return done;
  }
  return Done{};
}

}  // namespace

Result<Value> load_value(const std::string& path, std::string_view entry, Type type, const DataLookup& lookup,
                         std::optional<Place>* field) {
  auto entries = read_tensors(path);
  if (!entries) return entries.error();
  std::string file = std::filesystem::path(path).filename().string();
  std::string name(entry);
  if (type->is_tensor() && entry.empty()) {
    if (entries->size() != 1)
      return Failure{fmt::format("`{}` has {} entries ({}): name the one to load, `load(\"{}\", \"…\")`",
                                 file, entries->size(), listed(*entries), file)};
    name = (*entries)[0].first;
  }
  return Loader(file, *entries, lookup, field).value(name, type, "the value");
}

Result<Done> save_value(const std::string& path, const Value& value, Type type, const DataLookup& lookup) {
  Entries<TensorPtr> entries;
  auto done = collect("", value, type, lookup, entries);
  if (!done) return done;
  return write_tensors(path, entries);
}

}  // namespace quern
