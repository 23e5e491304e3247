#pragma once
// The declarations of a prompt's inputs, and what makes one unusable.

#include <map>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "session/session.h"

namespace quern {

/// A declared name with its kind; operators are one kind, however they are defined.
using DeclaredAs = std::pair<PieceKind, std::string>;

/// The reason why a declaration is unusable: errors, or names that are not declared yet.
struct Unsound {
  DeclarationId declaration;
  std::vector<LocatedDiagnostic> errors;
  bool waits;
};

/// The declarations of a prompt's sources, which are added and removed at the end.
class Declared {
 public:
  explicit Declared(Session& session) : session_(session) {}

  /// Adds the last source.
  void add(SourceId source);
  void remove_last();
  void clear();

  /// The declaration in effect under a name: later inputs replace earlier ones.
  DeclarationId latest(const DeclaredAs& name) const;
  /// The declarations in effect, in the order of the inputs.
  const std::map<DeclarationId, DeclaredAs>& in_order() const { return in_order_; }
  /// The declaration that another one replaces, or 0.
  DeclarationId replaced(DeclarationId declaration) const;
  /// The name of a declaration that is not a statement.
  DeclaredAs name_of(DeclarationId declaration) const;
  Unsound unsound(DeclarationId declaration) const;
  /// The declarations in effect that use one of these, directly or not.
  std::set<DeclarationId> dependents(const std::vector<DeclarationId>& declarations) const;
  /// "`@f`", "test "parity"".
  std::string shown_name(DeclarationId declaration) const;

 private:
  Session& session_;
  std::map<DeclaredAs, std::vector<DeclarationId>> declarations_;  ///< the last one of a name is in effect
  std::vector<std::vector<DeclaredAs>> names_;  ///< by source, of its declarations in order
  std::map<DeclarationId, DeclaredAs> in_order_;
};

}  // namespace quern
