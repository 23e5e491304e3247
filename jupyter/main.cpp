// The Jupyter kernel: `quern-kernel FILE` serves the connection that Jupyter describes in FILE, `quern-kernel install`
// registers it with Jupyter.

#include <pthread.h>

#include <csignal>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <fstream>
#include <memory>
#include <stdexcept>
#include <string>

#include <CLI/CLI.hpp>
#include <xeus/xkernel.hpp>
#include <xeus/xkernel_configuration.hpp>
#include <xeus/xserver_zmq.hpp>

#include "generated/config.h"
#include "jit/codegen/background/abandoned.h"
#include "jupyter/interpreter.h"
#include "jupyter/kernel_spec.h"

namespace {

int install(const std::filesystem::path& prefix) {
  const auto written = quern::jupyter::install_spec(prefix, std::filesystem::read_symlink("/proc/self/exe"));
  if (!written) {
    std::fprintf(stderr, "quern-kernel: %s\n", written.error().message.c_str());
    return 1;
  }
  std::printf("%s\n", written->c_str());
  return 0;
}

int serve(const std::string& connection) {
  if (!std::ifstream(connection)) throw std::runtime_error("`" + connection + "` cannot be read");
  auto interpreter = std::make_unique<quern::jupyter::Interpreter>();
  // Only the session handles interrupts: system calls of the server's threads must not be interrupted.
  sigset_t interrupts;
  sigemptyset(&interrupts);
  sigaddset(&interrupts, SIGINT);
  pthread_sigmask(SIG_BLOCK, &interrupts, nullptr);
  xeus::xkernel kernel(xeus::load_configuration(connection), "quern", xeus::make_context<zmq::context_t>(),
                       std::move(interpreter), xeus::make_xserver_zmq);
  kernel.start();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"The Jupyter kernel of Quern", "quern-kernel"};
  std::string connection, prefix = quern::jupyter::user_prefix();
  app.set_version_flag("--version", std::string("Quern ") + QUERN_VERSION);
  app.add_option("connection", connection, "the file that says where Jupyter listens");
  CLI::App* install_command = app.add_subcommand("install", "tell Jupyter where this kernel is");
  install_command->add_option("--prefix", prefix, "a folder such as /usr/local/share/jupyter")
      ->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  quern::codegen::abandon_work_at_end();
  try {
    if (install_command->parsed()) return install(prefix);
    if (connection.empty()) {
      std::fputs(app.help().c_str(), stderr);
      return 2;
    }
    return quern::codegen::end_process(serve(connection));
  } catch (const std::exception& error) {
    std::fprintf(stderr, "quern-kernel: %s\n", error.what());
    return 1;
  }
}
