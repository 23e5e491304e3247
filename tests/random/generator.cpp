#include <fmt/format.h>

#include <algorithm>

#include "tests/random/generator_impl.h"

namespace quern::random_programs {

ProgramTerm Generator::run() {
  int64_t types = random_.between(0, 2), defs = random_.between(0, 3), statements = random_.between(1, 3);
  for (int64_t i = random_.between(0, 2); i > 0; --i) make_op();
  for (int64_t i = 0; i < types; ++i) make_data();
  for (int64_t i = 0; i < defs; ++i) random_.chance(25) ? make_loop() : make_def();
  // Statements see what is bound before them; definitions may stand in any order.
  for (int64_t i = 0; i < statements; ++i) random_.chance(15) ? make_general_statement() : make_statement();
  if (random_.chance(35)) make_derivative();
  for (size_t i = program_.defs.size(); i > 1; --i)
    std::swap(program_.defs[i - 1], program_.defs[random_.below(i)]);
  return std::move(program_);
}

void Generator::make_statement() {
  TypePtr type = random_.chance(80) ? random_tensor() : random_type(2);
  Exactness exactness = random_.chance(50) ? kParameter : kTop;
  TermPtr value = make(type, exactness, 4);
  std::string name = fresh("s");
  program_.statements.push_back({name, value});
  locals_.push_back({name, type, exactness});
}

std::string Generator::fresh(const char* prefix) { return fmt::format("{}{}", prefix, counter_++); }

std::string Generator::random_dtype() {
  static const std::vector<std::string> dtypes{"float32", "float32", "float32", "int32",
                                               "int64",   "float64", "bool"};
  return random_.pick(dtypes);
}
Extent Generator::random_extent() {
  if (!dims_.empty() && random_.chance(40)) return {0, random_.pick(dims_)};
  return {random_.chance(4) ? 0 : random_.between(1, 4), ""};
}
std::vector<Extent> Generator::random_dims(int64_t most) {
  std::vector<Extent> dims;
  for (int64_t i = random_.between(0, most); i > 0; --i) dims.push_back(random_extent());
  return dims;
}
TypePtr Generator::random_type(int depth) {
  if (!type_variables_.empty() && random_.chance(20)) return random_.pick(type_variables_);
  if (depth > 0 && random_.chance(20)) {
    std::vector<TypePtr> fields;
    for (int64_t i = random_.between(0, 3); i > 0; --i) fields.push_back(random_type(depth - 1));
    return tuple(fields);
  }
  if (depth > 0 && random_.chance(10)) {
    std::vector<TypePtr> params;
    for (int64_t i = random_.between(0, 2); i > 0; --i) params.push_back(random_type(0));
    return function(params, random_type(depth - 1));
  }
  if (depth > 0 && random_.chance(5))
    if (TypePtr content = random_type(depth - 1); !has_unwritten(content)) return ref(content);
  if (!program_.data.empty() && random_.chance(20)) return data(random_.pick(program_.data).name);
  return random_tensor();
}

void Generator::make_data() {
  DataTerm type{fresh("D"), {}};
  int64_t count = random_.between(1, 3);
  for (int64_t i = 0; i < count; ++i) {
    DataTerm::Constructor c{fresh("C"), {}};
    for (int64_t k = random_.between(0, 2); k > 0; --k) c.fields.push_back(random_type(1));
    // One that holds its own type, beside one that does not.
    if (i > 0 && random_.chance(30)) c.fields.push_back(data(type.name));
    if (count == 1 && random_.chance(60))
      for (size_t k = 0; k < c.fields.size(); ++k) c.names.push_back(fresh("field"));
    type.constructors.push_back(c);
  }
  program_.data.push_back(type);
}

/// Dimension variables, some of them without a name, and parameters that have them.
void Generator::make_dim_params(DefTerm& def) {
  for (int64_t i = random_.between(0, 2); i > 0; --i) {
    bool written = random_.chance(75);
    std::string d = (written ? "" : "?") + fresh("n");
    def.dim_variables.push_back(d);
    if (written) {
      dims_.push_back(d);
    } else {
      def.params.emplace_back(fresh("p"), tensor({{0, d}}, "int32"));
      carriers_.emplace(d, def.params.back().first);
    }
    std::vector<Extent> dims = random_dims(1);
    dims.push_back({0, d});
    def.params.emplace_back(fresh("p"), tensor(dims, random_dtype()));
  }
}

void Generator::make_def() {
  DefTerm def;
  def.name = fresh("f");
  make_dim_params(def);
  for (int64_t i = random_.chance(30) ? random_.between(1, 2) : 0; i > 0; --i) {
    bool numeric = random_.chance(30), written = !numeric && random_.chance(60);
    def.type_variables.push_back(type_variable((written ? "" : "?") + fresh("A"), numeric));
    def.params.emplace_back(fresh("p"), def.type_variables.back());
  }
  // Two tensors of which nothing is known broadcast; their type is not that of either.
  for (const TypePtr& v : def.type_variables)
    if (v->dtype != kNumeric) type_variables_.push_back(v);
  for (int64_t i = random_.between(0, 2); i > 0; --i) def.params.emplace_back(fresh("p"), random_type(1));
  type_variables_ = def.type_variables;
  def.result = random_type(1);
  if (!carriers_.empty() && random_.chance(50)) {
    std::vector<Extent> dims = random_dims(1);
    dims.insert(dims.begin() + static_cast<ptrdiff_t>(random_.below(dims.size() + 1)),
                Extent{0, carriers_.begin()->first});
    def.result = tensor(dims, random_dtype());
  }
  std::vector<Local> outer = std::move(locals_);
  locals_.clear();
  for (auto& [name, type] : def.params) locals_.push_back({name, type, kParameter});
  def.body = make(def.result, kDefinition, 4);
  locals_ = std::move(outer);
  dims_.clear();
  carriers_.clear();
  type_variables_.clear();
  program_.defs.push_back(def);
}

/// A definition that calls itself a few times: the accumulator stays an integer.
void Generator::make_loop() {
  DefTerm def;
  def.name = fresh("loop");
  std::string count = fresh("i"), sum = fresh("a");
  TypePtr counter = tensor({}, "int32"), type = tensor(random_dims(2), "int32");
  def.params = {{count, counter}, {sum, type}};
  def.result = type;
  locals_.clear();
  locals_.push_back({count, counter, kParameter});
  locals_.push_back({sum, type, kParameter});
  TermPtr step = make(type, {64, 0}, 2);
  TermPtr bounded = plain(type, {"maximum(minimum(", ", 8), -8)"}, {step});
  TermPtr again =
      call_term(type, "@" + def.name,
                {plain(counter, {"minimum(%" + count + ", 6) - 1"}, {}, {count}), bounded}, {def.name});
  def.body = plain(type, {"if (%" + count + " < 1) { ", " } else { ", " }"},
                   {variable_term(sum, type), again}, {count});
  locals_.clear();
  program_.defs.push_back(def);
}

TermPtr Generator::make(const TypePtr& want, Exactness budget, int depth) {
  if (depth > 0 && budget.magnitude >= 1 && random_.chance(90)) {
    const std::vector<Row>& rows = table();
    for (int tries = 0; tries < 4; ++tries) {
      int total = 0;
      auto applies = [&](const Row& row) { return row.applies(want) && (row.derivable || !differentiates_); };
      for (const Row& row : rows)
        if (applies(row)) total += row.weight;
      int at = static_cast<int>(random_.below(static_cast<size_t>(total)));
      for (const Row& row : rows) {
        if (!applies(row) || (at -= row.weight) >= 0) continue;
        if (TermPtr term = (this->*row.production)(want, budget, depth - 1)) return term;
        break;
      }
    }
  }
  return leaf(want, budget, depth);
}

TermPtr Generator::leaf(const TypePtr& want, Exactness budget, int depth) {
  if (TermPtr found = random_.chance(75) ? local(want, budget) : nullptr) return found;
  switch (want->kind) {
    case TypeTerm::Kind::Tensor: {
      int fraction = is_float(want) ? std::min(budget.fraction, 2) : 0;
      auto most = static_cast<int64_t>(std::min(budget.magnitude, 4.0) * (1 << fraction));
      auto next = [&] { return number_text(random_.between(-most, most), fraction, want->dtype); };
      return is_spelled(want) ? literal_term(want, next) : sized_like_params(want, next);
    }
    case TypeTerm::Kind::Ref: return plain(want, {"ref(", ")"}, {make(want->args[0], kParameter, depth - 1)});
    case TypeTerm::Kind::Tuple: return tuple_of(want, budget, depth);
    case TypeTerm::Kind::Function: return function_of(want, depth);
    case TypeTerm::Kind::Data: return data_of(want, depth);
    case TypeTerm::Kind::Element:
    case TypeTerm::Kind::Index: return nullptr;  // of index expressions alone
    case TypeTerm::Kind::Variable:
      // A function over a type has a parameter of it; what is no number has no bounds to keep.
      if (TermPtr found = local(want, want->dtype == kNumeric ? budget : kTop)) return found;
      return plain(want, {"(", " * 0)"}, {local(want, kTop)});
  }
  return nullptr;
}

TermPtr Generator::local(const TypePtr& want, Exactness budget) {
  std::vector<const Local*> found;
  for (const Local& l : locals_)
    if (l.variables.empty() && same(l.type, want) && l.exactness.within(budget)) found.push_back(&l);
  if (found.empty()) return nullptr;
  const Local* chosen = random_.pick(found);
  return variable_term(chosen->name, chosen->type);
}

TermPtr Generator::tuple_of(const TypePtr& want, Exactness budget, int depth) {
  std::vector<TermPtr> fields;
  std::vector<std::string> parts{"("};
  for (const TypePtr& field : want->args) {
    if (!fields.empty()) parts.emplace_back(", ");
    fields.push_back(make(field, budget, depth - 1));
  }
  if (fields.empty()) return plain(want, {"()"});
  parts.emplace_back(fields.size() == 1 ? ",)" : ")");
  return plain(want, parts, fields);
}

// A `?` of a function's type would be any extent; the place where it stands knows which one it is.
TermPtr Generator::function_of(const TypePtr& want, int depth) {
  size_t before = locals_.size();
  auto written = [](const char* mark, const TypePtr& type) {
    return has_unwritten(type) ? std::string() : mark + to_string(*type);
  };
  std::string params;
  std::vector<std::string> names;
  for (size_t i = 0; i + 1 < want->args.size(); ++i) {
    names.push_back(fresh("x"));
    params += (i ? ", %" : "%") + names.back() + written(": ", want->args[i]);
    locals_.push_back({names.back(), want->args[i], kParameter});
  }
  TermPtr body = make(want->args.back(), kApplied, depth - 1);
  locals_.resize(before);
  std::string result = note(written(" -> ", want->args.back()));
  return plain(want, {"fn (" + params + ")" + result + " { ", " }"}, {body}, {}, names);
}

TermPtr Generator::data_of(const TypePtr& want, int depth) {
  for (const DataTerm& d : program_.data) {
    if (d.name != want->name) continue;
    // The first constructor does not hold its own type.
    const auto& c = depth > 0 ? random_.pick(d.constructors) : d.constructors[0];
    std::vector<TermPtr> fields;
    for (const TypePtr& field : c.fields) fields.push_back(make(field, kParameter, depth - 1));
    if (fields.empty() && random_.chance(50)) return plain(want, {c.name}, {}, {d.name});
    TermPtr built = call_term(want, c.name, fields, {d.name}, false, Term::Tag::Construct);
    if (c.names.empty() || random_.chance(50)) return built;
    Term named = *built;
    for (size_t i = 0; i < fields.size(); ++i) named.parts[i] += c.names[i] + "=";
    return std::make_shared<const Term>(std::move(named));
  }
  return nullptr;
}

const std::vector<Generator::Row>& Generator::table() {
  using Kind = TypeTerm::Kind;
  static constexpr auto any = [](const TypePtr&) { return true; };
  static constexpr auto tensors = [](const TypePtr& t) { return t->kind == Kind::Tensor; };
  static constexpr auto numbers = [](const TypePtr& t) { return is_number(t); };
  static constexpr auto bools = [](const TypePtr& t) {
    return t->kind == Kind::Tensor && t->dtype == "bool";
  };
  static constexpr auto shaped = [](const TypePtr& t) { return t->kind == Kind::Tensor && !t->dims.empty(); };
  static const std::vector<Row> rows{
      {&Generator::variable, 30, any, true},
      {&Generator::let_block, 30, any, true},
      {&Generator::conditional, 12, any},
      {&Generator::projection, 10, any},
      {&Generator::definition_call, 40, any},
      {&Generator::applied_function, 8, any},
      {&Generator::called_variable, 15, any},
      {&Generator::match, 15, any},
      {&Generator::reference, 6, any},
      {&Generator::dereference, 3, any},
      {&Generator::assignment, 3, any},
      {&Generator::general_let, 6, any},
      {&Generator::sum_or_difference, 20, numbers, true},
      {&Generator::product, 12, numbers, true},
      {&Generator::extremum, 8, numbers, true},
      {&Generator::unary, 10, numbers, true},
      {&Generator::comparison, 20, bools, true},
      {&Generator::connective, 15, bools, true},
      {&Generator::where, 8, tensors, true},
      {&Generator::reduction, 10, tensors, true},
      {&Generator::element, 6, tensors, true},
      {&Generator::slice, 6, shaped, true},
      {&Generator::computed_slice, 4, shaped, true},
      {&Generator::transposed, 6, shaped, true},
      {&Generator::reshaped, 6, shaped, true},
      {&Generator::concatenation, 6, shaped, true},
      {&Generator::comprehension, 35, shaped, true},
      {&Generator::op_call, 15, shaped, true},
      {&Generator::record_field, 8, any},
      {&Generator::dense, 6, numbers, true},
      {&Generator::converted, 5, numbers},
      {&Generator::scanned, 6, shaped, true},
      {&Generator::looped, 8, shaped},
      {&Generator::mapped, 8, shaped, true},
  };
  return rows;
}

ProgramTerm generate(Random random) { return Generator(random).run(); }

}  // namespace quern::random_programs
