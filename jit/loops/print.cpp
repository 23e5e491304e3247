// The text forms of kernels: one writer, with names for display or with numbers for the code cache.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "jit/loops/kernel.h"

namespace quern::loops {

namespace {

constexpr std::array<std::string_view, 7> kGridIndices{
    "", "blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z"};

enum class Naming : uint8_t { People, Canonical };

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

/// Texts of dims. Commutative operands are sorted by text, since their usual creation order differs between
/// processes.
class DimWriter {
 public:
  std::unordered_map<Dim, std::string> names;

  std::string text(Dim dim) const {
    switch (dim->kind) {
      case DimKind::Const: return std::to_string(dim->value);
      case DimKind::Var: return name(dim);
      case DimKind::Any: return "?";
      case DimKind::Infer: return fmt::format("?{}", dim->value);
      case DimKind::Sum: return sum(dim);
      case DimKind::Product: return product(dim);
      case DimKind::FloorDiv: return atom(dim->args[0]) + " / " + atom(dim->args[1]);
      case DimKind::FloorMod: return atom(dim->args[0]) + " % " + atom(dim->args[1]);
      case DimKind::Min: return "min" + arguments(dim);
      case DimKind::Max: return "max" + arguments(dim);
      case DimKind::Broadcast:
        return fmt::format("broadcast({}, {})", text(dim->args[0]), text(dim->args[1]));
    }
    return "";
  }

 private:
  std::string name(Dim var) const {
    const auto found = names.find(var);
    return found != names.end() ? found->second : std::string(var->name);
  }

  std::vector<std::string> sorted(std::span<const Dim> dims, bool atoms) const {
    std::vector<std::string> texts;
    for (const Dim dim : dims) texts.push_back(atoms ? atom(dim) : text(dim));
    std::sort(texts.begin(), texts.end());
    return texts;
  }

  std::string arguments(Dim dim) const { return "(" + join(sorted(dim->args, false), ", ") + ")"; }

  /// In parentheses if it is an operator expression.
  std::string atom(Dim dim) const {
    const bool infix = dim->kind == DimKind::Sum || dim->kind == DimKind::Product ||
                       dim->kind == DimKind::FloorDiv || dim->kind == DimKind::FloorMod;
    return infix || (dim->kind == DimKind::Const && dim->value < 0) ? "(" + text(dim) + ")" : text(dim);
  }

  std::string product(Dim dim) const {
    std::string factors = join(sorted(dim->args, true), "*");
    if (dim->value == 1) return factors;
    if (dim->value == -1) return "-" + factors;
    return fmt::format("{}*{}", dim->value, factors);
  }

  /// Negative terms come last, followed by the constant.
  std::string sum(Dim dim) const {
    const bool has_constant = dim->args.back()->kind == DimKind::Const;
    std::vector<std::string> terms =
        sorted(dim->args.first(dim->args.size() - (has_constant ? 1 : 0)), false);
    std::stable_partition(terms.begin(), terms.end(), [](const std::string& term) { return term[0] != '-'; });
    if (has_constant) terms.push_back(text(dim->args.back()));
    std::string out = terms.front();
    for (size_t i = 1; i < terms.size(); ++i) {
      const bool minus = terms[i][0] == '-';
      out += (minus ? " - " : " + ") + terms[i].substr(minus ? 1 : 0);
    }
    return out;
  }
};

class Writer {
 public:
  Writer(const Kernel& kernel, Naming naming) : kernel_(kernel), naming_(naming) {}

  std::string write() {
    for (const Dim dim : kernel_.dims) add_name(dim, "d");
    const std::string range = kernel_.range ? fmt::format(" range({})", dims_.text(kernel_.range)) : "";
    out_ = fmt::format("kernel({}) dims({}){} {{\n", buffers(), dim_list(kernel_.dims), range);
    block(kernel_.body);
    out_ += "}\n";
    for (size_t i = 0; i < kernel_.traps.size(); ++i) {
      out_ += fmt::format("// trap {}: {}\n", i + 1, kernel_.traps[i]);
    }
    return std::move(out_);
  }

 private:
  bool canonical() const { return naming_ == Naming::Canonical; }

  // --- names ---
  void add_name(Dim var, std::string_view prefix) {
    std::string name = canonical() ? fmt::format("{}{}", prefix, named_++) : std::string(var->name);
    for (int copy = 2; !taken_.insert(name).second; ++copy) name = fmt::format("{}_{}", var->name, copy);
    dims_.names.insert_or_assign(var, std::move(name));
  }

  std::string buffer_name(int buffer) const {
    return canonical() ? fmt::format("b{}", buffer) : kernel_.buffers.at(static_cast<size_t>(buffer)).name;
  }

  std::string local_name(int local) {
    if (!canonical()) return fmt::format("acc{}", local);
    return fmt::format("acc{}", locals_.try_emplace(local, locals_.size()).first->second);
  }

  std::string dim_list(std::span<const Dim> list) const {
    std::vector<std::string> texts;
    for (const Dim dim : list) texts.push_back(dims_.text(dim));
    return join(texts, ", ");
  }

  std::string buffers() const {
    std::vector<std::string> texts;
    for (size_t i = 0; i < kernel_.buffers.size(); ++i) {
      const Buffer& buffer = kernel_.buffers[i];
      texts.push_back(fmt::format("{}: {}{}[{}]", buffer_name(static_cast<int>(i)),
                                  buffer.is_scratch                 ? "scratch "
                                  : canonical() && buffer.is_output ? "out "
                                                                    : "",
                                  to_string(buffer.dtype), dim_list(buffer.shape)));
    }
    return join(texts, ", ");
  }

  // --- values ---
  std::string value(const Value& v) {
    return visit(v, [this](const auto& node) { return text(node); });
  }

  std::string text(const ConstValue& v) const { return constant(v.constant); }
  std::string text(const IndexValue& v) { return checked(index(v.dim), v); }
  std::string text(const LoadValue& v) { return load(v); }
  std::string text(const ApplyValue& v) { return checked(apply(v), v); }
  std::string text(const CastValue& v) { return fmt::format("{}({})", to_string(v.dtype), value(*v.value)); }
  std::string text(const SelectValue& v) {
    return "select" + arguments({v.condition, v.then_arm, v.else_arm});
  }
  std::string text(const LocalValue& v) { return checked(place(v.local, v.indices), v); }
  /// `x86.dot4_512(a[i :4], b[j :4])`, and of matrices `x86.matrix4_ss(a[i :64], b[j :4 by 128])`.
  std::string text(const DotValue& v) {
    const bool of_matrices = v.dot->is_of_matrices();
    const std::string apart = of_matrices ? fmt::format(" by {}", dims_.text(v.stride)) : "";
    const std::string a = load(*v.a, fmt::format(" :{}", of_matrices ? v.terms : v.dot->group));
    const std::string b = load(*v.b, fmt::format(" :{}{}", v.dot->group, apart));
    return fmt::format("{}({}, {})", canonical() ? v.dot->llvm : v.dot->name, a, b);
  }

  /// `acc0`, and of a tile `acc0[i, j]`.
  std::string place(int local, const std::vector<Dim>& indices) {
    if (indices.empty()) return local_name(local);
    return fmt::format("{}[{}]", local_name(local), dim_list(indices));
  }

  /// Bits distinguish zeros and NaNs.
  std::string constant(const Scalar& scalar) const {
    return canonical() ? fmt::format("{:#x}:{}", scalar.bits, to_string(scalar.dtype)) : to_string(scalar);
  }

  std::string index(Dim dim) const {
    const bool plain = dim->kind == DimKind::Var || dim->kind == DimKind::Const;
    return plain && !canonical() ? dims_.text(dim) : "(" + dims_.text(dim) + ")";
  }

  static bool is_infix(const Value& v) {
    auto* apply = as<ApplyValue>(v);
    if (!apply || apply->args.size() != 2) return false;
    const std::string_view name = info(apply->op).name;
    return apply->op == ScalarOp::And || apply->op == ScalarOp::Or || name.find_first_of("+-*/%<>=!") == 0;
  }

  std::string operand(const Value& v) { return is_infix(v) ? "(" + value(v) + ")" : value(v); }

  std::string apply(const ApplyValue& v) {
    const std::string_view name = info(v.op).name;
    if (is_infix(v)) return fmt::format("{} {} {}", operand(*v.args[0]), name, operand(*v.args[1]));
    return std::string(name) + arguments(v.args);
  }

  std::string arguments(const std::vector<ValuePtr>& args) {
    std::vector<std::string> texts;
    texts.reserve(args.size());
    for (const ValuePtr& arg : args) texts.push_back(value(*arg));
    return "(" + join(texts, ", ") + ")";
  }

  std::string check(const BoundsCheck& check) {
    const std::string index = check.computed ? operand(*check.computed) : dims_.text(check.index);
    return fmt::format("0 <= {} < {}", index, dims_.text(check.extent));
  }

  std::string load(const LoadValue& v, std::string_view group = "") {
    const std::string place =
        fmt::format("{}[{}{}]", buffer_name(v.buffer), offset(v.offset, v.computed), group);
    if (v.unseen) return checked(place, v, "unseen");
    return v.otherwise && !v.checks.empty() ? checked(place, v, value(*v.otherwise)) : checked(place, v);
  }

  std::string offset(Dim known, const std::vector<ComputedOffset>& computed) {
    std::string text = dims_.text(known);
    for (const ComputedOffset& part : computed)
      text += fmt::format(" + {}*({})", operand(*part.index), dims_.text(part.stride));
    return text;
  }

  std::string checked(const std::string& text, const CheckedValue& v) {
    return checked(text, v, fmt::format("trap {}", v.trap));
  }

  /// `(x[i] if 0 <= i < n else trap 1 where 0 <= j < m)`: the guards follow `where`.
  std::string checked(const std::string& text, const CheckedValue& v, std::string otherwise) {
    if (v.checks.empty()) return text;
    std::vector<BoundsCheck> tests, guards;
    for (const BoundsCheck& c : v.checks) (c.is_guard && v.trap > 0 ? guards : tests).push_back(c);
    if (!guards.empty()) otherwise += " where " + conditions(guards);
    return fmt::format("({} if {} else {})", text, conditions(tests), otherwise);
  }

  std::string conditions(const std::vector<BoundsCheck>& checks) {
    std::vector<std::string> texts;
    texts.reserve(checks.size());
    for (const BoundsCheck& c : checks) texts.push_back(check(c));
    return join(texts, ", ");
  }

  // --- statements ---
  void line(std::string_view text) { out_ += fmt::format("{:{}}{}\n", "", indent_, text); }

  void block(const Block& statements) {
    indent_ += 2;
    for (const StmtPtr& stmt : statements) statement(*stmt);
    indent_ -= 2;
  }

  void statement(const Stmt& s) {
    visit(s, [this](const auto& node) { write(node); });
  }

  void write(const For& s) {
    const std::string extent = dims_.text(s.extent);
    add_name(s.var, "i");
    const std::string how = std::visit([&](const auto& e) { return execution(e, s.extent); }, s.execution);
    line(fmt::format("for {} in 0..{}{} {{", dims_.text(s.var), extent, how));
    block(s.body);
    line("}");
  }
  void write(const If& s) {
    line(fmt::format("if {} {{", conditions(s.checks)));
    block(s.body);
    line("}");
  }
  void write(const IfApart& s) {
    line(fmt::format("if {} is not {} {{", buffer_name(s.from), buffer_name(s.to)));
    block(s.body);
    line("}");
  }
  void write(const Declare& s) {
    line(fmt::format("{}: {}{} = {}", local_name(s.local), to_string(s.dtype), tile(s), value(*s.value)));
  }
  void write(const Assign& s) { line(fmt::format("{} = {}", place(s.local, s.indices), value(*s.value))); }
  void write(const Settle& s) { line("settle " + local_name(s.local)); }
  void write(const Transpose& s) {
    line(fmt::format("turn {}{}{}", local_name(s.local), s.width > 1 ? fmt::format(" by {}", s.width) : "",
                     s.rows ? fmt::format(" of {}", *s.rows) : ""));
  }
  void write(const Reduce& s) {
    if (!is_arg(s.reduce)) {
      const std::string where = s.checks.empty() ? "" : " if " + conditions(s.checks);
      return line(
          fmt::format("{} {} {}{}", place(s.local, s.indices), assignment(s.reduce), value(*s.value), where));
    }
    const std::string best = local_name(s.local);
    line(fmt::format("{}, {} {} {}, {}", best, local_name(s.index_local), assignment(s.reduce),
                     value(*s.value), value(*s.index_value)));
  }
  void write(const Store& s) {
    line(fmt::format("{}[{}] = {}", buffer_name(s.buffer), dims_.text(s.offset), value(*s.value)));
  }
  void write(const Prefetch& s) {
    line(fmt::format("prefetch {}[{}]", buffer_name(s.buffer), dims_.text(s.offset)));
  }
  void write(const Update& s) {
    const std::string place = offset(s.offset, s.computed);
    const std::string checked =
        s.checks.empty() ? "" : fmt::format(" if {} else trap {}", conditions(s.checks), s.trap);
    line(fmt::format("{}[{}] {}= {}{}", buffer_name(s.buffer), place, s.op ? info(*s.op).name : "",
                     value(*s.value), checked));
  }

  std::string execution(const Serial& how, Dim) const {
    if (how.bound != GridIndex::None) return fmt::format(" bind {}", to_string(how.bound));
    return how.before ? fmt::format(" in range from {}", dims_.text(how.before)) : "";
  }
  std::string execution(const Vectorized& how, Dim) const {
    return fmt::format(" vectorize {}{}{}", how.width, how.unrolled ? " unroll" : "",
                       how.most > 0 ? fmt::format(" at most {}", how.most) : "");
  }
  std::string execution(const Unrolled& how, Dim extent) const {
    return (is_const(extent, how.width) ? " unroll" : fmt::format(" unroll {}", how.width)) +
           std::string(how.fenced ? " fenced" : "");
  }

  std::string tile(const Declare& s) const {
    if (s.shape.empty()) return "";
    const std::string by = s.width > 1 ? fmt::format(" by {}", s.width) : "";
    const std::string in = s.matrices ? fmt::format(" in matrices of {} terms", s.terms) : "";
    return fmt::format("[{}{}]{}", fmt::join(s.shape, ", "), by, in);
  }

  static std::string_view assignment(ReduceKind kind) {
    switch (kind) {
      case ReduceKind::Sum: return "+=";
      case ReduceKind::Prod: return "*=";
      case ReduceKind::Max: return "max=";
      case ReduceKind::Min: return "min=";
      case ReduceKind::ArgMax: return "argmax=";
      case ReduceKind::ArgMin: return "argmin=";
      case ReduceKind::Any: return "or=";
      case ReduceKind::All: return "and=";
    }
    return "";
  }

  const Kernel& kernel_;
  Naming naming_;
  DimWriter dims_;
  std::set<std::string> taken_;
  size_t named_ = 0;
  std::unordered_map<int, size_t> locals_;
  std::string out_;
  size_t indent_ = 0;
};

}  // namespace

std::string_view to_string(GridIndex index) { return kGridIndices.at(static_cast<size_t>(index)); }

std::optional<GridIndex> find_grid_index(std::string_view text) {
  const auto found = std::find(kGridIndices.begin() + 1, kGridIndices.end(), text);
  if (found == kGridIndices.end()) return std::nullopt;
  return static_cast<GridIndex>(found - kGridIndices.begin());
}

std::string canonical_text(const Kernel& kernel) { return Writer(kernel, Naming::Canonical).write(); }

std::string print_kernel(const Kernel& kernel) { return Writer(kernel, Naming::People).write(); }

}  // namespace quern::loops
