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

}  // namespace

ErrorReport compare(const Clip& a, const Clip& b, const CompareOptions& options) {
  ErrorReport report;
  const std::size_t n = std::min(a.nodes.size(), b.nodes.size());
  const std::size_t weights = std::min(a.morph.positions.size(), b.morph.positions.size());
  const Sampler sa(a, Outside::clamp), sb(b, Outside::clamp);
  Cursor ca = sa.cursor(), cb = sb.cursor();
  const auto oa = topological_order(a.nodes), ob = topological_order(b.nodes);
  std::vector<Transform> la(a.nodes.size()), lb(b.nodes.size()), wa(la.size()), wb(lb.size());
  std::vector<float> ma(weights), mb(weights), mm, degrees;
  const auto d = static_cast<float>(options.probe_distance);
  for (const double t : probe_times(a, b, options.rate)) {
    sa.sample(t, ca, la);
    sb.sample(t, cb, lb);
    to_object_space(a.nodes, oa, la, wa);
    to_object_space(b.nodes, ob, lb, wb);
    for (std::size_t i = 0; i < n; ++i) {
      float far = 0;
      for (const Vec3 axis : {Vec3{d, 0, 0}, Vec3{0, d, 0}, Vec3{0, 0, d}}) {
        const Transform probe{axis, {}, {1, 1, 1}};
        far = std::max(far, length((wa[i] * probe).translation - (wb[i] * probe).translation));
      }
      mm.push_back(far * 1000);
      degrees.push_back(static_cast<float>(angle_between(wa[i].rotation, wb[i].rotation)));
      report.max_degrees = std::max(report.max_degrees, double{degrees.back()});
      if (mm.back() > report.max_mm) {
        report.max_mm = mm.back();
        report.worst_node = a.nodes[i].name;
        report.worst_time = t;
      }
    }
    sa.sample_weights(t, ca, ma);
    sb.sample_weights(t, cb, mb);
    for (std::size_t i = 0; i < weights; ++i) {
      report.max_weight = std::max(report.max_weight, double{std::abs(ma[i] - mb[i])});
    }
    ++report.samples;
  }
  report.p99_mm = percentile99(mm);
  report.p99_degrees = percentile99(degrees);
  return report;
}

}  // namespace dopesheet
