#include "jupyter/kernel_spec.h"

#include <cstdlib>
#include <fstream>
#include <string>
#include <system_error>

#include <nlohmann/json.hpp>

namespace quern::jupyter {

namespace fs = std::filesystem;

fs::path user_prefix() {
  const char* data = std::getenv("XDG_DATA_HOME");
  if (data && *data) return fs::path(data) / "jupyter";
  const char* home = std::getenv("HOME");
  return fs::path(home ? home : ".") / ".local/share/jupyter";
}

Result<fs::path> install_spec(const fs::path& prefix, const fs::path& program) {
  const nlohmann::ordered_json spec = {
      {"argv", {program.string(), "{connection_file}"}},
      {"display_name", "Quern"},
      {"language", "quern"},
      {"interrupt_mode", "signal"},
  };
  const fs::path folder = prefix / "kernels/quern", file = folder / "kernel.json";
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) return Failure{"`" + folder.string() + "` cannot be made: " + error.message()};
  std::ofstream out(file);
  out << spec.dump(2) << '\n';
  if (!out.flush()) return Failure{"`" + file.string() + "` cannot be written"};
  return file;
}

}  // namespace quern::jupyter
