#pragma once
// The compiled kernel of a primitive in a form independent of the process that made it, as caches store it.

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ir/expr/canonical_text.h"
#include "jit/loops/lowered.h"
#include "jit/vm/vm.h"

namespace quern {

/// Dims are texts over the variables of the primitive's CanonicalText.
struct KernelRecord {
  /// How threads share a kernel; empty texts if they do not.
  struct Share {
    std::string range, work;
  };
  struct Packed {
    uint64_t buffer = 0;
    std::string text;  ///< canonical text of the form's loop nest, the key for sharing forms among kernels
    std::string dtype;
    std::vector<std::string> shape;
    Share share;
    std::vector<uint64_t> reads;  ///< the numbers of the kernel's dims on which the form depends
  };
  std::vector<std::string> dims;
  Share share;
  std::vector<Packed> packed;
  std::vector<std::string> objects;  ///< of the kernel, then of each form
};

/// Without objects.
KernelRecord record_of(const loops::Lowered& lowered, const CanonicalText& text);

/// The kernel for a primitive with these variables; nothing if the record does not fit them. `codes` are of
/// the kernel, then of each form.
std::optional<KernelCode> kernel_code(const KernelRecord& record,
                                      std::span<const std::shared_ptr<CompiledKernel>> codes,
                                      std::span<const Dim> variables);

/// `key`: the key under which the record is stored. A store that returns the record of another key is
/// damaged, too.
std::string to_bytes(const KernelRecord& record, std::string_view key);
/// Nothing if the bytes are not an intact record of this key.
std::optional<KernelRecord> record_from_bytes(std::string_view bytes, std::string_view key);

}  // namespace quern
