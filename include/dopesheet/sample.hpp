// Clip and time to pose: exact to the game's own rule, without allocation.
#pragma once
#include <memory>

#include "dopesheet/clip.hpp"

namespace dopesheet {

// Where each track of a Sampler was last evaluated; makes sequential play cheap and changes no
// result. One per thread.
class Cursor {
 public:
  Cursor() = default;

 private:
  friend class Sampler;
  explicit Cursor(std::size_t curves) : at_(curves, 0) {}
  std::vector<std::uint32_t> at_;
};

// A clip made ready to be played. Constant after construction: threads may share one.
class Sampler {
 public:
  // The clip is copied. An invalid clip (see validate) is sampled as far as it makes sense: tracks
  // with a bad target or an empty curve are left out.
  explicit Sampler(const Clip& clip);
  Sampler(const Clip& clip, Outside outside);

  std::size_t nodes() const { return rest_.size(); }
  std::size_t weights() const { return weights_; }
  Cursor cursor() const { return Cursor(curves_); }

  // Local transforms of all nodes at `time`, in seconds of the clip's own clock (start to end), which
  // is clamped or wrapped first. Nodes beyond the size of `out` are left out. Rotations are of unit
  // length. `cursor` must come from this sampler.
  void sample(double time, Cursor& cursor, std::span<Transform> out) const;

  // Weights of the morph targets at `time`, 0 to 1.
  void sample_weights(double time, Cursor& cursor, std::span<float> out) const;

  // `time` inside the clip, by the sampler's policy. A clip without length has one time, its start.
  double inside(double time) const;

 private:
  template <class T>
  struct Entry {
    std::size_t target;
    Channel channel;
    std::size_t cursor;
    Curve<T> curve;
  };
  struct Axes {
    std::size_t target;
    Channel channel;
    std::size_t cursor;
    std::array<Curve<float>, 3> curves;
  };
  double start_, end_;
  Outside outside_;
  std::size_t curves_ = 0, weights_ = 0;
  std::vector<Transform> rest_;
  std::vector<Entry<Vec3>> vectors_;
  std::vector<Entry<Quat>> rotations_;
  std::vector<Entry<float>> scalars_;
  std::vector<Axes> axes_;
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
