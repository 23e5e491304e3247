#pragma once
// What a text would be with some edits: tried on the session, and taken back.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace quern::ide {

using TextEdits = std::vector<std::pair<Range, std::string>>;  ///< in the order of the text

/// The typed programs of some declarations of a source; they outlive its edits.
class TypedDeclarations {
 public:
  /// Of the declarations with these places in the source's order; nothing where one has errors, or is typed
  /// only where it is used.
  static std::optional<TypedDeclarations> of(Session& session, SourceId source,
                                             const std::vector<size_t>& places);
  /// Whether they are the same programs, up to names of what they bind.
  bool same_as(const TypedDeclarations& other) const;

 private:
  std::vector<Definition> definitions_;
  std::vector<const Variable*> variables_;
};

/// The places of the declarations that edits touch.
std::vector<size_t> touched(Session& session, SourceId source, const TextEdits& edits);

/// Whether the declarations that the edits touch stay what they were.
bool keep_meaning(Session& session, SourceId source, const TextEdits& edits, const TypedDeclarations& before);

}  // namespace quern::ide
