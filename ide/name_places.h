#pragma once
// Names in sources by what they stand for: which one is at a place, and where the same one stands.

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

/// A name that stands in a source, without its sigil.
struct NamePlace {
  SourceId source;
  Range range;
  DeclarationId declaration;  ///< that it stands in
  NameTarget target;
  bool declares = false;
  bool symbol = false;  ///< of an operator, `+`
};

/// The name at an offset: one that begins with its sigil there, and one that ends there, is at it. Nothing where
/// no name is, or one that stands for nothing.
std::optional<NamePlace> name_at(Session& session, SourceId source, uint32_t offset);

/// The names of a source, in the order of the text.
std::vector<NamePlace> names_in(Session& session, SourceId source);
/// Those of one declaration and of the chunks of its body.
std::vector<NamePlace> names_in_declaration(Session& session, DeclarationId declaration);
/// Those that stand for the target.
std::vector<NamePlace> places_in(Session& session, SourceId source, const NameTarget& target);

/// The name where it is declared; nothing where its declaration is gone.
std::optional<NamePlace> declared_place(Session& session, const NameTarget& target);

/// The type of what a node of a declaration or a chunk binds; null where it is not known.
Type type_of_binding(Session& session, DeclarationId declaration, SyntaxPtr binder);

/// Whether only the module that declares a name can name it.
bool is_seen_in_its_module_alone(NameKind kind);

std::string_view text_at(Session& session, const SourceRange& place);
std::string_view text_at(Session& session, const NamePlace& place);

}  // namespace quern::ide
