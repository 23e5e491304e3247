#pragma once
// Places a program on devices: the marks of `to_device` become copies between two of them, and more copies are made where a
// value is needed on another device than the one that computes it (passes/device_domains.h).

#include "passes/pass.h"

namespace quern {

/// In A-normal form. Afterwards each `to_device` names two devices, which are there and differ.
ExprPtr place_devices(const PassContext& context, ExprPtr expr);

}  // namespace quern
