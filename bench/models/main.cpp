// Whole models of Quern against PyTorch and compositions of oneDNN's primitives, interleaved in the same run.
//
//     quern_models_bench [--threads N] [--json] [--seconds S] [--list] [NAME…]
//
// A NAME picks a model, a group of models, or all whose names begin with it; `--list` shows the programs. Exit
// code 1: a row failed, or results differ.

#include <fmt/format.h>

#include <filesystem>
#include <set>

#include "bench/harness/difference.h"
#include "bench/harness/folder.h"
#include "bench/harness/machine.h"
#include "bench/harness/options.h"
#include "bench/harness/peer_process.h"
#include "bench/harness/quern_program.h"
#include "bench/harness/relay_texts.h"
#include "bench/models/first_call.h"
#include "bench/models/report.h"
#include "ir/io/data_files.h"

namespace quern::bench {
namespace {

constexpr double kTolerance = 1e-3;  // largest difference, relative to the largest element
constexpr uint64_t kSeed = 1;

using Model = CommandLine::RowName;

const std::string kFolder = "models";

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

// oneDNN has no primitives for these, or none that make a network of it.
const std::set<std::string> kWithoutOneDnn = {"capsule_conv", "mi_lstm", "tree_lstm", "decoder"};

/// A model's peers, in processes that have made no other model.
struct Peers {
  std::unique_ptr<PeerProcess> torch;   ///< null: Quern is measured alone
  std::unique_ptr<PeerProcess> onednn;  ///< null where the library is not there or has no such model
  std::string arguments;                ///< the file of what @main takes
  TensorPtr result;                     ///< PyTorch's
};

PeerCommand onednn_command() {
  const auto folder = std::filesystem::read_symlink("/proc/self/exe").parent_path();
  return {"oneDNN", {(folder / "quern_models_peer").string()}, {}};
}

// Whether the result is PyTorch's.
Result<Done> same(const std::string& whose, const HostTensor& result, const HostTensor& reference) {
  const double apart = difference(result, reference);
  if (apart <= kTolerance) return Done{};
  return Failure{fmt::format(
      "{} result differs from that of PyTorch by {:.2g} of its largest element; {:.2g} is allowed", whose,
      apart, kTolerance)};
}

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
    auto peers = prepared(model, folder);
    if (!peers) return peers.error();
    QuernProgram quern;
    if (auto done = compiled(model, *peers, quern); !done) return done.error();
    auto arguments = run_options(*peers, quern, folder);
    if (!arguments) return arguments.error();
    auto first = measure_first_calls(relay_file(kFolder, model.name).string(), *arguments,
                                     folder.file("kernels.db"), options_.threads);
    if (!first) return first.error();
    std::vector<Contender*> contenders{&quern};
    for (PeerProcess* peer : {peers->torch.get(), peers->onednn.get()})
      if (peer) contenders.push_back(peer);
    auto rounds = measure(contenders, options_.budget);
    if (!rounds) return rounds.error();
    Row row{model.name, model.group, options_.threads, figures_of(contenders, *rounds), {}, {}, *first};
    if (peers->torch) row.torch = row.figures.all_peers.front();
    if (peers->onednn) row.onednn = row.figures.all_peers.back();
    return row;
  }

  // Without PyTorch Quern is measured alone, on random numbers.
  Result<Peers> prepared(const Model& model, const Folder& folder) {
    Peers peers;
    peers.torch = started(torch_command("bench/models/torch_peer.py"), has_torch_);
    if (!peers.torch) return peers;
    peers.arguments = folder.file("arguments.safetensors");
    auto result = prepared_peer(*peers.torch, model, peers.arguments, folder);
    if (!result) return result.error();
    if (!*result) return Failure{"PyTorch has no such model"};
    peers.result = *result;
    if (kWithoutOneDnn.contains(model.name)) return peers;
    peers.onednn = started(onednn_command(), has_onednn_);
    if (!peers.onednn) return peers;
    auto other = prepared_peer(*peers.onednn, model, peers.arguments, folder);
    if (!other) return other.error();
    if (*other) {
      if (auto good = same("oneDNN's", **other, *peers.result); !good) return good.error();
    } else {
      peers.onednn = nullptr;
    }
    return peers;
  }

  // Null where the library is not there, which is told once.
  std::unique_ptr<PeerProcess> started(const PeerCommand& command, bool& is_there) const {
    if (!is_there) return nullptr;
    auto process = PeerProcess::start(command, options_.threads);
    if (process) return std::move(*process);
    fmt::print(stderr, "bench models: {}\n", process.error().message);
    is_there = false;
    return nullptr;
  }

  // A peer's result for the model; null where it has no such model.
  static Result<TensorPtr> prepared_peer(PeerProcess& peer, const Model& model, const std::string& arguments,
                                         const Folder& folder) {
    const std::string result = folder.file("result.npy");
    auto ready =
        peer.prepare(model.name, {"model=" + model.name, "arguments=" + arguments, "result=" + result});
    if (!ready) return ready.error();
    if (!*ready) return TensorPtr();
    auto read = read_tensors(result);
    if (!read) return read.error();
    return read->front().second;
  }

  // Readies Quern's program, whose result has to be PyTorch's.
  static Result<Done> compiled(const Model& model, const Peers& peers, QuernProgram& quern) {
    auto text = relay_text(kFolder, model.name);
    if (!text) return text.error();
    if (auto done = quern.compile(model.name, *text, CompilerOptions{Tiers::Best}); !done) return done;
    if (auto done = peers.torch ? quern.load(peers.arguments) : quern.draw(kSeed); !done) return done;
    auto value = quern.call();
    if (!value) return value.error();
    const TensorPtr result = value->as_tensor();
    if (!result) return Failure{"the result of @main is not a tensor"};
    if (!peers.torch) return Done{};
    return same("Quern's", *result, *peers.result);
  }

  // The options with which `quern run` has the same arguments.
  static Result<std::string> run_options(const Peers& peers, const QuernProgram& quern,
                                         const Folder& folder) {
    if (peers.torch) return fmt::format("--params '{}'", peers.arguments);
    auto files = quern.save(folder.file("argument_"));
    if (!files) return files.error();
    std::string options;
    for (const auto& [name, file] : *files) options += fmt::format(" --input '{}={}'", name, file);
    return options;
  }

  Options options_;
  Report report_;
  bool has_torch_ = true, has_onednn_ = true;
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
      if (auto text = relay_text(kFolder, model.name)) fmt::print("{}\n", *text);
    return 0;
  }
  return run_with(options.threads, [&] { return Bench(options).run(models); });
}
