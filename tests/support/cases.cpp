#include "tests/support/cases.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <map>
#include <ostream>
#include <set>

#include "frontend/text/render.h"
#include "jit/cache/kernel_cache.h"
#include "session/run/execution.h"
#include "tests/ways.h"

namespace quern::numeric {

std::string_view to_string(Evaluator evaluator) {
  switch (evaluator) {
    case Evaluator::Interpreter: return "interpreted";
    case Evaluator::Compiled: return "compiled";
    case Evaluator::First: return "compiled without optimisation";
    case Evaluator::Checked: return "compiled with checks";
    case Evaluator::Narrow: return "compiled for narrow vectors";
  }
  return "";
}

void PrintTo(Evaluator evaluator, std::ostream* out) { *out << to_string(evaluator); }

CaseSession::CaseSession(const std::string& file, std::vector<Case> cases,
                         std::vector<Session::LibraryFile> library)
    : cases_(std::move(cases)),
      problems_(cases_.size()),
      session_(std::make_unique<Session>(std::move(library))) {
  std::filesystem::path path(file);
  auto entries = read_tensor_headers(file);
  if (!entries) {
    ADD_FAILURE() << entries.error().message;
    cases_.clear();
    return;
  }
  add_lines(path.filename().string(), *entries);
  std::string text = fmt::format("{}\n", fmt::join(lines_, "\n"));
  for (const Case& one : cases_) text += one.definition + "\n";
  module_ = session_->make_module();
  source_ = session_->add_source(module_, "cases.relay", text, path.parent_path().string());
  check();
}

void CaseSession::add_lines(const std::string& file_name, const Entries<TensorHeader>& entries) {
  for (size_t i = 0; i < cases_.size(); ++i) {
    std::string line;
    for (const auto& input : cases_[i].inputs) {
      const auto& [variable, entry] = input;
      auto found =
          std::find_if(entries.begin(), entries.end(), [&](auto& e) { return e.first == input.second; });
      if (found == entries.end()) {
        problems_[i] = fmt::format("the file has no entry {}", entry);
        continue;
      }
      line += fmt::format("let %{}: {} = load(\"{}\", \"{}\"); ", variable,
                          type_to_string(found->second.dtype, found->second.shape), file_name, entry);
    }
    lines_.push_back(line + cases_[i].expression + ";");
  }
}

void CaseSession::check() {
  for (const LocatedDiagnostic& diagnostic : session_->check(source_)) {
    if (severity_of(diagnostic.kind) != Severity::Error) continue;
    std::string rendered = render_terminal(diagnostic, false);
    auto before = diagnostic.text.begin() + diagnostic.range.begin;
    auto line = static_cast<size_t>(std::count(diagnostic.text.begin(), before, '\n'));
    if (diagnostic.file != "cases.relay" || line >= 2 * cases_.size())
      ADD_FAILURE() << rendered;
    else
      problems_[line % cases_.size()] += rendered;
  }
}

std::vector<Outcome> CaseSession::run(Evaluator evaluator) {
  ExecutionOptions options;
  options.interpret = evaluator == Evaluator::Interpreter;
  options.compiler.checks_bounds = evaluator == Evaluator::Checked;
  if (evaluator != Evaluator::Compiled) options.compiler.tiers = Tiers::First;
  if (evaluator == Evaluator::Narrow) options.compiler.features = kNarrowVectors;
  Execution execution(*session_, module_, options, [](std::string_view) {});
  std::vector<DeclarationId> statements = session_->statements(source_);
  std::vector<Outcome> outcomes;
  size_t next = 0;
  for (size_t i = 0; i < cases_.size(); ++i) {
    Outcome outcome{nullptr, problems_[i]};
    for (size_t k = 0; k <= cases_[i].inputs.size() && next < statements.size(); ++k, ++next) {
      if (!outcome.problem.empty()) continue;
      StatementResult result = execution.run(statements[next]);
      if (result.failure) outcome.problem = render_terminal(*result.failure, false);
      outcome.tensor = result.value ? result.value->as_tensor() : nullptr;
      outcome.fields.clear();
      if (const auto* fields = result.value ? result.value->fields() : nullptr)
        for (const Value& field : *fields) outcome.fields.push_back(field.as_tensor());
    }
    if (!outcome.tensor && outcome.fields.empty() && outcome.problem.empty())
      outcome.problem = "the value is neither a tensor nor a tuple";
    outcomes.push_back(std::move(outcome));
  }
  EXPECT_EQ(next, statements.size()) << "the source has other statements than its cases";
  return outcomes;
}

namespace {

const HostTensor& entry(const Entries<TensorPtr>& tensors, const std::string& name) {
  return *std::find_if(tensors.begin(), tensors.end(), [&](auto& t) { return t.first == name; })->second;
}

/// A dim for each extent.
std::map<int64_t, std::string> dims_of(const std::set<int64_t>& extents, const StatedExtents& stated) {
  std::map<int64_t, std::string> dims;
  for (int64_t extent : extents) {
    auto of = std::ranges::find_if(stated.multiples, [&](int64_t m) {
      return extent > 0 && extent % m == 0 && extents.contains(extent / m);
    });
    bool multiple = of != stated.multiples.end();
    if (extent == 1 || (multiple && extent == *of) || std::ranges::count(stated.numbers, extent) > 0)
      dims[extent] = std::to_string(extent);
    else
      dims[extent] = multiple ? fmt::format("{} * n{}", *of, extent / *of) : fmt::format("n{}", extent);
  }
  return dims;
}

}  // namespace

Case over_unknown_dims(const Case& one, const Entries<TensorPtr>& tensors, size_t number,
                       const StatedExtents& stated) {
  std::set<int64_t> extents;
  for (const auto& input : one.inputs)
    for (int64_t extent : entry(tensors, input.second).shape()) extents.insert(extent);
  std::map<int64_t, std::string> dims = dims_of(extents, stated);
  std::string parameters, arguments, name = fmt::format("@f{}", number);
  for (const auto& [variable, stored] : one.inputs) {
    const HostTensor& tensor = entry(tensors, stored);
    std::string shape;
    for (int64_t extent : tensor.shape()) shape += dims.at(extent) + ", ";
    parameters += fmt::format("%{}: Tensor[({}), {}], ", variable, shape, quern::to_string(tensor.dtype()));
    arguments += fmt::format("%{}, ", variable);
  }
  std::erase_if(extents, [&](int64_t extent) { return dims.at(extent) != fmt::format("n{}", extent); });
  std::string variables = extents.empty() ? "" : fmt::format("[n{}]", fmt::join(extents, ", n"));
  Case result = one;
  result.definition =
      fmt::format("def {0}{1}({2}%again: bool) {{ if (%again) {{ {0}({3}False) }} else {{ {4} }} }}", name,
                  variables, parameters, arguments, one.expression);
  result.expression = fmt::format("{}({}True)", name, arguments);
  return result;
}

TemporaryFile::TemporaryFile(const std::string& name)
    : path_(fmt::format("{}/quern_{}_{}.safetensors", testing::TempDir(), name, getpid())) {}

TemporaryFile::~TemporaryFile() {
  std::error_code ignored;
  std::filesystem::remove(path_, ignored);
}

}  // namespace quern::numeric
