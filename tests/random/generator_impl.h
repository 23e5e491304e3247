#pragma once
// The generator's state and its productions. Internal to tests/random.

#include <unordered_map>

#include "tests/random/build.h"
#include "tests/random/index_terms.h"

namespace quern::random_programs {

inline constexpr Exactness kParameter{8, 2};     ///< of every number that comes in from outside
inline constexpr Exactness kApplied{64, 4};      ///< of what a function value gives
inline constexpr Exactness kDefinition{256, 6};  ///< of what a definition gives
inline constexpr Exactness kTop{4096, 8};

class Generator {
 public:
  explicit Generator(Random random) : random_(random) {}
  ProgramTerm run();

 private:
  /// A variable in scope, and the bounds on its numbers.
  struct Local {
    std::string name;
    TypePtr type;
    Exactness exactness;
    std::vector<TypePtr> variables = {};  ///< of a function with a general type: each use has its own
  };
  /// What the variables of a general type stand for at a use, by their names.
  struct Bindings {
    std::unordered_map<std::string, Extent> dims;
    std::unordered_map<std::string, TypePtr> types;
  };
  /// A term of the wanted type whose numbers keep to the budget, from terms of at most `depth`; null where
  /// the production does not fit after all.
  using Production = TermPtr (Generator::*)(const TypePtr& want, Exactness budget, int depth);
  struct Row {
    Production production;
    int weight;
    bool (*applies)(const TypePtr&);
    bool derivable = false;  ///< whether it may stand in a function that is differentiated
  };
  static const std::vector<Row>& table();

  std::string fresh(const char* prefix);
  std::string random_dtype();
  Extent random_extent();
  std::vector<Extent> random_dims(int64_t most);
  TypePtr random_tensor() { return tensor(random_dims(3), random_dtype()); }
  TypePtr random_parameter();
  TypePtr random_type(int depth);
  /// A type that the variable may stand for.
  TypePtr random_instance(const TypePtr& variable);

  void make_data();
  void make_op();
  void make_derivative();
  void make_def();
  void make_dim_params(DefTerm& def);
  void make_statement();
  void make_general_statement();
  void make_loop();

  TermPtr make(const TypePtr& want, Exactness budget, int depth);
  TermPtr leaf(const TypePtr& want, Exactness budget, int depth);
  TermPtr local(const TypePtr& want, Exactness budget);
  TermPtr tuple_of(const TypePtr& want, Exactness budget, int depth);
  TermPtr function_of(const TypePtr& want, int depth);
  TermPtr data_of(const TypePtr& want, int depth);
  /// A type that broadcasts into one with these dims.
  TypePtr broadcastable(const TypePtr& want);
  /// `body` under a local variable with this value.
  TermPtr with_local(const TypePtr& type, Exactness exactness, int depth,
                     const std::function<TermPtr(const std::string&)>& body);
  TermPtr infix(const TypePtr& want, const char* symbol, Exactness left, Exactness right, int depth);

  // general.cpp
  static bool bind(const TypePtr& pattern, const TypePtr& want, const std::set<std::string>& variables,
                   Bindings& bindings);
  static TypePtr instantiate(const TypePtr& type, const Bindings& bindings);
  /// A call of a function variable, at types that are chosen where the bindings have none.
  TermPtr call_of(const Local& function, Bindings bindings, int depth);
  /// A function literal with a general type, and the variable of the given name that it is for.
  TermPtr general_function(Local& local, int depth);
  /// A tensor with dims that cannot be written, from the parameters that have them.
  TermPtr sized_like_params(const TypePtr& want, const std::function<std::string()>& next);

  // productions.cpp: any type
  TermPtr variable(const TypePtr& want, Exactness budget, int depth);
  TermPtr let_block(const TypePtr& want, Exactness budget, int depth);
  TermPtr conditional(const TypePtr& want, Exactness budget, int depth);
  TermPtr projection(const TypePtr& want, Exactness budget, int depth);
  TermPtr definition_call(const TypePtr& want, Exactness budget, int depth);
  TermPtr specialised_call(const TypePtr& want, const std::string& name,
                           const std::vector<TermPtr>& arguments);
  TermPtr applied_function(const TypePtr& want, Exactness budget, int depth);
  TermPtr called_variable(const TypePtr& want, Exactness budget, int depth);
  TermPtr general_let(const TypePtr& want, Exactness budget, int depth);
  TermPtr match(const TypePtr& want, Exactness budget, int depth);
  TermPtr reference(const TypePtr& want, Exactness budget, int depth);
  TermPtr dereference(const TypePtr& want, Exactness budget, int depth);
  TermPtr assignment(const TypePtr& want, Exactness budget, int depth);
  TermPtr record_field(const TypePtr& want, Exactness budget, int depth);
  // productions_index.cpp
  TermPtr comprehension(const TypePtr& want, Exactness budget, int depth);
  TermPtr op_call(const TypePtr& want, Exactness budget, int depth);
  Operand index_operand(std::vector<std::pair<std::string, TermPtr>>& made);
  Operand tensor_operand(const TypePtr& want, Exactness budget, int depth,
                         std::vector<std::pair<std::string, TermPtr>>& made);
  // productions_tensor.cpp
  TermPtr sum_or_difference(const TypePtr& want, Exactness budget, int depth);
  TermPtr product(const TypePtr& want, Exactness budget, int depth);
  TermPtr extremum(const TypePtr& want, Exactness budget, int depth);
  TermPtr unary(const TypePtr& want, Exactness budget, int depth);
  TermPtr comparison(const TypePtr& want, Exactness budget, int depth);
  TermPtr connective(const TypePtr& want, Exactness budget, int depth);
  TermPtr where(const TypePtr& want, Exactness budget, int depth);
  TermPtr reduction(const TypePtr& want, Exactness budget, int depth);
  TermPtr element(const TypePtr& want, Exactness budget, int depth);
  TermPtr slice(const TypePtr& want, Exactness budget, int depth);
  /// A slice whose bounds are computed, or a mask.
  TermPtr computed_slice(const TypePtr& want, Exactness budget, int depth);
  TermPtr transposed(const TypePtr& want, Exactness budget, int depth);
  TermPtr reshaped(const TypePtr& want, Exactness budget, int depth);
  TermPtr concatenation(const TypePtr& want, Exactness budget, int depth);
  TermPtr dense(const TypePtr& want, Exactness budget, int depth);
  TermPtr converted(const TypePtr& want, Exactness budget, int depth);
  TermPtr scanned(const TypePtr& want, Exactness budget, int depth);
  /// A function that calls itself last, a few times.
  TermPtr looped(const TypePtr& want, Exactness budget, int depth);
  TermPtr mapped(const TypePtr& want, Exactness budget, int depth);

  Random random_;
  ProgramTerm program_;
  std::vector<Local> locals_;
  std::vector<std::string> dims_;                          ///< dimension variables of the definition
                                                           ///< under way that can be written
  std::unordered_map<std::string, std::string> carriers_;  ///< of the others, the parameter with one dim
  std::vector<TypePtr> type_variables_;                    ///< of the functions around
  bool differentiates_ = false;                            ///< inside of a function that is differentiated
  int counter_ = 0;
};

}  // namespace quern::random_programs
