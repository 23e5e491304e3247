#pragma once
// What is known about a place in a text.

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
  /// A primitive of schedules: how it is written, and what it does.
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

  Range range;  ///< what it is about
  std::variant<Primitive, Declared, Typed> about;
  std::string doc{};             ///< Markdown; may be empty
  std::string definition{};      ///< of an operator, in the language, where it is short
  std::vector<NamedDim> dims{};  ///< of a type
};

/// Nothing where nothing is known.
std::optional<Hover> hover(Session& session, SourceId source, uint32_t offset);

/// Its first line or lines, in the language: a form, a signature or a type.
std::string code_of(const Hover& hover);
/// `remark`, Markdown of its own, stands below the code.
std::string to_markdown(const Hover& hover, const std::string& remark = "");

}  // namespace quern::ide
