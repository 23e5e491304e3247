// The types that texts leave out: a table of texts, and the same with `[type]` where it is only told and
// `{type}` where it may be inserted.

#include "ide/type_hints.h"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "session/session.h"
#include "tests/files.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

Range whole(const std::string& text) { return {0, static_cast<uint32_t>(text.size())}; }

std::string with_hints(const std::string& text, const std::vector<TypeHint>& hints) {
  std::string shown = text;
  for (auto hint = hints.rbegin(); hint != hints.rend(); ++hint)
    shown.insert(hint->offset, hint->can_be_inserted ? "{" + hint->text + "}" : "[" + hint->text + "]");
  return shown;
}

struct HintRow {
  const char* text;
  const char* shown;
};

const HintRow kHints[] = {
    {"let %x = ones((2, 3));", "let %x{: Tensor[(2, 3), float32]} = ones((2, 3));"},
    {"let %x: int32 = 1; let _ = 2;", "let %x: int32 = 1; let _ = 2;"},
    {"let %漢 = 1;", "let %漢 = 1;"},
    {"/* 漢🙂 */ let %x = 1;", "/* 漢🙂 */ let %x{: int32} = 1;"},
    {"%0 = 1f; %0 + 1f", "%0[: float32] = 1f; %0 + 1f"},
    {"let (%a, (%b: int32, _)) = (1f, (2, 3));", "let (%a{: float32}, (%b: int32, _)) = (1f, (2, 3));"},
    {"let %x = { let %y = 1f; %1 = %y; %1 };",
     "let %x{: float32} = { let %y{: float32} = 1f; %1[: float32] = %y; %1 };"},
    // Parameters and results.
    {"def @f(%a: int32, %b) { %a + %b }", "def @f(%a: int32, %b[: A])[ -> B] { %a + %b }"},
    {"def @f(%a) -> int32 { %a }", "def @f(%a{: int32}) -> int32 { %a }"},
    {"def @f() { 1f }", "def @f(){ -> float32} { 1f }"},
    {"let %f = fn (%a: float32) { %a };", "let %f = fn (%a: float32){ -> float32} { %a };"},
    // Dims and types are written where they have names.
    {"def @f[n](%a: Tensor[(n, 3), float32]) { let %b = reshape(%a, newshape=(n * 3,)); %b }",
     "def @f[n](%a: Tensor[(n, 3), float32]){ -> Tensor[(3*n,), float32]} { let %b{: Tensor[(3*n,), "
     "float32]} = reshape(%a, newshape=(n * 3,)); %b }"},
    {"def @id(%a) { let %b = %a; %b }", "def @id(%a[: A])[ -> A] { let %b[: A] = %a; %b }"},
    {"def @id[A](%a: A) { let %b = %a; %b }", "def @id[A](%a: A){ -> A} { let %b{: A} = %a; %b }"},
    {"def @f(%a: Tensor[(?,), float32]) { let %b = %a; %b }",
     "def @f(%a: Tensor[(?,), float32])[ -> Tensor[(?,), float32]] { let %b[: Tensor[(?,), float32]] = %a; "
     "%b }"},
    // Other arithmetic over dims, and dims that have no name here, are only told.
    {"def @f[n, m](%a: Tensor[(n,), int32], %b: Tensor[(m,), int32]) { let %c = concatenate((%a, %b)); %c }",
     "def @f[n, m](%a: Tensor[(n,), int32], %b: Tensor[(m,), int32]){ -> Tensor[(m + n,), int32]} { let "
     "%c{: Tensor[(m + n,), int32]} = concatenate((%a, %b)); %c }"},
    {"def @f[n](%a: Tensor[(1, 1, n, n), float32]) { let %b = nn.max_pool2d(%a, pool_size=[2, 2], "
     "strides=[2, 2]); 1 }",
     "def @f[n](%a: Tensor[(1, 1, n, n), float32]){ -> int32} { let %b[: Tensor[(1, 1, n / 2, n / 2), "
     "float32]] = nn.max_pool2d(%a, pool_size=[2, 2], strides=[2, 2]); 1 }"},
    {"def @f[n](%a: Tensor[(n,), int32]) { let %b = grow(%a); 1 }\n"
     "op grow(%a: Tensor[(n,), t]) -> Tensor[(max(n, 2),), t] { [i] => %a[i] else 0 }",
     "def @f[n](%a: Tensor[(n,), int32]){ -> int32} { let %b[: Tensor[(max(n, 2),), int32]] = grow(%a); 1 }\n"
     "op grow(%a: Tensor[(n,), t]) -> Tensor[(max(n, 2),), t] { [i] => %a[i] else 0 }"},
    {"def @f() { fn [m](%q: Tensor[(m,), int32]) { let %z = %q; %z } }",
     "def @f()[ -> fn (Tensor[(d0,), int32]) -> Tensor[(d0,), int32]] { fn [m](%q: Tensor[(m,), int32])[ -> "
     "Tensor[(d0,), int32]] { let %z[: Tensor[(d0,), int32]] = %q; %z } }"},
    // Texts with mistakes: what is on other lines.
    {"let %x = 1;\nlet %y = %nothing;\n%x", "let %x{: int32} = 1;\nlet %y = %nothing;\n%x"},
    {"def @f() {\n  let %a = 1;\n  let %b = %nothing;\n  let %c = 2f;\n  %c\n}",
     "def @f()[ -> float32] {\n  let %a[: int32] = 1;\n  let %b = %nothing;\n  let %c[: float32] = 2f;\n  "
     "%c\n}"},
    {"let %x = (;\nlet %y = 1;", "let %x = (;\nlet %y[: int32] = 1;"},
    {"", ""},
};

TEST(TypeHints, Table) {
  for (const HintRow& row : kHints) {
    Session session;
    const SourceId source = session.add_source(session.make_module(), "a.relay", row.text);
    KnownHints known;
    EXPECT_EQ(with_hints(row.text, type_hints(session, source, whole(row.text), known)), row.shown);
  }
}

// What was known of a declaration stays while its text does, wherever it moves.
TEST(TypeHints, OfBrokenTextsThoseThatWereThere) {
  Session session;
  std::string text = "def @g(%a: int32) -> int32 { %a }\ndef @f() { let %x = @g(1); %x }\n";
  const SourceId source = session.add_source(session.make_module(), "a.relay", text);
  KnownHints known;
  auto shown = [&] { return with_hints(text, type_hints(session, source, whole(text), known)); };
  const std::string f = "def @f(){ -> int32} { let %x{: int32} = @g(1); %x }\n";
  EXPECT_EQ(shown(), "def @g(%a: int32) -> int32 { %a }\n" + f);
  for (const std::string first : {"def @g(%a: int32) -> int32 { %a \n", "\ndef @h() { (; }\n", ""}) {
    text = first + "def @f() { let %x = @g(1); %x }\n";
    session.set_text(source, text);
    EXPECT_EQ(shown(), first + f);
  }
  text = "def @f() { let %x = @g(2); %x }\n";
  session.set_text(source, text);
  EXPECT_EQ(shown(), text);
}

struct ImportHintRow {
  const char* text;
  const char* shown;
};

// By the name that means it there: one of this module may hide it, and that of another import may be another type.
const ImportHintRow kImportHints[] = {
    {"import \"net.relay\" as net\nlet %n = net.Net(1f);",
     "import \"net.relay\" as net\nlet %n{: net.Net} = net.Net(1f);"},
    {"type Net { Own(int32) }\nimport \"net.relay\" as net\nlet %n = net.Net(1f);\nlet %o = Own(1);",
     "type Net { Own(int32) }\nimport \"net.relay\" as net\nlet %n{: net.Net} = net.Net(1f);\nlet %o{: Net} "
     "= "
     "Own(1);"},
    {"import \"maker.relay\" as a\nimport \"net.relay\" as b\nlet %n = @a.made();",
     "import \"maker.relay\" as a\nimport \"net.relay\" as b\nlet %n{: b.Net} = @a.made();"},
    {"import \"other.relay\" as a\nimport \"net.relay\" as b\nlet %n = b.Net(1f);",
     "import \"other.relay\" as a\nimport \"net.relay\" as b\nlet %n{: b.Net} = b.Net(1f);"},
    // A type of a file that is not imported here has no name.
    {"import \"maker.relay\" as a\nlet %n = @a.made();", "import \"maker.relay\" as a\nlet %n = @a.made();"},
};

TEST(TypeHints, TypesOfImportsHaveTheirNames) {
  TemporaryFolder folder;
  std::ofstream(folder / "net.relay") << "type Net { Net(w: float32) }\n";
  std::ofstream(folder / "other.relay") << "type Net { Other(w: float32) }\n";
  std::ofstream(folder / "maker.relay")
      << "import \"net.relay\" as net\ndef @made() -> net.Net { net.Net(1f) }\n";
  for (const ImportHintRow& row : kImportHints) {
    Session session;
    const SourceId source = session.open_file((folder / "main.relay").string(), row.text);
    KnownHints known;
    EXPECT_EQ(with_hints(row.text, type_hints(session, source, whole(row.text), known)), row.shown);
  }
}

/// The types of what a file defines and of what its statements bind.
std::vector<std::string> types_in(const std::string& path, const std::string& text) {
  Session session;
  const SourceId source = session.open_file(path, text);
  const ModuleId module = session.module_of(source);
  if (has_errors(session.check(source))) return {};
  std::vector<std::string> types;
  for (const std::string& name : session.definitions(module))
    if (const Scheme* scheme = session.scheme(module, name))
      types.push_back(name + ": " + to_string(*scheme));
  for (const DeclarationId statement : session.statements(source))
    for (const auto& bound : session.statement_variables(statement))
      types.push_back(std::string(bound->variable->name) + ": " + to_string(bound->variable->type));
  return types;
}

// With every hint that may be inserted, a text types as before.
TEST(TypeHints, InsertedHintsChangeNoType) {
  size_t inserted = 0;
  for (const auto& file : relay_files({"examples", "tests/golden", "stdlib"})) {
    SCOPED_TRACE(file);
    const std::string path = QUERN_SOURCE_DIR "/" + file, text = read_file(path);
    const std::vector<std::string> before = types_in(path, text);
    if (before.empty()) continue;
    Session session;
    KnownHints known;
    std::string annotated = text;
    std::vector<TypeHint> hints = type_hints(session, session.open_file(path, text), whole(text), known);
    std::erase_if(hints, [](const TypeHint& hint) { return !hint.can_be_inserted; });
    for (auto hint = hints.rbegin(); hint != hints.rend(); ++hint) annotated.insert(hint->offset, hint->text);
    inserted += hints.size();
    EXPECT_EQ(types_in(path, annotated), before);
  }
  EXPECT_GT(inserted, 400u);
}

}  // namespace
}  // namespace quern::ide
