// `quern export`, a program of its own: to load protobuf would take longer than the rest of a start of `quern`.

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <cstdio>
#include <exception>

#include "export/program/export_files.h"
#include "generated/config.h"

int main(int argc, char** argv) {
  CLI::App app{"A function as a model of ONNX: FILE.relay becomes FILE.onnx", "quern export"};
  quern::onnx::ExportFiles request;
  app.add_option("FILE", request.text, "a text")->required()->check(CLI::ExistingFile);
  app.add_option("FUNCTION", request.function, "@f, instead of @main");
  app.add_option("-o,--output", request.output,
                 "MODEL.onnx, instead of one in this folder with the text's name");
  app.add_option("--params", request.params, "the file with the value of the parameter %params");
  app.add_option("--constant", request.constants,
                 "NAME=FILE or NAME=NUMBER: a parameter that is a constant of the model instead of an input")
      ->allow_extra_args(false)
      ->take_all();
  app.add_flag("--force", request.overwrites, "write over a file that is there");
  app.set_version_flag("--version", std::string("Quern ") + QUERN_VERSION);
  CLI11_PARSE(app, argc, argv);
  try {
    const auto problems = quern::onnx::export_files(request);
    for (const std::string& problem : problems) fmt::print(stderr, "quern export: {}\n", problem);
    return problems.empty() ? 0 : 1;
  } catch (const std::exception& error) {
    fmt::print(stderr, "quern export: a bug of Quern: {}\n", error.what());
    return 70;
  }
}
