#include "frontend/signature.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/attribute_kinds.h"
#include "frontend/signature_dims.h"
#include "frontend/suggest.h"

namespace quern {

SyntaxPtr params_of(SyntaxPtr op) { return op->child(1); }

size_t tensor_param_count(SyntaxPtr op) {
  size_t count = 0;
  for (SyntaxPtr p : params_of(op)->children) count += p->is(SyntaxKind::TensorParam);
  return count;
}

bool is_permuted_shape(SyntaxPtr shape) {
  return shape->is(SyntaxKind::Call) && shape->child(0)->text == "permute" && shape->children.size() == 3 &&
         shape->child(1)->is(SyntaxKind::Tuple);
}

namespace {

// One match of a call against a signature.
class Matcher {
 public:
  Matcher(const Declaration& op, const SignatureCall& call, Scope& scope, TypeHooks& hooks,
          Diagnostics& diagnostics, uint32_t caller)
      : op_(op),
        call_(call),
        scope_(scope),
        hooks_(hooks),
        diagnostics_(diagnostics),
        caller_(caller),
        inside_evaluator_(scope, op.id, inside_) {
    inside_evaluator_.require = [this](DimRelation relation, Dim a, Dim b) {
      return hooks_.require(relation, hooks_.resolve(a), hooks_.resolve(b), true);
    };
  }

  MatchOutcome run() {
    SyntaxPtr params = params_of(op_.syntax);
    size_t tensors = tensor_param_count(op_.syntax);
    if (call_.tensors.size() != tensors) {
      report(DiagnosticKind::WrongArgumentCount, call_.syntax,
             fmt::format("`{}` takes {} tensor argument{} and is given {}", op_.name, tensors,
                         tensors == 1 ? "" : "s", call_.tensors.size()),
             {{Place{{op_.id, params->id}, {}}, fmt::format("`{}` is defined here", op_.name)}});
      return failed();
    }
    for (Type type : call_.tensors)
      if (contains_error(hooks_.resolve(type))) return failed();
    if (!attributes()) return failed();
    if (!late_.empty() && mentions_unknown_dims()) return {MatchStatus::Stuck, {}};
    size_t i = 0;
    for (SyntaxPtr p : params->children) {
      if (!p->is(SyntaxKind::TensorParam)) continue;
      argument_ = i;
      param_ = p;
      Status status = match(p->child(0), hooks_.resolve(call_.tensors[i++]));
      if (status == Status::Stuck) return {MatchStatus::Stuck, {}};
      if (status == Status::Failed) return failed();
    }
    for (SyntaxPtr declared : late_) {
      auto value = inside_evaluator_.evaluate(declared->child(1), binding_.env);
      if (!value) {
        report_inside();
        return failed();
      }
      binding_.env.insert_or_assign(std::string(declared->text), *value);
    }
    asking(call_.syntax, [this] { return op_text(); });
    if (!clauses() || !result()) return failed();
    // What `static` clauses compute from the dims of this call is computed again for an instance, from its
    // own dims.
    for (SyntaxPtr clause : op_.syntax->child(3)->children)
      if (clause->is(SyntaxKind::StaticClause)) binding_.env.erase(std::string(clause->text));
    return {MatchStatus::Matched, std::move(binding_)};
  }

 private:
  enum class Status { Ok, Stuck, Failed };

  // What the user calls the operator and its operands: an infix symbol has a left and a right one.
  std::string op_text() const {
    bool infix = call_.syntax->is(SyntaxKind::Binary) || call_.syntax->is(SyntaxKind::Unary);
    return fmt::format("`{}`", infix ? call_.syntax->text : op_.name);
  }
  std::string operand_text(size_t i) const {
    if (call_.syntax->is(SyntaxKind::Binary)) return i == 0 ? "the left operand" : "the right operand";
    if (call_.syntax->is(SyntaxKind::Unary)) return "the operand";
    size_t next = 0;
    for (SyntaxPtr p : params_of(op_.syntax)->children)
      if (p->is(SyntaxKind::TensorParam) && next++ == i) return fmt::format("`%{}`", p->text);
    return "this";
  }
  std::string operand_text() const {
    if (!member_) return operand_text(argument_);
    return fmt::format("`%{}.{}`", param_->text, *member_);
  }

  MatchOutcome failed() { return {MatchStatus::Failed, {}}; }

  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes = {},
              std::vector<Fix> fixes = {}) {
    diagnostics_.push_back(
        {kind, {{caller_, at->id}, {}}, std::move(message), std::move(notes), std::move(fixes)});
  }
  // The types of all arguments, each with where it comes from.
  std::vector<Note> argument_notes() {
    std::vector<Note> notes;
    for (size_t i = 0; i < call_.tensors.size(); ++i)
      for (Note& note : hooks_.origin_of_argument(i)) notes.push_back(std::move(note));
    return notes;
  }
  // What went wrong while the signature's own expressions were evaluated, told at the call.
  bool report_inside() {
    if (inside_.empty()) return false;
    Diagnostic first = inside_[0];
    // A mistake of the definition itself, whatever the arguments: told there, once.
    bool is_name =
        first.kind == DiagnosticKind::UnknownName || first.kind == DiagnosticKind::UnknownType ||
        first.kind == DiagnosticKind::UnknownDType || first.kind == DiagnosticKind::UnknownStatic ||
        first.kind == DiagnosticKind::WrongArgumentCount || first.kind == DiagnosticKind::TensorTypeForm;
    if (first.kind == DiagnosticKind::UnknownName && !empty_family_.empty()) {
      report(DiagnosticKind::WrongArgumentCount, call_.syntax,
             fmt::format("{}: {} is an empty tuple, and what the type of its members names has no value",
                         op_text(), empty_family_));
      return false;
    }
    if (is_name) {
      first.notes.push_back({Place{{caller_, call_.syntax->id}, {}}, "this call needs it"});
      diagnostics_.push_back(std::move(first));
      return false;
    }
    std::vector<Note> notes = argument_notes();
    report(first.kind, call_.syntax, fmt::format("{}: {}", op_text(), first.message), std::move(notes));
    return false;
  }

  void asking(SyntaxPtr at, std::function<std::string()> what, SyntaxPtr source = nullptr) {
    hooks_.asking(at, source ? Place{{op_.id, source->id}, {}} : Place{}, std::move(what));
  }

  // --- attributes
  // ---------------------------------------------------------------------------------------------------
  bool attributes() {
    std::vector<SyntaxPtr> declared;
    for (SyntaxPtr p : params_of(op_.syntax)->children)
      if (p->is(SyntaxKind::AttributeParam)) declared.push_back(p);
    std::vector<const StaticValue*> given(declared.size(), nullptr);
    std::vector<SyntaxPtr> given_at(declared.size(), call_.syntax);
    size_t next = 0;
    for (size_t i = 0; i < call_.attributes.size(); ++i) {
      const auto& [name, value] = call_.attributes[i];
      size_t slot = next++;
      if (!name.empty()) {
        for (slot = 0; slot < declared.size() && declared[slot]->text != name;) ++slot;
      }
      if (slot >= declared.size()) return unknown_attribute(i, declared);
      if (given[slot]) {
        report(DiagnosticKind::GivenTwice, call_.attribute_syntax[i],
               fmt::format("the attribute `{}` of `{}` is given twice", declared[slot]->text, op_.name),
               {{Place{{caller_, given_at[slot]->id}, {}}, "it is given here first"}});
        return false;
      }
      given[slot] = &value;
      given_at[slot] = call_.attribute_syntax[i];
    }
    for (size_t i = 0; i < declared.size(); ++i)
      if (!bind_attribute(declared[i], given[i], given_at[i])) return false;
    return true;
  }
  bool unknown_attribute(size_t i, const std::vector<SyntaxPtr>& declared) {
    const std::string& name = call_.attributes[i].first;
    std::vector<std::string> names;
    names.reserve(declared.size());
    for (SyntaxPtr p : declared) names.emplace_back(p->text);
    std::vector<Note> notes;
    if (!names.empty())
      notes.push_back({std::nullopt, fmt::format("its attributes are {}", fmt::join(names, ", "))});
    SyntaxPtr at = call_.attribute_syntax[i];
    if (name.empty()) {
      report(DiagnosticKind::WrongArgumentCount, at,
             fmt::format("`{}` is given too many arguments", op_.name), std::move(notes));
      return false;
    }
    std::optional<std::string> near(foreign_attribute(name));
    if (std::find(names.begin(), names.end(), *near) == names.end()) near = did_you_mean(name, names);
    Place place{{caller_, at->id}, {}, Part::Head, static_cast<uint32_t>(name.size())};
    Suggestion meant = suggest(near, place);
    diagnostics_.push_back({DiagnosticKind::UnknownAttribute, place,
                            fmt::format("`{}` has no attribute `{}`{}", op_.name, name, meant.text),
                            std::move(notes), std::move(meant.fixes)});
    return false;
  }
  bool bind_attribute(SyntaxPtr declared, const StaticValue* given, SyntaxPtr at) {
    std::string_view kind = declared->child(0) ? declared->child(0)->text : "int";
    if (!given && !declared->child(1)) {
      report(DiagnosticKind::MissingAttribute, call_.syntax,
             fmt::format("`{}` needs the attribute `{}`: `{}=…`", op_.name, declared->text, declared->text),
             {{Place{{op_.id, declared->id}, {}}, "it is declared here, without a default"}});
      return false;
    }
    // A default over what the tensors bind, such as the axes of extent 1, is computed after them; None asks
    // for it.
    if (declared->child(1) && depends_on_tensors(declared->child(1))) {
      if (!given || given->is_none()) {
        late_.push_back(declared);
        return true;
      }
      auto value = fit_attribute(*given, kind);
      if (!value) return wrong_attribute(declared, kind, *given, at);
      binding_.attributes.emplace_back(declared->text, *value);
      binding_.env.insert_or_assign(std::string(declared->text), *value);
      return true;
    }
    std::optional<StaticValue> fallback;
    if (declared->child(1)) fallback = inside_evaluator_.evaluate(declared->child(1), binding_.env);
    if (fallback) {
      // A default may be "" for a dtype or None for an optional: what it means is fit_attribute's to say.
      auto fitted = fit_attribute(*fallback, kind);
      fallback = fitted ? *fitted : StaticValue();
    }
    std::optional<StaticValue> value = given ? fit_attribute(*given, kind) : fallback;
    if (!value) return wrong_attribute(declared, kind, given ? *given : StaticValue(), at);
    if (given && !(fallback && *fallback == *value)) binding_.attributes.emplace_back(declared->text, *value);
    binding_.env.insert_or_assign(std::string(declared->text), *value);
    return true;
  }
  bool wrong_attribute(SyntaxPtr declared, std::string_view kind, const StaticValue& given, SyntaxPtr at) {
    Suggestion meant;
    SyntaxPtr text = at && at->is(SyntaxKind::NamedArgument) ? at->child(0) : at;
    if (kind.starts_with("dtype") && given.as_string())
      if (auto near = dtype_meant_by(*given.as_string()))
        meant = suggest("\"" + *near + "\"", Place{{caller_, text->id}, {}});
    report(DiagnosticKind::WrongAttribute, at,
           fmt::format("the attribute `{}` of `{}` takes {}, not {}{}", declared->text, op_.name,
                       describe_attribute_kind(kind), to_string(given), meant.text),
           {}, std::move(meant.fixes));
    return false;
  }
  // Whether an expression names what the types of the tensor parameters bind.
  bool depends_on_tensors(SyntaxPtr expr) const {
    std::set<std::string_view> names;
    std::function<void(SyntaxPtr)> collect = [&](SyntaxPtr s) {
      if (!s) return;
      if (s->is(SyntaxKind::Name)) names.insert(s->text);
      for (SyntaxPtr c : s->children) collect(c);
    };
    collect(expr);
    if (names.empty()) return false;
    std::set<std::string_view> mine = std::exchange(names, {});
    for (SyntaxPtr p : params_of(op_.syntax)->children)
      if (p->is(SyntaxKind::TensorParam)) collect(p->child(0));
    return std::ranges::any_of(
        mine, [&](std::string_view name) { return names.contains(name) && !parse_dtype(name); });
  }
  bool mentions_unknown_dims() {
    std::function<bool(Type)> unknown = [&](Type type) {
      type = hooks_.resolve(type);
      return std::ranges::any_of(type->dims, [](Dim d) { return d->has_infer; }) ||
             std::ranges::any_of(type->args, unknown);
    };
    return std::ranges::any_of(call_.tensors, unknown);
  }

  // --- argument types
  // -----------------------------------------------------------------------------------------------
  Status match(SyntaxPtr pattern, Type actual) {
    if (!pattern) return Status::Ok;
    if (actual->kind == TypeKind::Infer) return Status::Stuck;
    if (actual->is_error()) return Status::Failed;
    switch (pattern->kind) {
      case SyntaxKind::TensorType: return match_tensor(pattern, actual);
      case SyntaxKind::FamilyType: return match_family(pattern, actual);
      case SyntaxKind::TupleType: {
        if (actual->kind != TypeKind::Tuple || actual->args.size() != pattern->children.size())
          return wrong_type(pattern, actual);
        for (size_t i = 0; i < actual->args.size(); ++i) {
          Status s = match(pattern->children[i], hooks_.resolve(actual->args[i]));
          if (s != Status::Ok) return s;
        }
        return Status::Ok;
      }
      default: {
        TypeEnv env{binding_.env, {}};
        Type wanted = resolve_type(pattern, env, inside_evaluator_, scope_, inside_, op_.id);
        if (hooks_.unify(wanted, actual)) return Status::Ok;
        return wrong_type(pattern, actual);
      }
    }
  }
  Status wrong_type(SyntaxPtr, Type actual) {
    report(DiagnosticKind::TypeMismatch, call_.tensor_syntax[argument_],
           fmt::format("{} of {} has to be a tensor, not {}", operand_text(), op_text(),
                       hooks_.describe(actual)),
           hooks_.origin_of_argument(argument_));
    return Status::Failed;
  }
  Status match_family(SyntaxPtr pattern, Type actual) {
    if (actual->kind != TypeKind::Tuple) {
      report(DiagnosticKind::TypeMismatch, call_.tensor_syntax[argument_],
             fmt::format("{} of {} has to be a tuple of tensors, not {}", operand_text(), op_text(),
                         to_string(actual)),
             hooks_.origin_of_argument(argument_));
      return Status::Failed;
    }
    for (Type field : actual->args)
      if (hooks_.resolve(field)->kind == TypeKind::Infer) return Status::Stuck;
    if (actual->args.empty()) empty_family_ = operand_text();
    StaticList positions;
    for (size_t k = 0; k < actual->args.size(); ++k)
      positions.push_back(StaticValue::integer(static_cast<int64_t>(k)));
    binding_.env.insert_or_assign("%" + std::string(param_->text), StaticValue::list(std::move(positions)));
    std::string index(pattern->text);
    for (size_t k = 0; k < actual->args.size(); ++k) {
      binding_.env.insert_or_assign(index, StaticValue::integer(static_cast<int64_t>(k)));
      member_ = k;
      Status s = match(pattern->child(0), hooks_.resolve(actual->args[k]));
      if (s != Status::Ok) return s;
    }
    member_.reset();
    binding_.env.erase(index);
    SyntaxPtr limit = pattern->child(1);
    if (limit->is(SyntaxKind::Name) && !binding_.env.contains(limit->text))
      binding_.env.insert_or_assign(std::string(limit->text),
                                    StaticValue::integer(static_cast<int64_t>(actual->args.size())));
    return Status::Ok;
  }
  Status match_tensor(SyntaxPtr pattern, Type actual) {
    if (!actual->is_tensor()) return wrong_type(pattern, actual);
    Status status = match_shape(pattern->child(0), actual);
    if (status != Status::Ok) return status;
    return match_dtype(pattern->child(1), actual);
  }
  Status match_dtype(SyntaxPtr pattern, Type actual) {
    if (pattern->is(SyntaxKind::Name) && !binding_.env.contains(pattern->text) &&
        !parse_dtype(pattern->text)) {
      bind(pattern->text, StaticValue(actual->dtype));
      return Status::Ok;
    }
    auto wanted = inside_evaluator_.dtype(pattern, binding_.env);
    if (!wanted) return Status::Failed;
    if (hooks_.unify(*wanted, actual->dtype)) return Status::Ok;
    auto bound = bound_by_.find(pattern->text);
    std::string message =
        bound == bound_by_.end()
            ? fmt::format("{} of {} has to be {}, not {}", operand_text(), op_text(),
                          hooks_.describe(*wanted), hooks_.describe(actual->dtype))
            : fmt::format("{} takes tensors of one dtype: {} is {} but {} is {}", op_text(), bound->second,
                          hooks_.describe(*wanted), operand_text(), hooks_.describe(actual->dtype));
    report(DiagnosticKind::DTypeMismatch, call_.tensor_syntax[argument_], message, argument_notes());
    return Status::Failed;
  }
  void bind(std::string_view name, StaticValue value) {
    binding_.env.insert_or_assign(std::string(name), std::move(value));
    binding_.bound.insert(std::string(name));
    bound_by_.insert_or_assign(std::string(name), operand_text());
  }
  StaticValue pack(std::span<const Dim> dims) {
    StaticList items;
    for (Dim d : dims) items.emplace_back(hooks_.resolve(d));
    return StaticValue::list(std::move(items));
  }

  Status match_shape(SyntaxPtr pattern, Type actual) {
    if (pattern->is(SyntaxKind::Name)) return match_pack(pattern, pattern->text, actual->dims);
    // A family's `s[k]`: the packs of all members are one list of lists.
    if (pattern->is(SyntaxKind::Index) && pattern->child(0)->is(SyntaxKind::Name)) {
      std::string_view name = pattern->child(0)->text;
      auto old = binding_.env.find(name);
      StaticList members = old == binding_.env.end() ? StaticList{} : *old->second.as_list();
      members.push_back(pack(actual->dims));
      bind(name, StaticValue::list(std::move(members)));
      return Status::Ok;
    }
    std::vector<SyntaxPtr> items(pattern->children.begin(), pattern->children.end());
    if (is_permuted_shape(pattern) && !permuted(pattern, items)) return Status::Failed;
    size_t spread = items.size();
    for (size_t i = 0; i < items.size(); ++i)
      if (items[i]->is(SyntaxKind::Spread)) spread = i;
    size_t fixed = items.size() - (spread < items.size());
    if (actual->dims.size() < fixed || (spread == items.size() && actual->dims.size() != fixed)) {
      report(DiagnosticKind::RankMismatch, call_.tensor_syntax[argument_],
             fmt::format("{} of {} has {}{} dimension{}, but this is {}", operand_text(), op_text(),
                         spread < items.size() ? "at least " : "", fixed, fixed == 1 ? "" : "s",
                         hooks_.describe(actual)),
             hooks_.origin_of_argument(argument_));
      return Status::Failed;
    }
    for (size_t i = 0; i < items.size(); ++i) {
      size_t extra = actual->dims.size() - fixed;
      if (i == spread) {
        Status s = match_pack(items[i], items[i]->child(0)->text, actual->dims.subspan(i, extra));
        if (s != Status::Ok) return s;
        continue;
      }
      size_t axis = i > spread ? i - 1 + extra : i;
      Status s = match_dim(items[i], hooks_.resolve(actual->dims[axis]));
      if (s != Status::Ok) return s;
    }
    return Status::Ok;
  }
  // `permute((n, c, h, w), axes)`: the order in which a layout, an attribute, stores the dims.
  bool permuted(SyntaxPtr pattern, std::vector<SyntaxPtr>& items) {
    auto axes = inside_evaluator_.evaluate(pattern->child(2), binding_.env);
    if (!axes || !axes->as_list()) return report_inside();
    items.clear();
    for (const StaticValue& axis : *axes->as_list())
      if (auto k = axis.as_int(); k && pattern->child(1)->child(static_cast<size_t>(*k)))
        items.push_back(pattern->child(1)->child(static_cast<size_t>(*k)));
    return true;
  }
  Status match_pack(SyntaxPtr at, std::string_view name, std::span<const Dim> dims) {
    auto bound = binding_.env.find(name);
    if (bound == binding_.env.end()) {
      bind(name, pack(dims));
      return Status::Ok;
    }
    const StaticList* known = bound->second.as_list();
    bool same = known && known->size() == dims.size();
    asking(call_.tensor_syntax[argument_],
           [this] { return fmt::format("{}: the shape of {}", op_text(), operand_text()); });
    for (size_t i = 0; same && i < dims.size(); ++i) same = hooks_.unify((*known)[i].as_dim(), dims[i]);
    if (same) return Status::Ok;
    report(DiagnosticKind::DimMismatch, call_.tensor_syntax[argument_],
           fmt::format("{}: the shape `{}` is {} in {} but {} in {}", op_text(),
                       at->is(SyntaxKind::Spread) ? name : at->text, shape_text(bound->second),
                       bound_by_[std::string(name)], shape_to_string(dims), operand_text()),
           argument_notes());
    return Status::Failed;
  }
  static std::string shape_text(const StaticValue& pack) {
    std::vector<Dim> dims;
    if (const StaticList* items = pack.as_list())
      for (const StaticValue& item : *items)
        if (Dim d = item.as_dim()) dims.push_back(d);
    return shape_to_string(dims);
  }
  Status match_dim(SyntaxPtr pattern, Dim actual) {
    if (pattern->is(SyntaxKind::Name) && !binding_.env.contains(pattern->text)) {
      bind(pattern->text, StaticValue(actual));
      return Status::Ok;
    }
    if (auto solved = match_linear(pattern, actual)) return *solved;
    auto wanted = inside_evaluator_.dim(pattern, binding_.env);
    if (!wanted) {
      report_inside();
      return Status::Failed;
    }
    asking(call_.tensor_syntax[argument_], [this, pattern] {
      return fmt::format("{}: the dimension `{}` of {}", op_text(), pattern_text(pattern), operand_text());
    });
    if (hooks_.unify(*wanted, actual)) return Status::Ok;
    std::string first =
        bound_by_.contains(std::string(pattern->text)) ? " in " + bound_by_[std::string(pattern->text)] : "";
    report(DiagnosticKind::DimMismatch, call_.tensor_syntax[argument_],
           fmt::format("{}: the dimension `{}` is {}{} but {} in {}", op_text(), pattern_text(pattern),
                       to_string(hooks_.resolve(*wanted)), first, to_string(actual), operand_text()),
           argument_notes());
    return Status::Failed;
  }
  static std::string pattern_text(SyntaxPtr p) {
    if (p->is(SyntaxKind::Binary))
      return fmt::format("{} {} {}", pattern_text(p->child(0)), p->text, pattern_text(p->child(1)));
    if (p->is(SyntaxKind::Paren)) return fmt::format("({})", pattern_text(p->child(0)));
    return std::string(p->text);
  }
  // `groups * m`, `n + 2`: where one name is unknown, the extent says what it is.
  std::optional<Status> match_linear(SyntaxPtr pattern, Dim actual) {
    auto open = linear_pattern(pattern, inside_evaluator_, binding_.env);
    if (!open) return std::nullopt;
    Dim left = dim_sub(actual, open->rest), factor = open->coefficient;
    Dim value = is_const(factor, 0) ? nullptr : dim_floordiv(left, factor);
    std::string wanted = fmt::format("`{}`", pattern_text(pattern));
    if (!open->text.empty()) wanted += " = " + open->text;
    asking(call_.tensor_syntax[argument_], [this, wanted] {
      return fmt::format("{}: the extent of {} has to be {}", op_text(), operand_text(), wanted);
    });
    bool fits = value && !(as_const(value) && *as_const(value) < 0);
    if (fits && !actual->has_any && dim_mul(value, factor) != left)
      fits = hooks_.require(DimRelation::Equal, dim_floormod(left, factor), dim_const(0), false);
    if (fits && !actual->has_any && !is_const(open->rest, 0))
      fits = hooks_.require(DimRelation::LessEqual, open->rest, actual, false);
    if (!fits) {
      std::string why;
      if (value && as_const(value) && dim_mul(value, factor) == left)
        why = fmt::format(": `{}` would be {}", open->name, to_string(value));
      report(DiagnosticKind::DimMismatch, call_.tensor_syntax[argument_],
             fmt::format("{}: the extent {} of {} cannot be {}{}", op_text(), to_string(actual),
                         operand_text(), wanted, why),
             argument_notes());
      return Status::Failed;
    }
    bind(open->name, StaticValue(value));
    return Status::Ok;
  }

  // --- clauses and result
  // -------------------------------------------------------------------------------------------
  bool clauses() {
    for (SyntaxPtr clause : op_.syntax->child(3)->children) {
      if (clause->is(SyntaxKind::StaticClause)) {
        auto value = inside_evaluator_.evaluate(clause->child(0), binding_.env);
        if (!value) return report_inside();
        binding_.env.insert_or_assign(std::string(clause->text), *value);
      } else if (clause->is(SyntaxKind::Where)) {
        if (!check(clause)) return false;
      }
    }
    return true;
  }
  bool check(SyntaxPtr clause) {
    std::string message =
        clause->child(1) ? std::string(clause->child(1)->text) : "a constraint does not hold";
    asking(
        call_.syntax, [this, message] { return fmt::format("{}: {}", op_text(), message); }, clause);
    std::string detail;
    auto met = holds(clause->child(0), detail);
    if (!met) return report_inside();
    if (*met) return true;
    std::vector<Note> notes = argument_notes();
    notes.push_back({Place{{op_.id, clause->id}, {}}, "the constraint is stated here"});
    report(DiagnosticKind::ConstraintNotMet, call_.syntax,
           fmt::format("{}: {}{}", op_text(), message, detail), std::move(notes));
    return false;
  }
  /// Whether a condition holds, or is left to a check at run time; nothing after a diagnostic. `detail` says
  /// of what it does not.
  std::optional<bool> holds(SyntaxPtr condition, std::string& detail) {
    while (condition->is(SyntaxKind::Paren)) condition = condition->child(0);
    bool binary = condition->is(SyntaxKind::Binary), call = condition->is(SyntaxKind::Call);
    if (binary && condition->text == "and") {
      auto left = holds(condition->child(0), detail);
      return left && *left ? holds(condition->child(1), detail) : left;
    }
    if (binary && condition->text == "or") return either(condition, detail);
    bool comparison = binary && condition->text != "and" && condition->text != "or";
    bool may_equal = call && condition->child(0)->text == "may_equal" && condition->children.size() == 3;
    if (!comparison && !may_equal) {
      auto known = inside_evaluator_.boolean(condition, binding_.env);
      if (known && !*known && call && condition->children.size() == 3)
        add_detail(condition->child(1), condition->child(2), detail);
      return known;
    }
    size_t first = may_equal ? 1 : 0;
    auto left = inside_evaluator_.evaluate(condition->child(first), binding_.env);
    auto right = inside_evaluator_.evaluate(condition->child(first + 1), binding_.env);
    if (!left || !right) return std::nullopt;
    std::string_view symbol = may_equal ? "==" : condition->text;
    bool met = relate(symbol, *left, *right, condition);
    if (!met)
      detail = symbol == "=="
                   ? fmt::format(": {} is not {}", to_string(*left), to_string(*right))
                   : fmt::format(": {} {} {} does not hold", to_string(*left), symbol, to_string(*right));
    if (!inside_.empty()) return std::nullopt;
    return met;
  }
  void add_detail(SyntaxPtr a, SyntaxPtr b, std::string& detail) {
    auto left = inside_evaluator_.evaluate(a, binding_.env),
         right = inside_evaluator_.evaluate(b, binding_.env);
    if (left && right) detail = fmt::format(": {} is not {}", to_string(*left), to_string(*right));
  }
  /// `a or b`: what one side decides; of two equalities of dims that both stay open, their product.
  std::optional<bool> either(SyntaxPtr condition, std::string& detail) {
    std::vector<std::pair<Dim, Dim>> open;
    for (SyntaxPtr side : {condition->child(0), condition->child(1)}) {
      while (side->is(SyntaxKind::Paren)) side = side->child(0);
      if (auto sides = open_equality(side)) {
        open.push_back(*sides);
        continue;
      }
      bool last = side == condition->children.back();
      if (last && open.empty()) return holds(side, detail);
      auto known = inside_evaluator_.boolean(side, binding_.env);
      if (!known || *known) return known;
    }
    if (open.empty()) return false;
    if (open.size() == 1) return hooks_.require(DimRelation::Equal, open[0].first, open[0].second, false);
    Dim product = dim_mul(dim_sub(open[0].first, open[0].second), dim_sub(open[1].first, open[1].second));
    return hooks_.require(DimRelation::Equal, product, dim_const(0), false);
  }
  /// The sides of an equality of dims that is not decided; nothing for anything else.
  std::optional<std::pair<Dim, Dim>> open_equality(SyntaxPtr side) {
    if (!side->is(SyntaxKind::Binary) || side->text != "==") return std::nullopt;
    auto a = inside_evaluator_.evaluate(side->child(0), binding_.env);
    auto b = inside_evaluator_.evaluate(side->child(1), binding_.env);
    if (!a || !b || !a->as_dim() || !b->as_dim() || static_equal(*a, *b)) return std::nullopt;
    return std::pair(hooks_.resolve(a->as_dim()), hooks_.resolve(b->as_dim()));
  }
  /// A comparison: of dims it may be left to a check at run time, of anything else it is known.
  bool relate(std::string_view symbol, const StaticValue& left, const StaticValue& right, SyntaxPtr at) {
    if (left.as_list() && right.as_list() && symbol == "==") {
      const StaticList &a = *left.as_list(), &b = *right.as_list();
      bool all = a.size() == b.size();
      for (size_t i = 0; all && i < a.size(); ++i) all = relate(symbol, a[i], b[i], at);
      return all;
    }
    Dim a = left.as_dim(), b = right.as_dim();
    if (a && b && (symbol == "==" || symbol == "!=")) {
      if (auto equal = static_equal(left, right)) return *equal == (symbol == "==");
      bool unknown = a->has_infer || b->has_infer;
      if (unknown && symbol == "==") return hooks_.unify(a, b);
      return hooks_.require(symbol == "==" ? DimRelation::Equal : DimRelation::NotEqual, hooks_.resolve(a),
                            hooks_.resolve(b), false);
    }
    if (a && b) {
      if (symbol == ">" || symbol == ">=") std::swap(a, b);
      bool strict = symbol == "<" || symbol == ">";
      return hooks_.require(DimRelation::LessEqual, strict ? dim_add(a, dim_const(1)) : a, b, false);
    }
    if (symbol == "==" || symbol == "!=") return static_equal(left, right).value_or(true) == (symbol == "==");
    auto known = inside_evaluator_.boolean(at, binding_.env);
    return known && *known;
  }
  bool result() {
    TypeEnv env{binding_.env, {}};
    binding_.result = resolve_type(op_.syntax->child(2), env, inside_evaluator_, scope_, inside_, op_.id);
    return !contains_error(binding_.result) || report_inside();
  }

  const Declaration& op_;
  const SignatureCall& call_;
  Scope& scope_;
  TypeHooks& hooks_;
  Diagnostics& diagnostics_;
  uint32_t caller_;
  Diagnostics inside_;
  StaticEvaluator inside_evaluator_;
  SignatureBinding binding_;
  std::map<std::string, std::string, std::less<>> bound_by_;  ///< which parameter bound a name
  std::vector<SyntaxPtr> late_;   ///< attributes whose default is computed from the tensors
  std::optional<size_t> member_;  ///< of the tuple that is matched
  std::string empty_family_;      ///< the operand that is a tuple without members
  size_t argument_ = 0;
  SyntaxPtr param_ = nullptr;
};

}  // namespace

MatchOutcome match_signature(const Declaration& op, const SignatureCall& call, Scope& scope, TypeHooks& hooks,
                             Diagnostics& diagnostics, uint32_t caller) {
  return Matcher(op, call, scope.home(op), hooks, diagnostics, caller).run();
}

}  // namespace quern
