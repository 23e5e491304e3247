// The walk of inference over expressions.

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "frontend/infer/inference.h"
#include "frontend/static/metadata.h"
#include "frontend/text/suggest.h"
#include "ir/base/internal_failure.h"

namespace quern {

void Inference::report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes,
                       std::vector<Fix> fixes) {
  diagnostics.push_back({kind, place(at), std::move(message), std::move(notes), std::move(fixes)});
}

DraftPtr Inference::error(SyntaxPtr s, Type type) {
  return drafts_.error(origin(s), type ? type : error_type());
}

Type Inference::annotation(SyntaxPtr type, const TypeEnv& in) {
  if (names_open_pack(type, in)) return unifier.fresh_type();
  StaticEvaluator evaluator(scope_, declaration_, diagnostics);
  evaluator.hole_dim = [this] { return unifier.fresh_dim(); };
  evaluator.hole_dtype = [this] { return unifier.fresh_dtype(DTypeClass::Any); };
  Type written = resolve_type(type, in, evaluator, scope_, diagnostics, declaration_);
  unifier.meet(written);
  return written;
}

// What says the type of the variable that a node binds: its annotation, else its value.
SyntaxPtr type_source(SyntaxPtr binding) {
  bool is_let = binding->is(SyntaxKind::Let);
  if (is_let || binding->is(SyntaxKind::TensorParam))
    return binding->child(0) ? binding->child(0) : is_let ? binding->child(1) : binding;
  return binding->is(SyntaxKind::GraphLet) ? binding->child(0) : binding;
}

void Inference::bind_local(std::string_view name, const Variable* variable, SyntaxPtr at) {
  auto [latest, added] = latest_.try_emplace(name, locals_.size());
  std::optional<size_t> hidden;
  if (!added) hidden = std::exchange(latest->second, locals_.size());
  locals_.push_back({name, variable, hidden});
  variable_places_[variable] = place(type_source(at));
}

void Inference::leave_to(size_t depth) {
  while (locals_.size() > depth) {
    const LocalName& last = locals_.back();
    if (last.hidden)
      latest_[last.name] = *last.hidden;
    else
      latest_.erase(last.name);
    locals_.pop_back();
  }
}

const Inference::LocalName* Inference::find_local(std::string_view name) const {
  auto found = latest_.find(name);
  return found == latest_.end() ? nullptr : &locals_[found->second];
}

// A copy of a general function leaves what was noted of its text as it is: the general types.
void Inference::note_type(SyntaxPtr s, Type type) {
  if (copying_ > 0) return;
  auto& types = node_types[declaration_];
  if (types.size() <= s->id) types.resize(s->id + 1, nullptr);
  types[s->id] = type;
}

DraftPtr Inference::infer(SyntaxPtr s, Type wanted) {
  check_stack();
  if (!s) return error(s);
  DraftPtr draft = walk(s, wanted);
  note_type(s, draft->type);
  return draft;
}

DraftPtr Inference::walk(SyntaxPtr s, Type wanted) {
  switch (s->kind) {
    case SyntaxKind::Int:
    case SyntaxKind::Float:
    case SyntaxKind::Bool: return number(s);
    case SyntaxKind::List: return tensor_literal(s);
    case SyntaxKind::Local:
    case SyntaxKind::GraphName: return local(s);
    case SyntaxKind::GlobalName: return global(s);
    case SyntaxKind::Name: return bare_name(s, wanted);
    case SyntaxKind::Paren: return infer(s->child(0), wanted);
    case SyntaxKind::Block: return block(s, wanted);
    case SyntaxKind::Tuple: return tuple(s, wanted);
    case SyntaxKind::Fn: {
      Head head = head_of(s->child(0), s->child(1), s->child(2), env, Binder::Once);
      return function(s, s->child(1), head, s->child(3));
    }
    case SyntaxKind::Gradient: return gradient_clause(s, wanted);
    case SyntaxKind::If: return if_else(s, wanted);
    case SyntaxKind::Call: return call(s, wanted);
    case SyntaxKind::Project: return projection(s);
    case SyntaxKind::Field: return field(s);
    case SyntaxKind::Index: return slice(s);
    case SyntaxKind::Unary:
    case SyntaxKind::Binary: return infix(s);
    case SyntaxKind::Comprehension: return comprehension(s);
    case SyntaxKind::Scheduled: return scheduled(s, wanted);
    case SyntaxKind::Error: return error(s);
    case SyntaxKind::Meta: return constant(s);
    case SyntaxKind::Match: return match(s, wanted);
    case SyntaxKind::None: return bare_name(s);
    default: report_misplaced(s); return error(s);
  }
}

// What stands where a value is wanted, and is none there.
void Inference::report_misplaced(SyntaxPtr s) {
  struct Row {
    SyntaxKind syntax;
    DiagnosticKind kind;
    std::string_view message;
  };
  static constexpr Row kRows[] = {
      {SyntaxKind::String, DiagnosticKind::NoValueHere,
       "a string is no value here: strings are attributes, file names and labels of `print`"},
      {SyntaxKind::HoleType, DiagnosticKind::MissingOperand, kHoleHere},
      {SyntaxKind::FreeVar, DiagnosticKind::UnexpectedToken, "`free_var` stands at the top of a file"},
      {SyntaxKind::Scan, DiagnosticKind::InvalidIndexExpression,
       "a scan stands inside an index expression: `[i < n] => scan[k <= i] + …`"},
      {SyntaxKind::Scatter, DiagnosticKind::InvalidIndexExpression,
       "a scatter is the body of an index expression: `[i < n] => scatter[m < k] … at (…) = …`"},
      {SyntaxKind::Reduce, DiagnosticKind::InvalidIndexExpression,
       "a reduction stands inside an index expression: `[i < n] => sum[k] …`; over whole axes call the "
       "operator `sum(…, axis=[…])`"},
      {SyntaxKind::ReadElse, DiagnosticKind::InvalidIndexExpression,
       "`else` stands after a read inside an index expression: `[i < n] => %x[i - 1] else 0`"}};
  const auto* row = std::ranges::find(kRows, s->kind, &Row::syntax);
  if (row == std::end(kRows))
    report(DiagnosticKind::InvalidIndexExpression, s, "this has no value here");
  else
    report(row->kind, s, std::string(row->message));
}

DraftPtr Inference::if_else(SyntaxPtr s, Type wanted) {
  DraftPtr condition = infer(s->child(0));
  expect(s->child(0), scalar_type(DType::boolean()), condition->type, "the condition of `if`", {},
         DiagnosticKind::ConditionNotBool, condition);
  uint32_t first = 0, second = 0;
  DraftPtr then_arm = infer_arm(s->child(1), first, wanted);
  DraftPtr else_arm = infer_arm(s->child(2), second, wanted);
  DraftPtr branch = drafts_.form(origin(s), unifier.fresh_type(), IfExpr{}, {condition, then_arm, else_arm});
  return joined(branch, {then_arm, else_arm}, {first, second}, {s->child(1), s->child(2)});
}

// `meta[relay.Constant][0]`
DraftPtr Inference::constant(SyntaxPtr s) {
  auto tensor = meta_constant(s, scope_, declaration_, diagnostics);
  if (!tensor) return error(s);
  std::vector<Dim> dims;
  for (int64_t extent : tensor->shape()) dims.push_back(dim_const(extent));
  return drafts_.form(origin(s), tensor_type(dims, tensor->dtype()), ConstExpr{.value = tensor});
}

// --- blocks and functions

void Inference::binding(SyntaxPtr s, std::vector<DraftBinding>& bindings,
                        std::vector<std::string_view>& graph_names) {
  Type declared = nullptr;
  if (s->is(SyntaxKind::GraphLet)) {
    if (std::find(graph_names.begin(), graph_names.end(), s->text) != graph_names.end())
      report(DiagnosticKind::DuplicateDefinition, s,
             fmt::format("`%{}` is bound twice in this block", s->text));
    graph_names.push_back(s->text);
    if (binds_function(s)) {
      DraftPtr function = let_function(s, declared);
      bindings.push_back({locals_.back().variable, function});
      return;
    }
    DraftPtr value = infer(s->child(0));
    const Variable* variable = drafts_.variable(s->text, value->type, true);
    bindings.push_back({variable, value});
    bind_local(variable->name, variable, s);
    return;
  }
  if (scope_.cancelled()) return;
  if (s->is(SyntaxKind::FreeVar)) {
    const Variable* variable = drafts_.variable(s->text, infer(s)->type);
    return bind_local(variable->name, variable, s);
  }
  if (!s->is(SyntaxKind::Let)) {
    bindings.push_back({nullptr, infer(s)});
    return;
  }
  if (binds_function(s)) {
    DraftPtr function = let_function(s, declared);
    bindings.push_back({locals_.back().variable, function});
    return;
  }
  if (s->child(0)) declared = annotation(s->child(0));
  annotations.emplace(s->child(1), s->child(0));
  DraftPtr value = infer(s->child(1), declared);
  if (declared)
    expect(s->child(1), declared, value->type, fmt::format("`%{}`", s->text),
           {{place(s->child(0)), "it is declared here"}}, DiagnosticKind::AnnotationMismatch, value);
  DraftPtr exact = value;
  if (declared) value = opened(value, declared = resolve(declared), s->text);
  if (s->text == "_") {
    bindings.push_back({nullptr, value});
    return;
  }
  bool is_opened = value != exact;
  const Variable* variable = drafts_.variable(s->text, declared && !is_opened ? declared : value->type);
  bindings.push_back({variable, value});
  bind_local(variable->name, variable, s);
}

DraftPtr Inference::block(SyntaxPtr s, Type wanted) {
  size_t depth = scope_depth();
  std::vector<DraftBinding> bindings;
  std::vector<std::string_view> graph_names;
  DraftPtr result = nullptr;
  for (size_t i = 0; i < s->children.size(); ++i) {
    SyntaxPtr statement = s->children[i];
    bool is_binding = statement->is(SyntaxKind::Let) || statement->is(SyntaxKind::GraphLet);
    if (i + 1 == s->children.size() && !is_binding)
      result = infer(statement, wanted);
    else
      binding(statement, bindings, graph_names);
  }
  leave_to(depth);
  if (!result) result = unit(s);
  if (bindings.empty()) return result;
  return drafts_.block(origin(s), bindings, result);
}

// --- operators written infix, projections, index expressions

DraftPtr Inference::conditional(SyntaxPtr s, SyntaxPtr condition, DraftPtr then_arm, DraftPtr else_arm) {
  DraftPtr test = infer(condition);
  Type boolean = scalar_type(DType::boolean());
  expect(condition, boolean, test->type, fmt::format("the operand of `{}`", s->text), {},
         DiagnosticKind::ConditionNotBool, test);
  DraftPtr arm = then_arm ? then_arm : else_arm;
  expect(s->child(1), boolean, arm->type, fmt::format("the operand of `{}`", s->text), {},
         DiagnosticKind::ConditionNotBool, arm);
  DraftPtr constant = literal(s, boolean, {{NumberLiteral{true, then_arm ? 0 : 1}, s}}, true);
  return drafts_.form(origin(s), boolean, IfExpr{},
                      {test, then_arm ? then_arm : constant, else_arm ? else_arm : constant});
}

std::string Inference::infix_name(SyntaxPtr s) {
  const bool is_unary = s->is(SyntaxKind::Unary) && s->text != "not";
  return scope_.infix((is_unary ? "unary " : "") + std::string(s->text));
}

DraftPtr Inference::infix(SyntaxPtr s) {
  uint32_t arm = 0;
  if (s->text == "and") return conditional(s, s->child(0), infer_arm(s->child(1), arm), nullptr);
  if (s->text == "or") return conditional(s, s->child(0), nullptr, infer_arm(s->child(1), arm));
  if (s->text == "!") return read_reference(s, s->child(0));
  if (s->text == ":=") return write_reference(s, s->child(0), s->child(1));
  std::string name = infix_name(s);
  const Declaration* op = name.empty() ? nullptr : scope_.op(name);
  if (!op) {
    report(DiagnosticKind::UnknownOperator, s, fmt::format("no operator is declared for `{}`", s->text));
    return error(s);
  }
  return operator_call(s, *op, {s->children.begin(), s->children.end()}, {});
}

DraftPtr Inference::projection(SyntaxPtr s) {
  DraftPtr tuple = infer(s->child(0));
  size_t index = std::stoul(std::string(s->text));
  DraftPtr draft =
      drafts_.make<ProjectionDraft>(origin(s), unifier.fresh_type(), tuple, static_cast<uint32_t>(index));
  relate(s, draft, "the tuple", [=, this] {
    Type type = resolve(tuple->type);
    if (type->kind == TypeKind::Infer) return false;
    if (type->kind == TypeKind::Tuple && index < type->args.size()) {
      becomes(s, draft, type->args[index]);
    } else {
      if (!type->is_error())
        report(DiagnosticKind::UnknownField, s,
               fmt::format("{} has no field {}", unifier.describe(type), index), origin_of(tuple));
      unifier.unify(draft->type, error_type());
    }
    return true;
  });
  return draft;
}

DraftPtr Inference::field(SyntaxPtr s) {
  DraftPtr record = infer(s->child(0));
  DraftPtr waiting =
      drafts_.make<RecordFieldDraft>(origin(s), unifier.fresh_type(), record, drafts_.copy(s->text));
  relate(s, waiting, "the record", [=, this] {
    Type type = resolve(record->type);
    if (type->kind == TypeKind::Infer) return false;
    const DataDefinition* data = type->kind == TypeKind::Data ? scope_.data_of(type) : nullptr;
    if (data && data->header.type->id != type->id) {
      report(DiagnosticKind::UnknownField, s,
             fmt::format("`{}` has been redefined since this value was made; make it anew", data->name));
    } else if (data && data->constructors.size() == 1) {
      const auto& fields = data->constructors[0].fields;
      std::vector<std::string> names;
      for (uint32_t i = 0; i < fields.size(); ++i) {
        names.push_back(fields[i].name);
        if (fields[i].name != s->text) continue;
        Substitution substitution;
        for (size_t k = 0; k < type->args.size(); ++k)
          substitution.types.emplace(data->header.type_vars[k], type->args[k]);
        Type type = substitute(fields[i].type, substitution);
        DraftPtr read =
            drafts_.form(origin(s), type, FieldExpr{.index = i, .name = drafts_.copy(s->text)}, {record});
        waiting->replacement = opened(read, type, s->text);
        becomes(s, waiting, waiting->replacement->type);
        return true;
      }
      Place at = place(s);
      at.part = Part::Tail;
      at.length = static_cast<uint32_t>(s->text.size());
      Suggestion meant = suggest(did_you_mean(s->text, names), at);
      std::vector<Note> notes{
          {Place{{data->declaration, data->constructors[0].node}, {}},
           fmt::format("`{}` is declared here; its fields are {}", data->name, fmt::join(names, ", "))}};
      diagnostics.push_back({DiagnosticKind::UnknownField, at,
                             fmt::format("`{}` has no field `{}`{}", data->name, s->text, meant.text),
                             std::move(notes), std::move(meant.fixes)});
    } else if (!type->is_error()) {
      report_no_field(s, type, record);
    }
    unifier.unify(waiting->type, error_type());
    return true;
  });
  return waiting;
}

// `.name` of a value without fields.
void Inference::report_no_field(SyntaxPtr s, Type type, DraftPtr record) {
  Place at = place(s);
  at.part = Part::Tail;
  at.length = static_cast<uint32_t>(s->text.size());
  if (!type->is_tensor()) {
    diagnostics.push_back(
        {DiagnosticKind::UnknownField, at,
         fmt::format("`.{}` reads a field of a record (a type with one constructor), and this is {}", s->text,
                     unifier.describe(type)),
         origin_of(record)});
    return;
  }
  std::string advice = fmt::format("write `{}(%x, …)`", s->text);
  const ForeignName* foreign = find_foreign_name(s->text);
  if (s->text == "shape" || s->text == "ndim" || s->text == "size")
    advice =
        "its shape is in its type: give the dims names, as in `def @f[n, m](%x: Tensor[(n, m), float32])`";
  else if (s->text == "dtype")
    advice = "its dtype is in its type, `Tensor[(n, m), float32]`";
  else if (s->text == "T")
    advice = "write `transpose(%x)`";
  else if (s->text == "item" || s->text == "numpy" || s->text == "backward" || s->text == "grad")
    advice = "a rank-0 tensor is a number itself, and `grad(@f)` is the gradient of a function";
  else if (foreign && !(foreign->meaning.empty() && foreign->remark.empty()))
    advice = !foreign->remark.empty() ? fmt::format("write {}", foreign->remark)
                                      : fmt::format("write `{}(%x, …)`", foreign->meaning);
  else if (!scope_.op(s->text))
    advice = "operators are called by name, `sum(%x, axis=[0])`";
  diagnostics.push_back({DiagnosticKind::TensorMethod, at,
                         fmt::format("a tensor has no `.{}`: {}", s->text, advice), origin_of(record)});
}

DraftPtr Inference::comprehension(SyntaxPtr s) {
  std::vector<IndexOperand> operands;
  for (SyntaxPtr operand : tensor_operands(s)) operands.push_back({operand, infer(operand)});
  IndexDraft* draft = drafts_.index(origin(s), unifier.fresh_type(), operands);
  StaticEnv statics = env.statics;
  relate(s, draft, "what it reads", [=, this] {
    for (const IndexOperand& operand : draft->operands) {
      Type type = resolve(operand.tensor->type);
      if (type->kind == TypeKind::Infer || (type->is_tensor() && resolve(type->dtype).is_infer()))
        return false;
    }
    draft->expression = elaborate(s, *draft, statics);
    becomes(s, draft, draft->expression ? draft->expression->type : error_type());
    return true;
  });
  return draft;
}

// The index expression over its operands, whose types are known; null after a diagnostic.
ExprPtr Inference::elaborate(SyntaxPtr s, IndexDraft& draft, const StaticEnv& statics) {
  auto find = [&](SyntaxPtr at) -> ExprPtr {
    for (IndexOperand& operand : draft.operands) {
      if (!same_operand(operand.at, at)) continue;
      Type type = resolve(operand.tensor->type);
      if (type->is_error()) return nullptr;
      if (!operand.read) operand.read = drafts_.operand(operand.tensor, type);
      return operand.read;
    }
    return nullptr;
  };
  const uint32_t declaration = draft.origin.declaration;
  IndexElaborator elaborator(drafts_.arena(), scope_, declaration, diagnostics, find);
  ExprPtr made = elaborator.comprehension(s, statics, std::nullopt, std::nullopt);
  return made ? with_schedule(s, made, declaration, draft.operands) : nullptr;
}

}  // namespace quern
