#include "session/run/reduction.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <charconv>
#include <map>
#include <set>
#include <tuple>
#include <vector>

#include "frontend/parse/scanner.h"
#include "session/session.h"

namespace quern {

namespace {

/// The size order of texts: fewer nodes (a name counts twice), then smaller numbers, then fewer bytes.
using Size = std::tuple<size_t, uint64_t, size_t>;

struct Change {
  Range range;
  std::string text;  ///< the replacement
};

std::string with(const std::string& text, const Change& change) {
  return text.substr(0, change.range.begin) + change.text + text.substr(change.range.end);
}

bool is_blank(char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; }

/// The range with the `,` or `;` after it, or otherwise with the separator before it: `,`, `:`, `->`.
Range with_separator(Range range, std::string_view text) {
  uint32_t before = range.begin, after = range.end;
  while (before > 0 && is_blank(text[before - 1])) --before;
  while (after < text.size() && is_blank(text[after])) ++after;
  const std::string_view until = text.substr(0, before);
  for (std::string_view sign : {"->", ":"})
    if (until.ends_with(sign)) return {before - static_cast<uint32_t>(sign.size()), range.end};
  if (after < text.size() && (text[after] == ',' || text[after] == ';')) return {range.begin, after + 1};
  return until.ends_with(',') ? Range{before - 1, range.end} : range;
}

bool is_expression(SyntaxKind kind) {
  return (kind >= SyntaxKind::Int && kind <= SyntaxKind::Match) ||
         (kind >= SyntaxKind::Tuple && kind <= SyntaxKind::List) ||
         (kind >= SyntaxKind::Call && kind <= SyntaxKind::Call) ||
         (kind >= SyntaxKind::Project && kind <= SyntaxKind::Comprehension) || kind == SyntaxKind::Block;
}

/// The declarations of a text and its possible changes.
class Candidates {
 public:
  explicit Candidates(const std::string& text) : text_(text) {
    ScanOutcome scanned = scan(text);
    parses = scanned.problems.empty();
    std::vector<Range> pieces;
    for (const Piece& piece : scanned.pieces) {
      add_omissions({{pieces.empty() ? scanned.begin : pieces.back().end, piece.range.begin}});
      pieces.push_back(piece.range);
      ParseOutcome parsed = parse_declaration(text_of(piece.range), scanned.slash_names);
      parses = parses && parsed.problems.empty();
      for (Range& span : parsed.spans) span = {span.begin + piece.range.begin, span.end + piece.range.begin};
      const size_t before = expressions_.size();
      add_node(parsed.tree.root, parsed.spans);
      for (size_t i = before; i < expressions_.size(); ++i) add(piece.range, text_of(expressions_[i]));
      if (parsed.tree.root->is(SyntaxKind::Error)) add_omissions(words_in(piece.range));
    }
    if (!pieces.empty()) add_omissions({{pieces.back().end, scanned.end}});
    add_omissions(pieces);
  }

  bool parses = true;
  Size size() const { return {nodes_, numbers_, text_.size()}; }

  /// Largest reductions first. `type_of` maps expressions to their types, as text.
  std::vector<Change> changes(const std::map<std::pair<uint32_t, uint32_t>, std::string>& type_of) {
    for (Range range : expressions_) {
      add(range, "1f");
      if (auto type = type_of.find({range.begin, range.end}); type != type_of.end())
        if (std::string literal = literal_of(type->second); !literal.empty()) add(range, literal);
    }
    auto taken = [](const Change& c) {
      return static_cast<int64_t>(c.range.end - c.range.begin) - static_cast<int64_t>(c.text.size());
    };
    std::ranges::stable_sort(changes_, std::greater<>(), taken);
    return std::move(changes_);
  }

 private:
  std::string text_of(Range range) const {
    return std::string(text_.substr(range.begin, range.end - range.begin));
  }
  void add(Range range, std::string text) {
    if (text_of(range) != text) changes_.push_back({range, std::move(text)});
  }
  std::vector<Range> words_in(Range range) const {
    std::vector<Range> words;
    for (uint32_t at = range.begin; at < range.end; ++at) {
      const bool begins = !is_blank(text_[at]) && (at == range.begin || is_blank(text_[at - 1]));
      if (begins) words.push_back({at, at});
      if (!is_blank(text_[at])) words.back().end = at + 1;
    }
    return words;
  }

  /// Adds omissions of consecutive parts: a half, a quarter, …, and each alone.
  void add_omissions(const std::vector<Range>& parts) {
    for (size_t length = parts.size(); length > 0; length /= 2)
      for (size_t first = 0; first + length <= parts.size(); first += length)
        add(with_separator({parts[first].begin, parts[first + length - 1].end}, text_), "");
  }

  void add_node(SyntaxPtr node, const std::vector<Range>& spans) {
    const Range range = spans[node->id];
    nodes_ += node->is(SyntaxKind::Local) || node->is(SyntaxKind::GlobalName) ? 2 : 1;
    std::vector<Range> parts;
    for (SyntaxPtr child : node->children) {
      if (!child) continue;
      const Range part = spans[child->id];
      if (part.end > part.begin) parts.push_back(part);
      if (is_expression(node->kind) && is_expression(child->kind)) add(range, text_of(part));
      add_node(child, spans);
    }
    add_omissions(parts);
    if (is_expression(node->kind)) expressions_.push_back(range);
    if (node->is(SyntaxKind::Int)) add_smaller_numbers(range);
    if (node->is(SyntaxKind::Float)) add(range, "1f");
  }

  void add_smaller_numbers(Range range) {
    constexpr uint64_t kMost = 1'000'000'000;
    uint64_t value = 0;
    const char* begin = text_.data() + range.begin;
    auto [end, error] = std::from_chars(begin, text_.data() + range.end, value);
    const std::string suffix(end, text_.data() + range.end);
    if (error != std::errc()) value = kMost;
    numbers_ += std::min(value, kMost);
    for (uint64_t smaller : {uint64_t{0}, uint64_t{1}, uint64_t{2}, value / 2, value - 1})
      if (smaller < value) add(range, std::to_string(smaller) + suffix);
  }

  /// `1f`, `ones((2, 3), dtype="int32")`: a value of a type with known extents; "" for other types.
  static std::string literal_of(const std::string& type) {
    if (type == "bool") return "True";
    if (type == "float32") return "1f";
    if (type == "()") return type;
    if (auto dtype = parse_dtype(type))
      return dtype->is_float() || dtype->is_vector() ? "" : "1" + suffix_of(type);
    constexpr std::string_view kTensor = "Tensor[(";
    const size_t close = type.find("), ");
    if (!type.starts_with(kTensor) || close == std::string::npos) return "";
    const std::string shape = type.substr(kTensor.size(), close - kTensor.size());
    if (shape.find_first_not_of("0123456789, ") != std::string::npos) return "";
    const std::string dtype = type.substr(close + 3, type.size() - close - 4);
    return dtype == "float32" ? fmt::format("ones(({}))", shape)
                              : fmt::format("ones(({}), dtype=\"{}\")", shape, dtype);
  }
  /// "i32" of "int32", "u8" of "uint8".
  static std::string suffix_of(const std::string& dtype) {
    const size_t digits = dtype.find_first_of("0123456789");
    return digits == std::string::npos ? "" : dtype.substr(0, 1) + dtype.substr(digits);
  }

  const std::string_view text_;
  size_t nodes_ = 0;
  uint64_t numbers_ = 0;
  std::vector<Range> expressions_;
  std::vector<Change> changes_;
};

/// Determines which texts have mistakes, and the types in those without.
class Checker {
 public:
  explicit Checker(bool checks) {
    if (!checks) return;
    session_ = std::make_unique<Session>();
    source_ = session_->add_source(session_->make_module(), "reduced.relay", "");
  }
  /// True if unknown.
  bool is_sound(const std::string& text) {
    if (!session_) return true;
    bool sound = false;
    auto bug = failure_of([&] {
      session_->set_text(source_, text);
      sound = !has_errors(session_->check(source_));
    });
    return bug || sound;
  }
  std::map<std::pair<uint32_t, uint32_t>, std::string> types(const std::string& text) {
    std::map<std::pair<uint32_t, uint32_t>, std::string> found;
    if (!session_ || !is_sound(text)) return found;
    std::ignore = failure_of([&] {
      for (auto& [range, type] : session_->node_types(source_)) found[{range.begin, range.end}] = type;
    });
    return found;
  }

 private:
  std::unique_ptr<Session> session_;
  SourceId source_ = 0;
};

}  // namespace

std::string reduced(const std::string& text, const std::function<bool(const std::string&)>& fails,
                    const ReductionOptions& options) {
  Checker checker(options.checks);
  std::string best = text;
  std::set<std::string> tried{text};
  const bool sound = checker.is_sound(text), parses = Candidates(text).parses;
  auto is_worth_trying = [&](const std::string& candidate, const Size& size) {
    if (!tried.insert(candidate).second) return false;
    Candidates looked(candidate);
    return looked.size() < size && (looked.parses || !parses) && (!sound || checker.is_sound(candidate));
  };
  for (bool smaller = true; smaller;) {
    smaller = false;
    Candidates now(best);
    Size size = now.size();
    std::vector<Change> changes = now.changes(checker.types(best));
    // An applied change moves the following text, so the remaining changes are recomputed.
    for (size_t at = 0; at < changes.size(); ++at) {
      std::string candidate = with(best, changes[at]);
      if (!is_worth_trying(candidate, size) || !fails(candidate)) continue;
      best = std::move(candidate);
      smaller = true;
      Candidates next(best);
      size = next.size();
      changes = next.changes(checker.types(best));
    }
  }
  return best;
}

}  // namespace quern
