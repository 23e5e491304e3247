#include "ir/expr/canonical_text.h"

#include <algorithm>
#include <charconv>
#include <unordered_map>

#include "ir/base/result.h"
#include "ir/expr/fields.h"
#include "ir/expr/scheduled.h"

namespace quern {

namespace {

/// Prefix form in words, each followed by a blank.
class TextWriter {
 public:
  std::string text;
  std::vector<Dim> variables;

  explicit TextWriter(std::span<const Dim> known = {}) {
    for (const Dim d : known) number(d);
  }

  void word(std::string_view w) { text.append(w) += ' '; }
  void word(char kind, int64_t value) {
    text += kind;
    text.append(std::to_string(value)) += ' ';
  }

  void dim(Dim d) {
    switch (d->kind) {
      case DimKind::Const: return word('#', d->value);
      case DimKind::Var: return word('$', number(d));
      case DimKind::Any: return word("?");
      case DimKind::Infer: break;
      case DimKind::Sum: return operands('+', d);
      case DimKind::Product: word('*', d->value); return operands('x', d);
      case DimKind::FloorDiv: return pair("/", d);
      case DimKind::FloorMod: return pair("%", d);
      case DimKind::Min: return operands('m', d);
      case DimKind::Max: return operands('M', d);
      case DimKind::Broadcast: return operands('b', d);
    }
    QUERN_CHECK(false && "an unknown of inference has a text");
  }
  void dims(std::span<const Dim> list) {
    word('l', static_cast<int64_t>(list.size()));
    for (const Dim d : list) dim(d);
  }

 private:
  int64_t number(Dim variable) {
    const auto [at, is_new] = numbers_.try_emplace(variable, static_cast<int64_t>(variables.size()));
    if (is_new) variables.push_back(variable);
    return at->second;
  }

  void pair(std::string_view kind, Dim d) {
    word(kind);
    for (const Dim arg : d->args) dim(arg);
  }

  /// Operands are stored in creation order. Here they are sorted by text, in which all variables without a
  /// number look the same.
  void operands(char kind, Dim d) {
    word(kind, static_cast<int64_t>(d->args.size()));
    std::vector<std::pair<std::string, Dim>> sorted;
    for (const Dim arg : d->args) sorted.emplace_back(shape_of(arg), arg);
    std::ranges::stable_sort(sorted, {},
                             [](const auto& operand) -> const std::string& { return operand.first; });
    for (const auto& [shape, arg] : sorted) dim(arg);
  }
  std::string shape_of(Dim d) const {
    if (d->kind == DimKind::Var) {
      const auto known = numbers_.find(d);
      return known == numbers_.end() ? "$" : "$" + std::to_string(known->second);
    }
    std::string shape = std::to_string(static_cast<int>(d->kind)) + ":" + std::to_string(d->value);
    std::vector<std::string> parts;
    for (const Dim arg : d->args) parts.push_back(shape_of(arg));
    if (d->kind != DimKind::FloorDiv && d->kind != DimKind::FloorMod) std::ranges::sort(parts);
    for (const std::string& part : parts) shape += "(" + part + ")";
    return shape;
  }

  std::unordered_map<Dim, int64_t> numbers_;
};

class PrimitiveWriter {
 public:
  CanonicalText run(const FnExpr& primitive) {
    out_.word('f', static_cast<int64_t>(primitive.params.size()));
    for (const Variable* param : primitive.params) {
      type(param->type);
      if (param->fresh) out_.word("fresh");
      bind(param);
    }
    type(primitive.body->type);
    write(primitive.body);
    return {std::move(out_.text), std::move(out_.variables)};
  }

  // --- the fields of a node
  void operator()(role::Child, ExprPtr child) { write(child); }
  void operator()(role::Child, std::span<const ExprPtr> children) {
    out_.word('l', static_cast<int64_t>(children.size()));
    for (ExprPtr child : children) write(child);
  }
  void operator()(role::Bindings, std::span<const Binding> bindings) {
    out_.word('l', static_cast<int64_t>(bindings.size()));
    for (const Binding& binding : bindings) {
      write(binding.value);
      bind(binding.variable);
    }
  }
  void operator()(role::Use, const Variable* variable) { out_.word('v', variables_.at(variable)); }
  void operator()(role::Dims, Dim dim) { out_.dim(dim); }
  void operator()(role::Dims, std::span<const Dim> dims) { out_.dims(dims); }
  void operator()(role::IndexVars, std::span<const Dim> vars) { out_.dims(vars); }
  void operator()(role::Checks, std::span<const bool> checks) {
    std::string marks = "!";
    for (const bool is_checked : checks) marks += is_checked ? '1' : '0';
    out_.word(marks);
  }
  void operator()(role::Clause, const ScheduleClause* clause) {
    if (clause) out_.word(to_clause(clause->schedule));
  }
  void operator()(role::Datum, ScalarOp op) { out_.word(info(op).name); }
  void operator()(role::Datum, ReduceKind kind) { out_.word(to_string(kind)); }
  void operator()(role::Datum, ScatterKind kind) { out_.word(to_string(kind)); }
  void operator()(role::Datum, bool mark) { out_.word(mark ? "yes" : "no"); }
  void operator()(role::Datum, const std::shared_ptr<const HostTensor>& value) {
    static constexpr std::string_view kDigits = "0123456789abcdef";
    out_.word(to_string(value->dtype()));
    for (const int64_t extent : value->shape()) out_.word('#', extent);
    std::string bytes = "=";
    for (size_t i = 0; i < value->bytes(); ++i) {
      const auto byte = std::to_integer<unsigned>(value->data()[i]);
      bytes += kDigits[byte >> 4];
      bytes += kDigits[byte & 15];
    }
    out_.word(bytes);
  }
  /// Roles that no primitive contains (passes/verify.h).
  template <class Role, class T>
  void operator()(Role, const T&) {
    QUERN_CHECK(false && "a primitive function holds a node that has no element");
  }

 private:
  void type(Type t) {
    out_.word(to_string(t->dtype));
    out_.dims(t->dims);
  }
  void bind(const Variable* variable) {
    variables_.emplace(variable, static_cast<int64_t>(variables_.size()));
  }
  void write(ExprPtr expr) {
    if (!expr) return out_.word("none");
    out_.word(to_string(expr->kind));
    if (auto* scalar = as<ScalarExpr>(expr); scalar && scalar->is_cast)
      out_.word(to_string(scalar->type->dtype));
    // A schedule refers to the names of loops, which the text otherwise lacks.
    if (auto* tensor = as<ComprehensionExpr>(expr); tensor && tensor->schedule)
      for (const NamedLoop& loop : loops_of(*tensor)) out_.word(loop.name);
    visit(expr, [this](const auto& node) { for_each_field(*this, node); });
  }

  TextWriter out_;
  std::unordered_map<const Variable*, int64_t> variables_;
};

class DimReader {
 public:
  DimReader(std::string_view text, std::span<const Dim> variables) : rest_(text), variables_(variables) {}

  std::optional<Dim> run() {
    std::optional<Dim> result = dim(kMostNested);
    return rest_.empty() ? result : std::nullopt;
  }

 private:
  static constexpr int kMostNested = 2000;

  std::string_view word() {
    const size_t end = rest_.find(' ');
    if (end == std::string_view::npos) return {};
    const std::string_view found = rest_.substr(0, end);
    rest_.remove_prefix(end + 1);
    return found;
  }
  static std::optional<int64_t> number(std::string_view digits) {
    int64_t value = 0;
    const char* end = digits.data() + digits.size();
    const auto [stopped, error] = std::from_chars(digits.data(), end, value);
    return error == std::errc() && stopped == end ? std::optional(value) : std::nullopt;
  }

  std::optional<Dim> dim(int nested) {
    const std::string_view w = word();
    if (w.empty() || nested == 0) return std::nullopt;
    if (w == "?") return dim_any();
    if (w == "/" || w == "%") return quotient(w == "/", nested);
    const std::optional<int64_t> value = number(w.substr(1));
    if (!value) return std::nullopt;
    switch (w[0]) {
      case '#': return dim_const(*value);
      case '$': {
        const auto at = static_cast<uint64_t>(*value);
        return at < variables_.size() ? std::optional(variables_[at]) : std::nullopt;
      }
      case '*': return scaled(*value, nested);
      case '+': return folded(dim_add, *value, nested);
      case 'm': return folded(dim_min, *value, nested);
      case 'M': return folded(dim_max, *value, nested);
      case 'b': return folded(dim_broadcast, *value, nested);
      default: return std::nullopt;
    }
  }
  std::optional<Dim> quotient(bool is_division, int nested) {
    const auto dividend = dim(nested - 1), divisor = dim(nested - 1);
    if (!dividend || !divisor) return std::nullopt;
    return is_division ? dim_floordiv(*dividend, *divisor) : dim_floormod(*dividend, *divisor);
  }
  std::optional<Dim> scaled(int64_t coefficient, int nested) {
    const std::string_view w = word();
    const auto count = w.starts_with('x') ? number(w.substr(1)) : std::nullopt;
    const auto product = count ? folded(dim_mul, *count, nested) : std::nullopt;
    return product ? std::optional(dim_mul(dim_const(coefficient), *product)) : std::nullopt;
  }
  std::optional<Dim> folded(Dim (*combine)(Dim, Dim), int64_t count, int nested) {
    std::optional<Dim> all;
    for (int64_t k = 0; k < count; ++k) {
      const auto operand = dim(nested - 1);
      if (!operand) return std::nullopt;
      all = all ? combine(*all, *operand) : *operand;
    }
    return all;
  }

  std::string_view rest_;
  std::span<const Dim> variables_;
};

}  // namespace

CanonicalText canonical_text(const FnExpr& primitive) { return PrimitiveWriter().run(primitive); }

std::optional<std::string> dim_to_text(Dim dim, std::span<const Dim> variables) {
  TextWriter out(variables);
  out.dim(dim);
  if (out.variables.size() > variables.size()) return std::nullopt;
  return std::move(out.text);
}

std::optional<Dim> dim_from_text(std::string_view text, std::span<const Dim> variables) {
  return DimReader(text, variables).run();
}

}  // namespace quern
