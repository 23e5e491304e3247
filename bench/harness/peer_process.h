#pragma once
// A library in a process of its own, asked by lines on its stdin and answering by lines on its stdout.
//
//     ready                                     (at its start)
//     prepare<TAB>key=value<TAB>…            -> prepared WHAT | none WHY
//     run COUNT WARM                         -> took SECONDS DISTURBED
//
// Between two requests it is stopped: its worker threads would go on spinning beside the others.

#include <sys/types.h>

#include <cstdio>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/harness/contender.h"

namespace quern::bench {

/// How a library is started.
struct PeerCommand {
  std::string name;
  std::vector<std::string> arguments;    ///< the program first
  std::vector<std::string> environment;  ///< NAME=value, beside the number of threads
};

/// PyTorch by a script of the repository (bench/harness/torch_process.py).
PeerCommand torch_command(const std::string& script);
/// The variables with which OpenBLAS, and PyTorch's calls of it, take their kernels for AVX-512: they choose by
/// the processor's name and know few that have it. Empty where there is none.
std::vector<std::string> wide_openblas();

class PeerProcess final : public Contender {
 public:
  /// Starts it and waits until it is ready; a Failure where its library is not there.
  static Result<std::unique_ptr<PeerProcess>> start(const PeerCommand& command, int threads);
  ~PeerProcess() override;
  PeerProcess(const PeerProcess&) = delete;
  PeerProcess& operator=(const PeerProcess&) = delete;

  /// Readies it for a work that these fields, `key=value`, describe. Nothing where the library has no such
  /// work, and why is told on stderr after the work's name.
  Result<std::optional<Done>> prepare(const std::string& work, const std::vector<std::string>& fields);

  /// Whether the process is no more.
  bool has_ended();
  std::string label() const override { return name_ + (variant_.empty() ? "" : " " + variant_); }
  Result<Sample> run(int64_t count, bool warm) override;

 private:
  PeerProcess(std::string name, pid_t process, std::FILE* requests, std::FILE* answers)
      : name_(std::move(name)), process_(process), requests_(requests), answers_(answers) {}
  Result<std::string> ask(const std::string& request);
  Result<std::string> answer();

  std::string name_, variant_;
  pid_t process_;
  bool ended_ = false;
  std::FILE *requests_, *answers_;
};

}  // namespace quern::bench
