#include "jit/codegen/host_functions.h"

#include <array>
#include <cmath>
#include <cstdlib>

namespace quern::codegen {

namespace {

double sin_f64(double x) { return std::sin(x); }
double cos_f64(double x) { return std::cos(x); }
float fmod_f32(float x, float y) { return std::fmod(x, y); }
double fmod_f64(double x, double y) { return std::fmod(x, y); }

void* workspace(int64_t bytes) {
  struct Memory {
    void* place = nullptr;
    int64_t bytes = 0;
    ~Memory() { std::free(place); }
  };
  thread_local Memory memory;
  if (memory.bytes < bytes) {
    std::free(memory.place);
    memory.place = std::aligned_alloc(64, static_cast<size_t>(bytes));
    memory.bytes = memory.place ? bytes : 0;
  }
  return memory.place;
}

template <class F>
HostFunction entry(const char* symbol, F* function) {
  return {symbol, reinterpret_cast<const void*>(function)};
}

}  // namespace

std::span<const HostFunction> host_functions() {
  static const std::array functions{
      entry(kWorkspace, &workspace),      entry("quern_sin_f64", &sin_f64),
      entry("quern_cos_f64", &cos_f64),   entry("quern_fmod_f32", &fmod_f32),
      entry("quern_fmod_f64", &fmod_f64),
  };
  return functions;
}

}  // namespace quern::codegen
