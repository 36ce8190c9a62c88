// Animation_Z and Skel_Z of Asobo's Zouna engine: Ratatouille, WALL-E, FUEL, Toy Story 3.
// What the bytes mean, and how sure each statement is, stands in docs/formats/zouna.md; no real animation
// was at hand.
#pragma once
#include <bit>
#include <optional>

#include "dopesheet/check.hpp"
#include "dopesheet/clip.hpp"
#include "dopesheet/io.hpp"
#include "dopesheet/model.hpp"
#include "dopesheet/names.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet::zouna {

inline constexpr std::uint32_t animation_class = 0x46107D89;  // hash of "Animation_Z"
inline constexpr std::uint32_t skeleton_class = 0xD73B85EC;   // hash of "Skel_Z"
inline constexpr int value_scale = 4096;     // raw length of 1 in vectors and numbers
inline constexpr int rotation_scale = 2000;  // raw length of a unit quaternion

// ---- keys. Times are seconds and need to be in order within a range only.

struct KeyRot {
  float time = 0;
  std::array<std::int16_t, 4> rotation{};  // quaternion x y z w in 1/2000

  static constexpr std::size_t wire_size = 12;
  static constexpr void fields(auto& ar, auto& k) {
    ar("time", k.time);
    ar("rotation", k.rotation);
  }
  friend bool operator==(const KeyRot&, const KeyRot&) = default;
};
static_assert(io::complete<KeyRot> && io::memory_image<KeyRot>);

struct KeyBezierRot {
  float time = 0;
  std::array<float, 3> value{};  // angles or a rotation vector: not known
  std::array<float, 3> tangent_in{},
      tangent_out{};  // of the segments before and after, per segment

  static constexpr std::size_t wire_size = 40;
  static constexpr void fields(auto& ar, auto& k) {
    ar("time", k.time);
    ar("value", k.value);
    ar("tangent_in", k.tangent_in);
    ar("tangent_out", k.tangent_out);
  }
  friend bool operator==(const KeyBezierRot&, const KeyBezierRot&) = default;
};
static_assert(io::complete<KeyBezierRot> && io::memory_image<KeyBezierRot>);

struct KeyVec3 {
  float time = 0;
  std::array<std::int16_t, 3> value{};                      // 1/4096
  std::array<std::int16_t, 3> tangent_in{}, tangent_out{};  // 1/4096, per segment
  std::uint16_t pad = 0xFFFF;  // unused by the game; kept so that files round trip

  static constexpr std::size_t wire_size = 24;
  static constexpr void fields(auto& ar, auto& k) {
    ar("time", k.time);
    ar("value", k.value);
    ar("tangent_in", k.tangent_in);
    ar("tangent_out", k.tangent_out);
    ar("pad", k.pad);
  }
  friend bool operator==(const KeyVec3&, const KeyVec3&) = default;
};
static_assert(io::complete<KeyVec3> && io::memory_image<KeyVec3>);

struct KeyFloat {
  float time = 0;
  std::int16_t value = 0, tangent_in = 0, tangent_out = 0;  // 1/4096; tangents per segment
  std::uint16_t pad = 0xFFFF;

  static constexpr std::size_t wire_size = 12;
  static constexpr void fields(auto& ar, auto& k) {
    ar("time", k.time);
    ar("value", k.value);
    ar("tangent_in", k.tangent_in);
    ar("tangent_out", k.tangent_out);
    ar("pad", k.pad);
  }
  friend bool operator==(const KeyFloat&, const KeyFloat&) = default;
};
static_assert(io::complete<KeyFloat> && io::memory_image<KeyFloat>);

struct Message {
  std::int32_t id = 0;  // what happens; the table differs from game to game
  std::uint32_t param =
      0;  // of ids 0x21 to 0x29 the hash of a resource, which the link header lists
  std::uint32_t flag = 0;
  float value = 0;
  std::uint32_t name = 0;  // hash

  // Whether `param` must be in the link header: the game stops where it is not.
  bool links() const { return id >= 0x21 && id < 0x2A; }

  static constexpr std::size_t wire_size = 20;
  static constexpr void fields(auto& ar, auto& m) {
    ar("id", m.id);
    ar("param", m.param);
    ar("flag", m.flag);
    ar("value", m.value);
    ar("name", m.name);
  }
  friend bool operator==(const Message&, const Message&) = default;
};
static_assert(io::complete<Message> && io::memory_image<Message>);

struct KeyMessage {
  float time = 0;
  std::vector<Message> messages;

  static constexpr std::size_t min_wire_size = 8;
  static constexpr void fields(auto& ar, auto& k) {
    ar("time", k.time);
    ar.template count<std::uint32_t>("messages", k.messages);
    ar.each("messages", k.messages);
  }
  friend bool operator==(const KeyMessage&, const KeyMessage&) = default;
};

// Bits of Keyframer::flag. Only hold is ever tested; 4 and 0x10 mean something unknown.
inline constexpr unsigned smooth_bit = 1, linear_bit = 2, hold_bit = 8, known_bits = 0x1F;

// The keys of one channel, of everything that the animation moves.
template <class Key>
struct Keyframer {
  std::uint16_t flag = smooth_bit;
  std::vector<Key> keys;

  static constexpr std::size_t min_wire_size = 6;
  static constexpr void fields(auto& ar, auto& k) {
    ar("flag", k.flag);
    ar.template count<std::uint32_t>("keys", k.keys);
    ar.each("keys", k.keys);
  }
  friend bool operator==(const Keyframer&, const Keyframer&) = default;
};

// ---- ranges: whose keys these are

template <class Int>  // std::uint16_t or std::int16_t
struct Range {
  Int start = 0, count = 0;  // count 0: the channel is not animated, whatever the start

  static constexpr std::size_t wire_size = 4;
  static constexpr void fields(auto& ar, auto& r) {
    ar("start", r.start);
    ar("count", r.count);
  }
  friend bool operator==(const Range&, const Range&) = default;
};
static_assert(io::complete<Range<std::uint16_t>> && io::complete<Range<std::int16_t>>);

// Bits of Node::flag: what a channel without keys does. Set: the bind pose; clear: what was there before.
inline constexpr unsigned reset_translation = 1, reset_rotation = 2, reset_scale = 4;

struct Node {
  std::uint32_t name = 0;  // hash of the bone's name
  std::int16_t id = 0;     // made anew by the game when it loads; kept
  std::uint16_t flag = 0;
  Range<std::uint16_t> translation, rotation, bezier_rotation, scale, messages;

  static constexpr std::size_t wire_size = 28;
  static constexpr void fields(auto& ar, auto& n) {
    ar("name", n.name);
    ar("id", n.id);
    ar("flag", n.flag);
    ar("translation", n.translation);
    ar("rotation", n.rotation);
    ar("bezier_rotation", n.bezier_rotation);
    ar("scale", n.scale);
    ar("messages", n.messages);
  }
  friend bool operator==(const Node&, const Node&) = default;
};
static_assert(io::complete<Node> && io::memory_image<Node>);

struct MaterialRanges {
  std::uint32_t name = 0;  // hash
  std::int16_t id = 0, flag = 0;
  // Which pool each of them is for is told in two ways; see MaterialOrder.
  Range<std::int16_t> range0, range1, range2, range3, range4;

  static constexpr std::size_t wire_size = 28;
  static constexpr void fields(auto& ar, auto& m) {
    ar("name", m.name);
    ar("id", m.id);
    ar("flag", m.flag);
    ar("range0", m.range0);
    ar("range1", m.range1);
    ar("range2", m.range2);
    ar("range3", m.range3);
    ar("range4", m.range4);
  }
  friend bool operator==(const MaterialRanges&, const MaterialRanges&) = default;
};
static_assert(io::complete<MaterialRanges> && io::memory_image<MaterialRanges>);

struct ObjectRange {
  std::uint32_t name = 0;  // hash of a mesh object's or a morph's name
  std::int16_t id = 0, flag = 0;
  Range<std::int16_t> range;

  static constexpr std::size_t wire_size = 12;
  static constexpr void fields(auto& ar, auto& o) {
    ar("name", o.name);
    ar("id", o.id);
    ar("flag", o.flag);
    ar("range", o.range);
  }
  friend bool operator==(const ObjectRange&, const ObjectRange&) = default;
};
static_assert(io::complete<ObjectRange> && io::memory_image<ObjectRange>);

// ---- what stands in front of a body

enum class Flavour : std::uint8_t {
  bare,      // nothing
  resource,  // the 24 bytes of a bigfile, then the link header
  bff,       // the same, behind the "BFF0" header of a community tool
};
enum class Links : std::uint8_t {
  none,  // the link header has no bytes, or none that are understood
  name,  // one name: versions 1.381 and 1.634
  list,  // and the resources that messages name: versions 1.06.63 and 1.291
};
const char* name(Flavour flavour);
const char* name(Links links);

// Little-endian, whatever follows.
struct BffHeader {
  std::uint16_t size = 10;        // of what follows, without padding
  std::uint8_t platform = 0;      // 0 PC, 4 PS2, 12 GameCube, ...
  std::uint8_t version_kind = 0;  // 0: Asobo's four numbers; 1 to 3: two; others differ
  std::vector<std::uint16_t> version{1, 6, 63, 2};
  Bytes more, pad;

  std::int64_t numbers() const {
    const std::int64_t n = version_kind == 0 ? 4 : version_kind <= 3 ? 2 : 0;
    return size >= 2 + 2 * n ? n : 0;
  }
  std::int64_t others() const { return size < 2 ? 0 : size - 2 - 2 * numbers(); }
  std::endian platform_order() const;

  static constexpr void fields(auto& ar, auto& h) {
    ar.magic("magic", "BFF0");
    ar("size", h.size);
    ar("platform", h.platform);
    ar("version_kind", h.version_kind);
    ar.each("version", h.version, h.numbers());
    ar.bytes("more", h.more, h.others());
    ar.align("pad", h.pad, 16);
  }
  friend bool operator==(const BffHeader&, const BffHeader&) = default;
};

struct Header {
  std::uint32_t data_size = 0;  // link header and stored body
  std::uint32_t link_size = 0;
  std::uint32_t body_size = 0;
  std::uint32_t packed_size = 0;  // 0: the body is stored as it is
  std::uint32_t class_id = animation_class;
  std::uint32_t name = 0;  // hash

  static constexpr std::size_t wire_size = 24;
  static constexpr void fields(auto& ar, auto& h) {
    ar("data_size", h.data_size);
    ar("link_size", h.link_size);
    ar("body_size", h.body_size);
    ar("packed_size", h.packed_size);
    ar("class_id", h.class_id);
    ar("name", h.name);
  }
  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(io::complete<Header>);

struct Envelope {
  // How the file is written. The file itself does not say it, or says it here and there.
  std::uint8_t big_endian = 0;  // 0 or 1
  std::uint8_t flavour = 0;     // a Flavour
  std::uint8_t links = 0;       // a Links

  BffHeader bff;
  Header header;
  std::uint32_t link_name = 0;        // hash
  std::vector<std::uint32_t> linked;  // hashes of what messages 0x21 to 0x29 name
  Bytes link_rest;

  std::endian order() const { return big_endian != 0 ? std::endian::big : std::endian::little; }
  bool has(Flavour f) const { return flavour == static_cast<std::uint8_t>(f); }
  bool has(Links l) const { return links == static_cast<std::uint8_t>(l); }

  static constexpr void fields(auto& ar, auto& e, auto body) {
    ar.aside("big_endian", e.big_endian);
    ar.aside("flavour", e.flavour);
    ar.aside("links", e.links);
    ar.require(e.big_endian <= 1 && e.flavour <= 2 && e.links <= 2, "links",
               "or one before it is out of range");
    ar.when(e.has(Flavour::bff), [&](auto& in) {
      in.ordered(std::endian::little, [&](auto& le) { le("bff", e.bff); });
    });
    ar.ordered(e.order(), [&](auto& in) {
      in.when(!e.has(Flavour::bare), [&](auto& h) {
        h("header", e.header);
        h.require(e.header.packed_size == 0, "header.packed_size",
                  "the body is packed (LZRS): unpack the resource first");
        h.region("link_rest", e.header.link_size, 1, e.link_rest, [&](auto& l) {
          l.when(!e.has(Links::none), [&](auto& x) { x("link_name", e.link_name); });
          l.when(e.has(Links::list), [&](auto& x) {
            x.template count<std::uint32_t>("linked", e.linked);
            x.each("linked", e.linked);
          });
        });
      });
      body(in);
    });
  }
  friend bool operator==(const Envelope&, const Envelope&) = default;
};

// ---- an animation

struct Body {
  float max_time = 0;           // seconds
  float smooth_ratio = 0;       // a tenth of it is said to be the seconds of blending in
  std::uint16_t flag = 0;       // 2 is said to turn smoothing off
  std::uint16_t node_flag = 0;  // often 0xCDCD, memory that nobody wrote
  std::vector<KeyRot> rotation;
  std::vector<KeyBezierRot> bezier_rotation;
  Keyframer<KeyVec3> scale, translation;  // of bones
  std::vector<KeyMessage> messages;
  Keyframer<KeyFloat> u, v;               // of materials: offsets of the texture
  Keyframer<KeyVec3> diffuse, emissive;   // red, green, blue
  Keyframer<KeyFloat> material_rotation;  // of the texture, radians
  Keyframer<KeyFloat> visibility;         // of mesh objects: 0 hides, all else shows
  Keyframer<KeyFloat> morph;              // weights
  std::vector<Node> nodes;
  std::vector<MaterialRanges> materials;
  std::vector<ObjectRange> meshes, morphs;

  static constexpr void fields(auto& ar, auto& b) {
    ar("max_time", b.max_time);
    ar("smooth_ratio", b.smooth_ratio);
    ar("flag", b.flag);
    ar("node_flag", b.node_flag);
    ar.template count<std::uint32_t>("rotation", b.rotation);
    ar.each("rotation", b.rotation);
    ar.template count<std::uint32_t>("bezier_rotation", b.bezier_rotation);
    ar.each("bezier_rotation", b.bezier_rotation);
    ar("scale", b.scale);
    ar("translation", b.translation);
    ar.template count<std::uint32_t>("messages", b.messages);
    ar.each("messages", b.messages);
    ar("u", b.u);
    ar("v", b.v);
    ar("diffuse", b.diffuse);
    ar("emissive", b.emissive);
    ar("material_rotation", b.material_rotation);
    ar("visibility", b.visibility);
    ar("morph", b.morph);
    ar.template count<std::uint32_t>("nodes", b.nodes);
    ar.each("nodes", b.nodes);
    ar.template count<std::uint32_t>("materials", b.materials);
    ar.each("materials", b.materials);
    ar.template count<std::uint32_t>("meshes", b.meshes);
    ar.each("meshes", b.meshes);
    ar.template count<std::uint32_t>("morphs", b.morphs);
    ar.each("morphs", b.morphs);
  }
  friend bool operator==(const Body&, const Body&) = default;
};
inline constexpr std::size_t smallest_body = 94;

struct File {
  Envelope envelope;
  Body body;
  Bytes trailing;  // behind the body; never of a bare one

  static constexpr void fields(auto& ar, auto& f) {
    Envelope::fields(ar, f.envelope, [&](auto& in) { Body::fields(in, f.body); });
    ar.when(!f.envelope.has(Flavour::bare), [&](auto& in) { in.rest("trailing", f.trailing); });
  }
  friend bool operator==(const File&, const File&) = default;
};

// What the caller knows about the file; the rest is found out.
struct Choices {
  std::optional<std::endian> order;
  std::optional<Flavour> flavour;
  std::optional<Links> links;
};

// How a file is written, and what that was told by.
struct Detection {
  std::endian order = std::endian::little;
  Flavour flavour = Flavour::bare;
  Links links = Links::none;
  bool order_is_open = false;  // both byte orders end exactly at the end of the input
  std::string reason;
};
// Fails where no way is possible. A bare body is one that ends exactly where the input does; of two byte
// orders that do, the one with the likelier duration is taken.
Result<Detection> detect(ByteView in, const Choices& choices = {});

Result<File> read(ByteView in, const Limits& limits = {}, const Choices& choices = {});
// Refuses sizes in the header that are smaller than what there is to write; other wrong ones are kept.
Result<Bytes> write(const File& file);

// Recomputes the sizes in the headers, and keeps the list of linked resources in step with the messages:
// what they name is added at the end, nothing is taken away.
void layout(File& file);

std::string dump(const File& file);
std::string to_json(const File& file);
Result<File> from_json(std::string_view json, const Limits& limits = {});

// True for a resource of this class, and for a body that is one to its last byte.
bool probe(ByteView in);

// ---- meaning

// What is not known for sure, and can be said by the user.
enum class TangentSign : std::uint8_t { automatic, plus, minus };  // of the tangent into a key
enum class RotationRule : std::uint8_t { nlerp, slerp };           // between rotation keys
enum class BezierMeaning : std::uint8_t {
  raw,    // not known: a custom track
  euler,  // radians about x, y and z, R = Rz Ry Rx
  vector  // axis times angle, radians
};
enum class MaterialOrder : std::uint8_t {
  engine,  // u, emissive, diffuse, rotation, v: the GameCube game's code
  pool     // u, v, diffuse, emissive, rotation: the pools' order, as community tools label it
};

struct Options {
  Choices choices = {};
  TangentSign tangent_sign = TangentSign::automatic;
  RotationRule rotation = RotationRule::nlerp;
  BezierMeaning bezier_rotation = BezierMeaning::raw;
  MaterialOrder material_order = MaterialOrder::engine;
  const Names* names = nullptr;  // for labels; without a name "#XXXXXXXX"
};

// The sign of tangents into keys that the file itself speaks for: +1 where they point the same way as
// those out of the key, -1 where they point back. `evidence` is how sure: the sum that decided, 0 for none.
struct Sign {
  int sign = 1;
  double evidence = 0;
};
Sign tangent_sign(const Body& body);
// What options ask for.
int tangent_sign(const Body& body, const Options& options);

struct MaterialParts {
  Range<std::int16_t> u, v, diffuse, emissive, rotation;
};
MaterialParts parts(const MaterialRanges& ranges, MaterialOrder order);
// Whether all material ranges lie inside the pools that this order gives them.
bool fits(const Body& body, MaterialOrder order);

// How many keys all tracks of a clip may have together: 64 times those in the pools, and a few. Ranges
// that share keys more often than that are left out; check() says so.
std::size_t most_keys(const Body& body);

// The meaning of an animation: seconds, right-handed, Y up. Nodes are found by the hash of their name in
// `skeleton`; others are added as roots, and so are mesh objects, for their visibility. Materials, morphs
// and raw Bezier rotations become custom tracks: "material/<name>/<channel>", "morph/<name>",
// "bezier_rotation". Ranges that leave their pool are left out; check() says so.
Clip to_clip(const File& file, const Options& options = {},
             std::span<const dopesheet::Node> skeleton = {}, std::string name = {});

// Writes what changed in `clip`, compared with to_clip(base, options, clip.nodes), into `base`, by the
// rules of docs/formats/zouna.md, "Writing". Unchanged tracks keep their bytes, and so do keys that ranges
// of other nodes share. Fails where the format has no room, and names the limit; `base` is then unchanged.
struct WriteOptions {
  double max_mm = 0.05;  // error that baking a foreign interpolation may add, object space
  double max_degrees = 0.05;
  bool clamp = false;  // cut numbers outside -8 to 7.99976 and report it, instead of failing
};
Result<std::vector<Loss>> from_clip(const Clip& clip, File& base, const Options& options = {},
                                    const WriteOptions& write = {});

// The hash of the name that a node of a clip goes by: its property zn_name, else its name's own.
std::uint32_t node_hash(const dopesheet::Node& node);

// The hint of a message id, as Ratatouille has it: "play_sound"; "message_105" where none is known.
std::string message_name(std::int32_t id);

// Where the game's key search is: it never goes back. A new one is what a rewind makes.
struct EngineCursor {
  std::vector<std::uint32_t> at;
};
// Local transforms as the game computes them: in floats, by its own search, which shows the *last* key
// before the first one's time and when the time ran back without a rewind. One transform per node of the
// file, in its order; channels without keys keep what is in `out`.
void sample_exact(const File& file, const Options& options, float time, EngineCursor& cursor,
                  std::span<Transform> out);

// Everything that the game would trip over, or that looks unintended. `model` is the skeleton, where
// known.
std::vector<Finding> check(const File& file, const Options& options = {},
                           const Model* model = nullptr);

// ---- skeletons: Skel_Z, as far as it is known

struct Bone {
  std::uint32_t user = 0;                     // hash, meaning unknown
  std::array<float, 4> rotation{0, 0, 0, 1};  // x y z w, relative to the parent
  std::array<float, 3> scale{1, 1, 1};
  std::uint32_t flags = 0;
  std::array<float, 3> translation{};  // metres, relative to the parent
  std::array<std::uint32_t, 29> unknown{};
  std::array<float, 16> bind{};                                    // model matrix of the bind pose
  std::int32_t child = -1, parent = -1, next = -1, previous = -1;  // bones; -1: none
  std::uint32_t name = 0;                                          // hash

  static constexpr std::size_t wire_size = 248;
  static constexpr void fields(auto& ar, auto& b) {
    ar("user", b.user);
    ar("rotation", b.rotation);
    ar("scale", b.scale);
    ar("flags", b.flags);
    ar("translation", b.translation);
    ar("unknown", b.unknown);
    ar("bind", b.bind);
    ar("child", b.child);
    ar("parent", b.parent);
    ar("next", b.next);
    ar("previous", b.previous);
    ar("name", b.name);
  }
  friend bool operator==(const Bone&, const Bone&) = default;
};
static_assert(io::complete<Bone>);

struct Skeleton {
  Envelope envelope;
  std::uint8_t has_rotation = 0;  // 1: Ratatouille; 0: WALL-E, FUEL. The file does not say it.
  std::uint32_t flag = 0;
  std::array<float, 4> sphere{};
  std::array<float, 4> rotation{0, 0, 0, 1};
  std::vector<Bone> bones;
  Bytes rest;  // not understood

  static constexpr void fields(auto& ar, auto& s) {
    Envelope::fields(ar, s.envelope, [&](auto& in) {
      in.aside("has_rotation", s.has_rotation);
      in.require(s.has_rotation <= 1, "has_rotation", "is neither 0 nor 1");
      in("flag", s.flag);
      in("sphere", s.sphere);
      in.when(s.has_rotation != 0, [&](auto& r) { r("rotation", s.rotation); });
      in.template count<std::uint32_t>("bones", s.bones);
      in.each("bones", s.bones);
      in.rest("rest", s.rest);
    });
  }
  friend bool operator==(const Skeleton&, const Skeleton&) = default;
};

// Resources with a header only: the body says nothing of itself. Of the two layouts the one is taken whose
// bones all name bones; fails where neither does.
Result<Skeleton> read_skeleton(ByteView in, const Limits& limits = {}, const Choices& choices = {});
Result<Bytes> write(const Skeleton& skeleton);
std::string dump(const Skeleton& skeleton);
std::string to_json(const Skeleton& skeleton);
Result<Skeleton> skeleton_from_json(std::string_view json, const Limits& limits = {});
bool probe_skeleton(ByteView in);
// Names, parents and bind pose; inverse binds from the local transforms. Parents that are no bones or form
// a cycle count as none.
Model to_model(const Skeleton& skeleton, const Names* names = nullptr, std::string name = {});

}  // namespace dopesheet::zouna
