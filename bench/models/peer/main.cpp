// Compositions of oneDNN's primitives as a process that the models' bench times:
//
//     quern_models_peer THREADS

#include <fmt/format.h>

#include <memory>
#include <stdexcept>

#include "bench/models/peer/models.h"
#include "bench/peer/server.h"

namespace quern::bench {
namespace {

Variant variant(const Model& model, const Weights& weights, const Choices& choices) {
  auto network = std::make_shared<Network>(weights, choices);
  model.make(*network);
  return {choices.name, [network] { network->run(); }, [network] { return network->result(); }};
}

Result<std::vector<Variant>> variants(const Model& model, std::shared_ptr<const Weights> weights) {
  std::vector<Variant> variants;
  std::string why;
  for (const Choices& choices : model.choices) {
    // oneDNN throws where it has no implementation, and the weights where a name is wrong.
    try {
      Variant made = variant(model, *weights, choices);
      // The input stays where the file's reader has put it.
      made.run = [weights, run = std::move(made.run)] { run(); };
      variants.push_back(std::move(made));
    } catch (const dnnl::error& error) {
      why = fmt::format("{}: {}", choices.name, error.message);
    } catch (const std::out_of_range& error) {
      why = fmt::format("{}: {}", choices.name, error.what());
    }
  }
  if (variants.empty()) return Failure{why};
  return variants;
}

Result<std::vector<Variant>> prepared(const Models& models, const Fields& fields) {
  std::map<std::string, std::string> request(fields.begin(), fields.end());
  const auto model = models.find(request["model"]);
  if (model == models.end()) return Failure{"it has no such model"};
  auto weights = Weights::read(request["arguments"]);
  if (!weights) return weights.error();
  return variants(model->second, std::make_shared<const Weights>(std::move(*weights)));
}

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  const int threads = argc > 1 ? std::atoi(argv[1]) : 1;
  Models models;
  add_vision(models);
  add_transformers(models);
  add_recurrent(models);
  serve(threads, [&](const Fields& fields) { return prepared(models, fields); });
  return 0;
}
