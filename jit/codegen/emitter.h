#pragma once
// Emits LLVM IR for a loop nest that is good without an optimiser: rotated loops, index arithmetic hoisted to
// the outermost possible loop, vectors of the width that the schedule chose.
//
// Values are scalars until they depend on the lanes of a vectorised loop, and vectors from then on; an
// instruction with both broadcasts the scalar.

#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Module.h>

#include <functional>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/codegen/machine.h"
#include "jit/codegen/operations.h"
#include "jit/loops/kernel.h"

namespace quern::codegen {

class Emitter {
 public:
  Emitter(llvm::Module& module, const loops::Kernel& kernel, const Machine& machine);

  /// Defines `symbol` as a KernelEntry (jit/codegen/codegen.h).
  void emit_host(const std::string& symbol);
  /// Defines `symbol` as a GPU kernel whose parameters are the buffers and the dims. If loops are bound to
  /// the grid, each thread executes its steps of them; otherwise each thread of a one-dimensional grid
  /// executes one point of the outer perfect loop nest.
  void emit_gpu(const std::string& symbol);
  /// What the kernel uses that this machine does not support, or empty.
  const std::string& unsupported() const { return operations_.unsupported(); }

 private:
  /// A point that dominates all code of a loop body (or of the function), where index arithmetic is placed.
  struct Scope {
    llvm::Instruction* marker;  ///< marks that point while the scope is open
    std::unordered_map<Dim, llvm::Value*> dims{};
  };
  struct Variable {
    llvm::Value* value;
    size_t level;  ///< the outermost scope in which it has a value
  };
  /// The vectorised loop around the code being emitted.
  struct Lanes {
    Dim var;
    unsigned width;
    Dim first;                          ///< the variable in lane 0
    llvm::Value* mask;                  ///< which lanes are active; null for all
    bool may_be_empty;                  ///< the mask may have no active lane
    unsigned copy;                      ///< which copy of an unrolled body this is
    unsigned active = 0;                ///< the number of active lanes of `strip_mask`, if known; otherwise 0
    llvm::Value* strip_mask = nullptr;  ///< the mask before conditions narrow it
  };
  struct Local {
    DType dtype;
    std::vector<llvm::AllocaInst*> slots;  ///< one; for a tile, one per vector, row-major
    bool in_lanes;                         ///< declared inside the vectorised loop, with one value per lane
    std::vector<int64_t> shape{};          ///< of a tile, in vectors along the last axis
    int64_t width = 1;                     ///< of these vectors
    DotIntrinsicPtr matrices{};            ///< kept in registers of these, not in its slots
    int64_t columns = 0, terms = 0;        ///< of the tile; taken by such an intrinsic
    std::vector<llvm::AllocaInst*>
        partials{};  ///< one vector per copy, while a vectorised loop reduces into it
    llvm::AllocaInst* slot() const { return slots.front(); }
  };
  struct Address {
    llvm::Value* base;      ///< in elements, uniform across lanes
    int64_t displacement;   ///< added to the base
    llvm::Value* per_lane;  ///< added per lane; null if lanes are contiguous or uniform
    bool contiguous;        ///< lane k is k elements after lane 0
    bool every_second;      ///< lane k is 2*k elements after lane 0
    /// The distance of each active lane from the first, if known and not described above; otherwise empty.
    llvm::SmallVector<int64_t, 64> places{};
  };
  /// A conjunction of bounds checks: the part uniform across lanes, and the rest. Null if there is none.
  struct Condition {
    llvm::Value* uniform = nullptr;
    llvm::Value* varying = nullptr;
  };

  // emit.cpp: the functions around the statements
  void open_function(llvm::Function* function);
  void close_function();
  void point_of_thread();
  llvm::Value* local_memory(const loops::Buffer& buffer);
  void scratch(llvm::Function* entry, std::vector<llvm::Value*>& args);

  // emit_stmt.cpp: statements; emit_loops.cpp and emit_matrices.cpp have their own
  void block(const loops::Block& statements);
  void statement(const loops::Stmt& s);
  void emit(const loops::For& s);
  void emit(const loops::If& s);
  void emit(const loops::IfApart& s);
  void emit(const loops::Prefetch& s);
  void emit(const loops::Declare& s);
  void emit(const loops::Assign& s);
  void emit(const loops::Settle& s);
  void emit(const loops::Transpose& s);
  void emit(const loops::Reduce& s);
  void emit(const loops::Store& s);
  void emit(const loops::Update& s);
  llvm::AllocaInst* new_slot(llvm::Type* type);
  llvm::AllocaInst* place(const Local& local, const std::vector<Dim>& indices);
  void reduce(const loops::Reduce& s);
  void arg_reduce(const loops::Reduce& s);
  llvm::Value* next_accumulator(const loops::Reduce& s, const Local& local, llvm::Value* accumulator);
  bool store_in_runs(llvm::Value* stored, const loops::Store& s, const Address& where);
  void store_every_second(llvm::Value* stored, llvm::Value* to, llvm::Align align);

  // emit_loops.cpp
  void open_scope();
  void close_scope();
  void bind(Dim var, llvm::Value* value);
  void emit_loop(const loops::For& s, const loops::Serial& steps);
  void emit_loop(const loops::For& s, const loops::Vectorized& lanes);
  void emit_loop(const loops::For& s, const loops::Unrolled& steps);
  void loop_step(const loops::For& s, llvm::Value* index);
  void bound_loop(const loops::For& s, loops::GridIndex bound);
  llvm::Value* grid_index(loops::GridIndex index);
  std::pair<llvm::Value*, llvm::Value*> part_of_range(const loops::For& s, const loops::Serial& steps);
  void only_if(llvm::Value* holds, const loops::Block& body);
  std::vector<llvm::Value*> hidden(std::vector<llvm::Value*> values);
  std::vector<llvm::Value*> hide_buffers(const loops::Block& body);
  bool fits_register(const Local& tile) const;
  void at_known_index(Dim var, Dim index, const loops::Block& body);
  void unrolled_step(const loops::For& s, const loops::Unrolled& steps, Dim index);
  enum class Repeat : uint8_t { Loop, FewTimes, AtMostOnce };
  void strips(const loops::For& s, const loops::Vectorized& lanes, llvm::Value* begin, llvm::Value* end,
              unsigned copies, bool masked, Repeat repeat);
  void unrolled_strips(const loops::For& s, const loops::Vectorized& lanes);
  void strip(const loops::For& s, const loops::Vectorized& lanes, Dim first, unsigned copy,
             llvm::Value* masked_end);
  llvm::Value* lane_numbers(unsigned width);
  /// for (i = begin; i < end; i += step) body(i)
  void counted_loop(llvm::Value* begin, llvm::Value* end, uint64_t step, Repeat repeat,
                    const std::function<void(llvm::Value*)>& body);

  // emit_poll.cpp
  void poll();
  /// A counted loop that stops on an interrupt; `cycles` estimates the cost of a step.
  void polled_loop(llvm::Value* begin, llvm::Value* end, uint64_t step, Repeat repeat, double cycles,
                   const std::function<void(llvm::Value*)>& body);
  static double cycles_of(const loops::Block& body);

  // emit_partials.cpp
  /// A value and its position in an arg-reduction; the position is null for other reductions.
  struct Partial {
    llvm::Value* value;
    llvm::Value* position;
  };
  void open_partials(int local, ReduceKind kind, unsigned copies, unsigned width);
  void open_positions(int local, unsigned copies, unsigned width);
  void close_partials(int local, ReduceKind kind, int index_local);
  Partial fold_lanes(ReduceKind kind, DType dtype, Partial vectors);
  Partial combine(ReduceKind kind, DType dtype, Partial a, Partial b);

  // emit_dim.cpp: index arithmetic and addresses
  size_t level_of(Dim d) const;
  bool varies(Dim d) const;
  /// The dim with known values of unrolled loops' variables substituted.
  Dim here(Dim d) const;
  llvm::Value* dim(Dim d);
  llvm::Value* compute(Dim d);
  llvm::Value* sum(Dim d);
  llvm::Value* product(Dim d);
  llvm::Value* quotient(Dim d);
  llvm::Value* combine_dims(Dim d, const std::function<llvm::Value*(llvm::Value*, llvm::Value*)>& step);
  llvm::Value* add(llvm::Value* a, llvm::Value* b);
  llvm::Value* multiply(llvm::Value* a, llvm::Value* b);
  void set_base(Address& where, Dim base);
  Address address(Dim offset, const std::vector<loops::ComputedOffset>& computed);
  llvm::Value* pointer(int buffer, const Address& address);
  void check_bounds(int buffer, const Address& address);

  // emit_value.cpp
  llvm::Value* value(const loops::Value& v);
  llvm::Value* evaluate(const loops::Value& v);
  llvm::Value* emit(const loops::ConstValue& v);
  llvm::Value* emit(const loops::IndexValue& v);
  llvm::Value* emit(const loops::LoadValue& v);
  llvm::Value* emit(const loops::ApplyValue& v);
  llvm::Value* emit(const loops::CastValue& v);
  llvm::Value* emit(const loops::SelectValue& v);
  llvm::Value* emit(const loops::LocalValue& v);
  llvm::Value* emit(const loops::DotValue& v);
  void stop_unless_inside(const loops::CheckedValue& v);
  void trap_if(llvm::Value* failed, int trap);
  Condition condition(const std::vector<loops::BoundsCheck>& checks);
  bool holds(const loops::BoundsCheck& check) const;
  llvm::Value* load_past_traps(const loops::LoadValue& v);
  llvm::Value* load_or_otherwise(const loops::LoadValue& v);
  llvm::Value* masked_or_otherwise(const loops::LoadValue& v, llvm::Value* condition);
  llvm::Value* unchecked_load(const loops::LoadValue& v, llvm::Value* pass_through);
  llvm::Value* unseen_load(const loops::LoadValue& v);
  loops::LoadValue inside_of(const loops::LoadValue& v);
  llvm::SmallVector<int64_t, 64> places_of_lanes(Dim offset);
  int64_t steps_before(Dim first, const llvm::SmallVector<int64_t, 64>& places) const;
  llvm::Value* load_in_places(llvm::Type* element, llvm::Value* from, llvm::Align align,
                              const llvm::SmallVector<int64_t, 64>& places);
  llvm::Value* load_every_second(llvm::Type* element, llvm::Value* from, llvm::Align align);
  /// Runs `body` with fewer active lanes; values computed in it are not memoised outside.
  llvm::Value* under_mask(llvm::Value* mask, const std::function<llvm::Value*()>& body);
  llvm::Value* both(llvm::Value* a, llvm::Value* b);
  llvm::Value* spread(llvm::Value* v, unsigned width);
  llvm::Value* spread_like(llvm::Value* v, llvm::Value* like);
  /// Broadcasts the scalars if there is a vector.
  void unify(llvm::MutableArrayRef<llvm::Value*> values);

  // emit_dot.cpp
  llvm::Value* dot(const loops::DotValue& v, llvm::Value* accumulator);
  llvm::Value* group_load(const loops::LoadValue& v, int group);

  // emit_matrices.cpp
  /// The matrix registers of a tile and of its factors.
  struct Registers {
    int64_t above, beside;  ///< numbers of matrices
    int64_t sums(int64_t i, int64_t j) const { return i * beside + j; }
    int64_t left(int64_t i) const { return above * beside + i; }
    int64_t right(int64_t j) const { return above * beside + above + j; }
  };
  static Registers registers_of(const Local& local);
  void declare_matrices(const Local& local);
  /// The sum of products inside the loops of a matrix tile.
  struct MatrixProduct {
    const loops::Reduce& sum;
    const loops::DotValue& dot;
  };
  static std::optional<MatrixProduct> product_in(const loops::For& loop);
  void multiply_matrices(const MatrixProduct& product);
  void load_left(const MatrixProduct& product, int64_t above);
  llvm::Value* left_rows(const MatrixProduct& product, int64_t first, int64_t rows);
  void load_right(const MatrixProduct& product, int64_t beside);
  void call_on_matrices(const std::string& intrinsic, llvm::ArrayRef<llvm::Value*> operands);
  llvm::Value* matrix_number(int64_t number) { return b_.getInt8(static_cast<uint8_t>(number)); }

  llvm::Module& module_;
  const loops::Kernel& kernel_;
  Machine machine_;
  llvm::IRBuilder<> b_;
  Operations operations_;

  llvm::Function* function_ = nullptr;
  llvm::BasicBlock* exit_ = nullptr;
  llvm::PHINode* trap_number_ = nullptr;
  llvm::Instruction* slots_end_ = nullptr;  ///< new slots of locals are inserted before it
  std::vector<llvm::Value*> buffers_;
  llvm::Value* range_begin_ = nullptr;
  llvm::Value* range_end_ = nullptr;
  std::vector<Scope> scopes_;
  std::unordered_map<Dim, Variable> variables_;
  std::unordered_map<int, Local> locals_;
  DimMap known_;  ///< values of unrolled loops' variables
  Facts facts_;   ///< of the enclosing loops: that they run is known only in their bodies
  std::optional<Lanes> lanes_;
  bool polls_ = true;  ///< no enclosing loop polls often enough
  /// Values computed so far in the current statement, where visible.
  std::unordered_map<const loops::Value*, llvm::Value*> memo_;
  /// Stand-ins for unused elements, kept alive because the memo is keyed by address.
  std::vector<loops::ValuePtr> unseen_;
};

}  // namespace quern::codegen
