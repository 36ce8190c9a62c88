// Leaving out keys that a tolerance can spare.
#pragma once
#include "dopesheet/compare.hpp"

namespace dopesheet {

// What the curves of the result are.
enum class Fit : std::uint8_t {
  keep,    // linear tracks lose keys, which keep their values; other tracks stay as they are
  linear,  // tracks of vectors and quaternions become linear
  cubic,   // they become hermite, quaternions too (components, then normalised: glTF's CUBICSPLINE)
};

struct ReduceOptions {
  double max_mm = 0.1;  // object space, see CompareOptions::probe_distance
  double max_degrees = 0.05;
  Fit fit = Fit::keep;
  double rate =
      240;  // samples a second that curves of other kinds are fitted to, besides their keys
};
struct Reduced {
  Clip clip;
  ErrorReport
      error;  // against the clip that was given, at all its keys, between them, and at `rate`
  std::size_t keys_before = 0, keys_after = 0;
};
// The error never exceeds the tolerance: where it would, the clip comes back unchanged. With Fit::linear
// and Fit::cubic, curves of other kinds may need more keys than they had. Turns are never lost: keys are less than half a turn apart. Scalar tracks,
// per-axis custom tracks and morph weights stay.
Reduced reduce(const Clip& clip, const ReduceOptions& options = {});

}  // namespace dopesheet
