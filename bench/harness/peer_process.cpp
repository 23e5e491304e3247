#include "bench/harness/peer_process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <sstream>
#include <string_view>

#include "bench/harness/machine.h"

namespace quern::bench {

namespace {

// The user's settings would make a library less than it can be.
bool is_setting(std::string_view variable) {
  for (std::string_view prefix : {"OPENBLAS_", "GOTO_", "OMP_", "GOMP_", "DNNL_", "ONEDNN_", "ATEN_", "MKL_"})
    if (variable.starts_with(prefix)) return true;
  return false;
}

std::vector<std::string> environment_of(const PeerCommand& command, int threads) {
  std::vector<std::string> variables;
  for (char** variable = environ; *variable; ++variable)
    if (!is_setting(*variable)) variables.emplace_back(*variable);
  variables.push_back(fmt::format("OMP_NUM_THREADS={}", threads));
  variables.push_back(fmt::format("OPENBLAS_NUM_THREADS={}", threads));
  variables.insert(variables.end(), command.environment.begin(), command.environment.end());
  return variables;
}

std::vector<char*> pointers(std::vector<std::string>& strings) {
  std::vector<char*> result;
  result.reserve(strings.size() + 1);
  for (std::string& string : strings) result.push_back(string.data());
  result.push_back(nullptr);
  return result;
}

}  // namespace

PeerCommand torch_command(const std::string& script) {
  return {"PyTorch", {"/usr/bin/python3", "-B", QUERN_SOURCE_DIR "/" + script}, wide_openblas()};
}

std::vector<std::string> wide_openblas() {
  std::vector<std::string> variables;
  if (has_avx512()) variables.emplace_back("OPENBLAS_CORETYPE=SkylakeX");
  return variables;
}

Result<std::unique_ptr<PeerProcess>> PeerProcess::start(const PeerCommand& command, int threads) {
  std::array<int, 2> requests{}, answers{};
  if (pipe2(requests.data(), O_CLOEXEC) != 0 || pipe2(answers.data(), O_CLOEXEC) != 0)
    return Failure{"no pipe to another process can be made"};
  std::vector<std::string> arguments = command.arguments, variables = environment_of(command, threads);
  arguments.push_back(std::to_string(threads));
  std::vector<char*> argv = pointers(arguments), envp = pointers(variables);
  pid_t process = fork();
  if (process == 0) {
    prctl(PR_SET_PDEATHSIG, SIGKILL);
    dup2(requests[0], STDIN_FILENO);
    dup2(answers[1], STDOUT_FILENO);
    execve(argv[0], argv.data(), envp.data());
    _exit(127);
  }
  close(requests[0]);
  close(answers[1]);
  if (process < 0) return Failure{"no other process can be started"};
  std::unique_ptr<PeerProcess> peer(
      new PeerProcess(command.name, process, fdopen(requests[1], "w"), fdopen(answers[0], "r")));
  auto first = peer->answer();
  if (!first || *first != "ready")
    return Failure{fmt::format("{} is not there: {}", command.name,
                               first ? *first : fmt::format("`{}` does not start", command.arguments[0]))};
  return peer;
}

PeerProcess::~PeerProcess() {
  std::fclose(requests_);
  std::fclose(answers_);
  if (has_ended()) return;
  kill(process_, SIGKILL);
  waitpid(process_, nullptr, 0);
}

bool PeerProcess::has_ended() {
  ended_ = ended_ || waitpid(process_, nullptr, WNOHANG) == process_;
  return ended_;
}

Result<std::optional<Done>> PeerProcess::prepare(const std::string& work,
                                                 const std::vector<std::string>& fields) {
  std::string request = "prepare";
  for (const std::string& field : fields) request += "\t" + field;
  auto reply = ask(request);
  if (!reply) return reply.error();
  constexpr std::string_view kPrepared = "prepared";
  if (!reply->starts_with(kPrepared)) {
    fmt::print(stderr, "{}: {}: {}\n", work, name_, *reply);
    return std::optional<Done>();
  }
  variant_ = reply->size() > kPrepared.size() ? reply->substr(kPrepared.size() + 1) : "";
  return std::optional<Done>(Done{});
}

Result<Sample> PeerProcess::run(int64_t count, bool warm) {
  auto reply = ask(fmt::format("run {} {}", count, warm ? 1 : 0));
  if (!reply) return reply.error();
  std::istringstream words(*reply);
  std::string took;
  Sample sample;
  words >> took >> sample.seconds >> sample.disturbed;
  if (!words || took != "took") return Failure{fmt::format("{}: {}", name_, *reply)};
  return sample;
}

Result<std::string> PeerProcess::ask(const std::string& request) {
  kill(process_, SIGCONT);
  std::fputs((request + "\n").c_str(), requests_);
  std::fflush(requests_);
  return answer();
}

Result<std::string> PeerProcess::answer() {
  std::string line;
  for (int c = std::fgetc(answers_); c != '\n'; c = std::fgetc(answers_)) {
    if (c == EOF) return Failure{name_ + " ended unexpectedly"};
    line += static_cast<char>(c);
  }
  kill(process_, SIGSTOP);
  int status = 0;
  ended_ = waitpid(process_, &status, WUNTRACED) == process_ && !WIFSTOPPED(status);
  return line;
}

}  // namespace quern::bench
