#pragma once
// What must hold of every random program, and the search for a smaller one that fails the same way.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "session/session.h"
#include "tests/random/program.h"
#include "tests/ways.h"

namespace quern::random_programs {

/// Sessions for programs: a new one now and then, so that memory stays flat.
class Workshop {
 public:
  /// `every_way`: compiled in all ways, not in one of them by turns.
  explicit Workshop(bool every_way = false);
  ~Workshop();

  /// "" where everything holds: no diagnostics, the types that the generator meant, the same types and values
  /// without the annotations in `omit`, the same values from the interpreter and from compiled code; with
  /// `print`, what is printed is the same program. Otherwise what failed, its kind up to the first colon.
  std::string problem(const ProgramTerm& program, uint64_t omit, bool print, uint64_t turn = 0);
  /// The same without `omit` and `print`, in code that checks bounds.
  std::string checked_problem(const ProgramTerm& program);
  /// The rendered diagnostics of a text; with `ranges`, the primary range of each.
  std::string diagnostics(const std::string& text, std::vector<TextRange>* ranges = nullptr);

 private:
  Session& session();
  std::string types(Session& session, ModuleId module, SourceId source, const ProgramTerm& program,
                    bool left_out);
  std::string values(Session& session, ModuleId module, SourceId source, const ProgramTerm& program,
                     uint64_t turn);
  std::string round_trip(Session& session, ModuleId module, SourceId source);

  std::unique_ptr<Session> session_;
  int uses_ = 0;
  const bool every_way_;
  const std::filesystem::path cache_;  ///< a folder of its own
};

/// A smaller program of which `fails` still holds, found by leaving out declarations and putting simpler
/// terms of the same type in place of others; `attempts` bounds how often `fails` is asked.
ProgramTerm shrink(ProgramTerm program, const std::function<bool(const ProgramTerm&)>& fails,
                   int attempts = 400);

/// A program with one mistake, and where a diagnostic has to point.
struct Mutant {
  std::string text, what;
  TextRange place;
};
/// Changes one dim, one dtype or one number of arguments; false where the program has no place for it.
bool mutate(const ProgramTerm& program, uint64_t seed, Mutant& mutant);

}  // namespace quern::random_programs
