#include "import/relay/module_names.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <span>

#include "import/text/refusal.h"
#include "ir/type/dtype.h"

namespace quern::relay_import {

using import_text::Refusal;

std::string variable_name(std::string_view name) {
  const auto is_letter = [](char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0; };
  std::string found;
  for (size_t i = 0; i < name.size(); ++i) {
    const char c = name[i];
    // A suffix of digits after the last point would be a projection.
    const bool joins = (c == '.' || c == '/') && i + 1 < name.size() && is_letter(name[i + 1]);
    const bool stays = std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_' || joins;
    found += stays ? c : '_';
  }
  return found.empty() || !is_letter(found[0]) ? "v" + found : found;
}

std::string ModuleNames::named(std::map<std::string, std::string>& known, import_text::Names& taken,
                               const std::string& name, std::string_view fallback) {
  const auto [entry, is_new] = known.try_emplace(name);
  if (is_new) entry->second = taken.unique(import_text::identifier(name, fallback));
  return entry->second;
}

std::string ModuleNames::global(size_t node) {
  return named(globals_, taken_globals_, graph_.string(node, "name_hint"), "f");
}

std::string ModuleNames::data(size_t node) {
  return named(data_, taken_data_, graph_.string(node, "name_hint"), "T");
}

std::string ModuleNames::type_variable(size_t node) {
  const auto [entry, is_new] = variables_.try_emplace(node);
  if (is_new)
    entry->second = taken_variables_.unique(import_text::identifier(graph_.string(node, "name_hint"), "A"));
  return entry->second;
}

std::string ModuleNames::meta(size_t node) {
  const auto [entry, is_new] = meta_.try_emplace(node);
  if (!is_new) return entry->second;
  const std::string& kind = graph_[node].kind;
  std::vector<size_t>& list = metadata_[kind];
  entry->second = fmt::format("meta[{}][{}]", kind, list.size());
  list.push_back(node);
  return entry->second;
}

namespace {

/// Deeper types are no types that a person would read.
constexpr int kMostAround = 64;

class TypeText {
 public:
  TypeText(ModuleNames& names, std::vector<std::string>& dims) : names_(names), dims_(dims) {}

  std::string of(size_t type, int depth = 0) {
    std::string text = made(type, depth);
    // Types share their parts, and a text has each part as often as it is used.
    constexpr size_t kLongest = 100'000;
    if (text.size() > kLongest)
      throw Refusal(fmt::format("node {} is a type of more than {} characters", type, kLongest));
    return text;
  }

 private:
  std::string made(size_t type, int depth) {
    const Node& node = graph_[type];
    if (node.kind.empty() || node.kind == "IncompleteType") return "";
    if (depth > kMostAround)
      throw Refusal(fmt::format("node {} is a type in more than {} others", type, kMostAround));
    if (node.kind == "relay.TensorType") return tensor(type);
    if (node.kind == "TypeVar") return names_.type_variable(type);
    if (node.kind == "GlobalTypeVar") return names_.data(type);
    if (node.kind == "relay.RefType") return with("ref({})", of(graph_.part(type, "value"), depth + 1));
    if (node.kind == "TupleType") {
      const auto fields = all(graph_.list(type, "fields"), depth);
      if (!fields) return "";
      return fields->size() == 1 ? fmt::format("({},)", (*fields)[0])
                                 : fmt::format("({})", fmt::join(*fields, ", "));
    }
    if (node.kind == "FuncType") {
      const auto arguments = all(graph_.list(type, "arg_types"), depth);
      const std::string result = arguments ? of(graph_.object(type, "ret_type"), depth + 1) : "";
      return result.empty() ? "" : fmt::format("fn ({}) -> {}", fmt::join(*arguments, ", "), result);
    }
    if (node.kind == "TypeCall" || node.kind == "relay.TypeCall") {
      const auto arguments = all(graph_.list(type, "args"), depth);
      const std::string head = arguments ? of(graph_.part(type, "func"), depth + 1) : "";
      return head.empty() || arguments->empty() ? head
                                                : fmt::format("{}[{}]", head, fmt::join(*arguments, ", "));
    }
    throw Refusal(fmt::format("node {} is of the kind `{}`, which is no type of Relay", type, node.kind));
  }

  static std::string with(const char* form, const std::string& inner) {
    return inner.empty() ? "" : fmt::format(fmt::runtime(form), inner);
  }

  std::optional<std::vector<std::string>> all(const std::vector<size_t>& types, int depth) {
    std::vector<std::string> texts;
    for (const size_t type : types) {
      texts.push_back(of(type, depth + 1));
      if (texts.back().empty()) return std::nullopt;
    }
    return texts;
  }

  std::string tensor(size_t type) {
    std::string dtype = graph_.string(type, "dtype");
    if (!parse_dtype(dtype))
      throw Refusal(fmt::format("node {} has the dtype `{}`, which is not known", type, dtype));
    std::string extents;
    for (const size_t extent : graph_.list(type, "shape")) extents += dim(extent) + ", ";
    if (extents.empty()) return dtype;
    extents.resize(extents.size() - (graph_.list(type, "shape").size() == 1 ? 1 : 2));
    return fmt::format("Tensor[({}), {}]", extents, dtype);
  }

  std::string dim(size_t extent) {
    const Node& node = graph_[extent];
    if (node.kind == "IntImm") return fmt::format("{}", graph_.integer(extent, "value"));
    if (node.kind != "tir.Var" && node.kind != "tir.SizeVar") return "?";
    std::string name = import_text::identifier(graph_.string(extent, "name"), "n");
    if (std::ranges::find(dims_, name) == dims_.end()) dims_.push_back(name);
    return name;
  }

  ModuleNames& names_;
  const ObjectGraph& graph_ = names_.graph();
  std::vector<std::string>& dims_;
};

}  // namespace

std::string type_text(ModuleNames& names, size_t type, std::vector<std::string>& dims) {
  return TypeText(names, dims).of(type);
}

}  // namespace quern::relay_import
