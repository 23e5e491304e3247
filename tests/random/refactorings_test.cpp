// What the editor offers, on random programs: after each change of a place drawn by chance the program
// gives what it gave before.
//
//   QUERN_RANDOM_REFACTORED=2000   how many programs
//   QUERN_RANDOM_SEED=17           only this one

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <map>
#include <memory>

#include "frontend/text/render.h"
#include "ide/refactorings.h"
#include "ide/trial.h"
#include "session/run/execution.h"
#include "tests/random/generator.h"
#include "tests/random/setting.h"

namespace quern::random_programs {
namespace {

/// A program in a module of its own, and what the interpreter makes of it.
class Document {
 public:
  Document(Session& session, const std::string& text)
      : session_(session), source_(session.add_source(session.make_module(), "random.relay", text)) {}

  /// Of the text that it came with.
  const std::vector<std::string>& wanted() {
    if (wanted_.empty()) wanted_ = results();
    return wanted_;
  }
  /// What it prints, then what each statement gives, up to the first that fails.
  std::vector<std::string> results() {
    ExecutionOptions options;
    options.interpret = true;
    std::vector<std::string> all{""};
    Execution execution(session_, session_.module_of(source_), options,
                        [&](std::string_view printed) { all[0] += printed; });
    for (const DeclarationId statement : session_.statements(source_)) {
      const StatementResult result = execution.run(statement);
      all.push_back(result.failure ? "a failure" : to_json(*result.value));
      if (result.failure) break;
    }
    return all;
  }
  /// The place of an expression, or of a name that a `let` binds, drawn by chance.
  Range place(Random& random) {
    const std::string& text = session_.text(source_);
    std::vector<Range> places;
    if (random.chance(50)) {
      for (size_t at = text.find("let %"); at != std::string::npos; at = text.find("let %", at + 1)) {
        const auto name = static_cast<uint32_t>(at + 4);
        places.push_back({name, name});
      }
    } else {
      for (const auto& [range, type] : session_.node_types(source_)) places.push_back(range);
    }
    return places.empty() ? Range{} : random.pick(places);
  }

  Session& session() { return session_; }
  SourceId source() const { return source_; }
  ide::RefactoringContext context() { return {hints_, nullptr}; }

 private:
  Session& session_;
  ide::KnownHints hints_;
  SourceId source_;
  std::vector<std::string> wanted_;
};

/// Whether the one has what the other has, but for the value of a statement that is in one of them alone.
bool agree(std::vector<std::string> a, std::vector<std::string> b) {
  if (a.size() > b.size()) std::swap(a, b);
  if (b.size() > a.size() + 1) return false;
  const auto [first, other] = std::ranges::mismatch(a, b);
  return std::equal(first, a.end(), other + (b.size() > a.size() ? 1 : 0), b.end());
}

struct Counts {
  int made = 0, refused = 0;
};

/// "" where the programs agree.
std::string problem_of(Document& document, const ide::Refactoring& one, Range at, Counts& counts) {
  Session& session = document.session();
  const std::string before = session.text(document.source());
  const auto edits = ide::edits_of(session, {document.source(), at}, document.context(), one.name, one.title);
  if (session.text(document.source()) != before) return "the text has not come back";
  if (!edits) {
    ++counts.refused;
    return "";
  }
  ++counts.made;
  const std::vector<std::string>& wanted = document.wanted();
  const std::string after = ide::edited(before, *edits);
  std::string problem;
  ide::with_text(session, document.source(), after, [&] {
    for (const LocatedDiagnostic& d : session.check(document.source()))
      if (severity_of(d.kind) == Severity::Error) problem += render_terminal(d, false);
    if (problem.empty() && !agree(document.results(), wanted)) problem = "other results";
  });
  return problem.empty() ? "" : fmt::format("{}: {}\n{}\nbecame\n{}", one.title, problem, before, after);
}

TEST(RandomRefactorings, KeepWhatAProgramGives) {
  constexpr int kPlaces = 3;
  constexpr uint64_t kProgramsPerSession = 50;
  std::unique_ptr<Session> session;
  std::map<std::string, Counts, std::less<>> all;
  const uint64_t only = setting("QUERN_RANDOM_SEED", UINT64_MAX);
  const uint64_t end = only == UINT64_MAX ? setting("QUERN_RANDOM_REFACTORED", 240) : only + 1;
  for (uint64_t seed = only == UINT64_MAX ? 0 : only; seed < end; ++seed) {
    SCOPED_TRACE(fmt::format("seed {}", seed));
    if (!session || seed % kProgramsPerSession == 0) session = std::make_unique<Session>();
    Document document(*session, write(generate(Random(seed))).text);
    Random random(seed);
    for (int i = 0; i < kPlaces; ++i) {
      const Range at = document.place(random);
      const auto offered =
          ide::refactorings(document.session(), {document.source(), at}, document.context(),
                            [](ide::RefactoringKind kind) { return kind != ide::RefactoringKind::Source; });
      for (const ide::Refactoring& one : offered) {
        const std::string problem = problem_of(document, one, at, all[std::string(one.name)]);
        ASSERT_EQ(problem, "");
      }
    }
  }
  if (only != UINT64_MAX) return;
  // What is offered is seldom refused, and each kind was seen.
  for (const std::string_view name : {"inline variable", "extract variable", "extract function"}) {
    const Counts counts = all[std::string(name)];
    EXPECT_GT(counts.made, 10) << name;
    EXPECT_LT(counts.refused, counts.made) << name;
  }
  for (const auto& [name, counts] : all)
    RecordProperty(name, fmt::format("{} made, {} refused", counts.made, counts.refused));
}

}  // namespace
}  // namespace quern::random_programs
