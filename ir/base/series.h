#pragma once
// The variables of dims and types that a computation makes. Done again it gets the same ones: the k-th of a
// name is the k-th of that name of the time before. So what is made of them is interned once, however often
// a text is edited or a line is compiled.

#include <cstdint>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace quern {

/// Two results under one series have variables in common: of the two, the earlier is not used any more, or
/// never together with the later one.
class Series {
 public:
  /// While it lives, dim_var, dim_opened and type_var on this thread give the series' variables, from the
  /// first of each name on. A turn inside of a turn has its own.
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

  enum class Kind : char { Dim, OpenedDim, Type };
  /// The next of a kind and name in the turn that is going on; what `make` gives where it has none so far,
  /// or where there is no turn.
  template <class Make>
  static auto next(Kind kind, std::string_view name, const Make& make) -> decltype(make()) {
    if (!current_) return make();
    const void*& place = current_->place_of_next(kind, name);
    if (!place) place = make();
    return static_cast<decltype(make())>(place);
  }
  void clear() { names_.clear(); }

 private:
  struct Made {
    std::vector<const void*> all;
    size_t next = 0;
    uint64_t turn = 0;  ///< that `next` is of
  };
  const void*& place_of_next(Kind kind, std::string_view name);

  static thread_local Series* current_;
  std::unordered_map<std::string, Made> names_;
  uint64_t turn_ = 0;
};

}  // namespace quern
