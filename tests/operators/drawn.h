#pragma once
// Calls of an operator with random arguments, as functions in the language.

#include <string>
#include <vector>

#include "ir/value/value.h"
#include "session/session.h"
#include "tests/operators/agreement_table.h"

namespace quern::numeric {

/// A call, and the tensors %a, %b… that it is of.
struct Drawn {
  Arguments arguments;
  /// `def @NAME(%a: …, %b: …) { call }` with the types of the tensors, their dims as they are, or each that
  /// is not 1 replaced by `dim` (`?`, or `_`: whatever the body makes of it).
  std::string definition(const std::string& name, const std::string& dim = "") const;
  /// The same with another type in the place of a tensor's, or another call.
  std::string definition_with(const std::string& name, size_t tensor, const std::string& type) const;
  std::string definition_of(const std::string& name, const std::string& call) const;
  std::vector<Value> values() const;
};
/// The call that is drawn for an operator under a number, the same on every machine.
Drawn drawn(const Row& row, uint64_t number);

std::string type_text(const HostTensor& tensor, const std::string& dim = "");

/// For the names of tests: no dots.
std::string test_name(const std::string& op);

/// What is said of a text, a line for each diagnostic with its notes; "" where nothing is wrong.
std::string complaints(Session& session, const std::string& text);

}  // namespace quern::numeric
