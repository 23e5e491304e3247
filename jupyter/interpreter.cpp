#include "jupyter/interpreter.h"

#include <cstdio>
#include <string_view>
#include <utility>
#include <vector>

#include <xeus/xhelper.hpp>

#include "generated/config.h"
#include "ide/completion.h"
#include "ide/description.h"
#include "ide/transcript.h"
#include "jupyter/cell.h"
#include "jupyter/html.h"
#include "repl/assistant.h"
#include "repl/commands/commands.h"
#include "repl/input.h"
#include "repl/workspace.h"

namespace quern::jupyter {

namespace {

using Json = nl::json;

/// The text without the escape sequences of colours.
std::string plain(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      out += text[i];
    } else {
      while (i < text.size() && text[i] != 'm') ++i;
    }
  }
  return out;
}

/// The table of the last result if there are more results than `before`.
std::string table_of_result(Workspace& workspace, size_t before) {
  const size_t count = workspace.results().count();
  if (count == before) return "";
  const TopLevelVariable* result = workspace.variable_of("_" + std::to_string(count));
  const Value* value = result ? workspace.execution().value_of(result->variable) : nullptr;
  return value ? html_of(*value) : "";
}

}  // namespace

Interpreter::Interpreter()
    : worker_([this](const picture::Picture& picture, const std::string& text) {
        std::fflush(stdout);
        pictures_.give(shown_picture(picture, text));
      }) {
  xeus::register_interpreter(this);
}
Interpreter::~Interpreter() = default;

void Interpreter::configure_impl() {}

void Interpreter::publish_printed(bool silent, std::string& problems) {
  const auto [out, err] = printed_.take();
  problems += err;
  if (!out.empty() && !silent) publish_stream("stdout", out);
}

void Interpreter::publish_shown(bool silent, std::string& problems) {
  pictures_.take([&](const ShownPicture& picture) {
    publish_printed(silent, problems);
    if (silent) return;
    Json data{{"text/plain", picture.text}}, metadata = Json::object();
    if (!picture.type.empty()) data[picture.type] = picture.content;
    if (picture.width > 0) metadata[picture.type] = {{"width", picture.width}, {"height", picture.height}};
    display_data(std::move(data), std::move(metadata), Json::object());
  });
  publish_printed(silent, problems);
}

Json Interpreter::execute_request_impl(int execution_counter, const std::string& code, bool silent, bool,
                                       Json, bool) {
  // Output from before the first cell belongs to no cell.
  if (!std::exchange(has_begun_, true)) printed_.take();
  std::string problems, table;
  bool failed = false;
  const auto publish = [&] { publish_shown(silent, problems); };
  const auto work = [&](Workspace& workspace) {
    const size_t results = workspace.results().count();
    for (const std::string& input : inputs_of(code)) {
      failed = take_input(workspace, input) == CommandOutcome::Failed;
      if (failed) return;
    }
    table = table_of_result(workspace, results);
  };
  worker_.run(work, publish);
  if (failed) {
    const std::vector<std::string> lines = ide::output_lines(problems);
    const std::string first = lines.empty() ? "the input failed" : plain(lines.front());
    if (!silent) publish_execution_error("Error", first, lines);
    return xeus::create_error_reply("Error", first, lines);
  }
  if (!problems.empty() && !silent) publish_stream("stderr", problems);
  if (!table.empty() && !silent)
    publish_execution_result(execution_counter, {{"text/html", table}, {"text/plain", ""}}, Json::object());
  return xeus::create_successful_reply();
}

Json Interpreter::complete_request_impl(const std::string& code, int cursor_pos) {
  const size_t cursor = byte_of(code, static_cast<size_t>(cursor_pos));
  // A command takes a whole line.
  const size_t line = cursor == 0 ? 0 : code.rfind('\n', cursor - 1) + 1;
  const size_t begin = line < code.size() && code[line] == ':' ? line : 0;
  editor::Completions found;
  worker_.run([&](Workspace& workspace) {
    found = LanguageAssistant(workspace).complete(std::string_view(code).substr(begin), cursor - begin);
  });
  Json matches = Json::array(), types = Json::array();
  const auto place = [&](size_t byte) { return static_cast<int>(character_of(code, begin + byte)); };
  const int start = place(found.begin), end = place(found.end);
  for (const auto& item : found.items) {
    matches.push_back(item.inserted);
    types.push_back({{"text", item.inserted}, {"type", item.detail}, {"start", start}, {"end", end}});
  }
  return xeus::create_complete_reply(matches, start, end, {{"_jupyter_types_experimental", types}});
}

Json Interpreter::inspect_request_impl(const std::string& code, int cursor_pos, int) {
  const size_t cursor = byte_of(code, static_cast<size_t>(cursor_pos));
  std::string name(name_at(code, cursor));
  // Between the brackets of a call, what is called.
  if (name.empty()) name = name_at(code, open_bracket_before(code, cursor));
  std::optional<ide::Description> found;
  if (!name.empty())
    worker_.run(
        [&](Workspace& workspace) { found = ide::describe(workspace.session(), workspace.module(), name); });
  if (!found) return xeus::create_inspect_reply(false);
  return xeus::create_inspect_reply(true, {{"text/plain", found->signature + "\n\n" + found->documentation},
                                           {"text/markdown", ide::to_markdown(*found)}});
}

Json Interpreter::is_complete_request_impl(const std::string& code) {
  const bool ends_blank = code.ends_with("\n\n");
  const bool is_open = needs_more(code, ends_blank);
  return xeus::create_is_complete_reply(is_open ? "incomplete" : "complete", is_open ? "  " : "");
}

Json Interpreter::kernel_info_request_impl() {
  return xeus::create_info_reply("5.3", "quern", QUERN_VERSION, "quern", QUERN_VERSION, "text/x-quern",
                                 ".relay", "text", "", "", std::string("Quern ") + QUERN_VERSION);
}

void Interpreter::shutdown_request_impl() {}

}  // namespace quern::jupyter
