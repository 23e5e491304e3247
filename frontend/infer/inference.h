#pragma once
// The state of one inference. Internal to frontend/infer; the way in is frontend/infer/infer.h.

#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <unordered_map>
#include <vector>

#include "frontend/index/elaborator.h"
#include "frontend/infer/chunks.h"
#include "frontend/infer/draft/draft.h"
#include "frontend/infer/infer.h"
#include "frontend/signature/resolve_type.h"
#include "frontend/syntax/literals.h"
#include "frontend/syntax/slice_range.h"
#include "frontend/unify/gradual.h"
#include "frontend/unify/unifier.h"

namespace quern {

/// A definition's head, resolved: the types of its parameters and result, and the names that its body may
/// use.
struct Head {
  std::vector<Type> params;
  Type result = nullptr;
  TypeEnv env;
  std::vector<Dim> dim_vars;
  std::vector<Type> type_vars;
  /// Written dtype parameters: unknowns that the body must leave unknown.
  std::vector<std::pair<std::string_view, DType>> dtype_vars;
};

/// Whether a `?` stands in the shape of a value of the type.
bool has_open_dim(Type type);
/// Whether a part of the type says `?`: values of several types go there.
bool leaves_dims_open(Type type);
/// Whether a part of the type, or a dtype of it, is unknown; dims may be.
bool has_open_part(Type type);
/// Whether there is an error in an expression or a type of it.
bool contains_errors(ExprPtr expr);
/// The types of a declaration's nodes, by node id.
std::vector<Type> finish_types(class Inference& inference, uint32_t declaration);
/// Whether a statement is `let %f = fn …` or `%0 = fn …`: what it binds may be general.
bool binds_function(SyntaxPtr statement);
/// The function literal of such a statement.
SyntaxPtr literal_of(SyntaxPtr statement);
/// Where the value of a block of a body stands.
SyntaxPtr last_statement(const Declaration& chunk);

class Inference final : public TypeHooks {
 public:
  Inference(Scope& scope, uint32_t declaration) : scope_(scope), declaration_(declaration) {
    unifier.put_off = [this] {
      put_off_.push_back({{site_.origin, {}}, site_.what ? site_.what() + ": " : ""});
    };
    unifier.equate = [this](Dim a, Dim b) { return require(DimRelation::Equal, a, b, true); };
  }

  // --- the walk: syntax to drafts
  /// `wanted` is the type that the place is known to need, where it is known: what a constructor is general
  /// in takes it from there, so that elements that differ in their dims go into one list. It is only a hint;
  /// whether the value fits is the caller's to check.
  DraftPtr infer(SyntaxPtr syntax, Type wanted = nullptr);
  /// The type that an annotation writes, with an unknown for each `_`.
  Type annotation(SyntaxPtr type) { return annotation(type, env); }
  /// A function from a head and its body; the parameters are named by `params` (a Params node).
  /// A definition with a long body has it in `chunked`.
  DraftPtr function(SyntaxPtr at, SyntaxPtr params, const Head& head, SyntaxPtr body,
                    const Declaration* chunked = nullptr);
  /// The `gradient` clause of an `op`, as a function of its parameters: `fn (params) { fn (%g, %y) { … } }`.
  DraftPtr gradient_of_op(SyntaxPtr clause, SyntaxPtr params, const Head& head);
  /// Of a definition: over its scheme's own variables where that is known without the body (`annotated`).
  Head head_of_definition(const Declaration& def, const Scheme** annotated = nullptr);
  BodyRun body_run(const BodyHead& head, ChunkSource& chunks, const Declaration* first);
  /// What the parameters in brackets are in the body.
  enum class Binder {
    General,  ///< variables: the function is general in them
    Copy,     ///< dims are variables, dtypes and types what the `given` types of the parameters make them
    Once,     ///< unknowns: a literal that is no definition is used at one type
  };
  std::vector<const Variable*> bind_params(SyntaxPtr params, const Head& head,
                                           std::vector<FnAttribute>& attributes);
  Head head_of(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, const TypeEnv& outer, Binder binder,
               const std::vector<Type>* given = nullptr);

  bool uses_broken = false;  ///< a definition that has errors: what cannot be inferred may be for that
  /// Runs the queue to its fixpoint, applies defaults, reports what stays open.
  void solve();
  /// Types of `load`s that nothing but their files' headers decide.
  void load_types();
  std::set<Unknown> awaiting_literals();
  /// The value of `let %f = fn …` on the top level, and its general type.
  DraftPtr function_statement(SyntaxPtr s, Scheme& scheme);
  /// The final expression of a statement, with what it needs of general functions of earlier statements.
  ExprPtr finish_statement(DraftPtr draft);

  // --- general types
  /// How far the inference had come: what is made after it may be general where it ends.
  struct Mark {
    size_t relations, matches, errors, dtypes;
  };
  Mark mark() const {
    return {relations_.size(), open_matches_.size(), error_count(), unifier.dtype_count()};
  }
  enum class Dims {
    All,
    Shown,  ///< those alone that the shape of an argument shows
  };
  /// The schemes of what was inferred since `mark` one level up, `types` being the function types to make
  /// general together: unknowns of that level become variables (in `types` and everywhere), relations among
  /// them leave the queue as constraints. `written` has the variables that stand in the text.
  std::vector<Scheme> generalise(const Mark& mark, const std::vector<Type>& types,
                                 std::vector<Scheme> written, Dims dims);
  /// Fresh unknowns for the variables of a scheme.
  void instantiate(const Scheme& scheme, Substitution& substitution);
  /// The type at fresh unknowns, its constraints put into the queue for `at`, as needed by `name`.
  struct Use {
    Substitution substitution;
    Type type;
    size_t number;  ///< in broken_uses_ where a constraint does not hold
  };
  Use at_use(const Scheme& scheme, SyntaxPtr at, const std::string& name);
  void bind_dims_of(DraftPtr function, const Scheme& scheme);
  void check_written_dtypes(SyntaxPtr at, const Head& head);
  /// A parameter's type as a copy of a function takes it: every dim an unknown of its own.
  Type with_open_dims(Type type);
  Type with_open_result(Type function);
  /// The types that parameters are given, each `?` in place of a dim: what distinguishes copies. Where
  /// the result is a function, then also a function type with the parameters of that.
  std::optional<std::vector<Type>> settled_params(Type function);
  size_t error_count() const;
  /// The annotation of the value of a `let`.
  std::unordered_map<SyntaxPtr, SyntaxPtr> annotations;
  /// What is needed of the definitions that are typed per rank and dtype.
  std::vector<Specialisation> needs;
  /// A draft as a final node in the result's arena.
  ExprPtr finish(DraftPtr draft);
  Type finish(Type type);
  const Variable* finish(const Variable* variable);

  // --- unification with diagnostics
  /// Makes `found` equal to `wanted`, or reports at `at`: "`what` …".
  /// Where neither dims nor dtype alone differ the kind is `role`. Checks that it takes go behind `draft`,
  /// the value.
  bool expect(SyntaxPtr at, Type wanted, Type found, const std::string& what, std::vector<Note> notes = {},
              DiagnosticKind role = DiagnosticKind::TypeMismatch, DraftPtr draft = nullptr);
  /// A draft that waited turns out to have this type: reported at `at` where the context wants another one.
  void becomes(SyntaxPtr at, DraftPtr waiting, Type found);
  void report(DiagnosticKind kind, SyntaxPtr at, std::string message, std::vector<Note> notes = {},
              std::vector<Fix> fixes = {});

  // TypeHooks
  // While a relation is looked at, dims that were found equal before it are one.
  Type resolve(Type type) override {
    Type found = unifier.resolve(type);
    return matching_ ? known_dims.normalise(found, point_) : found;
  }
  Dim resolve(Dim dim) override {
    Dim found = unifier.resolve(dim);
    return matching_ ? known_dims.normalise(found, point_) : found;
  }
  DType resolve(DType dtype) override { return unifier.resolve(dtype); }
  bool unify(Type a, Type b) override { return unifier.unify(a, b); }
  bool unify(Dim a, Dim b) override { return unifier.unify(a, b); }
  bool unify(DType a, DType b) override { return unifier.unify(a, b); }
  bool require(DimRelation relation, Dim a, Dim b, bool strict) override;
  void asking(SyntaxPtr at, const Place& source, std::function<std::string()> what) override;
  std::string describe(DType dtype) override { return unifier.describe(dtype); }
  std::string describe(Type type) override { return unifier.describe(type); }
  std::vector<Note> origin_of_argument(size_t i) override;

  Unifier unifier;
  DimFacts known_dims;
  std::shared_ptr<Arena> arena = std::make_shared<Arena>();  ///< of the final nodes
  Diagnostics diagnostics;
  std::vector<LateCall> late_calls;
  bool warns = false;  ///< this is of a text, not of an instance or a copy of what stands there
  TypeEnv env;         ///< names of the compile-time language in scope
  std::map<std::string, Type, std::less<>>
      group_types;  ///< definitions that are inferred together with this one
  std::map<std::string, Scheme, std::less<>> group_schemes;
  std::map<std::string, std::string, std::less<>>
      group_names;  ///< of a group's copy, by the names in the text
  std::unordered_map<uint32_t, std::vector<Type>> node_types;  ///< by declaration, then node id

  void enter(uint32_t declaration) { declaration_ = declaration; }
  void bind_local(std::string_view name, const Variable* variable, SyntaxPtr at);
  size_t scope_depth() const { return locals_.size(); }
  void leave_to(size_t depth);
  /// Every `?` in a type as a rigid dim of its own, named after `name`.
  Type open_any(Type type, std::string_view name, std::vector<Dim>* opened = nullptr);
  /// The type with `?` for each dim that is bound inside a region, for use outside of it.
  Type closed(Type type, uint32_t region);
  /// Notes that say where an expression's type comes from.
  std::vector<Note> origin_of(DraftPtr draft);

 private:
  class Statics;
  struct LocalName {
    std::string_view name;
    const Variable* variable;
    std::optional<size_t> hidden = {};  ///< the earlier one of this name
  };
  /// A function literal bound by `let` whose type leaves relations or dtypes open: it is typed anew for each
  /// rank and dtype that it is used at.
  struct Template {
    struct Copy {
      std::vector<Type> params;  ///< that it is for, `?` for each dim
      const Variable* variable;
      DraftPtr function;
      Scheme scheme;
      Type made;  ///< unknown while the copy is being made: another use that comes in between waits for it
      bool broken = true;
    };
    SyntaxPtr let;
    uint32_t declaration;
    TypeEnv env;
    std::vector<LocalName> captured;
    std::deque<Copy> copies = {};
  };
  struct LiteralElements {
    std::vector<LiteralDraft::Element> elements;
    bool is_bool = false;
  };
  /// A `load` or `save`, looked at when all types are settled.
  struct FileUse {
    SyntaxPtr at;
    uint32_t declaration;
    bool is_load;
    std::string_view path;
    DraftPtr value;
  };
  /// Something that waits for types: true when it is done (also when it failed and was reported).
  struct Relation {
    std::function<bool()> attempt;
    SyntaxPtr at;
    uint32_t declaration;
    DraftPtr draft;
    std::string wanting;  ///< what has to be known, for the message when it never is
    bool done = false, running = false, again = false;
    std::vector<Unknown> waits_for = {};  ///< the unknowns that it came upon when it was last tried
  };

  // infer.cpp
  DraftPtr walk(SyntaxPtr s, Type wanted);
  DraftPtr if_else(SyntaxPtr s, Type wanted);
  DraftPtr constant(SyntaxPtr s);
  void report_misplaced(SyntaxPtr s);
  DraftPtr block(SyntaxPtr s, Type wanted);
  void binding(SyntaxPtr s, std::vector<DraftBinding>& bindings, std::vector<std::string_view>& graph_names);
  DraftPtr number(SyntaxPtr s);
  DraftPtr tensor_literal(SyntaxPtr s);
  bool literal_elements(SyntaxPtr s, std::vector<int64_t>& shape, size_t depth, LiteralElements& draft);
  DraftPtr literal(SyntaxPtr s, Type type, const std::vector<LiteralDraft::Element>& elements, bool is_bool);
  DraftPtr local(SyntaxPtr s);
  const Variable* top_level(const TopLevelVariable& top);
  DraftPtr global(SyntaxPtr s);
  /// A definition with errors of its own, which are reported there.
  DraftPtr broken_elsewhere(SyntaxPtr s);
  DraftPtr bare_name(SyntaxPtr s, Type wanted = nullptr);
  /// A name that stands for nothing: what was meant by it.
  void report_unknown(SyntaxPtr name, DiagnosticKind kind, std::string_view what);
  bool is_visible_local(std::string_view name);
  /// Dim names in annotations that no list of parameters declares: each is reported once and then is a dim.
  void declare_missing_dims(SyntaxPtr type_params, SyntaxPtr params, SyntaxPtr result, Head& head);
  void report_no_field(SyntaxPtr s, Type type, DraftPtr record);
  DraftPtr conditional(SyntaxPtr s, SyntaxPtr condition, DraftPtr then_arm, DraftPtr else_arm);
  DraftPtr infix(SyntaxPtr s);
  /// The operator that a symbol stands for; "" for none.
  std::string infix_name(SyntaxPtr s);
  DraftPtr projection(SyntaxPtr s);
  DraftPtr field(SyntaxPtr s);
  DraftPtr comprehension(SyntaxPtr s);
  ExprPtr elaborate(SyntaxPtr s, IndexDraft& draft, const StaticEnv& statics);
  DraftPtr scheduled(SyntaxPtr s, Type wanted);
  /// The index expression with its schedule, where it has one; `operands` are what it reads.
  ExprPtr with_schedule(SyntaxPtr s, ExprPtr made, uint32_t declaration, std::span<IndexOperand> operands);
  DraftPtr slice(SyntaxPtr s);
  DraftPtr tuple(SyntaxPtr s, Type wanted);
  bool tuple_fields(SyntaxPtr s, std::vector<DraftPtr>& fields, Type wanted);
  DraftPtr tuple_length(SyntaxPtr s);
  DraftPtr index_value(SyntaxPtr s);
  DraftPtr member_of(SyntaxPtr s, DraftPtr tuple);
  std::optional<SliceRange> range_of(SyntaxPtr item, Dim extent, Statics& statics);
  DraftPtr slice_of(SyntaxPtr s, DraftPtr tensor, const std::vector<DraftPtr>& computed);
  struct SliceAxes;
  bool slice_axis(SyntaxPtr s, DraftPtr tensor, size_t axis, DraftPtr computed, SliceAxes& axes);
  bool can_be_sliced(SyntaxPtr s, DraftPtr tensor, Type type);
  std::optional<Dim> known_position(SyntaxPtr item, DraftPtr tensor, size_t axis, Statics& statics);
  ExprPtr computed_position(SyntaxPtr item, DraftPtr position, SliceAxes& axes);

  // chunks.cpp
  DraftPtr statements(const Declaration& chunk, bool at_end, std::vector<DraftBinding>& bindings,
                      std::vector<std::string_view>& graph_names, Type wanted);
  DraftPtr chunked_body(const Declaration& def, Type wanted);
  DraftPtr unit(SyntaxPtr at);
  bool closed();

  // match.cpp
  struct PatternWalk {
    size_t first_local;  ///< of the variables that the pattern has bound so far
    bool sound;          ///< nothing was reported that makes its coverage meaningless
  };
  DraftPtr match(SyntaxPtr s, Type wanted);
  std::vector<DraftBinding> open_locals(size_t first, SyntaxPtr at);
  void check_coverage(SyntaxPtr s, const std::vector<MatchArm>& arms, bool partial, Type type);
  void report_at_word(DiagnosticKind kind, SyntaxPtr match, std::string message);
  PatternPtr pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr variable_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr constructor_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr tuple_pattern(SyntaxPtr s, Type type, PatternWalk& walk);
  PatternPtr parts_pattern(SyntaxPtr s, const Pattern& head, std::span<const Type> types, PatternWalk& walk);
  DraftPtr reference_call(SyntaxPtr s, Type expected);
  DraftPtr new_reference(SyntaxPtr s, SyntaxPtr content, Type wanted);
  DraftPtr read_reference(SyntaxPtr s, SyntaxPtr operand);
  DraftPtr write_reference(SyntaxPtr s, SyntaxPtr operand, SyntaxPtr value);
  Type content_of(SyntaxPtr at, DraftPtr reference, std::string_view what);

  // call.cpp
  DraftPtr call(SyntaxPtr s, Type wanted);
  DraftPtr operator_call(SyntaxPtr s, const Declaration& op, const std::vector<SyntaxPtr>& positional,
                         const std::vector<SyntaxPtr>& named);
  /// The argument `first` is a tensor where the operator has attributes.
  DraftPtr too_many_tensors(size_t first, const std::vector<SyntaxPtr>& arguments, const Declaration& op);
  DraftPtr construct(SyntaxPtr s, SyntaxPtr name, const DataDefinition& data, Type wanted);
  bool type_arguments(SyntaxPtr s, const DataDefinition& data, Substitution& substitution);
  DraftPtr construction(SyntaxPtr s, Type type, const DataConstructor& constructor, std::string_view written,
                        const std::vector<DraftPtr>& fields);
  DraftPtr constructor_function(SyntaxPtr s, const DataConstructor& constructor, Type type,
                                const Substitution& substitution);
  bool constructor_fields(SyntaxPtr s, const DataConstructor& constructor, const Substitution& substitution,
                          std::vector<DraftPtr>& fields, std::vector<SyntaxPtr>& at);
  DraftPtr intrinsic(SyntaxPtr s, IntrinsicKind kind);

  // files.cpp
  DraftPtr load(SyntaxPtr s, const std::vector<std::string_view>& texts);
  /// Reports each `load` and `save` of a type that files cannot hold.
  void check_files();
  void check_file(const FileUse& use, Type type);

  // gradient.cpp
  DraftPtr differentiation(SyntaxPtr s, IntrinsicKind kind, Type wanted);
  DraftPtr gradient(SyntaxPtr s, IntrinsicKind kind);
  std::vector<Fix> sum_of(SyntaxPtr function, size_t arity);
  bool attempt_gradient(SyntaxPtr s, DraftPtr draft, DraftPtr function, IntrinsicKind kind);
  DraftPtr gradient_clause(SyntaxPtr s, Type wanted);
  DraftPtr with_gradient(SyntaxPtr clause, const std::vector<const Variable*>& params, DraftPtr value,
                         Type type);

  // call.cpp
  DraftPtr assertion(SyntaxPtr s, bool close);
  std::string attribute_text(SyntaxPtr value);
  DraftPtr function_call(SyntaxPtr s);
  struct CallArguments;
  std::optional<CallArguments> arguments_of(SyntaxPtr call, Type callee);
  void assign_arguments(SyntaxPtr call, DraftPtr function, const std::string& name, Type type,
                        const CallArguments& args);
  void report_argument(SyntaxPtr call, DraftPtr function, const std::string& name, Type wanted,
                       const CallArguments& args, size_t i);
  const Declaration* declaration_of(SyntaxPtr callee);
  DraftPtr operator_value(SyntaxPtr s, const Declaration& op);
  bool attempt_operator(OperatorCallDraft& draft);
  Type open_result(OperatorCallDraft& waiting);

  // general.cpp
  std::vector<size_t> general_relations(const Mark& mark, std::set<Unknown>& general);
  std::optional<Constraint> constraint_of(DraftPtr draft);
  void note_type(SyntaxPtr s, Type type);
  void discharge(const Constraint& constraint, SyntaxPtr at, const std::string& name, const Use& use);
  DraftPtr let_function(SyntaxPtr s, Type& declared);
  DraftPtr general_local(SyntaxPtr s, const Variable* variable);
  /// False after a diagnostic.
  bool has_written_dtypes(const Template& made, Type function, SyntaxPtr at, std::string_view name);
  bool attempt_copy(DraftPtr waiting, SyntaxPtr s, const Variable* variable, size_t use);
  Template::Copy& copy_at(Template& of, const std::vector<Type>& params, SyntaxPtr use);
  DraftPtr global_at(SyntaxPtr s, std::string_view name, const Scheme& scheme);
  void type_arguments(SyntaxPtr s, const Scheme& scheme, const Substitution& substitution);
  bool attempt_specialised(DraftPtr waiting, SyntaxPtr s, std::string_view name, bool annotated,
                           const std::vector<Dim>& written, size_t use);
  /// What was reported since `from` inside a copy is reported at the use that needs the copy.
  void tell_at_use(size_t from, SyntaxPtr use, const std::string& name);

  // gradual_infer.cpp
  /// Whether a value of type `found` can stand where `wanted` is wanted: equal types, but for a `?` that
  /// takes any dim, also in the fields of data (which are not written to) and in the results of functions,
  /// and the other way in their parameters.
  bool assign(Type wanted, Type found, bool inside = false);
  /// The same type, `?` for `?`: what is written through a type may not be more than it says.
  bool is_same(Type a, Type b);
  bool is_writable(Type data, size_t argument);
  /// The value, of type `type`, with each `?` of its shape opened to a dim named after `name`.
  DraftPtr opened(DraftPtr value, Type type, std::string_view name);
  /// The value of a condition or a match: arms that disagree in a dim give `?`. `regions` are those of the
  /// arms.
  DraftPtr joined(DraftPtr branch, const std::vector<DraftPtr>& arms, const std::vector<uint32_t>& regions,
                  const std::vector<SyntaxPtr>& at);
  /// A region of its own for what `infer` does.
  DraftPtr infer_arm(SyntaxPtr s, uint32_t& region, Type wanted = nullptr);
  /// The final node with the checks that were asked for at its draft.
  ExprPtr checked(DraftPtr draft, ExprPtr node);
  ProgramPoint now() { return in_relation_ ? point_ : known_dims.step(); }
  uint32_t region_now() const { return in_relation_ ? point_.region : known_dims.region(); }

  // drafts
  Origin origin(SyntaxPtr s) const { return {declaration_, s ? s->id : 0}; }
  Place place(SyntaxPtr s) const { return {origin(s), {}}; }
  DraftPtr error(SyntaxPtr s, Type type = nullptr);
  void relate(SyntaxPtr at, DraftPtr draft, std::string wanting, std::function<bool()> attempt);
  bool attempt(size_t relation);
  void run_queue();
  const LocalName* find_local(std::string_view name) const;
  /// The compile-time language as it is seen in ordinary code, where the length of a tuple is known by its
  /// type.
  class Statics final : public StaticEvaluator {
   public:
    explicit Statics(Inference& inference)
        : StaticEvaluator(inference.scope_, inference.declaration_, inference.diagnostics),
          inference_(inference) {}

   protected:
    std::optional<StaticValue> other(SyntaxPtr expr, const StaticEnv& env) override;

   private:
    Inference& inference_;
  };
  Statics evaluator() { return Statics(*this); }
  Type annotation(SyntaxPtr type, const TypeEnv& in);

  // finish.cpp
  class FieldFinisher;
  class FormFinisher;
  class IndexFinisher;
  ExprPtr finish_draft(DraftPtr draft);
  ExprPtr finish_form(const FormDraft& form, Type type);
  ExprPtr finish_literal(const LiteralDraft& literal, Type type);
  ExprPtr failed(const Draft& draft);
  const ScheduleClause* schedule_of_call(const OperatorCallDraft& call);
  /// The `warn` clauses of the operator that hold for a call.
  void warn(const OperatorCallDraft& call, const SignatureBinding& binding);
  void warn(const OperatorCallDraft& call, SyntaxPtr clause, const StaticEnv& env);
  std::optional<Fix> fix_of(const OperatorCallDraft& call, SyntaxPtr clause, const StaticEnv& env);
  ExprPtr finish_operator_call(const OperatorCallDraft& call, Type type);
  ExprPtr finish_definition_call(const OperatorCallDraft& call, SignatureBinding binding, Type type);
  bool finish_copies(const Variable* variable, std::vector<Binding>& bindings);
  std::vector<ExprPtr> finish_all(DraftSpan list);
  std::vector<Dim> finish_dims(std::span<const Dim> dims);

  Scope& scope_;
  uint32_t declaration_;
  Drafts drafts_;
  std::vector<LocalName> locals_;
  std::unordered_map<std::string_view, size_t> latest_;         ///< the last of each name in locals_
  std::unordered_map<const Variable*, Place> variable_places_;  ///< what says a variable's type
  std::vector<FileUse> file_uses_;
  std::deque<Relation> relations_;  ///< those that had to wait; a number keeps its meaning
  std::vector<OperatorCallDraft*>
      open_matches_;  ///< operator calls matched before all dims and dtypes were known
  std::unordered_map<const Variable*, Scheme> schemes_;  ///< of the variables with general types
  std::unordered_map<const Variable*, Template> templates_;
  std::vector<const Variable*> top_level_templates_;  ///< of earlier statements; each after what it captures
  size_t uses_ = 0;
  std::set<size_t> broken_uses_;  ///< of general functions: where a constraint does not hold
  int copying_ = 0;               ///< how many copies of functions are being made, one inside the other
  std::unordered_map<const Variable*, const Variable*> finished_variables_;
  const OperatorCallDraft* matching_ = nullptr;
  std::unordered_map<SyntaxPtr, SyntaxPtr> schedules_;  ///< of operator calls and index expressions

  /// Where the checks go that are asked for now: after the value of `draft`, before what uses it.
  struct CheckSite {
    DraftPtr draft = nullptr;
    Origin origin = {}, source = {};
    std::function<std::string()> what = nullptr;
  };
  CheckSite site_;
  /// What equalities of dims that the unifier put off were asked for, by their number.
  struct PutOff {
    Place place;
    std::string what;
  };
  std::vector<PutOff> put_off_;
  std::set<Dim> made_general_;  ///< the variables that generalising made of unknowns
  void report_unsettled();
  std::string missing_annotation(const Relation& relation, std::vector<Note>& notes);
  ProgramPoint point_;        ///< of what is compared now
  bool in_relation_ = false;  ///< a relation is attempted, which has a point of its own
};

}  // namespace quern
