#include "bench/models/peer/network.h"

#include <algorithm>

namespace quern::bench {

using dnnl::memory;

const dnnl::engine& processor() {
  static const dnnl::engine engine(dnnl::engine::kind::cpu, 0);
  return engine;
}

memory::desc any_layout(const memory::dims& dims) { return {dims, kFloat, memory::format_tag::any}; }

memory::desc row_major(const memory::dims& dims) {
  memory::dims strides(dims.size(), 1);
  for (size_t k = dims.size() - 1; k > 0; --k) strides[k - 1] = strides[k] * dims[k];
  return {dims, kFloat, strides};
}

TensorPtr bytes_for(const memory::desc& desc) {
  return HostTensor::make(DType::uint8(), {static_cast<int64_t>(desc.get_size())});
}

namespace {

void copy(memory from, memory to) {
  dnnl::stream stream(processor());
  dnnl::reorder(from, to).execute(stream, from, to);
  stream.wait();
}

}  // namespace

Network::Network(const Weights& weights, Choices choices)
    : weights_(weights), choices_(std::move(choices)), stream_(processor()), arena_(processor()) {}

memory Network::input(const std::string& name) {
  const TensorPtr& tensor = weights_.input(name);
  return {row_major(tensor->shape()), processor(), tensor->data()};
}

memory Network::part(const memory& whole, const Desc& desc, int64_t element) {
  return arena_.part(whole, desc, element * sizeof(float));
}

memory Network::constant(const Desc& desc) {
  memories_.push_back(bytes_for(desc));
  return {desc, processor(), memories_.back()->data()};
}

memory Network::packed(const TensorPtr& tensor, const Desc& given, const Desc& wanted) {
  memory to = constant(wanted);
  copy(memory(given, processor(), tensor->data()), to);
  return to;
}

memory Network::packed(const TensorPtr& tensor, const Desc& wanted) {
  return packed(tensor, row_major(wanted.dims()), wanted);
}

memory Network::arranged(const memory& x, const Desc& wanted) {
  if (x.get_desc() == wanted) return x;
  memory to = make(wanted);
  add(dnnl::reorder::primitive_desc(processor(), x.get_desc(), processor(), wanted),
      {{DNNL_ARG_FROM, x}, {DNNL_ARG_TO, to}});
  return to;
}

void Network::add(const dnnl::primitive_desc_base& description, const Arguments& arguments) {
  // The arguments as the library's C interface has them: the C++ one would make this list anew at each call.
  std::vector<dnnl_exec_arg_t> list;
  const auto use = [&](int name, const memory& argument) {
    arena_.use(argument, steps_.size());
    kept_.push_back(argument);
    list.push_back({name, argument.get()});
  };
  for (const auto& [name, argument] : arguments) use(name, argument);
  if (const Desc scratchpad = description.scratchpad_desc(); scratchpad.get_size() > 0)
    use(DNNL_ARG_SCRATCHPAD, make(scratchpad));
  steps_.emplace_back([this, list = std::move(list), primitive = dnnl::primitive(description.get())] {
    const auto count = static_cast<int>(list.size());
    dnnl::error::wrap_c_api(dnnl_primitive_execute(primitive.get(), stream_.get(), count, list.data()),
                            "a primitive failed");
  });
}

void Network::add(std::function<void()> step, const memory& result) {
  arena_.use(result, steps_.size());
  kept_.push_back(result);
  steps_.push_back(std::move(step));
}

dnnl::primitive_attr Network::attributes(Activation activation, const memory& sum) const {
  using dnnl::algorithm;
  dnnl::post_ops after;
  if (sum) after.append_sum(1);
  switch (activation) {
    case Activation::None: break;
    case Activation::Relu: after.append_eltwise(1, algorithm::eltwise_relu, 0, 0); break;
    case Activation::Relu6: after.append_eltwise(1, algorithm::eltwise_clip, 0, 6); break;
    case Activation::Gelu: after.append_eltwise(1, algorithm::eltwise_gelu_erf, 0, 0); break;
    case Activation::GeluTanh: after.append_eltwise(1, algorithm::eltwise_gelu_tanh, 0, 0); break;
    case Activation::Tanh: after.append_eltwise(1, algorithm::eltwise_tanh, 0, 0); break;
  }
  dnnl::primitive_attr attributes;
  attributes.set_post_ops(after);
  attributes.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attributes;
}

void Network::finish(const memory& result) {
  result_ = arranged(result, row_major(result.get_desc().dims()));
  arena_.use(result_, steps_.size());
  arena_.place();
}

void Network::run() const {
  for (const auto& step : steps_) step();
  dnnl::error::wrap_c_api(dnnl_stream_wait(stream_.get()), "the stream failed");
}

TensorPtr Network::result() const {
  TensorPtr tensor = HostTensor::make(DType::float32(), result_.get_desc().dims());
  std::copy_n(static_cast<const std::byte*>(result_.get_data_handle()), tensor->bytes(), tensor->data());
  return tensor;
}

}  // namespace quern::bench
