#include "repl/report/command_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <sstream>

#include "frontend/text/render.h"
#include "frontend/text/source.h"

namespace quern {

std::string_view trimmed(std::string_view text) {
  auto space = [](char c) { return std::isspace(static_cast<unsigned char>(c)) != 0; };
  while (!text.empty() && space(text.front())) text.remove_prefix(1);
  while (!text.empty() && space(text.back())) text.remove_suffix(1);
  return text;
}

std::pair<std::string_view, std::string_view> first_word(std::string_view text) {
  text = trimmed(text);
  const size_t end = std::min(text.find_first_of(" \t\n"), text.size());
  return {text.substr(0, end), trimmed(text.substr(end))};
}

bool is_name(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](unsigned char c) {
    return std::isalnum(c) || c == '_' || c == '.';
  });
}

std::string_view global_name(std::string_view text) {
  return text.starts_with('@') && is_name(text.substr(1)) ? text.substr(1) : std::string_view();
}

std::string_view called_name(std::string_view text) {
  return text.ends_with(')') ? global_name(trimmed(text.substr(0, text.find_first_of("(<["))))
                             : std::string_view();
}

size_t end_of_quoted(std::string_view text, size_t at) {
  const std::string_view rest = text.substr(at);
  const auto after = [&](std::string_view end, size_t from) {
    const size_t found = rest.find(end, from);
    return found == std::string_view::npos ? text.size() : at + found + end.size();
  };
  if (rest.starts_with("//")) return after("\n", 2);
  if (rest.starts_with("/*")) return after("*/", 2);
  if (!rest.starts_with('"')) return at;
  for (size_t i = 1; i < rest.size(); ++i) {
    if (rest[i] == '\\')
      ++i;
    else if (rest[i] == '"')
      return at + i + 1;
  }
  return text.size();
}

std::vector<std::string> split_at_commas(std::string_view text) {
  std::vector<std::string> parts;
  int depth = 0;
  size_t begin = 0;
  for (size_t i = 0; i < text.size();) {
    if (const size_t end = end_of_quoted(text, i); end > i) {
      i = end;
      continue;
    }
    const char c = text[i];
    depth += (c == '(' || c == '[' || c == '{') - (c == ')' || c == ']' || c == '}');
    if (c == ',' && depth == 0) {
      parts.emplace_back(trimmed(text.substr(begin, i - begin)));
      begin = i + 1;
    }
    ++i;
  }
  parts.emplace_back(trimmed(text.substr(begin)));
  return parts;
}

std::pair<std::string_view, std::string_view> with_file(std::string_view request,
                                                        std::span<const std::string_view> endings) {
  request = trimmed(request);
  const size_t at = request.rfind('>');
  const std::string_view name = at == std::string_view::npos ? "" : unquoted(trimmed(request.substr(at + 1)));
  const auto is_ending = [&](std::string_view ending) { return name.ends_with(ending); };
  if (std::ranges::none_of(endings, is_ending)) return {request, {}};
  return {trimmed(request.substr(0, at)), name};
}

std::string wrong_ending(std::string_view request, std::string_view command,
                         std::span<const std::string_view> endings) {
  if (!with_file(request, endings).second.empty()) return "";
  const size_t at = request.rfind('>');
  if (at == std::string_view::npos) return "";
  const std::string_view name = unquoted(trimmed(request.substr(at + 1)));
  const auto is_of_names = [](char c) {
    return std::isalnum(static_cast<unsigned char>(c)) != 0 ||
           std::string_view("_-./~").find(c) != std::string_view::npos;
  };
  const size_t dot = std::min(name.rfind('.'), name.size());
  // `1.5f` is a number.
  const std::string_view ending = name.substr(dot);
  const bool is_file =
      ending.size() > 2 && std::ranges::all_of(name, is_of_names) &&
      std::ranges::all_of(ending.substr(1), [](unsigned char c) { return std::isalpha(c) != 0; });
  if (!is_file) return "";
  return fmt::format("`{}` writes {}, not `{}`", command, fmt::join(endings, " or "), ending);
}

std::string_view unquoted(std::string_view file) {
  const bool is_quoted =
      file.size() > 1 && file.front() == file.back() && (file.front() == '"' || file.front() == '\'');
  return is_quoted ? file.substr(1, file.size() - 2) : file;
}

std::string shortened(std::string text) {
  constexpr size_t kMost = 40;
  std::ranges::replace(text, '\n', ' ');
  if (count_code_points(text) <= kMost) return text;
  size_t end = 0;
  for (size_t i = 0; i < kMost - 3; ++i) end += std::max<size_t>(1, utf8_length(text, end));
  return text.substr(0, end) + "...";
}

void print_line(std::string_view line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
}

std::string dim_text(Dim dim) {
  if (!dim) return "-";
  const auto number = as_const(dim);
  return number ? amount_text(static_cast<double>(*number)) : to_string(dim);
}

std::string shape_text(Type type) {
  std::string parts;
  if (type->kind == TypeKind::Tuple) {
    for (Type field : type->args) parts += (parts.empty() ? "" : ", ") + shape_text(field);
    return fmt::format("({}{})", parts, type->args.size() == 1 ? "," : "");
  }
  if (!type->is_tensor()) return to_string(type);
  for (Dim dim : type->dims) parts += (parts.empty() ? "" : ", ") + to_string(dim);
  return fmt::format("({}{}) {}", parts, type->dims.size() == 1 ? "," : "", to_string(type->dtype));
}

std::string plain_markdown(std::string_view markdown, size_t width) {
  constexpr std::array<std::string_view, 4> kOwnLine{" ", "- ", "|", "#"};
  std::istringstream lines{std::string(markdown)};
  std::string text, paragraph;
  const auto end_paragraph = [&] {
    if (!paragraph.empty()) text += wrapped(paragraph, 0, width) + "\n";
    paragraph.clear();
  };
  bool in_example = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_fence = line.starts_with("```");
    const auto begins_line = [&](std::string_view begin) { return line.starts_with(begin); };
    const bool is_own = std::ranges::any_of(kOwnLine, begins_line);
    if (is_fence || in_example || line.empty() || is_own) end_paragraph();
    if (is_fence) {
      in_example = !in_example;
      if (in_example && !text.empty() && !text.ends_with("\n\n")) text += "\n";
    } else if (in_example || line.empty() || is_own) {
      text += (in_example && !line.empty() ? "    " : "") + line + "\n";
    } else {
      paragraph += (paragraph.empty() ? "" : " ") + line;
    }
  }
  end_paragraph();
  return text;
}

std::string columns_text(const std::vector<std::vector<std::string>>& rows, std::string_view right,
                         size_t width) {
  std::vector<size_t> widths;
  for (const auto& row : rows) {
    widths.resize(std::max(widths.size(), row.size()));
    for (size_t i = 0; i < row.size(); ++i)
      widths[i] = std::max<size_t>(widths[i], count_code_points(row[i]));
  }
  std::string text;
  for (const auto& row : rows) {
    std::string line;
    for (size_t i = 0; i < row.size(); ++i) {
      const std::string blanks(widths[i] - count_code_points(row[i]), ' ');
      const bool at_right = i < right.size() && right[i] == 'r';
      if (i > 0 && i + 1 == row.size() && !at_right) {
        line += "  " + wrapped(row[i], count_code_points(line) + 2, width);
        continue;
      }
      line += (i > 0 ? "  " : "") + (at_right ? blanks + row[i] : row[i] + blanks);
    }
    line.resize(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

}  // namespace quern
