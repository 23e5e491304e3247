#pragma once
// The constants of a printed text as the section that TVM writes behind it.

#include <string>

#include "frontend/print/printer.h"

namespace quern {

/// `#[metadata]` with the constants that a text refers to as `meta[relay.Constant][k]`, in TVM's bytes; empty
/// without any.
std::string metadata_of(const ConstantPool& constants);

}  // namespace quern
