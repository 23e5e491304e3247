#include "bench/models/peer/arena.h"

#include <algorithm>
#include <numeric>

namespace quern::bench {

using dnnl::memory;

namespace {

constexpr size_t kAlignment = 64;

}  // namespace

memory Arena::make(const memory::desc& desc) {
  const size_t bytes = (desc.get_size() + kAlignment - 1) / kAlignment * kAlignment;
  buffers_.push_back({bytes});
  return add(desc, buffers_.size() - 1, 0);
}

memory Arena::part(const memory& whole, const memory::desc& desc, size_t byte) {
  const Place& place = places_[place_of_.at(whole.get())];
  return add(desc, place.buffer, place.byte + byte);
}

memory Arena::add(const memory::desc& desc, size_t buffer, size_t byte) {
  memory made(desc, engine_, DNNL_MEMORY_NONE);
  place_of_[made.get()] = places_.size();
  places_.push_back({made, buffer, byte});
  return made;
}

void Arena::use(const memory& memory, size_t step) {
  const auto found = place_of_.find(memory.get());
  if (found == place_of_.end()) return;
  Buffer& buffer = buffers_[places_[found->second].buffer];
  buffer.first_step = std::min(buffer.first_step, step);
  buffer.last_step = std::max(buffer.last_step, step);
}

size_t Arena::lowest_start(const Buffer& buffer, const std::vector<size_t>& placed) const {
  size_t start = 0;
  for (const size_t other : placed) {  // by their starts
    const Buffer& there = buffers_[other];
    if (there.last_step < buffer.first_step || buffer.last_step < there.first_step) continue;
    if (start + buffer.bytes <= there.start) break;
    start = std::max(start, there.start + there.bytes);
  }
  return start;
}

void Arena::place() {
  std::vector<size_t> order(buffers_.size()), placed;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(),
                   [&](size_t a, size_t b) { return buffers_[a].bytes > buffers_[b].bytes; });
  size_t bytes = 0;
  for (const size_t one : order) {
    Buffer& buffer = buffers_[one];
    buffer.start = lowest_start(buffer, placed);
    bytes = std::max(bytes, buffer.start + buffer.bytes);
    const auto after = std::find_if(placed.begin(), placed.end(),
                                    [&](size_t other) { return buffers_[other].start > buffer.start; });
    placed.insert(after, one);
  }
  block_ = HostTensor::make(DType::uint8(), {static_cast<int64_t>(bytes)});
  for (const Place& place : places_)
    place.memory.set_data_handle(block_->data() + buffers_[place.buffer].start + place.byte);
}

}  // namespace quern::bench
