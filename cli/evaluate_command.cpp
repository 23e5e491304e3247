// `quern evaluate`: the process in which a language server evaluates. An order on standard input, lines of JSON on
// standard output (lsp/evaluation/messages.h).

#include <fmt/format.h>
#include <sys/prctl.h>
#include <sys/resource.h>

#include <csignal>
#include <cstdio>
#include <string>
#include <utility>
#include <variant>

#include "cli/commands.h"
#include "cli/transcripts.h"
#include "ide/evaluation.h"
#include "ide/ir_document.h"
#include "ide/transcript.h"
#include "ir/base/internal_failure.h"
#include "lsp/evaluation/messages.h"
#include "repl/command_files.h"

namespace quern {

namespace {

#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
// Shadow memory takes more address space than any limit allows.
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

/// The steps of a transcript but commands, whose processes nobody would end.
ide::Evaluation evaluate_inputs(const ide::EvaluationRequest& request, const std::string& stdlib,
                                const CompilerOptions& compiler) {
  TranscriptRunner::OpenTexts texts = request.texts;
  const std::string text = std::exchange(texts[request.path], "");
  texts.erase(request.path);
  ide::Transcript transcript = ide::parse_transcript(request.path, text);
  std::erase_if(transcript.steps,
                [](const auto& step) { return step.kind == ide::TranscriptStep::Kind::Command; });
  ExecutionOptions options;
  options.compiler = compiler;
  const auto outputs = TranscriptRunner(stdlib, options, std::move(texts)).outputs(transcript);
  return ide::evaluation_of(request.path, text, transcript, outputs);
}

}  // namespace

int CommandLine::evaluate() {
  // An evaluation may never end by itself, and a server that was killed does not end it.
  prctl(PR_SET_PDEATHSIG, SIGKILL);
  auto input = read_stdin();
  if (input && input->find_first_not_of(" \n\r\t") == std::string::npos) {
    say("`quern evaluate` reads the order of a language server, and there is none; `quern run FILE` runs a "
        "file");
    return kMisuse;
  }
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
  const auto* evaluation = std::get_if<ide::EvaluationRequest>(&order->asked);
  if (evaluation && std::holds_alternative<ide::EvaluationRequest::Inputs>(evaluation->what)) {
    send(lsp::encode(evaluate_inputs(*evaluation, stdlib_, compiler_)));
    return kFine;
  }
  Session session(std::move(*files));
  if (auto* request = std::get_if<ide::IrRequest>(&order->asked)) {
    send(lsp::encode(made_ir(session, *request, compiler_)));
    return kFine;
  }
  send(lsp::encode(ide::evaluate(session, *evaluation, compiler_, [](std::string_view line) {
    send(lsp::encode(lsp::PrintedLine{std::string(line)}));
  })));
  return kFine;
}

}  // namespace quern
