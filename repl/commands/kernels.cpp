// Commands about the kernels of an expression: their work, their time, and what limits them.

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <functional>
#include <optional>
#include <vector>

#include "frontend/text/render.h"
#include "ide/kernel_cost.h"
#include "ir/base/counted_work.h"
#include "ir/base/interrupt.h"
#include "repl/command_files.h"
#include "repl/commands/parts.h"
#include "repl/commands/stages.h"
#include "repl/report/command_text.h"
#include "repl/report/value_size.h"
#include "repl/workspace.h"
#include "session/run/compiler.h"
#include "session/run/profile_report.h"

namespace quern {

namespace {

/// Records the calls of kernels while it lives, starting empty.
class NotedCalls {
 public:
  explicit NotedCalls(Workspace& workspace) : workspace_(workspace) {
    workspace.execution().set_profiling(true);
    workspace.execution().profile().clear();
  }
  ~NotedCalls() {
    workspace_.execution().profile().clear();
    workspace_.execution().set_profiling(workspace_.is_profiling());
  }
  NotedCalls(const NotedCalls&) = delete;
  NotedCalls& operator=(const NotedCalls&) = delete;

 private:
  Workspace& workspace_;
};

/// Runs an expression until its optimised code is ready, and then once more. Returns its kernels with the time spent
/// waiting for their code; reports a failure, and returns nothing then.
std::optional<std::vector<KernelProfile>> kernels_of_run(Workspace& workspace, DeclarationId statement) {
  Execution& execution = workspace.execution();
  const CountedWork running;
  const Execution::Repeated run = execution.prepare(statement, Execution::Outside::Quiet);
  const auto fails = [&] {
    const StatementResult result = run();
    if (result.failure) workspace.print_problems({*result.failure});
    return result.failure || (is_interrupted() && !workspace.complain(kInterrupted));
  };
  if (fails()) return std::nullopt;
  const std::vector<KernelProfile> first = execution.profile().kernels();
  execution.compiler().wait_until_idle();
  execution.profile().clear();
  if (fails()) return std::nullopt;
  std::vector<KernelProfile> kernels = execution.profile().kernels();
  for (KernelProfile& kernel : kernels)
    if (auto known = std::ranges::find(first, kernel.name, &KernelProfile::name); known != first.end())
      kernel.compiling = known->compiling;
  return kernels;
}

using UseKernels = std::function<void(const std::vector<KernelProfile>&, const Peaks&)>;

bool with_kernels(Workspace& workspace, const std::string& expression, std::string_view command,
                  const UseKernels& use) {
  return workspace.with_expression(expression, command, [&](DeclarationId statement) {
    const NotedCalls noted(workspace);
    const auto kernels = kernels_of_run(workspace, statement);
    if (!kernels) return false;
    if (kernels->empty())
      print_line("no kernel was called");
    else
      use(*kernels, measured_peaks());
    return true;
  });
}

/// `on`, `off`, `show`, or an expression whose kernels to profile.
bool profile(Workspace& workspace, const std::string& request) {
  if (request == "show") {
    const auto kernels = workspace.execution().profile().kernels();
    const Peaks peaks = kernels.empty() ? Peaks() : measured_peaks();
    fmt::print("{}", profile_text(kernels, peaks));
    return true;
  }
  if (request == "on" || request == "off") {
    if (request == "on") workspace.execution().profile().clear();
    workspace.set_profiling(request == "on");
    return true;
  }
  // A single word is taken for one of these unless it names a declaration.
  const bool is_word = is_name(request) && std::isalpha(static_cast<unsigned char>(request[0])) != 0;
  if (is_word && !workspace.session().find_operator(workspace.module(), request))
    return workspace.complain("write `:profile EXPR`, or `:profile on`, `off` or `show`");
  return with_kernels(workspace, request, "`:profile`", [](const auto& kernels, const Peaks& peaks) {
    fmt::print("{}", profile_text(kernels, peaks));
  });
}

std::string rate_text(double amount, std::chrono::nanoseconds time) {
  const double seconds = std::chrono::duration<double>(time).count();
  return std::isfinite(amount) && seconds > 0 ? fmt::format("{:.1f}", amount / seconds * 1e-9) : "-";
}

/// The line of a kernel in the roofline model of the machine (Williams et al. 2009).
std::vector<std::string> roofline_row(const KernelProfile& kernel, const Peaks& peaks) {
  const double seconds = std::chrono::duration<double>(kernel.running).count();
  std::vector<std::string> row{
      kernel.name, "-", rate_text(kernel.operations, kernel.running), rate_text(kernel.bytes, kernel.running),
      "-",         "-"};
  if (!std::isfinite(kernel.operations) || kernel.bytes <= 0 || seconds <= 0) return row;
  const double intensity = kernel.operations / kernel.bytes;
  row[1] = fmt::format("{:.2f}", intensity);
  const bool is_memory = intensity * peaks.bandwidth < peaks.gflops;
  const double reached = is_memory ? kernel.bytes / seconds * 1e-9 / peaks.bandwidth
                                   : kernel.operations / seconds * 1e-9 / peaks.gflops;
  row[4] = is_memory ? "memory" : "arithmetic";
  row[5] = fmt::format("{:.0f} %", 100 * reached);
  return row;
}

/// Shows how much of peak arithmetic and memory bandwidth each kernel of an expression reaches.
bool show_roofline(Workspace& workspace, const std::string& expression) {
  return with_kernels(workspace, expression, "`:roofline`", [](const auto& kernels, const Peaks& peaks) {
    std::vector<std::vector<std::string>> rows{
        {"kernel", "FLOP/byte", "GFLOP/s", "GB/s", "limit", "reached"}};
    for (const KernelProfile& kernel : kernels) rows.push_back(roofline_row(kernel, peaks));
    fmt::print("{}", columns_text(rows, "lrrrlr"));
    if (peaks.gflops > 0 && peaks.bandwidth > 0)
      print_line(wrapped(
          fmt::format("peak {:.1f} GFLOP/s in float32, copies {:.1f} GB/s: below {:.1f} FLOP/byte memory is "
                      "the limit (more than 100 % of it comes from caches)",
                      peaks.gflops, peaks.bandwidth, peaks.gflops / peaks.bandwidth),
          0, terminal_columns(stdout)));
  });
}

std::string ratio_text(const KernelCost& cost) {
  const auto a = cost.operations ? as_const(cost.operations) : std::nullopt,
             b = cost.bytes ? as_const(cost.bytes) : std::nullopt;
  return a && b && *b > 0 ? fmt::format("{:.2f}", static_cast<double>(*a) / static_cast<double>(*b)) : "-";
}

/// Shows the operations and bytes of each kernel of an expression or of @f.
bool count_operations(Workspace& workspace, const std::string& asked) {
  return with_definition(workspace, trimmed(asked), "`:flops`", [&](const Definition& definition) {
    const Optimised optimised = optimise(definition, workspace.session().functions());
    if (!optimised.expr) return workspace.complain(kInterrupted);
    const KernelCalls calls = kernel_calls(optimised.expr);
    std::vector<std::vector<std::string>> rows{{"kernel", "FLOPs", "bytes", "FLOP/byte"}};
    KernelCost all;
    for (const FnExpr* kernel : calls.kernels) {
      const KernelCost cost = cost_of(*kernel);
      all += cost;
      rows.push_back({workspace.execution().compiler().kernel_name(*kernel), dim_text(cost.operations),
                      dim_text(cost.bytes), ratio_text(cost)});
    }
    if (calls.kernels.size() != 1)
      rows.push_back({"all", dim_text(all.operations), dim_text(all.bytes), ratio_text(all)});
    fmt::print("{}", columns_text(rows, "lrrr"));
    if (calls.has_functions) print_line("beside these it calls functions; `:profile` counts what a run does");
    return true;
  });
}

/// Shows the memory that the session and its values take.
bool show_memory(Workspace& workspace, const std::string&) {
  std::vector<MemoryUse> report = workspace.session().memory_report();
  ValueBytes counted;
  MemoryUse values{"values of variables", 0, 0};
  for (const auto& [variable, value] : workspace.execution().values()) {
    ++values.count;
    values.bytes += counted.add(value);
  }
  report.push_back(values);
  const PrepackedForms::Size forms = workspace.execution().compiler().prepacked();
  report.push_back({"prepacked forms of tensors", forms.count, forms.bytes});
  std::vector<std::vector<std::string>> rows{{"", "number", "memory"}};
  size_t all = 0;
  for (const MemoryUse& use : report) {
    rows.push_back({use.kind, use.count == 0 ? "" : std::to_string(use.count), bytes_text(use.bytes)});
    all += use.bytes;
  }
  rows.push_back({"together", "", bytes_text(all)});
  fmt::print("{}", columns_text(rows, "lrr"));
  return true;
}

}  // namespace

std::span<const ReplCommand> commands_about_kernels() {
  static constexpr ReplCommand kRows[] = {
      {":profile", "EXPR|on|off|show", Takes::Expression, About::Measure,
       "what each kernel takes: of an expression, or from `on` to `off`", as_command<profile>},
      {":flops", "EXPR", Takes::Expression, About::Measure,
       "the arithmetic and the bytes of each kernel of EXPR or @f", as_command<count_operations>},
      {":roofline", "EXPR", Takes::Expression, About::Measure,
       "what each kernel reaches of what the machine can do", as_command<show_roofline>},
      {":memory", "", Takes::None, About::Measure, "what the session and its values keep in memory, by kind",
       as_command<show_memory>},
  };
  return kRows;
}

}  // namespace quern
