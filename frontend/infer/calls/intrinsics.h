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
  DraftPtr finished(SyntaxPtr s, IntrinsicKind kind, const Printed& printed, Type type);
  std::span<const std::string_view> copied(const std::vector<std::string>& texts);
  void add(Printed& printed, SyntaxPtr format_string);
  /// What `print` writes of arguments; false after a diagnostic.
  bool add(Printed& printed, SyntaxPtr s, std::span<const SyntaxPtr> arguments);
  void expect_format(SyntaxPtr formatted, DraftPtr value);
  /// Adds a file's name to `printed`, which is empty; false where it is no string.
  bool add_file_name(Printed& printed, SyntaxPtr name);
  DraftPtr load(SyntaxPtr s);
  /// `save` and `restore`
  DraftPtr kept(SyntaxPtr s, IntrinsicKind kind, std::string_view usage);
  bool refuses_attribute(SyntaxPtr s, SyntaxPtr argument);
  /// Takes `tokens="vocab.json"` from the end of a call's arguments; false after a diagnostic.
  bool takes_tokens(SyntaxPtr s, std::span<const SyntaxPtr>& arguments, std::string_view& tokens);
  /// `assert_close(value, expected, rtol=1e-5, atol=1e-6)`, `assert_equal(value, expected)`
  DraftPtr assertion(SyntaxPtr s, bool close);
  bool add_tolerance(SyntaxPtr s, SyntaxPtr arg, bool close, double (&tolerances)[2]);
  /// The name of a device: a string, a number as TVM has them, or none; nothing after a diagnostic.
  std::optional<std::string_view> device_name(SyntaxPtr argument);
  bool attempt(SyntaxPtr value, SyntaxPtr expected, const AssertionDraft& draft);
};

}  // namespace quern
