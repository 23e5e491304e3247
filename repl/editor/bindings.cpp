#include <array>

#include "repl/editor/editor.h"

namespace quern::editor {

namespace {

constexpr std::array kBindings{
    Binding{"Enter", "end the input, or begin a new line while something is open", &Editor::accept_line},
    Binding{"Alt-Enter", "begin a new line", &Editor::insert_line},
    Binding{"Tab", "complete the name at the cursor; indent at the beginning of a line", &Editor::complete},
    Binding{"Shift-Tab", "the completion before; take indentation away", &Editor::complete_backward},
    Binding{"F1, Alt-h", "show or hide what is said of a completion", &Editor::show_documentation},
    Binding{"Escape, Ctrl-G", "close the menu or the search", &Editor::cancel},
    Binding{"Left, Ctrl-B", "a character to the left", &Editor::left},
    Binding{"Right, Ctrl-F", "a character to the right; at the end, take what is shown in grey",
            &Editor::right},
    Binding{"Ctrl-Left, Alt-Left, Alt-b", "a word to the left", &Editor::word_left},
    Binding{"Ctrl-Right, Alt-Right, Alt-f",
            "a word to the right; at the end, take a word of what is shown in grey", &Editor::word_right},
    Binding{"Home, Ctrl-A", "the beginning of the line", &Editor::line_begin},
    Binding{"End, Ctrl-E", "the end of the line; there, take what is shown in grey", &Editor::line_end},
    Binding{"Ctrl-Home, Alt-<", "the beginning of the input", &Editor::text_begin},
    Binding{"Ctrl-End, Alt->", "the end of the input", &Editor::text_end},
    Binding{"Up, Ctrl-P", "a line up; from the first, the earlier input that begins as this one does",
            &Editor::up},
    Binding{"Down, Ctrl-N", "a line down; among earlier inputs, the next one", &Editor::down},
    Binding{"PageUp, Alt-p", "the earlier input that begins as this one does", &Editor::earlier_input},
    Binding{"PageDown, Alt-n", "the next one", &Editor::later_input},
    Binding{"Ctrl-R", "search earlier inputs", &Editor::search_backward},
    Binding{"Ctrl-S", "search forward again", &Editor::search_forward},
    Binding{"Backspace", "erase to the left", &Editor::erase_left},
    Binding{"Delete", "erase to the right", &Editor::erase_right},
    Binding{"Ctrl-D", "erase to the right; with no input, quit", &Editor::erase_or_close},
    Binding{"Ctrl-K", "kill up to the end of the line", &Editor::kill_to_line_end},
    Binding{"Ctrl-U", "kill up to the beginning of the line", &Editor::kill_to_line_begin},
    Binding{"Alt-Backspace, Ctrl-Backspace", "kill the word to the left", &Editor::kill_word_left},
    Binding{"Ctrl-W", "kill up to the blank to the left", &Editor::kill_blank_word_left},
    Binding{"Alt-d, Ctrl-Delete, Alt-Delete", "kill the word to the right", &Editor::kill_word_right},
    Binding{"Ctrl-Y", "yank what was killed", &Editor::yank},
    Binding{"Alt-y", "after that, what was killed before", &Editor::yank_earlier},
    Binding{"Ctrl-T", "transpose two characters", &Editor::transpose},
    Binding{"Alt-u", "a word in capitals", &Editor::upper_case},
    Binding{"Alt-l", "a word in small letters", &Editor::lower_case},
    Binding{"Alt-c", "a word with a capital", &Editor::capital_case},
    Binding{"Ctrl-_, Ctrl-X Ctrl-U, Ctrl-X u", "undo", &Editor::undo},
    Binding{"Alt-_, Alt-/, Ctrl-X Ctrl-R", "redo", &Editor::redo},
    Binding{"Ctrl-L", "clear the screen", &Editor::clear_screen},
    Binding{"Ctrl-C", "drop the input", &Editor::drop},
    Binding{"Ctrl-Z", "stop the program; `fg` in the shell goes on", &Editor::suspend},
};

}  // namespace

std::span<const Binding> bindings() { return kBindings; }

}  // namespace quern::editor
