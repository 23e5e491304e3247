#pragma once
// `print`, `load`, `save`, `clock`, assertions, and what else reaches outside of the program.

#include <optional>
#include <vector>

#include "frontend/infer/walk/walk.h"
#include "frontend/syntax/called_words.h"

namespace quern {

class Intrinsics : public WalkPart {
 public:
  Intrinsics(Parts& parts, Walk& walk) : WalkPart(parts, walk) {}

  /// A call of one of these words.
  template <CalledWord>
  DraftPtr call(SyntaxPtr s, Type wanted);

 private:
  struct Printed;
  DraftPtr print(SyntaxPtr s);
  DraftPtr progress(SyntaxPtr s);
  DraftPtr finished(SyntaxPtr s, IntrinsicKind kind, const Printed& printed);
  void add(Printed& printed, SyntaxPtr format_string);
  /// What `print` writes of arguments; false after a diagnostic.
  bool add(Printed& printed, SyntaxPtr s, std::span<const SyntaxPtr> arguments);
  void expect_format(SyntaxPtr formatted, DraftPtr value);
  DraftPtr of_kind(SyntaxPtr s, IntrinsicKind kind);
  bool refuses_attribute(SyntaxPtr s, SyntaxPtr argument);
  /// `assert_close(value, expected, rtol=1e-5, atol=1e-6)`, `assert_equal(value, expected)`
  DraftPtr assertion(SyntaxPtr s, bool close);
  bool add_tolerance(SyntaxPtr s, SyntaxPtr arg, bool close, double (&tolerances)[2]);
  bool attempt(SyntaxPtr value, SyntaxPtr expected, const AssertionDraft& draft);
};

}  // namespace quern
