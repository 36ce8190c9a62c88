// The distance between two clips, measured in object space.
#include <algorithm>
#include <cmath>

#include "clip/comparer.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

// A comparison of very long clips or very many joints uses a coarser grid: this many poses of joints.
constexpr double max_grid = 4e5;

void add_times(const Clip& clip, std::vector<double>& times) {
  const std::vector<double>* last = nullptr;  // many curves have the same times
  const auto add = [&](const auto& c) {
    if (last != nullptr && *last == c.times) return;
    times.insert(times.end(), c.times.begin(), c.times.end());
    last = &c.times;
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

Placed place(const Transform& t) {
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
        object_[i] = place(l);
        continue;
      }
      const Placed& p = object_[static_cast<std::size_t>(nodes_[i].parent)];
      const Vec3 t = l.translation, s = p.scale;
      object_[i] = place({p.origin + t.x * p.x + t.y * p.y + t.z * p.z,
                          p.rotation * l.rotation,
                          {s.x * l.scale.x, s.y * l.scale.y, s.z * l.scale.z}});
    }
  }
  std::span<const Placed> placed() const { return object_; }
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

// Collects what the poses of two clips differ by.
class Differences {
 public:
  Differences(const Clip& a, const Clip& b, const CompareOptions& options, std::size_t times)
      : a_(a),
        joints_(std::min(a.nodes.size(), b.nodes.size())),
        weights_a_(std::min(a.morph.positions.size(), b.morph.positions.size())),
        weights_b_(weights_a_.size()),
        distance_(static_cast<float>(options.probe_distance)) {
    report_.samples = times;
    distances_.reserve(times * joints_);
    angles_.reserve(times * joints_);
  }
  void joints(double time, std::span<const Placed> a, std::span<const Placed> b) {
    for (std::size_t i = 0; i < joints_; ++i) {
      const float far = farthest_squared(a[i], b[i], distance_);
      const float wide = tangent_squared(a[i].rotation, b[i].rotation);
      distances_.push_back(far);
      angles_.push_back(wide);
      wide_ = std::max(wide_, wide);
      if (far > far_) {
        far_ = far;
        report_.worst_node = a_.nodes[i].name;
        report_.worst_time = time;
      }
    }
  }
  void weights(double time, Poses& a, Poses& b) {
    if (weights_a_.empty()) return;
    a.weights(time, weights_a_);
    b.weights(time, weights_b_);
    for (std::size_t i = 0; i < weights_a_.size(); ++i) {
      report_.max_weight =
          std::max(report_.max_weight, double{std::abs(weights_a_[i] - weights_b_[i])});
    }
  }
  ErrorReport report() {
    report_.max_mm = 1000 * std::sqrt(double{far_});
    report_.max_degrees = degrees_of(wide_);
    report_.p99_mm = 1000 * std::sqrt(percentile99(distances_));
    report_.p99_degrees = degrees_of(percentile99(angles_));
    return std::move(report_);
  }

 private:
  const Clip& a_;
  std::size_t joints_;
  std::vector<float> weights_a_, weights_b_, distances_, angles_;  // squares
  float distance_, far_ = 0, wide_ = 0;
  ErrorReport report_;
};

}  // namespace

ErrorReport compare(const Clip& a, const Clip& b, const CompareOptions& options) {
  Poses pa(a), pb(b);
  const auto times = probe_times(a, b, options.rate);
  Differences differences(a, b, options, times.size());
  for (const double t : times) {
    pa.at(t);
    pb.at(t);
    differences.joints(t, pa.placed(), pb.placed());
    differences.weights(t, pa, pb);
  }
  return differences.report();
}

struct Comparer::Kept {
  explicit Kept(const Clip& clip) : poses(clip) {}
  Poses poses;
  std::vector<double> times;
  std::vector<Placed> placed;  // of all joints at each time
};

Comparer::Comparer(const Clip& clip, const CompareOptions& options)
    : clip_(clip), options_(options), kept_(std::make_unique<Kept>(clip)) {}
Comparer::~Comparer() = default;

ErrorReport Comparer::with(const Clip& other) {
  constexpr std::size_t most_kept = 200'000;  // joints at a time, of about 70 bytes
  auto times = probe_times(clip_, other, options_.rate);
  const std::size_t joints = clip_.nodes.size();
  if (times.size() * joints > most_kept || !clip_.morph.positions.empty())
    return compare(clip_, other, options_);
  Kept& k = *kept_;
  if (k.times != times) {
    k.times = std::move(times);
    k.placed.clear();
    for (const double t : k.times) {
      k.poses.at(t);
      k.placed.insert(k.placed.end(), k.poses.placed().begin(), k.poses.placed().end());
    }
  }
  Poses poses(other);
  Differences differences(clip_, other, options_, k.times.size());
  for (std::size_t i = 0; i < k.times.size(); ++i) {
    poses.at(k.times[i]);
    differences.joints(k.times[i], std::span(k.placed).subspan(i * joints, joints), poses.placed());
  }
  return differences.report();
}

}  // namespace dopesheet
