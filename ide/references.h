#pragma once
// The references to a target in the sources of a session.

#include <vector>

#include "ide/name_places.h"

namespace quern::ide {

/// By source, in text order, including the symbols of an operator and the name at its declaration. For a declaration of
/// the library, only in the user's sources and the file that declares it.
std::vector<NamePlace> references(Session& session, const NameTarget& target);

}  // namespace quern::ide
