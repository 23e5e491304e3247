#pragma once
// What is known about a place in a text.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <variant>

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
    std::string doc;  ///< Markdown; may be empty
  };
  struct Typed {
    std::string name;  ///< of a declaration; empty for an expression
    std::string type;
  };

  Range range;  ///< what it is about
  std::variant<Primitive, Declared, Typed> about;
};

/// Nothing where nothing is known.
std::optional<Hover> hover(Session& session, SourceId source, uint32_t offset);

/// Its first lines, in the language: a form, a signature or a type.
std::string code_of(const Hover& hover);
std::string to_markdown(const Hover& hover);

}  // namespace quern::ide
