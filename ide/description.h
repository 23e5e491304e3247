#pragma once
// Descriptions of names as users type them: `nn.dense`, `@f`, `%x`, `List`, `let`, `sum[`, `int8`, `Q0302`.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::ide {

enum class DescribedKind : uint8_t {
  Variable,
  Definition,
  Static,
  Operator,
  Constructor,
  Type,
  DType,
  Keyword,     ///< a keyword or a construct: `let`, `sum[`, `grad`
  Function,    ///< a scalar function, in index expressions
  Primitive,   ///< of schedules
  Module,      ///< of `import … as m`
  Diagnostic,  ///< a code
};
/// "variable", "definition", …
std::string_view to_string(DescribedKind kind);

struct Description {
  std::string name;
  DescribedKind kind;
  std::string signature;      ///< in the language: a signature, `%x: type`, a construct; may be multi-line
  std::string documentation;  ///< Markdown; may be empty
  /// Where it is declared; library sources have paths such as `stdlib/nn.relay`.
  struct Declared {
    std::string path;
    Range range;
    std::string text;  ///< of the whole declaration
  };
  std::optional<Declared> declared;
};

/// The description of a name in a module; nothing for an unknown name. Ignores blanks around the name.
std::optional<Description> describe(Session& session, ModuleId module, std::string_view name);

/// An unknown name: the reason, and what may have been meant, the likeliest first.
struct UnknownName {
  std::string message;  ///< "there is no `torch.cat`; it is written otherwise here: …"
  std::vector<std::string> meant;
};
UnknownName unknown_name(Session& session, ModuleId module, std::string_view name);

std::string to_markdown(const Description& description);

}  // namespace quern::ide
