#pragma once
// The compiled kernel of a primitive without anything of the process that made it: what a cache keeps.

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
  /// How threads share a kernel; empty texts where they do not.
  struct Share {
    std::string range, work;
  };
  struct Packed {
    uint64_t buffer = 0;
    std::string text;  ///< canonical text of the form's loop nest, by which kernels share forms
    std::string dtype;
    std::vector<std::string> shape;
    Share share;
  };
  std::vector<std::string> dims;
  Share share;
  std::vector<Packed> packed;
  std::vector<std::string> objects;  ///< of the kernel, then of each form
};

/// Without objects.
KernelRecord record_of(const loops::Lowered& lowered, const CanonicalText& text);

/// The kernel for a primitive with these variables; nothing where the record does not fit them. `codes` are
/// of the kernel, then of each form.
std::optional<KernelCode> kernel_code(const KernelRecord& record,
                                      std::span<const std::shared_ptr<CompiledKernel>> codes,
                                      std::span<const Dim> variables);

/// `key`: what the record is stored under. A store that gives the record of another key is damaged, too.
std::string to_bytes(const KernelRecord& record, std::string_view key);
/// Nothing where the bytes are not a whole record of this key, as they were written.
std::optional<KernelRecord> record_from_bytes(std::string_view bytes, std::string_view key);

}  // namespace quern
