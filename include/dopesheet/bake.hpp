// Resampling: curves of kinds that a target lacks become linear ones, with a measured error.
#pragma once
#include "dopesheet/compare.hpp"

namespace dopesheet {

struct BakeOptions {
  // Samples per second at start, start + 1/rate, ... and end, computed and not summed up; 0 bakes
  // adaptively: the keys of the curve, and as many between them as the tolerance asks for.
  double rate = 0;
  double max_mm = 0.05;       // adaptive only: object space, see CompareOptions::probe_distance
  double max_degrees = 0.05;  // adaptive only: object space
  // Which interpolations the target takes as they are. Curves of these kinds are left alone.
  std::vector<Interp> keep_vectors{Interp::step, Interp::linear, Interp::hermite, Interp::bezier};
  std::vector<Interp> keep_rotations{Interp::step, Interp::linear};
  std::vector<Interp> keep_scalars{Interp::step, Interp::linear, Interp::hermite, Interp::bezier};
  Limits limits;
};

struct Baked {
  Clip clip;
  ErrorReport error;  // against the clip that was given; all zero where nothing was baked
  bool reached =
      true;  // false: floats are too coarse for the tolerance, as with joints very far out
  std::size_t tracks = 0;                       // baked
  std::size_t keys_before = 0, keys_after = 0;  // of those tracks
};

// Rotations come out with neighbouring keys in one hemisphere. Per-axis tracks become Vec3 or Quat
// tracks; translations and scales whose axes are cubic or linear stay exact, as one cubic curve, where
// the target keeps cubic vectors and no rate is asked for. Fails with Code::limit when the tolerance needs more keys than limits.keys.
Result<Baked> bake(const Clip& clip, const BakeOptions& options = {});

}  // namespace dopesheet
