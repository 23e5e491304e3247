#pragma once
// What a name stands for, as people type it: `nn.dense`, `@f`, `%x`, `List`, `let`, `sum[`, `int8`, `Q0302`.

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
  Keyword,     ///< a word or a form of the language: `let`, `sum[`, `grad`
  Function,    ///< of single elements, in index expressions
  Primitive,   ///< of schedules
  Module,      ///< of `import … as m`
  Diagnostic,  ///< a code
};
/// "variable", "definition", …
std::string_view to_string(DescribedKind kind);

struct Description {
  std::string name;
  DescribedKind kind;
  std::string signature;      ///< in the language: a signature, `%x: type`, a form; may have several lines
  std::string documentation;  ///< Markdown; may be empty
  /// Where it is declared; the library's texts have paths such as `stdlib/nn.relay`.
  struct Declared {
    std::string path;
    Range range;
    std::string text;  ///< of the whole declaration
  };
  std::optional<Declared> declared;
};

/// What a name stands for in a module; nothing for a name that stands for nothing. Blanks around it do not
/// matter.
std::optional<Description> describe(Session& session, ModuleId module, std::string_view name);

/// A name that stands for nothing: why, and what may have been meant, the likeliest first.
struct UnknownName {
  std::string message;  ///< "there is no `torch.cat`; it is written otherwise here: …"
  std::vector<std::string> meant;
};
UnknownName unknown_name(Session& session, ModuleId module, std::string_view name);

std::string to_markdown(const Description& description);

}  // namespace quern::ide
