#pragma once
// The names that are in scope where the walk is: variables, and those of the compile-time language.

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
  std::optional<size_t> hidden = {};  ///< the earlier one of this name
};

/// The compile-time language as it is seen in ordinary code, where the length of a tuple is known by its
/// type.
class Statics final : public StaticEvaluator {
 public:
  Statics(Context& context, const std::vector<LocalName>& locals)
      : StaticEvaluator(context.scope, context.declaration, context.diagnostics),
        unifier_(context.unifier),
        locals_(locals) {}

 protected:
  std::optional<StaticValue> other(SyntaxPtr expr, const StaticEnv& env) override;

 private:
  Unifier& unifier_;
  const std::vector<LocalName>& locals_;
};

class Names : public Component {
 public:
  explicit Names(Context& context) : Component(context) {}

  // --- variables
  void bind(std::string_view name, const Variable* variable, SyntaxPtr at);
  /// The local that a pattern or a block bound, in the order of `locals`, has this variable from now on.
  void rebind(size_t local, const Variable* variable);
  const LocalName* find(std::string_view name) const;
  size_t depth() const { return locals_.size(); }
  void leave_to(size_t depth);
  std::span<const LocalName> locals() const { return locals_; }
  bool is_visible(std::string_view name) const;
  /// What says the variable's type; null where nothing is known of it.
  const Place* place_of(const Variable* variable) const;
  void set_place(const Variable* variable, const Place& place) { places_[variable] = place; }
  /// Notes that say where the type of a value comes from; `type` is what it is known to be.
  std::vector<Note> origin_of(DraftPtr draft, Type type);
  std::vector<Note> origin_of(DraftPtr draft) { return origin_of(draft, resolve(draft->type)); }

  // --- the compile-time language
  TypeEnv env;
  Statics evaluator() { return {context_, locals_}; }
  /// The type that an annotation writes, with an unknown for each `_`.
  Type annotation(SyntaxPtr type) { return annotation(type, env); }
  Type annotation(SyntaxPtr type, const TypeEnv& in);

  /// All that is in scope, while something else is.
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
