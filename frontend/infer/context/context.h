#pragma once
// What the parts of one inference share.

#include <map>
#include <memory>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/infer/context/inferred.h"
#include "frontend/infer/draft/draft.h"
#include "frontend/unify/unifier.h"

namespace quern {

/// The types of syntax nodes, for hovers.
class NodeTypes {
 public:
  void set(Origin node, Type type);
  /// But not of a copy of a general function: the nodes of its text have the general types.
  void note(Origin node, Type type) {
    if (copying == 0) set(node, type);
  }
  /// Of the nodes of a declaration, by their ids.
  std::vector<Type>& of(uint32_t declaration) { return types_[declaration]; }
  int copying = 0;  ///< how many copies of functions are being made, one inside the other

 private:
  std::unordered_map<uint32_t, std::vector<Type>> types_;
};

/// The definitions that are inferred together.
struct Group {
  std::map<std::string, Type, std::less<>> types;
  std::map<std::string, Scheme, std::less<>> schemes;
  std::map<std::string, std::string, std::less<>> names;  ///< of a group's copy, by the names in the text
};

struct Context {
  Context(Scope& scope, uint32_t declaration) : scope(scope), declaration(declaration) {}

  Scope& scope;
  uint32_t declaration;  ///< whose text is looked at
  Unifier unifier;
  Drafts drafts;
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();  ///< of the final nodes
  Diagnostics diagnostics;
  NodeTypes node_types;
  Group group;
  /// The variables of drafts as final nodes have them; those of earlier statements stay what they are.
  std::unordered_map<const Variable*, const Variable*> final_variables;
  std::vector<LateCall> late_calls;
  std::vector<Specialisation> needs;
  bool warns = false;        ///< this is of a text, not of an instance or a copy of what stands there
  bool uses_broken = false;  ///< a definition with errors: what cannot be inferred may be for that

  Origin origin(SyntaxPtr s) const { return {declaration, s ? s->id : 0}; }
  Place place(SyntaxPtr s) const { return {origin(s), {}}; }
  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes = {},
              std::vector<Fix> fixes = {});
  size_t error_count() const;
  /// The type as the result has it, when nothing more is found out: `()` for what nothing decided, an error
  /// where errors were reported.
  Type final_type(Type type);
};

/// A part of an inference.
class Component {
 protected:
  explicit Component(Context& context)
      : context_(context),
        scope_(context.scope),
        unifier_(context.unifier),
        drafts_(context.drafts),
        diagnostics_(context.diagnostics) {}

  Origin origin(SyntaxPtr s) const { return context_.origin(s); }
  Place place(SyntaxPtr s) const { return context_.place(s); }
  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes = {},
              std::vector<Fix> fixes = {}) {
    context_.report(kind, at, std::move(message), std::move(notes), std::move(fixes));
  }
  DraftPtr error(SyntaxPtr s, Type type = error_type()) { return drafts_.error(origin(s), type); }
  template <class T>
  T resolve(T of) {
    return unifier_.resolve(of);
  }

  Context& context_;
  Scope& scope_;
  Unifier& unifier_;
  Drafts& drafts_;
  Diagnostics& diagnostics_;
};

}  // namespace quern
