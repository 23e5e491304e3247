#pragma once
// Functions of Relay as text with TVM's header: `%k = …;` for what has no name, `meta[relay.attrs.…][k]` for attributes.

#include <map>
#include <string>
#include <vector>

#include "import/relay/module_names.h"
#include "import/relay/scopes.h"
#include "import/text/names.h"

namespace quern::relay_import {

/// Parameters whose tensors are known: they are fields of one record, which is the first parameter.
struct Bound {
  std::string type;                           ///< the record's
  std::map<std::string, std::string> fields;  ///< by the parameter's name in the file
};

/// `def @name(…) -> … { … }`.
std::string definition_text(ModuleNames& names, const std::string& name, size_t function,
                            const Bound& bound = {});

}  // namespace quern::relay_import
