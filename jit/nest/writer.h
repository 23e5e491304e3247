#pragma once
// Translates the loops of a nest to statements; shared by kernel.cpp, element.cpp, turned_*.cpp and
// scratch*.cpp.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "jit/compute/statements.h"
#include "jit/nest/nest.h"

namespace quern::loops {

class NestWriter {
 public:
  explicit NestWriter(const Nest& nest) : nest_(nest), c_(nest.c_), parts_(nest.parts()) {}

  Kernel write();
  /// Why no code could be written, or empty.
  const std::string& failure() const { return failure_; }

 private:
  /// A run of equal steps of a split: `count` steps from `start` on, each of size `factor`.
  struct Steps {
    Dim count, start, factor;
  };
  /// The part of a tensor that a scratch buffer holds: along each axis, `extent` indices from `base` on,
  /// `step` apart.
  struct Region {
    std::vector<Dim> base{}, extent{};
    std::vector<int64_t> most{};  ///< maximal extents, which determine the scratch buffer's layout
    std::vector<int64_t> step{};
    std::vector<size_t> order{};  ///< of the axes in the scratch buffer
  };
  struct InScratch {
    int buffer;
    Region region;
    ValuePtr otherwise;  ///< the value where the tensor has no element; null if there is none
  };
  /// Facts about the loops around a statement.
  struct Place {
    std::unordered_map<LoopId, Dim> index{};  ///< of loops
    std::unordered_map<int, Steps> steps{};   ///< of splits
    Facts facts{};
    Dim before = dim_const(0);        ///< number of preceding steps of the range
    std::vector<BoundsCheck> held{};  ///< those of the reduction's checks that hold, as in the computation
    std::unordered_map<int, InScratch> scratch{};  ///< of buffers
    LoopId dot = kNoLoop;                          ///< an enclosing loop whose steps an intrinsic performs
  };
  /// The loops inside a place, as index variables.
  struct Span {
    struct Variable {
      Dim symbol, extent;
      std::optional<int64_t> most;
      std::string name;
      bool in_lanes;
    };
    std::vector<Variable> variables{};
    std::unordered_map<LoopId, Dim> index{};  ///< of loops
  };
  /// The reads of a buffer.
  struct Reads {
    std::vector<std::vector<Dim>> indices{};   ///< along the axes of the buffer
    std::vector<std::pair<Dim, Dim>> inner{};  ///< variables and extents of reductions without loops here
    bool is_all = true;                        ///< there are no other reads
  };
  using Inside = std::function<Block(const Place&)>;

  const Nest::Loop& loop_at(LoopId loop) const { return nest_.at(loop); }
  bool is_in_tile(LoopId loop) const;
  LoopKind kind_of(LoopId loop) const;

  // kernel.cpp: indices
  Place outermost() const;
  Dim extent_of(LoopId loop, const Place& place) const;
  Dim index_of(LoopId loop, const Place& place) const;
  DimMap indices(const Place& place) const;
  static Dim here(Dim d, const DimMap& map, const Facts& facts);

  // loops
  std::vector<Steps> steps_of(const Nest::Split& split, const Place& place) const;
  std::vector<Steps> even_steps(const Nest::Split& split, const Place& place) const;
  static std::vector<Steps> cascade(Dim extent, int64_t factor);
  Block loops(const LoopIds& order, size_t k, const Place& place, const Inside& inside);
  Block one_loop(const LoopIds& order, size_t k, Dim extent, Place place, const Inside& inside);
  Execution execution_of(LoopId loop, Dim extent, const Place& place) const;
  Block step(const LoopIds& order, size_t k, Place place, const Inside& inside);
  Unrolled unrolled(LoopId loop, int64_t width, const Place& place) const;
  int64_t most_in_tile(LoopId loop, const Place& place) const;
  bool share_reads(LoopId loop, int64_t steps, const Place& place) const;
  bool fills_registers(const Place& place) const;
  Block guarded(LoopId loop, Place place, const Inside& inside);
  bool is_open(Dim d) const;
  bool runs_in_lanes(Dim d, const Place& place) const;

  // range.cpp
  bool loops_are_numbered() const;
  bool is_in_range(LoopId loop) const;
  Dim range_inside(const LoopIds& order, size_t k, const Place& place) const;
  Dim range_from(const LoopIds& order, size_t k, const Place& place) const;

  // element.cpp: statements and values
  Block element(const Place& place);
  Store store_at(const Place& place) const;
  void top_reduction(int number, const Place& place, Block& body);
  Block terms(int number, const Place& place);
  Block term(const Reduction& r, const Place& place);
  ValuePtr dot(const Reduction& r, const Place& place);
  LoadPtr factor(const LoadPtr& load, const DimMap& map, const Place& place, const Reduction& r) const;
  std::vector<Dim> tile_indices(const Place& place) const;
  void declare_tile(const Reduction& r, const Place& place, Block& body) const;
  std::optional<int64_t> tile_extent(LoopId loop, const Place& place) const;
  BoundsCheck check(BoundsCheck check, const DimMap& map, const Place& place) const;
  ValuePtr value(const ValuePtr& from, const DimMap& map, const Place& place,
                 const std::vector<BoundsCheck>* absence = nullptr) const;
  ValuePtr placed(const ValuePtr& from, const DimMap& map, const Place& place,
                  const std::vector<BoundsCheck>* absence) const;
  struct PlacedFields;
  bool is_unseen(const LoadValue& load, const std::vector<BoundsCheck>& absence) const;

  // matrices.cpp
  const Nest::Loop* loop_of_matrices() const;
  int64_t terms_at_once(LoopId loop) const;
  ValuePtr product_of_matrices(const Reduction& r, const Place& place);
  Dim apart_along_groups(const LoadValue& load, const Place& place) const;

  // turned_tile.cpp
  Block turned_tile(const Place& place);
  Block square(LoopId rows, LoopId columns, int64_t width, Place place, const Inside& inside) const;
  ValuePtr turned_read() const;
  ValuePtr with_turned(const ValuePtr& from, const std::vector<Dim>& place) const;

  // turned_write.cpp
  /// A part of a tile's rows and a vector's lanes, in which groups of `run` lanes stay together.
  struct TurnedPart {
    int64_t lane, row;  ///< the first ones
    int64_t rows, width, run;
    bool is_finished;  ///< results are transposed, not sums
    int64_t groups() const { return width / run; }
  };
  Block turned_write(const Place& place);
  bool is_finished_in_lanes(const Place& place) const;
  int64_t run_of_lanes(Place place) const;
  Block turned(const Place& place, const TurnedPart& part) const;
  Block stored_along(const Place& place, const TurnedPart& part) const;

  // scratch_region.cpp
  bool is_spanned_whole(LoopId loop, const Place& place) const;
  bool has_lanes(LoopId loop) const;
  Dim add_to_span(LoopId loop, const Place& place, Span& span) const;
  Dim spanned(LoopId loop, const Place& place, Span& span) const;
  void add_axis(const std::vector<Dim>& indices, const Span& span, const Place& place, Region& region,
                bool& in_lanes);
  Region region(const Reads& reads, const Place& place, DType dtype);
  static std::vector<int64_t> strides_of(const Region& region);
  static Dim offset_in(const Region& region, const std::vector<Dim>& indices);
  void keep_shape(int scratch, const Region& region);
  void refuse(std::string why);
  bool is_refused(const Buffer& buffer, LoopId loop);

  // prefetch.cpp
  struct Lines;
  struct Ahead;
  Block prefetches(LoopId loop, const Place& place);
  std::optional<Ahead> ahead(const Nest::Prefetched& prefetched, const Place& place);
  std::optional<Region> known_region(const Reads& reads, const Place& place, DType dtype);
  Lines lines_of(const Buffer& buffer, const Region& region) const;

  // scratch.cpp: filling it, reading it, and keeping results in it
  int lanes_for(DType dtype) const;
  static bool fills_in_lanes(const Computation& c, Dim along);
  void fill(const Nest::Fill& fill, const Region& region, const Place& place, Block& body) const;
  void fill_whole(const Nest::Fill& fill, const Place& place, Block& body);
  Reads reads_inside(LoopId loop, int buffer) const;
  Block with_scratch(LoopId loop, const Place& place, const Inside& inside);
  ValuePtr scratch_read(const LoadValue& load, const Place& place) const;
  ValuePtr from_scratch(const ValuePtr& value, const Place& place) const;
  Reduction nested_at(Reduction r, const DimMap& map, const Place& place) const;
  LoopIds results_inside() const;
  Block with_result_in_scratch(const Place& place, const Inside& inside);
  Block memory_terms(const Place& place);

  static constexpr int64_t kMostScratch = 1 << 20;  ///< bytes of a scratch buffer

  const Nest& nest_;
  const Computation& c_;
  Nest::Parts parts_;
  Dim range_ = nullptr;
  bool is_numbered_ = false;                              ///< the range covers more than one loop
  std::unordered_map<int, std::vector<int64_t>> shapes_;  ///< of scratch buffers so far
  bool moves_results_ = false;                            ///< currently writing loops that only move results
  std::string failure_;
};

}  // namespace quern::loops
