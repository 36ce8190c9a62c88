// Clip and time to pose: exact to the game's own rule, without allocation.
#pragma once
#include <memory>

#include "dopesheet/clip.hpp"

namespace dopesheet {

namespace packed {
struct Clip;
}
// Eight curves, or eight numbers of them, side by side.
struct alignas(32) Lanes {
  static constexpr std::size_t size = 8;
  std::array<float, size> values{};
};

// Where a Sampler was last asked, and the segments it found there; makes sequential play cheap and
// changes no result. One per thread. Its size goes with the number of tracks, not of keys.
class Cursor {
 public:
  Cursor() = default;

 private:
  friend class Sampler;
  std::vector<std::uint32_t> hints_;
  std::vector<Lanes> block_;
  std::vector<double> windows_;
};

// A clip made ready to be played: packed into arrays that are evaluated eight curves at a time, with
// the same bits on every machine (see docs/sample.md). Constant after construction: threads may share
// one, and copies share what is packed. Keys take at most about 1.5 times the memory they take in the
// clip.
class Sampler {
 public:
  // The clip is copied. An invalid clip (see validate) is sampled as far as it makes sense: tracks
  // with a bad target, an empty curve, or times beyond 1e30 s are left out; of several tracks with one
  // target and channel the last one counts.
  explicit Sampler(const Clip& clip);
  Sampler(const Clip& clip, Outside outside);

  std::size_t nodes() const;
  std::size_t weights() const;
  Cursor cursor() const;

  // Local transforms of all nodes at `time`, in seconds of the clip's own clock (start to end), which
  // is clamped or wrapped first. Nodes beyond the size of `out` are left out. Rotations are of unit
  // length. `cursor` must come from this sampler or a copy of it. Interpolates in float, within 2e-6
  // of the larger of a curve's values and of 1 m, and 1e-4 degrees, of evaluate(); times in double.
  void sample(double time, Cursor& cursor, std::span<Transform> out) const;

  // Weights of the morph targets at `time`, 0 to 1.
  void sample_weights(double time, Cursor& cursor, std::span<float> out) const;

  // `time` inside the clip, by the sampler's policy. A clip without length has one time, its start.
  double inside(double time) const;

  double start() const;  // seconds, of the clip
  double end() const;
  Outside outside() const;

 private:
  std::shared_ptr<const packed::Clip> clip_;
};

// A pose in full: what Sampler gives at one time.
struct Frame {
  double time = 0;               // seconds of the clip's own clock
  std::vector<Transform> nodes;  // local
  std::vector<float> weights;    // of the morph targets
};

// Local transforms to object space. `order` is topological_order(nodes); sizes must agree. Scale is
// carried along per axis, which is exact as long as no rotation stands below a non-uniform scale.
// Parents must not form a cycle (validate reports those): then the result means nothing.
void to_object_space(std::span<const Node> nodes, std::span<const std::size_t> order,
                     std::span<const Transform> local, std::span<Transform> object);

Vec3 operator+(Vec3 a, Vec3 b);
Vec3 operator-(Vec3 a, Vec3 b);
Vec3 operator*(float s, Vec3 v);
float length(Vec3 v);
float dot(Quat a, Quat b);
Quat operator*(Quat a, Quat b);  // first b, then a
Quat conjugate(Quat q);
Quat normalize(Quat q);                // identity where the length is 0 or not finite
Vec3 rotate(Quat q, Vec3 v);           // q of unit length
double angle_between(Quat a, Quat b);  // degrees, 0 to 180, of unit quaternions; exact near 0
Quat slerp(Quat a, Quat b, double u);  // unit quaternions, along the shorter arc
// Rz Ry Rx of turns about the axes; one turn is 360 degrees.
Quat rotation_of_turns(Vec3 turns);
Transform operator*(const Transform& parent, const Transform& local);
Transform inverse(const Transform& t);  // of a transform without scale

// The value of one curve at a time; holds the first and last key outside them. `hint` speeds up
// sequential calls and is updated.
float evaluate(const Curve<float>& curve, double time, std::uint32_t& hint);
Vec3 evaluate(const Curve<Vec3>& curve, double time, std::uint32_t& hint);
Quat evaluate(const Curve<Quat>& curve, double time, std::uint32_t& hint);

// The curve through a segment that slows down after its first key and before its second. Ease
// fractions add up to at most 1 after scaling; u and the result run from 0 to 1.
//   a = ease_out of the first key, b = ease_in of the second; if a + b > 1 both are divided by a + b
//   k = 1 / (2 - a - b);  u < a: k u u / a;  u < 1 - b: k (2 u - a);  else 1 - k (1 - u)^2 / b
double ease(double u, double a, double b);

}  // namespace dopesheet
