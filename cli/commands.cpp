#include "cli/commands.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/child_process.h"
#include "cli/files.h"
#include "frontend/text/render.h"
#include "generated/config.h"
#include "ide/documentation.h"
#include "ir/io/data_files.h"
#include "jit/codegen/codegen.h"
#include "jit/runtime/threads.h"
#include "lsp/attach/attached_server.h"
#include "lsp/server.h"
#include "lsp/stream_transport.h"
#include "passes/pipeline.h"
#include "repl/command_files.h"
#include "repl/repl.h"
#include "session/db/data_files.h"
#include "session/run/compiler.h"
#include "session/run/data_values.h"
#include "session/run/execution.h"
#include "session/run/measures.h"
#include "session/run/profile_report.h"
#include "session/run/source_stage.h"

namespace quern {

namespace {

void add_threads(CLI::App& command) {
  command.add_option_function<int>("--threads", set_thread_count, "N: how many threads kernels run on")
      ->check(CLI::Range(1, 1024));
}

void add_winograd(CLI::App& command, CompilerOptions& options) {
  command
      .add_option(
          "--winograd", options.winograd_tile,
          "2 or 4: 3x3 convolutions may have the error of Winograd's with such tiles (docs/kernels.md)")
      ->check(CLI::IsMember({2, 4}));
}

void add_without(CLI::App& command, CompilerOptions& options) {
  const auto take = [&options](const std::vector<std::string>& names) {
    for (const std::string& name : names) leave_out(name, options);
  };
  command
      .add_option_function<std::vector<std::string>>(
          "--without", take,
          fmt::format("leave out what only makes programs faster: {}", fmt::join(measures(), ", ")))
      ->delimiter(',')
      ->allow_extra_args(false)
      ->check(CLI::IsMember(measures()));
}

}  // namespace

CommandLine::CommandLine(CLI::App& app) : app_(app) {
  app.add_flag("--version", version_, "what this is built with, and what was found on this machine");
  app.add_option("--stdlib", stdlib_, "a folder to take the library from instead of the built-in one");
  CLI::App* repl =
      app.add_subcommand("repl", "explore: type expressions and definitions (also without a subcommand)");
  repl->add_flag("--interpret", interpret_, "by the reference interpreter instead of compiled kernels");
  repl->add_option("--attach", socket_,
                   "see the texts that an editor has open, and show it values: by the socket PATH of its "
                   "server, or of the last one")
      ->expected(0, 1)
      ->type_name("[PATH]");
  add_threads(*repl);
  add_winograd(*repl, compiler_);
  declare_run(*app.add_subcommand("run", "run a file's statements in order (also `quern FILE`)"));
  declare_checks();
  declare_ir();
  declare_searches();
  declare_servers();
  declare_programs();
}

void CommandLine::declare_checks() {
  CLI::App* check = app_.add_subcommand("check", "report what is wrong in files, without running them");
  check->add_option("FILE", files_, ".relay files, or folders of them")->required();
  check->add_flag("--json", json_, "diagnostics as a JSON list");
  CLI::App* test =
      app_.add_subcommand("test", "run the tests of files, and compare transcripts with what happens");
  test->add_option("FILE", files_, ".relay files; transcripts are .transcript and .md; or folders of them")
      ->required();
  test->add_option("--filter", filter_, "run only tests whose name contains this text, and no transcripts");
  test->add_flag("--update", update_, "write what happens into the transcripts where they say otherwise");
  test->add_flag("--interpret", interpret_, "by the reference interpreter instead of compiled kernels");
  CLI::App* fmt = app_.add_subcommand("fmt", "lay files out in the canonical style, in place");
  fmt->add_option(
         "FILE", files_,
         ".relay files, or folders of them; - is standard input, whose layout goes to standard output")
      ->required();
  fmt->add_flag("--check", check_,
                "change nothing; name the files that would change, and exit with 1 for any");
  fmt->add_option("--range", range_,
                  "A:B, or A: only the declarations that touch these lines of the one file");
}

void CommandLine::declare_ir() {
  CLI::App* ir = app_.add_subcommand("ir", "show what a file becomes at a stage of compilation");
  add_winograd(*ir, compiler_);
  add_without(*ir, compiler_);
  ir->add_option(
      "--features", compiler_.features,
      "+amx-tile,+amx-int8: code for a machine that has these of LLVM's features too, or not with `-`");
  ir->add_option("FILE", file_, "a .relay file")->required();
  ir->add_option("NAME", entry_, "@f: one definition; all statements without it");
  ir->add_option("--stage", stage_, fmt::format("{}", fmt::join(Compiler::stages(), ", ")));
  ir->add_option("--passes", passes_, "fuse,dead_code: what these passes alone make of the typed text")
      ->delimiter(',');
  ir->add_option("--output", output_,
                 "FILE.relay: the whole module with its types; large constants go to FILE.safetensors");
  CLI::App* explain = app_.add_subcommand("explain", "what a code such as Q0302 means, with examples");
  explain->add_option("CODE", codes_, "codes of diagnostics; without one, the list of all");
  CLI::App* doc = app_.add_subcommand(
      "doc", "what a file's operators, functions and types do, from their doc comments, as Markdown");
  doc->add_option("FILE", file_, "a .relay file; the library's operators without one");
}

void CommandLine::declare_searches() {
  CLI::App* bisect =
      app_.add_subcommand("bisect", "name the first step of compilation after which a file's results differ");
  bisect->add_option("FILE", file_, "a .relay file")->required();
  bisect->add_option("--limit", limit_, "SECONDS that each step may take (60)")->check(CLI::PositiveNumber);
  CLI::App* reduce = app_.add_subcommand(
      "reduce", "make a file smaller that fails: a crash, a bug that Quern tells of, or results that differ");
  reduce->add_option("FILE", file_, "a .relay file")->required();
  reduce->add_option(
      "COMMAND", command_,
      "after `--`: a command that fails in the place of `quern run`; the file's path is its last word");
  reduce->add_option("--limit", limit_, "SECONDS that each attempt may take (60)")
      ->check(CLI::PositiveNumber);
  reduce->add_option("--output", output_, "where the result goes, instead of standard output");
}

void CommandLine::declare_servers() {
  CLI::App* lsp = app_.add_subcommand("lsp", "the language server, on standard input and output");
  lsp->add_option("--listen", socket_,
                  "let prompts attach (`quern repl --attach`), by the socket PATH or one of its own")
      ->expected(0, 1)
      ->type_name("[PATH]");
  // Only the language server runs it.
  app_.add_subcommand("evaluate", "")->group("");
  CLI::App* serve =
      app_.add_subcommand("serve", "the language server with its editor, as a page for a browser");
  serve->add_option("--port", port_,
                    fmt::format("N: of 127.0.0.1, instead of {}; 0 is any that is free", kPort));
  serve->add_option("--page", page_,
                    "DIR: the folder of the page's files, instead of the one that comes with Quern");
  serve->add_flag("--open", open_, "open the page in the browser");
}

void CommandLine::declare_programs() {
  CLI::App* import =
      app_.add_subcommand("import", "a model of ONNX or TensorFlow as text: MODEL.onnx becomes MODEL.relay");
  import->set_help_flag("");
  import->prefix_command();
  CLI::App* exported =
      app_.add_subcommand("export", "a function as a model of ONNX: FILE.relay becomes FILE.onnx");
  exported->set_help_flag("");
  exported->prefix_command();
  // All words are passed on to the kernel, `--help` too.
  CLI::App* kernel =
      app_.add_subcommand("kernel", "the kernel for Jupyter: `quern kernel install` tells Jupyter of it");
  kernel->set_help_flag("");
  kernel->prefix_command();
}

void CommandLine::declare_run(CLI::App& run) {
  run.set_help_flag("");
  run.add_flag("-h,--help", help_, "this text; with FILE, what the file takes");
  add_threads(run);
  add_winograd(run, compiler_);
  add_without(run, compiler_);
  run.add_option("FILE", file_, "a .relay file; - is standard input");
  run.add_option("-c", text_, "TEXT: a program in place of a file");
  run.add_option(
         "--input", inputs_,
         "NAME=FILE: the value of the top-level variable %NAME or of @main's parameter; of a scalar also "
         "the value itself, as in steps=100")
      ->allow_extra_args(false)
      ->take_all();
  run.add_option("--params", params_,
                 "FILE: the value of %params or, where there is none, of @main's parameters by their names");
  run.add_option("--random", seed_,
                 "SEED: random numbers for those parameters of @main of which nothing else gives any part");
  run.add_option("--seed", sample_seed_,
                 "SEED of the random numbers that the program draws by next_key() and @sample.*");
  run.add_option("--entry", entry_, "a definition to run last, instead of @main");
  run.add_option("--output", output_,
                 "FILE: where the last value is saved (.npy, .npz, .safetensors, .csv, .params, .png, …)");
  run.add_option("--format", format_, "text or json: an object a line")
      ->check(CLI::IsMember({"text", "json"}));
  run.add_flag("--interpret", interpret_, "by the reference interpreter instead of compiled kernels");
  run.add_option("--after", after_,
                 "PASS: with --interpret, what the program is after this pass (as of `ir --stage`)");
  run.add_flag("--check-nan", compiler_.execution.checks_nan,
               "stop at the first operation that makes a NaN, and show its operands");
  run.add_flag("--profile", profile_, "what each kernel took, on standard error (docs/kernels.md)");
  run.add_flag("--watch", watch_, "run again whenever the file, or one that it imports or loads, changes");
}

int CommandLine::run() {
  int code = kFine;
  auto bug = failure_of([&] { code = run_command(); });
  if (!bug) return code;
  std::fflush(stdout);
  if (opened_.empty())
    say(fmt::format("a bug of Quern: {}", bug->what()));
  else
    print_diagnostics({opened_.back().session->locate(*bug)});
  return kBug;
}

const OpenedFile* CommandLine::open(const std::string& path) {
  auto opened = open_file(path, stdlib_);
  if (opened) return &opened_.emplace_back(std::move(*opened));
  const LocatedDiagnostic problem = unreadable(path, opened.error());
  if (format_ == "json")
    fmt::print(stderr, "{}\n", render_json({problem}));
  else
    print_diagnostics({problem});
  return nullptr;
}

int CommandLine::run_command() {
  if (version_) return version();
  if (app_.got_subcommand("run")) return run_file();
  for (const char* command : {"check", "test", "fmt"})
    if (app_.got_subcommand(command))
      files_ = with_files_of_folders(files_, command == std::string_view("test"));
  if (app_.got_subcommand("check")) return check();
  if (app_.got_subcommand("test")) return test();
  if (app_.got_subcommand("fmt")) return format_files();
  if (app_.got_subcommand("ir")) return ir();
  if (app_.got_subcommand("explain")) return explain();
  if (app_.got_subcommand("doc")) return document();
  for (const char* command : {"import", "export"})
    if (app_.got_subcommand(command))
      return become(
          command, "it is built where ONNX and protobuf are installed (Debian: libonnx-dev libprotobuf-dev)");
  if (app_.got_subcommand("bisect")) return bisect();
  if (app_.got_subcommand("reduce")) return reduce();
  if (app_.got_subcommand("lsp")) return lsp();
  if (app_.got_subcommand("evaluate")) return evaluate();
  if (app_.got_subcommand("serve")) return serve();
  if (app_.got_subcommand("kernel"))
    return become("kernel", "it is built where xeus is installed (Debian: xeus-dev)");
  return repl();
}

int CommandLine::version() {
  fmt::print("quern {} ({})\n", QUERN_VERSION, QUERN_BUILD_TYPE);
  fmt::print("LLVM {}\n", llvm_version());
  fmt::print("XGBoost {}\n", QUERN_XGBOOST_VERSION);
  fmt::print("SQLite {}\n", QUERN_SQLITE_VERSION);
  fmt::print("CUDA {}\n", QUERN_HAS_CUDA ? "toolkit " QUERN_CUDA_VERSION : "not found");
  if (auto generator = CodeGenerator::create()) {
    const CodegenTarget& target = (*generator)->target();
    fmt::print("host {} ({}), vectors of {} bytes\n", target.cpu, target.triple, target.machine.vector_bytes);
  }
  return kFine;
}

int CommandLine::check() {
  std::vector<LocatedDiagnostic> all;
  for (const std::string& path : files_) {
    auto opened = open_file(path, stdlib_);
    if (!opened) {
      all.push_back(unreadable(path, opened.error()));
      continue;
    }
    const OpenedFile& kept = opened_.emplace_back(std::move(*opened));
    auto found = kept.session->check_with_imports(kept.source);
    all.insert(all.end(), found.begin(), found.end());
  }
  if (json_) {
    std::puts(render_json(all).c_str());
  } else {
    print_diagnostics(all);
    point_to_explanation(all);
  }
  return exit_code(all);
}

// Writes the typed module as a file that can be parsed again, with its large constants in a file beside it.
static int write_module(Session& session, SourceId source, const std::string& output) {
  TypedText module = session.typed_text(source);
  Entries<TensorPtr> constants;
  for (const auto& tensor : module.constants.tensors())
    constants.emplace_back(constant_entry(constants.size(), tensor->dtype()),
                           std::const_pointer_cast<HostTensor>(tensor));
  if (!constants.empty())
    if (auto done = write_tensors(constants_file(output), constants); !done) {
      say(done.error().message);
      return kWrong;
    }
  std::ofstream out(output, std::ios::binary);
  out << module.text;
  out.close();
  if (out) return kFine;
  say(fmt::format("`{}` cannot be written", output));
  return kWrong;
}

int CommandLine::ir() {
  if (!output_.empty() && (!entry_.empty() || stage_ != "typed" || !passes_.empty())) {
    say("`--output` writes a whole module as it is typed: it goes with neither NAME nor another --stage");
    return kMisuse;
  }
  if (stage_ != "typed" && !passes_.empty()) {
    say("`--passes` shows what these passes alone make: it goes without --stage");
    return kMisuse;
  }
  const OpenedFile* opened = open(file_);
  if (!opened) return kWrong;
  Session& session = *opened->session;
  const std::string wanted = definition_of(entry_);
  const auto wrong = [](const std::string& message) {
    say(message);
    return kWrong;
  };
  Compiler compiler(session, compiler_);
  if (stage_ != "ast") {
    auto problems = problems_of(session, opened->source, wanted);
    if (has_errors(problems)) {
      print_diagnostics(problems);
      point_to_explanation(problems);
      return exit_code(problems);
    }
  }
  if (!output_.empty()) return write_module(session, opened->source, output_);
  if (passes_.empty()) {
    auto text = source_stage(session, compiler, opened->source, wanted, stage_);
    if (!text) return wrong(text.error().message);
    fmt::print("{}", *text);
    return kFine;
  }
  auto shown = definitions_of(session, opened->source, wanted);
  if (!shown) return wrong(shown.error().message);
  for (const Definition* d : *shown) {
    auto text = compiler.text_after(*d, passes_);
    if (!text) return wrong(text.error().message);
    fmt::print("{}\n", *text);
  }
  return kFine;
}

int CommandLine::document() {
  if (file_.empty()) {
    auto files = library(stdlib_);
    if (!files) {
      say(files.error().message);
      return kWrong;
    }
    Session session(*files);
    fmt::print("{}", ide::library_page(session, session.make_module(), *files));
    return kFine;
  }
  const OpenedFile* opened = open(file_);
  if (!opened) return kWrong;
  std::string text = opened->session->text(opened->source);
  std::string name = std::filesystem::path(file_).filename().string();
  const std::string page = ide::documentation(*opened->session, opened->module, {{name, text}});
  if (page.empty()) say(fmt::format("`{}` has no operator, and no `///` above a function or a type", file_));
  fmt::print("{}", page);
  return kFine;
}

int CommandLine::repl() {
  auto files = library(stdlib_);
  if (!files) {
    say(files.error().message);
    return kWrong;
  }
  Session session(std::move(*files));
  ReplOptions options;
  options.interactive = isatty(STDIN_FILENO) != 0;
  options.colour = colours_wanted();
  options.execution.interpret = interpret_;
  options.execution.compiler = compiler_;
  if (!interpret_) warn_about_cache(compiler_.cache);
  std::unique_ptr<lsp::AttachedServer> attached;
  if (app_.got_subcommand("repl") && app_.get_subcommand("repl")->count("--attach") > 0) {
    auto server = lsp::AttachedServer::connect(socket_);
    if (!server) {
      say(server.error().message);
      return kWrong;
    }
    std::signal(SIGPIPE, SIG_IGN);
    attached = std::move(*server);
    options.attached = attached.get();
  }
  return run_repl(session, options);
}

int CommandLine::lsp() {
  auto files = library(stdlib_);
  if (!files) {
    say(files.error().message);
    return kWrong;
  }
  Session session(std::move(*files));
  // Standard output is reserved for the protocol: everything else is printed to stderr.
  std::fflush(stdout);
  // Evaluators must not hold it open.
  const int out = fcntl(STDOUT_FILENO, F_DUPFD_CLOEXEC, 0);
  dup2(STDERR_FILENO, STDOUT_FILENO);
  std::signal(SIGPIPE, SIG_IGN);
  lsp::ServerOptions options{evaluator_command(stdlib_), socket_};
  if (app_.get_subcommand("lsp")->count("--listen") > 0 && socket_.empty()) {
    auto folder = lsp::socket_folder();
    if (folder)
      options.socket = *folder / fmt::format("{}.sock", getpid());
    else
      say(folder.error().message);
  }
  lsp::StreamTransport transport(STDIN_FILENO, out);
  return lsp::run_language_server(session, transport, options);
}

/// Replaces this process with the program beside it that links the libraries of Jupyter's protocol.
int CommandLine::become(const std::string& command, std::string_view where) {
  const std::string program = own_program() + "-" + command;
  std::vector<std::string> words = app_.get_subcommand(command)->remaining();
  words.insert(words.begin(), program);
  std::vector<char*> arguments;
  arguments.reserve(words.size() + 1);
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  execv(program.c_str(), arguments.data());
  say(fmt::format("`{}` is not there: {}", program, where));
  return kWrong;
}

}  // namespace quern
