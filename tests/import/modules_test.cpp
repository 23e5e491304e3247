// Modules of Relay in TVM's JSON (make_modules.py) as text, as stored beside them, and what the text computes. QUERN_UPDATE_GOLDENS=1
// writes the texts.

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>

#include "import/program/import_files.h"
#include "ir/io/data_files.h"
#include "session/run/execution.h"
#include "tests/files.h"
#include "tests/temporary_folder.h"

namespace quern::onnx {

namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

const fs::path kModules = QUERN_SOURCE_DIR "/tests/import/modules";

/// One run of a module. Of the stored tensors, `inputs` are given to it; `results` are what it has to give, by their places.
struct Run {
  const char* name;
  const char* module;
  std::vector<std::string> inputs, numbers;  ///< numbers: NAME=NUMBER
  std::vector<std::pair<std::string, std::vector<size_t>>> results;
};

std::string imported(const Run& run, const fs::path& folder) {
  ImportRequest request{
      (kModules / (std::string(run.module) + ".json")).string(), (folder / "out.relay").string(), {}, {}};
  const fs::path params = kModules / (std::string(run.module) + ".params");
  if (fs::exists(params)) request.params = params.string();
  EXPECT_THAT(import_files(request), ElementsAre());
  return read_file((folder / "out.relay").string());
}

TensorPtr entry(const Entries<TensorPtr>& entries, const std::string& name) {
  for (const auto& [known, tensor] : entries)
    if (known == name) return tensor;
  ADD_FAILURE() << "there is no " << name;
  return nullptr;
}

void expect_close(const HostTensor& found, const HostTensor& wanted) {
  ASSERT_EQ(found.shape(), wanted.shape());
  for (int64_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(element_as_double(found, i), element_as_double(wanted, i), 1e-5) << i;
}

class Modules : public testing::TestWithParam<std::tuple<Run, bool>> {};

TEST_P(Modules, HaveTheirTextAndResults) {
  const auto& [run, interprets] = GetParam();
  const TemporaryFolder folder;
  const std::string text = imported(run, folder.path());
  const std::string golden =
      fmt::format("{}/tests/import/texts/module_{}.relay", QUERN_SOURCE_DIR, run.module);
  if (std::getenv("QUERN_UPDATE_GOLDENS")) std::ofstream(golden) << text;
  EXPECT_EQ(text, read_file(golden)) << golden;

  const auto stored = read_tensors((kModules / (std::string(run.module) + ".safetensors")).string());
  ASSERT_TRUE(stored);
  ExecutionOptions options;
  options.interpret = interprets;
  const auto give = [&](const std::string& name, const TensorPtr& tensor) {
    options.inputs[name] = folder / (name + ".npy");
    ASSERT_TRUE(write_tensors(options.inputs[name], {{"", tensor}}));
  };
  for (const std::string& name : run.inputs) give(name, entry(*stored, name));
  for (const std::string& text_of : run.numbers) {
    const TensorPtr flag = HostTensor::zeros(DType::boolean(), {});
    flag->data()[0] = std::byte(text_of.ends_with("1"));
    give(text_of.substr(0, text_of.find('=')), flag);
  }
  Session session;
  const ModuleId module = session.make_module();
  const SourceId source = session.add_source(module, "out.relay", text, folder.string());
  ASSERT_FALSE(has_errors(session.check(source)));
  Execution execution(session, module, options, [](std::string_view) {});
  for (DeclarationId statement : session.statements(source)) ASSERT_FALSE(execution.run(statement).failure);
  const auto outcome = execution.run_entry("main");
  ASSERT_TRUE(outcome && outcome->value) << (outcome ? outcome->failure->message : "");
  for (const auto& [name, places] : run.results) {
    Value part = *outcome->value;
    for (const size_t place : places) part = (*part.fields())[place];
    SCOPED_TRACE(name);
    expect_close(*part.as_tensor(), *entry(*stored, name));
  }
}

std::vector<Run> runs() {
  using Results = std::vector<std::pair<std::string, std::vector<size_t>>>;
  const auto control = [](const char* name, const char* flag, const char* chosen) {
    return Run{
        name, "control", {"x"}, {flag}, Results{{chosen, {0, 0}}, {"0.1", {0, 1}}, {"1", {1}}, {"2", {2}}}};
  };
  return {{"conv_net", "conv_net", {"data"}, {}, {{"y", {}}}},
          control("control_true", "flag=1", "true.0.0"),
          control("control_false", "flag=0", "false.0.0")};
}

INSTANTIATE_TEST_SUITE_P(Import, Modules, testing::Combine(testing::ValuesIn(runs()), testing::Bool()),
                         [](const auto& test) {
                           return fmt::format("{}_{}", std::get<0>(test.param).name,
                                              std::get<1>(test.param) ? "interpreted" : "compiled");
                         });

// --- files that are no sound modules: one clear line each, and nothing is written

class BadModules : public testing::Test {
 protected:
  std::vector<std::string> problems(const std::string& json, const std::string& params = "") {
    std::ofstream(folder_ / "module.json", std::ios::binary) << json;
    ImportRequest request{(folder_ / "module.json").string(), (folder_ / "out.relay").string(), {}, {}};
    if (!params.empty()) {
      std::ofstream(folder_ / "x.params", std::ios::binary) << params;
      request.params = folder_ / "x.params";
    }
    auto found = import_files(request);
    EXPECT_FALSE(fs::exists(folder_ / "out.relay"));
    EXPECT_FALSE(fs::exists(folder_ / "out.safetensors"));
    return found;
  }
  /// A function of `%x` whose body is node 9; nodes from 9 on are written.
  std::vector<std::string> of_body(const std::string& nodes) {
    return problems(
        R"({"root": 1, "b64ndarrays": [], "attrs": {"tvm_version": "0.14.0"}, "nodes": [{"type_key": ""},
 {"type_key": "relay.Function", "attrs": {"params": "2", "body": "9", "ret_type": "0", "type_params": "0", "attrs": "0"}},
 {"type_key": "Array", "data": [3]}, {"type_key": "relay.Var", "attrs": {"vid": "4", "type_annotation": "6"}},
 {"type_key": "relay.Id", "attrs": {"name_hint": "5"}}, {"type_key": "runtime.String", "repr_str": "x"},
 {"type_key": "relay.TensorType", "attrs": {"dtype": "float32", "shape": "7"}}, {"type_key": "Array", "data": [8]},
 {"type_key": "IntImm", "attrs": {"dtype": "int32", "value": "2"}}, )" +
        nodes + "]}");
  }

  TemporaryFolder folder_;
};

TEST_F(BadModules, NoJson) {
  EXPECT_THAT(problems("def @main() { 1 }"), ElementsAre(HasSubstr("is not JSON")));
  EXPECT_THAT(problems(R"({"root": 1, "nodes": [{"type_key")"), ElementsAre(HasSubstr("is not JSON")));
  EXPECT_THAT(problems(std::string(100'000, '[')), ElementsAre(HasSubstr("is not JSON")));
}

TEST_F(BadModules, NoObjectGraph) {
  for (const char* json :
       {"[]", "7", R"({"nodes": []})", R"({"root": 0, "nodes": []})",
        R"({"root": 5, "nodes": [{"type_key": ""}]})", R"({"root": -1, "nodes": [{"type_key": ""}]})",
        R"({"root": 0, "nodes": [{"type_key": 3}]})",
        R"({"root": 0, "nodes": [{"type_key": ""}, {"type_key": "Array", "data": [2]}]})",
        R"({"root": 0, "nodes": [{"type_key": ""}, {"type_key": "Array", "data": [-1]}]})",
        R"({"root": 0, "nodes": [{"type_key": ""}, {"type_key": "Array", "data": [0.5]}]})",
        R"({"root": 0, "nodes": [{"type_key": ""}, {"type_key": "Array", "data": "1"}]})",
        R"({"root": 0, "nodes": [{"type_key": ""}], "b64ndarrays": [1]})"})
    EXPECT_THAT(problems(json), ElementsAre(HasSubstr("not an object graph as TVM writes it"))) << json;
}

TEST_F(BadModules, AGraphOfCompiledKernels) {
  EXPECT_THAT(problems(R"({"nodes": [], "arg_nodes": [], "heads": [[0, 0, 0]], "attrs": {}})"),
              ElementsAre(HasSubstr("not what they compute. Save the module")));
}

TEST_F(BadModules, WhatIsForOtherModels) {
  const ImportRequest request{
      (kModules / "control.json").string(), (folder_ / "out.relay").string(), {"x=1,2"}, {}};
  EXPECT_THAT(import_files(request),
              ElementsAre(HasSubstr("`--shape` and `--constant` go with other models")));
  ImportRequest model{
      QUERN_SOURCE_DIR "/tests/import/models/conv_net.onnx", (folder_ / "out.relay").string(), {}, {}};
  model.params = (kModules / "conv_net.params").string();
  EXPECT_THAT(import_files(model), ElementsAre(HasSubstr("`--params` goes with a module of TVM's")));
}

TEST_F(BadModules, ARootThatIsNoModule) {
  EXPECT_THAT(problems(R"({"root": 1, "nodes": [{"type_key": ""}, {"type_key": "relax.expr.Function"}]})"),
              ElementsAre(HasSubstr("the root is of the kind `relax.expr.Function`")));
}

TEST_F(BadModules, AFunctionThatIsLowered) {
  EXPECT_THAT(
      problems(
          R"({"root": 1, "nodes": [{"type_key": ""}, {"type_key": "IRModule", "attrs": {"functions": "2"}},
 {"type_key": "Map", "data": [3, 4]}, {"type_key": "GlobalVar", "attrs": {"name_hint": "f"}}, {"type_key": "tir.PrimFunc"}]})"),
      ElementsAre(HasSubstr("`@f` is of the kind `tir.PrimFunc`")));
}

TEST_F(BadModules, AnExpressionInItself) {
  EXPECT_THAT(
      of_body(
          R"({"type_key": "relay.Tuple", "attrs": {"fields": "10"}}, {"type_key": "Array", "data": [3, 9]})"),
      ElementsAre(HasSubstr("node 9 (relay.Tuple) is a part of itself")));
}

TEST_F(BadModules, ATypeInItself) {
  EXPECT_THAT(
      of_body(
          R"({"type_key": "relay.Let", "attrs": {"var": "10", "value": "3", "body": "10"}}, {"type_key": "relay.Var", "attrs": {"vid": "4", "type_annotation": "11"}},
 {"type_key": "relay.RefType", "attrs": {"value": "11"}})"),
      ElementsAre(HasSubstr("node 11 is a type in more than 64 others")));
}

TEST_F(BadModules, WhatIsSmallInTheFileAlone) {
  std::string nodes;
  for (int k = 9; k < 5000; k += 2)
    nodes += fmt::format(
        R"({{"type_key": "relay.Tuple", "attrs": {{"fields": "{}"}}}}, {{"type_key": "Array", "data": [{}]}}, )",
        k + 1, k + 2);
  EXPECT_THAT(of_body(nodes + R"({"type_key": "relay.Tuple", "attrs": {"fields": "2"}})"),
              ElementsAre(HasSubstr("is in more than 200 expressions without a name")));
  nodes = R"({"type_key": "relay.Let", "attrs": {"var": "10", "value": "3", "body": "10"}},
 {"type_key": "relay.Var", "attrs": {"vid": "4", "type_annotation": "11"}}, )";
  for (int k = 11; k < 71; k += 2)
    nodes += fmt::format(
        R"({{"type_key": "TupleType", "attrs": {{"fields": "{}"}}}}, {{"type_key": "Array", "data": [{}, {}]}}, )",
        k + 1, k + 2, k + 2);
  EXPECT_THAT(
      of_body(nodes + R"({"type_key": "relay.TensorType", "attrs": {"dtype": "int8", "shape": "0"}})"),
      ElementsAre(HasSubstr("is a type of more than 100000 characters")));
}

TEST_F(BadModules, BlocksInManyOthers) {
  std::string nodes;
  for (int k = 9; k < 400; ++k)
    nodes += fmt::format(
        R"({{"type_key": "relay.If", "attrs": {{"cond": "3", "true_branch": "{}", "false_branch": "3"}}}}, )",
        k + 1);
  EXPECT_THAT(of_body(nodes + R"({"type_key": "relay.Tuple", "attrs": {"fields": "2"}})"),
              ElementsAre(HasSubstr("blocks are in more than 100 others")));
}

TEST_F(BadModules, MembersThatAreNone) {
  const std::pair<const char*, const char*> kRows[] = {
      {R"({"type_key": "relay.Call", "attrs": {"op": "77", "args": "2"}})",
       "`op` of node 9 (relay.Call) is `77` and no node"},
      {R"({"type_key": "relay.Call", "attrs": {"op": "-1", "args": "2"}})",
       "`op` of node 9 (relay.Call) is `-1` and no node"},
      {R"({"type_key": "relay.Call", "attrs": {"op": "x", "args": "2"}})",
       "`op` of node 9 (relay.Call) is `x` and no node"},
      {R"({"type_key": "relay.Call", "attrs": {"op": "0", "args": "2"}})", "node 9 (relay.Call) has no `op`"},
      {R"({"type_key": "relay.Call", "attrs": {"args": "2"}})", "node 9 (relay.Call) has no `op`"},
      {R"({"type_key": "relay.Tuple", "attrs": {"fields": "3"}})",
       "`fields` of node 9 (relay.Tuple) is no array"},
      {R"({"type_key": "relay.TupleGetItem", "attrs": {"tuple_value": "3", "index": "a"}})",
       "`index` of node 9 (relay.TupleGetItem) is no integer"},
      {R"({"type_key": "tir.Add"})", "node 9 is of the kind `tir.Add`, which is no expression of Relay"},
      {R"({"type_key": ""})", "node 1 (relay.Function) has no `body`"},
      {R"({"type_key": "Op", "repr_str": "a) { } def @g("})", "node 9 is an operator without a name"},
      {R"({"type_key": "relay.Call", "attrs": {"op": "10", "args": "2", "attrs": "3"}}, {"type_key": "Op", "repr_str": "nn.relu"})",
       "node 9 has attributes of the kind `relay.Var`, which is not Relay's"}};
  for (const auto& [nodes, wanted] : kRows)
    EXPECT_THAT(of_body(nodes), ElementsAre(HasSubstr(wanted))) << nodes;
}

TEST_F(BadModules, AParameterWithoutAType) {
  EXPECT_THAT(
      problems(
          R"({"root": 1, "nodes": [{"type_key": ""}, {"type_key": "relay.Function", "attrs": {"params": "2", "body": "3"}},
 {"type_key": "Array", "data": [3]}, {"type_key": "relay.Var", "attrs": {"vid": "4"}}, {"type_key": "relay.Id", "attrs": {"name_hint": "x"}}]})"),
      ElementsAre(HasSubstr("the parameter `x` of a function of the module has no type")));
}

TEST_F(BadModules, WhatTheCheckerSays) {
  EXPECT_THAT(
      of_body(
          R"({"type_key": "relay.Call", "attrs": {"op": "10", "args": "2"}}, {"type_key": "Op", "repr_str": "nn.relux"})"),
      ElementsAre(HasSubstr("nn.relux")));
  EXPECT_THAT(
      of_body(
          R"({"type_key": "relay.Tuple", "attrs": {"fields": "10"}}, {"type_key": "Array", "data": [3, 11]}, {"type_key": "Op", "repr_str": "add"})"),
      ElementsAre(HasSubstr("the type of `add` as a value cannot be determined here")));
  EXPECT_THAT(of_body(R"({"type_key": "relay.Constant", "attrs": {"data": "3"}})"),
              ElementsAre(HasSubstr("a constant of the metadata names array 3 of 0")));
}

/// A file of one tensor `x` of these extents, without what is cut.
std::string params_of(const std::vector<int64_t>& extents, uint64_t stated, size_t bytes, size_t cut = 0) {
  std::string text;
  const auto put = [&](auto value) { text.append(reinterpret_cast<const char*>(&value), sizeof value); };
  for (const uint64_t word : {uint64_t{0xF7E58D4F05049CB7}, uint64_t{0}, uint64_t{1}, uint64_t{1}}) put(word);
  text += "x";
  for (const uint64_t word : {uint64_t{1}, uint64_t{0xDD5E40F096B4A13F}, uint64_t{0}}) put(word);
  for (const int32_t word : {1, 0, static_cast<int32_t>(extents.size())}) put(word);
  for (const uint8_t byte : {2, 32, 1, 0}) put(byte);
  for (const int64_t extent : extents) put(extent);
  put(stated);
  text.append(bytes, '\0');
  return text.substr(0, text.size() - cut);
}

TEST_F(BadModules, Params) {
  const std::string module = read_file((kModules / "conv_net.json").string());
  const std::string sound = params_of({2}, 8, 8);
  EXPECT_THAT(problems(module, sound), ElementsAre(HasSubstr("`@main` has no parameter with the name")));
  EXPECT_THAT(problems(module, "PK"), ElementsAre(HasSubstr("ends within its head")));
  EXPECT_THAT(problems(module, std::string(16, 'a')),
              ElementsAre(HasSubstr("does not begin as TVM's parameters do")));
  for (size_t cut = 1; cut + 16 < sound.size(); ++cut)
    EXPECT_EQ(problems(module, sound.substr(0, sound.size() - cut)).size(), 1U) << cut;
  EXPECT_THAT(problems(module, sound + "a"), ElementsAre(HasSubstr("goes on after the last array")));
  EXPECT_THAT(problems(module, params_of({3}, 8, 8)),
              ElementsAre(HasSubstr("it states 8 bytes of data where")));
  EXPECT_THAT(problems(module, params_of({-2}, 8, 8)), ElementsAre(HasSubstr("negative")));
  EXPECT_THAT(problems(module, params_of({int64_t{1} << 40}, uint64_t{1} << 42, 8)),
              ElementsAre(HasSubstr("follow")));
  EXPECT_THAT(problems(module, params_of({int64_t{1} << 40, int64_t{1} << 40}, 8, 8)), testing::SizeIs(1));
  std::string many = sound;
  many[16] = '\xff', many[20] = '\xff';
  EXPECT_THAT(problems(module, many), ElementsAre(HasSubstr("names, and")));
  many = sound;
  many[24] = '\xff';
  EXPECT_THAT(problems(module, many), ElementsAre(HasSubstr("name 0 claims")));
  many = sound;
  many[33] = 2;
  EXPECT_THAT(problems(module, many), ElementsAre(HasSubstr("1 names and 2 arrays")));
}

TEST(Params, AreReadAndWrittenAsTVMDoes) {
  const TemporaryFolder folder;
  const std::string stored = read_file((kModules / "conv_net.params").string());
  const auto found = read_tensors((kModules / "conv_net.params").string());
  ASSERT_TRUE(found) << found.error().message;
  ASSERT_TRUE(write_tensors(folder / "x.params", *found));
  EXPECT_EQ(read_file(folder / "x.params"), stored);
}

TEST(Params, KeepEveryDType) {
  const TemporaryFolder folder;
  Entries<TensorPtr> entries;
  for (const char* dtype : {"bool", "int8", "int64", "uint16", "float16", "bfloat16", "float64"})
    entries.emplace_back(dtype, HostTensor::zeros(*parse_dtype(dtype), {2, 3}));
  ASSERT_TRUE(write_tensors(folder / "x.params", entries));
  const auto found = read_tensors(folder / "x.params");
  ASSERT_TRUE(found) << found.error().message;
  for (const auto& [dtype, tensor] : *found) EXPECT_EQ(to_string(tensor->dtype()), dtype);
}

}  // namespace

}  // namespace quern::onnx
