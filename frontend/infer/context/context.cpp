#include "frontend/infer/context/context.h"

#include <algorithm>

namespace quern {

void NodeTypes::set(Origin node, Type type) {
  std::vector<Type>& types = types_[node.declaration];
  if (types.size() <= node.node) types.resize(node.node + 1, nullptr);
  types[node.node] = type;
}

void Context::report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes,
                     std::vector<Fix> fixes) {
  diagnostics.push_back({kind, place(at), std::move(message), std::move(notes), std::move(fixes)});
}

size_t Context::error_count() const {
  return static_cast<size_t>(std::ranges::count_if(
      diagnostics, [](const Diagnostic& d) { return severity_of(d.kind) == Severity::Error; }));
}

namespace {

/// Replaces undecided, unobservable types by `()`: that of the elements of an empty list whose length is
/// taken, for instance.
Type without_unknowns(Type type) {
  if (!type->has_infer) return type;
  if (type->kind == TypeKind::Infer) return unit_type();
  if (type->is_tensor() || type->kind == TypeKind::Dim) return error_type();
  std::vector<Type> args;
  for (Type arg : type->args) args.push_back(without_unknowns(arg));
  if (type->kind == TypeKind::Tuple) return tuple_type(args);
  if (type->kind == TypeKind::Data) return data_type(type->name, type->id, args);
  if (type->kind == TypeKind::Ref) return ref_type(args[0]);
  return function_type(std::span(args).first(args.size() - 1), args.back());
}

}  // namespace

Type Context::final_type(Type type) {
  Type resolved = unifier.resolve(type);
  if (!resolved->has_infer) return resolved;
  return has_errors(diagnostics) ? error_type() : without_unknowns(resolved);
}

}  // namespace quern
