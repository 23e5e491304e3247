#pragma once
// Unknown names, and suggestions for what was meant.

#include <string>
#include <string_view>
#include <vector>

#include "frontend/infer/walk/walk.h"

namespace quern {

class UnknownNames : public Component {
 public:
  explicit UnknownNames(Parts& parts) : Component(parts.context), names_(parts.names) {}

  void report(SyntaxPtr name, DiagnosticKind kind, std::string_view what);
  /// `%name`
  void report_variable(SyntaxPtr s);
  /// `@name`
  void report_function(SyntaxPtr s);

 private:
  struct Spelled;
  bool report_missing_sigil(const Spelled& name);
  bool report_variable_with_member(const Spelled& name);
  bool report_word(const Spelled& name);
  bool report_type(const Spelled& name, DiagnosticKind kind);
  bool report_foreign(const Spelled& name, const std::vector<std::string>& operators);
  void say(const Spelled& name, DiagnosticKind kind, std::string message, const std::string& meant = "");

  Names& names_;
};

}  // namespace quern
