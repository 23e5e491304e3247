#pragma once
// A row of the operators' bench: one piece of work, as Quern and as the libraries it is compared with take
// it.
//
// Shapes here are the libraries' plain ones (NCHW, OIHW); Quern's operands may have their axes in another
// order.

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/value/tensor.h"

namespace quern::bench {

/// How elements are drawn.
enum class Values {
  Normal,    ///< about zero, of variance one
  Positive,  ///< between 0.1 and 4
  Indices,   ///< int32, from 0 up to a limit
  Bytes,     ///< integers from -128 to 127
};

struct Input {
  Shape shape;
  Values values = Values::Normal;
  int64_t limit = 0;                    ///< of indices, exclusive
  std::vector<size_t> quern_axes = {};  ///< axes of Quern's operand in order; empty where it is the same
  /// Of Quern's operand. The libraries get float32, and those that are asked for fewer bits convert it before
  /// they are timed.
  DType dtype = DType::float32();
};

/// What a C++ library is asked for (bench/ops/peer): a kind of call and its numbers.
struct LibraryCall {
  std::string kind;
  std::map<std::string, std::vector<int64_t>> numbers = {};
};

struct Work {
  std::string name;
  std::string group;   ///< whose ratios are averaged
  std::string source;  ///< a `def @main` whose parameters are the inputs
  std::vector<Input> inputs;
  std::vector<size_t> result_axes = {};  ///< which axes of Quern's result are the libraries'; empty: the same
  int winograd_tile = 0;                 ///< whose error Quern's convolution may have
  double flops = 0;                      ///< 0 where memory is the limit
  double bytes = 0;                      ///< moved; 0 for all operands and the result once
  double tolerance = 2e-5;               ///< largest difference, relative to the largest element
  std::optional<LibraryCall> onednn = {};
  std::optional<LibraryCall> openblas = {};
  std::vector<std::string> torch = {};  ///< Python expressions over a, b, …: the fastest counts
  std::string torch_module = "";        ///< a Python expression: a module whose weight is b, applied to a
};

/// Which layout Quern's convolutions have where the operator offers a choice.
enum class Layout { ChannelsLast, ChannelsFirst };

/// Every row, in the order of the table.
std::vector<Work> all_works(Layout layout);

// The parts of the table.
void add_products(std::vector<Work>& works);
void add_convolutions(std::vector<Work>& works, Layout layout);
void add_random_convolutions(std::vector<Work>& works, Layout layout);
void add_random_products(std::vector<Work>& works);
void add_memory_bound(std::vector<Work>& works);
void add_capsules(std::vector<Work>& works);
void add_common_operators(std::vector<Work>& works);

/// Makes a row of one in float32: operands of another dtype, sums of 32 bits, for oneDNN alone.
void set_dtype(Work& work, DType dtype);
/// The attribute of an operator that adds up in 32 bits; "" for float32 operands.
std::string sums_attribute(DType dtype);
/// "Tensor[(1, 2), float32]" of Quern's operand.
std::string operand_type(const Input& input);
/// `def @main` of the inputs %a, %b, … with this body.
std::string main_of(const std::vector<Input>& inputs, const std::string& body);
/// "[1, 2]"
std::string list_text(const std::vector<int64_t>& list);

/// Numbers from a seed, the same on every machine.
class Draw {
 public:
  explicit Draw(uint64_t seed) : state_(seed) {}
  uint64_t bits();
  /// Uniform in low…high.
  int64_t integer(int64_t low, int64_t high);
  int64_t pick(const std::vector<int64_t>& from);

 private:
  uint64_t state_;
};

}  // namespace quern::bench
