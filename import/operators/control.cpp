// Operators with graphs inside: `If`, `Loop`, `Scan`.

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "import/operators/loop_function.h"
#include "import/operators/table.h"

namespace quern::onnx {

namespace {

using namespace import_text;

void if_else(Call& call) {
  // A function of TensorFlow's is given what follows the condition; graphs of ONNX's have no inputs.
  std::vector<Term> inputs;
  for (size_t i = 1; i < call.input_count(); ++i) inputs.push_back(call.in(i));
  const Block then = call.block(call.graph("then_branch"), inputs),
              otherwise = call.block(call.graph("else_branch"), inputs);
  if (then.results.size() != otherwise.results.size() || then.results.size() != call.output_count())
    throw Refusal("its branches have other numbers of results than it has outputs");
  const Term condition = scalar(call, call.in(0), "condition");
  std::vector<Type> types;
  for (size_t i = 0; i < then.results.size(); ++i)
    types.push_back(call.writer().document().typer.type_of(
        "if ($0) { $1 } else { $2 }", {condition, then.results[i], otherwise.results[i]}));
  set_results(call,
              fmt::format("if ({}) {} else {}", call.writer().operand(condition), then.text, otherwise.text),
              types);
}

/// Rows of this type, of which there are so many.
Type rows_of(Type row, Dim count) {
  std::vector<Dim> dims = {count};
  dims.insert(dims.end(), row->dims.begin(), row->dims.end());
  return tensor_type(dims, row->dtype);
}

/// A `Loop` on its way to a function that calls itself last.
class LoopText {
 public:
  explicit LoopText(Call& call) : call_(call), body_(call.graph("body")), carried_(call.input_count() - 2) {
    outer_count_ = writer().document().variables.size();
    if (body_.inputs.size() != carried_ + 2 || body_.outputs.size() < carried_ + 1)
      throw Refusal("its body has another number of inputs or outputs than it has itself");
    for (size_t i = 0; i < carried_; ++i) types_.push_back(call.in(i + 2).type);
  }

  void write() {
    Block block = body();
    for (bool is_stable = false; !is_stable;) {
      is_stable = true;
      for (size_t i = 0; i < carried_; ++i) {
        const Type type = joined(types_[i], block.results[i + 1].type);
        is_stable = is_stable && type == types_[i];
        types_[i] = type;
      }
      if (!is_stable) block = body();
    }
    write_function(block);
  }

 private:
  Writer& writer() { return call_.writer(); }

  Block body() {
    turn_ = writer().variable("turn", scalar_type(DType::int64()));
    goes_ = writer().variable("goes_on", scalar_type(DType::boolean()));
    state_.clear();
    std::vector<Term> inputs = {turn_, goes_};
    for (size_t i = 0; i < carried_; ++i)
      state_.push_back(writer().variable(identifier(body_.inputs[i + 2].name, "state"), types_[i]));
    inputs.insert(inputs.end(), state_.begin(), state_.end());
    return call_.block(body_, inputs);
  }

  void write_function(const Block& block) {
    Names& names = writer().document().names;
    std::vector<std::string> results, next, first;
    std::vector<Term> parameters = {turn_, goes_};
    std::vector<Type> types = types_;
    for (size_t i = 0; i < carried_; ++i) {
      parameters.push_back(state_[i]);
      results.push_back(state_[i].text);
      first.push_back(writer().operand(call_.in(i + 2)));
    }
    std::vector<std::string> bound;
    for (size_t i = 0; i < block.results.size(); ++i) {
      bound.push_back("%" + names.unique("next"));
      if (i == 0) continue;
      if (i > carried_) add_rows(block.results[i], parameters, types, results, first);
      next.push_back(i <= carried_ ? bound[i] : grown(results[i - 1], bound[i], block.results[i]));
    }
    const std::string binds =
        fmt::format("let {} = {};", bound.size() == 1 ? bound[0] : tuple_of(bound), block.text);
    // A body may compute its condition as a tensor of one element.
    const std::string goes =
        block.results[0].rank() == 0 ? bound[0] : fmt::format("reshape({}, newshape=[])", bound[0]);
    next.insert(next.begin(), {turn_.text + " + 1i64", goes});
    first.insert(first.begin(),
                 {"0i64", call_.has(1) ? writer().operand(scalar(call_, call_.in(1), "goes_on")) : "True"});
    std::string ends = goes_.text;
    if (call_.has(0))
      ends += fmt::format(" and {} < {}", turn_.text, writer().operand(scalar(call_, call_.in(0), "turns")));
    write_loop(call_, outer_count_, {parameters, types, ends, binds, next, results, first});
  }

  /// The rows with another one. Without rows there are no extents that a row of unknown ones could have.
  std::string grown(const std::string& rows, const std::string& row, const Term& result) const {
    std::string more = fmt::format("concatenate(({}, expand_dims({}, axis=0)), axis=0)", rows, row);
    if (std::ranges::none_of(result.type->dims, [](Dim dim) { return dim->has_any; })) return more;
    return fmt::format("if ({} == 0i64) {{ expand_dims({}, axis=0) }} else {{ {} }}", turn_.text, row, more);
  }

  /// A result of each turn, as rows that grow.
  void add_rows(const Term& result, std::vector<Term>& parameters, std::vector<Type>& types,
                std::vector<std::string>& results, std::vector<std::string>& first) {
    types.push_back(rows_of(result.type, dim_any()));
    parameters.push_back(writer().variable("rows", types.back()));
    results.push_back(parameters.back().text);
    std::vector<std::string> none = {"0"};
    for (Dim dim : result.type->dims) none.push_back(dim->has_any ? "0" : to_string(dim));
    first.push_back(
        fmt::format("zeros([{}], dtype=\"{}\")", fmt::join(none, ", "), to_string(result.dtype())));
  }

  Call& call_;
  const Graph& body_;
  size_t carried_;
  size_t outer_count_ = 0;  ///< how many variables the text around it has
  std::vector<Type> types_;
  Term turn_, goes_;
  std::vector<Term> state_;
};

void loop(Call& call) {
  if (call.input_count() < 2) throw Refusal("lacks its number of turns and its condition");
  LoopText(call).write();
}

/// A `Scan` on its way to `scan_over`; one before operator set 9 is over a batch, whose sequences do not know of each other.
class ScanText {
 public:
  explicit ScanText(Call& call)
      : call_(call), body_(call.graph("body")), is_batched_(call.opset() < 9), begin_(is_batched_ ? 1 : 0) {
    const int64_t scanned = call.integer("num_scan_inputs");
    if (scanned < 1 || call.input_count() < begin_ + static_cast<uint64_t>(scanned))
      throw Refusal("has fewer inputs than it scans");
    count_ = call.input_count() - begin_;
    carried_ = count_ - static_cast<size_t>(scanned);
    if (body_.inputs.size() != count_ || body_.outputs.size() < carried_)
      throw Refusal("its body has another number of inputs or outputs than it has itself");
    if (is_batched_ && call.has(0)) throw Refusal("its sequences have lengths of their own");
    for (const char* name : {"scan_input_axes", "scan_output_axes", "scan_output_directions"})
      if (const auto list = call.integers(name); list && *list != std::vector<int64_t>(list->size(), 0))
        throw Refusal(fmt::format("its `{}` are not all 0", name));
    const auto directions = call.integers(is_batched_ ? "directions" : "scan_input_directions")
                                .value_or(std::vector<int64_t>(count_ - carried_, 0));
    reverses_ = !directions.empty() && directions.front() != 0;
    if (directions != std::vector<int64_t>(count_ - carried_, reverses_ ? 1 : 0))
      throw Refusal("scans some inputs from the front and others from the end");
  }

  void write() {
    std::vector<Term> terms;
    std::vector<std::string> inputs, names;
    for (size_t i = 0; i < count_; ++i) {
      terms.push_back(bound(i, type_of(i, (is_batched_ ? 1 : 0) + (i < carried_ ? 0 : 1))));
      names.push_back(terms.back().text);
      inputs.push_back(call_.writer().operand(in(i)));
    }
    const Block block = call_.block(body_, terms);
    if (block.results.size() < carried_) throw Refusal("its body has fewer results than it carries");
    for (size_t i = 0; i < carried_; ++i)
      if (joined(terms[i].type, block.results[i].type) != terms[i].type)
        throw Refusal("what it carries changes its shape");
    set_results(call_,
                is_batched_ ? over_batch(names, inputs, block)
                            : fmt::format("{{ {} }}", scanned(names, inputs, block)),
                types_of(block));
  }

 private:
  const Term& in(size_t i) const { return call_.in(begin_ + i); }

  /// The type of an input's elements along so many of its leading axes.
  Type type_of(size_t i, size_t axes) const {
    if (in(i).rank() < axes) throw Refusal("scans an input that lacks the axis of its elements");
    return tensor_type(in(i).type->dims.subspan(axes), in(i).dtype());
  }

  Term bound(size_t i, Type type) {
    return call_.writer().variable(identifier(body_.inputs[i].name, "row"), type);
  }
  std::string fresh(std::string_view name) { return "%" + call_.writer().document().names.unique(name); }

  std::vector<Type> types_of(const Block& block) const {
    std::vector<Type> types;
    const auto& dims = in(carried_).type->dims;
    for (size_t i = 0; i < block.results.size(); ++i) {
      if (i < carried_) {
        types.push_back(in(i).type);
        continue;
      }
      const Type rows = rows_of(block.results[i].type, dims[is_batched_ ? 1 : 0]);
      types.push_back(is_batched_ ? rows_of(rows, dims[0]) : rows);
    }
    return types;
  }

  /// `let %scanned = scan_over(…); results`; the function takes parts of tuples as its parameters.
  std::string scanned(const std::vector<std::string>& names, const std::vector<std::string>& inputs,
                      const Block& block) {
    const auto split = static_cast<std::ptrdiff_t>(carried_);
    const auto carries = [&](const auto& list) { return tuple_of({list.begin(), list.begin() + split}); };
    const auto scans = [&](const auto& list) { return tuple_of({list.begin() + split, list.end()}); };
    const std::string whole = fresh("scanned"), state = fresh("state"), row = fresh("row");
    std::vector<std::string> results, parts;
    for (size_t i = 0; i < block.results.size(); ++i) {
      results.push_back(fresh("next"));
      parts.push_back(i < carried_ ? fmt::format("{}.0.{}", whole, i)
                                   : fmt::format("{}.1.{}", whole, i - carried_));
    }
    return fmt::format(
        "let {} = scan_over(fn ({}, {}) {{ let {} = {}; let {} = {}; let {} = {}; ({}, {}) }}, {}, {}{}); {}",
        whole, state, row, carries(names), state, scans(names), row, tuple_of(results),
        block.results.size() == 1 ? fmt::format("({},)", block.text) : block.text, carries(results),
        scans(results), carries(inputs), scans(inputs), reverses_ ? ", reverse=True" : "",
        parts.size() == 1 ? parts[0] : tuple_of(parts));
  }

  /// The same for each sequence of a batch.
  std::string over_batch(const std::vector<std::string>& names, const std::vector<std::string>& inputs,
                         const Block& block) {
    std::vector<std::string> sequences;
    for (size_t i = 0; i < count_; ++i) sequences.push_back(bound(i, type_of(i, 1)).text);
    return fmt::format("vmap(fn ({}) {{ {} }})({})", fmt::join(sequences, ", "),
                       scanned(names, sequences, block), fmt::join(inputs, ", "));
  }

  Call& call_;
  const Graph& body_;
  bool is_batched_, reverses_ = false;
  size_t begin_;        ///< the first input behind the lengths of sequences, which only a batch has
  size_t count_ = 0;    ///< of inputs from there on
  size_t carried_ = 0;  ///< how many of them are a state
};

void scan(Call& call) { ScanText(call).write(); }

}  // namespace

std::span<const Operator> control_operators() {
  static const Operator kRows[] = {
      {"If", "", if_else},
      {"Loop", "", loop},
      {"Scan", "", scan},
  };
  return kRows;
}

}  // namespace quern::onnx
