#include "tests/operators/agreement_table.h"

namespace quern::numeric {

namespace {

Row elementary(const std::string& name, uint64_t ulps) {
  return {
      name,
      [=](Random& random) {
        return Arguments{{random.tensor(random.pick(kFloats), random.shape(), Values::Any)}, name + "(%a)"};
      },
      ulps};
}

}  // namespace

std::vector<Row> math_rows() {
  return {
      elementary("expm1", 4),
  };
}

}  // namespace quern::numeric
