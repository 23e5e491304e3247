#pragma once
// The dtypes that tests of single nodes and kernels name often.

#include "ir/type/dtype.h"

namespace quern {

inline const DType kFloat = DType::float32();
inline const DType kInt = DType::int32();
inline const DType kInt64 = DType::int64();
inline const DType kBool = DType::boolean();
inline const DType kIndex = DType::index();

}  // namespace quern
