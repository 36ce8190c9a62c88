// Clips and models to other programs' formats. Exporters know the clip, never a file format's document.
#pragma once
#include "dopesheet/bake.hpp"
#include "dopesheet/model.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {

// What a node's visibility becomes.
enum class GltfVisibility : std::uint8_t {
  scale,  // a scale of 0 while hidden: every program shows it, but a node's own scale track wins
  extension,  // KHR_node_visibility, animated through KHR_animation_pointer: exact, where supported
};

// What glTF has no place for travels in the `extras` of the animation: events as dopesheet_events, tracks
// of custom channels, exact and on the clip's own clock, as dopesheet_tracks.
struct GltfOptions {
  bool separate_buffer = false;  // .gltf with a .bin beside it, instead of one .glb
  std::string buffer_name;       // the uri of that .bin
  BakeOptions bake;              // for rotations with eases and other kinds that glTF lacks
  bool lods = true;              // lower levels of detail as further, unused meshes
  GltfVisibility visibility = GltfVisibility::scale;
};

struct GltfReport {
  std::string clip;
  Baked baked;               // without the clip
  std::vector<Loss> losses;  // what glTF could not hold
};

struct Gltf {
  Bytes file;    // .glb, or .gltf text
  Bytes buffer;  // the .bin, where separate
  std::vector<GltfReport> clips;
};

// One file with the model's meshes and skeleton and one animation per clip. Without a model: a node
// per joint; clips whose joints differ by name or parent get nodes of their own. With one, all clips must
// have as many nodes as the model, or fewer. glTF space: right-handed, Y up,
// metres; times from 0 (the original start goes to extras). The same input gives the same bytes.
Result<Gltf> to_gltf(std::span<const Clip> clips, const Model* model,
                     const GltfOptions& options = {});

struct SampleOptions {
  double rate = 0;  // samples per second from start to end; 0: the clip's frames_per_second
  std::vector<double> times;  // seconds; replaces the rate
};
// The times that the options ask for: start + i / rate while that is before end, and end itself.
std::vector<double> sample_times(const Clip& clip, const SampleOptions& options);
std::vector<Frame> sample_frames(const Clip& clip, std::span<const double> times);

// Poses as text: one object (schema "dopesheet.sample/1", docs/sample.md), or one row per frame and
// joint. Node names through escape_name.
std::string frames_to_json(const Clip& clip, std::span<const Frame> frames);
std::string frames_to_csv(const Clip& clip, std::span<const Frame> frames);

// A name's bytes as UTF-8 text: valid UTF-8 stays, other bytes and backslashes become \xNN. Both ways exact.
std::string escape_name(std::string_view bytes);
std::string unescape_name(std::string_view text);

}  // namespace dopesheet
