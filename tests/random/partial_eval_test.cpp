// Partial evaluation of random programs, with room for everything and with hardly any: what is left gives, and
// prints, what the interpreter says of the program.
//   QUERN_RANDOM_PROGRAMS=1000     four times as many as there are
//   QUERN_RANDOM_SEED=17           only this one

#include <gtest/gtest.h>

#include <fmt/format.h>

#include "frontend/text/render.h"
#include "passes/inline.h"
#include "passes/instantiate_ops.h"
#include "passes/partial_eval/partial_eval.h"
#include "passes/to_anf.h"
#include "session/run/execution.h"
#include "tests/random/generator.h"
#include "tests/random/index_terms.h"
#include "tests/random/setting.h"
#include "tests/random/watch.h"

namespace quern::random_programs {
namespace {

struct Room {
  const char* name;
  std::vector<Pass> passes;
};
template <size_t Unfolding, size_t Total, size_t Depth>
ExprPtr within(const PassContext& context, ExprPtr expr) {
  return partial_eval(context, expr, {Unfolding, Total, Depth});
}
const std::vector<Room> kRooms = {
    {"with room",
     {{"instantiate_ops", "", instantiate_ops},
      {"to_anf", "", to_anf},
      {"partial_eval", "", within<10'000, 100'000, 500>}}},
    {"with little room",
     {{"instantiate_ops", "", instantiate_ops},
      {"to_anf", "", to_anf},
      {"partial_eval", "", within<6, 1000, 3>}}},
    {"with none",
     {{"instantiate_ops", "", instantiate_ops},
      {"to_anf", "", to_anf},
      {"partial_eval", "", within<2, 3, 1>}}},
    {"after inlining",
     {{"inline", "", inline_calls},
      {"instantiate_ops", "", instantiate_ops},
      {"to_anf", "", to_anf},
      {"partial_eval", "", within<10'000, 100'000, 500>}}},
    {"twice",
     {{"instantiate_ops", "", instantiate_ops},
      {"to_anf", "", to_anf},
      {"partial_eval", "", within<6, 20, 3>},
      {"partial_eval", "", within<10'000, 100'000, 500>}}},
};

/// What each statement prints and gives, up to the first that fails.
std::string outcome(Session& session, ModuleId module, SourceId source, const std::vector<Pass>& passes) {
  std::string all;
  ExecutionOptions options;
  options.interpret = true;
  options.after = passes;
  Execution execution(session, module, options,
                      [&](std::string_view line) { all += std::string(line) + "\n"; });
  for (DeclarationId statement : session.statements(source)) {
    StatementResult result = execution.run(statement);
    all += result.failure ? "failure: " + render_terminal(*result.failure, false) : to_json(*result.value);
    all += "\n";
    if (result.failure) break;
  }
  return all;
}

/// Programs of integers, references (two of which may be one), closures, options and recursion, under
/// conditions that are known and others that are not.
class Effectful {
 public:
  explicit Effectful(uint64_t seed) : random_(seed) {}

  std::string program() {
    std::string text = "let %x = 0.25f;\ndef @main(%x: float32) -> int32 {\n";
    for (int k = 0; k < 2; ++k) text += fmt::format("  let %r{} = ref({});\n", k, random_.between(0, 5));
    text += fmt::format("  let %r2 = if ({}) {{ %r0 }} else {{ %r1 }};\n", unknown());
    references_ = 3;
    for (int k = 0; k < 3; ++k) {
      const std::string n = fmt::format("%n{}", k);
      text += fmt::format("  let %f{} = fn ({}: int32) -> int32 {{ ", k, n);
      names_.push_back(n);
      const std::string last = number(2);
      // Of itself with less, or of those before.
      const std::string again = random_.chance(60) ? fmt::format("%f{}({} - 1)", k, n) : number(2);
      const std::string step = fmt::format("{} + {}", again, number(2));
      names_.pop_back();
      text += fmt::format("if ({} <= 0) {{ {} }} else {{ {} }} }};\n", n, last, step);
      functions_ = k + 1;
    }
    text += fmt::format("  let %h = ref(%f{});\n", random_.between(0, 2));
    holds_ = true;
    text += "  let %result = " + number(6) + ";\n  print(ref_read(%r0), ref_read(%r1), ref_read(%r2));\n";
    return text + "  %result + ref_read(%h)(2)\n}\n@main(%x);\n@main(0.75f);\n";
  }

 private:
  std::string unknown() { return random_.chance(50) ? "%x < 0.5f" : "%x > 0.5f"; }
  std::string condition(int depth) {
    return random_.chance(50) ? unknown() : fmt::format("{} < {}", number(depth - 1), number(depth - 1));
  }
  std::string reference() { return fmt::format("%r{}", random_.between(0, references_ - 1)); }
  std::string function() {
    return holds_ && random_.chance(40) ? "ref_read(%h)"
                                        : fmt::format("%f{}", random_.between(0, functions_ - 1));
  }
  std::string statement(int depth) {
    switch (random_.between(0, holds_ ? 3 : 2)) {
      case 0:
      case 1: return fmt::format("ref_write({}, {})", reference(), number(depth));
      case 2: return fmt::format("print({})", number(depth));
      default:
        return fmt::format("ref_write(%h, {})",
                           random_.chance(50)
                               ? fmt::format("%f{}", random_.between(0, 2))
                               : fmt::format("fn (%m: int32) -> int32 {{ {} }}", closed(depth)));
    }
  }
  /// What a function that `%h` holds computes: without calls, so that it ends.
  std::string closed(int depth) {
    const int functions = std::exchange(functions_, 0);
    const bool holds = std::exchange(holds_, false);
    names_.push_back("%m");
    std::string text = number(depth);
    names_.pop_back();
    functions_ = functions;
    holds_ = holds;
    return text;
  }
  std::string number(int depth) {
    if (depth <= 0 || random_.chance(5)) {
      if (!names_.empty() && random_.chance(60)) return random_.pick(names_);
      return random_.chance(40) ? fmt::format("ref_read({})", reference())
                                : std::to_string(random_.between(0, 6));
    }
    const int d = depth - 1;
    switch (random_.between(0, functions_ > 0 ? 7 : 5)) {
      case 0: return fmt::format("({} + {})", number(d), number(d));
      case 1: return fmt::format("if ({}) {{ {} }} else {{ {} }}", condition(d), number(d), number(d));
      case 2: return fmt::format("{{ {}; {} }}", statement(d), number(d));
      case 3: {
        const std::string name = fmt::format("%v{}", bound_++);
        const std::string value = number(d);
        names_.push_back(name);
        std::string text = fmt::format("{{ let {} = {}; {} }}", name, value, number(d));
        names_.pop_back();
        return text;
      }
      case 4:
        return fmt::format(
            "match (if ({}) {{ Some({}) }} else {{ None }}) {{ Some(%o) => %o + {}, None => {} }}",
            condition(d), number(d), number(d), number(d));
      case 5: return fmt::format("({}, {}).{}", number(d), number(d), random_.between(0, 1));
      default: return fmt::format("{}({} % 4)", function(), number(d));
    }
  }

  Random random_;
  std::vector<std::string> names_;
  int references_ = 0, functions_ = 0, bound_ = 0;
  bool holds_ = false;
};

void expect_equal(Session& session, uint64_t seed, const std::string& text) {
  const Watch watch(seed);
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "random.relay", text);
  for (const LocatedDiagnostic& d : session.check(source))
    if (severity_of(d.kind) == Severity::Error) FAIL() << render_terminal(d, false) << "seed " << seed;
  const std::string expected = outcome(session, module, source, {});
  for (const Room& room : kRooms)
    ASSERT_EQ(outcome(session, module, source, room.passes), expected)
        << room.name << ", QUERN_RANDOM_SEED=" << seed << " of\n"
        << text;
}

void for_each_seed(const std::function<std::string(uint64_t)>& text_of) {
  std::unique_ptr<Session> session;
  for (uint64_t k = 0, count = setting("QUERN_RANDOM_PROGRAMS", 1000) / 4; k < count; ++k) {
    const uint64_t seed = setting("QUERN_RANDOM_SEED", k);
    if (k % 200 == 0) session = std::make_unique<Session>();
    expect_equal(*session, seed, text_of(seed));
    if (testing::Test::HasFatalFailure() || std::getenv("QUERN_RANDOM_SEED")) return;
  }
}

TEST(RandomPartialEvaluation, GivesWhatTheProgramGives) {
  for_each_seed([](uint64_t seed) { return write(generate(Random(seed)), {}).text; });
}

/// Each of `count` functions is taken as a value in both arms of a condition by the next: made anew in each, the
/// first would stand there 2^count times.
std::string taken_twice(int count) {
  std::string text =
      "def @main(%x: float32) -> float32 {\n"
      "  let %call = ref(fn (%f: fn (float32) -> float32, %y: float32) -> float32 { %f(%y) });\n"
      "  if (%x > 5f) { ref_write(%call, fn (%f: fn (float32) -> float32, %y: float32) -> float32 { %y }) } "
      "else { () };\n"
      "  let %f0 = fn (%y: float32) -> float32 { %y + 1f };\n";
  for (int k = 1; k <= count; ++k)
    text += fmt::format(
        "  let %f{0} = fn (%y: float32) -> float32 {{ if (%y > 0f) {{ ref_read(%call)(%f{1}, %y) }} else {{ "
        "ref_read(%call)(%f{1}, %y - 1f) }} }};\n",
        k, k - 1);
  return text + fmt::format("  ref_read(%call)(%f{}, %x)\n}}\n@main(0.5f);\n", count);
}

TEST(PartialEvaluation, MakesAFunctionOnceWhereItIsTakenTwice) {
  Session session;
  expect_equal(session, 0, taken_twice(40));
}

TEST(RandomPartialEvaluation, KeepsTheOrderOfEffects) {
  for_each_seed([](uint64_t seed) { return Effectful(seed).program(); });
}

}  // namespace
}  // namespace quern::random_programs
