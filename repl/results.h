#pragma once
// The values of expressions at the prompt: `%_1`, `%_2`, … in the order in which they were shown.

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "session/run/execution.h"
#include "session/session.h"

namespace quern {

/// A value that was shown, and its type.
struct ShownValue {
  Type type;
  Value value;
};

class Results {
 public:
  /// How many of the last results are kept, since results may be large.
  static constexpr size_t kKept = 16;

  Results(Session& session, ModuleId module, Execution& execution)
      : session_(session), module_(module), execution_(execution) {}

  /// Whether a variable has the name of a result: `_3`.
  static bool is_name(std::string_view variable);
  /// The number of results so far.
  size_t count() const { return sources_.size(); }
  /// Binds the next name to a value, in a source at the end of the module. If the type cannot be written as text, the
  /// name stays unbound.
  void add(const ShownValue& shown);
  /// Removes the last result; its source has to be the last one of the module.
  void remove_last();
  /// The text with the last result's name wherever `%_` is read.
  std::string with_last(std::string_view text) const;

 private:
  void clear(SourceId source);

  Session& session_;
  ModuleId module_;
  Execution& execution_;
  std::vector<SourceId> sources_;
};

/// Whether a text reads the variable `%name`, outside of strings and comments.
bool reads_variable(std::string_view text, std::string_view name);

}  // namespace quern
