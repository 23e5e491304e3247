#include "ide/transcript.h"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>
#include <utility>

#include "ide/alignment.h"

namespace quern::ide {

namespace {

constexpr std::string_view kInputPrompt = ">>>", kContinuationPrompt = "...", kCommandPrompt = "$ ",
                           kBlockFence = "```";
constexpr std::string_view kAnyText = "...", kAnyLines = "....";

bool is_prompt(std::string_view line, std::string_view prompt) {
  return line.starts_with(prompt) && (line.size() == prompt.size() || line[prompt.size()] == ' ');
}

std::string_view after_prompt(std::string_view line) {
  return line.substr(std::min(line.size(), kInputPrompt.size() + 1));
}

std::string_view without_end_blanks(std::string_view line) {
  return line.substr(0, line.find_last_not_of(" \t\r") + 1);
}

/// The options after a fence.
struct Block {
  std::string language, in, shows;
  bool is_fresh = false;
};

Block block_of(std::string_view fence) {
  constexpr std::string_view kIn = "in=", kShows = "shows=";
  Block block;
  std::istringstream words{std::string(fence.substr(kBlockFence.size()))};
  words >> block.language;
  for (std::string word; words >> word;) {
    if (word == "fresh") block.is_fresh = true;
    if (word.starts_with(kIn)) block.in = word.substr(kIn.size());
    if (word.starts_with(kShows)) block.shows = word.substr(kShows.size());
  }
  return block;
}

/// The steps of a file, line by line.
class TranscriptParser {
 public:
  TranscriptParser(const std::filesystem::path& path, std::string_view text)
      : home_(path.parent_path()), folder_(home_) {
    for (const std::string_view line : lines_of(text)) transcript_.lines.emplace_back(line);
    const size_t count = transcript_.lines.size();
    if (path.extension() != ".md")
      session(0, count);
    else
      for (size_t line = 0; line < count; ++line)
        if (transcript_.lines[line].starts_with(kBlockFence)) line = block(line);
  }

  Transcript take() { return std::move(transcript_); }

 private:
  /// Parses the block whose fence is at a line; returns the line of the closing fence.
  size_t block(size_t fence) {
    const Block block = block_of(transcript_.lines[fence]);
    size_t end = fence + 1;
    while (end < transcript_.lines.size() && !transcript_.lines[end].starts_with(kBlockFence)) ++end;
    if (!block.in.empty()) folder_ = home_ / block.in;
    if (!block.shows.empty())
      add(TranscriptStep::Kind::File, block.shows, fence, fence + 1, end);
    else if (block.language == "console")
      commands(fence + 1, end);
    else if (block.language == "quern") {
      is_fresh_ = is_fresh_ || block.is_fresh || !block.in.empty();
      session(fence + 1, end);
    }
    return end;
  }

  void session(size_t begin, size_t end) {
    const auto& lines = transcript_.lines;
    size_t at = begin;
    while (at < end && !is_prompt(lines[at], kInputPrompt)) ++at;
    while (at < end) {
      const size_t first = at;
      std::string text(after_prompt(lines[at++]));
      for (; at < end && is_prompt(lines[at], kContinuationPrompt); ++at)
        (text += '\n') += after_prompt(lines[at]);
      const size_t output = at;
      while (at < end && !is_prompt(lines[at], kInputPrompt)) ++at;
      if (text.find_first_not_of(" \t\r\n") == std::string::npos) continue;
      add(TranscriptStep::Kind::Input, std::move(text), first, output, at);
      transcript_.steps.back().is_fresh = std::exchange(is_fresh_, false);
    }
  }

  void commands(size_t begin, size_t end) {
    const auto& lines = transcript_.lines;
    for (size_t at = begin; at < end;) {
      const size_t first = at++;
      while (at < end && !lines[at].starts_with(kCommandPrompt)) ++at;
      if (lines[first].starts_with("$ quern"))
        add(TranscriptStep::Kind::Command, lines[first].substr(kCommandPrompt.size()), first, first + 1, at);
    }
  }

  void add(TranscriptStep::Kind kind, std::string text, size_t line, size_t output, size_t end) {
    transcript_.steps.push_back({kind, std::move(text), line, output, end, folder_, false});
  }

  Transcript transcript_;
  const std::filesystem::path home_;
  std::filesystem::path folder_;
  bool is_fresh_ = true;
};

bool line_matches(std::string_view expected, std::string_view actual) {
  const size_t gap = expected.find(kAnyText);
  if (gap == std::string_view::npos) return expected == actual;
  if (!actual.starts_with(expected.substr(0, gap))) return false;
  std::string_view rest = expected.substr(gap + kAnyText.size());
  actual.remove_prefix(gap);
  // It suffices to match the text between two gaps at its first occurrence.
  for (size_t next; (next = rest.find(kAnyText)) != std::string_view::npos;
       rest.remove_prefix(next + kAnyText.size())) {
    const size_t found = actual.find(rest.substr(0, next));
    if (found == std::string_view::npos) return false;
    actual.remove_prefix(found + next);
  }
  return actual.ends_with(rest);
}

Alignment alignment_of(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  const auto agree = [&](size_t i, size_t j) { return line_matches(expected[i], actual[j]); };
  return aligned(expected.size(), actual.size(), {agree, [&](size_t i) { return expected[i] == kAnyLines; }});
}

/// The message for an output that is not the expected one; a long output is truncated.
std::string message_of(const std::vector<std::string>& output) {
  constexpr size_t kMostLines = 20;
  if (output.empty()) return "this shows nothing";
  std::string message = "this shows";
  for (size_t i = 0; i < std::min(output.size(), kMostLines); ++i) (message += '\n') += output[i];
  if (output.size() > kMostLines) message += fmt::format("\n… and {} more lines", output.size() - kMostLines);
  return message;
}

/// Writes an output over the expected one: from the end of the line before to the end of its last line.
Replacement replacement_of(const Transcript& transcript, const TranscriptStep& step,
                           const std::vector<std::string>& output) {
  const size_t end = step.output + transcript.expected(step).size();
  const uint32_t begin = transcript.range_of_lines(step.output - 1, step.output).end;
  Replacement replacement{{begin, transcript.range_of_lines(step.output - 1, end).end}, ""};
  const std::string_view line_end = transcript.lines[step.output - 1].ends_with('\r') ? "\r\n" : "\n";
  for (const std::string& line : output) (replacement.text += line_end) += line;
  return replacement;
}

void write_into(std::string& text, const Replacement& replacement) {
  const auto [begin, end] = replacement.range;
  text.replace(begin, end - begin, replacement.text);
}

}  // namespace

Range Transcript::range_of_lines(size_t begin, size_t end) const {
  size_t at = 0;
  for (size_t i = 0; i < begin; ++i) at += lines[i].size() + 1;
  size_t last = at;
  for (size_t i = begin; i + 1 < end; ++i) last += lines[i].size() + 1;
  last += lines[end - 1].size() - (lines[end - 1].ends_with('\r') ? 1 : 0);
  return {static_cast<uint32_t>(at), static_cast<uint32_t>(last)};
}

std::vector<std::string> Transcript::expected(const TranscriptStep& step) const {
  std::string text;
  for (size_t at = step.output; at < step.end; ++at) (text += lines[at]) += '\n';
  return output_lines(text);
}

bool is_transcript(const std::filesystem::path& path) {
  return path.extension() == ".md" || path.extension() == ".transcript";
}

Transcript parse_transcript(const std::filesystem::path& path, std::string_view text) {
  return TranscriptParser(path, text).take();
}

std::vector<std::string> output_lines(std::string_view text) {
  std::vector<std::string> lines;
  for (const std::string_view line : lines_of(text)) lines.emplace_back(without_end_blanks(line));
  while (!lines.empty() && lines.back().empty()) lines.pop_back();
  return lines;
}

bool output_matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual) {
  return alignment_of(expected, actual).changes == 0;
}

std::string output_difference(const std::vector<std::string>& expected,
                              const std::vector<std::string>& actual) {
  std::string out;
  for (const AlignedLine& line : alignment_of(expected, actual).lines)
    ((out += line.sign) += line.sign == '-' ? expected[line.first] : actual[line.second]) += '\n';
  return out;
}

std::string updated_transcript(const Transcript& transcript,
                               const std::vector<std::vector<std::string>>& outputs) {
  std::string text;
  for (const std::string& line : transcript.lines) (text += line) += '\n';
  for (size_t i = outputs.size(); i-- > 0;) {
    const TranscriptStep& step = transcript.steps[i];
    if (!output_matches(transcript.expected(step), outputs[i]))
      write_into(text, replacement_of(transcript, step, outputs[i]));
  }
  return text;
}

Evaluation evaluation_of(const std::filesystem::path& path, std::string_view text,
                         const Transcript& transcript, const std::vector<std::vector<std::string>>& outputs) {
  Evaluation evaluation;
  const size_t all_steps = parse_transcript(path, text).steps.size();
  for (size_t i = 0; i < outputs.size(); ++i) {
    const TranscriptStep& step = transcript.steps[i];
    const size_t expected = transcript.expected(step).size();
    // Includes the last line break, so that text added to an output touches the range.
    Range whole = transcript.range_of_lines(step.line, step.output + expected);
    whole.end = static_cast<uint32_t>(std::min(text.find('\n', whole.end), text.size() - 1)) + 1;
    EvaluatedPart part{whole, step.text, true};
    if (!output_matches(transcript.expected(step), outputs[i])) {
      const Range wrong = expected > 0 ? transcript.range_of_lines(step.output, step.output + expected)
                                       : transcript.range_of_lines(step.line, step.output);
      part.failure = EvaluationProblem{"", path.string(), wrong, message_of(outputs[i])};
      part.rewrite = replacement_of(transcript, step, outputs[i]);
      std::string written(text);
      write_into(written, *part.rewrite);
      // Output that looks like a prompt, or ends a block, would be parsed differently.
      const Transcript reread = parse_transcript(path, written);
      const auto same = std::ranges::find(reread.steps, step.line, &TranscriptStep::line);
      const bool is_kept = reread.steps.size() == all_steps && same != reread.steps.end() &&
                           output_matches(reread.expected(*same), outputs[i]);
      if (!is_kept) part.rewrite.reset();
    }
    evaluation.parts.push_back(std::move(part));
  }
  return evaluation;
}

}  // namespace quern::ide
