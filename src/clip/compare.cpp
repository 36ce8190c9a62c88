// The distance between two clips, measured in object space.
#include "dopesheet/compare.hpp"

#include <algorithm>
#include <cmath>

#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

// A comparison of very long clips or very many joints uses a coarser grid: this many poses of joints.
constexpr double max_grid = 4e5;

void add_times(const Clip& clip, std::vector<double>& times) {
  const auto add = [&](const auto& c) {
    times.insert(times.end(), c.times.begin(), c.times.end());
  };
  for (const Track& t : clip.tracks) {
    if (const auto* axes = std::get_if<std::array<Curve<float>, 3>>(&t.curve)) {
      for (const auto& c : *axes) add(c);
    } else {
      std::visit(
          [&](const auto& c) {
            if constexpr (requires { c.times; }) add(c);
          },
          t.curve);
    }
  }
}

void unique(std::vector<double>& times) {
  std::sort(times.begin(), times.end());
  times.erase(std::unique(times.begin(), times.end()), times.end());
}

// Every key of both clips, the middle between neighbours, and an even grid.
std::vector<double> probe_times(const Clip& a, const Clip& b, double rate) {
  std::vector<double> times{a.start, a.end};
  add_times(a, times);
  add_times(b, times);
  std::erase_if(times, [&](double t) { return !(t >= a.start && t <= a.end); });
  unique(times);
  const std::size_t keys = times.size();
  for (std::size_t i = 0; i + 1 < keys; ++i)
    times.push_back(times[i] + (times[i + 1] - times[i]) / 2);
  const double most = std::max(1000.0, max_grid / static_cast<double>(a.nodes.size() + 1));
  const auto steps = static_cast<std::size_t>(std::clamp((a.end - a.start) * rate, 0.0, most));
  for (std::size_t i = 0; i < steps; ++i) {
    times.push_back(a.start +
                    static_cast<double>(i) * (a.end - a.start) / static_cast<double>(steps));
  }
  unique(times);
  return times;
}

double percentile99(std::vector<float>& v) {
  if (v.empty()) return 0;
  const auto at = v.begin() + static_cast<std::ptrdiff_t>((v.size() - 1) * 99 / 100);
  std::nth_element(v.begin(), at, v.end());
  return *at;
}

// A joint in object space: its axes times their scale, and its rotation without it.
struct Placed {
  Vec3 x, y, z, origin;
  Quat rotation;
  Vec3 scale;
};

Placed placed(const Transform& t) {
  const auto [x, y, z, w] = t.rotation;
  const Vec3 s = t.scale;
  return {s.x * Vec3{1 - 2 * (y * y + z * z), 2 * (x * y + w * z), 2 * (x * z - w * y)},
          s.y * Vec3{2 * (x * y - w * z), 1 - 2 * (x * x + z * z), 2 * (y * z + w * x)},
          s.z * Vec3{2 * (x * z + w * y), 2 * (y * z - w * x), 1 - 2 * (x * x + y * y)},
          t.translation,
          t.rotation,
          s};
}

// A clip, pose by pose in object space.
class Poses {
 public:
  explicit Poses(const Clip& clip)
      : nodes_(clip.nodes),
        sampler_(clip, Outside::clamp),
        cursor_(sampler_.cursor()),
        order_(topological_order(clip.nodes)),
        local_(clip.nodes.size()),
        object_(clip.nodes.size()) {}

  void at(double time) {
    sampler_.sample(time, cursor_, local_);
    for (const std::size_t i : order_) {
      const Transform& l = local_[i];
      if (nodes_[i].parent < 0) {
        object_[i] = placed(l);
        continue;
      }
      const Placed& p = object_[static_cast<std::size_t>(nodes_[i].parent)];
      const Vec3 t = l.translation, s = p.scale;
      object_[i] = placed({p.origin + t.x * p.x + t.y * p.y + t.z * p.z,
                           p.rotation * l.rotation,
                           {s.x * l.scale.x, s.y * l.scale.y, s.z * l.scale.z}});
    }
  }
  const Placed& operator[](std::size_t i) const { return object_[i]; }
  void weights(double time, std::span<float> out) { sampler_.sample_weights(time, cursor_, out); }

 private:
  std::span<const Node> nodes_;
  Sampler sampler_;
  Cursor cursor_;
  std::vector<std::size_t> order_;
  std::vector<Transform> local_;
  std::vector<Placed> object_;
};

float square(Vec3 v) { return v.x * v.x + v.y * v.y + v.z * v.z; }

// The square of the farthest distance between two joints' probe points, `d` metres out on each axis.
float farthest_squared(const Placed& a, const Placed& b, float d) {
  const Vec3 apart = a.origin - b.origin;
  return std::max({square(apart + d * (a.x - b.x)), square(apart + d * (a.y - b.y)),
                   square(apart + d * (a.z - b.z))});
}

// The square of the tangent of half the angle between two rotations: grows with the angle, and costs
// no arc tangent.
float tangent_squared(Quat a, Quat b) {
  // In double: equal rotations are apart by nothing at all.
  const auto d = [](float v) { return static_cast<double>(v); };
  const double x = d(a.w) * b.x - d(a.x) * b.w - d(a.y) * b.z + d(a.z) * b.y;
  const double y = d(a.w) * b.y + d(a.x) * b.z - d(a.y) * b.w - d(a.z) * b.x;
  const double z = d(a.w) * b.z - d(a.x) * b.y + d(a.y) * b.x - d(a.z) * b.w;
  const double w = d(a.w) * b.w + d(a.x) * b.x + d(a.y) * b.y + d(a.z) * b.z;
  return w != 0 ? static_cast<float>((x * x + y * y + z * z) / (w * w)) : INFINITY;
}
double degrees_of(double tangent_squared) {
  return 2 * std::atan(std::sqrt(tangent_squared)) * 57.29577951308232;
}

}  // namespace

ErrorReport compare(const Clip& a, const Clip& b, const CompareOptions& options) {
  ErrorReport report;
  const std::size_t n = std::min(a.nodes.size(), b.nodes.size());
  const std::size_t weights = std::min(a.morph.positions.size(), b.morph.positions.size());
  Poses pa(a), pb(b);
  const auto times = probe_times(a, b, options.rate);
  std::vector<float> ma(weights), mb(weights), distances, angles;  // squares
  distances.reserve(times.size() * n);
  angles.reserve(times.size() * n);
  float far = 0, wide = 0;
  const auto d = static_cast<float>(options.probe_distance);
  for (const double t : times) {
    pa.at(t);
    pb.at(t);
    for (std::size_t i = 0; i < n; ++i) {
      distances.push_back(farthest_squared(pa[i], pb[i], d));
      angles.push_back(tangent_squared(pa[i].rotation, pb[i].rotation));
      wide = std::max(wide, angles.back());
      if (distances.back() > far) {
        far = distances.back();
        report.worst_node = a.nodes[i].name;
        report.worst_time = t;
      }
    }
    if (weights == 0) continue;
    pa.weights(t, ma);
    pb.weights(t, mb);
    for (std::size_t i = 0; i < weights; ++i) {
      report.max_weight = std::max(report.max_weight, double{std::abs(ma[i] - mb[i])});
    }
  }
  report.samples = times.size();
  report.max_mm = 1000 * std::sqrt(double{far});
  report.max_degrees = degrees_of(wide);
  report.p99_mm = 1000 * std::sqrt(percentile99(distances));
  report.p99_degrees = degrees_of(percentile99(angles));
  return report;
}

}  // namespace dopesheet
