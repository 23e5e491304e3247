// Names of attributes that stand by their places.

#include "ide/attribute_hints.h"

#include <gmock/gmock.h>

#include "session/session.h"
#include "tests/ide/marked_ranges.h"

namespace quern::ide {
namespace {

/// `‹name›` before each value that has a hint.
std::string with_names_of_attributes(const std::string& text) {
  Session session;
  const SourceId source = session.add_source(session.make_module(), "typed.relay", text);
  std::string shown = text;
  std::vector<AttributeHint> hints =
      attribute_hints(session, source, {0, static_cast<uint32_t>(text.size())});
  for (auto hint = hints.rbegin(); hint != hints.rend(); ++hint)
    shown.insert(hint->offset, "‹" + hint->name + "›");
  return shown;
}

TEST(AttributeHints, Table) {
  EXPECT_EQ(with_names_of_attributes("/* 😀 */ sum([1f], 0, True)"),
            "/* 😀 */ sum([1f], ‹axis›0, ‹keepdims›True)");
  EXPECT_EQ(with_names_of_attributes("nn.softmax([1f], axis=0)"), "nn.softmax([1f], axis=0)");
  EXPECT_EQ(
      with_names_of_attributes(
          "def @f(%x: Tensor[(3,), float32], scale: float = 1.0) { %x * scale }\n@f([1f, 2f, 3f], 2.0)"),
      "def @f(%x: Tensor[(3,), float32], scale: float = 1.0) { %x * scale }\n"
      "@f([1f, 2f, 3f], ‹scale›2.0)");
  // A name that says the same; a call of nothing; text that does not parse; too many.
  EXPECT_EQ(
      with_names_of_attributes("op twice(%x: Tensor[s, t], axis: int) -> Tensor[s, t] { [..i] => %x[..i] }\n"
                               "def o(%x: Tensor[s, t], axis: int) -> Tensor[s, t] { twice(%x, axis) }"),
      "op twice(%x: Tensor[s, t], axis: int) -> Tensor[s, t] { [..i] => %x[..i] }\n"
      "def o(%x: Tensor[s, t], axis: int) -> Tensor[s, t] { twice(%x, axis) }");
  EXPECT_EQ(with_names_of_attributes("nothing(1, 2)"), "nothing(1, 2)");
  EXPECT_EQ(with_names_of_attributes("exp(1f, 2, 3)"), "exp(1f, 2, 3)");
  EXPECT_EQ(with_names_of_attributes("sum([1f], "), "sum([1f], ");
}

}  // namespace
}  // namespace quern::ide
