// Whole models of Quern against PyTorch, interleaved in the same run.
//
//     quern_models_bench [--threads N] [--json] [--seconds S] [--list] [NAME…]
//
// A NAME picks a model, a group of models, or all whose names begin with it; `--list` shows the programs. Exit
// code 1: a row failed, or results differ.

#include <fmt/format.h>

#include <fstream>
#include <sstream>

#include "bench/harness/difference.h"
#include "bench/harness/folder.h"
#include "bench/harness/machine.h"
#include "bench/harness/options.h"
#include "bench/harness/peer_process.h"
#include "bench/harness/quern_program.h"
#include "bench/models/first_call.h"
#include "bench/models/report.h"
#include "ir/io/data_files.h"

namespace quern::bench {
namespace {

constexpr double kTolerance = 1e-3;  // largest difference, relative to the largest element
constexpr uint64_t kSeed = 1;

using Model = CommandLine::RowName;

// The rows of the table. Each has a text NAME.relay, and its module in torch_peer.py under the same name.
const std::vector<Model> kModels = {
    {"resnet18", "convolutional"},
    {"resnet50", "convolutional"},
    {"mobilenet_v2", "convolutional"},
    {"squeezenet", "convolutional"},
    {"vgg16", "convolutional"},
    {"dqn", "convolutional"},
    {"dcgan", "convolutional"},
    {"capsule_conv", "convolutional"},
    {"lstm", "recurrent"},
    {"gru", "recurrent"},
    {"mi_lstm", "recurrent"},
    {"tree_lstm", "recurrent"},
    {"bert_tiny", "transformer"},
    {"bert_base", "transformer"},
    {"gpt2", "transformer"},
    {"decoder", "transformer"},
};

std::string program_file(const Model& model) {
  return fmt::format("{}/bench/models/{}.relay", QUERN_SOURCE_DIR, model.name);
}

Result<std::string> program_text(const Model& model) {
  std::ifstream file(program_file(model));
  std::ostringstream text;
  text << file.rdbuf();
  if (!file) return Failure{fmt::format("{} cannot be read", program_file(model))};
  return text.str();
}

/// A model's PyTorch, in a process that has made no other model.
struct Peer {
  std::unique_ptr<PeerProcess> process;
  std::string arguments;  ///< the file of what @main takes
  TensorPtr result;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), report_(options.json) {}

  int run(const std::vector<Model>& models) {
    report_.begin();
    bool good = true;
    for (const Model& model : models) {
      auto row = measured(model);
      good &= static_cast<bool>(row);
      if (row)
        report_.add(*row);
      else
        fmt::print(stderr, "bench models: {}: {}\n", model.name, row.error().message);
    }
    report_.end();
    return good ? 0 : 1;
  }

 private:
  Result<Row> measured(const Model& model) {
    const Folder folder("quern_models_");
    auto peer = prepared(model, folder);
    if (!peer) return peer.error();
    QuernProgram quern;
    if (auto same = compiled(model, *peer, quern); !same) return same.error();
    auto arguments = run_options(*peer, quern, folder);
    if (!arguments) return arguments.error();
    auto first =
        measure_first_calls(program_file(model), *arguments, folder.file("kernels.db"), options_.threads);
    if (!first) return first.error();
    std::vector<Contender*> contenders{&quern};
    if (peer->process) contenders.push_back(peer->process.get());
    auto rounds = measure(contenders, options_.budget);
    if (!rounds) return rounds.error();
    return Row{model.name, model.group, options_.threads, figures_of(contenders, *rounds), *first};
  }

  // Without PyTorch Quern is measured alone, on random numbers.
  Result<Peer> prepared(const Model& model, const Folder& folder) {
    if (!has_torch_) return Peer{};
    auto process = PeerProcess::start(torch_command("bench/models/torch_peer.py"), options_.threads);
    if (!process) {
      fmt::print(stderr, "bench models: {}\n", process.error().message);
      has_torch_ = false;
      return Peer{};
    }
    Peer peer{std::move(*process), folder.file("arguments.safetensors"), nullptr};
    const std::string result = folder.file("result.npy");
    auto ready = peer.process->prepare(
        model.name, {"model=" + model.name, "arguments=" + peer.arguments, "result=" + result});
    if (!ready) return ready.error();
    if (!*ready) return Failure{"PyTorch has no such model"};
    auto read = read_tensors(result);
    if (!read) return read.error();
    peer.result = read->front().second;
    return peer;
  }

  // Readies Quern's program, whose result has to be PyTorch's.
  static Result<Done> compiled(const Model& model, const Peer& peer, QuernProgram& quern) {
    auto text = program_text(model);
    if (!text) return text.error();
    if (auto done = quern.compile(model.name, *text, CompilerOptions{Tiers::Best}); !done) return done;
    if (auto done = peer.process ? quern.load(peer.arguments) : quern.draw(kSeed); !done) return done;
    auto value = quern.call();
    if (!value) return value.error();
    const TensorPtr result = value->as_tensor();
    if (!result) return Failure{"the result of @main is not a tensor"};
    if (!peer.process) return Done{};
    const double apart = difference(*result, *peer.result);
    if (apart <= kTolerance) return Done{};
    return Failure{fmt::format(
        "Quern's result differs from that of PyTorch by {:.2g} of its largest element; {:.2g} is allowed",
        apart, kTolerance)};
  }

  // The options with which `quern run` has the same arguments.
  static Result<std::string> run_options(const Peer& peer, const QuernProgram& quern, const Folder& folder) {
    if (peer.process) return fmt::format("--params '{}'", peer.arguments);
    auto files = quern.save(folder.file("argument_"));
    if (!files) return files.error();
    std::string options;
    for (const auto& [name, file] : *files) options += fmt::format(" --input '{}={}'", name, file);
    return options;
  }

  Options options_;
  Report report_;
  bool has_torch_ = true;
};

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  const CommandLine command_line("bench models");
  const Options options = command_line.parse(argc, argv);
  const std::vector<bool> is_chosen = command_line.chosen(kModels, options.names);
  std::vector<Model> models;
  for (size_t i = 0; i < kModels.size(); ++i)
    if (is_chosen[i]) models.push_back(kModels[i]);
  if (options.list) {
    for (const Model& model : models)
      if (auto text = program_text(model)) fmt::print("{}\n", *text);
    return 0;
  }
  return run_with(options.threads, [&] { return Bench(options).run(models); });
}
