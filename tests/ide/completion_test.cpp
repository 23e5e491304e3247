// What may be typed where: a table of texts with a cursor, and the labels that are to be offered there.

#include "ide/completion.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "tests/ide/marked_text.h"
#include "tests/temporary_folder.h"

namespace quern::ide {
namespace {

struct Row {
  const char* text;
  std::vector<std::string> first;       ///< what the list begins with
  std::vector<std::string> among = {};  ///< what else is in it
  std::vector<std::string> absent = {};
  const char* replaced = nullptr;  ///< what the word at the cursor is
};

std::vector<std::string> labels(const CompletionList& list) {
  std::vector<std::string> all;
  for (const CompletionItem& item : list.items) all.push_back(item.label);
  return all;
}

/// A session with kTyped and the file that it imports.
struct Workplace {
  TemporaryFolder folder;
  std::unique_ptr<Typed> typed;
  Workplace() {
    std::ofstream(folder / "net.relay") << "def @id(%x: float32) -> float32 { %x }\n"
                                           "op swap(%x: Tensor[s, t]) -> Tensor[s, t] { [..i] => -%x[..i] }\n"
                                           "type Two { Two(float32, float32) }\n";
    std::ofstream(folder / "weights.npz") << "";
    std::ofstream(folder / "notes.md") << "";
    std::ofstream(folder / "vocab.json") << "";
    std::ofstream(folder / "images-idx3-ubyte.gz") << "";
    std::ofstream(folder / ".hidden.npy") << "";
    std::filesystem::create_directory(folder / "data");
    std::ofstream(folder / "data" / "digits.safetensors") << "";
    typed = std::make_unique<Typed>(kTyped, folder.path().string());
  }
  CompletionList at(const MarkedText& text) const {
    return complete(typed->session, typed->module, text.text, text.offset, folder.path().string());
  }
};

void check(const Workplace& workplace, const Row& row) {
  SCOPED_TRACE(row.text);
  const MarkedText text = marked(row.text);
  const CompletionList list = workplace.at(text);
  const std::vector<std::string> all = labels(list);
  const std::vector<std::string> begin(all.begin(), all.begin() + std::min(all.size(), row.first.size()));
  EXPECT_EQ(begin, row.first) << fmt::format("{}", fmt::join(all, " "));
  for (const std::string& label : row.among)
    EXPECT_THAT(all, testing::Contains(label)) << fmt::format("{}", fmt::join(all, " "));
  for (const std::string& label : row.absent) EXPECT_THAT(all, testing::Not(testing::Contains(label)));
  const std::string replaced = text.text.substr(list.replaced.begin, list.replaced.end - list.replaced.begin);
  if (row.replaced) {
    EXPECT_EQ(replaced, row.replaced);
  }
}

const Row kCompletionRows[] = {
    // Variables: of the text, the innermost first, then of the session, the last first.
    {"%$0", {"%twice", "%pair", "%net", "%flags", "%count", "%image", "%x"}, {}, {"%data"}, "%"},
    {"%im$0", {"%image"}, {}, {"%x", "%count"}, "%im"},
    {"%tw$0ix", {"%twice"}, {}, {}, "%twix"},
    {"let %a = 1; let %b = 2; %$0", {"%b", "%a", "%twice"}},
    {"let %a = %$0", {"%twice"}, {}, {"%a"}},
    {"let (%a, (%b, _)) = (1, (2, 3)); %$0", {"%b", "%a", "%twice"}},
    {"let (%a, %b) = %$0", {"%twice"}, {}, {"%a", "%b"}},
    {"let %inner = { let %x = 1; %$0", {"%x", "%twice"}, {}, {"%inner"}},
    {"fn (%p: float32, %q: float32) { %$0", {"%q", "%p", "%twice"}},
    {"(fn (%p: float32) { %p })(%$0", {}, {"%twice"}, {"%p"}},
    {"def @f(%p: float32) { %$0", {"%p"}, {}, {"%x", "%twice"}},
    {"match %s { Dark(%n) => %$0", {"%n"}},
    {"match %s { Dark(%n) => %n, Light => %$0", {"%twice"}, {}, {"%n"}},
    {"%0 = 1; %$0", {"%0"}},
    {"let %$0", {}, {}, {"%x"}},
    {"fn (%$0", {}, {}, {"%x"}},
    {"// %$0", {}, {}, {"%x"}},
    {"/* %$0", {}, {}, {"%x"}},
    {"/* %$0 */ 1", {}, {}, {"%x"}},
    {"\"%$0", {}, {}, {"%x"}},
    // Definitions.
    {"@$0", {"@double", "@layer", "@loss"}, {"@map", "@foldl", "@net.id"}, {"@half"}, "@"},
    {"@LA$0", {"@layer"}},
    {"@ly$0", {"@layer"}},
    {"@net.$0", {"@net.id"}, {}, {"@layer"}, "@net."},
    {"def @other() { 1 }\n@ot$0", {"@other"}},
    {"def @$0", {}, {}, {"@layer"}},
    {"grad($0", {"@double", "@layer", "@loss"}},
    // Operators, constructors and words.
    {"nn.den$0", {"nn.dense"}, {}, {}, "nn.den"},
    {"nn.$0", {"nn.adaptive_avg_pool1d"}, {"nn.dense", "nn.softmax"}, {"add"}, "nn."},
    {"dense$0", {"nn.dense"}},
    {"sca$0", {"scaled"}},
    {"Ne$0", {"Net"}},
    {"net.$0", {"net.Two", "net.swap"}, {}, {"nn.dense", "net."}},
    {"le$0", {"let", "left_shift", "len"}},
    {"1 + le$0", {"left_shift", "len"}, {}, {"let"}},
    {"gra$0", {"grad"}},
    {"de$0", {"def"}},
    {"{ de$0", {}, {}, {"def"}},
    {"op own(%z: Tensor[s, t]) -> Tensor[s, t] { [..i] => %z[..i] }\now$0", {"own"}},
    {"%x $0", {"and", "or"}, {}, {"nn.dense", "%x"}},
    {"if (%b) { 1 } $0", {}, {"else"}},
    {"dens$0 + 1", {"nn.dense"}, {}, {}, "dens"},
    // Patterns.
    {"match %s { $0", {"AdamState", "Cons", "Dark"}, {"_"}, {"nn.dense"}},
    {"match %s { Da$0", {"Dark"}},
    // Those of what is matched are the first, as they are declared.
    {"let %s = Dark(1); match (%s) { $0", {"Light", "Dark", "AdamState"}, {"_"}},
    {"def @f(%s: Shade) { match (%s) { Light => 0, $0", {"Light", "Dark", "AdamState"}},
    {"match (%net) { $0", {"Net", "AdamState"}},
    {"match (%net.fc) { $0", {"Pair", "AdamState"}},
    {"def @f(%l: List[Shade]) { match (%l) { Cons($0", {"Light", "Dark", "AdamState"}},
    {"def @f(%l: List[Shade]) { match (%l) { Cons(_, $0", {"Cons", "Nil"}},
    {"def @f(%n: Net, %s: Shade) { match ((%s, %n)) { (_, Net(fc=$0", {"Pair", "AdamState"}},
    {"def @f(%n: Net, %s: Shade) { match ((%s, %n)) { ($0", {"Light", "Dark", "AdamState"}},
    {"let Pai$0", {"Pair"}},
    {"let (%a, Pai$0", {"Pair"}},
    {"let Pair(weight=%w) = %net.fc; %$0", {"%w", "%twice"}},
    // Types.
    {"let %a: $0", {"float32", "int32", "bool", "Tensor"}, {"Net", "List", "Ref"}, {"nn.dense"}},
    {"let %a: Te$0", {"Tensor"}},
    {"let %a: Tensor[(2, 3), $0", {"float32", "int32", "bool"}, {"float16"}, {"Net"}},
    {"let %a: Tensor[(2, 3), fl$0", {"float32", "float16", "float64"}},
    {"def @f[rows, cols](%a: Tensor[($0", {"cols", "rows", "?"}, {}, {"float32", "%x"}},
    {"def @f(%a: Net) -> $0", {}, {"Net", "Tensor"}},
    {"def @f(%a: Ne$0", {"Net"}},
    {"op f(%a: Tensor[s, t], axis: $0", {"bool", "dim", "dtype", "float", "int", "shape", "string"}},
    {"fn (%a: Li$0", {"List"}},
    {"type Q = Ne$0", {"Net"}},
    {"type Both[A] = (A, A)\nlet %a: Bo$0", {"Both"}},
    {"type Both[A] = (A, $0", {}, {"A", "Net"}, {"nn.dense"}},
    {"type Q = Net\n%im$0", {"%image"}},
    // Fields and positions.
    {"%net.$0", {"conv1", "fc"}, {}, {}, ""},
    {"%net.fc.$0", {"weight", "bias"}},
    {"%net.fc.bi$0", {"bias"}, {}, {}, "bi"},
    {"%pair.$0", {"0", "1"}},
    {"def @f(%a: Net) { %a.$0", {"conv1", "fc"}},
    {"let %c = %net.fc; %c.$0", {"weight", "bias"}},
    {"let %c = Pair(%k, 1f); %c.$0", {"weight", "bias"}},
    {"def @make(%a: Net) -> Pair { %a.$0fc }", {"conv1", "fc"}, {}, {}, ""},
    {"%count.$0", {}, {}, {"conv1"}},
    // Calls: what fits first, then attributes.
    {"nn.dense($0", {"%flags", "%image", "%x"}, {"units=", "out_dtype=", "%count"}},
    {"nn.dense(%x, $0", {}, {"units=", "%x"}},
    {"nn.conv2d($0", {"%image"}, {"strides="}},
    {"nn.conv2d(%image, %k, $0", {"strides=", "padding=", "dilation="}},
    {"nn.conv2d(%image, %k, strides=[1, 1], $0", {"padding=", "dilation="}, {}, {"strides="}},
    {"nn.conv2d(%image, %k, $0, padding=[1])", {"strides=", "dilation="}, {}, {"padding="}},
    {"nn.conv2d(%image, %k, data$0", {"data_layout="}, {}, {}, "data"},
    {"nn.conv2d(%image, %k, data_layout=$0", {"\"NCHW\"", "\"NHWC\""}, {}, {"\"OIHW\""}},
    {"nn.conv2d(%image, %k, data_layout=\"N$0", {"\"NCHW\"", "\"NHWC\""}, {}, {}, "\"N"},
    {"scaled(%x, mode=$0", {"\"down\"", "\"even\"", "\"up\""}},
    {"scaled(%x, exact=$0", {"False", "True"}},
    {"scan_over(fn (%c, %v) { (%c, %v) }, 0.0, %x, reverse=$0", {"False", "True"}},
    {"scaled(%x, exact=T$0", {"True"}},
    {"cast(%x, dtype=$0", {"\"float32\"", "\"int32\"", "\"bool\""}},
    {"cast(%x, dtype=\"flo$0\")", {"\"float32\"", "\"float16\"", "\"float64\""}},
    {"Net($0", {}, {"conv1=", "fc="}},
    {"@layer($0", {"%x"}},
    {"%twice($0", {}, {"%twice", "%x"}},
    // Index expressions and the compile-time language.
    {"[row < 2, col < 3] => $0", {"col", "row"}, {"exp", "select", "sum["}, {"nn.dense"}},
    {"[i < 2] => ex$0", {"exp"}, {}, {"nn.dense", "expand_dims"}},
    {"[i < 2] => sum[k < 3] $0", {"k", "i"}},
    {"op f(%a: Tensor[(rows, 4), t], by: int = 2) -> Tensor[(rows,), t] { [i] => $0",
     {"i"},
     {"by", "rows", "%a", "max"}},
    {"static @f(value) { va$0", {"value"}},
    {"op f(%a: Tensor[s, t]) -> Tensor[s, t] where is_$0", {"is_bool", "is_float", "is_int"}},
    {"op f(%a: Tensor[s, t]) -> Tensor[s, t] $0", {}, {"where", "static", "schedule"}},
    {"scaled(%x) schedule { $0", {}, {"split", "vectorize"}, {"scaled"}},
    // Files.
    {"load(\"$0",
     {"images-idx3-ubyte.gz", "weights.npz", "data/"},
     {},
     {"notes.md", "vocab.json", ".hidden.npy", "net.relay"}},
    {"load(\"a.txt\", tokens=\"$0", {"vocab.json", "data/"}, {}, {"weights.npz", "net.relay"}},
    {"load(\"data/di$0", {"digits.safetensors"}, {}, {}, "di"},
    {"load(\"we$0\")", {"weights.npz"}, {}, {}, "we"},
    {"import \"$0", {"net.relay", "data/"}, {"quern:models/layers.relay"}, {"weights.npz"}},
    {"import \"quern:models/la$0\"", {"layers.relay"}, {}, {"net.relay"}, "la"},
    {"save(\"w$0", {"weights.npz"}},
    {"print(\"$0", {}, {}, {"weights.npz", "%x"}},
    {"print(\"loss {%$0", {}, {"%x"}, {"weights.npz"}},
    {"print(\"loss {%x:.3} {nn.re$0} \")", {"nn.relu"}, {}, {"%x"}, "nn.re"},
    {"print(\"loss {$0", {}, {"%x", "abs"}, {"weights.npz"}},
    {"print(\"loss {{%$0", {}, {}, {"%x"}},
    {"load(\"nowhere/$0", {}, {}, {"weights.npz"}},
    // Nothing, anything.
    {"12$0", {}, {}, {"%x"}},
    {"test \"$0", {}, {}, {"%x"}},
};

TEST(Completion, Table) {
  const Workplace workplace;
  for (const Row& row : kCompletionRows) check(workplace, row);
}

std::string detail_of(const CompletionList& list, const std::string& label) {
  const auto found = std::ranges::find(list.items, label, &CompletionItem::label);
  return found == list.items.end() ? "absent" : found->detail;
}

TEST(Completion, Details) {
  const Workplace workplace;
  const struct {
    const char *text, *label, *detail;
  } kDetails[] = {
      {"%$0", "%x", "Tensor[(8, 784), float32]"},
      {"%$0", "%twice", "fn (float32) -> float32"},
      {"fn (%a: Tensor[(2,\n  3), int8]) { %$0", "%a", "Tensor[(2, 3), int8]"},
      {"let %a = %net.fc.weight; %$0", "%a", "Tensor[(2, 4), float32]"},
      {"@$0", "@layer",
       "@layer[n, i, o](%data: Tensor[(n, i), float32], %kernel: Tensor[(o, i), float32]) -> "
       "Tensor[(n, o), float32]"},
      {"sca$0", "scaled",
       "scaled(%input: Tensor[s, t], factor: float = 2.0, mode: string = \"up\", exact: bool = False) -> "
       "Tensor[s, t]"},
      {"nn.re$0", "nn.relu", "nn.relu(%data: Tensor[s, t]) -> Tensor[s, t]"},
      {"Da$0", "Dark", "Dark(int32) -> Shade"},
      {"Pa$0", "Pair", "Pair(weight: Tensor[(2, 4), float32], bias: float32) -> Pair"},
      {"scaled(%x, $0", "factor=", "float = 2.0"},
      {"Net($0", "fc=", "Pair"},
      {"%net.$0", "fc", "Pair"},
      {"[i < 2] => ma$0", "max", "max(a, b)"},
      {"gr$0", "grad", "grad(function)"},
  };
  for (const auto& row : kDetails) {
    SCOPED_TRACE(row.text);
    EXPECT_EQ(detail_of(workplace.at(marked(row.text)), row.label), row.detail);
  }
}

TEST(Completion, Documentation) {
  const Workplace workplace;
  auto documentation = [&](const char* text, const std::string& label) {
    const CompletionList list = workplace.at(marked(text));
    const auto found = std::ranges::find(list.items, label, &CompletionItem::label);
    if (found == list.items.end()) return std::string("absent");
    return documentation_of(workplace.typed->session, workplace.typed->module, *found);
  };
  EXPECT_EQ(documentation("@la$0", "@layer"), "A layer.\nWith two lines.");
  EXPECT_EQ(documentation("sca$0", "scaled"), "Scales it.");
  EXPECT_THAT(documentation("nn.re$0", "nn.relu"), testing::StartsWith("max(x, 0)"));
  EXPECT_THAT(documentation("le$0", "let"), testing::HasSubstr("Binds a variable"));
  EXPECT_EQ(documentation("scaled(%x, $0", "factor="), "");
}

// The best are kept, and it is said that there are more.
TEST(Completion, ManyNames) {
  std::string text;
  for (int i = 0; i < 1000; ++i) text += fmt::format("let %v{} = {};\n", i, i);
  Typed typed(text);
  const CompletionList list = complete(typed.session, typed.module, "%", 1);
  EXPECT_TRUE(list.is_incomplete);
  ASSERT_FALSE(list.items.empty());
  EXPECT_EQ(list.items[0].label, "%v999");
  EXPECT_FALSE(complete(typed.session, typed.module, "%v12", 4).is_incomplete);
}

// Nothing of the session is inferred for it.
TEST(Completion, InfersNothing) {
  Session session;
  const ModuleId module = session.make_module();
  session.add_source(module, "a.relay", "let %a = 1;\ndef @f(%x) { %x + 1 }\n");
  for (const std::string text : {"%", "@", "nn.dense(", "%a + "})
    complete(session, module, text, static_cast<uint32_t>(text.size()));
  EXPECT_EQ(session.times_computed("infer_statement"), 0u);
  EXPECT_EQ(session.times_computed("infer"), 0u);
}

}  // namespace
}  // namespace quern::ide
