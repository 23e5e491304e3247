// Operators of Quern against oneDNN, OpenBLAS and PyTorch, interleaved in the same run.
//
//     quern_ops_bench [--threads N] [--json] [--seconds S] [--layout nhwc|nchw] [--list] [NAME…]
//
// A NAME picks a row, a group of rows, or all whose names begin with it; `--list` shows the programs. Exit
// code 1: a row failed, or results differ.

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>

#include "bench/ops/machine.h"
#include "bench/ops/measure.h"
#include "bench/ops/peer_process.h"
#include "bench/ops/quern_side.h"
#include "bench/ops/report.h"
#include "bench/ops/tensors.h"
#include "bench/ops/work.h"
#include "ir/io/data_files.h"
#include "jit/runtime/peaks.h"
#include "jit/runtime/threads.h"
#include "repl/session_thread.h"

namespace quern::bench {
namespace {

struct Options {
  int threads = 1;
  bool json = false, list = false;
  Budget budget;
  Layout layout = Layout::ChannelsLast;
  std::vector<std::string> names;
};

[[noreturn]] void refuse(const std::string& message) {
  fmt::print(stderr, "bench ops: {}\n", message);
  std::exit(2);
}

Options parse(int argc, char** argv) {
  Options options;
  std::vector<std::string> words(argv + 1, argv + argc);
  for (size_t i = 0; i < words.size(); ++i) {
    const std::string& word = words[i];
    auto value = [&]() -> const std::string& {
      if (i + 1 == words.size()) refuse(word + " takes a value");
      return words[++i];
    };
    if (word == "--json") {
      options.json = true;
    } else if (word == "--list") {
      options.list = true;
    } else if (word == "--threads") {
      options.threads = std::atoi(value().c_str());
      if (options.threads < 1) refuse("--threads takes a number of at least 1");
    } else if (word == "--seconds") {
      options.budget.seconds = std::atof(value().c_str());
      if (options.budget.seconds <= 0) refuse("--seconds takes a time above 0");
    } else if (word == "--layout") {
      const std::string& layout = value();
      if (layout != "nhwc" && layout != "nchw") refuse("--layout takes nhwc or nchw");
      options.layout = layout == "nhwc" ? Layout::ChannelsLast : Layout::ChannelsFirst;
    } else if (word.starts_with("-")) {
      refuse(
          fmt::format("there is no option {}; the options are --threads N, --json, --seconds S, --layout "
                      "nhwc|nchw, --list",
                      word));
    } else {
      options.names.push_back(word);
    }
  }
  return options;
}

std::vector<Work> chosen(const Options& options) {
  std::vector<Work> works = all_works(options.layout);
  std::string unknown, names;
  for (const Work& work : works) names += (names.empty() ? "" : " ") + work.name;
  works = select(std::move(works), options.names, unknown);
  if (!unknown.empty()) refuse(fmt::format("there is no row `{}`; the rows are {}", unknown, names));
  return works;
}

/// A folder for the tensors, gone with the object.
class Folder {
 public:
  Folder() {
    std::string name = (std::filesystem::temp_directory_path() / "quern_ops_XXXXXX").string();
    if (!mkdtemp(name.data())) refuse("no folder can be made in " + name);
    path_ = name;
  }
  ~Folder() {
    std::error_code ignored;
    std::filesystem::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  std::string file(const std::string& name) const { return (path_ / (name + ".npy")).string(); }

 private:
  std::filesystem::path path_;
};

// OpenBLAS and PyTorch's calls of it choose kernels by the processor's name, and know few that have AVX-512.
std::vector<PeerCommand> peer_commands() {
  std::string folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  std::string program = folder + "/quern_ops_peer";
  std::vector<std::string> wide;
  if (has_avx512()) wide.emplace_back("OPENBLAS_CORETYPE=SkylakeX");
  std::vector<PeerCommand> commands{
      {Library::OneDnn, "oneDNN", {program, "onednn"}, {}},
      {Library::OpenBlas, "OpenBLAS", {program, "openblas"}, {}},
      {Library::PyTorch, "PyTorch", {"/usr/bin/python3", QUERN_SOURCE_DIR "/bench/ops/torch_peer.py"}, wide}};
  if (!wide.empty())
    commands.push_back({Library::OpenBlas, "OpenBLAS SkylakeX", {program, "openblas"}, wide});
  return commands;
}

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options), report_(options.json) {
    for (const PeerCommand& command : peer_commands())
      if (auto process = started(command)) peers_.push_back({command, std::move(process)});
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
      files.push_back(folder_.file(fmt::format("input{}", i)));
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
    std::string file = folder_.file("result");
    for (auto& [command, process] : peers_) {
      auto ready = process->prepare(work, files, file);
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
    Row row{work.name, work.group, options_.threads};
    double seconds = quantile(rounds.times[0], 0.5);
    row.quern_us = seconds * 1e6;
    row.rounds = rounds.times[0].size();
    row.all_rounds = rounds.all;
    row.disturbed = rounds.disturbed;
    row.is_compute = work.flops > 0;
    row.rate = (row.is_compute ? work.flops : bytes) / seconds * 1e-9;
    double limit = row.is_compute ? std::max(peak_, peak_gflops()) * options_.threads
                                  : std::max(bandwidth_, copy_bandwidth(options_.threads));
    row.percent_of_peak = 100 * row.rate / limit;
    if (contenders.size() == 1) return row;
    Comparison best = compare(rounds);
    row.peer = contenders[best.peer]->label();
    row.peer_us = quantile(rounds.times[best.peer], 0.5) * 1e6;
    row.ratio = best.ratio;
    row.lowest = best.lowest;
    row.highest = best.highest;
    return row;
  }

  Options options_;
  double peak_ = 0, bandwidth_ = 0;  ///< at the start
  Folder folder_;
  QuernSide quern_;
  Report report_;
  std::vector<Peer> peers_;
};

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  Options options = parse(argc, argv);
  std::vector<Work> works = chosen(options);
  if (options.list) {
    for (const Work& work : works) fmt::print("// {}\n{}\n", work.name, work.source);
    return 0;
  }
  std::signal(SIGPIPE, SIG_IGN);
  if (options.threads == 1) stay_on_one_core();
  quern::set_thread_count(options.threads);
  return quern::on_session_thread([&] { return Bench(options).run(works); });
}
