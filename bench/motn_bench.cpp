// A Shenmue bank of about 1.8 MB: bytes to documents and back, decoded, and posed.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>

#include "dopesheet/dopesheet.hpp"

namespace {

using namespace dopesheet;

void fail(const Error& error) {
  std::fprintf(stderr, "%s\n", to_string(error).c_str());
  std::exit(1);
}

// As many motions, curves and keys as the known bank: a person who sways.
const motn::Bank& big_bank() {
  static const motn::Bank bank = [] {
    motn::Bank b;
    for (int m = 0; m < 1300; ++m) {
      const int frames = 30 + m % 60;
      std::vector<motn::DecodedCurve> curves;
      const auto add = [&](int bone, Channel channel, double base, double swing) {
        for (int axis = 0; axis < 3; ++axis) {
          motn::DecodedCurve c{bone, axis, channel, {}};
          for (int f = 0; f < frames; f += 12) {
            const double a = 0.2 * f + bone + axis;
            const auto slope = static_cast<float>(6 * swing * std::cos(a));
            c.keys.push_back(
                {f, static_cast<float>(base + swing * std::sin(a)), slope, slope, -1, {}});
          }
          if (c.keys.back().frame != frames - 1) {
            c.keys.push_back(c.keys.back());
            c.keys.back().frame = frames - 1;
          }
          curves.push_back(std::move(c));
        }
      };
      add(0, Channel::translation, 0.9, 0.02);
      for (const int target : {8, 15, 29, 35}) add(target, Channel::translation, 0.3, 0.1);
      for (const int control : {1, 4, 9, 11, 16, 18, 21, 25, 30, 31, 36})
        add(control, Channel::rotation, 0, 0.05);
      motn::Motion motion;
      motion.name = "MOTION_" + std::to_string(m);
      motion.sequence = *motn::encode(curves, frames, 0);
      motion.extra.ops = {{0, Bytes(motn::op_size(0) - 1)}};
      // Inserting one by one would lay the bank out 1300 times.
      b.names.push_back({motion.name});
      b.sequences.push_back(motion.sequence);
      b.sequence_offsets.push_back(static_cast<std::uint32_t>(m));
      b.table.push_back({static_cast<std::uint32_t>(m), 0});
      if (m == 0) b.extras.push_back(motion.extra);
    }
    b.extra_offsets = {0};
    b.name_offsets.resize(b.names.size());
    b.count = static_cast<std::uint32_t>(b.table.size() + 1);
    motn::layout(b).or_else([](const Error& e) { fail(e); });
    return b;
  }();
  return bank;
}
const Bytes& big_bytes() {
  static const Bytes bytes = [] {
    auto out = motn::write(big_bank());
    if (!out) fail(out.error());
    return *out;
  }();
  return bytes;
}
void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * big_bytes().size()));
}

void motn_read(benchmark::State& state) {
  for (auto _ : state) {
    auto bank = motn::read(big_bytes());
    benchmark::DoNotOptimize(bank->table.data());
  }
  count_bytes(state);
}
BENCHMARK(motn_read)->Unit(benchmark::kMicrosecond);

// The game's own bank, where DOPESHEET_SAMPLES names a folder that has it.
const bool has_real_bank = [] {
  const char* folder = std::getenv("DOPESHEET_SAMPLES");
  if (folder == nullptr) return false;
  std::ifstream file(std::string(folder) + "/motn/motion.bin", std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(file), {}};
  if (text.empty()) return false;
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  benchmark::RegisterBenchmark("motn_read_real", [bytes = Bytes(first, first + text.size())](
                                                     benchmark::State& state) {
    for (auto _ : state) {
      auto bank = motn::read(bytes);
      benchmark::DoNotOptimize(bank->table.data());
    }
    state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
  })->Unit(benchmark::kMicrosecond);
  return true;
}();

void motn_write(benchmark::State& state) {
  for (auto _ : state) {
    auto bytes = motn::write(big_bank());
    benchmark::DoNotOptimize(bytes->data());
  }
  count_bytes(state);
}
BENCHMARK(motn_write)->Unit(benchmark::kMicrosecond);

void motn_to_clips(benchmark::State& state) {
  for (auto _ : state) {
    for (std::size_t i = 0; i < big_bank().table.size(); ++i)
      benchmark::DoNotOptimize(motn::to_clip(big_bank(), i).tracks.data());
  }
  count_bytes(state);
}
BENCHMARK(motn_to_clips)->Unit(benchmark::kMillisecond);

// One pose of the human rig, from what the curves give.
void motn_solve_pose(benchmark::State& state) {
  const auto& rig = shenmue::default_rig();
  auto pose = shenmue::rest_pose(rig);
  pose.set_position(0, {0, 0.9, 0});
  pose.set_position(8, {0.1, 0.2, 0.1});
  pose.set_position(15, {-0.1, 0.12, -0.2});
  pose.set_position(29, {-0.3, 0.9, -0.2});
  pose.set_position(35, {0.3, 1.0, -0.1});
  for (const std::size_t control : {1, 4, 9, 11, 16, 18, 21, 25, 30, 31, 36})
    pose.set_turn(control, 1, 0.03);
  std::array<Transform, shenmue::control_count> world;
  for (auto _ : state) {
    shenmue::solve(rig, pose, {}, world);
    benchmark::DoNotOptimize(world.data());
    benchmark::ClobberMemory();
  }
}
BENCHMARK(motn_solve_pose);

// A motion of two seconds: 240 poses solved, and reduced to 0.1 mm.
void motn_solve_and_reduce(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(motn::solve(big_bank(), 29)->keys_after);
}
BENCHMARK(motn_solve_and_reduce)->Unit(benchmark::kMicrosecond);

}  // namespace
