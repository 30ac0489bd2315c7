// How far values are from the least and the largest of their data set, shared with the kernels for GPUs.
// Where nothing can be below a delay, a pause or a threshold, the least value says more of it than all
// others, and no mean over rows finds it.
#pragma once

#include <cmath>

#include "occam/core/both.hpp"

namespace occam {

// Half the logarithm of a distance from an end, in units of that of the mean, which is `far` from it. Of n
// values the next is expected at 1 / n where they crowd there at once, so this is added: the end itself
// counts as no nearer.
OCCAM_BOTH inline double share_from_end(double distance, double far, double n) {
  return (far > 0 ? distance / far : 1) + 1 / n;
}
OCCAM_BOTH inline double from_end(double distance, double far, double n) {
  return 0.5 * log(share_from_end(distance, far, n));
}

}  // namespace occam
