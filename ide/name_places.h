#pragma once
// Names in sources by their targets: the name at a place, and the names with the same target.

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "session/session.h"

namespace quern::ide {

/// A range of a source's text.
struct SourceRange {
  SourceId source;
  Range range;
  friend bool operator==(const SourceRange&, const SourceRange&) = default;
};

/// An occurrence of a name in a source, without its sigil.
struct NamePlace {
  SourceId source;
  Range range;
  DeclarationId declaration;  ///< that contains it
  NameTarget target;
  bool declares = false;
  bool symbol = false;  ///< of an operator, `+`
};

/// The name at an offset, including one whose sigil begins there and one that ends there. Nothing if there is no name,
/// or if it has no target.
std::optional<NamePlace> name_at(Session& session, SourceId source, uint32_t offset);

/// The names of a source, in text order.
std::vector<NamePlace> names_in(Session& session, SourceId source);
/// Those of one declaration and of the chunks of its body.
std::vector<NamePlace> names_in_declaration(Session& session, DeclarationId declaration);
/// The names with this target.
std::vector<NamePlace> places_in(Session& session, SourceId source, const NameTarget& target);

/// The name at its declaration; nothing if that has been removed.
std::optional<NamePlace> declared_place(Session& session, const NameTarget& target);

/// The type of what a node of a declaration or a chunk binds; null if unknown.
Type type_of_binding(Session& session, DeclarationId declaration, SyntaxPtr binder);

/// Whether a name is visible only in the module that declares it.
bool is_seen_in_its_module_alone(NameKind kind);

std::string_view text_at(Session& session, const SourceRange& place);
std::string_view text_at(Session& session, const NamePlace& place);

}  // namespace quern::ide
