#pragma once
// A module of Relay, as `tvm.ir.save_json` writes it, as text of the language.

#include <string>

#include "import/relay/object_graph.h"
#include "import/text/imported.h"

namespace quern::relay_import {

struct ModuleOptions {
  Entries<TensorPtr> params;  ///< of `relay.save_param_dict`: parameters of `@main` by name
  std::string source;         ///< what the comment at the beginning says of where the text is from
  std::string weights;        ///< the file that the text loads its weights from
};

/// The text in TVM's form, with constants and known parameters in one file. What the language's checker says of it are problems.
import_text::Imported import_module(const ObjectGraph& graph, const ModuleOptions& options);

}  // namespace quern::relay_import
