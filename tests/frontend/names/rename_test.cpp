// What names stand for, by renaming: a text whose names are all replaced by others of the same scopes is the
// same program. A use that is missed, or that is resolved to another binder than inference takes, is not.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <tuple>

#include "frontend/text/lexeme.h"
#include "frontend/text/render.h"
#include "ir/expr/equality.h"
#include "session/session.h"
#include "tests/files.h"
#include "tests/frontend/module.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

/// A name in a source: where it stands and what it is.
struct Named {
  Range range;
  Occurrence occurrence;
};

std::vector<Named> names_of(Session& session, SourceId source) {
  std::vector<Named> all;
  auto add = [&](DeclarationId id) {
    for (const Occurrence& o : session.occurrences(id)) all.push_back({session.range_of(o, id), o});
  };
  for (DeclarationId id : session.declarations(source)) {
    add(id);
    for (DeclarationId chunk : session.chunks(id)) add(chunk);
  }
  std::ranges::sort(all, {}, [](const Named& n) { return n.range.begin; });
  return all;
}

bool has_word(const std::string& text, std::string_view word) {
  return std::ranges::any_of(lex(text, false), [&](const Lexeme& token) {
    std::string_view is =
        std::string_view(text).substr(token.range.begin, token.range.end - token.range.begin);
    is.remove_prefix(std::min(is.find_first_not_of("%@."), is.size()));
    return is == word;
  });
}

/// Of one declaration: what it binds is seen there alone.
bool is_local(const NameTarget& target) {
  const NameKind kind = target.kind;
  return kind == NameKind::Variable || kind == NameKind::TypeParameter || kind == NameKind::Index ||
         kind == NameKind::Loop || kind == NameKind::Constant;
}

using Key = std::tuple<NameKind, uint32_t, uint32_t>;
Key key_of(const NameTarget& target) {
  return {target.kind, target.declared.declaration, target.declared.node};
}

/// The text with each name of a kind that is declared in it replaced, and the old names by the new ones.
struct Renamed {
  std::string text;
  std::map<std::string, std::string> old_names;
};
using Chosen = std::function<bool(const NameTarget&)>;
Renamed rename(Session& session, SourceId source, const Chosen& chosen) {
  const std::string text = session.text(source);
  std::map<Key, std::string> new_names;
  Renamed renamed;
  const std::vector<Named> all = names_of(session, source);
  for (const Named& n : all) {
    const bool digits =
        n.range.begin < text.size() && std::isdigit(static_cast<unsigned char>(text[n.range.begin]));
    if (!n.occurrence.declares || !chosen(n.occurrence.target) || digits) continue;
    const std::string name = fmt::format("z{}z", new_names.size());
    new_names.emplace(key_of(n.occurrence.target), name);
    renamed.old_names.emplace(name, text.substr(n.range.begin, n.range.end - n.range.begin));
  }
  uint32_t at = 0;
  for (const Named& n : all) {
    const auto name = new_names.find(key_of(n.occurrence.target));
    if (name == new_names.end() || n.occurrence.symbol) continue;
    EXPECT_LE(at, n.range.begin) << "two names in one place: " << text.substr(n.range.begin, 20);
    EXPECT_LT(n.range.begin, n.range.end) << "a name without a place, after: " << text.substr(at, 30);
    if (at > n.range.begin) continue;
    renamed.text += text.substr(at, n.range.begin - at) + name->second;
    at = n.range.end;
  }
  renamed.text += text.substr(at);
  return renamed;
}

/// Each `%name` and `@name` of a text without mistakes stands for something.
void expect_all_found(Module& module) {
  const std::string text = module.session.text(module.source);
  const std::vector<Named> all = names_of(module.session, module.source);
  const bool slash_names = text.find("#[version") != std::string::npos;
  const size_t end = std::min(text.find("#[metadata]"), text.size());
  for (const Lexeme& token : lex(std::string_view(text).substr(0, end), slash_names)) {
    if (token.kind != LexemeKind::Local && token.kind != LexemeKind::Global) continue;
    const std::string_view name =
        std::string_view(text).substr(token.range.begin, token.range.end - token.range.begin);
    if (name == "%_") continue;
    const bool found =
        std::ranges::any_of(all, [&](const Named& n) { return n.range.end == token.range.end; });
    EXPECT_TRUE(found) << name << " in " << text.substr(token.range.begin, 60);
  }
}

/// A text whose names are replaced, which has no mistakes either.
std::unique_ptr<Module> renamed_module(Module& original, const std::string& folder, const Chosen& chosen) {
  auto renamed = std::make_unique<Module>(rename(original.session, original.source, chosen).text, folder);
  if (has_errors(renamed->diagnostics)) {
    ADD_FAILURE() << render_all(renamed->diagnostics, false, 3) << "in:\n"
                  << renamed->session.text(renamed->source);
    return nullptr;
  }
  return renamed;
}

/// False for a text with mistakes.
bool rename_and_compare(const std::string& text, const std::string& folder) {
  Module original(text, folder);
  if (has_errors(original.diagnostics)) return false;
  expect_all_found(original);
  renamed_module(original, folder, is_local);
  // Names that are part of what a program is: of dims in the instances of operators, of a type's parameters,
  // of loops in a schedule, of the dims that a variable has in place of `?`.
  auto bound_in_functions = [&](const NameTarget& target) {
    const DeclarationInfo& info = original.session.info(target.declared.declaration);
    const bool is_op =
        info.kind == PieceKind::Op || (info.kind == PieceKind::Def && !info.name.starts_with("@"));
    // The variable of a statement, or one of its pattern.
    bool is_statement = info.kind == PieceKind::Statement && target.declared.node == 1;
    if (info.kind == PieceKind::Statement)
      for (const auto& variable : original.session.statement_variables(target.declared.declaration))
        is_statement = is_statement || variable->place.origin == target.declared;
    return !is_op && !is_statement && (target.kind == NameKind::Variable || target.kind == NameKind::Index);
  };
  if (text.find("schedule {") != std::string::npos || text.find('?') != std::string::npos) return true;
  if (auto renamed = renamed_module(original, folder, bound_in_functions))
    if (auto d = difference(original.parts(), renamed->parts()))
      ADD_FAILURE() << *d << "\n" << renamed->session.text(renamed->source);
  return true;
}

TEST(RenameTest, EveryFileOfTheRepository) {
  size_t count = 0;
  for (const std::string& file : relay_files({"examples", "tests/golden"})) {
    const fs::path path = fs::path(QUERN_SOURCE_DIR) / file;
    SCOPED_TRACE(path.string());
    count += rename_and_compare(read_file(path), path.parent_path().string());
  }
  EXPECT_GE(count, 20u);
}

TEST(RenameTest, EveryModel) {
  for (const std::string& file : relay_files({"tests/models"})) {
    const fs::path path = fs::path(QUERN_SOURCE_DIR) / file;
    SCOPED_TRACE(path.string());
    EXPECT_TRUE(rename_and_compare(read_file(path), path.parent_path().string()));
  }
}

// The library's operators have what programs seldom write: packs, families, `when`, schedules.
TEST(RenameTest, TheLibrary) {
  std::vector<Session::LibraryFile> files = Session::builtin_library();
  Session session(files);
  for (SourceId source = 0; source < files.size(); ++source) {
    files[source].text = rename(session, source, is_local).text;
    files[source].image = {};
  }
  Session renamed(files);
  for (SourceId source = 0; source < files.size(); ++source) {
    const std::vector<LocatedDiagnostic> diagnostics = renamed.check(source);
    EXPECT_FALSE(has_errors(diagnostics)) << render_all(diagnostics, false, 3);
  }
}

// The names that others see, there and back again.
TEST(RenameTest, Declarations) {
  const std::string text =
      "/// A layer.\n"
      "type Layer[A] { Layer(weight: A, bias: Tensor[(3,), float32]), Empty }\n"
      "type Pair { Pair(first: float32, second: Layer[float32]) }\n"
      "static @twice(k: int) { 2 * k }\n"
      "op spread(%x: Tensor[(n,), t], by: int = 2) -> Tensor[(@twice(by) * n,), t] { [i] => %x[i / "
      "@twice(by)] }\n"
      "infix \"<>\" spread_two\n"
      "op spread_two(%x: Tensor[(n,), t], %y: Tensor[(n,), t]) -> Tensor[(n,), t] { [i] => %x[i] + %y[i] }\n"
      "def @apply[n](%x: Tensor[(n,), float32]) { spread(%x, by=3) }\n"
      "def scaled(%x: Tensor[s, t], by: float = 2.0) -> Tensor[s, t] { %x * by }\n"
      "def @first(%p: Pair) { match (%p.second) { Layer(%w, _) => %w * %p.first, Empty => 0f } }\n"
      "let %p = Pair(first=1f, second=Layer(2f, [1f, 2f, 3f]));\n"
      "(@apply([1f, 2f]), @first(%p), scaled([1f], by=3.0), Empty<float32>)\n";
  Module original(text, "");
  ASSERT_FALSE(has_errors(original.diagnostics)) << render_all(original.diagnostics, false, 3);
  const Renamed renamed =
      rename(original.session, original.source, [](const NameTarget& t) { return !is_local(t); });
  Module there(renamed.text, "");
  EXPECT_FALSE(has_errors(there.diagnostics)) << render_all(there.diagnostics, false, 3) << renamed.text;
  for (const char* name : {"Layer", "weight", "Empty", "first", "twice", "spread", "by", "apply", "scaled"})
    EXPECT_FALSE(has_word(renamed.text, name)) << name << " in:\n" << renamed.text;
  std::string back = renamed.text;
  for (const auto& [now, before] : renamed.old_names)
    for (size_t at = back.find(now); at != std::string::npos; at = back.find(now))
      back.replace(at, now.size(), before);
  EXPECT_EQ(back, text);
}

}  // namespace
}  // namespace quern
