#include "import/text/weights.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

namespace quern::import_text {

/// A record, a tuple, or a tensor.
struct Weights::Part {
  std::vector<std::pair<std::string, std::unique_ptr<Part>>> fields;  ///< in order
  std::optional<size_t> tensor;
  Names names;

  Part& field(const std::string& name) {
    for (auto& [known, part] : fields)
      if (known == name && !part->tensor) return *part;
    return *fields.emplace_back(names.unique(name), std::make_unique<Part>()).second;
  }
  /// Whether the fields are numbered from 0 without a gap.
  bool is_tuple() const {
    for (size_t i = 0; i < fields.size(); ++i)
      if (fields[i].first != std::to_string(i)) return false;
    return !fields.empty();
  }
};

namespace {

/// Writes the types of records, each once, those of fields first.
template <class Part>
class RecordWriter {
 public:
  RecordWriter(const std::vector<Term>& tensors, Weights::Record& record)
      : tensors_(tensors), record_(record) {
    record.projections.resize(tensors.size());
    // Types of the library.
    for (const char* taken : {"List", "Option", "Tree", "Weights"}) names_.unique(taken);
  }

  /// The type of a part as text; `path` is where it stands, `hint` what a record of it is called.
  std::string type_of(const Part& part, const std::string& path, const std::string& hint,
                      const std::vector<std::string>& place = {}) {
    std::string type = written(part, path, hint, place);
    record_.parts[place] = {path, type};
    return type;
  }

 private:
  std::string written(const Part& part, const std::string& path, const std::string& hint,
                      std::vector<std::string> place) {
    if (part.tensor) {
      const Term& tensor = tensors_[*part.tensor];
      record_.projections[*part.tensor] = path;
      record_.entries.emplace_back(path, tensor.constant);
      return to_string(tensor.type);
    }
    std::vector<std::string> fields;
    const bool is_tuple = part.is_tuple();
    for (const auto& [name, field] : part.fields) {
      const bool is_unnamed = !is_tuple && is_number(name);
      const std::string label = is_unnamed ? fmt::format("part{}", name) : name;
      const std::string inner = path.empty() ? label : fmt::format("{}.{}", path, label);
      place.push_back(name);
      std::string type = type_of(*field, inner, is_tuple ? hint : type_name(label), place);
      place.pop_back();
      fields.push_back(is_tuple ? type : fmt::format("{}: {}", label, type));
    }
    if (is_tuple) return fmt::format("({}{})", fmt::join(fields, ", "), fields.size() == 1 ? "," : "");
    return declare(fmt::format("{}", fmt::join(fields, ", ")), path.empty() ? "" : hint);
  }

  /// The name of the record type with these fields.
  std::string declare(const std::string& fields, const std::string& hint) {
    if (auto known = declared_.find(fields); known != declared_.end() && !hint.empty()) return known->second;
    std::string name = hint.empty() ? "Weights" : names_.unique(hint);
    record_.declarations += fmt::format("type {} {{ {}({}) }}\n", name, name, fields);
    return declared_[fields] = name;
  }

  const std::vector<Term>& tensors_;
  Weights::Record& record_;
  Names names_;
  std::map<std::string, std::string> declared_;
};

}  // namespace

std::string Weights::add(const Term& constant) {
  const auto [entry, is_new] = numbers_.try_emplace(constant.constant.get(), tensors_.size());
  if (is_new) tensors_.push_back(constant);
  return fmt::format("{}{}{}", kMark, entry->second, kMark);
}

Weights::Record Weights::record() const {
  Part root;
  for (size_t i = 0; i < tensors_.size(); ++i) {
    Part* part = &root;
    auto path = path_of(tensors_[i].name);
    if (path.empty()) path.emplace_back("weight");
    for (size_t k = 0; k + 1 < path.size(); ++k) part = &part->field(path[k]);
    auto leaf = std::make_unique<Part>();
    leaf->tensor = i;
    part->fields.emplace_back(part->names.unique(path.back()), std::move(leaf));
  }
  Record record;
  RecordWriter<Part>(tensors_, record).type_of(root, "", "");
  return record;
}

std::pair<size_t, size_t> weight_at(std::string_view text, size_t at) {
  const size_t end = text.find(kMark, at + 1);
  return {std::stoul(std::string(text.substr(at + 1, end - at - 1))), end + 1};
}

std::string with_projections(std::string_view text, std::string_view before,
                             const std::vector<std::string>& projections) {
  std::string result;
  while (true) {
    const size_t begin = text.find(kMark);
    result += text.substr(0, begin);
    if (begin == std::string_view::npos) return result;
    const auto [number, end] = weight_at(text, begin);
    result += before;
    result += projections[number];
    text.remove_prefix(end);
  }
}

}  // namespace quern::import_text
