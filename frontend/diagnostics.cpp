#include "frontend/diagnostics.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace quern {

namespace {

struct KindRow {
  std::string_view code, title;
};
constexpr KindRow kKinds[] = {
#define QUERN_DIAGNOSTIC(code, name, title) {#code, title},
#include "frontend/diagnostics.def"
#undef QUERN_DIAGNOSTIC
};

struct Palette {
  std::string_view error, note, place, bold, reset;
};
constexpr Palette kColours{"\033[1;31m", "\033[1;36m", "\033[34m", "\033[1m", "\033[0m"};
constexpr Palette kPlain{"", "", "", "", ""};

// Tabs and control characters would shift the carets: show each as one space.
std::string printable(std::string_view line) {
  std::string out(line);
  for (char& c : out)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = ' ';
  return out;
}

// The source line of a range with carets below. A range over several lines is marked to the end of its first.
std::string excerpt(const LineIndex& lines, Range range, std::string_view mark, const Palette& p) {
  LineColumn at = lines.locate(range.begin);
  std::string line = printable(lines.line(at.line));
  uint32_t width = count_code_points(line);
  LineColumn end = lines.locate(range.end);
  uint32_t last = end.line == at.line ? end.column : width + 1;
  uint32_t carets = std::max<uint32_t>(1, last > at.column ? last - at.column : 1);
  std::string number = std::to_string(at.line);
  std::string pad(number.size(), ' ');
  return fmt::format("{0}{1} |{2}\n{0}{3} |{2} {4}\n{0}{1} |{2} {5}{6}{7}{2}\n", p.place, pad, p.reset,
                     number, line, std::string(at.column - 1, ' '), mark, std::string(carets, '^'));
}

std::string position(const LineIndex& lines, const std::string& file, Range range) {
  LineColumn at = lines.locate(range.begin);
  return fmt::format("{}:{}:{}", file, at.line, at.column);
}

nlohmann::json json_place(std::string_view text, Range range) {
  LineIndex lines(text);
  LineColumn start = lines.locate(range.begin), end = lines.locate(range.end);
  return {{"start", {{"line", start.line}, {"column", start.column}}},
          {"end", {{"line", end.line}, {"column", end.column}}}};
}

}  // namespace

std::string_view code_of(DiagnosticKind kind) { return kKinds[static_cast<size_t>(kind)].code; }
std::string_view title_of(DiagnosticKind kind) { return kKinds[static_cast<size_t>(kind)].title; }

std::string render_terminal(const LocatedDiagnostic& d, bool colour) {
  const Palette& p = colour ? kColours : kPlain;
  std::string out =
      fmt::format("{}error[{}]{}: {}{}{}\n", p.error, code_of(d.kind), p.reset, p.bold, d.message, p.reset);
  if (!d.text.empty()) {
    LineIndex lines(d.text);
    out += fmt::format("{}-->{} {}\n", p.place, p.reset, position(lines, d.file, d.range));
    out += excerpt(lines, d.range, p.error, p);
  }
  for (const LocatedNote& note : d.notes) {
    out += fmt::format("{}note{}: {}\n", p.note, p.reset, note.message);
    if (note.text.empty()) continue;
    LineIndex lines(note.text);
    out += fmt::format("{}-->{} {}\n", p.place, p.reset, position(lines, note.file, note.range));
    out += excerpt(lines, note.range, p.note, p);
  }
  return out;
}

std::string render_json(const std::vector<LocatedDiagnostic>& diagnostics) {
  nlohmann::json list = nlohmann::json::array();
  for (const LocatedDiagnostic& d : diagnostics) {
    nlohmann::json entry = json_place(d.text, d.range);
    entry["code"] = code_of(d.kind);
    entry["severity"] = "error";
    entry["message"] = d.message;
    entry["file"] = d.file;
    entry["notes"] = nlohmann::json::array();
    for (const LocatedNote& note : d.notes) {
      nlohmann::json item = note.text.empty() ? nlohmann::json::object() : json_place(note.text, note.range);
      item["message"] = note.message;
      if (!note.text.empty()) item["file"] = note.file;
      entry["notes"].push_back(std::move(item));
    }
    list.push_back(std::move(entry));
  }
  return list.dump(2, ' ', false, nlohmann::json::error_handler_t::replace);
}

namespace {

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t substitute = diagonal + (a[i - 1] != b[j - 1]);
      diagonal = row[j];
      row[j] = std::min({row[j] + 1, row[j - 1] + 1, substitute});
    }
  }
  return row[b.size()];
}

}  // namespace

std::optional<std::string> did_you_mean(std::string_view name, const std::vector<std::string>& candidates) {
  std::optional<std::string> best;
  // In a name of one or two letters any change makes another name.
  size_t best_distance = name.size() < 3 ? 1 : std::max<size_t>(1, name.size() / 3) + 1;
  for (const std::string& candidate : candidates) {
    size_t distance = edit_distance(name, candidate);
    // A name without its prefix ("relu" for "nn.relu") is a slip of a kind of its own.
    if (candidate.size() > name.size() && candidate.ends_with(name) &&
        candidate[candidate.size() - name.size() - 1] == '.')
      distance = 0;
    if (distance < best_distance) {
      best = candidate;
      best_distance = distance;
    }
  }
  return best;
}

}  // namespace quern
