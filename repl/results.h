#pragma once
// The values of expressions that were typed: `%_1`, `%_2`, … in the order in which they were shown.

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
  /// The last ones that are kept: a result may be large.
  static constexpr size_t kKept = 16;

  Results(Session& session, ModuleId module, Execution& execution)
      : session_(session), module_(module), execution_(execution) {}

  /// Whether a variable is called as results are: `_3`.
  static bool is_name(std::string_view variable);
  /// How many there were so far.
  size_t count() const { return sources_.size(); }
  /// Binds the next name to a value, in a source at the end of the module. A type that has no text of its own
  /// leaves its name unbound.
  void add(const ShownValue& shown);
  /// Takes the last one back; its source is the last of the module.
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
