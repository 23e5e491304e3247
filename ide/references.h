#pragma once
// Where the sources of a session name one thing.

#include <vector>

#include "ide/name_places.h"

namespace quern::ide {

/// Source by source, in the order of their texts: the symbols of an operator too, and the name where it is
/// declared. Of what the library declares, the user's sources and the file that declares it.
std::vector<NamePlace> references(Session& session, const NameTarget& target);

}  // namespace quern::ide
