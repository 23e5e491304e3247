#pragma once
// The names in scope at the walk's position: variables, and compile-time names.

#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "frontend/infer/context/context.h"
#include "frontend/infer/names/type_source.h"
#include "frontend/signature/resolve_type.h"

namespace quern {

struct LocalName {
  std::string_view name;
  const Variable* variable;
  std::optional<size_t> hidden = {};  ///< the shadowed local with this name
};

/// The dims of integers that the program computes, as they are written in one expression; null for those that were
/// reported (frontend/infer/indices/extents.h).
struct WrittenExtents {
  std::vector<std::pair<SyntaxPtr, Dim>> dims;
  const Dim* find(SyntaxPtr written) const;
};

/// The compile-time language in ordinary code, where a tuple's type gives its length.
class Statics final : public StaticEvaluator {
 public:
  Statics(Context& context, const std::vector<LocalName>& locals, const WrittenExtents* extents)
      : StaticEvaluator(context.scope, context.declaration, context.diagnostics),
        unifier_(context.unifier),
        locals_(locals),
        extents_(extents) {}

 protected:
  std::optional<StaticValue> other(SyntaxPtr expr, const StaticEnv& env) override;

 private:
  Unifier& unifier_;
  const std::vector<LocalName>& locals_;
  const WrittenExtents* extents_;
};

class Names : public Component {
 public:
  explicit Names(Context& context) : Component(context) {}

  // --- variables
  void bind(std::string_view name, const Variable* variable, SyntaxPtr at);
  /// Gives a local, by its index in `locals`, this variable from now on.
  void rebind(size_t local, const Variable* variable);
  const LocalName* find(std::string_view name) const;
  size_t depth() const { return locals_.size(); }
  void leave_to(size_t depth);
  std::span<const LocalName> locals() const { return locals_; }
  bool is_visible(std::string_view name) const;
  /// The place that determines the variable's type, or null.
  const Place* place_of(const Variable* variable) const;
  void set_place(const Variable* variable, const Place& place) { places_[variable] = place; }
  /// Notes that explain where the type of a value comes from; `type` is its known type.
  std::vector<Note> origin_of(DraftPtr draft, Type type);
  std::vector<Note> origin_of(DraftPtr draft) { return origin_of(draft, resolve(draft->type)); }

  // --- the compile-time language
  TypeEnv env;
  Statics evaluator(const WrittenExtents* extents = nullptr) { return {context_, locals_, extents}; }
  /// The type of an annotation, with an unknown for each `_`.
  Type annotation(SyntaxPtr type) { return annotation(type, env); }
  Type annotation(SyntaxPtr type, const TypeEnv& in);

  /// A saved scope, while another is active.
  struct Frame {
    TypeEnv env;
    std::vector<LocalName> locals;
    std::unordered_map<std::string_view, size_t> latest;
  };
  Frame enter(const TypeEnv& env, std::span<const LocalName> locals);
  void leave(Frame outer);

 private:
  std::vector<LocalName> locals_;
  std::unordered_map<std::string_view, size_t> latest_;  ///< the last of each name in locals_
  std::unordered_map<const Variable*, Place> places_;
};

}  // namespace quern
