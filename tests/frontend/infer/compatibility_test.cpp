// The examples of docs/relay_compatibility.md: a block ```relay is accepted, a block ```relay Q0203 has that
// diagnostic.

#include <gtest/gtest.h>

#include <fstream>
#include <sstream>

#include "frontend/text/render.h"
#include "session/run/execution.h"
#include "session/session.h"

namespace quern {
namespace {

struct Example {
  int line;
  std::string wanted, text;  ///< the code of the diagnostic that is wanted, or ""
};

std::vector<Example> examples() {
  std::vector<Example> found;
  std::ifstream in(std::string(QUERN_SOURCE_DIR) + "/docs/relay_compatibility.md");
  bool inside = false;
  int number = 0;
  for (std::string line; std::getline(in, line);) {
    ++number;
    if (!inside && line.starts_with("```relay")) {
      found.push_back({number, line.size() > 9 ? line.substr(9) : "", ""});
      inside = true;
    } else if (inside && line == "```") {
      inside = false;
    } else if (inside) {
      found.back().text += line + "\n";
    }
  }
  return found;
}

TEST(RelayCompatibility, ExamplesAreAsThePageSays) {
  std::vector<Example> all = examples();
  EXPECT_GE(all.size(), 20u);
  for (const Example& example : all) {
    Session session;
    SourceId source = session.add_source(session.make_module(), "example.relay", example.text);
    std::vector<LocatedDiagnostic> found = session.check(source);
    if (example.wanted.empty()) {
      for (const LocatedDiagnostic& d : found)
        ADD_FAILURE() << "docs/relay_compatibility.md:" << example.line << "\n" << render_terminal(d, false);
      continue;
    }
    EXPECT_FALSE(found.empty()) << "docs/relay_compatibility.md:" << example.line << " has no diagnostic";
    for (const LocatedDiagnostic& d : found)
      EXPECT_EQ(code_of(d.kind), example.wanted) << "docs/relay_compatibility.md:" << example.line << "\n"
                                                 << render_terminal(d, false);
  }
}

struct Form {
  std::string name, text;
  std::vector<std::string> values;  ///< of the statements that are expressions, with their types
};

const Form kForms[] = {
    {"short_dtypes",
     "def @f(%n: int, %m: uint) -> float { cast(%n, dtype=\"float\") }\n(@f(3, 4u), 1i, 2f)",
     {"(float32, int32, float32) [3.0, 1, 2.0]"}},
    {"names",
     "#[version = \"0.0.5\"]\nlet %fc.weight = (1, 2); let %images:0 = 3; let %a-b/c.0.d = %fc.weight.1 -1;\n"
     "%fc.weight.0 + %images:0; %a-b/c.0.d",
     {"int32 4", "int32 1"}},
    {"digits_after_a_name",
     "#[version = \"0.0.5\"]\nlet %t = ((1, 2), 3); let %n = 5;\n(%t.0.1, %n-1, %t.1)",
     {"(int32, int32, int32) [2, 4, 3]"}},
    {"header_after_comments",
     "// one\n/* two /* three */ */\n#[version = \"0.0.5\"]\nlet %a/b = 2;\n%a/b",
     {"int32 2"}},
    {"old_header_after_comments", "/* one */\nv0.0.4\nlet %a/b = 2;\n%a/b", {"int32 2"}},
    {"sequence_in_brackets", "%0 = (let %a = 1; %a + 1);\nadd(%0, let %b = 2; %b)", {"int32 4"}},
    {"sequence_in_an_arm",
     "match (Some(2)) { Some(%v) => let %a = %v; %a * 3, None => %0 = 1; %0 }",
     {"int32 6"}},
    {"data_type_without_parameters",
     "type T { A, B }\ndef @f(%t: T[]) -> T[] { %t }\n@f(B)",
     {R"(T {"ctor": "B", "fields": []})"}},
    {"attributes_at_a_function_s_call",
     "%0 = fn (%x: float32) { %x + 1f };\n%0(2f, name=\"n\", attrs_type_key=\"attrs.TestAttrs\")",
     {"float32 3.0"}},
    {"curried",
     "let %m = fn (%x) { fn (%y) { %x * %y } };\n%m(2)(3); %m(0.5)(3)",
     {"int32 6", "float32 1.5"}},
    {"graph_function", "%0 = fn (%y) { %y };\n%0(1); %0(2f)", {"int32 1", "float32 2.0"}},
    {"reference_type", "def @f(%r: ref(float32)) { ref_read(%r) }\n@f(ref(2f))", {"float32 2.0"}},
    {"empty_statements", "def @f(%x: float32) { let %y = %x;; %y; }\n;;@f(2f);;", {"float32 2.0"}},
    {"nullptr", "sum([[1f, 2f]], axis=nullptr)", {"float32 3.0"}},
    {"named_dim",
     "def @f(%x: Tensor[(meta[tir.SizeVar][0], 2), float32]) -> Tensor[(meta[tir.SizeVar][0], 2), float32] { "
     "%x }\n"
     "@f([[1f, 2f]])",
     {"Tensor[(1, 2), float32] [[1.0, 2.0]]"}},
    {"devices",
     "def @f(%x {virtual_device=meta[VirtualDevice][0]}: float32, virtual_device=meta[VirtualDevice][0]) {\n"
     "  device_copy(on_device(%x, virtual_device=meta[VirtualDevice][0], constrain_result=True),\n"
     "              src_virtual_device=meta[VirtualDevice][0], "
     "dst_virtual_device=meta[VirtualDevice][1])\n}\n@f(2f)",
     {"float32 2.0"}},
};

TEST(RelayCompatibility, FormsHaveTheirTypesAndValues) {
  for (const Form& form : kForms) {
    SCOPED_TRACE(form.name + ": " + form.text);
    Session session;
    ModuleId module = session.make_module();
    SourceId source = session.add_source(module, "form.relay", form.text);
    for (const LocatedDiagnostic& d : session.check(source)) ADD_FAILURE() << render_terminal(d, false);
    ExecutionOptions options;
    options.interpret = true;
    Execution execution(session, module, options, [](std::string_view) {});
    std::vector<std::string> values;
    for (DeclarationId statement : session.statements(source)) {
      StatementResult result = execution.run(statement);
      ASSERT_FALSE(result.failure) << render_terminal(*result.failure, false);
      if (session.info(statement).name.empty())
        values.push_back(to_string(result.type) + " " + to_json(*result.value));
    }
    EXPECT_EQ(values, form.values);
  }
}

}  // namespace
}  // namespace quern
