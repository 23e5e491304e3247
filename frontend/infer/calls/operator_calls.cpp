#include "frontend/infer/calls/operator_calls.h"

#include <fmt/format.h>

#include <algorithm>

#include "frontend/static/metadata.h"

namespace quern {

namespace {

// Whether the operator takes several tensors as one tuple.
bool takes_tuple(const Declaration& op) {
  return std::ranges::any_of(params_of(op.syntax)->children, [](SyntaxPtr p) {
    return p->is(SyntaxKind::TensorParam) && p->child(0) && p->child(0)->is(SyntaxKind::FamilyType);
  });
}

// Whether an argument in an attribute position is a tensor: operators of tuples have no list attributes.
bool is_tensor(SyntaxPtr argument, const Declaration& op) {
  if (is_operand(argument)) return true;
  return takes_tuple(op) && (argument->is(SyntaxKind::List) || argument->is(SyntaxKind::Call) ||
                             argument->is(SyntaxKind::Comprehension));
}

// Whether a parameter is an attribute that is a dim, a shape, or a list of them.
bool takes_dims(const Declaration& op, size_t parameter) {
  const std::span<const SyntaxPtr> params = params_of(op.syntax)->children;
  if (parameter >= params.size() || !params[parameter]->is(SyntaxKind::AttributeParam)) return false;
  const SyntaxPtr kind = params[parameter]->child(0);
  return kind && (kind->text.starts_with("shape") || kind->text.starts_with("dim"));
}

}  // namespace

DraftPtr OperatorCalls::call(SyntaxPtr call, const Declaration& op) {
  std::vector<SyntaxPtr> positional, named;
  for (SyntaxPtr arg : call->children.subspan(1))
    (arg->is(SyntaxKind::NamedArgument) ? named : positional).push_back(arg);
  return this->call(call, op, positional, named);
}

DraftPtr OperatorCalls::infix(SyntaxPtr s, const Declaration& op) {
  return call(s, op, {s->children.begin(), s->children.end()}, {});
}

// False after a diagnostic.
bool OperatorCalls::add_attribute(std::string name, SyntaxPtr value, SyntaxPtr at, Statics& statics,
                                  OperatorCallDraft& call) {
  auto known = statics.evaluate(value, names_.env.statics);
  call.call.attributes.emplace_back(std::move(name), known.value_or(StaticValue()));
  call.call.attribute_syntax.push_back(at);
  return known.has_value();
}

DraftPtr OperatorCalls::call(SyntaxPtr s, const Declaration& op, const std::vector<SyntaxPtr>& positional,
                             const std::vector<SyntaxPtr>& named) {
  OperatorCallDraft& draft = parts_.operators.make(op, s);
  const size_t tensors = std::min(tensor_param_count(op.syntax), positional.size());
  ComputedExtents extents;
  open_extents(op, positional, named, extents);
  Statics statics = names_.evaluator(&extents);
  bool failed = false;
  draft.args.reserve(tensors);
  draft.call.tensors.reserve(tensors);
  draft.call.tensor_syntax.reserve(tensors);
  for (size_t i = 0; i < positional.size(); ++i) {
    if (is_attribute_struct(positional[i])) {
      auto values = meta_attributes(positional[i], op, scope_, context_.declaration, diagnostics_);
      if (!values) return error(s);
      for (auto& value : *values) {
        draft.call.attributes.push_back(std::move(value));
        draft.call.attribute_syntax.push_back(positional[i]);
      }
      continue;
    }
    if (i >= tensors && is_tensor(positional[i], op) && !takes_dims(op, i))
      return too_many_tensors(i, positional, op);
    if (i >= tensors) {
      failed |= !add_attribute("", positional[i], positional[i], statics, draft);
      continue;
    }
    draft.args.push_back(infer(positional[i]));
    draft.call.tensors.push_back(draft.args.back()->type);
    draft.call.tensor_syntax.push_back(positional[i]);
  }
  for (SyntaxPtr n : named) failed |= !add_attribute(std::string(n->text), n->child(0), n, statics, draft);
  if (failed) return error(s);
  parts_.operators.relate(s, draft, "the arguments of `" + op.name + "`");
  return extents_.bound(s, extents, &draft);
}

// Those of attributes that are dims.
void OperatorCalls::open_extents(const Declaration& op, const std::vector<SyntaxPtr>& positional,
                                 const std::vector<SyntaxPtr>& named, ComputedExtents& extents) {
  for (size_t i = tensor_param_count(op.syntax); i < positional.size(); ++i)
    if (takes_dims(op, i)) extents_.open(positional[i], extents);
  const std::span<const SyntaxPtr> params = params_of(op.syntax)->children;
  for (SyntaxPtr n : named) {
    const auto param = std::ranges::find(params, n->text, &Syntax::text) - params.begin();
    if (takes_dims(op, static_cast<size_t>(param))) extents_.open(n->child(0), extents);
  }
}

DraftPtr OperatorCalls::value(SyntaxPtr s, const Declaration& op) {
  std::vector<const Variable*> params;
  std::vector<Type> types;
  OperatorCallDraft& body = parts_.operators.make(op, s);
  for (SyntaxPtr p : params_of(op.syntax)->children) {
    if (!p->is(SyntaxKind::TensorParam)) continue;
    types.push_back(unifier_.fresh_type());
    params.push_back(drafts_.variable(p->text, types.back()));
    body.args.push_back(drafts_.read(origin(s), params.back(), types.back()));
    body.call.tensors.push_back(types.back());
    body.call.tensor_syntax.push_back(s);
  }
  parts_.operators.relate(s, body, fmt::format("`{}` as a value", op.name));
  return drafts_.form(origin(s), function_type(types, body.type), FnExpr{.params = drafts_.copy(params)},
                      {&body});
}

DraftPtr OperatorCalls::too_many_tensors(size_t first, const std::vector<SyntaxPtr>& arguments,
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

}  // namespace quern
