// Curves to linear ones: at a rate, or as densely as a tolerance asks for.
#include "dopesheet/bake.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "clip/axes.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

double distance(float a, float b) { return std::abs(double{a} - double{b}); }
double distance(Vec3 a, Vec3 b) { return length(a - b); }
double distance(Quat a, Quat b) { return angle_between(a, b); }

float between(float a, float b, double u) { return static_cast<float>(a + u * (double{b} - a)); }
Vec3 between(Vec3 a, Vec3 b, double u) {
  return {between(a.x, b.x, u), between(a.y, b.y, u), between(a.z, b.z, u)};
}
Quat between(Quat a, Quat b, double u) { return slerp(a, b, u); }

// Any curve as a function of time.
template <class T>
class Source {
 public:
  explicit Source(const Curve<T>& c) : curve_(&c), times_(c.times) {}
  explicit Source(const std::array<Curve<float>, 3>& axes) : axes_(&axes) {
    for (const auto& c : axes) times_.insert(times_.end(), c.times.begin(), c.times.end());
    std::sort(times_.begin(), times_.end());
    times_.erase(std::unique(times_.begin(), times_.end()), times_.end());
  }
  const std::vector<double>& times() const { return times_; }
  // The value of a key itself: at a jump, at() gives the last one of its time only.
  T key(std::size_t i) {
    if (curve_ == nullptr) return at(times_[i]);
    if constexpr (std::same_as<T, Quat>) {
      return normalize(curve_->values[i]);
    } else {
      return curve_->values[i];
    }
  }
  // Whether the value of a key stays until the next one, where it jumps.
  bool holds(std::size_t i) const {
    if (curve_ == nullptr) return false;
    const bool is_still = curve_->interp == Interp::slerp_stored && curve_->params[i][0] == 0;
    return curve_->interp == Interp::step || is_still;
  }
  T at(double t) {
    if constexpr (!std::same_as<T, float>) {
      if (axes_ != nullptr) {
        const Vec3 v{evaluate((*axes_)[0], t, hints_[0]), evaluate((*axes_)[1], t, hints_[1]),
                     evaluate((*axes_)[2], t, hints_[2])};
        if constexpr (std::same_as<T, Quat>) {
          return rotation_of_turns(v);
        } else {
          return v;
        }
      }
    }
    return evaluate(*curve_, t, hints_[0]);
  }

 private:
  const Curve<T>* curve_ = nullptr;
  const std::array<Curve<float>, 3>* axes_ = nullptr;
  std::vector<double> times_;
  std::array<std::uint32_t, 3> hints_{};
};

template <class T>
class Baker {
 public:
  Baker(Source<T> source, double tolerance, std::size_t max_keys)
      : source_(std::move(source)), tolerance_(tolerance), max_keys_(max_keys) {}

  Curve<T> adaptive() {
    const auto& times = source_.times();
    add(times[0], source_.key(0));
    for (std::size_t i = 0; i + 1 < times.size(); ++i) {
      const T a = source_.key(i), b = source_.key(i + 1);
      if (times[i + 1] == times[i] || source_.holds(i)) {  // a jump: both values count
        if (times[i + 1] != times[i] && !(a == b)) add(times[i + 1], a);
        add(times[i + 1], b);
      } else {
        split(times[i], times[i + 1], a, b, 0);
      }
    }
    return finish();
  }
  Curve<T> at_rate(double start, double end, double rate) {
    for (std::size_t i = 0; !full_; ++i) {
      const double t = start + static_cast<double>(i) / rate;
      if (end - t < 1e-6 / rate) break;
      add(t, source_.at(t));
    }
    add(end, source_.at(end));
    return finish();
  }
  bool full() const { return full_; }

 private:
  void add(double t, T v) {
    if (curve_.times.size() >= max_keys_) {
      full_ = true;
      return;
    }
    curve_.times.push_back(t);
    curve_.values.push_back(v);
  }
  void split(double t0, double t1, T a, T b, int depth) {
    constexpr int probes = 8, deepest = 12;  // 4,096 keys for one segment at most
    double worst = 0;
    for (int i = 1; i < probes; ++i) {
      const double u = static_cast<double>(i) / probes;
      worst = std::max(worst, distance(source_.at(t0 + u * (t1 - t0)), between(a, b, u)));
    }
    if (worst <= tolerance_ || depth == deepest || full_) return add(t1, b);
    const double middle = t0 + (t1 - t0) / 2;
    const T m = source_.at(middle);
    split(t0, middle, a, m, depth + 1);
    split(middle, t1, m, b, depth + 1);
  }
  Curve<T> finish() {
    curve_.interp = Interp::linear;
    if constexpr (std::same_as<T, Quat>) {
      for (std::size_t i = 1; i < curve_.values.size(); ++i) {
        Quat& q = curve_.values[i];
        if (dot(curve_.values[i - 1], q) < 0) q = {-q.x, -q.y, -q.z, -q.w};
      }
    }
    return std::move(curve_);
  }

  Source<T> source_;
  double tolerance_;
  std::size_t max_keys_;
  Curve<T> curve_;
  bool full_ = false;
};

bool contains(const std::vector<Interp>& list, Interp interp) {
  return std::find(list.begin(), list.end(), interp) != list.end();
}

bool is_kept(const Track& t, const BakeOptions& o) {
  if (const auto* q = std::get_if<Curve<Quat>>(&t.curve))
    return contains(o.keep_rotations, q->interp);
  if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve))
    return contains(o.keep_vectors, v->interp);
  if (const auto* f = std::get_if<Curve<float>>(&t.curve))
    return contains(o.keep_scalars, f->interp);
  return t.channel == Channel::custom;  // three scalars that mean nothing to us
}

// Three cubic axes, where the target takes cubics: exact, and so no baking at all.
void merge_axes(Clip& clip, const BakeOptions& o) {
  if (!contains(o.keep_vectors, Interp::hermite) || o.rate > 0) return;
  for (Track& t : clip.tracks) {
    const auto* axes = std::get_if<std::array<Curve<float>, 3>>(&t.curve);
    if (axes == nullptr || (t.channel != Channel::translation && t.channel != Channel::scale))
      continue;
    if (auto c = merged(*axes, o.limits.keys)) t.curve = std::move(*c);
  }
}

// Local tolerances of one attempt.
struct Tolerance {
  double metres, degrees;
};

class ClipBaker {
 public:
  ClipBaker(const Clip& merged, const BakeOptions& options) : clip_(merged), options_(options) {}

  Clip run(Tolerance tolerance) {
    Clip out = clip_;
    keys_before = keys_after = tracks = 0;
    for (Track& t : out.tracks) {
      if (is_kept(t, options_)) continue;
      ++tracks;
      if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
        t.curve = bake<Quat>(Source<Quat>(*q), tolerance.degrees);
      } else if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
        t.curve = bake<Vec3>(Source<Vec3>(*v), tolerance.metres);
      } else if (const auto* f = std::get_if<Curve<float>>(&t.curve)) {
        t.curve = bake<float>(Source<float>(*f), 1e-3);
      } else if (t.channel == Channel::rotation) {
        const auto axes = std::get<std::array<Curve<float>, 3>>(t.curve);
        t.curve = bake<Quat>(Source<Quat>(axes), tolerance.degrees);
      } else {
        const auto axes = std::get<std::array<Curve<float>, 3>>(t.curve);
        t.curve = bake<Vec3>(Source<Vec3>(axes), tolerance.metres);
      }
    }
    return out;
  }
  std::size_t keys_before = 0, keys_after = 0, tracks = 0;
  bool full = false;

 private:
  template <class T>
  Curve<T> bake(Source<T> source, double tolerance) {
    keys_before += source.times().size();
    const std::size_t room =
        options_.limits.keys > keys_after ? options_.limits.keys - keys_after : 1;
    Baker<T> baker(std::move(source), tolerance, room);
    Curve<T> c =
        options_.rate > 0 ? baker.at_rate(clip_.start, clip_.end, options_.rate) : baker.adaptive();
    full = full || baker.full();
    keys_after += c.times.size();
    return c;
  }
  const Clip& clip_;
  const BakeOptions& options_;
};

}  // namespace

Result<Baked> bake(const Clip& clip, const BakeOptions& options) {
  const auto broken = validate(clip);
  if (!broken.empty()) {
    return tl::unexpected(Error{Code::bad_value, 0, broken[0].path, broken[0].text});
  }
  Baked out;
  Clip merged = clip;
  merge_axes(merged, options);
  if (std::all_of(merged.tracks.begin(), merged.tracks.end(),
                  [&](const Track& t) { return is_kept(t, options); })) {
    out.clip = std::move(merged);
    return out;
  }
  ClipBaker baker(merged, options);
  // A local error grows along the chain of joints: tighten until the measured one fits.
  Tolerance tolerance{options.max_mm / 1000, options.max_degrees};
  constexpr double finest = 1e-4;  // degrees; below it floats are too coarse to tell
  double before = INFINITY;
  for (;;) {
    out.clip = baker.run(tolerance);
    if (baker.full) break;
    out.error = compare(clip, out.clip);
    out.tracks = baker.tracks;
    out.keys_before = baker.keys_before;
    out.keys_after = baker.keys_after;
    const double excess =
        std::max(out.error.max_mm / options.max_mm, out.error.max_degrees / options.max_degrees);
    if (options.rate > 0 || excess <= 1) return out;
    if (tolerance.degrees <= finest || excess > 0.9 * before) break;  // finer does not help
    before = excess;
    const double factor = std::max(std::min(0.5, 0.9 / excess), finest / tolerance.degrees);
    tolerance.metres *= factor;
    tolerance.degrees *= factor;
  }
  if (!baker.full) {
    out.reached = false;
    return out;
  }
  return tl::unexpected(Error{Code::limit, 0, "tracks",
                              fmt::format("baking needs more than {} keys", options.limits.keys)});
}

}  // namespace dopesheet
