// What the harnesses share. A broken promise ends the program.
#pragma once
#include <cstdio>
#include <cstdlib>

#include "dopesheet/dopesheet.hpp"

inline void promise(bool kept, const char* what) {
  if (kept) return;
  std::fprintf(stderr, "broken promise: %s\n", what);
  std::abort();
}

// Plays clips and exports them; whatever comes out must be sound.
inline void play_and_export(const dopesheet::Clip& clip, const dopesheet::Model* model) {
  using namespace dopesheet;
  const Sampler sampler(clip, Outside::wrap);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(sampler.nodes());
  std::vector<float> weights(sampler.weights());
  for (int i = -1; i <= 4; ++i) {
    sampler.sample(clip.start + i * (clip.end - clip.start) / 3, cursor, pose);
    sampler.sample_weights(clip.start + i * (clip.end - clip.start) / 3, cursor, weights);
  }
  for (const Transform& t : pose) {
    promise(std::abs(dot(t.rotation, t.rotation) - 1) < 1e-3F, "rotations are of unit length");
  }
  GltfOptions options;
  options.bake.limits.keys = 20000;
  const auto gltf = to_gltf({&clip, 1}, model, options);
  if (gltf) promise(gltf->file.size() % 4 == 0, "a GLB is aligned");
  if (!gltf) promise(!gltf.error().text.empty(), "an error has a text");
}
