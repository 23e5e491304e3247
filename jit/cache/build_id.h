#pragma once

#include <string>

namespace quern {

/// What the linker noted of this build of the program, in hexadecimal digits (the GNU build id): another
/// build has another. Empty where it noted nothing.
const std::string& build_id();

}  // namespace quern
