// `quern evaluate`: the process in which a language server evaluates. An order on standard input, lines of JSON on
// standard output (lsp/evaluation/messages.h).

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <utility>
#include <variant>

#include "cli/commands.h"
#include "ide/evaluation.h"
#include "ide/ir_document.h"
#include "ir/base/internal_failure.h"
#include "lsp/evaluation/messages.h"
#include "repl/command_files.h"

namespace quern {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Shadow memory takes more addresses than any limit for a program gives.
constexpr bool kLimitsMemory = false;
#else
constexpr bool kLimitsMemory = true;
#endif

void limit_memory(size_t bytes) {
  if (!kLimitsMemory || bytes == 0) return;
  const rlimit limit{bytes, bytes};
  setrlimit(RLIMIT_AS, &limit);
}

void send(const std::string& line) {
  std::fwrite(line.data(), 1, line.size(), stdout);
  std::fputc('\n', stdout);
  std::fflush(stdout);
}

/// A bug of Quern is among the reasons why there is none.
Result<ide::IrDocument> made_ir(Session& session, const ide::IrRequest& request,
                                const CompilerOptions& options) {
  Result<ide::IrDocument> made = Failure{};
  const auto bug = failure_of([&] { made = ide::ir_document(session, request, options); });
  if (bug) return Failure{session.locate(*bug).message};
  return made;
}

}  // namespace

int CommandLine::evaluate() {
  // Nobody would end what is endless once the server was killed.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto input = read_stdin();
  auto order =
      input ? lsp::decode_order(*input) : Result<lsp::EvaluationOrder>(Failure{input.error().message});
  if (!order) {
    say(fmt::format("`quern evaluate` takes what a language server orders: {}", order.error().message));
    return kMisuse;
  }
  auto files = library(stdlib_);
  if (!files) {
    say(files.error().message);
    return kWrong;
  }
  limit_memory(order->memory);
  Session session(std::move(*files));
  if (auto* request = std::get_if<ide::IrRequest>(&order->asked)) {
    send(lsp::encode(made_ir(session, *request, compiler_)));
    return kFine;
  }
  const auto& request = std::get<ide::EvaluationRequest>(order->asked);
  send(lsp::encode(ide::evaluate(session, request, compiler_, [](std::string_view line) {
    send(lsp::encode(lsp::PrintedLine{std::string(line)}));
  })));
  return kFine;
}

}  // namespace quern
