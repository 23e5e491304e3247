// Incremental equals from scratch: after any sequence of edits, the session's diagnostics, types and places
// are those of a module that never saw another text.
//
// QUERN_RANDOM_EDITS=20000 runs that many edits, QUERN_RANDOM_SEED=n other ones; QUERN_KEEP_TEXTS=folder
// keeps the texts around the last edit there.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <random>

#include "ir/io/data_files.h"
#include "session/session.h"
#include "tests/files.h"
#include "tests/temporary_folder.h"

namespace quern {
namespace {

namespace fs = std::filesystem;

size_t number_from(const char* variable, size_t otherwise) {
  const char* text = std::getenv(variable);
  return text ? static_cast<size_t>(std::strtoull(text, nullptr, 10)) : otherwise;
}

using Random = std::mt19937_64;
size_t below(Random& random, size_t n) { return n == 0 ? 0 : random() % n; }
template <class T>
const T& pick(Random& random, const std::vector<T>& list) {
  return list[below(random, list.size())];
}

/// A function whose body is long enough to be cut into chunks; what its variables are is decided near and
/// far.
std::string long_function(Random& random, const std::string& name, size_t statements) {
  std::string text =
      fmt::format("def @{}(%x: Tensor[(8, 16), float32], %y: Tensor[(8, 16), float32]) {{\n", name);
  std::vector<std::string> tensors{"%x", "%y"};
  for (size_t i = 0; i < statements; ++i) {
    std::string v = below(random, 12) == 0 ? "%again" : fmt::format("%v{}", i);
    const std::string& a = pick(random, tensors);
    const std::string& b = tensors.size() > 9 ? tensors[tensors.size() - 1 - below(random, 8)] : a;
    switch (below(random, 12)) {
      case 0: text += fmt::format("  let {} = {} * 2;\n", v, a); break;
      case 1: text += fmt::format("  let %n{} = {};\n  let {} = %n{} * {};\n", i, i, v, i, b); break;
      case 2: text += fmt::format("  let {} = ({}, {}).0;  // a pair\n", v, a, b); break;
      case 3: text += fmt::format("  let {}: Tensor[(8, 16), float32] = tanh({});\n", v, b); break;
      case 4: text += fmt::format("  let {} = {{ let %t = exp({}); %t + {} }};\n", v, a, b); break;
      default: text += fmt::format("  let {} = nn.relu({}) + {} * {}.5f;\n", v, a, b, below(random, 99));
    }
    tensors.push_back(v);
  }
  return text + "  " + tensors.back() + "\n}\n";
}

std::string script(Random& random, size_t statements) {
  std::string text = "let %x = [[1f, 2f], [3f, 4f]];\n";
  for (size_t i = 0; i < statements; ++i)
    text += below(random, 3) == 0 ? "nn.relu(%x);\n"
                                  : fmt::format("let %{} = %x * {}f;\n", "xyz"[below(random, 3)], i);
  return text;
}

std::string definitions(Random& random, size_t count) {
  std::string text;
  for (size_t i = 0; i < count; ++i) {
    std::string callee = i > 0 ? fmt::format("@f{}(%a)", below(random, count)) : "%a";
    std::string annotation = below(random, 2) == 0 ? " -> Tensor[(n, 3), float32]" : "";
    text += fmt::format(
        "/// Number {0}.\ndef @f{0}[n](%a: Tensor[(n, 3), float32]){1} {{\n  let %b = {2};\n  %b + "
        "{0}f\n}}\n",
        i, annotation, callee);
  }
  return text;
}

std::vector<std::string> corpus(Random& random) {
  std::vector<std::string> texts;
  for (const char* folder : {"examples", "stdlib", "tests/golden", "tests/fuzz/corpus"})
    for (auto& entry : fs::recursive_directory_iterator(fs::path(QUERN_SOURCE_DIR) / folder))
      if (entry.path().extension() == ".relay" || std::string_view(folder).starts_with("tests/fuzz"))
        if (entry.is_regular_file() && entry.file_size() < 20000) texts.push_back(read_file(entry.path()));
  std::sort(texts.begin(), texts.end());
  for (size_t i = 0; i < texts.size() / 6; ++i) {
    texts.push_back(long_function(random, "long", 70 + below(random, 200)));
    texts.push_back(script(random, 5 + below(random, 40)));
    texts.push_back(definitions(random, 2 + below(random, 12)));
  }
  return texts;
}

// --- edits
class Editor {
 public:
  Editor(Random& random, const std::vector<std::string>& texts) : random_(random), texts_(texts) {
    for (const std::string& text : texts)
      for (const Range& r : tokens(text)) words_.push_back(text.substr(r.begin, r.end - r.begin));
  }

  std::string edited(const std::string& text) {
    switch (below(random_, 12)) {
      case 0: return insert_characters(text);
      case 1: return delete_characters(text);
      case 2:
      case 3:
      case 4: return replace_token(text, pick(random_, words_));
      case 5: return replace_token(text, "");
      case 6: return replace_token(text, own_token(text));
      case 7: return delete_line(text);
      case 8: return repeat_line(text);
      case 9: return delete_declaration(text);
      case 10: return insert_declaration(text);
      default: return replace_digit(text);
    }
  }

 private:
  static bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_' || c == '.'; }
  static std::vector<Range> tokens(const std::string& text) {
    std::vector<Range> out;
    for (uint32_t i = 0; i < text.size();) {
      uint32_t begin = i++;
      if (std::isspace(static_cast<unsigned char>(text[begin]))) continue;
      bool word = is_word(text[begin]) || text[begin] == '%' || text[begin] == '@';
      while (word && i < text.size() && is_word(text[i])) ++i;
      out.push_back({begin, i});
    }
    return out;
  }
  // [begin, end) of a line with its end.
  Range line(const std::string& text) {
    size_t at = below(random_, text.size() + 1);
    size_t begin = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
    begin = begin == std::string::npos ? 0 : begin + 1;
    size_t end = text.find('\n', at);
    return {static_cast<uint32_t>(begin),
            static_cast<uint32_t>(end == std::string::npos ? text.size() : end + 1)};
  }
  std::string own_token(const std::string& text) {
    auto all = tokens(text);
    if (all.empty()) return "";
    Range r = pick(random_, all);
    return text.substr(r.begin, r.end - r.begin);
  }
  std::string insert_characters(std::string text) {
    static const std::vector<std::string> kPieces = {
        "(",  ")", "{", "}", "[", "]", ";", "\"", "/*", "*/",   "//",        "///",
        "\n", " ", ",", "=", "%", "@", "1", "x",  "é",  "def ", "let %v = ", "\r\n"};
    return text.insert(below(random_, text.size() + 1), pick(random_, kPieces));
  }
  std::string delete_characters(std::string text) {
    size_t at = below(random_, text.size() + 1);
    return text.erase(at, 1 + below(random_, 4));
  }
  std::string replace_token(std::string text, const std::string& by) {
    auto all = tokens(text);
    if (all.empty()) return by;
    Range r = pick(random_, all);
    return text.replace(r.begin, r.end - r.begin, by);
  }
  std::string replace_digit(std::string text) {
    for (int tries = 0; tries < 50 && !text.empty(); ++tries) {
      char& c = text[below(random_, text.size())];
      if (!std::isdigit(static_cast<unsigned char>(c))) continue;
      c = static_cast<char>('0' + below(random_, 10));
      break;
    }
    return text;
  }
  std::string delete_line(std::string text) {
    Range r = line(text);
    return text.erase(r.begin, r.end - r.begin);
  }
  std::string repeat_line(std::string text) {
    Range r = line(text);
    return text.insert(r.begin, text.substr(r.begin, r.end - r.begin));
  }
  static std::vector<Range> declarations(const std::string& text) {
    std::vector<Range> out;
    for (const Piece& p : scan(text).pieces) out.push_back(p.range);
    return out;
  }
  std::string delete_declaration(std::string text) {
    auto all = declarations(text);
    if (all.empty()) return text;
    Range r = pick(random_, all);
    return text.erase(r.begin, r.end - r.begin);
  }
  std::string insert_declaration(std::string text) {
    const std::string& from = below(random_, 2) == 0 ? text : pick(random_, texts_);
    auto all = declarations(from), here = declarations(text);
    if (all.empty()) return text;
    Range r = pick(random_, all);
    size_t at = here.empty() ? 0 : pick(random_, here).begin;
    return text.insert(at, from.substr(r.begin, r.end - r.begin) + ";\n");
  }

  Random& random_;
  const std::vector<std::string>& texts_;
  std::vector<std::string> words_;
};

// --- what is compared
std::string report(Session& session, SourceId source) {
  std::string out;
  for (const LocatedDiagnostic& d : session.check(source)) {
    out += fmt::format("{} {} {}-{}: {}\n", static_cast<int>(d.kind), d.file, d.range.begin, d.range.end,
                       d.message);
    for (const LocatedNote& n : d.notes)
      out += fmt::format("    {} {}-{}: {}\n", n.file, n.range.begin, n.range.end, n.message);
    for (const LocatedFix& f : d.fixes) {
      out += fmt::format("    fix {}\n", f.title);
      for (auto& [range, text] : f.edits)
        out += fmt::format("      {}-{} {}\n", range.begin, range.end, text);
    }
  }
  for (auto& [range, type] : session.node_types(source))
    out += fmt::format("{}-{} {}\n", range.begin, range.end, type);
  return out;
}

/// Edits one text to the next, and holds what is reported against a session that has each alone.
void expect_as_from_scratch(const std::vector<std::string>& texts, const std::string& folder = "") {
  Session edited, scratch;
  SourceId source = edited.add_source(edited.make_module(), "edited.relay", "", folder);
  for (const std::string& text : texts) {
    edited.set_text(source, text);
    SourceId fresh = scratch.add_source(scratch.make_module(), "edited.relay", text, folder);
    EXPECT_EQ(report(edited, source), report(scratch, fresh)) << text;
    scratch.set_text(fresh, "");
  }
}

// Where a run dies, the two texts are on the disk.
void keep_texts(const fs::path& folder, const std::string& before, const std::string& after) {
  std::ofstream(folder / "before.relay") << before;
  std::ofstream(folder / "after.relay") << after;
}

// What a statement that does not parse may bind is not told as unknown, also where the statement has no name
// and was not there before.
TEST(Incremental, BrokenStatementWithoutAName) {
  Session session;
  SourceId source = session.add_source(session.make_module(), "edited.relay", "%a");
  EXPECT_NE(report(session, source).find("unknown variable `%a`"), std::string::npos);
  session.set_text(source, "let (%a, 3) = (1, 2);\n%a");
  std::string told = report(session, source);
  EXPECT_NE(told.find("a pattern has no literals"), std::string::npos) << told;
  EXPECT_EQ(told.find("unknown variable"), std::string::npos) << told;
}

// Who called a definition asks for it again when it is half-typed.
TEST(Incremental, HalfTypedOperatorAndFunctionUnderGradients) {
  for (const char* text :
       {"op twice(x: Tensor[(n,), float32]) -> Tensor[(n,), float32] { [i < n] => x[i] * }\n"
        "def @f(%x: Tensor[(3,), float32]) { sum(twice(%x)) }\nlet %g = grad(@f);",
        "def @h(%x: Tensor[(3,), float32]) -> float32 { sum(%x * }\n"
        "def @f(%x: Tensor[(3,), float32]) -> float32 { @h(%x) }\nlet %g = grad(@f);"}) {
    Session session;
    SourceId source = session.add_source(session.make_module(), "edited.relay", text);
    for (const LocatedDiagnostic& d : session.check(source))
      EXPECT_NE(d.kind, DiagnosticKind::NotDifferentiable) << d.message;
    EXPECT_FALSE(session.check(source).empty());
  }
}

// Long definitions are inferred in parts, whose values are looked at one by one.
TEST(Incremental, AnUnknownConstructorInALongDefinition) {
  std::string text = "def @long(%v: Tensor[(8,), float32]) {\n";
  for (int i = 0; i < 60; ++i) text += "  let %v = nn.relu(%v);\n";
  text += "  let y(%v) = %v;\n";
  for (int i = 0; i < 60; ++i) text += "  let %v = nn.relu(%v);\n";
  Session session;
  const SourceId source = session.add_source(session.make_module(), "edited.relay", text + "  %v\n}\n");
  const auto found = session.check(source);
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].message, "unknown constructor `y`");
}

TEST(Incremental, HalfTypedDefinitionThatIsCalled) {
  Session session;
  SourceId source = session.add_source(session.make_module(), "edited.relay", "");
  std::string rest =
      "(%x: Tensor[s, t], %n: int32) -> Tensor[s, t] {\n"
      "  if (%n == 0) { %x } else { @twice(%x + %x, %n - 1) }\n}\n@twice([1, 2], 3)";
  for (const char* head :
       {"def @twice[s, t]", "def [s, t]", "def @twice[s, ]", "def @twice[s, t", "def @twice[s, t]"}) {
    session.set_text(source, head + rest);
    session.check(source);
  }
  EXPECT_TRUE(session.check(source).empty());
}

// A caller tells where a definition needs what its types do not have, also where that is elsewhere since.
TEST(Incremental, PlacesInAnotherDefinitionOfTheSameType) {
  const std::string call = "\n@double(())", plain = "def @double(%x) { %x + %x }";
  expect_as_from_scratch({plain + "\n" + plain + call, plain + call,
                          "def @double(%x) { let %y = (%x, %x); %y.0 + %y.1 }" + call});
}

TEST(Incremental, ConstantsWhoseNameIsTypedInParts) {
  const std::string wrong = "let %a = meta[relay.Const][0];", right = "let %a = meta[relay.Constant][0];";
  const TemporaryFolder folder;
  const TensorPtr stored = HostTensor::zeros(DType::float32(), {2, 3});
  ASSERT_TRUE(write_tensors((folder / "edited.safetensors").string(), {{"relay.Constant.0", stored}}));
  expect_as_from_scratch({wrong, right, wrong, right + "\n" + right, right}, folder.path().string());
}

TEST(Incremental, ASecondDefinitionOfANameGoesAndComes) {
  const std::string good = "def @f() { 1 }\n", bad = "def @f() { %x }\n", use = "def @g() { @f() }\n";
  expect_as_from_scratch(
      {good + use, good + bad + use, bad + use, bad + good + use, good + use, bad + bad, use});
}

TEST(Incremental, EqualsFromScratchAfterRandomEdits) {
  size_t edits = number_from("QUERN_RANDOM_EDITS", 4000), seed = number_from("QUERN_RANDOM_SEED", 1);
  constexpr size_t kEditsOfOneText = 40;
  Random random(seed);
  std::vector<std::string> texts = corpus(random);
  Editor editor(random, texts);
  Session edited, scratch;
  ModuleId module = edited.make_module();
  SourceId source = edited.add_source(module, "edited.relay", "");
  std::string text;
  std::vector<std::string> history;
  const char* keep = std::getenv("QUERN_KEEP_TEXTS");
  for (size_t i = 0; i < edits; ++i) {
    std::string before = text;
    if (i % kEditsOfOneText == 0) {
      text = pick(random, texts);
      history.clear();
    } else if (!history.empty() && below(random, 5) == 0) {
      text = pick(random, history);
    } else {
      history.push_back(text);
      text = editor.edited(text);
    }
    if (keep) keep_texts(keep, before, text);
    edited.set_text(source, text);
    if (below(random, 6) == 0) continue;  // several edits at once
    SourceId fresh = scratch.add_source(scratch.make_module(), "edited.relay", text);
    std::string incremental = report(edited, source), wanted = report(scratch, fresh);
    scratch.set_text(fresh, "");
    if (incremental == wanted) continue;
    FAIL() << "edit " << i << " of seed " << seed << "; the text before:\n"
           << before << "\n--- after:\n"
           << text << "\n--- incremental:\n"
           << incremental << "\n--- from scratch:\n"
           << wanted;
  }
}

}  // namespace
}  // namespace quern
