// Leaving out keys that a tolerance can spare.
#pragma once
#include "dopesheet/compare.hpp"

namespace dopesheet {

struct ReduceOptions {
  double max_mm = 0.1;  // object space, see CompareOptions::probe_distance
  double max_degrees = 0.05;
};
struct Reduced {
  Clip clip;
  ErrorReport error;  // against the clip that was given
  std::size_t keys_before = 0, keys_after = 0;
};
// Removes keys of linear translation, scale and rotation tracks; other tracks stay. Keys that stay keep
// their values. The error never exceeds the tolerance: where it would, the clip comes back unchanged.
Reduced reduce(const Clip& clip, const ReduceOptions& options = {});

}  // namespace dopesheet
