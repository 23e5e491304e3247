// Productions of index expressions, of operators with clauses, and of functions that are differentiated.

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "tests/random/generator_impl.h"

namespace quern::random_programs {

namespace {

/// The value of `body` under variables with these values.
TermPtr under(const std::vector<std::pair<std::string, TermPtr>>& made, TermPtr body) {
  for (size_t i = made.size(); i-- > 0;) body = let_term(made[i].first, made[i].second, body);
  return body;
}

}  // namespace

/// Integers that are indices of small tensors; some of them now and then are not.
Operand Generator::index_operand(std::vector<std::pair<std::string, TermPtr>>& made) {
  const int64_t bound = random_.between(1, 4);
  const bool leaves = random_.chance(25);
  const std::string dtype = random_.chance(50) ? "int32" : "int64";
  TypePtr type = tensor({{random_.between(1, 4), ""}}, dtype);
  const auto next = [&] {
    return number_text(leaves ? random_.between(-2, bound + 2) : random_.between(0, bound - 1), 0, dtype);
  };
  std::string name = fresh("at");
  made.emplace_back(name, literal_term(type, next));
  return {name, type->dims, dtype, kParameter, bound, leaves};
}

Operand Generator::tensor_operand(const TypePtr& want, Exactness budget, int depth,
                                  std::vector<std::pair<std::string, TermPtr>>& made) {
  if (random_.chance(40)) {
    std::vector<const Local*> known;
    for (const Local& l : locals_)
      if (l.type->kind == TypeTerm::Kind::Tensor && !l.type->dims.empty()) known.push_back(&l);
    if (!known.empty()) {
      const Local& l = *random_.pick(known);
      return {l.name, l.type->dims, l.type->dtype, l.exactness};
    }
  }
  // Axes of the result in any order, and others.
  std::vector<Extent> dims = want->dims;
  for (size_t i = dims.size(); i > 1; --i) std::swap(dims[i - 1], dims[random_.below(i)]);
  if (random_.chance(40)) dims.pop_back();
  if (dims.empty() || (dims.size() < 3 && random_.chance(40))) dims.push_back({random_.between(1, 4), ""});
  const bool same = differentiates_ || random_.chance(70);
  const TypePtr type = tensor(dims, same ? want->dtype : random_dtype());
  const Exactness exactness = kParameter.within(budget) ? kParameter : budget;
  const std::string name = fresh("v");
  made.emplace_back(name, make(type, exactness, std::min(depth, 2)));
  return {name, dims, type->dtype, exactness};
}

TermPtr Generator::comprehension(const TypePtr& want, Exactness budget, int depth) {
  if (!is_spelled(want)) return nullptr;
  std::vector<std::pair<std::string, TermPtr>> made;
  std::vector<Operand> operands;
  for (int64_t i = random_.between(1, 3); i > 0; --i)
    operands.push_back(tensor_operand(want, budget, depth - 1, made));
  if (random_.chance(40)) operands.push_back(index_operand(made));
  const auto fresh_name = [this](const char* prefix) { return fresh(prefix); };
  const Numbers numbers = differentiates_ ? Numbers::Differentiated : Numbers::Exact;
  IndexTerms terms(random_, fresh_name, operands, numbers);
  TermPtr body = terms.comprehension(want, budget, 3);
  program_.may_fail |= terms.may_fail();
  return under(made, body);
}

// --- operators ---------------------------------------------------------------------------------------------

namespace {

enum class Clause { Shape, When, Strided, Windows, Broadcast };

/// What an operator is goes by how its name begins.
constexpr std::pair<Clause, const char*> kClauses[] = {{Clause::Shape, "shaped"},
                                                       {Clause::When, "cased"},
                                                       {Clause::Strided, "strided"},
                                                       {Clause::Windows, "windows"},
                                                       {Clause::Broadcast, "broadcasting"}};

Clause clause_of(const std::string& name) {
  return std::ranges::find_if(kClauses, [&](auto& row) { return name.starts_with(row.second); })->first;
}

/// The one number in the name of an operator, after its kind.
int64_t number_of(const std::string& name) { return name.at(name.find('_') + 1) - '0'; }

std::string op_text(const std::string& name, Clause clause, int64_t number) {
  switch (clause) {
    case Clause::Shape:
      return fmt::format(
          "op {}(%a: Tensor[(n,), t]) -> Tensor[(?,), t] shape () {{ {} }} {{ [i] => %a[i] else 1 }}", name,
          number);
    case Clause::When:
      return fmt::format(
          "op {}(%a: Tensor[(n,), t], %b: Tensor[(m,), t], mode: int = 0) -> Tensor[(n,), t] where n == m : "
          "\"wants equal extents\" when mode == 0 {{ [i] => %a[i] - %b[i] }} when mode == 1 {{ [i] => "
          "max(%a[i], "
          "%b[n - 1 - i]) }} when mode == 2 {{ [i] => {{ let %t = %a[i]; select(i % {} == 0, %t, %b[i]) }} "
          "}}",
          name, number);
    case Clause::Strided:
      return fmt::format("op {}(%a: Tensor[(n,), t]) -> Tensor[((n + {}) / {},), t] {{ [i] => %a[i * {}] }}",
                         name, number - 1, number, number);
    case Clause::Windows:
      return fmt::format(
          "op {}(%a: Tensor[(n,), t]) -> Tensor[(n - {} + 1, {}), t] {{ [i, j] => %a[i + j] }}", name, number,
          number);
    case Clause::Broadcast:
      return fmt::format(
          "op {}(%a: Tensor[s, t], %b: Tensor[r, t]) -> Tensor[broadcast(s, r), t] {{ [..i] => %a[~i] - {} * "
          "%b[~i] "
          "}}",
          name, number);
  }
  return "";
}

}  // namespace

void Generator::make_op() {
  const auto& [clause, prefix] = kClauses[random_.below(std::size(kClauses))];
  const int64_t number = random_.between(1, 3);
  const std::string name = fmt::format("{}_{}_{}", prefix, number, counter_++);
  program_.ops.push_back({name, op_text(name, clause, number)});
}

TermPtr Generator::op_call(const TypePtr& want, Exactness budget, int depth) {
  if (program_.ops.empty() || !is_number(want) || want->kind != TypeTerm::Kind::Tensor || !is_spelled(want))
    return nullptr;
  const std::string& name = random_.pick(program_.ops).name;
  const int64_t number = number_of(name);
  const Exactness part{budget.magnitude / static_cast<double>(number + 1), budget.fraction};
  const auto of_extent = [&](const Extent& extent) {
    return make(tensor({extent}, want->dtype), part, depth);
  };
  const Extent first = want->dims[0];
  const bool is_line = want->dims.size() == 1, is_constant = first.variable.empty();
  switch (clause_of(name)) {
    case Clause::Shape: {
      if (!is_line || first != Extent{number, ""}) return nullptr;
      // The extent is known again by an annotation.
      const std::string v = fresh("v");
      return plain(want, {"{ let %" + v + ": " + to_string(*want) + " = " + name + "(", "); %" + v + " }"},
                   {of_extent(random_extent())}, {name}, {v});
    }
    case Clause::When:
      if (!is_line) return nullptr;
      return plain(want, {name + "(", ", ", fmt::format(", mode={})", random_.between(0, 2))},
                   {of_extent(first), of_extent(first)}, {name});
    case Clause::Strided:
      if (!is_line || !is_constant || first.constant == 0) return nullptr;
      return plain(want, {name + "(", ")"},
                   {of_extent({first.constant * number - random_.between(0, number - 1), ""})}, {name});
    case Clause::Windows:
      if (want->dims.size() != 2 || !is_constant || want->dims[1] != Extent{number, ""}) return nullptr;
      return plain(want, {name + "(", ")"}, {of_extent({first.constant + number - 1, ""})}, {name});
    case Clause::Broadcast:
      return plain(want, {name + "(", ", ", ")"},
                   {make(want, part, depth), make(broadcastable(want), part, depth)}, {name});
  }
  return nullptr;
}

/// Of numbers that nothing is computed with any further.
constexpr Exactness kUnbounded{1e30, 100};

// --- derivatives -------------------------------------------------------------------------------------------

TypePtr Generator::random_parameter() {
  std::vector<Extent> dims;
  for (int64_t i = random_.between(1, 2); i > 0; --i) dims.push_back({random_.between(1, 4), ""});
  return tensor(dims, "float64");
}

/// A function of float64 tensors with a number as its result, and what its derivatives are at a point.
void Generator::make_derivative() {
  DefTerm def;
  def.name = fresh("loss");
  def.result = tensor({}, "float64");
  for (int64_t i = random_.between(1, 2); i > 0; --i) def.params.emplace_back(fresh("p"), random_parameter());
  std::vector<Local> outer = std::exchange(locals_, {});
  for (auto& [name, type] : def.params) locals_.push_back({name, type, kParameter});
  differentiates_ = true;
  def.body = plain(def.result, {"sum(", ")"}, {make(random_parameter(), kApplied, 4)});
  differentiates_ = false;
  locals_ = std::move(outer);
  program_.defs.push_back(def);

  std::vector<TypePtr> params;
  std::vector<TermPtr> arguments;
  for (auto& [name, type] : def.params) {
    params.push_back(type);
    arguments.push_back(make(type, kParameter, 1));
  }
  static const std::vector<std::string> kWays{"grad", "value_and_grad", "vjp", "jvp"};
  const std::string& way = random_.pick(kWays);
  TypePtr type = tuple(params);
  if (way == "jvp") {
    for (const TypePtr& param : params) arguments.push_back(make(param, kParameter, 1));
    type = def.result;
  }
  if (way == "vjp") arguments.push_back(literal_term(def.result, [] { return std::string("0.5f64"); }));
  if (way != "grad") type = tuple({def.result, type});
  const std::string name = fresh("s");
  program_.statements.push_back({name, call_term(type, way + "(@" + def.name + ")", arguments, {def.name})});
  locals_.push_back({name, type, kUnbounded});
}

}  // namespace quern::random_programs
