#include "frontend/infer/names/names.h"

#include <fmt/format.h>

#include <algorithm>

namespace quern {

SyntaxPtr type_source(SyntaxPtr binding) {
  bool is_let = binding->is(SyntaxKind::Let);
  if (is_let || binding->is(SyntaxKind::TensorParam))
    return binding->child(0) ? binding->child(0) : is_let ? binding->child(1) : binding;
  return binding->is(SyntaxKind::GraphLet) ? binding->child(0) : binding;
}

void Names::bind(std::string_view name, const Variable* variable, SyntaxPtr at) {
  auto [latest, added] = latest_.try_emplace(name, locals_.size());
  std::optional<size_t> hidden;
  if (!added) hidden = std::exchange(latest->second, locals_.size());
  locals_.push_back({name, variable, hidden});
  places_[variable] = place(type_source(at));
}

void Names::rebind(size_t local, const Variable* variable) {
  places_.emplace(variable, places_.at(locals_[local].variable));
  locals_[local].variable = variable;
}

void Names::leave_to(size_t depth) {
  while (locals_.size() > depth) {
    const LocalName& last = locals_.back();
    if (last.hidden)
      latest_[last.name] = *last.hidden;
    else
      latest_.erase(last.name);
    locals_.pop_back();
  }
}

const LocalName* Names::find(std::string_view name) const {
  auto found = latest_.find(name);
  return found == latest_.end() ? nullptr : &locals_[found->second];
}

bool Names::is_visible(std::string_view name) const {
  return std::ranges::find(locals_, name, &LocalName::name) != locals_.end() || scope_.variable(name);
}

const Place* Names::place_of(const Variable* variable) const {
  auto known = places_.find(variable);
  return known == places_.end() ? nullptr : &known->second;
}

std::vector<Note> Names::origin_of(DraftPtr draft, Type type) {
  if (draft->replacement) draft = draft->replacement;
  if (auto* var = form_of<VarExpr>(draft)) {
    const Place* known = place_of(var->variable);
    std::string text = fmt::format("`%{}` is {}", var->variable->name, unifier_.describe(type));
    if (!known) return {{std::nullopt, text}};
    return {{*known, text + ", from here"}};
  }
  if (auto* field = form_of<FieldExpr>(draft); field && !field->name.empty()) {
    Type record = resolve(child_of(draft, 0)->type);
    const DataDefinition* data = record->kind == TypeKind::Data ? scope_.data_of(record) : nullptr;
    if (data && !data->constructors.empty() && field->index < data->constructors[0].fields.size()) {
      const DataField& f = data->constructors[0].fields[field->index];
      return {{f.place,
               fmt::format("the field `{}` of `{}` is {}, from here", f.name, data->name, to_string(type))}};
    }
  }
  return {{Place{draft->origin, {}}, fmt::format("this is {}", unifier_.describe(type))}};
}

Type Names::annotation(SyntaxPtr type, const TypeEnv& in) {
  if (names_open_pack(type, in)) return unifier_.fresh_type();
  StaticEvaluator evaluator(scope_, context_.declaration, diagnostics_);
  evaluator.hole_dim = [this] { return unifier_.fresh_dim(); };
  evaluator.hole_dtype = [this] { return unifier_.fresh_dtype(DTypeClass::Any); };
  Type written = resolve_type(type, in, evaluator, scope_, diagnostics_, context_.declaration);
  unifier_.meet(written);
  return written;
}

Names::Frame Names::enter(const TypeEnv& inner, std::span<const LocalName> locals) {
  Frame outer{std::exchange(env, inner), std::exchange(locals_, {}), std::exchange(latest_, {})};
  for (const LocalName& name : locals) {
    latest_[name.name] = locals_.size();
    locals_.push_back({name.name, name.variable});
  }
  return outer;
}

void Names::leave(Frame outer) {
  env = std::move(outer.env);
  locals_ = std::move(outer.locals);
  latest_ = std::move(outer.latest);
}

// --- the compile-time language

namespace {

/// The positions of the members of a tuple.
StaticValue positions_in(Type tuple) {
  StaticList positions;
  for (size_t k = 0; k < tuple->args.size(); ++k)
    positions.push_back(StaticValue::integer(static_cast<int64_t>(k)));
  return StaticValue::list(std::move(positions));
}

}  // namespace

const Dim* WrittenExtents::find(SyntaxPtr written) const {
  const auto found =
      std::ranges::find_if(dims, [&](const auto& known) { return equal(known.first, written); });
  return found == dims.end() ? nullptr : &found->second;
}

// The positions of a tuple's members. Other problems of the name are reported in value position.
std::optional<StaticValue> Statics::other(SyntaxPtr expr, const StaticEnv& env) {
  if (const Dim* computed = extents_ ? extents_->find(expr) : nullptr)
    return *computed ? std::optional(StaticValue(*computed)) : std::nullopt;
  if (!expr->is(SyntaxKind::Local) && !expr->is(SyntaxKind::GraphName))
    return StaticEvaluator::other(expr, env);
  auto local = std::find_if(locals_.rbegin(), locals_.rend(),
                            [&](const LocalName& name) { return name.name == expr->text; });
  Type type = local == locals_.rend() ? nullptr : unifier_.resolve(local->variable->type);
  if (type && type->kind == TypeKind::Tuple) return positions_in(type);
  const TopLevelVariable* top = scope_.variable(expr->text);
  if (top && top->variable->type->kind == TypeKind::Tuple) return positions_in(top->variable->type);
  return StaticEvaluator::other(expr, env);
}

}  // namespace quern
