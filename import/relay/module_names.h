#pragma once
// What the texts of one module share: names, types, and the objects that the metadata are to have.

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "import/relay/object_graph.h"
#include "import/text/names.h"

namespace quern::relay_import {

/// A name for a variable of a text with TVM's header, where `.` and `/` are part of names.
std::string variable_name(std::string_view name);

class ModuleNames {
 public:
  explicit ModuleNames(const ObjectGraph& graph) : graph_(graph) {}

  const ObjectGraph& graph() const { return graph_; }
  /// Of a `GlobalVar`, without its sigil.
  std::string global(size_t node);
  /// Of a `GlobalTypeVar` or a constructor.
  std::string data(size_t node);
  /// Of a `TypeVar`.
  std::string type_variable(size_t node);
  /// Another name for a type, as it is or with a number behind it.
  std::string unique_data(std::string_view name) { return taken_data_.unique(name); }

  /// `meta[kind][i]` for an object.
  std::string meta(size_t node);
  const std::map<std::string, std::vector<size_t>>& metadata() const { return metadata_; }

 private:
  std::string named(std::map<std::string, std::string>& known, import_text::Names& taken,
                    const std::string& name, std::string_view fallback);

  const ObjectGraph& graph_;
  std::map<std::string, std::string> globals_, data_;
  std::map<size_t, std::string> variables_;
  import_text::Names taken_globals_, taken_data_, taken_variables_;
  std::map<std::string, std::vector<size_t>> metadata_;
  std::map<size_t, std::string> meta_;
};

/// A type in the language, or "" where it is not known. The names of its dims are added to `dims`, each once.
std::string type_text(ModuleNames& names, size_t type, std::vector<std::string>& dims);

}  // namespace quern::relay_import
