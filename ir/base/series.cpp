#include "ir/base/series.h"

namespace quern {

thread_local Series* Series::current_ = nullptr;

Series::Turn::Turn(Series& series) : series_(series), around_(current_) {
  if (series_.made_) ++series_.made_->turn;
  current_ = &series_;
}

Series::Turn::~Turn() { current_ = around_; }

const void*& Series::place_of_next(Kind kind, std::string_view name) {
  if (!made_) made_ = std::make_unique<Made>();
  OfName& made = made_->names[std::string(1, static_cast<char>(kind)).append(name)];
  if (made.turn != made_->turn) made = {std::move(made.all), 0, made_->turn};
  if (made.next == made.all.size()) made.all.push_back(nullptr);
  return made.all[made.next++];
}

}  // namespace quern
