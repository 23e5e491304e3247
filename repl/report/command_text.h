#pragma once
// Parsing the arguments of commands, and formatting text for the terminal.

#include <cstddef>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/base/units.h"
#include "ir/dim/dim.h"
#include "ir/type/type.h"

namespace quern {

/// Without blanks at its ends.
std::string_view trimmed(std::string_view text);
/// The first word and the rest of the text, without the blanks between them.
std::pair<std::string_view, std::string_view> first_word(std::string_view text);
/// Letters, digits, `_` and `.`.
bool is_name(std::string_view text);
/// "f" of `@f`, "" of anything else.
std::string_view global_name(std::string_view text);
/// The name that a call `@f(…)` begins with, without its @; "" of anything else.
std::string_view called_name(std::string_view text);
/// The end of the string or comment that begins at `at`; `at` if none does.
size_t end_of_quoted(std::string_view text, size_t at);
/// What stands between commas that are in no bracket, string or comment.
std::vector<std::string> split_at_commas(std::string_view text);

/// `EXPR > FILE`: what stands before the last `>`, and the file, whose name has one of these endings; else all of it, as
/// no comparison has such a name on its right.
std::pair<std::string_view, std::string_view> with_file(std::string_view request,
                                                        std::span<const std::string_view> endings);
/// What is wrong with a request whose last `>` has the name of a file with another ending, for a command that writes
/// these; "" if nothing.
std::string wrong_ending(std::string_view request, std::string_view command,
                         std::span<const std::string_view> endings);
/// The name of a file as it is typed: without quotes around it.
std::string_view unquoted(std::string_view file);
/// In a line of 40 characters.
std::string shortened(std::string text);

void print_line(std::string_view line);
/// "1.23 M", a formula, or "-" for null.
std::string dim_text(Dim dim);
/// "(3, 4) float32": the shape and dtype of tensors, in brackets for tuples; of others the type.
std::string shape_text(Type type);

/// Markdown as a terminal shows it: paragraphs in lines of `width` columns, examples indented in the place of their fences.
std::string plain_markdown(std::string_view markdown, size_t width);
/// Columns that are as wide as their widest cell, two blanks apart; numbers, which end in a digit or a unit,
/// are not told apart: `right` says which columns are aligned at the right. The texts of the last column go on over
/// lines where they are wider than `width`.
std::string columns_text(const std::vector<std::vector<std::string>>& rows, std::string_view right,
                         size_t width = SIZE_MAX);

}  // namespace quern
