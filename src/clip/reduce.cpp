// Key reduction: as few keys as a tolerance allows, each one a sample of the source.
#include "dopesheet/reduce.hpp"

#include <algorithm>
#include <cmath>

#include "clip/comparer.hpp"
#include "clip/levers.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

constexpr double radians = 0.017453292519943295;

using Four = std::array<double, 4>;
Four four(Vec3 v) { return {v.x, v.y, v.z, 0}; }
Four four(Quat q) { return {q.x, q.y, q.z, q.w}; }
void set(const Four& f, Vec3& v) {
  v = {static_cast<float>(f[0]), static_cast<float>(f[1]), static_cast<float>(f[2])};
}
void set(const Four& f, Quat& q) {
  q = {static_cast<float>(f[0]), static_cast<float>(f[1]), static_cast<float>(f[2]),
       static_cast<float>(f[3])};
}
template <class T>
T zero() {
  T out;
  set(Four{}, out);
  return out;
}

// Whether `p` is near enough to `want`; quaternions need not be of unit length.
bool is_near(const Four& p, Vec3 want, double metres) {
  const double x = p[0] - want.x, y = p[1] - want.y, z = p[2] - want.z;
  return x * x + y * y + z * z <= metres * metres;
}
bool is_near(const Four& p, Quat v, double tangent) {  // of half the angle
  const auto [x, y, z, w] = p;
  // The product with the conjugate: its vector part grows with the angle between.
  const double i = w * v.x - x * v.w - y * v.z + z * v.y, j = w * v.y + x * v.z - y * v.w - z * v.x,
               k = w * v.z - x * v.y + y * v.x - z * v.w, r = w * v.w + x * v.x + y * v.y + z * v.z;
  return i * i + j * j + k * k <= tangent * tangent * r * r && r > 0;
}

// A segment from sample `a` to sample `b`, as it will be played.
class Line {
 public:
  static constexpr bool is_checked_between = false;  // the source is straight there, too
  Line(const Curve<Vec3>& c, std::size_t a, std::size_t b)
      : p_(four(c.values[a])), q_(four(c.values[b])) {}
  Line(const Curve<Quat>& c, std::size_t a, std::size_t b)
      : p_(four(c.values[a])), q_(four(c.values[b])) {
    double d = 0;
    for (std::size_t i = 0; i < 4; ++i) d += p_[i] * q_[i];
    if (d < 0) {
      for (double& v : q_) v = -v;
    }
    angle_ = std::acos(std::min(std::abs(d), 1.0));
  }
  Four at(double u) const {
    double wp = 1 - u, wq = u;
    if (angle_ > 1e-6) {  // one over the sine is common to both
      wp = std::sin((1 - u) * angle_);
      wq = std::sin(u * angle_);
    }
    Four out;
    for (std::size_t i = 0; i < 4; ++i) out[i] = wp * p_[i] + wq * q_[i];
    return out;
  }

 private:
  Four p_, q_;
  double angle_ = 0;
};

class Cubic {
 public:
  static constexpr bool is_checked_between = true;
  template <class T>
  Cubic(const Curve<T>& c, std::size_t a, std::size_t b)
      : p_(four(c.values[a])), q_(four(c.values[b])), out_(four(c.out[a])), in_(four(c.in[b])) {
    for (double& v : out_) v *= c.times[b] - c.times[a];
    for (double& v : in_) v *= c.times[b] - c.times[a];
  }
  Four at(double u) const {
    const double u2 = u * u, u3 = u2 * u;
    Four r;
    for (std::size_t i = 0; i < 4; ++i) {
      r[i] = (2 * u3 - 3 * u2 + 1) * p_[i] + (u3 - 2 * u2 + u) * out_[i] +
             (3 * u2 - 2 * u3) * q_[i] + (u3 - u2) * in_[i];
    }
    return r;
  }

 private:
  Four p_, q_, out_, in_;
};

// Halfway between two neighbouring samples.
template <class T>
T middle(const Curve<T>& c, std::size_t k) {
  T m;
  Four v = four(c.values[k]);
  const Four w = four(c.values[k + 1]);
  for (std::size_t i = 0; i < 4; ++i) v[i] = (v[i] + w[i]) / 2;
  set(v, m);
  return m;
}

// Whether the samples between `a` and `b` may go.
template <class Segment, class T>
bool spans(const Curve<T>& c, std::size_t a, std::size_t b, double tolerance) {
  const double dt = c.times[b] - c.times[a];
  if (!(dt > 0)) return false;
  const Segment segment(c, a, b);
  for (std::size_t k = a; k < b; ++k) {
    const double u = (c.times[k] - c.times[a]) / dt;
    if (k > a && !is_near(segment.at(u), c.values[k], tolerance)) return false;
    if constexpr (Segment::is_checked_between) {
      const double half = (c.times[k + 1] - c.times[k]) / dt / 2;
      if (!is_near(segment.at(u + half), middle(c, k), tolerance)) return false;
    }
  }
  return true;
}

// From each kept sample as far as one segment serves: doubling the stride, then halving it.
template <class Segment, class T>
Curve<T> thinned(const Curve<T>& c, double tolerance) {
  Curve<T> out;
  out.interp = c.interp;
  const std::size_t last = c.times.size() - 1;
  std::size_t at = 0;
  const auto keep = [&](std::size_t k) {
    out.times.push_back(c.times[k]);
    out.values.push_back(c.values[k]);
    if (c.in.empty()) return;
    out.in.push_back(c.in[k]);
    out.out.push_back(c.out[k]);
  };
  keep(0);
  while (at < last) {
    std::size_t stride = 1;
    while (at + 2 * stride <= last && spans<Segment>(c, at, at + 2 * stride, tolerance))
      stride *= 2;
    for (std::size_t step = stride; step > 0; step /= 2) {
      if (at + stride + step <= last && spans<Segment>(c, at, at + stride + step, tolerance))
        stride += step;
    }
    const std::size_t from = at;
    at += stride;
    keep(at);
    if (!c.in.empty() && stride == 1 && !spans<Segment>(c, from, at, tolerance)) {
      // Slopes across a corner or a jump of the source lead astray: this one segment is a line.
      const Four a = four(c.values[from]), b = four(c.values[at]);
      const double dt = c.times[at] - c.times[from];
      Four slope{};
      for (std::size_t i = 0; i < 4 && dt > 0; ++i) slope[i] = (b[i] - a[i]) / dt;
      set(slope, out.out[out.out.size() - 2]);
      set(slope, out.in.back());
    }
  }
  // A track that never leaves its first value needs one key.
  const bool is_still = out.times.size() == 2 && out.values[0] == out.values[1] &&
                        (out.in.empty() || (out.out[0] == zero<T>() && out.in[1] == zero<T>()));
  if (is_still) {
    out.times.pop_back();
    out.values.pop_back();
    if (!out.in.empty()) {
      out.in.pop_back();
      out.out.pop_back();
    }
  }
  return out;
}

// ---- samples of any curve

void align(std::vector<Vec3>&) {}
void align(std::vector<Quat>& values) {  // neighbours in one hemisphere
  for (std::size_t i = 1; i < values.size(); ++i) {
    Quat& q = values[i];
    if (dot(values[i - 1], q) < 0) q = {-q.x, -q.y, -q.z, -q.w};
  }
}

template <class T>
Curve<T> sampled(const std::vector<double>& keys, const Clip& clip, double rate, auto&& value) {
  const double start = clip.start, end = clip.end;
  std::vector<double> times = keys;
  times.insert(times.end(), {start, end});
  const auto steps = static_cast<std::size_t>(std::max(0.0, std::ceil((end - start) * rate)));
  for (std::size_t i = 0; i < steps; ++i) times.push_back(start + static_cast<double>(i) / rate);
  std::erase_if(times, [&](double t) { return !(t >= start && t <= end); });
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
  Curve<T> out;
  out.interp = Interp::linear;
  for (const double t : times) {
    // At a jump both values count: what the curve comes from, a moment before, and what it goes on with.
    const bool twice = std::upper_bound(keys.begin(), keys.end(), t) -
                           std::lower_bound(keys.begin(), keys.end(), t) >
                       1;
    if (twice && t > start) {
      out.times.push_back(t);
      out.values.push_back(value(std::nextafter(t, start)));
    }
    out.times.push_back(t);
    out.values.push_back(value(t));
  }
  align(out.values);
  return out;
}

// Derivatives on either side of each sample, by the parabola through it and the two before or after.
template <class T>
void add_slopes(Curve<T>& c) {
  const std::size_t n = c.times.size();
  c.interp = Interp::hermite;
  c.in.assign(n, zero<T>());
  c.out = c.in;
  const auto slope = [&](std::size_t at, std::size_t near, std::size_t far, bool has_far) {
    const Four p = four(c.values[at]), q = four(c.values[near]);
    const double h = c.times[near] - c.times[at];
    Four out{};
    for (std::size_t i = 0; i < 4; ++i) out[i] = (q[i] - p[i]) / h;
    if (!has_far) return out;
    const Four r = four(c.values[far]);
    const double g = c.times[far] - c.times[at];
    for (std::size_t i = 0; i < 4; ++i) {
      const double further = (r[i] - p[i]) / g;
      out[i] += (out[i] - further) * h / (g - h);
    }
    return out;
  };
  const auto apart = [&](std::size_t a, std::size_t b) { return c.times[b] > c.times[a]; };
  for (std::size_t k = 0; k < n; ++k) {
    if (k > 0 && apart(k - 1, k))
      set(slope(k, k - 1, k - 2, k > 1 && apart(k - 2, k - 1)), c.in[k]);
    if (k + 1 < n && apart(k, k + 1))
      set(slope(k, k + 1, k + 2, k + 2 < n && apart(k + 1, k + 2)), c.out[k]);
  }
}

using Axes = std::array<Curve<float>, 3>;

std::vector<double> times_of(const Axes& axes) {
  std::vector<double> out;
  for (const auto& c : axes) out.insert(out.end(), c.times.begin(), c.times.end());
  std::sort(out.begin(), out.end());
  return out;
}

// A track as a dense linear curve; false for what cannot be one. Linear ones are dense enough as they are.
bool make_dense(Track& t, const Clip& clip, double rate) {
  std::array<std::uint32_t, 3> hints{};
  const auto resample = [&](auto& c) {
    using T = std::remove_cvref_t<decltype(c.values[0])>;
    if (c.interp == Interp::step) return false;
    if (c.interp != Interp::linear) {
      c = sampled<T>(c.times, clip, rate, [&](double time) { return evaluate(c, time, hints[0]); });
    }
    return true;
  };
  if (auto* v = std::get_if<Curve<Vec3>>(&t.curve)) return resample(*v);
  if (auto* q = std::get_if<Curve<Quat>>(&t.curve)) return resample(*q);
  const auto* axes = std::get_if<Axes>(&t.curve);
  if (axes == nullptr || t.channel == Channel::custom) return false;
  const Axes source = *axes;
  const auto at = [&](double time) {
    return Vec3{evaluate(source[0], time, hints[0]), evaluate(source[1], time, hints[1]),
                evaluate(source[2], time, hints[2])};
  };
  if (t.channel == Channel::rotation) {
    t.curve = sampled<Quat>(times_of(source), clip, rate,
                            [&](double time) { return rotation_of_turns(at(time)); });
  } else {
    t.curve = sampled<Vec3>(times_of(source), clip, rate, at);
  }
  return true;
}

bool is_linear(const Track& t) {
  const auto* v = std::get_if<Curve<Vec3>>(&t.curve);
  const auto* q = std::get_if<Curve<Quat>>(&t.curve);
  return (v != nullptr && v->interp == Interp::linear) ||
         (q != nullptr && q->interp == Interp::linear);
}

// The tracks to thin, dense, with their places in the clip.
std::vector<std::pair<std::size_t, Track>> dense_tracks(const Clip& clip,
                                                        const ReduceOptions& options) {
  std::vector<std::pair<std::size_t, Track>> out;
  for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
    if (options.fit == Fit::keep && !is_linear(clip.tracks[i])) continue;
    Track t = clip.tracks[i];
    if (!make_dense(t, clip, options.rate)) continue;
    if (options.fit == Fit::cubic) {
      if (auto* v = std::get_if<Curve<Vec3>>(&t.curve)) add_slopes(*v);
      if (auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
        align(q->values);
        add_slopes(*q);
      }
    }
    out.emplace_back(i, std::move(t));
  }
  return out;
}

void thin(Track& t, const Track& dense, Fit fit, double metres, double degrees, double lever) {
  const double tangent = std::min(std::tan(degrees * radians / 2), metres / lever / 2);
  if (const auto* v = std::get_if<Curve<Vec3>>(&dense.curve)) {
    t.curve = fit == Fit::cubic ? thinned<Cubic>(*v, metres) : thinned<Line>(*v, metres);
  } else if (const auto* q = std::get_if<Curve<Quat>>(&dense.curve)) {
    t.curve = fit == Fit::cubic ? thinned<Cubic>(*q, tangent) : thinned<Line>(*q, tangent);
  }
}

}  // namespace

Reduced reduce(const Clip& clip, const ReduceOptions& options) {
  Reduced out;
  out.keys_before = key_count(clip);
  const auto dense = dense_tracks(clip, options);
  // A local error grows along the chain of joints: start small, tighten until the measured one fits.
  double metres = options.max_mm / 1000 / 2, degrees = options.max_degrees / 2;
  const auto lever = levers(clip.nodes);
  CompareOptions compare_options;
  compare_options.rate = options.rate;
  Comparer comparer(clip, compare_options);
  for (int attempt = 0; attempt < 8; ++attempt) {
    out.clip = clip;
    for (const auto& [i, track] : dense) {
      const double reach = track.target < lever.size() ? lever[track.target] : 1;
      thin(out.clip.tracks[i], track, options.fit, metres, degrees, reach);
    }
    out.keys_after = key_count(out.clip);
    out.error = comparer.with(out.clip);
    const double excess =
        std::max(out.error.max_mm / options.max_mm, out.error.max_degrees / options.max_degrees);
    if (excess <= 1) return out;
    metres *= std::min(0.9, 0.95 / excess);
    degrees *= std::min(0.9, 0.95 / excess);
  }
  out.clip = clip;
  out.keys_after = out.keys_before;
  out.error = {};
  return out;
}

}  // namespace dopesheet
