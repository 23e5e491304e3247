#pragma once
// Hover information for a place in a text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ide/name_places.h"
#include "session/session.h"

namespace quern::ide {

struct Hover {
  /// A primitive of schedules: its syntax and its effect.
  struct Primitive {
    std::string_view form, does;
  };
  /// An operator by its signature, a type by its declaration.
  struct Declared {
    std::string head;
  };
  struct Typed {
    std::string name;  ///< of a declaration; empty for an expression
    std::string type;
  };

  /// A dim of a type, and where its name is declared.
  struct NamedDim {
    std::string name;
    SourceRange declared;
  };

  Range range;  ///< the part of the text that it describes
  std::variant<Primitive, Declared, Typed> about;
  std::string doc{};             ///< Markdown; may be empty
  std::string definition{};      ///< of an operator, in the language, if short
  std::vector<NamedDim> dims{};  ///< of a type
};

/// The hover at a place; nothing if nothing is known.
std::optional<Hover> hover(Session& session, SourceId source, uint32_t offset);

/// Its leading lines, in the language: the syntax of a primitive, a signature or a type.
std::string code_of(const Hover& hover);
/// `remark` is Markdown that follows the code.
std::string to_markdown(const Hover& hover, const std::string& remark = "");

}  // namespace quern::ide
