#include "cli/child_process.h"

#include <fmt/format.h>
#include <poll.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include "lsp/spawn.h"

namespace quern {

namespace {

using Clock = std::chrono::steady_clock;

/// Reads both outputs until they are closed; false where the time is up.
bool read_outputs(std::array<int, 2> from, std::array<std::string*, 2> to, Clock::time_point end) {
  std::array<pollfd, 2> fds{{{from[0], POLLIN, 0}, {from[1], POLLIN, 0}}};
  std::array<char, 4096> buffer;
  while (fds[0].fd >= 0 || fds[1].fd >= 0) {
    auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - Clock::now());
    if (left.count() <= 0) return false;
    if (poll(fds.data(), fds.size(), static_cast<int>(left.count())) < 0 && errno != EINTR) return false;
    for (size_t i = 0; i < fds.size(); ++i) {
      if (fds[i].fd < 0 || fds[i].revents == 0) continue;
      ssize_t n = read(fds[i].fd, buffer.data(), buffer.size());
      if (n > 0)
        to[i]->append(buffer.data(), static_cast<size_t>(n));
      else
        fds[i].fd = -1;
    }
  }
  return true;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

/// A number with a point or an exponent, or a word, of a line.
struct Token {
  std::string_view text;
  bool is_float;
};
std::vector<Token> tokens_of(std::string_view line) {
  auto is_digit = [&](size_t at) {
    return at < line.size() && std::isdigit(static_cast<unsigned char>(line[at]));
  };
  auto is_part = [&](size_t at) {
    return std::isalnum(static_cast<unsigned char>(line[at])) || line[at] == '.' || line[at] == '_';
  };
  std::vector<Token> tokens;
  for (size_t at = 0; at < line.size();) {
    const bool is_number = is_digit(at) || (line[at] == '-' && is_digit(at + 1));
    auto goes_on = [&](size_t end) {
      const bool is_sign = line[end] == '-' || line[end] == '+';
      return is_part(end) || (is_number && is_sign && line[end - 1] == 'e');
    };
    size_t end = at + 1;
    if (is_number || is_part(at))
      while (end < line.size() && goes_on(end)) ++end;
    std::string_view text = line.substr(at, end - at);
    tokens.push_back({text, is_number && text.find_first_of(".e") != std::string_view::npos});
    at = end;
  }
  return tokens;
}

bool agree(std::string_view a, std::string_view b, double tolerance) {
  if (a == b) return true;
  std::vector<Token> x = tokens_of(a), y = tokens_of(b);
  return std::ranges::equal(x, y, [&](const Token& s, const Token& t) {
    if (s.text == t.text) return true;
    if (!s.is_float && !t.is_float) return false;
    char *s_end, *t_end;
    const std::string s_text(s.text), t_text(t.text);
    double p = std::strtod(s_text.c_str(), &s_end), q = std::strtod(t_text.c_str(), &t_end);
    return *s_end == 0 && *t_end == 0 &&
           std::abs(p - q) <= tolerance * std::max({1.0, std::abs(p), std::abs(q)});
  });
}

}  // namespace

ChildOutcome run_child(const std::vector<std::string>& command, std::chrono::milliseconds limit,
                       const std::vector<std::string>& variables) {
  ChildOutcome outcome;
  lsp::SpawnOptions options;
  options.input = lsp::SpawnOptions::Stream::Null;
  options.output = options.errors = lsp::SpawnOptions::Stream::Piped;
  options.leads_group = true;
  options.variables = variables;
  const auto child = lsp::spawn(command, options);
  if (!child) {
    outcome.code = 127;
    outcome.err = child.error().message + "\n";
    return outcome;
  }
  outcome.timed_out = !read_outputs({child->output.number(), child->errors.number()},
                                    {&outcome.out, &outcome.err}, Clock::now() + limit);
  if (outcome.timed_out) kill(-child->id, SIGKILL);
  int status = 0;
  waitpid(child->id, &status, 0);
  if (WIFSIGNALED(status) && !outcome.timed_out) outcome.signal = WTERMSIG(status);
  outcome.code = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return outcome;
}

std::string own_program() { return std::filesystem::read_symlink("/proc/self/exe").string(); }

std::vector<std::string> evaluator_command(const std::string& stdlib) {
  if (stdlib.empty()) return {own_program(), "evaluate"};
  return {own_program(), "--stdlib", stdlib, "evaluate"};
}

std::string ending_of(const ChildOutcome& outcome) {
  if (outcome.timed_out) return "it does not end in time";
  if (outcome.signal != 0)
    return fmt::format("it ends by signal {} ({})", outcome.signal, strsignal(outcome.signal));
  // Warnings may come before the first error.
  const std::vector<std::string> lines = lines_of(outcome.err);
  auto line = std::ranges::find_if(lines, [](const std::string& l) { return l.starts_with("error["); });
  if (line == lines.end()) line = lines.begin();
  const std::string text = line == lines.end() ? "" : *line;
  return fmt::format("its exit code is {}{}", outcome.code, text.empty() ? "" : ": " + text);
}

std::string difference_of_outputs(const std::string& actual, const std::string& expected) {
  // Sums are added in a different order and differ in their last bits.
  constexpr double kTolerance = 1e-4;
  constexpr std::string_view kNothing = "nothing";
  std::vector<std::string> a = lines_of(actual), b = lines_of(expected);
  for (size_t i = 0; i < std::max(a.size(), b.size()); ++i) {
    std::string_view left = i < a.size() ? std::string_view(a[i]) : kNothing,
                     right = i < b.size() ? std::string_view(b[i]) : kNothing;
    if (i >= a.size() || i >= b.size() || !agree(left, right, kTolerance))
      return fmt::format("line {} is\n  {}\ninstead of\n  {}", i + 1, left, right);
  }
  return "";
}

}  // namespace quern
