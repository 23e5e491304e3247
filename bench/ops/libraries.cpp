#include "bench/ops/libraries.h"

#include <fmt/format.h>

#include <filesystem>

namespace quern::bench {

namespace {

std::vector<std::string> call_fields(const std::optional<LibraryCall>& call) {
  if (!call) return {};
  std::vector<std::string> fields{"kind=" + call->kind};
  for (const auto& [name, numbers] : call->numbers)
    fields.push_back(fmt::format("{}={}", name, fmt::join(numbers, ",")));
  return fields;
}

std::vector<std::string> expression_fields(const Work& work) {
  std::vector<std::string> fields;
  for (const std::string& expression : work.torch) fields.push_back("expression=" + expression);
  if (!work.torch_module.empty()) fields.push_back("module=" + work.torch_module);
  return fields;
}

}  // namespace

std::vector<LibraryCommand> library_commands() {
  const std::string folder = std::filesystem::read_symlink("/proc/self/exe").parent_path().string();
  const std::string program = folder + "/quern_ops_peer";
  std::vector<LibraryCommand> commands{{Library::OneDnn, {"oneDNN", {program, "onednn"}, {}}},
                                       {Library::OpenBlas, {"OpenBLAS", {program, "openblas"}, {}}},
                                       {Library::PyTorch, torch_command("bench/ops/torch_peer.py")}};
  if (const auto wide = wide_openblas(); !wide.empty())
    commands.push_back({Library::OpenBlas, {"OpenBLAS SkylakeX", {program, "openblas"}, wide}});
  return commands;
}

std::vector<std::string> task_of(const Work& work, Library library) {
  switch (library) {
    case Library::OneDnn: return call_fields(work.onednn);
    case Library::OpenBlas: return call_fields(work.openblas);
    case Library::PyTorch: return expression_fields(work);
  }
  return {};
}

}  // namespace quern::bench
