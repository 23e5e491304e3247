// Column: type and shape function. The golden types of each operator's calls with known dims, dims that are
// variables and `?`, its fusion class, and what is said of wrong arguments, in cards/NAME.txt
// (QUERN_UPDATE_GOLDENS=1 writes them); and the shape that a call has when it runs, against the one that its
// type says.

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "frontend/print/printer.h"
#include "frontend/signature/signature.h"
#include "passes/fusion_class.h"
#include "passes/pipeline.h"
#include "tests/operators/drawn.h"
#include "tests/support/evaluate.h"
#include "tests/support/library.h"

namespace quern::numeric {
namespace {

// What an operator's declaration says that it takes.
struct Parameters {
  std::vector<std::string> tensors;
  std::vector<std::pair<std::string, std::string>> attributes;  ///< with their kinds
};

Parameters parameters_of(Session& session, const std::string& op) {
  Parameters found;
  std::string text = declaration_text(op);
  SourceId source = session.add_source(session.make_module(), "declaration.relay", text);
  for (auto& [id, tree] : session.trees(source))
    for (SyntaxPtr p : params_of(tree.root)->children) {
      bool tensor = p->is(SyntaxKind::TensorParam);
      if (tensor) found.tensors.emplace_back(p->text);
      if (!tensor) found.attributes.emplace_back(p->text, p->child(0) ? p->child(0)->text : "int");
    }
  return found;
}

// The text up to the body.
std::string head_of(Session& session, const std::string& text, const std::string& name, FusionClass* fusion) {
  ModuleId module = session.make_module();
  SourceId source = session.add_source(module, "drawn.relay", text);
  std::vector<LocatedDiagnostic> problems = session.check(source);
  std::erase_if(problems, [](const LocatedDiagnostic& d) { return severity_of(d.kind) != Severity::Error; });
  const Definition* definition = problems.empty() ? session.definition(module, name) : nullptr;
  if (!definition) return problems.empty() ? "none" : "not typed: " + problems[0].message;
  FunctionSource& functions = session.functions();
  if (fusion) *fusion = fusion_class(functions, definition->body);
  std::string head = print(*definition);
  head = head.substr(0, head.find('{'));
  std::string line;
  for (char c : head)
    if (c != '\n') line += c;
  // The layout of a long head breaks lines.
  for (const char* space : {"  ", "( ", "[ ", " )", " ]"})
    for (size_t at; (at = line.find(space)) != std::string::npos;)
      line.erase(space[0] == ' ' ? at : at + 1, 1);
  // What is not known of a result is not annotated.
  // Dims that broadcast have no names in a head, but in the type.
  if (line.find("(_") != std::string::npos || line.find(", _") != std::string::npos)
    return fmt::format("def @{}: {}", name, to_string(definition->scheme));
  if (line.find("->") == std::string::npos)
    line += fmt::format("-> {}", to_string(definition->scheme.type->result()));
  while (line.ends_with(' ')) line.pop_back();
  return line;
}

// Where the parenthesis that opens at `at` is closed.
size_t closing(const std::string& text, size_t at) {
  int depth = 0;
  for (size_t i = at; i < text.size(); ++i) {
    depth += text[i] == '(' || text[i] == '[' ? 1 : text[i] == ')' || text[i] == ']' ? -1 : 0;
    if (depth == 0) return i;
  }
  return text.size() - 1;
}

// The call with another value of an attribute.
std::string with_attribute(const std::string& call, const std::string& name, const std::string& value) {
  size_t open = call.find('('), close = closing(call, open), at = call.find(name + "=");
  bool given = at < close && (call[at - 1] == ' ' || call[at - 1] == '(');
  if (!given)
    return fmt::format("{}{}{}={}{}", call.substr(0, close), close == open + 1 ? "" : ", ", name, value,
                       call.substr(close));
  size_t end = at;
  while (end < close && call[end] != ',') {
    if (call[end] == '"')
      end = call.find('"', end + 1) + 1;
    else
      end = call[end] == '(' || call[end] == '[' ? closing(call, end) + 1 : end + 1;
  }
  return fmt::format("{}={}{}", call.substr(0, at) + name, value, call.substr(end));
}

std::string first_line(const std::string& text) { return text.substr(0, text.find('\n')); }

class ShapeColumn : public testing::TestWithParam<Row> {
 protected:
  // What is said where an argument is wrong, a line each; what is wrong in itself has to be told with its
  // name.
  void rejections(Session& session, const Drawn& draw, std::string& card) {
    Parameters parameters = parameters_of(session, GetParam().name);
    auto said_of = [&](const std::string& what, const std::string& text, const std::string& name) {
      std::string said = complaints(session, text);
      if (!name.empty()) {
        EXPECT_NE(said.find(name), std::string::npos) << text << "does not name `" << name << "`: " << said;
      }
      if (!said.empty()) card += fmt::format("{}: {}\n", what, first_line(said));
    };
    const std::vector<TensorPtr>& tensors = draw.arguments.tensors;
    for (size_t k = 0; k < tensors.size(); ++k) {
      Shape shape = tensors[k]->shape();
      for (size_t axis = 0; axis <= shape.size(); ++axis) {
        Shape other = shape;
        if (axis == shape.size())
          other.insert(other.begin(), 2);
        else
          other[axis] += 2;
        auto changed = HostTensor::make(tensors[k]->dtype(), other);
        said_of(fmt::format("%{}: {}", static_cast<char>('a' + k), type_text(*changed)),
                draw.definition_with("f", k, type_text(*changed)), "");
      }
    }
    const std::string& call = draw.arguments.expression;
    for (const auto& [name, kind] : parameters.attributes) {
      if (kind == "any") continue;
      std::string wrong = kind.starts_with("string") ? "[1.5]" : kind.starts_with("bool") ? "7" : "\"no\"";
      if (kind.starts_with("dtype")) wrong = "1.5";
      said_of(fmt::format("{}={}", name, wrong), draw.definition_of("f", with_attribute(call, name, wrong)),
              name);
    }
    said_of("colour=1", draw.definition_of("f", with_attribute(call, "colour", "1")), "colour");
    if (!parameters.tensors.empty())
      said_of("no arguments", draw.definition_of("f", GetParam().name + "()"), parameters.tensors[0]);
  }

  std::string card() {
    Session session(library_texts());
    Drawn draw = drawn(GetParam(), 0);
    FusionClass fusion = FusionClass::Opaque;
    std::string text = draw.arguments.expression + "\n";
    text += head_of(session, draw.definition("known"), "known", &fusion) + "\n";
    text += head_of(session, draw.definition("variable", "_"), "variable", nullptr) + "\n";
    text += head_of(session, draw.definition("unknown", "?"), "unknown", nullptr) + "\n";
    text += fmt::format("{}\n", to_string(fusion));
    rejections(session, draw, text);
    return text;
  }
};

TEST_P(ShapeColumn, IsAsOnItsCard) {
  std::string path = fmt::format("{}/tests/operators/cards/{}.txt", QUERN_SOURCE_DIR, GetParam().name);
  std::string got = card();
  if (std::getenv("QUERN_UPDATE_GOLDENS")) {
    std::filesystem::create_directories(std::filesystem::path(path).parent_path());
    std::ofstream(path) << got;
    return;
  }
  std::ifstream in(path);
  if (!in) GTEST_SKIP() << "`" << GetParam().name << "` has no card yet: `./dev goldens` writes " << path;
  std::ostringstream kept;
  kept << in.rdbuf();
  EXPECT_EQ(got, kept.str()) << path;
}

void expect_shape(const Value& value, Type type, const std::string& what) {
  if (auto* fields = value.fields()) {
    for (size_t k = 0; k < fields->size(); ++k) expect_shape((*fields)[k], type->args[k], what);
    return;
  }
  TensorPtr tensor = value.as_tensor();
  ASSERT_TRUE(tensor) << what;
  ASSERT_EQ(tensor->shape().size(), type->dims.size()) << what;
  for (size_t k = 0; k < type->dims.size(); ++k)
    if (auto extent = as_const(type->dims[k])) {
      EXPECT_EQ(tensor->shape()[k], *extent) << what << ", axis " << k;
    }
}

// The shape function is what computes the dims of a call over dims that only running tells.
TEST_P(ShapeColumn, WhenItRunsIsThatOfTheType) {
  constexpr uint64_t kDraws = 12;
  Session session(library_texts());
  for (uint64_t number = 0; number < kDraws; ++number) {
    Drawn draw = drawn(GetParam(), number);
    ModuleId module = session.make_module();
    SourceId source = session.add_source(module, "drawn.relay", draw.definition("known"));
    ASSERT_FALSE(has_errors(session.check(source))) << draw.definition("known");
    Type type = session.definition(module, "known")->scheme.type->result();
    for (const char* dim : {"", "?"}) {
      ModuleId other = session.make_module();
      SourceId open = session.add_source(other, "drawn.relay", draw.definition("f", dim));
      if (has_errors(session.check(open))) continue;  // what the dims decide is not known: the card says so
      FunctionSource& functions = session.functions();
      Optimised plain = optimise(*session.definition(other, "f"), functions, "simplify_index");
      expect_shape(called(*as<FnExpr>(plain.expr), draw.values()), type, draw.definition("f", dim));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Operators, ShapeColumn, testing::ValuesIn(operator_rows()),
                         [](const auto& info) { return test_name(info.param.name); });

}  // namespace
}  // namespace quern::numeric
