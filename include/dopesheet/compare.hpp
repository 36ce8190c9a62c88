// How far two clips are apart, in object space.
#pragma once
#include "dopesheet/clip.hpp"

namespace dopesheet {

struct CompareOptions {
  double rate = 240;  // samples per second, besides every key of both clips
  double probe_distance =
      0.03;  // metres: errors are taken at points this far from each joint, on its axes
};

struct ErrorReport {
  double max_mm = 0, p99_mm = 0;            // of the probe points, in object space
  double max_degrees = 0, p99_degrees = 0;  // of the joints' rotations, in object space
  std::string worst_node;                   // of max_mm
  double worst_time = 0;                    // seconds
  double max_weight = 0;                    // difference of morph weights
  std::size_t samples = 0;
};

// Compares the joints of `a` and `b` that have equal indices, from a.start to a.end. Both clips must be
// in one space.
ErrorReport compare(const Clip& a, const Clip& b, const CompareOptions& options = {});

}  // namespace dopesheet
