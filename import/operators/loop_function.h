#pragma once
// A loop as a function that calls itself last.

#include <string>
#include <vector>

#include "import/node/call.h"

namespace quern::onnx {

/// `if (goes_on) { binds f(next) } else { results }`, first called on `first`. What its text uses of the variables around it are
/// parameters before these.
struct LoopFunction {
  std::vector<Term> parameters;
  std::vector<Type> types;  ///< of the results
  std::string goes_on, binds;
  std::vector<std::string> next, results, first;
};

/// Writes the function and its call; the results go to the node's outputs. `outer_count` is how many variables the text had before
/// the loop's own.
void write_loop(Call& call, size_t outer_count, LoopFunction loop);

/// `(a, b)`, of one part `(a,)`.
std::string tuple_of(const std::vector<std::string>& parts);
/// Binds the results of an expression to the node's outputs.
void set_results(Call& call, const std::string& text, const std::vector<Type>& types);
/// The type with `?` where an extent differs. Throws a Refusal for tensors of other ranks or dtypes.
Type joined(Type a, Type b);
/// A tensor of one element as one of rank 0.
Term scalar(Call& call, const Term& term, std::string_view hint);

}  // namespace quern::onnx
