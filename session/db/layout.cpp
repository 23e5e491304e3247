#include "session/db/layout.h"

#include <algorithm>
#include <functional>

namespace quern {

namespace {

constexpr size_t kNone = SIZE_MAX;
/// Above this many comparisons, takes the next equal piece instead of the longest common subsequence.
constexpr size_t kMostComparisons = 1 << 18;

bool same_name(const PieceLook& a, const PieceLook& b) { return a.kind == b.kind && a.name == b.name; }
bool same(const PieceLook& a, const PieceLook& b) { return same_name(a, b) && a.text == b.text; }

class Pairing {
 public:
  Pairing(std::span<const PieceLook> before, std::span<const PieceLook> after)
      : before_(before), after_(after), pairs_(after.size(), kNone) {}

  std::vector<size_t> run() {
    size_t head = 0, tail = 0, most = std::min(before_.size(), after_.size());
    for (; head < most && same(before_[head], after_[head]); ++head) pairs_[head] = head;
    for (; tail < most - head && same(before_[before_.size() - 1 - tail], after_[after_.size() - 1 - tail]);
         ++tail)
      pairs_[after_.size() - 1 - tail] = before_.size() - 1 - tail;
    size_t old_end = before_.size() - tail, new_end = after_.size() - tail;
    if ((old_end - head) * (new_end - head) <= kMostComparisons)
      longest(head, old_end, head, new_end, same);
    else
      greedy(head, old_end, head, new_end, same);
    fill_gaps(head, old_end, head, new_end);
    return std::move(pairs_);
  }

 private:
  using Equal = bool (*)(const PieceLook&, const PieceLook&);

  // Longest common subsequence of [b, b_end) and [a, a_end).
  void longest(size_t b, size_t b_end, size_t a, size_t a_end, Equal equal) {
    size_t rows = b_end - b, columns = a_end - a;
    if (rows == 0 || columns == 0) return;
    std::vector<uint32_t> best((rows + 1) * (columns + 1), 0);
    auto at = [&](size_t i, size_t j) -> uint32_t& { return best[i * (columns + 1) + j]; };
    for (size_t i = rows; i-- > 0;)
      for (size_t j = columns; j-- > 0;)
        at(i, j) = equal(before_[b + i], after_[a + j]) ? at(i + 1, j + 1) + 1
                                                        : std::max(at(i + 1, j), at(i, j + 1));
    for (size_t i = 0, j = 0; i < rows && j < columns;) {
      if (equal(before_[b + i], after_[a + j]))
        pairs_[a + j++] = b + i++;
      else if (at(i + 1, j) >= at(i, j + 1))
        ++i;
      else
        ++j;
    }
  }
  void greedy(size_t b, size_t b_end, size_t a, size_t a_end, Equal equal) {
    constexpr size_t kWindow = 64;
    for (size_t next = b; a < a_end; ++a)
      for (size_t i = next; i < std::min(b_end, next + kWindow); ++i)
        if (equal(before_[i], after_[a])) {
          pairs_[a] = i;
          next = i + 1;
          break;
        }
  }
  // Pairs pieces of the same name whose text changed, between existing pairs.
  void fill_gaps(size_t b, size_t b_end, size_t a, size_t a_end) {
    for (size_t end = a; end <= a_end; ++end) {
      if (end < a_end && pairs_[end] == kNone) continue;
      size_t old_end = end < a_end ? pairs_[end] : b_end;
      if ((old_end - b) * (end - a) <= kMostComparisons)
        longest(b, old_end, a, end, same_name);
      else
        greedy(b, old_end, a, end, same_name);
      if (end < a_end) b = pairs_[end] + 1;
      a = end + 1;
    }
  }

  std::span<const PieceLook> before_, after_;
  std::vector<size_t> pairs_;
};

}  // namespace

std::vector<size_t> pair_pieces(std::span<const PieceLook> before, std::span<const PieceLook> after) {
  return Pairing(before, after).run();
}

}  // namespace quern
