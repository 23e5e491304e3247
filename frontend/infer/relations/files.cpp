#include "frontend/infer/relations/files.h"

#include <fmt/format.h>

#include "ir/io/data_files.h"
#include "ir/io/picture_files.h"

namespace quern {

DraftPtr Files::load(SyntaxPtr s, DraftSpan args, std::span<const std::string_view> texts) {
  auto* draft = drafts_.make<LoadDraft>(origin(s), unifier_.fresh_type(), args, texts);
  // How many tokens a text has shows when it is read.
  if (draft->is_of_tokens()) draft->type = tensor_type(std::vector{dim_any()}, DType::int32());
  relations_.relate(s, draft, "the file's content",
                    [=, this] { return resolve(draft->type)->kind != TypeKind::Infer; });
  uses_.push_back({s, context_.declaration, IntrinsicKind::Load, "", draft});
  return draft;
}

void Files::save(SyntaxPtr s, IntrinsicKind kind, std::string_view path, DraftPtr value, bool are_tokens) {
  uses_.push_back({s, context_.declaration, kind, path, value, are_tokens});
}

void Files::load_types() {
  relations_.run();
  for (Relation& relation : relations_.all()) {
    auto* load = as<LoadDraft>(relation.draft);
    const Type wanted = load ? resolve(load->type) : nullptr;
    // What uses the value may know a part of its type: `@f(load("x.npy"))` with `%x: Tensor[(n, 8), float32]`.
    if (!wanted || !wanted->has_infer) continue;
    context_.declaration = relation.declaration;
    relation.done = true;
    const Type found = type_of(*load, relation.at);
    if (!unifier_.unify(load->type, found))
      report(DiagnosticKind::TypeMismatch, relation.at,
             fmt::format("the file has {}, and a value of type {} is wanted here", unifier_.describe(found),
                         unifier_.describe(wanted)));
  }
  relations_.run();
}

Type Files::type_of(const LoadDraft& load, SyntaxPtr at) {
  const auto path = load.path();
  if (!path) {
    report(DiagnosticKind::CannotInfer, at,
           "which file this is becomes known when the program runs, so that its type cannot be read from the "
           "file: write it, as in `let %x: Tensor[(100, 784), float32] = load(\"part{%k}.npy\")`");
    return error_type();
  }
  const Result<Type> type = scope_.file_type(*path, load.entry());
  if (!type) report(DiagnosticKind::FileProblem, at, type.error().message);
  return type ? *type : error_type();
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
  const bool is_load = use.kind == IntrinsicKind::Load;
  const auto annotated = annotations.find(use.at);
  const SyntaxPtr written = annotated == annotations.end() ? nullptr : annotated->second;
  if (const auto* load = as<LoadDraft>(use.value); load && load->is_of_tokens() && load->path()) {
    const Result<Type> text = scope_.file_type(*load->path(), "");
    if (!text) report(DiagnosticKind::FileProblem, use.at, text.error().message);
    return;
  }
  auto tensors = stored_tensors("", type, [this](Type data) { return scope_.data_of(data); });
  if (!tensors) {
    report(
        DiagnosticKind::TypeMismatch, is_load && written ? written : use.at,
        fmt::format("a value of type {} cannot be {}: {}, and a file has tensors under names; {} tensors, or "
                    "tuples and records of tensors",
                    unifier_.describe(type), is_load ? "loaded" : "saved", tensors.error().message,
                    is_load ? "load" : "save"));
    return;
  }
  if (!use.path.empty()) check_stored(use, *tensors);
}

void Files::check_stored(const Use& use, const std::vector<StoredTensor>& tensors) {
  const std::string path(use.path);
  Entries<DType> dtypes;
  Entries<SavedTensor> saved;
  for (const StoredTensor& tensor : tensors) {
    const DType dtype = tensor.type->dtype;
    // Anything unknown here is checked at run time.
    if (!tensor.type->is_tensor() || dtype.is_infer() || dtype.is_var()) return;
    dtypes.emplace_back(tensor.name, dtype);
    if (use.are_tokens && (tensors.size() > 1 || !dtype.is_int() || tensor.type->dims.size() != 1))
      return report(DiagnosticKind::TypeMismatch, use.at,
                    fmt::format("the ids of tokens are a vector of integers, and this is {}",
                                unifier_.describe(resolve(use.value->type))));
    saved.emplace_back(tensor.name,
                       SavedTensor{dtype, tensor.type->dims.size() + (dtype.is_vector() ? 1 : 0)});
  }
  if (use.are_tokens) return;
  if (use.kind == IntrinsicKind::Save && !is_data_file(path) && !is_picture_file(path))
    return report(
        DiagnosticKind::FileProblem, use.at,
        fmt::format("Cannot write '{}': its ending is none of {} for data, and .svg and .png for pictures.",
                    path, listed_data_endings("and", DataUse::Written)));
  const bool draws = use.kind == IntrinsicKind::Save && is_drawn(path, saved);
  if (auto fits = draws ? check_curves(path, saved) : check_entries(path, dtypes); !fits)
    report(DiagnosticKind::FileProblem, use.at, fits.error().message);
}

}  // namespace quern
