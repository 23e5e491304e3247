#pragma once
// The variables of dims and types that a computation makes. A repeated computation gets the same ones: the
// k-th variable of a name is the k-th of that name in the previous run. So everything built from them is
// interned once, however often a text is edited or a line is compiled.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quern {

/// Two results under one series share variables, so the earlier one must be dead, or never used together with
/// the later one.
class Series {
 public:
  /// During its lifetime, dim_var, dim_opened, dtype_var and type_var on this thread return the series' variables,
  /// starting with the first of each name. A nested turn has its own.
  class Turn {
   public:
    explicit Turn(Series& series);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    friend class Series;
    Series& series_;
    Series* const around_;
  };

  enum class Kind : char { Dim, OpenedDim, DType, Type };
  /// The next variable of a kind and name in the current turn; the result of `make` if there is none yet, or
  /// no turn.
  template <class Make>
  static auto next(Kind kind, std::string_view name, const Make& make) -> decltype(make()) {
    if (!current_) return make();
    const void*& place = current_->place_of_next(kind, name);
    if (!place) place = make();
    return static_cast<decltype(make())>(place);
  }
  void clear() { made_.reset(); }
  bool empty() const { return !made_; }

 private:
  struct OfName {
    std::vector<const void*> all;
    size_t next = 0;
    uint64_t turn = 0;  ///< to which `next` belongs
  };
  struct Made {
    std::unordered_map<std::string, OfName> names;
    uint64_t turn = 0;
  };
  const void*& place_of_next(Kind kind, std::string_view name);

  static thread_local Series* current_;
  std::unique_ptr<Made> made_;  ///< null before the first variable: most computations make none
};

}  // namespace quern
