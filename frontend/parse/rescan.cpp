// Scanning again after an edit.

#include <algorithm>
#include <cstdint>
#include <optional>
#include <utility>

#include "frontend/parse/splitter.h"

namespace quern {

using namespace scanner_detail;

namespace {

void move(Range& range, int64_t by) {
  range.begin = static_cast<uint32_t>(range.begin + by);
  range.end = static_cast<uint32_t>(range.end + by);
}

int64_t moved_by(TextEdit edit) { return static_cast<int64_t>(edit.new_end) - edit.old_end; }

// Takes over `fresh`, the frame of the new text and what was found between `start` and the place that was
// `seen_to` in the old one.
void update_frame(ScanOutcome& outcome, ScanOutcome& fresh, uint32_t start, uint32_t seen_to, int64_t by) {
  std::vector<SyntaxProblem> problems;
  for (SyntaxProblem& p : outcome.problems)
    if (p.range.begin < start && p.kind != DiagnosticKind::InvalidUtf8) problems.push_back(std::move(p));
  problems.insert(problems.end(), fresh.problems.begin(), fresh.problems.end());
  for (SyntaxProblem& p : outcome.problems)
    if (p.range.begin >= seen_to && p.kind != DiagnosticKind::InvalidUtf8) {
      move(p, by);
      problems.push_back(std::move(p));
    }
  outcome.problems = std::move(problems);
  outcome.begin = fresh.begin;
  outcome.end = fresh.end;
  outcome.metadata = fresh.metadata;
}

// Between two marks of a definition; nothing if the edit reaches beyond, or the definition's end changes.
std::optional<Rescan> rescan_inside(ScanOutcome& outcome, ScanOutcome& fresh, std::string_view text,
                                    TextEdit edit) {
  const int64_t by = moved_by(edit);
  std::vector<Piece>& pieces = outcome.pieces;
  const auto at = std::partition_point(pieces.begin(), pieces.end(),
                                       [&](const Piece& p) { return p.range.end < edit.old_end; });
  if (at == pieces.end() || at->range.begin > edit.begin) return std::nullopt;
  const uint32_t begin = at->range.begin;
  const std::vector<uint32_t>& marks = at->marks;
  const auto from = std::upper_bound(marks.begin(), marks.end(), edit.begin - begin);
  if (from == marks.begin()) return std::nullopt;

  Piece piece = *at;
  piece.marks.assign(marks.begin(), from);
  auto to = from;
  const auto known = [&](uint32_t end) {
    if (end < edit.new_end) return false;
    const auto was = static_cast<uint32_t>(end - by) - begin;
    to = std::lower_bound(to, marks.end(), was);
    return to != marks.end() && *to == was;
  };
  const uint32_t start = begin + piece.marks.back();
  const size_t in_frame = fresh.problems.size();
  if (!Splitter(text.substr(0, fresh.end), fresh).run_inside(piece, start, known)) {
    fresh.problems.erase(fresh.problems.begin() + static_cast<std::ptrdiff_t>(in_frame),
                         fresh.problems.end());
    return std::nullopt;
  }
  update_frame(outcome, fresh, start, begin + *to, by);
  for (; to != marks.end(); ++to) piece.marks.push_back(static_cast<uint32_t>(*to + by));
  piece.range.end = static_cast<uint32_t>(piece.range.end + by);
  Rescan same{static_cast<size_t>(at - pieces.begin()), static_cast<size_t>(pieces.end() - at) - 1, {}};
  for (auto after = at + 1; after != pieces.end(); ++after) move(after->range, by);
  same.replaced.push_back(std::exchange(*at, std::move(piece)));
  return same;
}

// The piece from which to rescan: two before the edited one, since the end of a piece depends on the
// following text.
size_t first_to_scan(const std::vector<Piece>& pieces, uint32_t edit_begin) {
  auto touched = std::partition_point(pieces.begin(), pieces.end(),
                                      [&](const Piece& p) { return p.range.end < edit_begin; });
  auto before = touched - pieces.begin();
  return static_cast<size_t>(std::max<std::ptrdiff_t>(0, before - 2));
}

// Puts `fresh` in the place of [from, to). Mostly they are as many, and nothing behind them moves.
void replace(std::vector<Piece>& pieces, size_t from, size_t to, std::vector<Piece>& fresh) {
  const auto at = [&](size_t i) { return pieces.begin() + static_cast<std::ptrdiff_t>(i); };
  const size_t both = std::min(to - from, fresh.size());
  const auto rest = fresh.begin() + static_cast<std::ptrdiff_t>(both);
  std::move(fresh.begin(), rest, at(from));
  pieces.erase(at(from + both), at(to));
  pieces.insert(at(from + both), std::make_move_iterator(rest), std::make_move_iterator(fresh.end()));
}

Rescan rescan_pieces(ScanOutcome& outcome, ScanOutcome& fresh, std::string_view text, TextEdit edit) {
  const int64_t by = moved_by(edit);
  std::vector<Piece>& old = outcome.pieces;
  size_t first = first_to_scan(old, edit.begin);
  uint32_t start = first == 0 || old.empty() ? fresh.begin : old[first].range.begin;
  // The old piece after the edit that begins where a new one does: the rest is known.
  size_t resumed = old.size();
  auto known = [&](uint32_t begin) {
    if (begin < edit.new_end) return false;
    uint32_t was = static_cast<uint32_t>(begin - by);
    auto at = std::lower_bound(old.begin() + static_cast<std::ptrdiff_t>(first), old.end(), was,
                               [](const Piece& p, uint32_t b) { return p.range.begin < b; });
    if (at == old.end() || at->range.begin != was || was < edit.old_end) return false;
    resumed = static_cast<size_t>(at - old.begin());
    return true;
  };
  Splitter splitter(text.substr(0, fresh.end), fresh);
  splitter.run(start, known);
  if (first > 0 && !fresh.pieces.empty()) fresh.pieces[0].doc = old[first].doc;

  const uint32_t seen_to = resumed < old.size() ? old[resumed].range.begin : UINT32_MAX;
  update_frame(outcome, fresh, start, seen_to, by);
  for (size_t i = resumed; i < old.size(); ++i) move(old[i].range, by);
  if (resumed < old.size()) old[resumed].doc = splitter.take_doc();
  Rescan same{first, old.size() - resumed, {}};
  const auto from = old.begin() + static_cast<std::ptrdiff_t>(first),
             to = old.begin() + static_cast<std::ptrdiff_t>(resumed);
  same.replaced.assign(std::make_move_iterator(from), std::make_move_iterator(to));
  replace(old, first, resumed, fresh.pieces);
  return same;
}

}  // namespace

TextEdit edit_between(std::string_view before, std::string_view after) {
  auto [a, b] = std::mismatch(before.begin(), before.end(), after.begin(), after.end());
  size_t begin = static_cast<size_t>(a - before.begin());
  size_t tail = 0, most = std::min(before.size(), after.size()) - begin;
  while (tail < most && before[before.size() - 1 - tail] == after[after.size() - 1 - tail]) ++tail;
  return {static_cast<uint32_t>(begin), static_cast<uint32_t>(before.size() - tail),
          static_cast<uint32_t>(after.size() - tail)};
}

Rescan rescan(ScanOutcome& outcome, std::string_view text, TextEdit edit) {
  ScanOutcome fresh = frame_of(text);
  const int64_t by = moved_by(edit);
  bool same_frame = fresh.begin == outcome.begin && edit.begin >= outcome.begin &&
                    edit.old_end <= outcome.end && fresh.end == outcome.end + by &&
                    fresh.slash_names == outcome.slash_names && fresh.tvm == outcome.tvm;
  if (!same_frame) {
    ScanOutcome before = std::exchange(outcome, scan(text));
    return {0, 0, std::move(before.pieces)};
  }
  if (auto inside = rescan_inside(outcome, fresh, text, edit)) return *std::move(inside);
  return rescan_pieces(outcome, fresh, text, edit);
}

}  // namespace quern
