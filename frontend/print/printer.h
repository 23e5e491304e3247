#pragma once
// Prints the typed IR in the language's syntax. If the language can express a node, its text parses back to
// the same node; names that would be captured or that the grammar cannot spell are renamed.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/base/line_origins.h"
#include "ir/expr/expr.h"

namespace quern {

/// The constants that texts refer to as `meta[relay.Constant][k]`, by k.
class ConstantPool {
 public:
  size_t add(const std::shared_ptr<const HostTensor>& tensor);
  const std::vector<std::shared_ptr<const HostTensor>>& tensors() const { return tensors_; }

 private:
  std::vector<std::shared_ptr<const HostTensor>> tensors_;
  std::unordered_map<const HostTensor*, size_t> known_;
};

/// How the printed file spells declarations of other files.
class Spelling {
 public:
  virtual ~Spelling() = default;
  /// `layers.` for an operator of a file that is imported as `layers`.
  virtual std::string qualifier(const OpInstance& op) = 0;
  /// The same for a definition, if its name does not include it yet.
  virtual std::string qualifier(const GlobalExpr& use) = 0;
  /// The same for a data type; nothing if the file has no name for it.
  virtual std::optional<std::string> qualifier(Type data) = 0;
  /// The attributes of a use of a definition, over the use's dims; null if there are none.
  virtual std::shared_ptr<const OpInstance> attributes(const GlobalExpr& use) = 0;
};

struct PrintOptions {
  ConstantPool* constants = nullptr;  ///< of the printed module; without one each text numbers its own
  int width = 100;  ///< longest line, in characters; a name or a literal alone may be longer
  Spelling* spelling = nullptr;
  /// Renamed variables of other statements, which would shadow one that is still used.
  const std::unordered_map<const Variable*, std::string>* other_names = nullptr;
  bool slash_names = false;  ///< for a text with TVM's header, where names may contain `/`, `.`, `:` and `-`
  bool types = false;  ///< comments with the types of bindings that cannot be annotated (`%0 /* t */ = …`)
};

/// An expression. Operators print as calls by their names, kernels as `/* kernel */ fn (…) …`, tensors of
/// more than 32 elements or of vectors as `meta[relay.Constant][k]`, with distinct ones numbered from 0, and
/// Error nodes as `<error>`.
std::string print(ExprPtr expr, const PrintOptions& options = {});

/// `def @f[n](%x: t) -> t {…}` for a function, otherwise as a statement.
std::string print(const Definition& definition, const PrintOptions& options = {});

/// The same; adds the expressions of the definition that begin on each line to `origins`.
std::string print(const Definition& definition, const PrintOptions& options, LineOrigins& origins);

/// `free_var %x: t`, the declaration of an input.
std::string print_input(const Definition& input, const Variable& variable, const PrintOptions& options = {});

/// What a statement binds: a variable, a pattern, or nothing.
struct StatementBinding {
  const Variable* variable = nullptr;
  PatternPtr pattern = nullptr;
};
/// A statement: `let %x: t = …` also for a function, or the expression.
std::string print_statement(const Definition& statement, const StatementBinding& binding,
                            const PrintOptions& options = {});
/// The same; adds the expressions of the statement that begin on each line to `origins`.
std::string print_statement(const Definition& statement, const StatementBinding& binding,
                            const PrintOptions& options, LineOrigins& origins);

}  // namespace quern
