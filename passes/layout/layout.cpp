#include "passes/layout/layout.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

namespace quern {

namespace {

struct PrimitiveName {
  LayoutPrimitive primitive;
  std::string_view name;
  size_t fewest, most;  ///< numbers
};
constexpr size_t kAny = 64;
constexpr PrimitiveName kPrimitives[] = {
    {LayoutPrimitive::Split, "split", 2, kAny},     {LayoutPrimitive::Fuse, "fuse", 2, 2},
    {LayoutPrimitive::Reorder, "reorder", 0, kAny}, {LayoutPrimitive::Pad, "pad", 3, 3},
    {LayoutPrimitive::Unpad, "unpad", 3, 3},        {LayoutPrimitive::Unfold, "unfold", 3, 3},
    {LayoutPrimitive::Fold, "fold", 4, 4},
};

const PrimitiveName& name_of(LayoutPrimitive primitive) {
  return *std::ranges::find(kPrimitives, primitive, &PrimitiveName::primitive);
}

bool is_at_least(Dim d, int64_t least) { return prove_nonnegative(dim_sub(d, dim_const(least)), Facts()); }

size_t axis_of(const LayoutStep& step) { return static_cast<size_t>(as_const(step.numbers[0]).value_or(-1)); }

Dim product_of(std::span<const Dim> dims) { return dim_product(dims); }

// A divisor of positions; a tensor without elements has none to divide.
Dim divisor(Dim d) { return is_const(d, 0) ? dim_const(1) : d; }

// The number of tiles that cover an axis.
Dim tiles(Dim extent, Dim tile, Dim stride) {
  Dim rest = dim_sub(dim_add(dim_sub(extent, tile), stride), dim_const(1));
  return dim_max(dim_const(1), dim_add(dim_floordiv(rest, stride), dim_const(1)));
}

}  // namespace

std::string to_string(const LayoutStep& step) {
  std::vector<std::string> numbers;
  for (Dim d : step.numbers) numbers.push_back(to_string(d));
  return fmt::format("{}({})", name_of(step.primitive).name, fmt::join(numbers, ", "));
}

std::string to_string(const Layout& layout) {
  std::vector<std::string> steps;
  for (const LayoutStep& step : layout.steps) steps.push_back(to_string(step));
  return fmt::format("{}", fmt::join(steps, " "));
}

Result<Layout> parse_layout(std::string_view text) {
  Layout layout;
  size_t at = 0;
  auto skip = [&] {
    while (at < text.size() && std::isspace(static_cast<unsigned char>(text[at]))) ++at;
  };
  auto take = [&](char c) {
    skip();
    return at < text.size() && text[at] == c && ++at;
  };
  for (skip(); at < text.size(); skip()) {
    size_t begin = at;
    while (at < text.size() && std::isalpha(static_cast<unsigned char>(text[at]))) ++at;
    std::string_view word = text.substr(begin, at - begin);
    auto known = std::ranges::find(kPrimitives, word, &PrimitiveName::name);
    if (known == std::end(kPrimitives))
      return Failure{
          fmt::format("`{}` begins no layout primitive: they are split, fuse, reorder, pad, unpad, "
                      "unfold and fold",
                      text.substr(begin))};
    LayoutStep step{known->primitive, {}};
    bool open = take('('), closed = open && take(')');
    while (open && !closed) {
      skip();
      int64_t value = 0;
      auto [end, error] = std::from_chars(text.data() + at, text.data() + text.size(), value);
      if (error != std::errc()) break;
      at = static_cast<size_t>(end - text.data());
      step.numbers.push_back(dim_const(value));
      closed = take(')');
      if (!closed && !take(',')) break;
    }
    if (!closed || step.numbers.size() < known->fewest || step.numbers.size() > known->most)
      return Failure{fmt::format("`{}` takes {}{} whole numbers in parentheses", word,
                                 known->most == kAny ? "at least " : "", known->fewest)};
    layout.steps.push_back(std::move(step));
  }
  return layout;
}

namespace {

// The shape after one step, or a description of what is wrong.
class ShapeAfter {
 public:
  ShapeAfter(const LayoutStep& step, std::span<const Dim> shape)
      : step_(step), shape_(shape), numbers_(step.numbers), out_(shape.begin(), shape.end()) {}

  Result<std::vector<Dim>> run() {
    if (step_.primitive == LayoutPrimitive::Reorder) return reorder();
    size_t axes = step_.primitive == LayoutPrimitive::Fuse
                      ? static_cast<size_t>(as_const(numbers_[1]).value_or(0))
                  : step_.primitive == LayoutPrimitive::Fold ? 2
                                                             : 1;
    axis_ = axis_of(step_);
    if (axes == 0 || axis_ >= shape_.size() || axes > shape_.size() - axis_)
      return fail(fmt::format("there are {} axes", shape_.size()));
    extent_ = shape_[axis_];
    switch (step_.primitive) {
      case LayoutPrimitive::Split: return split();
      case LayoutPrimitive::Fuse: return replaced(axes, {product_of(shape_.subspan(axis_, axes))});
      case LayoutPrimitive::Pad:
        if (!is_at_least(numbers_[1], 0) || !is_at_least(numbers_[2], 0))
          return fail("padding is not negative");
        return replaced(1, {dim_add(extent_, dim_add(numbers_[1], numbers_[2]))});
      case LayoutPrimitive::Unpad: {
        Dim left = dim_sub(extent_, dim_add(numbers_[1], numbers_[2]));
        if (!is_at_least(numbers_[1], 0) || !is_at_least(numbers_[2], 0) || !is_at_least(left, 0))
          return fail(fmt::format("an extent of {} has no such ends", to_string(extent_)));
        return replaced(1, {left});
      }
      case LayoutPrimitive::Unfold:
        if (!is_stride()) return fail("the stride is at least 1 and at most the tile");
        return replaced(1, {tiles(extent_, numbers_[1], numbers_[2]), numbers_[1]});
      case LayoutPrimitive::Fold:
        if (!is_stride()) return fail("the stride is at least 1 and at most the tile");
        if (shape_[axis_ + 1] != numbers_[1] || extent_ != tiles(numbers_[3], numbers_[1], numbers_[2]))
          return fail(fmt::format("the axes of extents {} and {} are not its tiles", to_string(extent_),
                                  to_string(shape_[axis_ + 1])));
        return replaced(2, {numbers_[3]});
      case LayoutPrimitive::Reorder: break;
    }
    return out_;
  }

 private:
  Failure fail(std::string_view why) const { return Failure{fmt::format("`{}`: {}", to_string(step_), why)}; }

  bool is_stride() const {
    return is_at_least(numbers_[2], 1) && is_at_least(dim_sub(numbers_[1], numbers_[2]), 0);
  }

  std::vector<Dim> replaced(size_t count, const std::vector<Dim>& by) {
    auto from = out_.begin() + static_cast<std::ptrdiff_t>(axis_);
    from = out_.erase(from, from + static_cast<std::ptrdiff_t>(count));
    out_.insert(from, by.begin(), by.end());
    return out_;
  }

  Result<std::vector<Dim>> split() {
    std::span<const Dim> inner = std::span(numbers_).subspan(1);
    for (Dim f : inner)
      if (!is_at_least(f, 1)) return fail("the parts are at least 1 long");
    Dim part = product_of(inner);
    if (!is_const(simplify(dim_floormod(extent_, part), Facts()), 0))
      return fail(fmt::format("the extent {} is no multiple of {}; `pad` it first", to_string(extent_),
                              to_string(part)));
    std::vector<Dim> parts{dim_floordiv(extent_, part)};
    parts.insert(parts.end(), inner.begin(), inner.end());
    return replaced(1, parts);
  }

  Result<std::vector<Dim>> reorder() {
    std::vector<char> seen(shape_.size(), 0);
    out_.clear();
    for (Dim d : numbers_) {
      auto axis = static_cast<size_t>(as_const(d).value_or(-1));
      if (axis >= shape_.size() || std::exchange(seen[axis], 1)) break;
      out_.push_back(shape_[axis]);
    }
    if (out_.size() != shape_.size() || numbers_.size() != shape_.size())
      return fail(fmt::format("it names each of the {} axes once", shape_.size()));
    return out_;
  }

  const LayoutStep& step_;
  std::span<const Dim> shape_;
  const std::vector<Dim>& numbers_;
  std::vector<Dim> out_;
  size_t axis_ = 0;
  Dim extent_ = nullptr;
};

// The shapes before each step, and after the last.
std::vector<std::vector<Dim>> shapes(const Layout& layout, std::span<const Dim> shape) {
  std::vector<std::vector<Dim>> all{{shape.begin(), shape.end()}};
  for (const LayoutStep& step : layout.steps) {
    auto after = shape_after(step, all.back());
    QUERN_CHECK(after);
    all.push_back(std::move(*after));
  }
  return all;
}

LayoutStep inverse(const LayoutStep& step, std::span<const Dim> shape) {
  const std::vector<Dim>& n = step.numbers;
  auto number = [](size_t k) { return dim_const(static_cast<int64_t>(k)); };
  switch (step.primitive) {
    case LayoutPrimitive::Split: return {LayoutPrimitive::Fuse, {n[0], number(n.size())}};
    case LayoutPrimitive::Fuse: {
      std::vector<Dim> parts{n[0]};
      auto count = static_cast<size_t>(*as_const(n[1]));
      for (size_t k = 1; k < count; ++k) parts.push_back(shape[axis_of(step) + k]);
      return {LayoutPrimitive::Split, parts};
    }
    case LayoutPrimitive::Reorder: {
      std::vector<Dim> back(n.size());
      for (size_t k = 0; k < n.size(); ++k) back[static_cast<size_t>(*as_const(n[k]))] = number(k);
      return {LayoutPrimitive::Reorder, back};
    }
    case LayoutPrimitive::Pad: return {LayoutPrimitive::Unpad, n};
    case LayoutPrimitive::Unpad: return {LayoutPrimitive::Pad, n};
    case LayoutPrimitive::Unfold: return {LayoutPrimitive::Fold, {n[0], n[1], n[2], shape[axis_of(step)]}};
    case LayoutPrimitive::Fold: return {LayoutPrimitive::Unfold, {n[0], n[1], n[2]}};
  }
  return step;
}

// Maps a place after a step to the element before it.
void before(const LayoutStep& step, std::span<const Dim> shape, StoredElement& at) {
  const std::vector<Dim>& n = step.numbers;
  std::vector<Dim>& i = at.indices;
  if (step.primitive == LayoutPrimitive::Reorder) {
    std::vector<Dim> old(i.size());
    for (size_t k = 0; k < i.size(); ++k) old[static_cast<size_t>(*as_const(n[k]))] = i[k];
    i = std::move(old);
    return;
  }
  size_t axis = axis_of(step);
  auto replace = [&](size_t count, const std::vector<Dim>& by) {
    auto from = i.begin() + static_cast<std::ptrdiff_t>(axis);
    from = i.erase(from, from + static_cast<std::ptrdiff_t>(count));
    i.insert(from, by.begin(), by.end());
  };
  auto inside = [&](Dim index, bool below) {
    if (below) at.nonnegative.push_back(index);
    at.nonnegative.push_back(dim_sub(dim_sub(shape[axis], dim_const(1)), index));
  };
  switch (step.primitive) {
    case LayoutPrimitive::Split: {
      Dim whole = i[axis];
      for (size_t k = 1; k < n.size(); ++k) whole = dim_add(dim_mul(whole, n[k]), i[axis + k]);
      return replace(n.size(), {whole});
    }
    case LayoutPrimitive::Fuse: {
      std::vector<Dim> digits;
      Dim rest = i[axis];
      for (auto k = static_cast<size_t>(*as_const(n[1])); k-- > 1;) {
        Dim extent = divisor(shape[axis + k]);
        digits.insert(digits.begin(), dim_floormod(rest, extent));
        rest = dim_floordiv(rest, extent);
      }
      digits.insert(digits.begin(), rest);
      return replace(1, digits);
    }
    case LayoutPrimitive::Pad: {
      Dim index = dim_sub(i[axis], n[1]);
      inside(index, !is_const(n[1], 0));
      return replace(1, {index});
    }
    case LayoutPrimitive::Unpad: return replace(1, {dim_add(i[axis], n[1])});
    case LayoutPrimitive::Unfold: {
      Dim index = dim_add(dim_mul(i[axis], n[2]), i[axis + 1]);
      inside(index, false);
      return replace(2, {index});
    }
    case LayoutPrimitive::Fold: {
      Dim last = dim_sub(shape[axis], dim_const(1)), tile = dim_min(dim_floordiv(i[axis], n[2]), last);
      return replace(1, {tile, dim_sub(i[axis], dim_mul(tile, n[2]))});
    }
    case LayoutPrimitive::Reorder: return;
  }
}

}  // namespace

Result<std::vector<Dim>> shape_after(const LayoutStep& step, std::span<const Dim> shape) {
  return ShapeAfter(step, shape).run();
}

Result<std::vector<Dim>> stored_shape(const Layout& layout, std::span<const Dim> shape) {
  std::vector<Dim> now(shape.begin(), shape.end());
  for (const LayoutStep& step : layout.steps) {
    auto after = shape_after(step, now);
    if (!after) return after.error();
    now = std::move(*after);
  }
  return now;
}

Layout inverse(const Layout& layout, std::span<const Dim> shape) {
  std::vector<std::vector<Dim>> all = shapes(layout, shape);
  Layout back;
  for (size_t k = layout.steps.size(); k-- > 0;) back.steps.push_back(inverse(layout.steps[k], all[k]));
  return back;
}

StoredElement element_at(const Layout& layout, std::span<const Dim> shape, std::span<const Dim> place) {
  std::vector<std::vector<Dim>> all = shapes(layout, shape);
  StoredElement at{{place.begin(), place.end()}, {}};
  for (size_t k = layout.steps.size(); k-- > 0;) before(layout.steps[k], all[k], at);
  return at;
}

}  // namespace quern
