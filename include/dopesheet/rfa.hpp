// Red Faction (2001) character animation, .rfa ("VMVF", versions 7 and 8).
// What the bytes mean, and how sure each statement is, stands in docs/formats/rfa.md.
#pragma once
#include <optional>

#include "dopesheet/check.hpp"
#include "dopesheet/clip.hpp"
#include "dopesheet/io.hpp"

namespace dopesheet::rfa {

inline constexpr int ticks_per_second = 4800;
inline constexpr int rotation_scale = 16383;  // raw length of a unit quaternion
inline constexpr int max_bones = 50;          // the engine's tables; it does not check

struct RotationKey {
  std::int32_t time = 0;  // ticks of 1/4800 s
  std::array<std::int16_t, 4>
      rotation{};            // quaternion x y z w in 1/16383, conjugate of the active one
  std::int8_t ease_in = 0;   // 0 to 127: slows down before this key
  std::int8_t ease_out = 0;  // 0 to 127: slows down after this key
  std::int16_t pad = 0;      // unused by the game; kept so that files round trip

  static constexpr std::size_t wire_size = 16;
  static constexpr void fields(auto& ar, auto& k) {
    ar("time", k.time);
    ar("rotation", k.rotation);
    ar("ease_in", k.ease_in);
    ar("ease_out", k.ease_out);
    ar("pad", k.pad);
  }
  friend bool operator==(const RotationKey&, const RotationKey&) = default;
};
static_assert(io::complete<RotationKey>);

struct PositionKey {
  std::int32_t time = 0;            // ticks of 1/4800 s
  std::array<float, 3> position{};  // metres, relative to the parent bone
  std::array<float, 3> in{};        // absolute Bezier control point before this key, metres
  std::array<float, 3> out{};       // absolute Bezier control point after this key, metres

  static constexpr std::size_t wire_size = 40;
  static constexpr void fields(auto& ar, auto& k) {
    ar("time", k.time);
    ar("position", k.position);
    ar("in", k.in);
    ar("out", k.out);
  }
  friend bool operator==(const PositionKey&, const PositionKey&) = default;
};
static_assert(io::complete<PositionKey>);

struct Bone {
  float weight = 10;  // 0 to 10; an action of weight 10 owns the bone
  std::vector<RotationKey> rotation_keys;
  std::vector<PositionKey> position_keys;

  static constexpr std::size_t min_wire_size = 8;
  static constexpr void fields(auto& ar, auto& b) {
    ar("weight", b.weight);
    ar.template count<std::int16_t>("rotation_keys", b.rotation_keys);
    ar.template count<std::int16_t>("position_keys", b.position_keys);
    ar.each("rotation_keys", b.rotation_keys);
    ar.each("position_keys", b.position_keys);
  }
};

struct File {
  std::int32_t version = 8;  // 7 or 8; they differ in the morph section only
  float pos_reduction = 0,
        rot_reduction = 0;  // tolerances of the original reducer; unused by the game
  std::int32_t start_time = 0, end_time = 0;  // ticks
  std::int32_t num_morph_keyframes = 0;
  std::int32_t ramp_in = 0, ramp_out = 0;           // ticks
  std::array<float, 4> total_rotation{0, 0, 0, 1};  // of the root over the clip; unused by the game
  std::array<float, 3> total_translation{};         // metres; unused by the game
  std::int32_t morph_vertices_offset = 0;           // any value where there is no morph data
  std::int32_t morph_keyframes_offset = 0;
  std::vector<std::int32_t> bone_offsets;  // bytes from the start of the file
  std::vector<Bone> bones;
  std::vector<std::uint16_t> morph_vertices;  // original vertices of LOD 0, see docs/formats/v3c.md
  std::vector<std::int32_t> morph_times;      // ticks; version 8 only
  std::array<float, 3> morph_box_min{}, morph_box_max{};  // metres; version 8 only
  std::vector<std::array<std::uint8_t, 3>>
      morph_positions8;                                // [keyframe][vertex], 0 to 255 over the box
  std::vector<std::array<float, 3>> morph_positions7;  // [keyframe][vertex], metres
  std::vector<io::Gap> gaps;  // bytes between, before and after the records

  std::int64_t morph_positions() const {
    return std::int64_t{num_morph_keyframes} * static_cast<std::int64_t>(morph_vertices.size());
  }

  static constexpr void fields(auto& ar, auto& f) {
    ar.magic("magic", "VMVF");
    ar("version", f.version);
    ar.require_version(f.version == 7 || f.version == 8, "version",
                       "only versions 7 and 8 are known");
    ar("pos_reduction", f.pos_reduction);
    ar("rot_reduction", f.rot_reduction);
    ar("start_time", f.start_time);
    ar("end_time", f.end_time);
    ar.template count<std::int32_t>("bones", f.bones);
    ar.template count<std::int32_t>("morph_vertices", f.morph_vertices);
    ar("num_morph_keyframes", f.num_morph_keyframes);
    ar.require(f.num_morph_keyframes >= 0, "num_morph_keyframes", "is negative");
    ar("ramp_in", f.ramp_in);
    ar("ramp_out", f.ramp_out);
    ar("total_rotation", f.total_rotation);
    ar("total_translation", f.total_translation);
    ar("morph_vertices_offset", f.morph_vertices_offset);
    ar("morph_keyframes_offset", f.morph_keyframes_offset);
    ar.each("bone_offsets", f.bone_offsets, static_cast<std::int64_t>(f.bones.size()));
    ar.each_at("bones", f.bones, f.bone_offsets);

    ar.seek_if(!f.morph_vertices.empty(), "morph_vertices_offset", f.morph_vertices_offset);
    ar.each("morph_vertices", f.morph_vertices);
    const std::int64_t n = f.morph_positions(), v8 = f.version == 8;
    ar.seek_if(n > 0 || (v8 && f.num_morph_keyframes > 0), "morph_keyframes_offset",
               f.morph_keyframes_offset, 4);
    ar.each("morph_times", f.morph_times, v8 * f.num_morph_keyframes);
    ar.when(v8 != 0 && n > 0, [&](auto& in) {
      in("morph_box_min", f.morph_box_min);
      in("morph_box_max", f.morph_box_max);
    });
    ar.each("morph_positions8", f.morph_positions8, v8 * n);
    ar.each("morph_positions7", f.morph_positions7, (1 - v8) * n);
    ar.gaps("gaps", f.gaps);
  }
};

Result<File> read(ByteView in, const Limits& limits = {});
Result<Bytes> write(const File& file);

// Puts the records into the order of the original exporter and recomputes every offset. Returns the
// non-zero bytes between records that were dropped by it.
std::vector<Loss> layout(File& file);

std::string dump(const File& file);     // one line per field: offset, path, value
std::string to_json(const File& file);  // reads back to the same document, to the last bit
Result<File> from_json(std::string_view json, const Limits& limits = {});

// The meaning of a file as a clip in the game's own space (left-handed, Y up, metres, active
// rotations). Bones take names, parents and rest pose from `skeleton` by index where it is long
// enough; else they are named "bone_<index>" and are roots. A bone without rotation keys gets one key of
// identity, one without position keys one key at the parent's origin: that is what the game does.
Clip to_clip(const File& file, std::span<const Node> skeleton = {}, std::string name = {});

// Writes what changed in `clip`, compared with to_clip(base), into `base`, by the rules of
// docs/formats/rfa.md, "Writing". Unchanged tracks keep their bytes; everything a clip cannot express
// stays as it is in `base`. Tracks of kinds that RFA lacks are baked to `tolerance`.
// Fails where the format has no room, and names the limit; `base` is then unchanged.
struct WriteOptions {
  double max_mm = 0.05;  // error that baking a foreign interpolation may add, object space
  double max_degrees = 0.05;
};
Result<std::vector<Loss>> from_clip(const Clip& clip, File& base, const WriteOptions& options = {});

// The pose at an integer tick as the game's integer code computes it: snapping, truncation, no
// renormalisation (so rotations are up to 1e-3 off unit length). `out` holds one transform per bone;
// bones beyond its size are left out.
void sample_exact(const File& file, std::int32_t tick, std::span<Transform> out);

// The weight of a bone at a tick when the clip plays as an action, ramps included. 0 to 10.
float action_weight(const File& file, std::size_t bone, std::int32_t tick);

// Everything that the game would trip over, or that looks unintended. `model` is the character mesh
// that the clip is for, where known; `name` is the file's name, where known.
std::vector<Finding> check(const File& file, const Model* model = nullptr,
                           std::string_view name = {});

}  // namespace dopesheet::rfa
