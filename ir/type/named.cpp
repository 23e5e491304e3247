#include "ir/type/named.h"

#include <map>
#include <mutex>
#include <string>

#include "ir/base/series.h"
#include "ir/dim/arena.h"

namespace quern {

namespace {

/// The variables of all names, made where neither the series of a query nor an arena has them.
template <class Variable, Variable (*kMake)(std::string_view)>
class Named {
 public:
  static Variable of(std::string_view name) {
    static auto* const all = new Named;
    const std::lock_guard lock(all->mutex_);
    const auto known = all->variables_.find(name);
    if (known != all->variables_.end()) return known->second;
    const DimArena::Outside outside;
    Series own;
    const Series::Turn turn(own);
    return all->variables_.emplace(name, kMake(name)).first->second;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, Variable, std::less<>> variables_;
};

}  // namespace

Dim named_dim(std::string_view name) { return Named<Dim, dim_var>::of(name); }
Type named_type(std::string_view name) { return Named<Type, type_var>::of(name); }

}  // namespace quern
