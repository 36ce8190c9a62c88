// Red Faction clips of about 3.6 MB: bytes to document and back, to a clip, to glTF; a plain copy of the
// same bytes stands beside them.
#include <benchmark/benchmark.h>

#include <cmath>
#include <cstring>

#include "dopesheet/dopesheet.hpp"

namespace {

using namespace dopesheet;

// 50 bones of 2,000 rotation and 1,000 position keys: smooth motion of unit quaternions.
const rfa::File& big_file() {
  static const rfa::File file = [] {
    rfa::File f;
    f.start_time = 160;
    f.end_time = 160 + 2000 * 160;
    for (int b = 0; b < 50; ++b) {
      auto& bone = f.bones.emplace_back();
      for (int k = 0; k < 2000; ++k) {
        const double half = 0.4 * std::sin(0.05 * k + b);
        const auto c = [](double v) { return static_cast<std::int16_t>(v * 16383); };
        bone.rotation_keys.push_back(
            {160 + k * 160, {c(std::sin(half)), 0, 0, c(std::cos(half))}, 0, 0, 0});
      }
      for (int k = 0; k < 1000; ++k) {
        const auto x = static_cast<float>(std::sin(0.02 * k + b));
        bone.position_keys.push_back({160 + k * 320, {x, 1, 0}, {x, 1, 0}, {x, 1, 0}});
      }
    }
    rfa::layout(f);
    return f;
  }();
  return file;
}
const Bytes& big_bytes() {
  static const Bytes bytes = *rfa::write(big_file());
  return bytes;
}
void count_bytes(benchmark::State& state) {
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * big_bytes().size()));
}

void copy_bytes(benchmark::State& state) {
  const Bytes& in = big_bytes();
  Bytes out(in.size());
  for (auto _ : state) {
    std::memcpy(out.data(), in.data(), in.size());
    benchmark::DoNotOptimize(out.data());
    benchmark::ClobberMemory();
  }
  count_bytes(state);
}
BENCHMARK(copy_bytes);

// The copy that a reader cannot avoid: into memory that it has to ask for.
void copy_to_new_vector(benchmark::State& state) {
  for (auto _ : state) {
    Bytes out = big_bytes();
    benchmark::DoNotOptimize(out.data());
  }
  count_bytes(state);
}
BENCHMARK(copy_to_new_vector);

void read(benchmark::State& state) {
  for (auto _ : state) {
    auto file = rfa::read(big_bytes());
    benchmark::DoNotOptimize(file->bones.data());
  }
  count_bytes(state);
}
BENCHMARK(read);

void write(benchmark::State& state) {
  for (auto _ : state) {
    auto bytes = rfa::write(big_file());
    benchmark::DoNotOptimize(bytes->data());
  }
  count_bytes(state);
}
BENCHMARK(write);

void to_json(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(rfa::to_json(big_file()).data());
  count_bytes(state);
}
BENCHMARK(to_json)->Unit(benchmark::kMillisecond);

void from_json(benchmark::State& state) {
  const std::string json = rfa::to_json(big_file());
  for (auto _ : state) {
    auto file = rfa::from_json(json);
    benchmark::DoNotOptimize(file->bones.data());
  }
  count_bytes(state);
}
BENCHMARK(from_json)->Unit(benchmark::kMillisecond);

void to_clip(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(rfa::to_clip(big_file()).tracks.data());
  count_bytes(state);
}
BENCHMARK(to_clip)->Unit(benchmark::kMillisecond);

void check(benchmark::State& state) {
  for (auto _ : state) benchmark::DoNotOptimize(rfa::check(big_file()).data());
  count_bytes(state);
}
BENCHMARK(check)->Unit(benchmark::kMillisecond);

void export_glb(benchmark::State& state) {
  const Clip clip = rfa::to_clip(big_file());
  for (auto _ : state) {
    auto gltf = to_gltf({&clip, 1}, nullptr);
    benchmark::DoNotOptimize(gltf->file.data());
  }
  count_bytes(state);
}
BENCHMARK(export_glb)->Unit(benchmark::kMillisecond);

}  // namespace
