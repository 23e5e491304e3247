#pragma once
// Messages between the server and the process that evaluates: a request, then lines of JSON, of which the last has the
// outcome.

#include <cstddef>
#include <string>
#include <string_view>
#include <variant>

#include "ide/evaluation.h"
#include "ide/ir_document.h"
#include "ir/base/result.h"

namespace quern::lsp {

struct EvaluationOrder {
  std::variant<ide::EvaluationRequest, ide::IrRequest> asked;
  size_t memory = 0;  ///< bytes of address space that the process may have; 0 for no limit
};

/// A line that the program prints.
struct PrintedLine {
  std::string text;
};

std::string encode(const EvaluationOrder& order);
std::string encode(const PrintedLine& line);
std::string encode(const ide::Evaluation& evaluation);
std::string encode(const Result<ide::IrDocument>& made);

Result<EvaluationOrder> decode_order(std::string_view text);
Result<std::variant<PrintedLine, ide::Evaluation>> decode_line(std::string_view text);
/// The one line of a process that makes an IR document.
Result<ide::IrDocument> decode_ir(std::string_view text);

}  // namespace quern::lsp
