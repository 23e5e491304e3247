#pragma once
// The call being typed: its parameters, and the active one.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::ide {

struct SignatureHelp {
  std::string line;                ///< the signature: `nn.relu(%data: Tensor[s, t]) -> Tensor[s, t]`
  std::vector<Range> parameters;   ///< within `line`
  std::optional<uint32_t> active;  ///< which of them is being typed; nothing past the last one
  std::string documentation;       ///< Markdown; may be empty
  /// The active parameter, filled in with what the arguments so far determine: `%weight: Tensor[(o, 784), float32]`.
  /// Empty if none is active.
  std::string expected;
  uint32_t open;  ///< offset of the call's bracket in the text
};

/// For the innermost call around an offset of one input, which is not in the session and whose types are not inferred.
/// Nothing outside of calls, and for an unknown callee.
std::optional<SignatureHelp> signature_help(Session& session, ModuleId module, std::string_view text,
                                            uint32_t offset);
/// The same in a source of the session.
std::optional<SignatureHelp> signature_help(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
