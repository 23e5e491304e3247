#pragma once
// Transcripts: sessions as text, which are tests, tutorials and saved work at once.
//
//     >>> let %x = [1, 2,
//     ...           3f]
//     >>> %x + 1
//     Tensor[(3,), float32] [2, 3, 4]
//
// What follows `>>> ` is typed, with the lines after `... ` directly below it; the lines up to the next input are
// what has to be shown, on either output. `...` in such a line stands for any text, and a line `....` for any
// lines. Blanks at the ends of lines and blank lines at the end of an output do not count.
//
// A `.transcript` is one session; what stands above its first input is prose. In Markdown the blocks ```quern are
// one session, in order. Words after `quern` hold from their block on: `fresh` starts a session anew, and
// `in=FOLDER` (seen from the file) says where sessions and commands run, which is the file's own folder without it.
// The lines `$ quern …` of a block ```console are run as commands, and a block with `shows=FILE` after its
// language has to be that file.

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "ide/evaluation.h"

namespace quern::ide {

/// One thing to do and the lines that have to come of it.
struct TranscriptStep {
  enum class Kind : unsigned char { Input, Command, File };
  Kind kind;
  std::string text;              ///< of the input, the command, or the file's path
  size_t line;                   ///< in the file, from 0, where it stands
  size_t output = 0, end = 0;    ///< the lines of the file that are its output
  std::filesystem::path folder;  ///< in which it is done
  bool is_fresh = false;         ///< whether a session begins with it
};

struct Transcript {
  std::vector<std::string> lines;
  std::vector<TranscriptStep> steps;

  std::vector<std::string> expected(const TranscriptStep& step) const;
  /// Where the lines from `begin` to `end`, one at least, stand in the text, without the end of the last one.
  Range range_of_lines(size_t begin, size_t end) const;
};

/// Whether the name is that of a transcript: `.md` or `.transcript`.
bool is_transcript(const std::filesystem::path& path);
Transcript parse_transcript(const std::filesystem::path& path, std::string_view text);

/// The lines of an output, as they are compared.
std::vector<std::string> output_lines(std::string_view text);
bool output_matches(const std::vector<std::string>& expected, const std::vector<std::string>& actual);
/// Both as one list of lines: after ` ` those that agree, after `-` those that were expected, after `+` those that
/// came.
std::string output_difference(const std::vector<std::string>& expected,
                              const std::vector<std::string>& actual);

/// The text with `outputs`, one for each step, in the place of those that do not match.
std::string updated_transcript(const Transcript& transcript,
                               const std::vector<std::vector<std::string>>& outputs);

/// A part for each step of a transcript, which may be without some of those of its text, in the file at `path`. One whose output does not match
/// has the failure and, where a transcript can hold the new output, the edit that writes it.
Evaluation evaluation_of(const std::filesystem::path& path, std::string_view text,
                         const Transcript& transcript, const std::vector<std::vector<std::string>>& outputs);

}  // namespace quern::ide
