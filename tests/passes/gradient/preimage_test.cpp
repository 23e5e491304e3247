// The points that read an element, against counting all points.

#include "passes/gradient/preimage.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <random>

#include "ir/base/proof_budget.h"

namespace quern {
namespace {

using Point = std::vector<int64_t>;
using Values = std::unordered_map<Dim, int64_t>;

int64_t value_of(Dim d, const Values& values) {
  auto value = evaluate(d, [&](Dim var) -> std::optional<int64_t> {
    auto known = values.find(var);
    return known == values.end() ? std::nullopt : std::optional(known->second);
  });
  EXPECT_TRUE(value) << to_string(d);
  return value.value_or(0);
}

/// Calls `use` at each point of the space; `values` has the values of the rigid dims, and of `vars` in the
/// call.
void for_each_point(std::span<const Dim> vars, std::span<const Dim> extents, Values& values,
                    const std::function<void()>& use, size_t k = 0) {
  if (k == vars.size()) return use();
  int64_t extent = value_of(extents[k], values);
  for (int64_t i = 0; i < extent; ++i) {
    values[vars[k]] = i;
    for_each_point(vars, extents, values, use, k + 1);
  }
  values.erase(vars[k]);
}

std::string text_of(const ReadSite& site) {
  std::string text = "[";
  for (size_t k = 0; k < site.vars.size(); ++k)
    text += to_string(site.vars[k]) + " < " + to_string(site.extents[k]) + ", ";
  text += "] (";
  for (Dim d : site.indices) text += to_string(d) + ", ";
  text += ") where ";
  for (Dim d : site.nonnegative) text += to_string(d) + " >= 0, ";
  for (Dim d : site.zero) text += to_string(d) + " == 0, ";
  return text;
}

/// A read site, the shape of what it reads, and values for its rigid dims.
struct Case {
  ReadSite site;
  std::vector<Dim> shape;
  Values rigid;
};

using Hits = std::map<Point, std::map<Point, int>>;

Hits counted(Case& c) {
  Hits hits;
  for_each_point(c.site.vars, c.site.extents, c.rigid, [&] {
    for (Dim d : c.site.nonnegative)
      if (value_of(d, c.rigid) < 0) return;
    for (Dim d : c.site.zero)
      if (value_of(d, c.rigid) != 0) return;
    Point point, element;
    for (Dim v : c.site.vars) point.push_back(c.rigid.at(v));
    for (Dim d : c.site.indices) element.push_back(value_of(d, c.rigid));
    for (size_t k = 0; k < element.size(); ++k)
      if (element[k] < 0 || element[k] >= value_of(c.shape[k], c.rigid)) return;
    ++hits[element][point];
  });
  return hits;
}

/// False where the site cannot be solved.
bool solved(Case& c, Hits& hits, bool split) {
  Facts facts;
  std::vector<Dim> targets;
  for (Dim extent : c.shape) {
    targets.push_back(dim_var("u"));
    facts.add_index(targets.back(), extent);
  }
  std::vector<int64_t> moduli(targets.size(), 1);
  if (split) moduli = residue_moduli(c.site, targets, facts);
  // The classes as one more iteration space.
  std::vector<Dim> classes, class_extents;
  for (int64_t m : moduli) {
    classes.push_back(dim_var("rho"));
    class_extents.push_back(dim_const(m));
  }
  Values at;
  bool fine = true;
  for_each_point(classes, class_extents, at, [&] {
    std::vector<Dim> elements;
    Facts inside;
    for (size_t k = 0; k < targets.size(); ++k) {
      Dim m = dim_const(moduli[k]), rho = dim_const(at.at(classes[k]));
      Dim extent = dim_floordiv(dim_add(dim_sub(c.shape[k], rho), dim_sub(m, dim_const(1))), m);
      inside.add_index(targets[k], extent);
      inside.add_nonnegative(
          dim_sub(dim_sub(dim_sub(c.shape[k], dim_const(1)), rho), dim_mul(m, targets[k])));
      elements.push_back(dim_add(dim_mul(m, targets[k]), rho));
    }
    auto result = preimage(c.site, elements, inside);
    auto* parts = std::get_if<std::vector<Preimage>>(&result);
    if (!parts) {
      fine = false;
      return;
    }
    std::vector<Dim> extents;
    for (size_t k = 0; k < targets.size(); ++k)
      extents.push_back(
          dim_floordiv(dim_add(dim_sub(c.shape[k], dim_const(at.at(classes[k]))), dim_const(moduli[k] - 1)),
                       dim_const(moduli[k])));
    for_each_point(targets, extents, c.rigid, [&] {
      Point element;
      for (Dim e : elements) element.push_back(value_of(e, c.rigid));
      for (const Preimage& part : *parts)
        for_each_point(part.vars, part.extents, c.rigid, [&] {
          for (Dim d : part.zero)
            if (value_of(d, c.rigid) != 0) return;
          for (Dim d : part.nonnegative)
            if (value_of(d, c.rigid) < 0) return;
          Point point;
          for (Dim v : c.site.vars) point.push_back(value_of(part.values.at(v), c.rigid));
          ++hits[element][point];
        });
    });
  });
  return fine;
}

class RandomSite {
 public:
  explicit RandomSite(uint64_t seed) : random_(seed) {}

  Case make() {
    Case c;
    int vars = between(1, 4), rank = between(1, 2);
    for (int k = 0; k < vars; ++k) {
      c.site.vars.push_back(dim_var(std::string(1, static_cast<char>('i' + k))));
      c.site.extents.push_back(extent(c));
    }
    if (vars > 1 && between(0, 2) == 0) c.site.extents.back() = range_of_others(c.site);
    for (int k = 0; k < rank; ++k) {
      c.site.indices.push_back(index(c.site));
      c.shape.push_back(extent(c, 9));
    }
    if (between(0, 3) == 0) c.site.nonnegative.push_back(affine(c.site));
    if (between(0, 7) == 0) c.site.zero.push_back(dim_floormod(affine(c.site), dim_const(between(2, 3))));
    return c;
  }
  int between(int low, int high) { return std::uniform_int_distribution<int>(low, high)(random_); }

 private:
  Dim extent(Case& c, int most = 5) {
    int64_t value = between(between(0, 5) == 0 ? 0 : 1, most);
    if (between(0, 1) == 0) return dim_const(value);
    Dim rigid = dim_var("n");
    c.rigid.emplace(rigid, value);
    return rigid;
  }
  /// As the gradient of a gradient has them: `i + 1`, `min(i + 2, i + j + 1) - j`.
  Dim range_of_others(const ReadSite& site) {
    Dim first = site.vars[0];
    if (between(0, 1) == 0) return dim_add(first, dim_const(1));
    Dim second = site.vars[site.vars.size() - 2];
    Dim a = dim_add(first, dim_const(between(1, 4)));
    Dim b = dim_add(dim_add(first, second), dim_const(between(0, 2)));
    Dim bound = between(0, 3) == 0 ? dim_max(a, b) : dim_min(a, b);
    return between(0, 1) == 0 ? bound : dim_sub(bound, second);
  }
  Dim affine(const ReadSite& site) {
    Dim d = dim_const(between(-3, 4));
    for (Dim v : site.vars)
      if (between(0, 2) != 0) d = dim_add(d, dim_mul(dim_const(between(-2, 3)), v));
    return d;
  }
  Dim index(const ReadSite& site) {
    Dim d = affine(site), by = dim_const(between(1, 4));
    switch (between(0, 8)) {
      case 0: return dim_add(dim_floordiv(d, by), affine(site));
      case 1: return dim_floormod(d, by);
      case 2: return dim_add(dim_mul(dim_floordiv(d, by), dim_const(between(1, 3))), dim_floormod(d, by));
      case 3: return dim_max(dim_const(0), dim_min(d, dim_const(between(1, 5))));
      case 4: return dim_floormod(dim_floordiv(d, by), dim_const(between(2, 3)));
      default: return d;
    }
  }
  std::mt19937_64 random_;
};

TEST(PreimageTest, EveryPointOnce) {
  const char* wanted = std::getenv("QUERN_RANDOM_SITES");
  int count = wanted ? std::atoi(wanted) : 300;
  int unsolved = 0;
  for (int seed = 0; seed < count; ++seed) {
    Case c = RandomSite(static_cast<uint64_t>(seed)).make();
    Hits expected = counted(c);
    for (bool split : {false, true}) {
      Hits found;
      if (!solved(c, found, split)) {
        unsolved += !split;
        continue;
      }
      ASSERT_EQ(found, expected) << "seed " << seed << (split ? ", by classes: " : ": ") << text_of(c.site);
    }
  }
  std::cout << unsolved << " of " << count << " sites are not solved\n";
  EXPECT_LT(unsolved, count / 10);  // or take more steps than a scatter is worth
}

/// `k < min(R + 2, R + C + 1) - C` holds one of its bounds only where the choice was made.
TEST(PreimageTest, RangesThatChooseAndIndicesThatDivide) {
  Dim r = dim_var("R"), c = dim_var("C"), k = dim_var("k"), two = dim_const(2);
  Dim half = dim_floordiv(dim_sub(dim_sub(dim_const(0), r), c), two);
  Dim extent = dim_sub(dim_min(dim_add(r, two), dim_add(dim_add(r, c), dim_const(1))), c);
  Case one{{{r, c, k},
            {dim_const(1), dim_const(3), extent},
            {},
            {},
            {dim_sub(dim_sub(k, r), half), dim_sub(dim_add(dim_add(r, c), half), k),
             dim_sub(dim_add(k, dim_const(1)), half)}},
           {two, dim_const(3), dim_const(3)},
           {}};
  Hits hits;
  ASSERT_TRUE(solved(one, hits, false));
  EXPECT_EQ(hits, counted(one)) << text_of(one.site);
}

/// Reads that wrap and clamp what is clamped and wrapped have no preimage worth its price.
TEST(Preimages, TakeBoundedWork) {
  Dim a = dim_var("a"), b = dim_var("b"), k = dim_var("k"), u = dim_var("u"), v = dim_var("v");
  auto c = [](int64_t value) { return dim_const(value); };
  auto wrapped = [&](Dim d, int64_t by) { return dim_floormod(d, c(by)); };
  Dim first = wrapped(dim_min(dim_sub(dim_mul(c(3), k), a), dim_max(wrapped(dim_add(a, b), 7), k)), 5);
  Dim second = dim_min(wrapped(dim_max(dim_sub(b, k), wrapped(dim_mul(c(2), a), 3)), 6),
                       wrapped(dim_sub(dim_floordiv(dim_add(b, k), c(2)), first), 4));
  ReadSite site{{a, b, k}, {c(9), c(8), dim_sub(c(9), a)}, {}, {}, {first, second}};
  for (Dim d : {first, second}) site.nonnegative.push_back(dim_sub(wrapped(dim_add(d, a), 5), wrapped(b, 3)));
  Facts facts;
  facts.add_index(u, c(5));
  facts.add_index(v, c(6));
  const ProofBudget budget(50'000);
  auto result = preimage(site, std::vector{u, v}, facts);
  EXPECT_TRUE(std::holds_alternative<Unsolvable>(result));
  residue_moduli(site, std::vector{u, v}, facts);
  EXPECT_FALSE(budget.is_spent());
}

}  // namespace
}  // namespace quern
