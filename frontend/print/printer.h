#pragma once
// The typed IR as text in the language's own syntax. Where the language has a form for a node, what is
// printed parses back to the same; names that would be captured or that the grammar cannot spell get others.

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/expr/expr.h"

namespace quern {

/// The constants that texts name as `meta[relay.Constant][k]`, by k.
class ConstantPool {
 public:
  size_t add(const std::shared_ptr<const HostTensor>& tensor);
  const std::vector<std::shared_ptr<const HostTensor>>& tensors() const { return tensors_; }

 private:
  std::vector<std::shared_ptr<const HostTensor>> tensors_;
  std::unordered_map<const HostTensor*, size_t> known_;
};

/// How the file that is printed writes what other files declare.
class Spelling {
 public:
  virtual ~Spelling() = default;
  /// `layers.` for an operator of a file that is imported as `layers`.
  virtual std::string qualifier(const OpInstance& op) = 0;
  /// The same for a definition, where its name does not have it yet.
  virtual std::string qualifier(const GlobalExpr& use) = 0;
  /// The same for a data type; nothing for one that the file has no name for.
  virtual std::optional<std::string> qualifier(Type data) = 0;
  /// The attributes that a use of a definition gives it, over the use's dims; null where there are none.
  virtual std::shared_ptr<const OpInstance> attributes(const GlobalExpr& use) = 0;
};

struct PrintOptions {
  ConstantPool* constants = nullptr;  ///< of the module that is printed; without one each text counts its own
  int width = 100;  ///< longest line, in characters; a name or a literal alone may be longer
  Spelling* spelling = nullptr;
  /// Names of variables of other statements that are not their own: what shadows one that is still used.
  const std::unordered_map<const Variable*, std::string>* other_names = nullptr;
  bool slash_names = false;  ///< of a text with TVM's header, where names may have `/`, `.`, `:` and `-`
  bool types =
      false;  ///< comments with the types of the bindings that have no place for one (`%0 /* t */ = …`)
};

/// An expression. Operators print as calls by their names, kernels as `/* kernel */ fn (…) …`, tensors of
/// more than 32 elements or of vectors as `meta[relay.Constant][k]`, k counting the different ones from 0,
/// and Error nodes as `<error>`.
std::string print(ExprPtr expr, const PrintOptions& options = {});

/// `def @f[n](%x: t) -> t {…}` for a function, else as a statement.
std::string print(const Definition& definition, const PrintOptions& options = {});

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

}  // namespace quern
