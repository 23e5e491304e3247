#pragma once
// A network of oneDNN's primitives: made once with its weights packed, then run with its steps in a row.

#include <dnnl.hpp>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "bench/models/peer/arena.h"
#include "bench/models/peer/weights.h"
#include "ir/value/tensor.h"

namespace quern::bench {

/// The order of an image's elements: as each convolution likes to write it, channels in blocks of 16, or channels
/// innermost.
enum class Layout { Any, Blocked, ChannelsLast };

/// Blocks of as many channels as a vector has; with others oneDNN runs its reference kernels.
dnnl::memory::format_tag blocks_of_channels();

/// What a network may do in several ways.
struct Choices {
  std::string name;
  Layout layout = Layout::Any;
  bool phases = false;  ///< a transposed convolution as a convolution for each phase of its stride
  bool matmul = false;  ///< dense layers of rows as matrix products rather than as inner products
  bool packed = true;   ///< weights of recurrent layers as oneDNN likes them
};

/// What is computed with a layer's result before it is written.
enum class Activation { None, Relu, Relu6, Gelu, GeluTanh, Tanh };

/// Weights by their names, and what follows them. `norm` is a batch norm right after, "" for none.
struct Convolution {
  std::string weight, norm = {};
  int64_t stride = 1, padding = 0, groups = 1;
  Activation activation = Activation::None;
  dnnl::memory sum = {};   ///< added before the activation; its place is the result's
  dnnl::memory into = {};  ///< the result's place
};

/// Of its weights, its result, and the zeros before and after each axis.
struct ConvolutionDims {
  dnnl::memory::dims weights, result, before, after;
};

struct Pool {
  int64_t size = 2, stride = 2, padding = 0;
};

class Network {
 public:
  using Arguments = std::vector<std::pair<int, dnnl::memory>>;
  using Desc = dnnl::memory::desc;

  Network(const Weights& weights, Choices choices);

  const Weights& weights() const { return weights_; }
  const Choices& choices() const { return choices_; }

  /// One of the parameters of @main.
  dnnl::memory input(const std::string& name);

  // Images, batch and channels first in their dims.
  dnnl::memory conv(const dnnl::memory& x, const Convolution& layer);
  dnnl::memory transposed_conv(const dnnl::memory& x, const Convolution& layer);
  /// Images of one size, their channels after each other.
  dnnl::memory concatenated(const std::vector<dnnl::memory>& parts);
  dnnl::memory max_pool(const dnnl::memory& x, const Pool& pool);
  /// Over all places.
  dnnl::memory mean(const dnnl::memory& x);

  // Rows. A sum is added before the activation, and its place is the result's.
  dnnl::memory linear(const dnnl::memory& x, const Dense& dense, Activation activation = Activation::None,
                      const dnnl::memory& sum = {});
  dnnl::memory layer_norm(const dnnl::memory& x, const std::string& name, float epsilon);
  /// Of rows that have a token's query, key and value for all heads; queries are already scaled. The mask, of tokens
  /// by tokens, is added to the scores where there is one.
  dnnl::memory attention(const dnnl::memory& rows, int64_t heads, const dnnl::memory& mask = {});

  // What layers are made of.
  /// A result of steps.
  dnnl::memory make(const Desc& desc) { return arena_.make(desc); }
  /// A memory that outlives the making, uninitialised.
  dnnl::memory constant(const Desc& desc);
  /// A part of a result, from an element on.
  dnnl::memory part(const dnnl::memory& whole, const Desc& desc, int64_t element);
  /// A constant: a tensor whose elements have the first description, in the second one.
  dnnl::memory packed(const TensorPtr& tensor, const Desc& given, const Desc& wanted);
  dnnl::memory packed(const TensorPtr& tensor, const Desc& wanted);
  /// What a step reads, rearranged at each call where it does not have this description.
  dnnl::memory arranged(const dnnl::memory& x, const Desc& wanted);
  void add(const dnnl::primitive_desc_base& description, const Arguments& arguments);
  /// A step that is no primitive, and what it writes.
  void add(std::function<void()> step, const dnnl::memory& result);
  dnnl::primitive_attr attributes(Activation activation, const dnnl::memory& sum = {}) const;

  /// Ends the making: the result of the last step is the network's.
  void finish(const dnnl::memory& result);
  void run() const;
  TensorPtr result() const;

 private:
  Desc image(const dnnl::memory::dims& dims) const;
  Desc given_image(const dnnl::memory& x) const;
  /// Weights and zeros are given; of the layer only what follows them counts, and the stride.
  dnnl::memory convolve(const dnnl::memory& x, const Filters& filters, const ConvolutionDims& dims,
                        const Convolution& layer);
  dnnl::memory direct_transposed_conv(const dnnl::memory& x, const Filters& filters,
                                      const Convolution& layer);
  dnnl::memory conv_by_phases(const dnnl::memory& x, const Filters& filters, const Convolution& layer);
  dnnl::memory conv_of_one_place(const dnnl::memory& x, const Filters& filters, Activation activation);
  dnnl::memory linear_by_matmul(const dnnl::memory& x, const Dense& dense, Activation activation,
                                const dnnl::memory& sum);
  dnnl::memory linear_by_inner_product(const dnnl::memory& x, const Dense& dense, Activation activation,
                                       const dnnl::memory& sum);

  const Weights& weights_;
  Choices choices_;
  dnnl::stream stream_;
  Arena arena_;
  std::vector<std::function<void()>> steps_;
  std::vector<dnnl::memory> kept_;
  std::vector<TensorPtr> memories_;
  dnnl::memory result_;
};

const dnnl::engine& processor();
/// Memory of a tensor of Quern's, which asks for huge pages.
TensorPtr bytes_for(const dnnl::memory::desc& desc);
dnnl::memory::desc any_layout(const dnnl::memory::dims& dims);
dnnl::memory::desc row_major(const dnnl::memory::dims& dims);

constexpr auto kFloat = dnnl::memory::data_type::f32;
constexpr auto kInference = dnnl::prop_kind::forward_inference;

}  // namespace quern::bench
