#pragma once
// The declarations of a prompt's inputs, and what keeps one from being used.

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace quern {

/// A name that inputs declare: its kind (operators are one kind, however they are defined) and itself.
using DeclaredAs = std::pair<PieceKind, std::string>;

/// What keeps a declaration from being used: mistakes, or that it names what is not there yet.
struct Unsound {
  DeclarationId declaration;
  std::vector<LocatedDiagnostic> errors;
  bool waits;
};

/// Looks at the sources of the inputs, whatever they are by then.
class Declared {
 public:
  Declared(Session& session, const std::vector<SourceId>& sources) : session_(session), sources_(sources) {}

  /// The declarations that count, by name: later inputs replace those of earlier ones.
  std::map<DeclaredAs, DeclarationId> latest() const;
  /// The same in the order in which they were typed.
  std::map<DeclarationId, DeclaredAs> in_order() const;
  Unsound unsound(DeclarationId declaration) const;
  /// Those of `latest` that use one of these, directly or not.
  std::vector<DeclarationId> dependents(const std::vector<DeclarationId>& declarations) const;
  /// "`@f`", "test "parity"".
  std::string shown_name(DeclarationId declaration) const;

 private:
  Session& session_;
  const std::vector<SourceId>& sources_;
};

}  // namespace quern
