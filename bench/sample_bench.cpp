// Poses per second of the plain sampler, in nanoseconds per joint.
#include <benchmark/benchmark.h>

#include <cmath>

#include "dopesheet/dopesheet.hpp"

namespace {

using namespace dopesheet;

// As in Red Faction: Bezier positions, slerped rotations with or without eases, 30 keys a second.
Clip make_clip(std::size_t joints, double seconds, bool eased) {
  Clip clip;
  clip.end = seconds;
  const auto keys = static_cast<std::size_t>(seconds * 30) + 1;
  for (std::size_t j = 0; j < joints; ++j) {
    clip.nodes.emplace_back();
    clip.nodes.back().parent = static_cast<int>(j) - 1;
    Curve<Quat> q;
    q.interp = eased ? Interp::slerp_ease : Interp::linear;
    Curve<Vec3> v;
    v.interp = Interp::bezier;
    for (std::size_t k = 0; k < keys; ++k) {
      const double t = static_cast<double>(k) / 30,
                   half = 0.4 * std::sin(3 * t + static_cast<double>(j));
      q.times.push_back(t);
      q.values.push_back(
          {static_cast<float>(std::sin(half)), 0, 0, static_cast<float>(std::cos(half))});
      if (eased) q.params.push_back({0.3F, 0.2F});
      v.times.push_back(t);
      v.values.push_back({static_cast<float>(half), 1, 0});
      v.in.push_back({static_cast<float>(half) - 0.01F, 1, 0});
      v.out.push_back({static_cast<float>(half) + 0.01F, 1, 0});
    }
    clip.tracks.push_back({j, Channel::rotation, {}, std::move(q), {}});
    clip.tracks.push_back({j, Channel::translation, {}, std::move(v), {}});
  }
  return clip;
}

void sample(benchmark::State& state, bool eased, bool random) {
  const auto joints = static_cast<std::size_t>(state.range(0));
  const Sampler sampler(make_clip(joints, 19, eased));
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(joints);
  std::uint32_t seed = 1;
  double t = 0;
  for (auto _ : state) {
    seed = seed * 1664525 + 1013904223;
    t = random ? 19.0 * seed / 4294967296.0 : std::fmod(t + 1.0 / 60, 19.0);
    sampler.sample(t, cursor, pose);
    benchmark::DoNotOptimize(pose.data());
    benchmark::ClobberMemory();
  }
  state.counters["per_joint"] = benchmark::Counter(
      static_cast<double>(joints),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}
BENCHMARK_CAPTURE(sample, slerp_forward, false, false)->Arg(67)->Arg(368);
BENCHMARK_CAPTURE(sample, slerp_random, false, true)->Arg(67)->Arg(368);
BENCHMARK_CAPTURE(sample, eased_forward, true, false)->Arg(67)->Arg(368);
BENCHMARK_CAPTURE(sample, eased_random, true, true)->Arg(67)->Arg(368);

}  // namespace
