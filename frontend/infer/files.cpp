// `load` and `save`: what they wait for, and which types files can hold.

#include <fmt/format.h>

#include "frontend/infer/inference.h"
#include "frontend/static/stored_tensors.h"
#include "ir/io/data_files.h"

namespace quern {

DraftPtr Inference::load(SyntaxPtr s, const std::vector<std::string_view>& texts) {
  DraftPtr draft = drafts_.make<LoadDraft>(origin(s), unifier.fresh_type(), texts[0], texts[1]);
  // An annotation decides. Without one the relation stays in the queue until the rest is settled, and the
  // file is asked.
  relate(s, draft, "the file's content", [=, this] { return resolve(draft->type)->kind != TypeKind::Infer; });
  file_uses_.push_back({s, declaration_, true, texts[0], draft});
  return draft;
}

void Inference::check_files() {
  for (const FileUse& use : file_uses_) {
    enter(use.declaration);
    check_file(use, resolve(use.value->type));
  }
  file_uses_.clear();
}

void Inference::check_file(const FileUse& use, Type type) {
  if (contains_error(type)) return;
  const auto annotated = annotations.find(use.at);
  const SyntaxPtr written = annotated == annotations.end() ? nullptr : annotated->second;
  auto tensors = stored_tensors("", type, [this](Type data) { return scope_.data_of(data); });
  if (!tensors) {
    report(
        DiagnosticKind::TypeMismatch, use.is_load && written ? written : use.at,
        fmt::format("a value of type {} cannot be {}: {}, and a file has tensors under names; {} tensors, or "
                    "tuples and records of tensors",
                    unifier.describe(type), use.is_load ? "loaded" : "saved", tensors.error().message,
                    use.is_load ? "load" : "save"));
    return;
  }
  if (use.is_load) return;
  Entries<DType> entries;
  for (const StoredTensor& tensor : *tensors) {
    const DType dtype = tensor.type->dtype;
    // What is not known here is looked at when it runs.
    if (!tensor.type->is_tensor() || dtype.is_infer() || dtype.is_var()) return;
    entries.emplace_back(tensor.name, dtype);
  }
  if (auto fits = check_entries(std::string(use.path), entries); !fits)
    report(DiagnosticKind::FileProblem, use.at, fits.error().message);
}

}  // namespace quern
