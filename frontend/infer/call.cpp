// The walk of inference over calls: operators, constructors, intrinsics, functions.

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <set>

#include "frontend/infer/inference.h"
#include "frontend/static/metadata.h"
#include "frontend/text/suggest.h"

namespace quern {

DraftPtr Inference::call(SyntaxPtr s, Type wanted) {
  SyntaxPtr callee = s->child(0);
  if (!callee->is(SyntaxKind::Name) && !callee->is(SyntaxKind::None)) return function_call(s);
  if (callee->text == "print") return intrinsic(s, IntrinsicKind::Print);
  if (callee->text == "load") return intrinsic(s, IntrinsicKind::Load);
  if (callee->text == "save") return intrinsic(s, IntrinsicKind::Save);
  if (callee->text == "assert_close" || callee->text == "assert_equal")
    return assertion(s, callee->text == "assert_close");
  if (callee->text == "len") return tuple_length(s);
  if (callee->text == "index" && s->children.size() == 2) return index_value(s);
  if (const DataDefinition* data = scope_.data_of_constructor(callee->text))
    return construct(s, callee, *data, wanted);
  if (const Declaration* op = scope_.op(callee->text)) {
    std::vector<SyntaxPtr> positional, named;
    for (SyntaxPtr arg : s->children.subspan(1))
      (arg->is(SyntaxKind::NamedArgument) ? named : positional).push_back(arg);
    return operator_call(s, *op, positional, named);
  }
  if (callee->text == "ref" || callee->text == "ref_read" || callee->text == "ref_write")
    return reference_call(s, wanted);
  for (IntrinsicKind kind :
       {IntrinsicKind::Gradient, IntrinsicKind::ValueAndGradient, IntrinsicKind::VectorJacobian,
        IntrinsicKind::JacobianVector, IntrinsicKind::Checkpoint, IntrinsicKind::StopGradient})
    if (callee->text == to_string(kind)) return differentiation(s, kind, wanted);
  size_t before = diagnostics.size();
  report_unknown(callee, DiagnosticKind::UnknownOperator, "operator");
  // The arguments of another library's function need not be values here; attributes are none anywhere.
  if (diagnostics.size() > before && diagnostics.back().kind == DiagnosticKind::ForeignName) return error(s);
  for (SyntaxPtr arg : s->children.subspan(1))
    if (!arg->is(SyntaxKind::NamedArgument) && !arg->is(SyntaxKind::String)) infer(arg);
  return error(s);
}

namespace {

// Whether the operator takes several tensors as one tuple.
bool takes_tuple(const Declaration& op) {
  return std::ranges::any_of(params_of(op.syntax)->children, [](SyntaxPtr p) {
    return p->is(SyntaxKind::TensorParam) && p->child(0) && p->child(0)->is(SyntaxKind::FamilyType);
  });
}

// Whether what stands in an attribute's place is a tensor: no attribute of an operator of tuples is a list.
bool is_tensor(SyntaxPtr argument, const Declaration& op) {
  if (is_operand(argument)) return true;
  return takes_tuple(op) && (argument->is(SyntaxKind::List) || argument->is(SyntaxKind::Call) ||
                             argument->is(SyntaxKind::Comprehension));
}

}  // namespace

// --- operators

DraftPtr Inference::operator_call(SyntaxPtr s, const Declaration& op,
                                  const std::vector<SyntaxPtr>& positional,
                                  const std::vector<SyntaxPtr>& named) {
  OperatorCallDraft& draft = *drafts_.make<OperatorCallDraft>(origin(s), nullptr, &op);
  draft.call.syntax = s;
  Statics statics = evaluator();
  size_t tensors = std::min(tensor_param_count(op.syntax), positional.size());
  bool failed = false;
  auto attribute = [&](std::string name, SyntaxPtr value, SyntaxPtr at) {
    auto v = statics.evaluate(value, env.statics);
    failed |= !v;
    draft.call.attributes.emplace_back(std::move(name), v.value_or(StaticValue()));
    draft.call.attribute_syntax.push_back(at);
  };
  for (size_t i = 0; i < positional.size(); ++i) {
    if (is_attribute_struct(positional[i])) {
      auto values = meta_attributes(positional[i], op, scope_, declaration_, diagnostics);
      if (!values) return error(s);
      for (auto& value : *values) {
        draft.call.attributes.push_back(std::move(value));
        draft.call.attribute_syntax.push_back(positional[i]);
      }
      continue;
    }
    if (i >= tensors && is_tensor(positional[i], op)) return too_many_tensors(i, positional, op);
    if (i >= tensors) {
      attribute("", positional[i], positional[i]);
      continue;
    }
    draft.args.push_back(infer(positional[i]));
    draft.call.tensors.push_back(draft.args.back()->type);
    draft.call.tensor_syntax.push_back(positional[i]);
  }
  for (SyntaxPtr n : named) attribute(std::string(n->text), n->child(0), n);
  if (failed) return error(s);
  draft.type = unifier.fresh_type();
  relate(s, &draft, fmt::format("the arguments of `{}`", op.name),
         [this, &draft] { return attempt_operator(draft); });
  return &draft;
}

// An operator where a value is wanted is the function of its tensors: `relu` is `fn (%data) { relu(%data) }`.
DraftPtr Inference::operator_value(SyntaxPtr s, const Declaration& op) {
  std::vector<const Variable*> params;
  std::vector<Type> types;
  OperatorCallDraft& body = *drafts_.make<OperatorCallDraft>(origin(s), nullptr, &op);
  body.call.syntax = s;
  for (SyntaxPtr p : params_of(op.syntax)->children) {
    if (!p->is(SyntaxKind::TensorParam)) continue;
    types.push_back(unifier.fresh_type());
    params.push_back(drafts_.variable(p->text, types.back()));
    body.args.push_back(drafts_.read(origin(s), params.back(), types.back()));
    body.call.tensors.push_back(types.back());
    body.call.tensor_syntax.push_back(s);
  }
  body.type = unifier.fresh_type();
  relate(s, &body, fmt::format("`{}` as a value", op.name), [this, &body] { return attempt_operator(body); });
  return drafts_.form(origin(s), function_type(types, body.type), FnExpr{.params = drafts_.copy(params)},
                      {&body});
}

DraftPtr Inference::too_many_tensors(size_t first, const std::vector<SyntaxPtr>& arguments,
                                     const Declaration& op) {
  std::span<const SyntaxPtr> params = params_of(op.syntax)->children;
  if (!takes_tuple(op) && first < params.size()) {
    report(DiagnosticKind::NotStatic, arguments[first],
           fmt::format(
               "`{0}` of `{1}` is an attribute, which has to be known at compile time: a number, a dim, or a "
               "`static` function of them",
               params[first]->text, op.name));
    return error(arguments[first]);
  }
  size_t count = tensor_param_count(op.syntax);
  std::string message = fmt::format("`{}` takes {} tensor argument{}, and this is one more", op.name, count,
                                    count == 1 ? "" : "s");
  std::vector<Fix> fixes;
  if (takes_tuple(op)) {
    message += fmt::format("; several tensors are given as one tuple: `{}((%a, %b))`", op.name);
    size_t last = first;
    while (last + 1 < arguments.size() && is_tensor(arguments[last + 1], op)) ++last;
    Place begin = place(arguments[0]), end = place(arguments[last]);
    begin.part = Part::Before;
    end.part = Part::After;
    fixes.push_back({"put the tensors in parentheses", {{begin, "("}, {end, ")"}}});
  }
  report(DiagnosticKind::WrongArgumentCount, arguments[first], std::move(message), {}, std::move(fixes));
  return error(arguments[first]);
}

bool Inference::attempt_operator(OperatorCallDraft& draft) {
  matching_ = &draft;
  size_t reported = diagnostics.size();
  site_.draft = draft.args.empty() ? &draft : draft.args.back();
  MatchOutcome outcome =
      match_signature(*draft.op, draft.call, scope_, *this, diagnostics, draft.origin.declaration);
  matching_ = nullptr;
  site_ = {};
  if (outcome.status == MatchStatus::Stuck) return false;
  if (outcome.status == MatchStatus::Matched) {
    draft.matched = true;
    draft.binding = std::move(outcome.binding);
    for (Type t : draft.call.tensors) draft.open |= resolve(t)->has_infer;
    becomes(draft.call.syntax, &draft, open_result(draft));
  } else {
    unifier.unify(draft.type, error_type());
  }
  if (!draft.need.name.empty())
    for (size_t i = reported; i < diagnostics.size(); ++i) {
      Diagnostic& d = diagnostics[i];
      d.message = fmt::format("{} cannot be used with these types: {}", draft.need.name, d.message);
      d.notes.push_back({Place{draft.need.stated, {}}, fmt::format("{} needs it here", draft.need.name)});
      broken_uses_.insert(draft.need.use);
    }
  return true;
}

// What a `?` of the result is, only the call's value tells: it is opened, as a function's is. The call is
// then a draft of its own below the opening, which replaces the one that waited. The type of the result.
Type Inference::open_result(OperatorCallDraft& waiting) {
  Type result = waiting.binding.result;
  OperatorCallDraft* call = &waiting;
  if (has_open_dim(result)) {
    call = drafts_.make<OperatorCallDraft>(waiting.origin, result, waiting.op, waiting.args, waiting.call,
                                           waiting.need, waiting.binding, true, waiting.open);
    waiting.replacement = opened(call, result, waiting.op->name);
  }
  if (call->open) open_matches_.push_back(call);
  return waiting.replacement ? waiting.replacement->type : result;
}

std::vector<Note> Inference::origin_of_argument(size_t i) {
  if (!matching_ || i >= matching_->args.size()) return {};
  return origin_of(matching_->args[i]);
}

std::vector<Note> Inference::origin_of(DraftPtr draft) {
  Type type = resolve(draft->type);
  if (draft->replacement) draft = draft->replacement;
  if (auto* var = form_of<VarExpr>(draft)) {
    auto known = variable_places_.find(var->variable);
    std::string text = fmt::format("`%{}` is {}", var->variable->name, unifier.describe(type));
    if (known == variable_places_.end()) return {{std::nullopt, text}};
    return {{known->second, text + ", from here"}};
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
  return {{Place{draft->origin, {}}, fmt::format("this is {}", unifier.describe(type))}};
}

// --- intrinsics

DraftPtr Inference::intrinsic(SyntaxPtr s, IntrinsicKind kind) {
  std::vector<DraftPtr> args;
  std::vector<std::string_view> texts;
  for (SyntaxPtr arg : s->children.subspan(1)) {
    if (arg->is(SyntaxKind::NamedArgument)) {
      report(DiagnosticKind::UnknownAttribute, arg, fmt::format("`{}` has no attributes", s->child(0)->text));
      return error(s);
    }
    if (arg->is(SyntaxKind::String)) {
      texts.push_back(drafts_.copy(arg->text));
      if (kind == IntrinsicKind::Print) args.push_back(nullptr);
      continue;
    }
    args.push_back(infer(arg));
    if (kind == IntrinsicKind::Print) texts.emplace_back();
  }
  if (kind == IntrinsicKind::Load) {
    if (!args.empty() || texts.empty() || texts.size() > 2) {
      report(DiagnosticKind::WrongArgumentCount, s,
             "`load` takes a file name, and the name of one entry where the file has several");
      return error(s);
    }
    texts.resize(2);
    return load(s, texts);
  }
  if (kind == IntrinsicKind::Save && (texts.size() != 1 || args.size() != 1)) {
    report(DiagnosticKind::WrongArgumentCount, s, "`save` takes a file name and a value");
    return error(s);
  }
  DraftPtr draft = drafts_.form(origin(s), unit_type(),
                                IntrinsicExpr{.intrinsic = kind, .texts = drafts_.copy(texts)}, args);
  if (kind == IntrinsicKind::Save) file_uses_.push_back({s, declaration_, false, texts[0], args[0]});
  return draft;
}

// `assert_close(value, expected, rtol=1e-5, atol=1e-6)`, `assert_equal(value, expected)`
DraftPtr Inference::assertion(SyntaxPtr s, bool close) {
  std::string_view name = s->child(0)->text;
  std::vector<SyntaxPtr> values;
  double tolerances[] = {1e-5, 1e-6};
  for (SyntaxPtr arg : s->children.subspan(1)) {
    if (!arg->is(SyntaxKind::NamedArgument)) {
      values.push_back(arg);
      continue;
    }
    if (!close || (arg->text != "rtol" && arg->text != "atol")) {
      report(DiagnosticKind::UnknownAttribute, arg,
             fmt::format("`{}` has no attribute `{}`{}", name, arg->text,
                         close ? "; it has rtol and atol" : ""));
      return error(s, unit_type());
    }
    auto value = evaluator().evaluate(arg->child(0), env.statics);
    if (!value) return error(s, unit_type());
    double& tolerance = tolerances[arg->text == "atol"];
    if (value->as_float() || value->as_int()) {
      tolerance = value->as_float() ? *value->as_float() : static_cast<double>(*value->as_int());
    } else {
      report(DiagnosticKind::WrongAttribute, arg,
             fmt::format("the attribute `{}` of `{}` takes a number, not {}", arg->text, name,
                         to_string(*value)));
      return error(s, unit_type());
    }
  }
  if (values.size() != 2) {
    report(DiagnosticKind::WrongArgumentCount, s,
           fmt::format("`{}` takes a value and what it has to be, and is given {} argument{}", name,
                       values.size(), values.size() == 1 ? "" : "s"));
    return error(s, unit_type());
  }
  DraftPtr value = infer(values[0]), expected = infer(values[1]);
  std::vector<std::string_view> texts;
  if (close)
    for (double tolerance : tolerances)
      texts.push_back(drafts_.copy(std::string_view(fmt::format("{}", tolerance))));
  DraftPtr draft = drafts_.make<AssertionDraft>(origin(s), unit_type(), value, expected, drafts_.copy(texts));
  relate(s, draft, "what is compared", [=, this] {
    Type type = resolve(value->type), other = resolve(expected->type);
    if (type->kind == TypeKind::Infer || other->kind == TypeKind::Infer) return false;
    if (type->is_error() || other->is_error()) return true;
    if (type->kind == TypeKind::Function) {
      report(DiagnosticKind::TypeMismatch, values[0],
             "functions cannot be compared: call them and compare the results");
      return true;
    }
    expect(values[1], type, other, "what is expected", origin_of(value));
    return true;
  });
  return draft;
}

// --- mismatches

void Inference::becomes(SyntaxPtr at, DraftPtr waiting, Type found) {
  uint32_t outer = std::exchange(declaration_, waiting->origin.declaration);
  expect(at, waiting->type, found, "the value here", {}, DiagnosticKind::TypeMismatch, waiting);
  declaration_ = outer;
}

bool Inference::expect(SyntaxPtr at, Type wanted, Type found, const std::string& what,
                       std::vector<Note> notes, DiagnosticKind role, DraftPtr draft) {
  Origin source = !notes.empty() && notes[0].place ? notes[0].place->origin : Origin{};
  CheckSite outer = std::exchange(site_, {draft, origin(at), source, [what] { return what; }});
  ProgramPoint outer_point = std::exchange(point_, now());
  bool fits = assign(wanted, found);
  point_ = outer_point;
  site_ = std::move(outer);
  if (fits) return true;
  if (unifier.infinite()) {
    report(DiagnosticKind::InfiniteType, at, fmt::format("{} would have a type that contains itself", what),
           std::move(notes));
    return false;
  }
  Type w = resolve(wanted), f = resolve(found);
  DiagnosticKind kind = role;
  std::string detail;
  bool whole = role == DiagnosticKind::ConditionNotBool || role == DiagnosticKind::ArmsDiffer;
  bool comparable = !f->is_tensor() || !f->dtype.is_vector();
  if (role == DiagnosticKind::ConditionNotBool && comparable)
    detail = f->is_tensor() && f->dtype.is_bool() ? "; one bool is wanted, as in `any(%x)` or `all(%x)`"
                                                  : "; compare it, as in `%x != 0`";
  if (!whole && w->is_tensor() && f->is_tensor()) {
    kind = w->dims.size() != f->dims.size() ? DiagnosticKind::RankMismatch : DiagnosticKind::DTypeMismatch;
    for (size_t i = 0; kind == DiagnosticKind::DTypeMismatch && i < w->dims.size(); ++i)
      if (!unifier.unify(w->dims[i], f->dims[i])) {
        kind = DiagnosticKind::DimMismatch;
        detail = fmt::format(": dimension {} is {} here and has to be {}", i, to_string(f->dims[i]),
                             to_string(w->dims[i]));
      }
  }
  if (w->kind == TypeKind::Ref && f->kind == TypeKind::Ref && leaves_dims_open(w) != leaves_dims_open(f))
    notes.push_back({std::nullopt,
                     "what is read through a reference may have been written through another: their "
                     "types have to be the same, as written where the reference is made"});
  if (detail.empty() && unifier.describe(w) == unifier.describe(f))
    detail = " of another declaration of that name: make the value anew";
  report(kind, at,
         fmt::format("{} has to be {}, but this is {}{}", what, unifier.describe(w), unifier.describe(f),
                     detail),
         std::move(notes));
  return false;
}

}  // namespace quern
