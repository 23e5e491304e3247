#include "jit/cache/kernel_name.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <vector>

namespace quern {

namespace {

constexpr size_t kMostCharacters = 40;

/// "nn.batch_norm" is batch_norm, "@layer{…}" is layer; text that begins with a digit is a statement's
/// number, not a name.
std::string as_symbol(std::string_view name) {
  name = name.substr(0, name.find('{'));
  if (const size_t dot = name.rfind('.'); dot != std::string_view::npos) name.remove_prefix(dot + 1);
  std::string symbol;
  for (const char c : name)
    if (std::isalnum(static_cast<unsigned char>(c)) || c == '_') symbol += c;
  return !symbol.empty() && std::isdigit(static_cast<unsigned char>(symbol.front())) ? "" : symbol;
}

/// Collects the origins' names of an expression's parts, each once, innermost first.
class Parts {
 public:
  explicit Parts(const NameOfOrigin& name_of) : name_of_(name_of) {}
  std::vector<std::string> names;

  void collect(ExprPtr expr) {
    for_each_child(expr, [this](ExprPtr child) { collect(child); });
    if (is_leaf(expr) || expr->origin.declaration == 0) return;
    std::string name = as_symbol(name_of_(expr->origin));
    if (!name.empty() && std::ranges::find(names, name) == names.end()) names.push_back(std::move(name));
  }

 private:
  /// Arguments originate at the call and do not describe the computation; nor do a block's names.
  static bool is_leaf(ExprPtr expr) {
    return expr->kind == ExprKind::Var || expr->kind == ExprKind::Const || expr->kind == ExprKind::DimValue ||
           expr->kind == ExprKind::Block;
  }

  const NameOfOrigin& name_of_;
};

}  // namespace

std::string kernel_name(const FnExpr& primitive, std::string_view canonical_text,
                        const NameOfOrigin& name_of) {
  std::string name;
  if (name_of) {
    Parts parts(name_of);
    parts.collect(primitive.body);
    for (const std::string& part : parts.names) {
      if (!name.empty() && name.size() + 1 + part.size() > kMostCharacters) break;
      name += (name.empty() ? "" : "_") + part.substr(0, kMostCharacters);
    }
  }
  if (name.empty()) name = "kernel";
  return fmt::format("{}_{:08x}", name, std::hash<std::string_view>()(canonical_text) & 0xffffffff);
}

}  // namespace quern
