// Key reduction of linear tracks.
#include "dopesheet/reduce.hpp"

#include <algorithm>
#include <cmath>

#include "clip/comparer.hpp"

namespace dopesheet {
namespace {

// Whether the keys between `a` and `b` may go: each lies near enough to the line between these two.
bool spans(const Curve<Vec3>& c, std::size_t a, std::size_t b, double tolerance) {
  const double dt = c.times[b] - c.times[a];
  if (!(dt > 0)) return false;
  const Vec3 p = c.values[a], q = c.values[b];
  for (std::size_t k = a + 1; k < b; ++k) {
    const double u = (c.times[k] - c.times[a]) / dt;
    const Vec3 v = c.values[k];
    const double x = p.x + u * (double{q.x} - p.x) - v.x, y = p.y + u * (double{q.y} - p.y) - v.y,
                 z = p.z + u * (double{q.z} - p.z) - v.z;
    if (!(x * x + y * y + z * z <= tolerance * tolerance)) return false;
  }
  return true;
}

// The same along the arc; the tolerance is in degrees.
bool spans(const Curve<Quat>& c, std::size_t a, std::size_t b, double tolerance) {
  const double dt = c.times[b] - c.times[a];
  if (!(dt > 0)) return false;
  constexpr double radians = 0.017453292519943295;
  const double limit = std::tan(tolerance * radians / 2);
  const Quat p = c.values[a], q = c.values[b];
  double d = double{p.x} * q.x + double{p.y} * q.y + double{p.z} * q.z + double{p.w} * q.w;
  const double sign = d < 0 ? -1 : 1;
  const double angle = std::acos(std::min(d * sign, 1.0));
  for (std::size_t k = a + 1; k < b; ++k) {
    const double u = (c.times[k] - c.times[a]) / dt;
    double wp = 1 - u, wq = u;
    if (angle > 1e-6) {  // one over the sine is common to both
      wp = std::sin((1 - u) * angle);
      wq = std::sin(u * angle);
    }
    wq *= sign;
    const double x = wp * p.x + wq * q.x, y = wp * p.y + wq * q.y, z = wp * p.z + wq * q.z,
                 w = wp * p.w + wq * q.w;
    const Quat v = c.values[k];
    // The product with the conjugate: its vector part grows with the angle between.
    const double i = w * v.x - x * v.w - y * v.z + z * v.y,
                 j = w * v.y + x * v.z - y * v.w - z * v.x,
                 l = w * v.z - x * v.y + y * v.x - z * v.w,
                 r = w * v.w + x * v.x + y * v.y + z * v.z;
    if (!(i * i + j * j + l * l <= limit * limit * r * r)) return false;
  }
  return true;
}

// From each kept key as far as one segment serves: doubling the stride, then halving it.
template <class T>
Curve<T> thinned(const Curve<T>& c, double tolerance) {
  Curve<T> out;
  out.interp = c.interp;
  const std::size_t last = c.times.size() - 1;
  std::size_t at = 0;
  const auto keep = [&](std::size_t k) {
    out.times.push_back(c.times[k]);
    out.values.push_back(c.values[k]);
  };
  keep(0);
  while (at < last) {
    std::size_t stride = 1;
    while (at + 2 * stride <= last && spans(c, at, at + 2 * stride, tolerance)) stride *= 2;
    for (std::size_t step = stride; step > 0; step /= 2) {
      if (at + stride + step <= last && spans(c, at, at + stride + step, tolerance)) stride += step;
    }
    at += stride;
    keep(at);
  }
  // A track that never leaves its first value needs one key.
  if (out.times.size() == 2 && out.values[0] == out.values[1]) {
    out.times.pop_back();
    out.values.pop_back();
  }
  return out;
}

}  // namespace

Reduced reduce(const Clip& clip, const ReduceOptions& options) {
  Reduced out;
  out.keys_before = key_count(clip);
  // A local error grows along the chain of joints: start small, tighten until the measured one fits.
  double metres = options.max_mm / 1000 / 4, degrees = options.max_degrees / 4;
  CompareOptions compare_options;
  compare_options.rate = 60;  // besides all keys of both, and the middles between them
  Comparer comparer(clip, compare_options);
  for (int attempt = 0; attempt < 6; ++attempt) {
    out.clip = clip;
    for (Track& t : out.clip.tracks) {
      if (auto* v = std::get_if<Curve<Vec3>>(&t.curve); v && v->interp == Interp::linear) {
        *v = thinned(*v, metres);
      } else if (auto* q = std::get_if<Curve<Quat>>(&t.curve); q && q->interp == Interp::linear) {
        *q = thinned(*q, degrees);
      }
    }
    out.keys_after = key_count(out.clip);
    out.error = comparer.with(out.clip);
    const double excess =
        std::max(out.error.max_mm / options.max_mm, out.error.max_degrees / options.max_degrees);
    if (excess <= 1) return out;
    metres *= std::min(0.7, 0.9 / excess);
    degrees *= std::min(0.7, 0.9 / excess);
  }
  out.clip = clip;
  out.keys_after = out.keys_before;
  out.error = {};
  return out;
}

}  // namespace dopesheet
