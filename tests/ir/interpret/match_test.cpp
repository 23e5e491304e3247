// Matches through everything: random programs against an oracle that knows values and patterns only as trees.
// What an arm of a random match should be is found by enumeration; the diagnostics, the interpreter and the
// virtual machine have to agree with that.

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include <fmt/format.h>

#include "session/run/execution.h"
#include "session/session.h"

namespace quern {
namespace {

/// A type of the test's programs: constructors with the types of their fields. A tuple is a single
/// constructor without a name.
struct Alternative {
  std::string name;
  std::vector<size_t> fields;
};
constexpr size_t kFlag = 0, kTree = 1, kPair = 2;
const std::vector<std::vector<Alternative>> kTypes = {
    {{"Off", {}}, {"On", {}}, {"Maybe", {kFlag}}},
    {{"Leaf", {}}, {"Node", {kTree, kFlag}}, {"Mark", {kFlag}}},
    {{"", {kFlag, kTree}}},
    {{"Wrap", {kPair, kFlag}}},
};
const std::string kDeclarations =
    "type Flag { Off, On, Maybe(Flag) }\n"
    "type Tree_ { Leaf, Node(Tree_, Flag), Mark(Flag) }\n"
    "type Wrapped { Wrap((Flag, Tree_), Flag) }\n";
const std::vector<std::string> kNames = {"Flag", "Tree_", "(Flag, Tree_)", "Wrapped"};

/// A value, or a pattern: `_` where `alternative` is null.
struct Term {
  const Alternative* alternative = nullptr;
  std::vector<Term> parts = {};
};

std::string text(const Term& term) {
  if (!term.alternative) return "_";
  if (term.parts.empty()) return term.alternative->name;
  std::string out = term.alternative->name + "(";
  for (size_t i = 0; i < term.parts.size(); ++i) out += (i > 0 ? ", " : "") + text(term.parts[i]);
  return out + ")";
}

bool matches(const Term& pattern, const Term& value) {
  if (!pattern.alternative) return true;
  if (pattern.alternative != value.alternative) return false;
  for (size_t i = 0; i < pattern.parts.size(); ++i)
    if (!matches(pattern.parts[i], value.parts[i])) return false;
  return true;
}

int depth(const Term& term) {
  int deepest = 0;
  for (const Term& part : term.parts) deepest = std::max(deepest, depth(part));
  return term.alternative ? deepest + 1 : 0;
}

/// Every value of at most this depth; fields get one level less. A level more than the patterns have tells
/// all values apart that they tell apart.
std::vector<Term> values(size_t type, int levels) {
  static std::map<std::pair<size_t, int>, std::vector<Term>> known;
  if (levels <= 0) return {};
  if (auto found = known.find({type, levels}); found != known.end()) return found->second;
  std::vector<Term> all;
  for (const Alternative& alternative : kTypes[type]) {
    std::vector<Term> made{{&alternative, {}}};
    for (size_t field : alternative.fields) {
      std::vector<Term> longer;
      for (const Term& term : made)
        for (const Term& part : values(field, levels - 1)) {
          longer.push_back(term);
          longer.back().parts.push_back(part);
        }
      made = std::move(longer);
    }
    all.insert(all.end(), made.begin(), made.end());
  }
  return known[{type, levels}] = all;
}

Term random_pattern(std::mt19937& random, size_t type, int levels) {
  if (levels == 0 || random() % 3 == 0) return {};
  const std::vector<Alternative>& alternatives = kTypes[type];
  Term term{&alternatives[random() % alternatives.size()], {}};
  for (size_t field : term.alternative->fields)
    term.parts.push_back(random_pattern(random, field, levels - 1));
  return term;
}

/// The term that begins at `at` of `words`, a pattern as diagnostics show it.
Term read_term(const std::string& words, size_t type, size_t& at) {
  if (words[at] == '_') {
    ++at;
    return {};
  }
  size_t begin = at;
  while (at < words.size() && std::isalpha(static_cast<unsigned char>(words[at]))) ++at;
  std::string name = words.substr(begin, at - begin);
  for (const Alternative& alternative : kTypes[type]) {
    if (alternative.name != name) continue;
    Term term{&alternative, {}};
    for (size_t field : alternative.fields) {
      at += words[at] == '(' ? 1 : 2;  // "(" or ", "
      term.parts.push_back(read_term(words, field, at));
    }
    if (!term.parts.empty()) ++at;
    return term;
  }
  ADD_FAILURE() << "no constructor " << name << " in " << words;
  return {};
}

/// What is known of patterns, as the arms of a match over a type, from every value of it.
struct Enumerated {
  Enumerated(size_t type, const std::vector<Term>& patterns) : reached(patterns.size()) {
    int levels = 1;
    for (const Term& pattern : patterns) levels = std::max(levels, depth(pattern));
    all = values(type, levels + 2);
    first.assign(all.size(), -1);
    for (size_t v = 0; v < all.size(); ++v)
      for (size_t p = 0; p < patterns.size() && first[v] < 0; ++p)
        if (matches(patterns[p], all[v])) {
          first[v] = static_cast<int>(p);
          reached[p] = true;
        }
  }
  bool is_exhaustive() const { return std::ranges::find(first, -1) == first.end(); }

  std::vector<Term> all;
  std::vector<int> first;     ///< by value: the first arm that matches, or -1
  std::vector<bool> reached;  ///< by arm
};

/// A function whose result is the number of the arm that matches.
std::string pick(size_t type, const std::vector<Term>& patterns, bool partial) {
  std::string arms;
  for (size_t p = 0; p < patterns.size(); ++p) arms += fmt::format("    {} => {},\n", text(patterns[p]), p);
  return fmt::format("def @pick(%x: {}) -> int32 {{\n  {} %x {{\n{}  }}\n}}\n", kNames[type],
                     partial ? "match?" : "match", arms);
}

/// Expects each pattern that a message names as not covered to have a value that no arm matches.
void expect_missing(const std::string& message, size_t type, const Enumerated& known,
                    const std::string& program) {
  for (size_t quote = message.find("cover `"); quote != std::string::npos;) {
    size_t at = message.find('`', quote) + 1;
    const Term witness = read_term(message, type, at);
    bool is_missing = false;
    for (size_t v = 0; v < known.all.size(); ++v)
      is_missing |= known.first[v] < 0 && matches(witness, known.all[v]);
    EXPECT_TRUE(is_missing) << text(witness) << "\n" << program;
    quote = message.compare(at, 4, "`, `") == 0 ? at + 1 : std::string::npos;
  }
}

class MatchTest : public testing::Test {
 protected:
  std::vector<LocatedDiagnostic> check(const std::string& program) {
    session.set_text(source, program);
    return session.check(source);
  }
  /// The texts of the values of the expression statements, or of what went wrong.
  std::vector<std::string> run(bool interpret) {
    std::vector<std::string> out;
    ExecutionOptions options;
    options.interpret = interpret;
    Execution execution(session, module, options, [&](std::string_view line) { out.emplace_back(line); });
    for (DeclarationId statement : session.statements(source)) {
      StatementResult result = execution.run(statement);
      if (result.failure) out.push_back(result.failure->message);
      if (result.value) out.push_back(to_string(*result.value));
    }
    return out;
  }
  /// Expects both evaluators to take the arms that are known for a sample of the values.
  void expect_arms(const std::vector<size_t>& sample, const Enumerated& known, const std::string& program) {
    const std::vector<std::string> compiled = run(false);
    ASSERT_EQ(compiled, run(true)) << program;
    for (size_t i = 0; i < sample.size(); ++i) {
      const int arm = known.first[sample[i]];
      if (arm >= 0)
        EXPECT_EQ(compiled[i], fmt::format("int32 {}", arm)) << program << text(known.all[sample[i]]);
      else
        EXPECT_EQ(compiled[i].find("no arm of this `match?` matches"), 0U) << compiled[i];
    }
  }
  Session session;
  ModuleId module = session.make_module();
  SourceId source = session.add_source(module, "match.relay", "");
};

TEST_F(MatchTest, RandomMatchesAreAsEnumerationSays) {
  constexpr int kLevels = 3;
  std::mt19937 random(11);
  int missing = 0, unreachable = 0;
  for (int round = 0; round < 250; ++round) {
    size_t type = random() % kTypes.size();
    std::vector<Term> patterns;
    for (size_t i = 0, count = 1 + random() % 5; i < count; ++i)
      patterns.push_back(random_pattern(random, type, kLevels));
    const Enumerated known(type, patterns);
    for (bool partial : {false, true}) {
      const std::string program = kDeclarations + pick(type, patterns, partial);
      // A sample of the values, with whether each is matched.
      std::vector<size_t> sample(12);
      for (size_t& v : sample) v = random() % known.all.size();
      std::string calls;
      for (size_t v : sample) calls += fmt::format("@pick({});\n", text(known.all[v]));
      const std::vector<LocatedDiagnostic> found = check(program + calls);
      const auto arms = static_cast<size_t>(
          std::ranges::count(found, DiagnosticKind::UnreachableArm, &LocatedDiagnostic::kind));
      const bool not_covered =
          std::ranges::count(found, DiagnosticKind::MissingCase, &LocatedDiagnostic::kind) > 0;
      for (const LocatedDiagnostic& d : found)
        if (d.kind == DiagnosticKind::MissingCase) expect_missing(d.message, type, known, program);
      EXPECT_EQ(arms, static_cast<size_t>(std::ranges::count(known.reached, false))) << program;
      EXPECT_EQ(not_covered, !known.is_exhaustive() && !partial) << program;
      EXPECT_LE(found.size(), arms + not_covered) << program << found.back().message;
      missing += not_covered;
      unreachable += arms > 0;
      if (!not_covered) expect_arms(sample, known, program);
      if (HasFatalFailure()) return;
    }
  }
  // The programs are neither all right nor all wrong.
  EXPECT_GT(missing, 50);
  EXPECT_LT(missing, 240);
  EXPECT_GT(unreachable, 50);
}

TEST_F(MatchTest, VariablesNameTheirParts) {
  // Arms that several leaves of the decision tree share, variables at several depths, unused ones.
  std::string program =
      "def @f(%a: List[int32], %b: List[int32]) -> (int32, List[int32]) {\n"
      "  match (%a, %b) {\n"
      "    (Cons(%x, Nil), %rest) => (%x, %rest),\n"
      "    (%rest, Cons(%y, Cons(_, %z))) => (%y, @concat(%rest, %z)),\n"
      "    (Cons(%x, %unused), Nil) => (%x, Nil),\n"
      "    %whole => (0, %whole.1),\n"
      "  }\n"
      "}\n"
      "let %one = Cons(1, Nil); let %two = Cons(2, %one); let %three = Cons(3, %two);\n";
  std::vector<std::string> lists = {"Nil", "%one", "%two", "%three"};
  for (const std::string& a : lists)
    for (const std::string& b : lists) program += fmt::format("@f({}, {});\n", a, b);
  EXPECT_TRUE(check(program).empty());
  std::vector<std::string> compiled = run(false);
  EXPECT_EQ(compiled, run(true));
  ASSERT_EQ(compiled.size(), 19U);
  auto of = [&](size_t a, size_t b) { return compiled[3 + 4 * a + b]; };
  EXPECT_EQ(of(0, 0), "(int32 0, List [])");
  EXPECT_EQ(of(1, 3), "(int32 1, List[int32] [3, 2, 1])");
  EXPECT_EQ(of(2, 3), "(int32 3, List[int32] [2, 1, 1])");
  EXPECT_EQ(of(3, 0), "(int32 3, List [])");
  EXPECT_EQ(of(0, 1), "(int32 0, List[int32] [1])");
}

TEST_F(MatchTest, LongListsTakeConstantStack) {
  EXPECT_TRUE(
      check("def @loop(%n: int32, %l: List[int32]) -> List[int32] {\n"
            "  if (%n == 0) { %l } else { @loop(%n - 1, Cons(%n, %l)) }\n"
            "}\n"
            "def @add(%l: List[int32], %sum: int32) -> int32 {\n"
            "  match %l { Cons(%x, %rest) => @add(%rest, %sum + %x % 10), Nil => %sum }\n"
            "}\n"
            "def @spin(%x: nat, %n: int32) -> int32 {\n"
            "  match %x { Z => if (%n == 0) { 7 } else { @spin(S(Z), %n - 1) }, S(%y) => @spin(%y, %n) }\n"
            "}\n"
            "@add(@loop(1000000, Nil), 0);\n"
            "@length(@map(fn (%x: int32) -> int32 { %x + 1 }, @loop(100000, Nil)));\n"
            "@spin(Z, 500000)\n")
          .empty());
  for (bool interpret : {false, true}) {
    std::vector<std::string> out = run(interpret);
    EXPECT_EQ(out, (std::vector<std::string>{"int32 4500000", "int32 100000", "int32 7"}));
  }
}

TEST_F(MatchTest, EffectsStayInOrder) {
  // What a careless pass would drop, move over another effect, or do twice.
  std::string program =
      "def @say(%x: int32) -> int32 { print(\"say\", %x); %x }\n"
      "def @tick(%r: Ref[int32]) -> int32 { %r := !%r + 1; !%r }\n"
      "let %r = ref(0);\n"
      "let %before = !%r; let %unused = @say(1); %r := 5; (%before, !%r, @tick(%r), !%r, @tick(%r));\n"
      "@say(1) + @say(2) * @say(3);\n"
      "{ let %a = !%r; %r := 100; let %b = !%r; (%b, %a) };\n"
      "(fn (%f: fn () -> int32) -> int32 { let %_dropped = %f(); 3 })(fn () -> int32 { @say(4) });\n"
      "{ let %same = ref(1); let %other = ref(1); %same := 2; (!%same, !%other) };\n"
      "match (@say(5), @say(6)) { (%x, _) => print(\"arm\", %x) };\n"
      "if (@say(7) == 7 or @say(8) == 8) { @say(9) } else { @say(10) };\n"
      "{ let %idx: Tensor[(2,), int32] = [0, 9]; let %x = [1.0, 2.0];\n"
      "  let %taken = [i < 2] => %x[%idx[i]]; print(\"before the failure?\"); %taken + 1.0 };\n"
      "{ let %idx: Tensor[(2,), int32] = [0, 9]; let %x = [1.0, 2.0];\n"
      "  let %_dropped = [i < 2] => %x[%idx[i]]; 1 };\n"
      "{ let %none: List[int32] = Nil; let %_dropped = @hd(%none); 1 };\n"
      "let %knot = ref(fn (%n: int32) -> int32 { %n });\n"
      "%knot := fn (%n: int32) -> int32 { if (%n == 0) { 0 } else { 2 + (!%knot)(%n - 1) } }; (!%knot)(4);\n"
      // What refers to itself is never freed.
      "%knot := fn (%n: int32) -> int32 { %n }\n";
  for (const LocatedDiagnostic& d : check(program)) ADD_FAILURE() << d.message;
  std::vector<std::string> out = run(true), compiled = run(false);
  // The evaluators tell of an index in their own words.
  for (std::vector<std::string>* lines : {&out, &compiled})
    for (std::string& line : *lines)
      if (line.find("out of bounds") != std::string::npos) line = "out of bounds";
  EXPECT_EQ(compiled, out);
  std::string all;
  for (const std::string& line : out) all += line + "\n";
  EXPECT_NE(all.find("say 1\n"), std::string::npos);
  EXPECT_NE(all.find("say 1\nsay 2\nsay 3\nint32 7\n"), std::string::npos) << all;
  EXPECT_NE(all.find("(int32 100, int32 7)\n"), std::string::npos) << all;
  EXPECT_NE(all.find("say 4\nint32 3\n"), std::string::npos) << all;
  EXPECT_NE(all.find("(int32 2, int32 1)\n"), std::string::npos) << all;
  EXPECT_NE(all.find("say 5\nsay 6\narm 5\n"), std::string::npos) << all;
  EXPECT_NE(all.find("say 7\nsay 9\n"), std::string::npos) << all;
  EXPECT_EQ(all.find("before the failure?"), std::string::npos) << all;
  EXPECT_NE(all.find("int32 8\n"), std::string::npos) << all;
}

}  // namespace
}  // namespace quern
