// TotemTech animations of about 4 MB in both byte orders: bytes to document and back, and what comes after.
#include <benchmark/benchmark.h>

#include <cmath>

#include "dopesheet/dopesheet.hpp"

namespace {

using namespace dopesheet;

// 60 bones of 1,200 rotation, translation and scale keys; messages; a blinking eye.
totemtech::File big_file(bool big_endian) {
  totemtech::File f;
  f.big_endian = big_endian ? 1 : 0;
  f.length = 20;
  const auto i16 = [](double v) { return static_cast<std::int16_t>(v); };
  for (std::uint32_t b = 0; b < 60; ++b) {
    auto& n = f.nodes.emplace_back();
    n.name = 0x10000 + b;
    for (std::uint16_t k = 0; k < 1200; ++k) {
      const double half = 0.4 * std::sin(0.05 * k + b), x = 1000 * std::sin(0.02 * k + b);
      const auto at = [&](double h) {
        return Quat{static_cast<float>(std::sin(h)), 0, 0, static_cast<float>(std::cos(h))};
      };
      const Params p = totemtech::segment_params(at(half), at(0.4 * std::sin(0.05 * (k + 1) + b)));
      n.rotation.keys.push_back(
          {k, {i16(2000 * std::sin(half)), 0, 0, i16(2000 * std::cos(half))}, 0, p[0], p[1]});
      n.t1.keys.push_back({k, {i16(x), 900, 0}, {20, 0, 0}, {20, 0, 0}});
      n.t3.keys.push_back({k, {1000, 1000, 1000}, {}, {}});
    }
    n.messages.keys = {{30, 0, {{14, b, {}, 0}}}};
  }
  auto& mesh = f.meshes.emplace_back();
  mesh.visibility.interp = totemtech::hold_bit;
  for (std::uint16_t k = 0; k < 1200; ++k)
    mesh.visibility.keys.push_back({k, 0, static_cast<float>(k % 2), 0, 0});
  return f;
}
const Bytes& bytes_of(bool big_endian) {
  static const std::array<Bytes, 2> bytes{*totemtech::write(big_file(false)),
                                          *totemtech::write(big_file(true))};
  return bytes[big_endian ? 1 : 0];
}
void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes_of(false).size()));
}

void totemtech_read(benchmark::State& state) {
  const Bytes& in = bytes_of(state.range(0) != 0);
  for (auto _ : state) {
    auto file = totemtech::read(in);
    benchmark::DoNotOptimize(file->nodes.data());
  }
  count_bytes(state);
}
BENCHMARK(totemtech_read)->ArgName("big_endian")->Arg(0)->Arg(1);

void totemtech_detect(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(totemtech::detect(bytes_of(true))->order);
}
BENCHMARK(totemtech_detect);

void totemtech_write(benchmark::State& state) {
  const totemtech::File file = big_file(state.range(0) != 0);
  for (auto _ : state) {
    auto bytes = totemtech::write(file);
    benchmark::DoNotOptimize(bytes->data());
  }
  count_bytes(state);
}
BENCHMARK(totemtech_write)->ArgName("big_endian")->Arg(0)->Arg(1);

void totemtech_to_clip(benchmark::State& state) {
  const auto file = big_file(false);
  for (auto _ : state) benchmark::DoNotOptimize(totemtech::to_clip(file).tracks.data());
  count_bytes(state);
}
BENCHMARK(totemtech_to_clip)->Unit(benchmark::kMillisecond);

void totemtech_check(benchmark::State& state) {
  const auto file = big_file(false);
  for (auto _ : state) benchmark::DoNotOptimize(totemtech::check(file).data());
  count_bytes(state);
}
BENCHMARK(totemtech_check)->Unit(benchmark::kMillisecond);

void totemtech_export_glb(benchmark::State& state) {
  const Clip clip = totemtech::to_clip(big_file(false));
  for (auto _ : state) {
    auto gltf = to_gltf({&clip, 1}, nullptr);
    benchmark::DoNotOptimize(gltf->file.data());
  }
  count_bytes(state);
}
BENCHMARK(totemtech_export_glb)->Unit(benchmark::kMillisecond);

}  // namespace
