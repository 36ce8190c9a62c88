// A clip: keyframe animation with its own interpolation, free of any file format.
// Seconds in double, metres, quaternions x y z w, active (v' = q v q*), column vectors.
#pragma once
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "dopesheet/error.hpp"

namespace dopesheet {

struct Vec3 {
  float x = 0, y = 0, z = 0;
  friend bool operator==(const Vec3&, const Vec3&) = default;
};
struct Quat {
  float x = 0, y = 0, z = 0, w = 1;
  friend bool operator==(const Quat&, const Quat&) = default;
};
// Scale first, then rotation, then translation, relative to the parent node.
struct Transform {
  Vec3 translation;  // metres
  Quat rotation;
  Vec3 scale{1, 1, 1};
  friend bool operator==(const Transform&, const Transform&) = default;
};

// Which way the axes of a clip or model point. All known games here are Y up.
enum class Space : std::uint8_t {
  right_handed,  // glTF: +Y up
  left_handed,   // Red Faction: +X right, +Y up, +Z forward; exporters mirror X
};

// How values between two keys come about; u runs from 0 to 1 over the segment, dt is its length in s.
enum class Interp : std::uint8_t {
  step,          // the earlier key's value
  linear,        // a + u (b - a); quaternions: slerp along the shorter arc
  hermite,       // cubic with a.out and b.in as derivatives per second (glTF CUBICSPLINE)
  bezier,        // cubic with a.out and b.in as absolute control points, u linear in time
  slerp_ease,    // Red Faction: slerp at ease(u, a.params[1], b.params[0])
  slerp_stored,  // TotemTech: slerp with the segment's stored angle and 1/sine in a.params
  nlerp,         // Zouna: normalised a + u (b - a), along the shorter arc
};
const char* name(Interp interp);

// Two numbers a key carries besides its value; see Interp. Ease in and out are fractions from 0 to 1.
using Params = std::array<float, 2>;

template <class T>  // float, Vec3 or Quat
struct Curve {
  Interp interp = Interp::linear;
  std::vector<double> times;   // seconds, never decreasing, never empty
  std::vector<T> values;       // one per time
  std::vector<T> in, out;      // one per time for hermite and bezier, else empty
  std::vector<Params> params;  // one per time for slerp_ease and slerp_stored, else empty
  friend bool operator==(const Curve&, const Curve&) = default;
};

enum class Channel : std::uint8_t {
  translation,  // of a node, Vec3 or three scalars
  rotation,     // of a node, Quat, or three scalars: turns about x, y, z (Shenmue), R = Rz Ry Rx
  scale,        // of a node, Vec3 or three scalars
  visibility,   // of a node or mesh, scalar: 0 hidden, 1 shown
  weight,       // of a morph target, scalar: 0 to 1
  custom,       // Track::name says what
};
const char* name(Channel channel);

// A value that a format keeps and a clip has no place for, under the key that the format's community
// knows. Exporters put it into `extras`.
using PropertyValue = std::variant<std::int64_t, float, std::string, std::vector<float>>;
struct Property {
  std::string key;
  PropertyValue value;
  friend bool operator==(const Property&, const Property&) = default;
};
using Properties = std::vector<Property>;

struct Track {
  std::size_t target = 0;  // index of a node; of a morph target where the channel is weight
  Channel channel = Channel::translation;
  std::string name;  // of a custom channel
  std::variant<Curve<float>, Curve<Vec3>, Curve<Quat>, std::array<Curve<float>, 3>> curve;
  Properties properties;
  friend bool operator==(const Track&, const Track&) = default;
};

enum class Role : std::uint8_t { joint, ik_target, look_at };

struct Node {
  std::string name;  // the format's own bytes, not necessarily UTF-8
  int parent = -1;   // index of a node, of any order; -1 for a root
  Transform rest;    // relative to the parent
  Role role = Role::joint;
  Properties properties;
  friend bool operator==(const Node&, const Node&) = default;
};

struct Event {
  double time = 0;  // seconds
  std::string kind, payload;
  friend bool operator==(const Event&, const Event&) = default;
};

// Absolute vertex positions, one set per morph target, that a weight of 1 shows in full.
struct Morph {
  std::vector<std::uint32_t> vertices;       // original vertices of the mesh (Primitive::morph_map)
  std::vector<std::vector<Vec3>> positions;  // [target][vertex], metres
  friend bool operator==(const Morph&, const Morph&) = default;
};

// What a clip shows before its start and after its end.
enum class Outside : std::uint8_t { clamp, wrap };

struct Clip {
  std::string name;
  double start = 0, end = 0;      // seconds
  double ticks_per_second = 30;   // the format's own clock
  double frames_per_second = 30;  // what its authors animated at
  Space space = Space::right_handed;
  Outside outside = Outside::clamp;
  std::vector<Node> nodes;
  std::vector<Track> tracks;  // nodes without a track keep their rest pose
  std::vector<Event> events;
  Morph morph;
  Properties properties;
  friend bool operator==(const Clip&, const Clip&) = default;
};

// Every broken invariant of the model, in words: parents in range and without cycles, targets in
// range, one track per target and channel, curve types that fit the channel, equal lengths, times
// ordered and finite, values finite, rotations of unit length. Empty for a good clip.
std::vector<Loss> validate(const Clip& clip);

// All node indices, so that every parent stands before its children. A parent that does not exist
// counts as none; of a cycle, one node comes before its parent.
std::vector<std::size_t> topological_order(std::span<const Node> nodes);

// The clip in right-handed space: X mirrored, every curve with its control points and tangents.
Clip to_right_handed(Clip clip);
Vec3 mirror_x(Vec3 v);
Quat mirror_x(Quat active);

std::size_t key_count(const Clip& clip);

}  // namespace dopesheet
