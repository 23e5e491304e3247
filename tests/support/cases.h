#pragma once
// Expressions over tensors of a file, evaluated through one session: what the numeric tests are made of.

#include <iosfwd>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/io/data_files.h"
#include "ir/value/tensor.h"
#include "session/session.h"

namespace quern::numeric {

/// An expression in the language over variables %a, %b… that are tensors.
struct Case {
  std::string name;
  std::string expression;
  std::vector<std::pair<std::string, std::string>> inputs;  ///< variable without %, its entry in the file
  std::string definition = "";                              ///< a `def` on one line that the expression uses
};

/// What is said of the extents of a case over unknown dims: those that are numbers, and those that are written as so many times
/// another, the largest first.
struct StatedExtents {
  std::vector<int64_t> numbers, multiples;
};

/// The case inside a function over dims that are known only at run time: each extent but 1 is a variable, the
/// same for equal extents. The function, @f followed by `number`, calls itself once, which keeps it from
/// being inlined where it is called.
Case over_unknown_dims(const Case& one, const Entries<TensorPtr>& tensors, size_t number,
                       const StatedExtents& stated = {});

/// What an evaluation gave: a tensor or a tuple, or why there is neither.
struct Outcome {
  TensorPtr tensor;
  std::string problem;
  std::vector<TensorPtr> fields = {};  ///< of a tuple; null for one that is no tensor
};

enum class Evaluator {
  Interpreter,
  Compiled,
  First,    ///< the first code there is
  Checked,  ///< the same, and it tests each access of a buffer
  Narrow,   ///< the first code for a machine with vectors of 128 bits
};
std::string_view to_string(Evaluator evaluator);
void PrintTo(Evaluator evaluator, std::ostream* out);

/// All cases in one module, one line each: `let %a: … = load(…); …; expression;`. Definitions are on lines of
/// their own.
class CaseSession {
 public:
  /// `file` holds the inputs' entries; its folder becomes the source's.
  CaseSession(const std::string& file, std::vector<Case> cases, std::vector<Session::LibraryFile> library);

  /// What each case evaluates to, in order; a case that does not type-check has its diagnostics as the
  /// problem.
  std::vector<Outcome> run(Evaluator evaluator);
  const std::vector<Case>& cases() const { return cases_; }
  /// The diagnostics of a case; "" for one that type-checks.
  const std::string& problem(size_t index) const { return problems_[index]; }
  /// A case as it stands in the source.
  std::string text(size_t index) const {
    const std::string& definition = cases_[index].definition;
    return definition + (definition.empty() ? "" : "\n") + lines_[index];
  }

 private:
  void add_lines(const std::string& file_name, const Entries<TensorHeader>& entries);
  void check();

  std::vector<Case> cases_;
  std::vector<std::string> lines_;
  std::vector<std::string> problems_;  ///< of each case, found before anything runs
  std::unique_ptr<Session> session_;
  ModuleId module_ = 0;
  SourceId source_ = 0;
};

/// A .safetensors file in the folder for temporary files, gone with this value.
class TemporaryFile {
 public:
  explicit TemporaryFile(const std::string& name);
  ~TemporaryFile();
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  const std::string& path() const { return path_; }

 private:
  std::string path_;
};

}  // namespace quern::numeric
