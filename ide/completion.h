#pragma once
// Completions at a place in an incomplete text.

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::ide {

enum class CompletionKind : uint8_t {
  Variable,
  Definition,
  Static,    ///< a function of the compile-time language
  Operator,  ///< also `grad`, `print` and the like
  Function,  ///< a scalar function in an index expression; a primitive in a schedule
  Constructor,
  Keyword,
  Type,
  TypeParameter,
  Index,
  Field,
  Attribute,
  Module,
  Value,  ///< of an attribute: `True`, `"NCHW"`
  File,
  Folder,
};

struct CompletionItem {
  std::string label;     ///< what is shown: `%x`, `nn.relu`, `strides=`
  std::string inserted;  ///< replaces `CompletionList::replaced`
  CompletionKind kind;
  std::string detail;  ///< its type or signature in one line; may be empty
  int rank;            ///< the position in the list; items of equal rank are equally good
};

struct CompletionList {
  Range replaced;                     ///< the word at the offset; empty if there is none
  std::vector<CompletionItem> items;  ///< the best first
  bool is_incomplete = false;         ///< there are more: a longer word may bring others
};

/// For one input, which is not in the session and whose types are not inferred. `folder`: the base of the paths of
/// `load`, `import` and `save`; "" for the working folder. Nothing in comments and strings, except names of files
/// and values of attributes.
CompletionList complete(Session& session, ModuleId module, std::string_view text, uint32_t offset,
                        const std::string& folder = "");
/// The same in a source of the session; its paths are relative to its folder.
CompletionList complete(Session& session, SourceId source, uint32_t offset);

/// Markdown about an item; may be empty.
std::string documentation_of(Session& session, ModuleId module, const CompletionItem& item);

}  // namespace quern::ide
