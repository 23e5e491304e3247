// `quern import`, a program of its own: to load protobuf would take longer than the rest of a start of `quern`.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>
#include <filesystem>
#include <string>
#include <vector>

#include "generated/config.h"
#include "import/program/import_files.h"

int main(int argc, char** argv) {
  CLI::App app{
      "A model as text: MODEL.onnx, TensorFlow's MODEL.pb, or TVM's MODEL.json, becomes MODEL.relay, with "
      "its "
      "weights in MODEL.safetensors",
      "quern import"};
  quern::onnx::ImportRequest request;
  app.add_option("MODEL", request.model,
                 "a file of ONNX (operator sets up to 21), a frozen graph of TensorFlow (.pb, or as text "
                 ".pbtxt), or a "
                 "module of Relay by `tvm.ir.save_json`")
      ->required()
      ->check(CLI::ExistingFile);
  app.add_option("-o,--output", request.output,
                 "FILE.relay, instead of one in this folder with the model's name");
  app.add_option("--shape", request.shapes,
                 "NAME=1,3,n: the shape of an input, with numbers and names of dims")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--constant", request.constants,
                 "NAME=FILE.npy or NAME=NUMBERS: an input that is known now, as are the sizes that a model "
                 "resizes to")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option(
         "--result", request.results,
         "NODE: a node of a graph of TensorFlow whose value is wanted, instead of those that nothing reads")
      ->allow_extra_args(false)
      ->take_all();
  app.add_option("--params", request.params,
                 "FILE.params: parameters of a module's @main, by `relay.save_param_dict`")
      ->check(CLI::ExistingFile);
  app.add_flag("--force", request.overwrites, "write over files that are there");
  app.set_version_flag("--version", std::string("Quern ") + QUERN_VERSION);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto problems = quern::onnx::import_files(request);
    for (const std::string& problem : problems) fmt::print(stderr, "quern import: {}\n", problem);
    return problems.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "quern import: a bug of Quern: {}\n", error.what());
    return 70;
  }
}
