#pragma once
// The call that is being typed: what its parameters are, and which one is next.

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
  /// The active parameter with what the arguments so far decide filled in: `%weight: Tensor[(o, 784),
  /// float32]`. Empty where none is active.
  std::string expected;
  uint32_t open;  ///< offset of the call's bracket in the text
};

/// Of the innermost call around an offset of one input, which is not in the session: nothing of it is
/// inferred. Nothing outside of calls, and for what nothing is known of.
std::optional<SignatureHelp> signature_help(Session& session, ModuleId module, std::string_view text,
                                            uint32_t offset);
/// The same in a source of the session.
std::optional<SignatureHelp> signature_help(Session& session, SourceId source, uint32_t offset);

}  // namespace quern::ide
