#include "frontend/infer/values/fields.h"

#include <fmt/format.h>

#include "frontend/syntax/literals.h"
#include "frontend/text/foreign_names.h"
#include "frontend/text/suggest.h"

namespace quern {

DraftPtr Fields::projection(SyntaxPtr s) {
  DraftPtr tuple = infer(s->child(0));
  const size_t index = position_of(s->text);
  DraftPtr draft =
      drafts_.make<ProjectionDraft>(origin(s), unifier_.fresh_type(), tuple, static_cast<uint32_t>(index));
  relations_.relate(s, draft, "the tuple", [=, this] {
    Type type = resolve(tuple->type);
    if (type->kind == TypeKind::Infer) return false;
    if (type->kind == TypeKind::Tuple && index < type->args.size()) {
      assignments_.becomes(s, draft, type->args[index]);
    } else {
      if (!type->is_error())
        report(DiagnosticKind::UnknownField, s,
               fmt::format("{} has no field {}", unifier_.describe(type), s->text), names_.origin_of(tuple));
      unifier_.unify(draft->type, error_type());
    }
    return true;
  });
  return draft;
}

DraftPtr Fields::field(SyntaxPtr s) {
  DraftPtr record = infer(s->child(0));
  auto* waiting =
      drafts_.make<RecordFieldDraft>(origin(s), unifier_.fresh_type(), record, drafts_.copy(s->text));
  relations_.relate(s, waiting, "the record", [=, this] { return attempt(s, *waiting); });
  return waiting;
}

bool Fields::attempt(SyntaxPtr s, RecordFieldDraft& waiting) {
  Type type = resolve(waiting.record->type);
  if (type->kind == TypeKind::Infer) return false;
  const DataDefinition* data = type->kind == TypeKind::Data ? scope_.data_of(type) : nullptr;
  if (data && data->header.type->id != type->id) {
    report(DiagnosticKind::UnknownField, s,
           fmt::format("`{}` has been redefined since this value was made; make it anew", data->name));
  } else if (data && data->constructors.size() == 1) {
    if (DraftPtr found = read(s, waiting, *data, type)) {
      waiting.replacement = found;
      assignments_.becomes(s, &waiting, found->type);
      return true;
    }
    report_unknown(s, *data);
  } else if (!type->is_error()) {
    report_none(s, type, waiting.record);
  }
  unifier_.unify(waiting.type, error_type());
  return true;
}

// The names of a constructor's fields.
static std::vector<std::string> names_of(const DataConstructor& constructor) {
  std::vector<std::string> names;
  names.reserve(constructor.fields.size());
  for (const DataField& field : constructor.fields) names.push_back(field.name);
  return names;
}

DraftPtr Fields::read(SyntaxPtr s, RecordFieldDraft& waiting, const DataDefinition& data, Type type) {
  const auto& fields = data.constructors[0].fields;
  for (uint32_t i = 0; i < fields.size(); ++i) {
    if (fields[i].name != s->text) continue;
    Type held = substitute(fields[i].type, data.header.arguments_of(type));
    DraftPtr read =
        drafts_.form(origin(s), held, FieldExpr{.index = i, .name = waiting.name}, {waiting.record});
    return checks_.opened(read, held, s->text);
  }
  return nullptr;
}

Suggestion suggest_field(const DataConstructor& constructor, std::string_view name, const Place& at) {
  return suggest(did_you_mean(name, names_of(constructor)), at);
}

void Fields::report_unknown(SyntaxPtr s, const DataDefinition& data) {
  const DataConstructor& constructor = data.constructors[0];
  Place at = place(s);
  at.part = Part::Tail;
  at.length = static_cast<uint32_t>(s->text.size());
  Suggestion meant = suggest_field(constructor, s->text, at);
  std::vector<Note> notes{{Place{{data.declaration, constructor.node}, {}},
                           constructor.fields.empty()
                               ? fmt::format("`{}` is declared here, without fields", data.name)
                               : fmt::format("`{}` is declared here; its fields are {}", data.name,
                                             fmt::join(names_of(constructor), ", "))}};
  diagnostics_.push_back({DiagnosticKind::UnknownField, at,
                          fmt::format("`{}` has no field `{}`{}", data.name, s->text, meant.text),
                          std::move(notes), std::move(meant.fixes)});
}

namespace {

// What to write instead of `.name` on a tensor.
std::string advice_for(std::string_view name, Scope& scope) {
  const ForeignName* foreign = find_foreign_name(name);
  if (name.ends_with('_')) name.remove_suffix(1);  // PyTorch's methods that change their tensor
  const std::string dtype = named_dtype(name);
  std::string advice = fmt::format("write `{}(%x, …)`", name);
  if (name == "shape" || name == "ndim" || name == "size")
    advice =
        "its shape is in its type: give the dims names, as in `def @f[n, m](%x: Tensor[(n, m), float32])`";
  else if (name == "dtype")
    advice = "its dtype is in its type, `Tensor[(n, m), float32]`";
  else if (name == "item" || name == "numpy" || name == "tolist" || name == "backward" || name == "grad")
    advice = "a rank-0 tensor is a number itself, and `grad(@f)` is the gradient of a function";
  else if (name == "device" || name == "cuda" || name == "cpu")
    advice = "every tensor is in the machine's memory";
  else if (!dtype.empty())
    advice = fmt::format("write `cast(%x, dtype=\"{}\")`", dtype);
  else if (foreign && !(foreign->meaning.empty() && foreign->remark.empty()))
    advice = !foreign->remark.empty() ? fmt::format("write {}", foreign->remark)
                                      : fmt::format("write `{}(%x, …)`", foreign->meaning);
  else if (!scope.op(name))
    advice = "operators are called by name, `sum(%x, axis=[0])`";
  return advice;
}

}  // namespace

// Reports `.name` on a value without fields.
void Fields::report_none(SyntaxPtr s, Type type, DraftPtr record) {
  Place at = place(s);
  at.part = Part::Tail;
  at.length = static_cast<uint32_t>(s->text.size());
  if (!type->is_tensor()) {
    diagnostics_.push_back(
        {DiagnosticKind::UnknownField, at,
         fmt::format("`.{}` reads a field of a record (a type with one constructor), and this is {}", s->text,
                     unifier_.describe(type)),
         names_.origin_of(record)});
    return;
  }
  diagnostics_.push_back({DiagnosticKind::TensorMethod, at,
                          fmt::format("a tensor has no `.{}`: {}", s->text, advice_for(s->text, scope_)),
                          names_.origin_of(record)});
}

}  // namespace quern
