#pragma once
// The declarations of a prompt's inputs, and what keeps one from being used.

#include <map>
#include <set>
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

/// The declarations of a prompt's sources, which come and go at the end.
class Declared {
 public:
  explicit Declared(Session& session) : session_(session) {}

  /// A source is the last one from now on.
  void add(SourceId source);
  void remove_last();
  void clear();

  /// The one that counts under a name: later inputs replace those of earlier ones.
  DeclarationId latest(const DeclaredAs& name) const;
  /// Those that count, in the order in which they were typed.
  const std::map<DeclarationId, DeclaredAs>& in_order() const { return in_order_; }
  /// What a declaration takes the place of, or 0.
  DeclarationId replaced(DeclarationId declaration) const;
  /// The name that a declaration which is no statement has.
  DeclaredAs name_of(DeclarationId declaration) const;
  Unsound unsound(DeclarationId declaration) const;
  /// Of those that count, which use one of these, directly or not.
  std::set<DeclarationId> dependents(const std::vector<DeclarationId>& declarations) const;
  /// "`@f`", "test "parity"".
  std::string shown_name(DeclarationId declaration) const;

 private:
  Session& session_;
  std::map<DeclaredAs, std::vector<DeclarationId>> declarations_;  ///< the last of a name counts
  std::vector<std::vector<DeclaredAs>> names_;  ///< by source, of its declarations in order
  std::map<DeclarationId, DeclaredAs> in_order_;
};

}  // namespace quern
