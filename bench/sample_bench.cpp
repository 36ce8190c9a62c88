// Whole poses, in nanoseconds per joint: the packed sampler, a plain evaluation of the same curves one
// by one, and a copy of the result. Names: kind/order/joints/seconds.
//
//   slerp   linear positions, slerped rotations
//   rfa     Bezier positions, rotations slerped with eases, as Red Faction
//   motn    Hermite curves of turns about three axes, as Shenmue
//
// at 30 keys a second that all curves share; *_own: three keys a second, at times of each curve's own,
// denser than the reduced clips of Red Faction.
// Forward and backward step by 1/60 s.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <random>

#include "dopesheet/dopesheet.hpp"

namespace {

using namespace dopesheet;

enum class Kind { slerp, rfa, motn };
enum class Order { forward, backward, random };

class Maker {
 public:
  Maker(Kind kind, bool own, double seconds) : kind_(kind), own_(own), seconds_(seconds) {}

  Clip clip(std::size_t joints) {
    Clip clip;
    clip.end = seconds_;
    for (std::size_t j = 0; j < joints; ++j) {
      clip.nodes.emplace_back();
      clip.nodes.back().parent = static_cast<int>(j) - 1;
      phase_ = static_cast<double>(j);
      if (kind_ == Kind::motn) {
        std::array<Curve<float>, 3> axes{hermite(), hermite(), hermite()};
        clip.tracks.push_back({j, Channel::rotation, {}, std::move(axes), {}});
      } else {
        clip.tracks.push_back({j, Channel::rotation, {}, rotations(), {}});
        clip.tracks.push_back({j, Channel::translation, {}, positions(), {}});
      }
    }
    return clip;
  }

 private:
  double wave(double t) const { return 0.4 * std::sin(3 * t + phase_); }
  std::vector<double> times() {
    std::vector<double> out;
    if (!own_) {
      const int keys = static_cast<int>(seconds_ * 30);
      for (int k = 0; k <= keys; ++k) out.push_back(k / 30.0);
      return out;
    }
    std::uniform_real_distribution<double> when(0, seconds_);
    for (int k = 0; k < std::max(2, static_cast<int>(seconds_ * 3)); ++k)
      out.push_back(when(random_));
    std::sort(out.begin(), out.end());
    return out;
  }
  Curve<float> hermite() {
    Curve<float> c;
    c.interp = Interp::hermite;
    c.times = times();
    for (const double t : c.times) {
      c.values.push_back(static_cast<float>(wave(t)));
      c.in.push_back(static_cast<float>(1.2 * std::cos(3 * t + phase_)));
    }
    c.out = c.in;
    return c;
  }
  Curve<Quat> rotations() {
    Curve<Quat> c;
    c.interp = kind_ == Kind::rfa ? Interp::slerp_ease : Interp::linear;
    c.times = times();
    for (const double t : c.times) {
      const double half = wave(t);
      c.values.push_back(
          {static_cast<float>(std::sin(half)), 0, 0, static_cast<float>(std::cos(half))});
      if (kind_ == Kind::rfa) c.params.push_back({0.3F, 0.2F});
    }
    return c;
  }
  Curve<Vec3> positions() {
    Curve<Vec3> c;
    c.times = times();
    for (const double t : c.times) {
      const auto x = static_cast<float>(wave(t));
      c.values.push_back({x, 1, 0});
      if (kind_ != Kind::rfa) continue;
      c.in.push_back({x - 0.01F, 1, 0});
      c.out.push_back({x + 0.01F, 1, 0});
    }
    if (kind_ == Kind::rfa) c.interp = Interp::bezier;
    return c;
  }

  Kind kind_;
  bool own_;
  double seconds_, phase_ = 0;
  std::mt19937 random_{1};
};

class Times {
 public:
  Times(Order order, double seconds) : order_(order), seconds_(seconds) {}
  double next() {
    seed_ = seed_ * 1664525 + 1013904223;
    if (order_ == Order::random) return seconds_ * seed_ / 4294967296.0;
    t_ += order_ == Order::forward ? 1.0 / 60 : -1.0 / 60;
    if (t_ > seconds_) t_ = 0;
    if (t_ < 0) t_ = seconds_;
    return t_;
  }

 private:
  Order order_;
  double seconds_, t_ = 0;
  std::uint32_t seed_ = 1;
};

void count_joints(benchmark::State& state, std::size_t joints) {
  state.counters["per_joint"] = benchmark::Counter(
      static_cast<double>(joints),
      benchmark::Counter::kIsIterationInvariantRate | benchmark::Counter::kInvert);
}

void sample(benchmark::State& state, Kind kind, bool own, Order order) {
  const auto joints = static_cast<std::size_t>(state.range(0));
  const auto seconds = static_cast<double>(state.range(1));
  const Sampler sampler(Maker(kind, own, seconds).clip(joints));
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(joints);
  Times times(order, seconds);
  for (auto _ : state) {
    sampler.sample(times.next(), cursor, pose);
    benchmark::DoNotOptimize(pose.data());
    benchmark::ClobberMemory();
  }
  count_joints(state, joints);
}

// Curve after curve by evaluate(), which remembers its keys too.
void plain(benchmark::State& state, Kind kind, bool own, Order order) {
  const auto joints = static_cast<std::size_t>(state.range(0));
  const auto seconds = static_cast<double>(state.range(1));
  const Clip clip = Maker(kind, own, seconds).clip(joints);
  std::vector<std::array<std::uint32_t, 3>> hints(clip.tracks.size());
  std::vector<Transform> pose(joints);
  Times times(order, seconds);
  for (auto _ : state) {
    const double t = times.next();
    for (std::size_t i = 0; i < clip.tracks.size(); ++i) {
      const Track& track = clip.tracks[i];
      Transform& out = pose[track.target];
      if (const auto* q = std::get_if<Curve<Quat>>(&track.curve)) {
        out.rotation = evaluate(*q, t, hints[i][0]);
      } else if (const auto* v = std::get_if<Curve<Vec3>>(&track.curve)) {
        out.translation = evaluate(*v, t, hints[i][0]);
      } else {
        const auto& a = std::get<std::array<Curve<float>, 3>>(track.curve);
        out.rotation =
            rotation_of_turns({evaluate(a[0], t, hints[i][0]), evaluate(a[1], t, hints[i][1]),
                               evaluate(a[2], t, hints[i][2])});
      }
    }
    benchmark::DoNotOptimize(pose.data());
    benchmark::ClobberMemory();
  }
  count_joints(state, joints);
}

void copy_pose(benchmark::State& state) {
  const std::vector<Transform> from(static_cast<std::size_t>(state.range(0)));
  std::vector<Transform> to(from.size());
  for (auto _ : state) {
    std::copy(from.begin(), from.end(), to.begin());
    benchmark::DoNotOptimize(to.data());
    benchmark::ClobberMemory();
  }
  count_joints(state, from.size());
}
BENCHMARK(copy_pose)->Name("sample/copy_of_the_result")->Arg(67)->Arg(368)->Arg(1007);

int registered() {
  const std::map<std::string, Kind> kinds{
      {"slerp", Kind::slerp}, {"rfa", Kind::rfa}, {"motn", Kind::motn}};
  const std::map<std::string, Order> orders{
      {"forward", Order::forward}, {"backward", Order::backward}, {"random", Order::random}};
  for (const auto& [kind_name, kind] : kinds) {
    for (const bool own : {false, true}) {
      for (const auto& [order_name, order] : orders) {
        const std::string name = kind_name + (own ? "_own/" : "/") + order_name;
        auto* packed = benchmark::RegisterBenchmark(
            ("sample/" + name).c_str(),
            [kind, own, order](benchmark::State& s) { sample(s, kind, own, order); });
        packed->Args({67, 1})->Args({67, 60})->Args({368, 20})->Args({1007, 20});
        if (order == Order::backward) continue;
        benchmark::RegisterBenchmark(
            ("sample_plain/" + name).c_str(),
            [kind, own, order](benchmark::State& s) { plain(s, kind, own, order); })
            ->Args({67, 60})
            ->Args({1007, 20});
      }
    }
  }
  return 0;
}
const int all = registered();

}  // namespace
