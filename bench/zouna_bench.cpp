// A Zouna animation of about 4 MB in either byte order: bytes to document and back.
#include <benchmark/benchmark.h>

#include "dopesheet/dopesheet.hpp"

namespace {

using namespace dopesheet;

// 60 bones of 1,000 rotation, translation and scale keys.
Bytes big_bytes(bool big_endian) {
  zouna::File f;
  f.envelope.big_endian = big_endian ? 1 : 0;
  f.body.max_time = 40;
  for (std::size_t b = 0; b < 60; ++b) {
    auto& node = f.body.nodes.emplace_back();
    node.name = static_cast<std::uint32_t>(b);
    node.rotation = node.translation = node.scale = {static_cast<std::uint16_t>(b * 1000), 1000};
    for (int k = 0; k < 1000; ++k) {
      const float t = static_cast<float>(k) / 25;
      const auto c = static_cast<std::int16_t>(k);
      f.body.rotation.push_back({t, {c, 0, 0, 1900}});
      f.body.translation.keys.push_back({t, {c, c, c}, {c, c, c}, {c, c, c}});
      f.body.scale.keys.push_back({t, {4096, 4096, 4096}});
    }
  }
  return *zouna::write(f);
}

void zouna_read(benchmark::State& state) {
  const Bytes bytes = big_bytes(state.range(0) != 0);
  for (auto _ : state) {
    auto file = zouna::read(bytes);
    benchmark::DoNotOptimize(file->body.rotation.data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(zouna_read)->ArgName("big_endian")->Arg(0)->Arg(1);

void zouna_write(benchmark::State& state) {
  const Bytes bytes = big_bytes(state.range(0) != 0);
  const auto file = *zouna::read(bytes);
  for (auto _ : state) {
    auto out = zouna::write(file);
    benchmark::DoNotOptimize(out->data());
  }
  state.SetBytesProcessed(static_cast<std::int64_t>(state.iterations() * bytes.size()));
}
BENCHMARK(zouna_write)->ArgName("big_endian")->Arg(0)->Arg(1);

}  // namespace
