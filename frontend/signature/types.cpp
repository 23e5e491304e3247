// Matches the types of a call's tensors with an operator's parameter patterns: binds names and reports
// mismatches.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "frontend/signature/dims.h"
#include "frontend/signature/match.h"

namespace quern {

SignatureMatcher::Status SignatureMatcher::match(SyntaxPtr pattern, Type actual) {
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

SignatureMatcher::Status SignatureMatcher::wrong_type(SyntaxPtr, Type actual) {
  report(
      DiagnosticKind::TypeMismatch, call_.tensor_syntax[operand_.argument],
      fmt::format("{} of {} has to be a tensor, not {}", operand_text(), op_text(), hooks_.describe(actual)),
      hooks_.origin_of_argument(operand_.argument));
  return Status::Failed;
}

SignatureMatcher::Status SignatureMatcher::match_family(SyntaxPtr pattern, Type actual) {
  if (actual->kind != TypeKind::Tuple) {
    SyntaxPtr written = call_.tensor_syntax[operand_.argument];
    std::string remedy;
    std::vector<Fix> fixes;
    // A list is one tensor.
    if (written->is(SyntaxKind::List)) {
      remedy = ": several tensors stand in parentheses, `(%a, %b)`";
      Place open{{caller_, written->id}, {}, Part::Head, 1}, close = open;
      close.part = Part::Tail;
      fixes.push_back({"write it so", {{open, "("}, {close, written->children.size() == 1 ? ",)" : ")"}}});
    }
    report(DiagnosticKind::TypeMismatch, written,
           fmt::format("{} of {} has to be a tuple of tensors, not {}{}", operand_text(), op_text(),
                       hooks_.describe(actual), remedy),
           hooks_.origin_of_argument(operand_.argument), std::move(fixes));
    return Status::Failed;
  }
  for (Type field : actual->args)
    if (hooks_.resolve(field)->kind == TypeKind::Infer) return Status::Stuck;
  if (actual->args.empty()) empty_family_ = operand_text();
  StaticList positions;
  for (size_t k = 0; k < actual->args.size(); ++k)
    positions.push_back(StaticValue::integer(static_cast<int64_t>(k)));
  binding_.env.insert_or_assign("%" + std::string(operand_.param->text),
                                StaticValue::list(std::move(positions)));
  std::string index(pattern->text);
  for (size_t k = 0; k < actual->args.size(); ++k) {
    binding_.env.insert_or_assign(index, StaticValue::integer(static_cast<int64_t>(k)));
    operand_.member = k;
    Status s = match(pattern->child(0), hooks_.resolve(actual->args[k]));
    if (s != Status::Ok) return s;
  }
  operand_.member.reset();
  binding_.env.erase(index);
  SyntaxPtr limit = pattern->child(1);
  if (limit->is(SyntaxKind::Name) && !binding_.env.contains(limit->text))
    binding_.env.insert_or_assign(limit->text,
                                  StaticValue::integer(static_cast<int64_t>(actual->args.size())));
  return Status::Ok;
}

SignatureMatcher::Status SignatureMatcher::match_tensor(SyntaxPtr pattern, Type actual) {
  if (!actual->is_tensor()) return wrong_type(pattern, actual);
  Status status = match_shape(pattern->child(0), actual);
  if (status != Status::Ok) return status;
  return match_dtype(pattern->child(1), actual);
}

SignatureMatcher::Status SignatureMatcher::match_dtype(SyntaxPtr pattern, Type actual) {
  if (pattern->is(SyntaxKind::Name) && !binding_.env.contains(pattern->text) && !parse_dtype(pattern->text)) {
    bind(pattern->text, StaticValue(actual->dtype));
    return Status::Ok;
  }
  // A family's `t[k]`: the dtypes of all members are one list.
  if (pattern->is(SyntaxKind::Index) && pattern->child(0)->is(SyntaxKind::Name)) {
    bind_member(pattern->child(0)->text, StaticValue(actual->dtype));
    return Status::Ok;
  }
  auto wanted = inside_evaluator_.dtype(pattern, binding_.env);
  if (!wanted) {
    report_inside();
    return Status::Failed;
  }
  if (hooks_.unify(*wanted, actual->dtype)) return Status::Ok;
  auto bound = bound_by_.find(pattern->text);
  std::string message = bound == bound_by_.end()
                            ? fmt::format("{} of {} has to be {}, not {}", operand_text(), op_text(),
                                          hooks_.describe(*wanted), hooks_.describe(actual->dtype))
                            : fmt::format("{} takes tensors of one dtype: {} is {} but {} is {}", op_text(),
                                          operand_text(bound->second), hooks_.describe(*wanted),
                                          operand_text(), hooks_.describe(actual->dtype));
  report(DiagnosticKind::DTypeMismatch, call_.tensor_syntax[operand_.argument], message, argument_notes(),
         bound == bound_by_.end() ? std::vector<Fix>() : one_dtype(*wanted, actual->dtype));
  return Status::Failed;
}

void SignatureMatcher::bind(std::string_view name, StaticValue value) {
  binding_.bind(name, std::move(value));
  bound_by_.insert_or_assign(name, operand_);
}

void SignatureMatcher::bind_member(std::string_view name, StaticValue value) {
  auto old = binding_.env.find(name);
  StaticList members = old == binding_.env.end() ? StaticList{} : *old->second.as_list();
  members.push_back(std::move(value));
  bind(name, StaticValue::list(std::move(members)));
}

StaticValue SignatureMatcher::pack(std::span<const Dim> dims) {
  StaticList items;
  items.reserve(dims.size());
  for (Dim d : dims) items.emplace_back(hooks_.resolve(d));
  return StaticValue::list(std::move(items));
}

SignatureMatcher::Status SignatureMatcher::match_shape(SyntaxPtr pattern, Type actual) {
  if (pattern->is(SyntaxKind::Name)) return match_pack(pattern, pattern->text, actual->dims);
  // A family's `s[k]`: the packs of all members are one list of lists.
  if (pattern->is(SyntaxKind::Index) && pattern->child(0)->is(SyntaxKind::Name)) {
    bind_member(pattern->child(0)->text, pack(actual->dims));
    return Status::Ok;
  }
  std::vector<SyntaxPtr> items(pattern->children.begin(), pattern->children.end());
  if (is_permuted_shape(pattern) && !permuted(pattern, items)) return Status::Failed;
  size_t spread = items.size();
  for (size_t i = 0; i < items.size(); ++i)
    if (items[i]->is(SyntaxKind::Spread)) spread = i;
  size_t fixed = items.size() - (spread < items.size());
  if (actual->dims.size() < fixed || (spread == items.size() && actual->dims.size() != fixed)) {
    report(DiagnosticKind::RankMismatch, call_.tensor_syntax[operand_.argument],
           fmt::format("{} of {} has {}{} dimension{}, but this is {}", operand_text(), op_text(),
                       spread < items.size() ? "at least " : "", fixed, fixed == 1 ? "" : "s",
                       hooks_.describe(actual)),
           hooks_.origin_of_argument(operand_.argument));
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

bool SignatureMatcher::permuted(SyntaxPtr pattern, std::vector<SyntaxPtr>& items) {
  auto axes = inside_evaluator_.evaluate(pattern->child(2), binding_.env);
  if (!axes || !axes->as_list()) return report_inside();
  items.clear();
  for (const StaticValue& axis : *axes->as_list())
    if (auto k = axis.as_int(); k && pattern->child(1)->child(static_cast<size_t>(*k)))
      items.push_back(pattern->child(1)->child(static_cast<size_t>(*k)));
  return true;
}

SignatureMatcher::Status SignatureMatcher::match_pack(SyntaxPtr at, std::string_view name,
                                                      std::span<const Dim> dims) {
  auto bound = binding_.env.find(name);
  if (bound == binding_.env.end()) {
    bind(name, pack(dims));
    return Status::Ok;
  }
  const StaticList* known = bound->second.as_list();
  bool same = known && known->size() == dims.size();
  asking(call_.tensor_syntax[operand_.argument],
         [this] { return fmt::format("{}: the shape of {}", op_text(), operand_text()); });
  for (size_t i = 0; same && i < dims.size(); ++i) same = hooks_.unify((*known)[i].as_dim(), dims[i]);
  if (same) return Status::Ok;
  report(DiagnosticKind::DimMismatch, call_.tensor_syntax[operand_.argument],
         fmt::format("{}: the shape `{}` is {} in {} but {} in {}", op_text(),
                     at->is(SyntaxKind::Spread) ? name : at->text, shape_text(bound->second),
                     text_of_binder(name), shape_to_string(dims), operand_text()),
         argument_notes());
  return Status::Failed;
}

std::string SignatureMatcher::shape_text(const StaticValue& pack) {
  std::vector<Dim> dims;
  if (const StaticList* items = pack.as_list())
    for (const StaticValue& item : *items)
      if (Dim d = item.as_dim()) dims.push_back(d);
  return shape_to_string(dims);
}

SignatureMatcher::Status SignatureMatcher::match_dim(SyntaxPtr pattern, Dim actual) {
  if (pattern->is(SyntaxKind::Name) && !binding_.env.contains(pattern->text)) {
    bind(pattern->text, StaticValue(actual));
    return Status::Ok;
  }
  // An extent that is still unknown determines no name: another operand may.
  const bool waits = !last_try_ && names_unknown(pattern, binding_.env);
  if (!waits || !actual->has_infer)
    if (auto solved = match_linear(pattern, actual)) return *solved;
  if (waits) {
    put_off_.push_back({pattern, actual, operand_});
    return Status::Ok;
  }
  auto wanted = inside_evaluator_.dim(pattern, binding_.env);
  if (!wanted) {
    report_inside();
    return Status::Failed;
  }
  asking(call_.tensor_syntax[operand_.argument], [this, pattern] {
    return fmt::format("{}: the dimension `{}` of {}", op_text(), pattern_text(pattern), operand_text());
  });
  if (hooks_.unify(*wanted, actual)) return Status::Ok;
  const std::string binder = text_of_binder(pattern->text);
  report(DiagnosticKind::DimMismatch, call_.tensor_syntax[operand_.argument],
         fmt::format("{}: the dimension `{}` is {}{} but {} in {}", op_text(), pattern_text(pattern),
                     to_string(hooks_.resolve(*wanted)), binder.empty() ? "" : " in " + binder,
                     to_string(actual), operand_text()),
         argument_notes());
  return Status::Failed;
}

SignatureMatcher::Status SignatureMatcher::match_put_off() {
  for (size_t before = put_off_.size() + 1; !put_off_.empty();) {
    last_try_ = put_off_.size() == before;
    before = put_off_.size();
    for (const PutOff& dim : std::exchange(put_off_, {})) {
      operand_ = dim.operand;
      Status status = match_dim(dim.pattern, hooks_.resolve(dim.actual));
      if (status != Status::Ok) return status;
    }
  }
  operand_.member.reset();
  return Status::Ok;
}

std::string SignatureMatcher::pattern_text(SyntaxPtr p) {
  if (p->is(SyntaxKind::Binary))
    return fmt::format("{} {} {}", pattern_text(p->child(0)), p->text, pattern_text(p->child(1)));
  if (p->is(SyntaxKind::Paren)) return fmt::format("({})", pattern_text(p->child(0)));
  return std::string(p->text);
}

std::optional<SignatureMatcher::Status> SignatureMatcher::match_linear(SyntaxPtr pattern, Dim actual) {
  auto open = linear_pattern(pattern, inside_evaluator_, binding_.env);
  if (!open) return std::nullopt;
  Dim left = dim_sub(actual, open->rest), factor = open->coefficient;
  Dim value = is_const(factor, 0) ? nullptr : dim_floordiv(left, factor);
  std::string wanted = fmt::format("`{}`", pattern_text(pattern));
  if (!open->text.empty()) wanted += " = " + open->text;
  asking(call_.tensor_syntax[operand_.argument], [this, wanted] {
    return fmt::format("{}: the extent of {} has to be {}", op_text(), operand_text(), wanted);
  });
  bool fits = value && !(as_const(value) && *as_const(value) < 0);
  if (fits && !actual->has_any && dim_mul(value, factor) != left)
    fits = hooks_.require(DimRelation::Equal, dim_floormod(left, factor), dim_const(0), false);
  if (fits && !actual->has_any && !is_const(open->rest, 0))
    fits = hooks_.require(DimRelation::LessEqual, open->rest, actual, false);
  if (!fits && actual->has_infer) return Status::Stuck;
  if (!fits) {
    std::string why;
    if (value && as_const(value) && dim_mul(value, factor) == left)
      why = fmt::format(": `{}` would be {}", open->name, to_string(value));
    report(DiagnosticKind::DimMismatch, call_.tensor_syntax[operand_.argument],
           fmt::format("{}: the extent {} of {} cannot be {}{}", op_text(), to_string(actual), operand_text(),
                       wanted, why),
           argument_notes());
    return Status::Failed;
  }
  bind(open->name, StaticValue(value));
  return Status::Ok;
}

}  // namespace quern
