#include "tests/random/index_terms.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

namespace quern::random_programs {

namespace {

/// What a dim that is a variable may be at most where these programs bind it.
constexpr int64_t kMostVariable = 16;

TypePtr of_kind(TypeTerm::Kind kind, const std::string& dtype) {
  TypeTerm type;
  type.kind = kind;
  type.dtype = dtype;
  return std::make_shared<const TypeTerm>(std::move(type));
}

TermPtr index_term(std::vector<std::string> parts, std::vector<TermPtr> children = {},
                   std::vector<std::string> uses = {}) {
  return plain(index_type(), std::move(parts), std::move(children), std::move(uses));
}

Exactness divided(Exactness budget, double by) { return {budget.magnitude / by, budget.fraction}; }
Exactness root(Exactness budget) { return {std::floor(std::sqrt(budget.magnitude)), budget.fraction / 2}; }

std::vector<std::string> used(const Extent& extent) {
  return extent.variable.empty() ? std::vector<std::string>() : std::vector<std::string>{extent.variable};
}

}  // namespace

TypePtr element_type(const std::string& dtype) { return of_kind(TypeTerm::Kind::Element, dtype); }
TypePtr index_type() {
  static const TypePtr type = of_kind(TypeTerm::Kind::Index, "index");
  return type;
}

/// Among the names are those that lowering makes, and words of schedules.
IndexTerms::Index IndexTerms::fresh_index(const Extent& extent) {
  static const std::vector<std::string> kMade{"i0",     "i1", "jo",    "ji",   "k",    "split", "fuse",
                                              "unroll", "r",  "outer", "pack", "tile", "out",   "x0"};
  std::string name = random_.chance(40) ? random_.pick(kMade) : fresh_("i");
  while (!names_.insert(name).second) name = fresh_("i");
  return {name, extent, extent.variable.empty() ? extent.constant : kMostVariable, extent.variable.empty()};
}

// --- indices -----------------------------------------------------------------------------------------------

IndexTerms::Position IndexTerms::index(int depth) {
  if (depth <= 0 || random_.chance(30)) {
    if (!indices_.empty() && random_.chance(80)) {
      const Index& i = random_.pick(indices_);
      return {index_term({i.name}, {}, {i.name}), 0, std::max<int64_t>(i.most - 1, 0), i.is_bounded};
    }
    const int64_t number = random_.between(0, 4);
    return {index_term({std::to_string(number)}), number, number};
  }
  Position a = index(depth - 1);
  const int64_t by = random_.between(1, 4);
  const auto proved = [](const Position& x, const Position& y) { return x.is_proved && y.is_proved; };
  const bool divides = numbers_ != Numbers::Smooth && random_.chance(20);
  switch (random_.below(divides ? 8 : 7)) {
    case 0: {
      Position b = index(depth - 1);
      return {index_term({"(", " + ", ")"}, {a.term, b.term}), a.low + b.low, a.high + b.high, proved(a, b)};
    }
    case 1: {
      Position b = index(depth - 1);
      return {index_term({"(", " - ", ")"}, {a.term, b.term}), a.low - b.high, a.high - b.low, proved(a, b)};
    }
    case 2:
      return {index_term({"(", fmt::format(" * {})", by)}, {a.term}), a.low * by, a.high * by, a.is_proved};
    case 3:
      return {index_term({"(", fmt::format(" / {})", by)}, {a.term}), a.low < 0 ? a.low : a.low / by,
              a.high < 0 ? 0 : a.high / by, a.is_proved};
    case 4: return {index_term({"(", fmt::format(" % {})", by)}, {a.term}), 0, by - 1};
    case 5: {
      Position b = index(depth - 1);
      return {index_term({"max(", ", ", ")"}, {a.term, b.term}), std::max(a.low, b.low),
              std::max(a.high, b.high), proved(a, b)};
    }
    case 6: {
      Position b = index(depth - 1);
      return {index_term({"min(", ", ", ")"}, {a.term, b.term}), std::min(a.low, b.low),
              std::min(a.high, b.high), proved(a, b)};
    }
    default: {
      // By an index, which may be 0; what is 0 wherever it stands is a mistake of another kind.
      if (indices_.empty()) return a;
      may_fail_ = true;
      const std::string& divisor = random_.pick(indices_).name;
      const int64_t size = std::max(std::abs(a.low), std::abs(a.high)) + kMostVariable;
      return {index_term({"(", (random_.chance(50) ? " / " : " % ") + divisor + ")"}, {a.term}, {divisor}),
              -size, size, false};
    }
  }
}

TermPtr IndexTerms::gathered(const Extent& extent, int depth, bool leaves) {
  std::vector<const Operand*> found;
  for (const Operand& o : operands_)
    if (o.bound > 0 && (leaves || (!o.leaves && extent.variable.empty() && o.bound <= extent.constant)))
      found.push_back(&o);
  if (found.empty()) return nullptr;
  const Operand& of = *random_.pick(found);
  std::vector<TermPtr> at;
  for (const Extent& d : of.dims) at.push_back(inside(d, depth - 1));
  if (std::ranges::count(at, nullptr) > 0) return nullptr;
  TermPtr read = read_at(of, at);
  return index_term({"", ""}, {read});
}

TermPtr IndexTerms::inside(const Extent& extent, int depth) {
  std::vector<const Index*> fitting;
  for (const Index& i : indices_)
    if (i.extent == extent ||
        (extent.variable.empty() && i.extent.variable.empty() && i.most <= extent.constant))
      fitting.push_back(&i);
  if (!fitting.empty() && random_.chance(45)) {
    const Index& i = *random_.pick(fitting);
    if (i.extent == extent && random_.chance(25)) {
      std::vector<std::string> uses = used(extent);
      uses.push_back(i.name);
      return index_term({fmt::format("({} - 1 - {})", to_string(extent), i.name)}, {}, uses);
    }
    return index_term({i.name}, {}, {i.name});
  }
  if (!extent.variable.empty()) {
    if (fitting.empty()) return nullptr;
    const Index& i = *random_.pick(fitting);
    return index_term({i.name}, {}, {i.name});
  }
  const int64_t last = extent.constant - 1;
  if (last < 0) return nullptr;
  if (random_.chance(20)) {
    const bool leaves = numbers_ != Numbers::Smooth && random_.chance(5);
    if (TermPtr found = gathered(extent, depth, leaves)) {
      may_fail_ |= leaves;
      return found;
    }
  }
  Position i = index(std::min(depth, 2));
  if (i.is_proved && i.low >= 0 && i.high <= last) return i.term;
  if (random_.chance(15)) return index_term({std::to_string(random_.between(0, last))});
  if (random_.chance(50)) return index_term({"(", fmt::format(" % {})", extent.constant)}, {i.term});
  return index_term({"min(max(", fmt::format(", 0), {})", last)}, {i.term});
}

// --- reads -------------------------------------------------------------------------------------------------

const Operand* IndexTerms::operand(const std::string& dtype, Exactness budget) {
  std::vector<const Operand*> found;
  for (const Operand& o : operands_)
    if (o.dtype == dtype && o.bound == 0 && (numbers_ == Numbers::Smooth || o.exactness.within(budget)))
      found.push_back(&o);
  return found.empty() ? nullptr : random_.pick(found);
}

TermPtr IndexTerms::read_at(const Operand& of, std::vector<TermPtr> at, const std::string& otherwise) {
  std::vector<std::string> parts{(otherwise.empty() ? "%" : "(%") + of.name + "["};
  for (size_t i = 1; i < of.dims.size(); ++i) parts.emplace_back(", ");
  parts.emplace_back("]");
  if (!otherwise.empty()) {
    parts.back() += " " + otherwise + " ";
    parts.emplace_back(")");
  }
  return plain(element_type(of.dtype), parts, std::move(at), {of.name});
}

TermPtr IndexTerms::read(const std::string& dtype, Exactness budget, int depth) {
  const Operand* of = operand(dtype, budget);
  if (!of) return nullptr;
  std::vector<TermPtr> at;
  for (const Extent& d : of->dims) at.push_back(inside(d, depth));
  return std::ranges::count(at, nullptr) > 0 ? nullptr : read_at(*of, at);
}

TermPtr IndexTerms::read_or_else(const std::string& dtype, Exactness budget, int depth) {
  const Operand* of = operand(dtype, budget);
  if (!of) return nullptr;
  std::vector<TermPtr> at;
  for (size_t i = 0; i < of->dims.size(); ++i) {
    TermPtr gather = random_.chance(15) ? gathered(of->dims[i], depth, true) : nullptr;
    at.push_back(gather ? gather : index(2).term);
  }
  at.push_back(element(dtype, budget, depth));
  return read_at(*of, at, "else");
}

TermPtr IndexTerms::guarded_gather(const std::string& dtype, Exactness budget, int depth) {
  const Operand* of = operand(dtype, budget);
  if (!of || of->dims.size() != 1 || !of->dims[0].variable.empty()) return nullptr;
  TermPtr at = gathered(of->dims[0], depth, true);
  if (!at) return nullptr;
  const std::string guard = " >= 0 and ", below = fmt::format(" < {}", of->dims[0].constant);
  TermPtr taken = read_at(*of, {at}), other = element(dtype, budget, depth);
  const TermPtr number = at->children[0];
  if (random_.chance(50))
    return plain(element_type(dtype), {"(if (", guard, below + ") { ", " } else { ", " })"},
                 {number, number, taken, other});
  return plain(element_type(dtype), {"select(", guard, below + ", ", ", ", ")"},
               {number, number, taken, other});
}

TermPtr IndexTerms::first(const std::string& dtype, Exactness budget, int depth) {
  const Operand* of = operand(dtype, budget);
  if (!of || of->dims.size() != 1) return nullptr;
  const std::string k = fresh_("k");
  const TermPtr at =
      index_term({"(", fmt::format(" - {} * {})", random_.between(1, 3), k)}, {index(1).term}, {k});
  return plain(element_type(dtype),
               {"(first(", fmt::format(" for {} < {}) else (", k, random_.between(1, 3)), "))"},
               {read_at(*of, {at}), element(dtype, budget, depth)}, {}, {k});
}

// --- elements ----------------------------------------------------------------------------------------------

TermPtr IndexTerms::literal(const std::string& dtype, Exactness budget) {
  for (const Scalar& s : scalars_)
    if (s.dtype == dtype && random_.chance(50) && (numbers_ == Numbers::Smooth || s.exactness.within(budget)))
      return plain(element_type(dtype), {"%" + s.name}, {}, {s.name});
  const bool is_float = dtype.starts_with("float");
  const int fraction = is_float ? std::min(budget.fraction, 2) : 0;
  const auto most = static_cast<int64_t>(std::min(budget.magnitude, 4.0) * (1 << fraction));
  const std::string text = element_text(random_.between(-most, most), fraction, dtype);
  return plain(element_type(dtype), {text.starts_with("-") ? "(" + text + ")" : text});
}

TermPtr IndexTerms::converted_index(const std::string& dtype, Exactness budget, int depth) {
  const Position i = index(std::min(depth, 2));
  const auto size = static_cast<double>(std::max(std::abs(i.low), std::abs(i.high)));
  if (numbers_ == Numbers::Smooth)
    return plain(element_type(dtype), {fmt::format("({} * cast<{}>(", 0.25, dtype), "))"}, {i.term});
  if (size > budget.magnitude) return nullptr;
  return plain(element_type(dtype), {"cast<" + dtype + ">(", ")"}, {i.term});
}

TermPtr IndexTerms::arithmetic(const std::string& dtype, Exactness budget, int depth) {
  const TypePtr type = element_type(dtype);
  const Exactness half = divided(budget, 2);
  if (numbers_ != Numbers::Smooth && random_.chance(30)) {
    static const std::vector<std::string> kExtrema{"max(", "min("};
    return plain(type, {random_.pick(kExtrema), ", ", ")"},
                 {element(dtype, budget, depth), element(dtype, budget, depth)});
  }
  if (random_.chance(15)) return plain(type, {"(-", ")"}, {element(dtype, budget, depth)});
  return plain(type, {"(", random_.chance(50) ? " + " : " - ", ")"},
               {element(dtype, half, depth), element(dtype, half, depth)});
}

TermPtr IndexTerms::product(const std::string& dtype, Exactness budget, int depth) {
  return plain(element_type(dtype), {"(", " * ", ")"},
               {element(dtype, root(budget), depth), element(dtype, root(budget), depth)});
}

TermPtr IndexTerms::smooth_function(const std::string& dtype, Exactness budget, int depth) {
  static const std::vector<std::vector<std::string>> kFunctions{{"sin(", ")"},
                                                                {"cos(", ")"},
                                                                {"tanh(", ")"},
                                                                {"erf(", ")"},
                                                                {"sigmoid(", ")"},
                                                                {"exp(0.5 * sin(", "))"},
                                                                {"sqrt(2.0 + cos(", "))"},
                                                                {"(1.0 / (1.5 + sin(", ")))"}};
  return plain(element_type(dtype), random_.pick(kFunctions), {element(dtype, budget, depth)});
}

TermPtr IndexTerms::choice(const std::string& dtype, Exactness budget, int depth) {
  const std::vector<TermPtr> children{element("bool", budget, std::min(depth, 1)),
                                      element(dtype, budget, depth), element(dtype, budget, depth)};
  if (random_.chance(50)) return plain(element_type(dtype), {"(if (", ") { ", " } else { ", " })"}, children);
  return plain(element_type(dtype), {"select(", ", ", ", ", ")"}, children);
}

TermPtr IndexTerms::let(const std::string& dtype, Exactness budget, int depth) {
  const bool same = numbers_ == Numbers::Smooth || random_.chance(60);
  const std::string other = same ? dtype : random_.chance(50) ? "int32" : "float32";
  const Exactness exactness = random_.chance(50) ? Exactness{8, 2} : budget;
  const TermPtr value = element(other, exactness, depth);
  const std::string name = fresh_("t");
  scalars_.push_back({name, other, exactness});
  const TermPtr body = element(dtype, budget, depth);
  scalars_.pop_back();
  return plain(element_type(dtype), {"{ let %" + name + " = ", "; ", " }"}, {value, body}, {}, {name});
}

TermPtr IndexTerms::reduction(const std::string& dtype, Exactness budget, int depth) {
  const bool is_bool = dtype == "bool";
  const bool sums = !is_bool && (numbers_ == Numbers::Smooth || random_.chance(60));
  Index k = fresh_index({random_.between(sums ? 0 : 1, 3), ""});
  std::string extent = to_string(k.extent);
  std::vector<std::string> uses;
  if (!indices_.empty() && random_.chance(40)) {
    const Index& i = random_.pick(indices_);
    const bool is_constant = i.extent.variable.empty();
    k.most = std::max<int64_t>(i.most, 1);
    k.extent = {k.most, ""};
    if (is_constant || sums) {
      extent = is_constant && random_.chance(50) ? fmt::format("{} - {}", i.extent.constant, i.name)
                                                 : fmt::format("{} + 1", i.name);
      if (!is_constant) k.extent = {kMostVariable + 1, ""}, k.most = kMostVariable + 1, k.is_bounded = false;
      uses = {i.name};
    } else {
      extent = to_string(k.extent);
    }
  }
  if (sums) budget = divided(budget, static_cast<double>(std::max<int64_t>(k.most, 1)));
  static const std::vector<std::string> kExtrema{"max", "min"};
  std::string word = is_bool ? (random_.chance(50) ? "any" : "all") : sums ? "sum" : random_.pick(kExtrema);
  if (!is_bool && numbers_ != Numbers::Smooth && k.most <= 3 && budget.magnitude >= 8 && random_.chance(15)) {
    word = "prod";
    budget = {2, std::min(budget.fraction / 3, 1)};
  }
  indices_.push_back(k);
  const TermPtr body = element(dtype, budget, depth);
  indices_.pop_back();
  return plain(element_type(dtype), {fmt::format("({}[{} < {}] (", word, k.name, extent), "))"}, {body}, uses,
               {k.name});
}

TermPtr IndexTerms::scan(const std::string& dtype, Exactness budget, int depth) {
  if (result_.empty() || dtype == "bool") return nullptr;
  // Nothing inside may depend on the index that the scan goes up to.
  const size_t at = random_.below(result_.size());
  const Index limit = result_[at];
  const bool inclusive = random_.chance(50);
  const bool sums = numbers_ == Numbers::Smooth || !inclusive || random_.chance(60);
  const std::string op = sums ? "+" : random_.chance(50) ? "max" : "min";
  if (sums) budget = divided(budget, static_cast<double>(std::max<int64_t>(limit.most, 1)));
  const std::vector<Index> outer_indices = indices_, outer_result = std::exchange(result_, {});
  const std::vector<Scalar> outer_scalars = std::exchange(scalars_, {});
  Index k = fresh_index(limit.extent);
  indices_ = outer_result;
  indices_[at] = k;
  const TermPtr body = element(dtype, budget, std::min(depth, 2));
  indices_ = outer_indices;
  result_ = outer_result;
  scalars_ = outer_scalars;
  return plain(element_type(dtype),
               {fmt::format("(scan[{} {} {}] {} (", k.name, inclusive ? "<=" : "<", limit.name, op), "))"},
               {body}, {limit.name}, {k.name});
}

TermPtr IndexTerms::comparison(const std::string&, Exactness, int depth) {
  static const std::vector<std::string> kSymbols{" < ", " <= ", " > ", " >= ", " == ", " != "};
  const TypePtr type = element_type("bool");
  if (numbers_ == Numbers::Smooth || random_.chance(50))
    return plain(type, {"(", random_.pick(kSymbols), ")"}, {index(1).term, index(1).term});
  const std::string dtype = random_.chance(50) ? "int32" : "float32";
  return plain(type, {"(", random_.pick(kSymbols), ")"},
               {element(dtype, {64, 4}, depth), element(dtype, {64, 4}, depth)});
}

TermPtr IndexTerms::connective(const std::string&, Exactness budget, int depth) {
  const TypePtr type = element_type("bool");
  const TermPtr a = element("bool", budget, depth);
  if (random_.chance(25)) return plain(type, {"(not ", ")"}, {a});
  return plain(type, {"(", random_.chance(50) ? " and " : " or ", ")"}, {a, element("bool", budget, depth)});
}

std::vector<IndexTerms::Element> IndexTerms::forms(const std::string& dtype) const {
  using I = IndexTerms;
  if (dtype == "bool" && numbers_ == Numbers::Smooth) return {&I::comparison, &I::connective};
  std::vector<Element> forms{&I::read,  &I::read,   &I::read_or_else, &I::guarded_gather,
                             &I::first, &I::choice, &I::reduction,    &I::let};
  if (dtype == "bool") {
    forms.insert(forms.end(), {&I::comparison, &I::comparison, &I::connective});
    return forms;
  }
  forms.insert(forms.end(), {&I::converted_index, &I::arithmetic, &I::arithmetic, &I::product, &I::scan});
  if (numbers_ == Numbers::Smooth)
    forms.insert(forms.end(), {&I::smooth_function, &I::smooth_function, &I::read});
  return forms;
}

TermPtr IndexTerms::element(const std::string& dtype, Exactness budget, int depth) {
  if (depth > 0 && budget.magnitude >= 1) {
    const std::vector<Element> all = forms(dtype);
    for (int tries = 0; tries < 3; ++tries)
      if (TermPtr term = (this->*random_.pick(all))(dtype, budget, depth - 1)) return term;
  }
  if (random_.chance(75))
    if (TermPtr term = read(dtype, budget, 0)) return term;
  return literal(dtype, budget);
}

// --- whole expressions -------------------------------------------------------------------------------------

TermPtr IndexTerms::scatter(const TypePtr& want, const std::vector<Index>& outer, Exactness budget,
                            int depth) {
  std::vector<std::string> kinds{"=", "max=", "min="};
  if (want->dtype == "bool") kinds = {"="};
  if (numbers_ == Numbers::Smooth) kinds = {"=", "+="};
  const Index m = fresh_index({random_.between(1, 4), ""});
  const bool adds = want->dtype != "bool" && random_.chance(40);
  const std::string kind = adds ? "+=" : random_.pick(kinds);
  if (adds) budget = divided(budget, static_cast<double>(m.most + 1));
  indices_ = outer;
  const TermPtr init = element(want->dtype, budget, std::min(depth, 1));
  indices_ = {m};
  std::vector<TermPtr> children{init};
  std::vector<std::string> parts{fmt::format("scatter[{} < {}] (", m.name, m.extent.constant), ") at ("};
  for (const Extent& d : want->dims) {
    TermPtr at = inside(d, depth);
    if (!at) return nullptr;
    if (children.size() > 1) parts.emplace_back(", ");
    children.push_back(at);
  }
  parts.push_back(fmt::format("{}) {} (", want->dims.size() == 1 ? "," : "", kind));
  children.push_back(element(want->dtype, budget, depth));
  parts.emplace_back(")");
  return plain(element_type(want->dtype), parts, children, {}, {m.name});
}

TermPtr IndexTerms::comprehension(const TypePtr& want, Exactness budget, int depth) {
  std::vector<Index> outer;
  std::string binders;
  std::vector<std::string> uses, names;
  indices_.clear();
  result_.clear();
  scalars_.clear();
  names_.clear();
  for (const Extent& d : want->dims) {
    outer.push_back(fresh_index(d));
    indices_ = outer;
    binders += fmt::format("{}{} < {}", names.empty() ? "" : ", ", outer.back().name, to_string(d));
    names.push_back(outer.back().name);
    for (const std::string& name : used(d)) uses.push_back(name);
  }
  TermPtr body = random_.chance(20) ? scatter(want, outer, budget, depth) : nullptr;
  indices_ = result_ = outer;
  if (!body) body = element(want->dtype, budget, depth);
  return plain(want, {"([" + binders + "] => ", ")"}, {body}, uses, names);
}

}  // namespace quern::random_programs
