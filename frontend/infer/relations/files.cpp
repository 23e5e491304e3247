#include "frontend/infer/relations/files.h"

#include <fmt/format.h>

#include "frontend/static/stored_tensors.h"
#include "ir/io/data_files.h"

namespace quern {

DraftPtr Files::load(SyntaxPtr s, std::string_view path, std::string_view entry) {
  DraftPtr draft = drafts_.make<LoadDraft>(origin(s), unifier_.fresh_type(), path, entry);
  relations_.relate(s, draft, "the file's content",
                    [=, this] { return resolve(draft->type)->kind != TypeKind::Infer; });
  uses_.push_back({s, context_.declaration, true, path, draft});
  return draft;
}

void Files::save(SyntaxPtr s, std::string_view path, DraftPtr value) {
  uses_.push_back({s, context_.declaration, false, path, value});
}

void Files::load_types() {
  relations_.run();
  for (Relation& relation : relations_.all()) {
    auto* load = as<LoadDraft>(relation.draft);
    if (relation.done || !load || resolve(load->type)->kind != TypeKind::Infer) continue;
    Result<Type> type = scope_.file_type(load->path, load->entry);
    if (!type) {
      context_.declaration = relation.declaration;
      report(DiagnosticKind::FileProblem, relation.at, type.error().message);
    }
    relation.done = true;
    unifier_.unify(load->type, type ? *type : error_type());
  }
  relations_.run();
}

void Files::check() {
  for (const Use& use : uses_) {
    context_.declaration = use.declaration;
    check(use, resolve(use.value->type));
  }
  uses_.clear();
}

void Files::check(const Use& use, Type type) {
  if (contains_error(type)) return;
  const auto annotated = annotations.find(use.at);
  const SyntaxPtr written = annotated == annotations.end() ? nullptr : annotated->second;
  auto tensors = stored_tensors("", type, [this](Type data) { return scope_.data_of(data); });
  if (!tensors) {
    report(
        DiagnosticKind::TypeMismatch, use.is_load && written ? written : use.at,
        fmt::format("a value of type {} cannot be {}: {}, and a file has tensors under names; {} tensors, or "
                    "tuples and records of tensors",
                    unifier_.describe(type), use.is_load ? "loaded" : "saved", tensors.error().message,
                    use.is_load ? "load" : "save"));
    return;
  }
  if (use.is_load) return;
  Entries<DType> entries;
  for (const StoredTensor& tensor : *tensors) {
    const DType dtype = tensor.type->dtype;
    // Anything unknown here is checked at run time.
    if (!tensor.type->is_tensor() || dtype.is_infer() || dtype.is_var()) return;
    entries.emplace_back(tensor.name, dtype);
  }
  if (auto fits = check_entries(std::string(use.path), entries); !fits)
    report(DiagnosticKind::FileProblem, use.at, fits.error().message);
}

}  // namespace quern
