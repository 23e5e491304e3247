// Texts of equal meaning, written in several ways, in turns in the same run.
//
//     quern_rewrites_bench [--threads N] [--json] [--seconds S] [--list] [NAME…]
//
// A row is a file NAME.relay. Its forms are @main and each `@as_FORM`; a form is called with what `@for_FORM`
// makes of the arguments of @main, once, where the file has such a function, and otherwise with those. The
// figure of a form is its time by that of @main. Exit code 1: a row failed, or results differ.

#include <fmt/format.h>

#include <algorithm>

#include "bench/harness/difference.h"
#include "bench/harness/json_line.h"
#include "bench/harness/machine.h"
#include "bench/harness/options.h"
#include "bench/harness/quern_program.h"
#include "bench/harness/relay_texts.h"

namespace quern::bench {
namespace {

constexpr double kTolerance = 1e-3;  // largest difference, relative to the largest element
constexpr uint64_t kSeed = 1;
const std::string kFolder = "rewrites";

bool defines(const std::string& text, const std::string& function) {
  const size_t at = text.find("def @" + function);
  if (at == std::string::npos) return false;
  const char next = text[at + 5 + function.size()];
  return next == '(' || next == '[';
}

// The forms beside @main, in the order of the text.
std::vector<std::string> forms_of(const std::string& text) {
  constexpr std::string_view kForm = "def @as_";
  std::vector<std::string> forms;
  for (size_t at = text.find(kForm); at != std::string::npos; at = text.find(kForm, at + 1)) {
    const size_t name = at + kForm.size();
    forms.push_back(text.substr(name, text.find_first_of("([", name) - name));
  }
  return forms;
}

struct Form {
  std::string name;  // "" for @main
  std::unique_ptr<QuernProgram> program;
};

class Bench {
 public:
  explicit Bench(const Options& options) : options_(options) {}

  int run(const std::vector<std::string>& rows) {
    if (!options_.json)
      fmt::print("{:<44}{:>12}{:>9}  {:<15}{:>8}\n", "name", "us", "ratio", "spread", "rounds");
    bool good = true;
    for (const std::string& row : rows)
      if (auto done = measured(row); !done) {
        fmt::print(stderr, "bench rewrites: {}: {}\n", row, done.error().message);
        good = false;
      }
    return good ? 0 : 1;
  }

 private:
  Result<Done> measured(const std::string& row) {
    auto text = relay_text(kFolder, row);
    if (!text) return text.error();
    auto forms = ready(row, *text);
    if (!forms) return forms.error();
    std::vector<Contender*> contenders;
    for (const Form& form : *forms) contenders.push_back(form.program.get());
    auto rounds = measure(contenders, options_.budget);
    if (!rounds) return rounds.error();
    for (size_t i = 0; i < forms->size(); ++i) report(row, (*forms)[i].name, i, *rounds);
    return Done{};
  }

  // The forms with their arguments, whose results are equal.
  Result<std::vector<Form>> ready(const std::string& row, const std::string& text) const {
    std::vector<Form> forms;
    forms.push_back({"", std::make_unique<QuernProgram>()});
    QuernProgram& first = *forms.front().program;
    if (auto done = first.compile(row, text, options()); !done) return done.error();
    if (auto done = first.draw(kSeed); !done) return done.error();
    auto reference = first.tensor();
    if (!reference) return reference.error();
    for (const std::string& name : forms_of(text)) {
      Form form{name, std::make_unique<QuernProgram>()};
      auto arguments = arguments_of(row, text, name, first.arguments());
      if (!arguments) return arguments.error();
      if (auto done = form.program->compile(row, text, options(), "as_" + name); !done) return done.error();
      form.program->take(std::move(*arguments));
      auto result = form.program->tensor();
      if (!result) return result.error();
      const double apart = difference(**result, **reference);
      if (apart > kTolerance)
        return Failure{fmt::format("the result of {} differs by {:.2g} of the largest element", name, apart)};
      forms.push_back(std::move(form));
    }
    return forms;
  }

  static CompilerOptions options() { return CompilerOptions{Tiers::Best}; }

  static Result<std::vector<Value>> arguments_of(const std::string& row, const std::string& text,
                                                 const std::string& form,
                                                 const std::vector<Value>& arguments) {
    if (!defines(text, "for_" + form)) return arguments;
    QuernProgram maker;
    if (auto done = maker.compile(row, text, options(), "for_" + form); !done) return done.error();
    maker.take(arguments);
    auto value = maker.call();
    if (!value) return value.error();
    const std::vector<Value>* fields = value->fields();
    if (!fields) return Failure{fmt::format("the result of @for_{} is not a tuple", form)};
    return *fields;
  }

  void report(const std::string& row, const std::string& form, size_t index, const Rounds& rounds) const {
    const std::string name = form.empty() ? row : fmt::format("{}/{}", row, form);
    const Figures figures = figures_by_first(rounds, index);
    if (options_.json) {
      JsonLine line;
      line.add("name", name);
      line.add("threads", static_cast<size_t>(options_.threads));
      line.add("us", figures.seconds * 1e6, 3);
      line.add_ratio(figures);
      line.add_rounds(figures);
      fmt::print("{}\n", line.text());
    } else {
      fmt::print("{:<44}{:>12.1f}{:>9.3f}  {:<15}{:>8}\n", name, figures.seconds * 1e6, figures.ratio,
                 spread_text(figures), rounds_text(figures));
    }
    std::fflush(stdout);
  }

  Options options_;
};

}  // namespace
}  // namespace quern::bench

int main(int argc, char** argv) {
  using namespace quern::bench;
  const CommandLine command_line("bench rewrites");
  const Options options = command_line.parse(argc, argv);
  const std::vector<CommandLine::RowName> all = relay_rows(kFolder);
  const std::vector<bool> is_chosen = command_line.chosen(all, options.names);
  std::vector<std::string> rows;
  for (size_t i = 0; i < all.size(); ++i)
    if (is_chosen[i]) rows.push_back(all[i].name);
  if (options.list) {
    for (const std::string& row : rows)
      if (auto text = relay_text(kFolder, row)) fmt::print("{}\n", *text);
    return 0;
  }
  return run_with(options.threads, [&] { return Bench(options).run(rows); });
}
