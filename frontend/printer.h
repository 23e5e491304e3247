#pragma once
// The typed IR as text in the language's own syntax. Where the language has a form for a node, what is
// printed parses back to the same; names that would be captured or that the grammar cannot spell get others.

#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "ir/expr.h"

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

struct PrintOptions {
  ConstantPool* constants = nullptr;  ///< of the module that is printed; without one each text counts its own
  int width = 100;  ///< longest line, in characters; a name or a literal alone may be longer
  bool types =
      false;  ///< comments with the types of the bindings that have no place for one (`%0 /* t */ = …`)
};

/// An expression. Operators print as calls by their names, kernels as `/* kernel */ fn (…) …`, tensors of
/// more than 32 elements as `meta[relay.Constant][k]`, k counting the different ones from 0, and Error nodes
/// as `<error>`.
std::string print(ExprPtr expr, const PrintOptions& options = {});

/// `def @f[n](%x: t) -> t {…}` for a function, `let %x: t = …` for another value with a name, else the
/// expression.
std::string print(const Definition& definition, const PrintOptions& options = {});

}  // namespace quern
