#include "bench/harness/options.h"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>

namespace quern::bench {

void CommandLine::refuse(const std::string& message) const {
  fmt::print(stderr, "{}: {}\n", bench_, message);
  std::exit(2);
}

std::string CommandLine::options_text() const {
  std::string text = "--threads N, --json, --seconds S, --list";
  for (const OwnOption& option : own_) text += fmt::format(", {} {}", option.name, option.values);
  return text;
}

bool CommandLine::take_own(const std::string& word, const std::function<const std::string&()>& value) const {
  for (const OwnOption& option : own_)
    if (word == option.name) {
      if (!option.take(value())) refuse(fmt::format("{} takes {}", option.name, option.values));
      return true;
    }
  return false;
}

Options CommandLine::parse(int argc, char** argv) const {
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
    } else if (take_own(word, value)) {
      continue;
    } else if (word.starts_with("-")) {
      refuse(fmt::format("there is no option {}; the options are {}", word, options_text()));
    } else {
      options.names.push_back(word);
    }
  }
  return options;
}

std::vector<bool> CommandLine::chosen(const std::vector<RowName>& rows,
                                      const std::vector<std::string>& names) const {
  std::vector<bool> chosen(rows.size(), names.empty());
  for (const std::string& name : names) {
    auto choose = [&](auto&& fits) {
      bool any = false;
      for (size_t i = 0; i < rows.size(); ++i)
        if (fits(rows[i])) chosen[i] = any = true;
      return any;
    };
    if (choose([&](const RowName& row) { return row.name == name; }) ||
        choose([&](const RowName& row) { return row.group == name; }) ||
        choose([&](const RowName& row) { return row.name.starts_with(name); }))
      continue;
    std::string all;
    for (const RowName& row : rows) all += " " + row.name;
    refuse(fmt::format("there is no row `{}`; the rows are{}", name, all));
  }
  return chosen;
}

}  // namespace quern::bench
