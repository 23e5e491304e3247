#include "tests/random/gradients.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>

#include "frontend/text/render.h"
#include "ir/interpret/interpreter.h"
#include "jit/cache/kernel_cache.h"
#include "session/run/execution.h"
#include "tests/ir/interpret/recording_host.h"
#include "tests/random/generator.h"
#include "tests/random/index_terms.h"
#include "tests/ways.h"

namespace quern::random_programs {

namespace {

// --- programs ----------------------------------------------------------------------------------------------

class Functions {
 public:
  explicit Functions(uint64_t seed) : random_(seed) {}

  ProgramTerm run() {
    DefTerm def;
    def.name = "f";
    def.result = tensor({}, "float64");
    for (int64_t i = random_.between(1, 2); i > 0; --i) {
      def.params.emplace_back(fresh("x"), random_tensor(2));
      add_operand(def.params.back().first, def.params.back().second);
    }
    std::vector<std::pair<std::string, TermPtr>> bound;
    for (int64_t i = random_.between(0, 2); i > 0; --i) bound.push_back(index_tensor());
    std::string loss;
    std::vector<std::string> uses;
    for (int64_t i = random_.between(1, 3); i > 0; --i) {
      const TypePtr type = random_tensor(3);
      IndexTerms terms(
          random_, [this](const char* prefix) { return fresh(prefix); }, operands_, Numbers::Smooth);
      bound.emplace_back(fresh("v"), terms.comprehension(type, {}, 4));
      uses.push_back(bound.back().first);
      add_operand(uses.back(), type);
      loss += fmt::format("{0}sum(%{1} * sin(%{1} + 0.3))", loss.empty() ? "" : " + ", uses.back());
    }
    def.body = plain(def.result, {loss}, {}, uses);
    for (size_t i = bound.size(); i-- > 0;) def.body = let_term(bound[i].first, bound[i].second, def.body);
    ProgramTerm program;
    program.defs.push_back(def);
    add_statements(program, def);
    return program;
  }

 private:
  std::string fresh(const char* prefix) { return fmt::format("{}{}", prefix, counter_++); }

  TypePtr random_tensor(int64_t most) {
    std::vector<Extent> dims;
    for (int64_t i = random_.between(1, most); i > 0; --i) dims.push_back({random_.between(1, 4), ""});
    return tensor(dims, "float64");
  }
  void add_operand(const std::string& name, const TypePtr& type) {
    operands_.push_back({name, type->dims, type->dtype, {}});
  }
  std::pair<std::string, TermPtr> index_tensor() {
    const int64_t bound = random_.between(1, 4);
    const TypePtr type = tensor({{random_.between(1, 4), ""}}, random_.chance(50) ? "int32" : "int64");
    const std::string name = fresh("at");
    operands_.push_back({name, type->dims, type->dtype, {}, bound});
    return {name,
            literal_term(type, [&] { return number_text(random_.between(0, bound - 1), 0, type->dtype); })};
  }
  TermPtr numbers(const TypePtr& type) {
    return literal_term(type, [this] { return number_text(random_.between(-900, 900), 9, "float64"); });
  }

  void add_statements(ProgramTerm& program, const DefTerm& def) {
    std::vector<TypePtr> types;
    std::vector<TermPtr> point, both;
    for (const char* prefix : {"a", "d"})
      for (size_t i = 0; i < def.params.size(); ++i) {
        const TypePtr& type = def.params[i].second;
        const std::string name = fmt::format("{}{}", prefix, i);
        program.statements.push_back({name, numbers(type)});
        both.push_back(variable_term(name, type));
        if (*prefix == 'a') point.push_back(both.back()), types.push_back(type);
      }
    const auto derivative = [&](const char* way, const TypePtr& type, const std::vector<TermPtr>& at) {
      std::vector<std::string> uses{"f"};
      std::string arguments;
      for (const TermPtr& argument : at) {
        uses.push_back(argument->uses[0]);
        arguments += (arguments.empty() ? "" : ", ") + argument->parts[0];
      }
      program.statements.push_back({way, plain(type, {fmt::format("{}(@f)({})", way, arguments)}, {}, uses)});
    };
    derivative("grad", tuple(types), point);
    derivative("jvp", tuple({def.result, def.result}), both);
  }

  Random random_;
  std::vector<Operand> operands_;
  int counter_ = 0;
};

// --- differences -------------------------------------------------------------------------------------------

/// A program's function and what its statements give.
class Evaluations {
 public:
  Evaluations(Session& session, const std::string& text)
      : session_(session),
        module_(session.make_module()),
        source_(session.add_source(module_, "f.relay", text)) {}

  std::string diagnostics() {
    std::string all;
    for (const LocatedDiagnostic& d : session_.check(source_))
      if (severity_of(d.kind) == Severity::Error) all += render_terminal(d, false);
    return all;
  }
  /// Values of the statements, or the first one's failure.
  std::string run(const ExecutionOptions& options, std::vector<Value>& values) {
    Execution execution(session_, module_, options, [](std::string_view) {});
    for (DeclarationId statement : session_.statements(source_)) try {
        StatementResult result = execution.run(statement);
        if (result.failure) return render_terminal(*result.failure, false);
        values.push_back(*result.value);
      } catch (const std::exception& exception) {
        return fmt::format("exception: {}", exception.what());
      }
    return "";
  }
  /// The interpreted function.
  double at(const std::vector<TensorPtr>& point) {
    const Definition& f = *session_.definition(module_, "f");
    Arena arena;
    Environment environment;
    std::vector<ExprPtr> arguments;
    for (size_t i = 0; i < point.size(); ++i) {
      const Variable* v = make_variable(arena, "x", f.scheme.type->params()[i]);
      environment.emplace(v, Value::tensor(point[i]));
      arguments.push_back(arena.make<VarExpr>(Expr{ExprKind::Var, v->type, {}}, v));
    }
    ExprPtr callee = arena.make<GlobalExpr>(Expr{ExprKind::Global, f.scheme.type, {}}, std::string_view("f"),
                                            std::span<const Dim>(), std::span<const Type>(), module_);
    ExprPtr call = arena.make<CallExpr>(Expr{ExprKind::Call, f.scheme.type->result(), {}}, callee,
                                        arena.copy(arguments));
    RecordingHost host;
    FunctionSource& functions = session_.functions();
    EvaluationResult result = interpret(call, environment, functions, host);
    return result ? result.value().as_tensor()->elements<double>()[0] : NAN;
  }

 private:
  Session& session_;
  ModuleId module_;
  SourceId source_;
};

/// The central difference in the k-th element of a parameter; two steps of different sizes tell how good it
/// is.
struct Difference {
  double value = 0, error = 0;
};
Difference difference(Evaluations& f, std::vector<TensorPtr> point, size_t param, size_t k) {
  const auto with_step = [&](double step) {
    double ends[2];
    const TensorPtr before = point[param];
    for (const int side : {0, 1}) {
      TensorPtr moved = HostTensor::make(before->dtype(), before->shape());
      std::ranges::copy(before->elements<double>(), moved->elements<double>().begin());
      moved->elements<double>()[k] += side == 0 ? -step : step;
      point[param] = moved;
      ends[side] = f.at(point);
    }
    point[param] = before;
    return (ends[1] - ends[0]) / (2 * step);
  };
  const double fine = with_step(1e-5), coarse = with_step(1e-4);
  return {fine, std::abs(fine - coarse)};
}

bool is_derivative(const ProgramTerm& program, size_t statement, const std::string& call) {
  return statement < program.statements.size() &&
         program.statements[statement].value->parts[0].starts_with(call);
}

struct EvaluatorRow {
  const char* name;
  bool interpreted;
  bool checks_bounds = false;
  const char* features = "";
};
constexpr EvaluatorRow kEvaluators[] = {{"interpreted", true},
                                        {"compiled", false},
                                        {"compiled, checking bounds,", false, true},
                                        {"compiled for narrow vectors", false, true, kNarrowVectors}};

/// The beginning of a message, by which failures are told from each other.
std::string kind_of(const std::string& message) {
  std::string kind = message.substr(0, 40);
  std::ranges::replace(kind, ':', ' ');
  return kind;
}

bool agree(double found, Difference expected) {
  return std::abs(found - expected.value) <= 1e-6 * (1 + std::abs(expected.value)) + 2 * expected.error;
}

}  // namespace

ProgramTerm generate_differentiable(uint64_t seed) { return Functions(seed).run(); }

std::string gradient_problem(const ProgramTerm& program) {
  static std::unique_ptr<Session> session;
  static int uses = 0;
  if (++uses % 200 == 1) session = std::make_unique<Session>();
  const std::string text = write(program).text;
  Evaluations f(*session, text);
  if (std::string found = f.diagnostics(); !found.empty())
    return fmt::format("rejected {}:\n{}\n{}", kind_of(found), found, text);
  // Of a program that is made smaller the derivatives may be gone.
  const size_t params = program.defs.empty() ? 0 : program.defs[0].params.size();
  if (params == 0 || !is_derivative(program, 2 * params, "grad(@f)")) return "";
  const bool has_tangent = is_derivative(program, 2 * params + 1, "jvp(@f)");
  std::vector<Difference> expected;
  for (const auto& [evaluator, interpreted, checks_bounds, features] : kEvaluators) {
    std::vector<Value> values;
    ExecutionOptions options;
    options.interpret = interpreted;
    options.compiler.checks_bounds = checks_bounds;
    options.compiler.features = features;
    const std::string failure = f.run(options, values);
    if (!failure.empty())
      return fmt::format("{} failure {}:\n{}\n{}", evaluator, kind_of(failure), failure, text);
    std::vector<TensorPtr> point;
    for (size_t i = 0; i < params; ++i) point.push_back(values[i].as_tensor());
    const std::vector<Value>& gradients = *values[2 * params].fields();
    size_t next = 0;
    Difference along;
    for (size_t p = 0; p < params; ++p)
      for (size_t k = 0; k < static_cast<size_t>(point[p]->size()); ++k, ++next) {
        if (next == expected.size()) expected.push_back(difference(f, point, p, k));
        const double direction = values[params + p].as_tensor()->elements<double>()[k];
        along.value += expected[next].value * direction;
        along.error += expected[next].error * std::abs(direction) + 1e-7;
        const double found = gradients[p].as_tensor()->elements<double>()[k];
        if (!agree(found, expected[next]))
          return fmt::format("{} gradient: of %{} at {} is {}, differences say {} ± {}\n{}", evaluator,
                             program.defs[0].params[p].first, k, found, expected[next].value,
                             expected[next].error, text);
      }
    if (!has_tangent) continue;
    const double tangent = (*values.back().fields())[1].as_tensor()->elements<double>()[0];
    if (!agree(tangent, along))
      return fmt::format("{} tangent: is {}, differences say {} ± {}\n{}", evaluator, tangent, along.value,
                         along.error, text);
  }
  return "";
}

}  // namespace quern::random_programs
