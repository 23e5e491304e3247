#pragma once
// The library's texts and the operators that they declare, found by scanning the texts themselves: an
// operator that the tests forget is one that this list has and theirs has not.

#include <string>
#include <vector>

#include "session/session.h"

namespace quern::numeric {

/// With them the operators that no library has (examples/own_operators.relay), which are tested as those of
/// it are.
std::vector<Session::LibraryFile> library_texts();
std::string own_operators();

/// Names of the operators, in order: `op name(`, and `def name(` without @ (composite operators).
std::vector<std::string> operators_of(const std::vector<Session::LibraryFile>& texts);

/// The doc comment of an operator, without its slashes.
std::string doc_comment(const std::string& op);
/// The declaration of an operator, without its doc comment.
std::string declaration_text(const std::string& op);

}  // namespace quern::numeric
