#pragma once
// The types of a program whose tensors carry their cotangents, or their tangents (Roesch 2020, section 4.1),
// and the nodes that read and write them.
//
//   Tensor of floats  (t, Ref[Cotangent[t]])     fn (a) -> r    fn (a') -> r'
//      with tangents  (t, t)                     (a, b)         (a', b')
//   other tensors     the same                   List[a]        List'[a'], of a type of its own
//   Ref[a]            Ref[a']
//
// `Cotangent[t]` is `Zero`, until something has flowed back, or `Of(sum)`. The tape is what has to run
// backwards, the last first: `Then(fn () -> (), Tape)` or `End`.

#include <vector>

#include "passes/scalar_builder.h"

namespace quern::lifting {

/// What a tensor carries.
enum class Carrier : uint8_t { Cotangent, Tangent };

Type lifted(Type type, Carrier carrier);
/// Whether the type is a tape's, or a lifted data type: what partial evaluation may remove.
bool is_scaffold(Type type);
/// Whether the value carries nothing: its lifted type is its type.
inline bool is_constant(Type type) { return lifted(type, Carrier::Tangent) == type; }
/// Whether all of it is tensors and tuples of tensors: what segments read and make.
bool is_of_tensors(Type type);

/// Nodes at one origin.
class Build {
 public:
  Build(Arena& arena, Origin origin, Carrier carrier) : scalars(arena, origin), carrier_(carrier) {}

  Type lifted(Type type) const { return lifting::lifted(type, carrier_); }
  /// The constructor with the same number of the lifted type.
  const Constructor* lifted(const Constructor* constructor, Type type) const;

  ExprPtr read(const Variable* v) const;
  const Variable* variable(std::string_view name, Type type) const;
  ExprPtr tuple(const std::vector<ExprPtr>& fields) const { return scalars.tuple(fields); }
  ExprPtr field(ExprPtr of, uint32_t index) const;
  ExprPtr block(const std::vector<Binding>& bindings, ExprPtr result) const;
  ExprPtr fn(const std::vector<const Variable*>& params, std::span<const Dim> dims, ExprPtr body) const;
  ExprPtr call(ExprPtr callee, const std::vector<ExprPtr>& args) const;
  ExprPtr ref(ExprPtr content) const;
  ExprPtr ref_read(ExprPtr reference) const;
  ExprPtr ref_write(ExprPtr reference, ExprPtr content) const;
  ExprPtr construct(const Constructor& c, Type type, const std::vector<ExprPtr>& fields) const;
  /// A constructor whose fields are bound to variables.
  PatternPtr pattern(const Constructor& c, Type type, const std::vector<const Variable*>& parts) const;
  /// `partial`: a value that no arm matches stops the program.
  ExprPtr match(ExprPtr of, const std::vector<MatchArm>& arms, bool partial = false) const;
  /// Zeros in the shape of a tensor.
  ExprPtr zeros_like(ExprPtr tensor) const;

  /// A value that has received no cotangent yet, or whose tangent is 0: tensors and tuples of them.
  ExprPtr lift(ExprPtr value) const;
  /// A tensor and its tangent.
  ExprPtr dual(ExprPtr value, ExprPtr tangent) const { return tuple({value, tangent}); }
  /// What was lifted: tensors and tuples of them.
  ExprPtr primal(Type type, ExprPtr lifted) const;
  /// Adds a cotangent to what each tensor has received; the results are `()`.
  void accumulate(Type type, ExprPtr lifted, ExprPtr cotangent, std::vector<Binding>& out) const;
  /// What each tensor has received, zeros where nothing; its tangent: of the gradient's type.
  ExprPtr received(Type type, ExprPtr lifted) const;
  /// Whether any of the tensors has received something.
  ExprPtr has_received(Type type, ExprPtr lifted) const;

  ExprPtr empty_tape() const;
  /// Puts a function without parameters before what is on the tape.
  ExprPtr push(ExprPtr tape, ExprPtr backward) const;
  /// Calls all that is on the tape, the last first.
  ExprPtr run(ExprPtr tape) const;

  const ScalarBuilder scalars;

 private:
  Arena& arena() const { return scalars.arena(); }
  Expr head(ExprKind kind, Type type) const { return {kind, type, scalars.origin()}; }
  /// The tensor with each `?` of its shape bound to a dim.
  ExprPtr exact(ExprPtr tensor, std::vector<Binding>& out) const;

  const Carrier carrier_;
};

}  // namespace quern::lifting
