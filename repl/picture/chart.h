#pragma once
// Curves and distributions as drawings.

#include "repl/picture/drawing.h"
#include "repl/picture/histogram.h"
#include "repl/picture/plot.h"

namespace quern::picture {

Drawing drawing_of(const Plot& plot);
/// Bars that stand on the axis of the numbers.
Drawing drawing_of(const Histogram& histogram);

}  // namespace quern::picture
