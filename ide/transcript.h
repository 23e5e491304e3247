#pragma once
// Transcripts: sessions as text, which serve as tests, tutorials and saved work.
//
//     >>> let %x = [1, 2,
//     ...           3f]
//     >>> %x + 1
//     Tensor[(3,), float32] [2, 3, 4]
//
// The text after `>>> ` is the input, with the text after `... ` on the lines directly below it; the lines up to the
// next input are the expected output, on either stream. `...` in such a line matches any text, and a line `....` any
// lines. Blanks at the ends of lines and blank lines at the end of an output are ignored.
//
// A `.transcript` is one session; the text above its first input is prose. In Markdown the blocks ```quern are one
// session, in order. Options after `quern` apply from their block on: `fresh` starts a new session, and `in=FOLDER`
// (relative to the file) sets the folder in which sessions and commands run, by default the file's own. The lines
// `$ quern …` of a block ```console are run as commands, and a block with `shows=FILE` after its language has to equal
// that file.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ide/evaluation.h"

namespace quern::ide {

/// A step and its expected output.
struct TranscriptStep {
  enum class Kind : unsigned char { Input, Command, File };
  Kind kind;
  std::string text;              ///< of the input, the command, or the file's path
  size_t line;                   ///< in the file, from 0
  size_t output = 0, end = 0;    ///< the lines of the file that are its output
  std::filesystem::path folder;  ///< in which it runs
  bool is_fresh = false;         ///< whether it starts a session
};

struct Transcript {
  std::vector<std::string> lines;
  std::vector<TranscriptStep> steps;

  std::vector<std::string> expected(const TranscriptStep& step) const;
  /// The range of the lines from `begin` to `end`, at least one, in the text, without the last line break.
  Range range_of_lines(size_t begin, size_t end) const;
};

/// Whether the name is that of a transcript: `.md` or `.transcript`.
bool is_transcript(const std::filesystem::path& path);
Transcript parse_transcript(const std::filesystem::path& path, std::string_view text);

/// The lines of an output, normalized for the comparison.
std::vector<std::string> output_lines(std::string_view text);
bool output_matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual);
/// A diff of both: lines that agree after ` `, expected ones after `-`, actual ones after `+`.
std::string output_difference(const std::vector<std::string>& expected,
                              const std::vector<std::string>& actual);

/// The text with the outputs that do not match replaced by those in `outputs`, which has one for each step.
std::string updated_transcript(const Transcript& transcript,
                               const std::vector<std::vector<std::string>>& outputs);

/// A part for each step of a transcript, which may lack some of the steps of its text, in the file at `path`. A part
/// whose output does not match has the failure and, if a transcript can represent the new output, the edit that writes
/// it.
Evaluation evaluation_of(const std::filesystem::path& path, std::string_view text,
                         const Transcript& transcript, const std::vector<std::vector<std::string>>& outputs);

}  // namespace quern::ide
