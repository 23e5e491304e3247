// The text forms of kernels: one writer, with names for people or with numbers for the code cache.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <set>
#include <unordered_map>

#include "jit/loops/loops.h"

namespace quern::loops {

namespace {

constexpr std::array<std::string_view, 7> kGridIndices{
    "", "blockIdx.x", "blockIdx.y", "blockIdx.z", "threadIdx.x", "threadIdx.y", "threadIdx.z"};

enum class Naming : uint8_t { People, Canonical };

std::string join(const std::vector<std::string>& parts, std::string_view separator) {
  return fmt::format("{}", fmt::join(parts, separator));
}

/// Texts of dims. Operands that commute are sorted by their text, since the order in which the dims were
/// made, which sorts them otherwise, differs from one process to the next.
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

  /// In parentheses where an operator stands at the top.
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

  /// Terms with a minus sign come last, and the constant after them.
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
    switch (v.kind) {
      case ValueKind::Const: return constant(v.constant);
      case ValueKind::Index: return checked(index(v.dim), v);
      case ValueKind::Load: return load(v);
      case ValueKind::Apply: return checked(apply(v), v);
      case ValueKind::Cast: return fmt::format("{}({})", to_string(v.dtype), value(*v.args[0]));
      case ValueKind::Select: return "select" + call_arguments(v);
      case ValueKind::Local: return checked(place(v.local, v.indices), v);
      case ValueKind::Dot: return dot(v);
    }
    return "";
  }

  /// `x86.dot4_512(a[i :4], b[j :4])`
  std::string dot(const Value& v) {
    std::vector<std::string> texts;
    texts.reserve(v.args.size());
    for (const ValuePtr& arg : v.args) texts.push_back(load(*arg, fmt::format(" :{}", v.dot->group)));
    if (v.dot->is_of_matrices())
      texts = {load(*v.args[0], fmt::format(" :{}", dims_.text(v.indices[0]))),
               load(*v.args[1], fmt::format(" :{} by {}", v.dot->group, dims_.text(v.indices[1])))};
    return fmt::format("{}({})", canonical() ? v.dot->llvm : v.dot->name, join(texts, ", "));
  }

  /// `acc0`, and of a tile `acc0[i, j]`.
  std::string place(int local, const std::vector<Dim>& indices) {
    if (indices.empty()) return local_name(local);
    return fmt::format("{}[{}]", local_name(local), dim_list(indices));
  }

  /// The bits tell zeros and NaNs apart.
  std::string constant(const Scalar& scalar) const {
    return canonical() ? fmt::format("{:#x}:{}", scalar.bits, to_string(scalar.dtype)) : to_string(scalar);
  }

  std::string index(Dim dim) const {
    const bool plain = dim->kind == DimKind::Var || dim->kind == DimKind::Const;
    return plain && !canonical() ? dims_.text(dim) : "(" + dims_.text(dim) + ")";
  }

  std::string call_arguments(const Value& v) {
    std::vector<std::string> texts;
    for (const ValuePtr& arg : v.args) texts.push_back(value(*arg));
    return "(" + join(texts, ", ") + ")";
  }

  static bool is_infix(const Value& v) {
    if (v.kind != ValueKind::Apply || v.args.size() != 2) return false;
    const std::string_view name = info(v.op).name;
    return v.op == ScalarOp::And || v.op == ScalarOp::Or || name.find_first_of("+-*/%<>=!") == 0;
  }

  std::string operand(const Value& v) { return is_infix(v) ? "(" + value(v) + ")" : value(v); }

  std::string apply(const Value& v) {
    const std::string_view name = info(v.op).name;
    if (is_infix(v)) return fmt::format("{} {} {}", operand(*v.args[0]), name, operand(*v.args[1]));
    return std::string(name) + call_arguments(v);
  }

  std::string check(const BoundsCheck& check) {
    const std::string index = check.computed ? operand(*check.computed) : dims_.text(check.index);
    return fmt::format("0 <= {} < {}", index, dims_.text(check.extent));
  }

  std::string load(const Value& v, std::string_view group = "") {
    std::string text = fmt::format("{}[{}", buffer_name(v.buffer), dims_.text(v.dim));
    for (const ComputedOffset& part : v.computed) {
      text += fmt::format(" + {}*({})", operand(*part.index), dims_.text(part.stride));
    }
    return checked(text + fmt::format("{}]", group), v);
  }

  /// `(x[i] if 0 <= i < n else trap 1 where 0 <= j < m)`: behind `where` stand the guards.
  std::string checked(const std::string& text, const Value& v) {
    if (v.checks.empty()) return text;
    std::vector<BoundsCheck> tests, guards;
    for (const BoundsCheck& c : v.checks) (c.is_guard && v.trap > 0 ? guards : tests).push_back(c);
    std::string otherwise = v.otherwise ? value(*v.otherwise) : fmt::format("trap {}", v.trap);
    if (v.unseen) otherwise = "unseen";
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
    switch (s.kind) {
      case StmtKind::For: return loop(s);
      case StmtKind::If:
        line(fmt::format("if {} {{", conditions(s.checks)));
        block(s.body);
        return line("}");
      case StmtKind::Declare:
        return line(
            fmt::format("{}: {}{} = {}", local_name(s.local), to_string(s.dtype), tile(s), value(*s.value)));
      case StmtKind::Assign: return line(fmt::format("{} = {}", place(s.local, s.indices), value(*s.value)));
      case StmtKind::Settle: return line("settle " + local_name(s.local));
      case StmtKind::Turn:
        return line(fmt::format("turn {}{}{}", local_name(s.local),
                                s.width > 1 ? fmt::format(" by {}", s.width) : "",
                                s.extent ? fmt::format(" of {}", dims_.text(s.extent)) : ""));
      case StmtKind::Reduce: return reduce(s);
      case StmtKind::Store:
        return line(fmt::format("{}[{}] = {}", buffer_name(s.buffer), dims_.text(s.offset), value(*s.value)));
      case StmtKind::Update: return update(s);
    }
  }

  void update(const Stmt& s) {
    std::string place = dims_.text(s.offset);
    for (const ComputedOffset& part : s.computed)
      place += fmt::format(" + {}*({})", operand(*part.index), dims_.text(part.stride));
    const std::string checked =
        s.checks.empty() ? "" : fmt::format(" if {} else trap {}", conditions(s.checks), s.trap);
    line(fmt::format("{}[{}] {}= {}{}", buffer_name(s.buffer), place, s.op ? info(*s.op).name : "",
                     value(*s.value), checked));
  }

  void loop(const Stmt& s) {
    const std::string extent = dims_.text(s.extent);
    add_name(s.var, "i");
    line(fmt::format("for {} in 0..{}{} {{", dims_.text(s.var), extent, kind(s)));
    block(s.body);
    line("}");
  }

  std::string kind(const Stmt& s) const {
    switch (s.loop) {
      case LoopKind::Serial:
        if (s.bound != GridIndex::None) return fmt::format(" bind {}", to_string(s.bound));
        return s.before ? fmt::format(" in range from {}", dims_.text(s.before)) : "";
      case LoopKind::Vectorize:
        return fmt::format(" vectorize {}{}{}", s.width, s.unrolled ? " unroll" : "",
                           s.most > 0 ? fmt::format(" at most {}", s.most) : "");
      case LoopKind::Unroll:
        return (is_const(s.extent, s.width) ? " unroll" : fmt::format(" unroll {}", s.width)) +
               std::string(s.apart ? " apart" : "");
    }
    return "";
  }

  std::string tile(const Stmt& s) {
    if (s.shape.empty()) return "";
    const std::string by = s.width > 1 ? fmt::format(" by {}", s.width) : "";
    const std::string in = s.matrices ? fmt::format(" in matrices of {} terms", dims_.text(s.extent)) : "";
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

  void reduce(const Stmt& s) {
    if (!is_arg(s.reduce)) {
      const std::string where = s.checks.empty() ? "" : " if " + conditions(s.checks);
      return line(
          fmt::format("{} {} {}{}", place(s.local, s.indices), assignment(s.reduce), value(*s.value), where));
    }
    const std::string best = local_name(s.local);
    line(fmt::format("{}, {} {} {}, {}", best, local_name(s.index_local), assignment(s.reduce),
                     value(*s.value), value(*s.index_value)));
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
