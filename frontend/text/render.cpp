#include "frontend/text/render.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>

namespace quern {

namespace {

struct Palette {
  std::string_view error, warning, note, place, bold, reset;
};
constexpr Palette kColours{"\033[1;31m", "\033[1;33m", "\033[1;36m", "\033[34m", "\033[1m", "\033[0m"};
constexpr Palette kPlain{"", "", "", "", "", ""};

struct Look {
  const Palette& palette;
  size_t width;  ///< of the terminal, in columns
};

constexpr int kTabStop = 4;
constexpr int kWidest = 140;                 ///< shown columns of a source line
constexpr int kContext = 30;                 ///< columns kept before the marked part of a longer line
constexpr size_t kHead = 1500, kTail = 500;  ///< shown bytes of a longer message

struct Interval {
  char32_t first, last;
};
// Unicode 15, EastAsianWidth W and F, in coarse blocks.
constexpr std::array<Interval, 22> kWide{
    {{0x1100, 0x115F}, {0x231A, 0x231B},  {0x2329, 0x232A}, {0x23E9, 0x23EC}, {0x25FD, 0x25FE},
     {0x2614, 0x2615}, {0x2648, 0x2653},  {0x26AA, 0x26AB}, {0x26BD, 0x26BE}, {0x2705, 0x2705},
     {0x2728, 0x2728}, {0x274C, 0x274C},  {0x2E80, 0x303E}, {0x3041, 0x33FF}, {0x3400, 0x4DBF},
     {0x4E00, 0x9FFF}, {0xA000, 0xA4CF},  {0xAC00, 0xD7A3}, {0xF900, 0xFAFF}, {0xFE30, 0xFE6F},
     {0xFF00, 0xFF60}, {0x1F300, 0x1FAFF}}};
// Combining marks, joiners and variation selectors.
constexpr std::array<Interval, 6> kNarrowest{{{0x0300, 0x036F},
                                              {0x200B, 0x200F},
                                              {0x20D0, 0x20FF},
                                              {0xFE00, 0xFE0F},
                                              {0x1F3FB, 0x1F3FF},
                                              {0xE0100, 0xE01EF}}};

template <size_t N>
bool within(const std::array<Interval, N>& list, char32_t c) {
  return std::any_of(list.begin(), list.end(), [&](Interval i) { return c >= i.first && c <= i.last; });
}

/// The display of one source character, or of one invalid byte.
struct Cell {
  uint32_t offset;  ///< of its first byte in the line
  std::string text;
  int columns;
};

char32_t decode(std::string_view sequence) {
  auto byte = [&](size_t i) { return static_cast<unsigned char>(sequence[i]); };
  if (sequence.size() == 1) return byte(0);
  char32_t c = byte(0) & (0xFFu >> (sequence.size() + 1));
  for (size_t i = 1; i < sequence.size(); ++i) c = (c << 6) | (byte(i) & 0x3Fu);
  return c;
}

Cell cell_at(std::string_view text, size_t i, int column) {
  auto offset = static_cast<uint32_t>(i);
  size_t length = utf8_length(text, i);
  if (length == 0) {
    return {offset, fmt::format("\\x{:02X}", static_cast<unsigned char>(text[i])), 4};
  }
  if (text[i] == '\t') {
    int blanks = kTabStop - column % kTabStop;
    return {offset, std::string(static_cast<size_t>(blanks), ' '), blanks};
  }
  char32_t c = decode(text.substr(i, length));
  bool control = c < 0x20 || c == 0x7F || (c >= 0x80 && c < 0xA0);
  // Bidirectional control characters would misrepresent the line.
  bool direction = (c >= 0x202A && c <= 0x202E) || (c >= 0x2066 && c <= 0x2069);
  if (control || direction) {
    std::string shown = c < 0x100 ? fmt::format("\\x{:02X}", static_cast<uint32_t>(c))
                                  : fmt::format("\\u{:04X}", static_cast<uint32_t>(c));
    return {offset, shown, static_cast<int>(shown.size())};
  }
  return {offset, std::string(text.substr(i, length)), columns_of(c)};
}

/// One displayed line of source.
class ShownLine {
 public:
  ShownLine(std::string_view line, uint32_t first, uint32_t last, int widest) : widest_(widest) {
    // For a line of a megabyte, examines only the part near the mark.
    uint32_t reach = 4 * kWidest;
    uint32_t begin = line.size() > 2 * reach && first > reach ? first - reach : 0;
    while (begin > 0 && (static_cast<unsigned char>(line[begin]) & 0xC0) == 0x80) --begin;
    auto end = std::min<uint32_t>(static_cast<uint32_t>(line.size()), first + reach);
    int column = 0;
    for (uint32_t i = begin; i < end;) {
      Cell cell = cell_at(line, i, column);
      i += static_cast<uint32_t>(std::max<size_t>(1, utf8_length(line, i)));
      column += cell.columns;
      cells_.push_back(std::move(cell));
    }
    cut_left_ = begin > 0;
    cut_right_ = end < line.size();
    elide(first);
    mark(first, last);
  }
  std::string text, blanks, carets;

 private:
  // Elides a line wider than the limit to the part around the mark.
  void elide(uint32_t first) {
    int total = 0, before = 0;
    for (const Cell& c : cells_) {
      total += c.columns;
      if (c.offset < first) before += c.columns;
    }
    if (total <= widest_ && !cut_left_ && !cut_right_) return;
    auto kept = cells_.begin();
    for (; kept != cells_.end() && before > kContext && total > widest_; ++kept) {
      before -= kept->columns;
      total -= kept->columns;
      cut_left_ = true;
    }
    cells_.erase(cells_.begin(), kept);
    while (!cells_.empty() && total > widest_) {
      total -= cells_.back().columns;
      cells_.pop_back();
      cut_right_ = true;
    }
  }
  void mark(uint32_t first, uint32_t last) {
    int before = cut_left_ ? 1 : 0, marked = 0;
    for (const Cell& c : cells_) {
      if (c.offset < first) before += c.columns;
      if (c.offset >= first && c.offset < last) marked += c.columns;
      text += c.text;
    }
    if (cut_left_) text = "…" + text;
    if (cut_right_) text += "…";
    blanks.assign(static_cast<size_t>(before), ' ');
    carets.assign(static_cast<size_t>(std::max(1, marked)), '^');
  }

  const int widest_;
  std::vector<Cell> cells_;
  bool cut_left_ = false, cut_right_ = false;
};

// The source lines of a range with carets below: its first line and, if it spans several, its last.
std::string excerpt(const LineIndex& lines, Range range, std::string_view mark, const Look& look) {
  const Palette& p = look.palette;
  uint32_t first_line = lines.locate(range.begin).line;
  uint32_t last_line = std::max(first_line, lines.locate(std::max(range.begin, range.end)).line);
  // A range that ends with a line's end belongs to that line.
  if (last_line > first_line && range.end <= lines.line_start(last_line - 1)) --last_line;
  std::string pad(std::to_string(last_line).size(), ' ');
  // Beside the number, the bar, and a `…` at each end.
  const size_t beside = pad.size() + 5;
  const auto widest =
      static_cast<int>(std::clamp<size_t>(look.width - std::min(look.width, beside), 2 * kContext, kWidest));
  std::string out = fmt::format("{0}{1} |{2}\n", p.place, pad, p.reset);
  auto row = [&](uint32_t number, uint32_t from, uint32_t to) {
    uint32_t start = lines.line_start(number - 1);
    ShownLine shown(lines.line(number), from - start, to - start, widest);
    out += fmt::format("{0}{1:>{8}} |{2} {3}\n{0}{4} |{2} {5}{6}{7}{2}\n", p.place, number, p.reset,
                       shown.text, pad, shown.blanks, mark, shown.carets, pad.size());
  };
  auto line_end = [&](uint32_t number) {
    return lines.line_start(number - 1) + static_cast<uint32_t>(lines.line(number).size());
  };
  row(first_line, range.begin, std::min(std::max(range.begin, range.end), line_end(first_line)));
  if (last_line == first_line) return out;
  if (last_line > first_line + 1) out += fmt::format("{}{} …{}\n", p.place, pad, p.reset);
  uint32_t start = lines.line_start(last_line - 1);
  std::string_view last = lines.line(last_line);
  auto blank = static_cast<uint32_t>(std::min(last.find_first_not_of(" \t"), last.size()));
  row(last_line, start + blank, std::min(range.end, line_end(last_line)));
  return out;
}

std::string position(const LineIndex& lines, const std::string& file, Range range) {
  LineColumn at = lines.locate(range.begin);
  return fmt::format("{}:{}:{}", printable(file), at.line, at.column);
}

nlohmann::json json_place(const LineIndex& lines, Range range) {
  LineColumn start = lines.locate(range.begin), end = lines.locate(range.end);
  return {{"start", {{"line", start.line}, {"column", start.column}}},
          {"end", {{"line", end.line}, {"column", end.column}}}};
}

/// A displayed message. It quotes names of the source, and a file that is not a program may have one of a
/// megabyte.
std::string shown(std::string_view message) {
  if (message.size() <= kHead + kTail) return printable(message);
  auto boundary = [&](size_t at) {
    while (at > 0 && (static_cast<unsigned char>(message[at]) & 0xC0) == 0x80) --at;
    return at;
  };
  return printable(message.substr(0, boundary(kHead))) + "…" +
         printable(message.substr(boundary(message.size() - kTail)));
}

/// Caches line starts per text: of hundreds of diagnostics, nearly all are in one file.
class LineCache {
 public:
  const LineIndex& of(std::string_view text) {
    for (auto& lines : known_)
      if (lines->text().data() == text.data() && lines->text().size() == text.size()) return *lines;
    known_.push_back(std::make_unique<LineIndex>(text));
    return *known_.back();
  }

 private:
  std::vector<std::unique_ptr<LineIndex>> known_;
};

/// A message behind its head, of which `head` columns are seen.
std::string behind(size_t head, std::string_view message, const Look& look) {
  std::string text = shown(message);
  return head + text.size() <= look.width ? text : wrapped(text, head, look.width);
}

std::string render_one(const LocatedDiagnostic& d, const Look& look, LineCache& cache) {
  const Palette& p = look.palette;
  Severity severity = severity_of(d.kind);
  std::string_view mark = severity == Severity::Error     ? p.error
                          : severity == Severity::Warning ? p.warning
                                                          : p.note;
  const std::string head = fmt::format("{}[{}]", to_string(severity), code_of(d.kind));
  std::string out = fmt::format("{}{}{}: {}{}{}\n", mark, head, p.reset, p.bold,
                                behind(head.size() + 2, d.message, look), p.reset);
  if (!d.text.empty()) {
    const LineIndex& lines = cache.of(d.text);
    out += fmt::format("{}-->{} {}\n", p.place, p.reset, position(lines, d.file, d.range));
    out += excerpt(lines, d.range, mark, look);
  } else if (!d.file.empty()) {
    out += fmt::format("{}-->{} {}\n", p.place, p.reset, printable(d.file));
  }
  for (const LocatedNote& note : d.notes) {
    out += fmt::format("{}note{}: {}\n", p.note, p.reset, behind(6, note.message, look));
    if (note.text.empty()) continue;
    const LineIndex& lines = cache.of(note.text);
    out += fmt::format("{}-->{} {}\n", p.place, p.reset, position(lines, note.file, note.range));
    out += excerpt(lines, note.range, p.note, look);
  }
  for (const LocatedFix& fix : d.fixes)
    out += fmt::format("{}fix{}: {}\n", p.note, p.reset, behind(5, fix.title, look));
  return out;
}

}  // namespace

int columns_of(char32_t code_point) {
  if (within(kNarrowest, code_point)) return 0;
  return within(kWide, code_point) || (code_point >= 0x20000 && code_point <= 0x3FFFD) ? 2 : 1;
}

std::string wrapped(std::string_view text, size_t indent, size_t width) {
  // Beside a wide first column there is no room for a second one.
  constexpr size_t kLeast = 20;
  const size_t room = std::max(kLeast, width - std::min(width, indent));
  std::string out;
  size_t used = 0;
  while (!text.empty()) {
    const size_t end = std::min(text.find(' '), text.size());
    const size_t word = count_code_points(text.substr(0, end));
    if (used > 0 && used + 1 + word > room) {
      out += "\n" + std::string(indent, ' ');
      used = 0;
    } else if (used > 0) {
      out += ' ';
      ++used;
    }
    out += text.substr(0, end);
    used += word;
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return out;
}

std::string printable(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); i += std::max<size_t>(1, utf8_length(text, i))) {
    if (text[i] == '\n' || text[i] == '\t')
      out += text[i];
    else
      out += cell_at(text, i, 0).text;
  }
  return out;
}

std::string render_terminal(const LocatedDiagnostic& d, bool colour, size_t width) {
  LineCache cache;
  return render_one(d, {colour ? kColours : kPlain, width}, cache);
}

std::string render_all(const std::vector<LocatedDiagnostic>& diagnostics, bool colour, size_t most,
                       size_t width) {
  LineCache cache;
  const Look look{colour ? kColours : kPlain, width};
  std::string out;
  for (size_t i = 0; i < diagnostics.size() && i < most; ++i)
    out += render_one(diagnostics[i], look, cache) + "\n";
  if (diagnostics.size() > most) out += fmt::format("… and {} more\n", diagnostics.size() - most);
  return out;
}

std::string render_json(const std::vector<LocatedDiagnostic>& diagnostics) {
  nlohmann::json list = nlohmann::json::array();
  LineCache cache;
  for (const LocatedDiagnostic& d : diagnostics) {
    nlohmann::json entry = json_place(cache.of(d.text), d.range);
    entry["code"] = code_of(d.kind);
    entry["severity"] = to_string(severity_of(d.kind));
    entry["message"] = d.message;
    entry["file"] = d.file;
    entry["notes"] = nlohmann::json::array();
    for (const LocatedNote& note : d.notes) {
      nlohmann::json item =
          note.text.empty() ? nlohmann::json::object() : json_place(cache.of(note.text), note.range);
      item["message"] = note.message;
      if (!note.text.empty()) item["file"] = note.file;
      entry["notes"].push_back(std::move(item));
    }
    if (!d.fixes.empty()) entry["fixes"] = nlohmann::json::array();
    for (const LocatedFix& fix : d.fixes) {
      nlohmann::json edits = nlohmann::json::array();
      for (const auto& [range, text] : fix.edits) {
        nlohmann::json edit = json_place(cache.of(d.text), range);
        edit["text"] = text;
        edits.push_back(std::move(edit));
      }
      entry["fixes"].push_back({{"title", fix.title}, {"edits", std::move(edits)}});
    }
    list.push_back(std::move(entry));
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

}  // namespace quern
