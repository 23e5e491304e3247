#include "passes/scan_over.h"

#include <vector>

#include "ir/type/row_types.h"

namespace quern {

const IntrinsicExpr* as_scan(ExprPtr expr) {
  auto* own = as<IntrinsicExpr>(expr);
  return own && own->intrinsic == IntrinsicKind::ScanOver ? own : nullptr;
}

const IntrinsicExpr* scan_over(Arena& arena, Origin origin, const FnExpr* step, ExprPtr begin, ExprPtr rows,
                               bool reverse) {
  const Type row = step->body->type->args[1];
  const Type type = tuple_type(std::vector<Type>{begin->type, rows_type(row, row_count(rows->type))});
  static constexpr std::string_view kReverse[] = {"reverse"};
  const std::span<const std::string_view> texts =
      reverse ? std::span<const std::string_view>(kReverse) : std::span<const std::string_view>();
  const std::vector<ExprPtr> args{step, begin, rows};
  return arena.make<IntrinsicExpr>(Expr{ExprKind::Intrinsic, type, origin}, IntrinsicKind::ScanOver,
                                   arena.copy(args), texts);
}

}  // namespace quern
