#pragma once

#include <string>

namespace quern {

/// The linker's id of this build of the program, in hexadecimal (the GNU build id); it differs between
/// builds. Empty if there is none.
const std::string& build_id();

}  // namespace quern
