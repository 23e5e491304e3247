// Rows for operators without one of their own: their examples, with other extents and elements.

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <set>

#include "ide/documentation.h"
#include "session/run/execution.h"
#include "tests/operators/drawn.h"
#include "tests/support/library.h"

namespace quern::numeric {

namespace {

/// The first example's call: its tensor arguments, and its text with %a, %b… in their places.
struct ExampleCall {
  std::vector<TensorPtr> tensors;
  std::string text;
};

// The tensor arguments of a call, those in tuples one by one.
void find_tensors(SyntaxPtr s, std::vector<SyntaxPtr>& out) {
  if (s->is(SyntaxKind::NamedArgument)) return;
  if (s->is(SyntaxKind::Tuple))
    for (SyntaxPtr c : s->children) find_tensors(c, out);
  else
    out.push_back(s);
}

SyntaxPtr call_of(SyntaxPtr s, const std::string& op) {
  if (!s) return nullptr;
  if (s->is(SyntaxKind::Call) && s->child(0)->text == op) return s;
  for (SyntaxPtr c : s->children)
    if (SyntaxPtr found = call_of(c, op)) return found;
  return nullptr;
}

TensorPtr value_of(const std::string& text) {
  Session session(library_texts());
  ModuleId module = session.make_module();
  SourceId source = session.add_source(module, "argument.relay", text);
  if (!session.check(source).empty()) return nullptr;
  Execution execution(session, module, {}, [](std::string_view) {});
  StatementResult result = execution.run(session.statements(source)[0]);
  return result.value ? result.value->as_tensor() : nullptr;
}

ExampleCall example_call(const std::string& op) {
  std::vector<ide::DocExample> examples = ide::doc_examples(doc_comment(op));
  if (examples.empty()) return {};
  ExampleCall call{{}, examples[0].code};
  while (call.text.ends_with('\n')) call.text.pop_back();
  Session session(library_texts());
  SourceId source = session.add_source(session.make_module(), "example.relay", call.text);
  std::vector<std::pair<Range, std::string>> places;
  for (auto& [id, tree] : session.trees(source)) {
    SyntaxPtr found = call_of(tree.root, op);
    std::vector<SyntaxPtr> arguments;
    for (SyntaxPtr arg : found ? found->children.subspan(1) : std::span<const SyntaxPtr>())
      find_tensors(arg, arguments);
    for (SyntaxPtr arg : arguments) {
      Range range = session.range_of({{id, arg->id}, {}});
      if (TensorPtr tensor = value_of(call.text.substr(range.begin, range.end - range.begin))) {
        places.emplace_back(range, fmt::format("%{}", static_cast<char>('a' + call.tensors.size())));
        call.tensors.push_back(tensor);
      }
    }
  }
  std::sort(places.begin(), places.end(), [](auto& x, auto& y) { return x.first.begin > y.first.begin; });
  for (auto& [range, name] : places) call.text.replace(range.begin, range.end - range.begin, name);
  return call;
}

// The example with one extent, wherever it stands, as another, and elements of its dtypes: integers may be
// positions, so that theirs are taken from the example.
Arguments varied(const ExampleCall& call, Random& random) {
  std::set<int64_t> extents;
  for (const TensorPtr& t : call.tensors) extents.insert(t->shape().begin(), t->shape().end());
  std::vector<int64_t> list(extents.begin(), extents.end());
  int64_t from = list.empty() ? 0 : random.pick(list), to = random.integer(0, 5);
  auto changed = [&](bool other) {
    Drawn drawn{{{}, call.text}};
    for (const TensorPtr& t : call.tensors) {
      Shape shape = t->shape();
      if (other) std::replace(shape.begin(), shape.end(), from, to);
      TensorPtr made = random.tensor(t->dtype(), shape, Values::SmallIntegers);
      if (!t->dtype().is_float() && t->size() > 0)
        for (int64_t i = 0; i < made->size(); ++i)
          std::copy_n(t->data() + random.integer(0, t->size() - 1) * static_cast<int64_t>(t->dtype().bytes()),
                      t->dtype().bytes(), made->data() + i * static_cast<int64_t>(t->dtype().bytes()));
      drawn.arguments.tensors.push_back(made);
    }
    return drawn;
  };
  Drawn other = changed(true);
  Session session(library_texts());
  return complaints(session, other.definition("f")).empty() ? other.arguments : changed(false).arguments;
}

}  // namespace

// The example is evaluated at its first use: tests are listed by each process that runs one of them.
Row example_row(const std::string& op) {
  auto call = std::make_shared<std::optional<ExampleCall>>();
  auto draw = [op, call](Random& random) {
    if (!*call) *call = example_call(op);
    return varied(**call, random);
  };
  return {op, draw, 4};
}

std::vector<Row> operator_rows() {
  std::vector<Row> rows = agreement_rows();
  for (const std::string& op : operators_of(library_texts()))
    if (std::ranges::none_of(rows, [&](const Row& row) { return row.name == op; }))
      rows.push_back(example_row(op));
  return rows;
}

}  // namespace quern::numeric
