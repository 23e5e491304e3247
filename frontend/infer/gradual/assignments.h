#pragma once
// Whether a value can stand where a type is wanted, and what is reported where it cannot.

#include <string>
#include <vector>

#include "frontend/infer/gradual/dim_checks.h"

namespace quern {

class Assignments : public Component {
 public:
  Assignments(Context& context, DimChecks& checks) : Component(context), checks_(checks) {}

  /// Makes `found` fit where `wanted` is wanted, or reports at `at`: "`what` …". Where neither dims nor dtype
  /// alone differ the kind is `role`. Checks that it takes go behind `draft`, the value.
  bool expect(SyntaxPtr at, Type wanted, Type found, const std::string& what, std::vector<Note> notes = {},
              DiagnosticKind role = DiagnosticKind::TypeMismatch, DraftPtr draft = nullptr);
  /// A draft that waited turns out to have this type: reported at `at` where the context wants another one.
  void becomes(SyntaxPtr at, DraftPtr waiting, Type found);
  /// Whether a value of type `found` can stand where `wanted` is wanted: equal types, but for a `?` that
  /// takes any dim, also in the fields of data (which are not written to) and in the results of functions,
  /// and the other way in their parameters.
  bool assign(Type wanted, Type found, bool inside = false);
  /// The value of a condition or a match: arms that disagree in a dim give `?`. `regions` are those of the
  /// arms.
  DraftPtr joined(DraftPtr branch, const std::vector<DraftPtr>& arms, const std::vector<uint32_t>& regions,
                  const std::vector<SyntaxPtr>& at);

 private:
  /// The same type, `?` for `?`: what is written through a type may not be more than it says.
  bool is_same(Type a, Type b);
  bool is_writable(Type data, size_t argument);
  void report_mismatch(SyntaxPtr at, Type w, Type f, const std::string& what, std::vector<Note> notes,
                       DiagnosticKind role);

  DimChecks& checks_;
};

}  // namespace quern
