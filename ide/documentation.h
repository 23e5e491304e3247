#pragma once
// Documentation pages, generated from the declarations of operators.

#include <string>
#include <vector>

#include "session/session.h"

namespace quern::ide {

/// An expression of a doc comment (a fenced block of `relay`), and its documented output.
struct DocExample {
  std::string code;
  std::string output;
};
/// The examples of a doc comment, in order: the lines of a block that begin with `// ` are the output.
std::vector<DocExample> doc_examples(const std::string& doc);

/// Markdown: each operator of the files, and each function and type with a doc comment, in order, with its signature,
/// the comment, and what is derived from an operator's definition. Examples are typed in `module`.
std::string documentation(Session& session, ModuleId module, const std::vector<Session::LibraryFile>& files);

/// The page of a library: its documentation, and names of other libraries with what each is in this one.
std::string library_page(Session& session, ModuleId module, const std::vector<Session::LibraryFile>& files);

}  // namespace quern::ide
