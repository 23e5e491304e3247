// Walks over dims: text, variables, substitution, values, linear forms.

#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/dim/dim.h"
#include "ir/dim/poly.h"

namespace quern {

using namespace dim_detail;

namespace {

// --- text ------------------------------------------------------------------------------------------------

std::string text_of(Dim d);

std::string parenthesised(Dim d) { return "(" + text_of(d) + ")"; }

bool is_quotient(Dim d) { return d->kind == DimKind::FloorDiv || d->kind == DimKind::FloorMod; }

/// As an operand of `*`.
std::string factor_text(Dim d) {
  bool compound = d->kind == DimKind::Sum || d->kind == DimKind::Product || is_quotient(d) ||
                  (d->kind == DimKind::Const && d->value < 0);
  return compound ? parenthesised(d) : text_of(d);
}

uint64_t magnitude(int64_t value) {
  const auto bits = static_cast<uint64_t>(value);
  return value < 0 ? ~bits + 1 : bits;
}

bool is_negative_term(Dim d) {
  return (d->kind == DimKind::Const || d->kind == DimKind::Product) && d->value < 0;
}

/// The factors of a term without its coefficient, those in parentheses last. As all operands whose order is irrelevant
/// they are sorted by text, so that a dim's text does not depend on which was made first.
std::vector<std::string> factors_of(Dim term) {
  std::vector<std::string> factors;
  if (term->kind == DimKind::Const) return factors;
  if (term->kind != DimKind::Product) return {factor_text(term)};
  for (Dim arg : term->args) factors.push_back(factor_text(arg));
  std::ranges::sort(factors, {},
                    [](const std::string& text) { return std::pair(text.front() == '(', text); });
  return factors;
}

/// A term without its sign.
std::string unsigned_term_text(Dim d) {
  if (d->kind == DimKind::Const) return std::to_string(magnitude(d->value));
  if (d->kind == DimKind::Sum) return parenthesised(d);
  if (d->kind != DimKind::Product) return text_of(d);
  bool unit = d->value == 1 || d->value == -1;
  if (unit && d->args.size() == 1) return text_of(d->args.front());
  std::string out = unit ? "" : std::to_string(magnitude(d->value));
  for (const std::string& factor : factors_of(d)) {
    if (!out.empty()) out += '*';
    out += factor;
  }
  return out;
}

/// A term with its sign, as the first in a text: `-(x / 2)`, since `-x / 2` is another dim.
std::string leading_term_text(Dim d) {
  if (!is_negative_term(d)) return unsigned_term_text(d);
  bool negated_quotient =
      d->kind == DimKind::Product && d->value == -1 && d->args.size() == 1 && is_quotient(d->args.front());
  return negated_quotient ? "-" + parenthesised(d->args.front()) : "-" + unsigned_term_text(d);
}

/// The terms of higher degree first, among these those of greater coefficients, a constant last.
std::vector<Dim> sorted_terms(Dim sum) {
  using Key = std::tuple<size_t, uint64_t, std::vector<std::string>>;
  std::vector<std::pair<Key, Dim>> terms;
  for (Dim term : sum->args) {
    std::vector<std::string> factors = factors_of(term);
    const uint64_t coefficient = term->kind == DimKind::Product ? magnitude(term->value) : 1;
    terms.emplace_back(Key{SIZE_MAX - factors.size(), UINT64_MAX - coefficient, std::move(factors)}, term);
  }
  std::ranges::stable_sort(terms, {}, &std::pair<Key, Dim>::first);
  std::vector<Dim> sorted;
  sorted.reserve(terms.size());
  for (const auto& [key, term] : terms) sorted.push_back(term);
  return sorted;
}

std::string sum_text(Dim d) {
  std::string out;
  const std::vector<Dim> terms = sorted_terms(d);
  for (bool negative : {false, true}) {
    for (Dim term : terms) {
      if (is_negative_term(term) != negative) continue;
      if (out.empty()) {
        out = leading_term_text(term);
      } else {
        out += (negative ? " - " : " + ") + unsigned_term_text(term);
      }
    }
  }
  return out;
}

/// The operands sorted by text, a constant last.
std::string call_text(const char* name, Dim d) {
  std::vector<std::pair<bool, std::string>> operands;
  for (Dim arg : d->args) operands.emplace_back(arg->kind == DimKind::Const, text_of(arg));
  std::ranges::sort(operands);
  std::string out = name;
  const char* separator = "(";
  for (const auto& [is_constant, text] : operands) {
    out += separator + text;
    separator = ", ";
  }
  return out + ")";
}

std::string quotient_text(Dim d, const char* op) {
  Dim dividend = d->args[0];
  std::string left = dividend->kind == DimKind::Sum ? parenthesised(dividend) : text_of(dividend);
  return left + op + factor_text(d->args[1]);
}

std::string text_of(Dim d) {
  switch (d->kind) {
    case DimKind::Const: return std::to_string(d->value);
    case DimKind::Var: return std::string(d->name);
    case DimKind::Any: return "?";
    case DimKind::Infer: return "_";
    case DimKind::Sum: return sum_text(d);
    case DimKind::Product: return leading_term_text(d);
    case DimKind::FloorDiv: return quotient_text(d, " / ");
    case DimKind::FloorMod: return quotient_text(d, " % ");
    case DimKind::Min: return call_text("min", d);
    case DimKind::Max: return call_text("max", d);
    case DimKind::Broadcast: return call_text("broadcast", d);
  }
  return {};
}

}  // namespace

std::string to_string(Dim d) { return text_of(d); }

std::string shape_to_string(std::span<const Dim> dims) {
  std::string out = "(";
  for (size_t i = 0; i < dims.size(); ++i) {
    if (i > 0) out += ", ";
    out += text_of(dims[i]);
  }
  return out + (dims.size() == 1 ? ",)" : ")");
}

// --- variables -------------------------------------------------------------------------------------------

void for_each_var(Dim d, const std::function<void(Dim)>& visit) {
  if (d->kind == DimKind::Var) visit(d);
  for (Dim arg : d->args) for_each_var(arg, visit);
}

bool contains_var(Dim d, Dim var) {
  return d == var ||
         std::any_of(d->args.begin(), d->args.end(), [&](Dim arg) { return contains_var(arg, var); });
}

bool contains_opened(Dim d) {
  return d->opened || std::any_of(d->args.begin(), d->args.end(), contains_opened);
}

// --- substitution ----------------------------------------------------------------------------------------

namespace dim_detail {

Dim rebuild(Dim like, std::span<const Dim> args) {
  auto fold = [&](Dim start, Dim (*combine)(Dim, Dim)) {
    for (Dim arg : args) start = start ? combine(start, arg) : arg;
    return start;
  };
  switch (like->kind) {
    case DimKind::Const:
    case DimKind::Var:
    case DimKind::Any:
    case DimKind::Infer: return like;
    case DimKind::Sum: return fold(nullptr, dim_add);
    case DimKind::Product: return fold(dim_const(like->value), dim_mul);
    case DimKind::FloorDiv: return dim_floordiv(args[0], args[1]);
    case DimKind::FloorMod: return dim_floormod(args[0], args[1]);
    case DimKind::Min: return fold(nullptr, dim_min);
    case DimKind::Max: return fold(nullptr, dim_max);
    case DimKind::Broadcast: return dim_broadcast(args[0], args[1]);
  }
  return like;
}

namespace {

Dim replace(Dim d, const DimMap& map, DimMap& done) {
  if (auto found = map.find(d); found != map.end()) return found->second;
  if (d->args.empty()) return d;
  if (auto found = done.find(d); found != done.end()) return found->second;
  std::vector<Dim> args;
  args.reserve(d->args.size());
  for (Dim arg : d->args) args.push_back(replace(arg, map, done));
  Dim out = std::ranges::equal(args, d->args) ? d : rebuild(d, args);
  done.emplace(d, out);
  return out;
}

}  // namespace

Dim replace_nodes(Dim d, const DimMap& map) {
  if (map.empty()) return d;
  DimMap done;
  return replace(d, map, done);
}

}  // namespace dim_detail

Dim substitute(Dim d, const DimMap& map) { return replace_nodes(d, map); }

// --- values ----------------------------------------------------------------------------------------------

namespace {

using Number = std::optional<int64_t>;

Number combine_values(DimKind kind, int64_t a, int64_t b) {
  switch (kind) {
    case DimKind::Sum: return checked_add(a, b);
    case DimKind::Product: return checked_mul(a, b);
    case DimKind::FloorDiv: return checked_floordiv(a, b);
    case DimKind::FloorMod: return checked_floormod(a, b);
    case DimKind::Min: return std::min(a, b);
    case DimKind::Max: return std::max(a, b);
    case DimKind::Broadcast:
      if (a == b || b == 1) return a;
      return a == 1 ? Number(b) : std::nullopt;
    case DimKind::Const:
    case DimKind::Var:
    case DimKind::Any:
    case DimKind::Infer: return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace

std::optional<int64_t> evaluate(Dim d, const std::function<std::optional<int64_t>(Dim)>& lookup) {
  if (d->kind == DimKind::Const) return d->value;
  if (d->kind == DimKind::Var) return lookup(d);
  if (d->args.empty()) return std::nullopt;
  Number out = evaluate(d->args.front(), lookup);
  for (Dim arg : d->args.subspan(1)) {
    Number next = out ? evaluate(arg, lookup) : std::nullopt;
    if (!next) return std::nullopt;
    out = combine_values(d->kind, *out, *next);
  }
  return d->kind == DimKind::Product && out ? checked_mul(*out, d->value) : out;
}

// --- linear forms ----------------------------------------------------------------------------------------

std::optional<Linear> linear_in(Dim d, Dim var) {
  if (d->has_any) return std::nullopt;
  const auto occurs_in = [&](Dim atom) { return contains_var(atom, var); };
  Poly coefficient, rest;
  for (const TermView term : Terms(d)) {
    const auto at = std::ranges::find_if(term.atoms, occurs_in);
    if (at == term.atoms.end()) {
      rest.push_back(Term(term));
      continue;
    }
    // The variable itself, once.
    if (*at != var || std::any_of(at + 1, term.atoms.end(), occurs_in)) return std::nullopt;
    Term factor(term);
    factor.atoms.erase(factor.atoms.begin() + (at - term.atoms.begin()));
    coefficient.push_back(std::move(factor));
  }
  if (coefficient.empty()) return Linear{dim_const(0), d};
  return Linear{from_poly(coefficient), from_poly(rest)};
}

}  // namespace quern
