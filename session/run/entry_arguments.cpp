#include "session/run/entry_arguments.h"

#include <fmt/format.h>

namespace quern {

namespace {

/// Collects the arguments from one source after another.
class Arguments {
 public:
  Arguments(std::span<const Variable* const> parameters, const DataLookup& lookup)
      : parameters_(parameters), lookup_(lookup), states_(parameters.size()) {}

  void take_values(const std::map<std::string, Value>& values) {
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (auto value = values.find(std::string(parameters_[i]->name)); value != values.end())
        take(i, value->second, "");
  }

  void take_files(const std::map<std::string, std::string>& files) {
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (auto file = files.find(std::string(parameters_[i]->name)); file != files.end())
        take(i, input_value(file->second, parameters_[i]->type, lookup_), "--input ");
  }

  /// `draws`: whether random values are for the rest.
  void take_by_name(const std::string& file, bool draws) {
    std::vector<size_t> open;
    std::vector<NamedType> wanted;
    std::vector<std::string> given;
    for (size_t i = 0; i < parameters_.size(); ++i) {
      std::string name(parameters_[i]->name);
      if (states_[i].is_settled) {
        given.push_back(std::move(name));
      } else {
        open.push_back(i);
        wanted.push_back({std::move(name), parameters_[i]->type});
      }
    }
    auto loaded = load_by_name(file, wanted, lookup_, given);
    if (!loaded) {
      problems_.push_back("--params: " + loaded.error().message);
      return;
    }
    for (size_t i = 0; i < open.size(); ++i) {
      auto& [value, problems, lacks_tensors] = loaded->values[i];
      // A misspelt name would otherwise pass for one that is left out on purpose.
      if (lacks_tensors && draws)
        problems.back() += "; `--random` draws no part of a parameter, only whole ones";
      State& state = states_[open[i]];
      state.is_settled = value || !problems.empty();
      state.value = std::move(value);
      for (const std::string& problem : problems)
        problems_.push_back(fmt::format("--params, `%{}`: {}", wanted[i].name, problem));
    }
    for (const std::string& unused : loaded->unused) problems_.push_back("--params: " + unused);
  }

  void take_random(uint64_t seed) {
    Threefry numbers(seed);
    for (size_t i = 0; i < parameters_.size(); ++i)
      if (!states_[i].is_settled) take(i, random_value(parameters_[i]->type, lookup_, numbers), "--random: ");
  }

  EntryArguments done() && {
    EntryArguments result{{}, std::move(problems_), {}};
    for (size_t i = 0; i < parameters_.size(); ++i) {
      if (!states_[i].is_settled)
        result.missing.push_back(
            fmt::format("`%{}`: {}", parameters_[i]->name, to_string(parameters_[i]->type)));
      else if (states_[i].value)
        result.values.push_back(std::move(*states_[i].value));
    }
    return result;
  }

 private:
  struct State {
    std::optional<Value> value;
    bool is_settled = false;  ///< has a value, or a problem was reported
  };

  void take(size_t i, Result<Value> value, std::string_view source) {
    states_[i].is_settled = true;
    if (value)
      states_[i].value = std::move(*value);
    else
      problems_.push_back(fmt::format("{}{}: {}", source, parameters_[i]->name, value.error().message));
  }

  std::span<const Variable* const> parameters_;
  const DataLookup& lookup_;
  std::vector<State> states_;
  std::vector<std::string> problems_;
};

}  // namespace

EntryArguments entry_arguments(std::span<const Variable* const> parameters, const ArgumentSources& sources,
                               const DataLookup& lookup) {
  Arguments arguments(parameters, lookup);
  arguments.take_values(sources.values);
  arguments.take_files(sources.files);
  if (!sources.by_name.empty()) arguments.take_by_name(sources.by_name, sources.seed.has_value());
  if (sources.seed) arguments.take_random(*sources.seed);
  return std::move(arguments).done();
}

}  // namespace quern
