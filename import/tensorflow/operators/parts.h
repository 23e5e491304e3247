#pragma once
// What rows of TensorFlow's operators have in common.

#include <initializer_list>
#include <map>
#include <string>
#include <vector>

#include "import/node/call.h"

namespace quern::tensorflow {

using import_text::Refusal;
using import_text::Term;
using onnx::AttributeValue;
using onnx::Call;

using Attributes = std::map<std::string, AttributeValue, std::less<>>;

/// Writes the node as one of ONNX's with these of its inputs.
void write_as(Call& call, std::string_view op, const std::vector<size_t>& inputs, Attributes attributes = {});
/// The same of terms.
void write_terms_as(Call& call, std::string_view op, std::vector<Term> inputs, Attributes attributes = {});

/// The dtype that an attribute says. Throws a Refusal for one without a counterpart.
DType dtype_in(Call& call, std::string_view attribute, DType otherwise);
/// An axis that an input says, from 0 on, of a tensor of this rank.
int64_t axis_in(Call& call, size_t input, size_t rank);
/// A number that decides what is written.
int64_t integer_in(Call& call, size_t input);
/// `[[1, 2], [0, 0]]`, as an attribute has them, of an input of pairs that is known.
std::vector<std::pair<int64_t, int64_t>> pairs_in(Call& call, size_t input);
std::string pairs_text(const std::vector<std::pair<int64_t, int64_t>>& pairs);

}  // namespace quern::tensorflow
