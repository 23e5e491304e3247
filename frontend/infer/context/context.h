#pragma once
// Shared by the parts of one inference.

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
  /// Like `set`, but not in a copy of a polymorphic function: its text's nodes have the polymorphic types.
  void note(Origin node, Type type) {
    if (copying == 0) set(node, type);
  }
  /// The types of a declaration's nodes, by id.
  std::vector<Type>& of(uint32_t declaration) { return types_[declaration]; }
  int copying = 0;  ///< nesting depth of function copies being made

 private:
  std::unordered_map<uint32_t, std::vector<Type>> types_;
};

/// The definitions that are inferred together.
struct Group {
  std::map<std::string, Type, std::less<>> types;
  std::map<std::string, Scheme, std::less<>> schemes;
  std::map<std::string, std::string, std::less<>> names;  ///< of a group's copy, by name in the text
};

struct Context {
  Context(Scope& scope, uint32_t declaration) : scope(scope), declaration(declaration) {}

  Scope& scope;
  uint32_t declaration;  ///< whose text is being processed
  Unifier unifier;
  Drafts drafts;
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();  ///< owns the final nodes
  Diagnostics diagnostics;
  NodeTypes node_types;
  Group group;
  /// The final variables of draft variables; those of earlier statements stay unchanged.
  std::unordered_map<const Variable*, const Variable*> final_variables;
  std::vector<LateCall> late_calls;
  std::vector<Specialisation> needs;
  bool warns = false;        ///< processing source text, not an instance or a copy
  bool uses_broken = false;  ///< a definition with errors is used, which may explain what cannot be inferred

  Origin origin(SyntaxPtr s) const { return {declaration, s ? s->id : 0}; }
  Place place(SyntaxPtr s) const { return {origin(s), {}}; }
  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes = {},
              std::vector<Fix> fixes = {});
  size_t error_count() const;
  /// The final form of a type when inference is complete: `()` for undecided parts, an error type if errors
  /// were reported.
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
