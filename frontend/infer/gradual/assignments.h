#pragma once
// Assignability of values to expected types, and reports of mismatches.

#include <string>
#include <vector>

#include "frontend/infer/gradual/dim_checks.h"

namespace quern {

class Assignments : public Component {
 public:
  Assignments(Context& context, DimChecks& checks) : Component(context), checks_(checks) {}

  /// Makes `found` assignable to `wanted`, or reports at `at`: "`what` …". The kind is `role` unless only
  /// dims or only the dtype differ. Required checks are attached to `draft`, the value.
  bool expect(SyntaxPtr at, Type wanted, Type found, const std::string& what, std::vector<Note> notes = {},
              DiagnosticKind role = DiagnosticKind::TypeMismatch, DraftPtr draft = nullptr);
  /// Gives a waiting draft its type; reports at `at` if the context expects another one.
  void becomes(SyntaxPtr at, DraftPtr waiting, Type found);
  /// Whether a value of type `found` is assignable to `wanted`: equal types, except that `?` accepts any dim,
  /// also in fields of data (which are immutable) and in results of functions, and contravariantly in their
  /// parameters.
  bool assign(Type wanted, Type found, bool inside = false);
  /// The value of a condition or a match: dims in which arms disagree become `?`. `regions` are those of the
  /// arms.
  DraftPtr joined(DraftPtr branch, const std::vector<DraftPtr>& arms, const std::vector<uint32_t>& regions,
                  const std::vector<SyntaxPtr>& at);

 private:
  /// The same type, with `?` matching only `?`: a write through a type must not widen it.
  bool is_same(Type a, Type b);
  bool is_writable(Type data, size_t argument);
  void report_mismatch(SyntaxPtr at, Type w, Type f, const std::string& what, std::vector<Note> notes,
                       DiagnosticKind role);

  DimChecks& checks_;
};

}  // namespace quern
