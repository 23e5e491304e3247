// Operators of Quern against oneDNN, OpenBLAS and PyTorch, interleaved in the same run.
//
//     quern_ops_bench [--threads N] [--json] [--seconds S] [--layout nhwc|nchw] [--list] [NAME…]
//
// A NAME picks a row, a group of rows, or all whose names begin with it; `--list` shows the programs. Exit
// code 1: a row failed, or results differ.

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

#include "bench/harness/difference.h"
#include "bench/harness/folder.h"
#include "bench/harness/machine.h"
#include "bench/harness/options.h"
#include "bench/ops/libraries.h"
#include "bench/ops/quern_side.h"
#include "bench/ops/report.h"
#include "bench/ops/tensors.h"
#include "bench/ops/work.h"
#include "ir/io/data_files.h"
#include "jit/runtime/peaks.h"

namespace quern::bench {
namespace {

std::vector<Work> chosen(const CommandLine& command_line, std::vector<Work> works,
                         const std::vector<std::string>& names) {
  std::vector<CommandLine::RowName> rows;
  rows.reserve(works.size());
  for (const Work& work : works) rows.push_back({work.name, work.group});
  const std::vector<bool> is_chosen = command_line.chosen(rows, names);
  std::vector<Work> result;
  for (size_t i = 0; i < works.size(); ++i)
    if (is_chosen[i]) result.push_back(std::move(works[i]));
  return result;
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), report_(options.json) {
    for (const auto& [library, command] : library_commands())
      if (auto process = started(command)) peers_.push_back({library, command, std::move(process)});
  }

  int run(const std::vector<Work>& works) {
    peak_ = peak_gflops();
    bandwidth_ = copy_bandwidth(options_.threads);
    report_.begin(peak_, bandwidth_, options_.threads);
    bool good = true;
    for (const Work& work : works) {
      auto row = measured(work);
      good &= static_cast<bool>(row);
      if (row)
        report_.add(*row);
      else
        fmt::print(stderr, "bench ops: {}: {}\n", work.name, row.error().message);
    }
    report_.end();
    return good ? 0 : 1;
  }

 private:
  struct Peer {
    Library library;
    PeerCommand command;
    std::unique_ptr<PeerProcess> process;
  };

  // Null where the library is not there.
  std::unique_ptr<PeerProcess> started(const PeerCommand& command) const {
    auto process = PeerProcess::start(command, options_.threads);
    if (process) return std::move(*process);
    fmt::print(stderr, "bench ops: {}\n", process.error().message);
    return nullptr;
  }

  // One that crashed in the last row begins anew.
  void revive_peers() {
    for (Peer& peer : peers_)
      if (peer.process->has_ended()) peer.process = started(peer.command);
    std::erase_if(peers_, [](const Peer& peer) { return !peer.process; });
  }

  Result<Row> measured(const Work& work) {
    revive_peers();
    std::vector<TensorPtr> inputs;
    std::vector<std::string> files;
    for (size_t i = 0; i < work.inputs.size(); ++i) {
      inputs.push_back(random_tensor(work.inputs[i], i + 1));
      files.push_back(folder_.file(fmt::format("input{}.npy", i)));
      if (auto written = write_tensors(files.back(), {{"", inputs.back()}}); !written) return written.error();
    }
    auto result = quern_.prepare(work, inputs);
    if (!result) return result.error();
    std::vector<Contender*> contenders{&quern_};
    auto ready = prepare_peers(work, files, **result, contenders);
    for (const std::string& file : files) std::filesystem::remove(file);
    if (!ready) return ready.error();
    auto rounds = measure(contenders, options_.budget);
    if (!rounds) return rounds.error();

    double bytes = work.bytes;
    if (bytes == 0) {
      bytes = static_cast<double>((*result)->bytes());
      for (const TensorPtr& input : inputs) bytes += static_cast<double>(input->bytes());
    }
    return row_of(work, contenders, *rounds, bytes);
  }

  Result<Done> prepare_peers(const Work& work, const std::vector<std::string>& files,
                             const HostTensor& result, std::vector<Contender*>& contenders) {
    std::string file = folder_.file("result.npy");
    std::vector<std::string> tensors{"result=" + file};
    tensors.reserve(files.size() + 1);
    for (const std::string& input : files) tensors.push_back("input=" + input);
    for (auto& [library, command, process] : peers_) {
      std::vector<std::string> fields = task_of(work, library);
      if (fields.empty()) continue;
      fields.insert(fields.begin(), tensors.begin(), tensors.end());
      auto ready = process->prepare(work.name, fields);
      if (!ready) return ready.error();
      if (!*ready) continue;
      auto theirs = read_tensors(file);
      if (!theirs) return theirs.error();
      double apart = difference(result, *theirs->front().second);
      if (apart > work.tolerance)
        return Failure{
            fmt::format("Quern's result differs from that of {} by {:.2g} of its largest element; {:.2g} "
                        "is allowed",
                        process->label(), apart, work.tolerance)};
      contenders.push_back(process.get());
    }
    return Done{};
  }

  Row row_of(const Work& work, const std::vector<Contender*>& contenders, const Rounds& rounds,
             double bytes) const {
    Row row{work.name, work.group, options_.threads, figures_of(contenders, rounds)};
    row.is_compute = work.flops > 0;
    row.rate = (row.is_compute ? work.flops : bytes) / row.figures.seconds * 1e-9;
    double limit = row.is_compute ? std::max(peak_, peak_gflops()) * options_.threads
                                  : std::max(bandwidth_, copy_bandwidth(options_.threads));
    row.percent_of_peak = 100 * row.rate / limit;
    return row;
  }

  Options options_;
  double peak_ = 0, bandwidth_ = 0;  ///< at the start
  Folder folder_{"quern_ops_"};
  QuernSide quern_;
  Report report_;
  std::vector<Peer> peers_;
};

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  Layout layout = Layout::ChannelsLast;
  const auto take_layout = [&](const std::string& value) {
    layout = value == "nchw" ? Layout::ChannelsFirst : Layout::ChannelsLast;
    return value == "nhwc" || value == "nchw";
  };
  const CommandLine command_line("bench ops", {{"--layout", "nhwc|nchw", take_layout}});
  const Options options = command_line.parse(argc, argv);
  const std::vector<Work> works = chosen(command_line, all_works(layout), options.names);
  if (options.list) {
    for (const Work& work : works) fmt::print("// {}\n{}\n", work.name, work.source);
    return 0;
  }
  return run_with(options.threads, [&] { return Bench(options).run(works); });
}
