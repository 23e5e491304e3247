#include "ir/base/series.h"

namespace quern {

thread_local Series* Series::current_ = nullptr;

Series::Turn::Turn(Series& series) : series_(series), around_(current_) {
  ++series_.turn_;
  current_ = &series_;
}

Series::Turn::~Turn() { current_ = around_; }

const void*& Series::place_of_next(Kind kind, std::string_view name) {
  Made& made = names_[std::string(1, static_cast<char>(kind)).append(name)];
  if (made.turn != turn_) made = {std::move(made.all), 0, turn_};
  if (made.next == made.all.size()) made.all.push_back(nullptr);
  return made.all[made.next++];
}

}  // namespace quern
