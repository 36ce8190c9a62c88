// TotemTech ANIMATION, data version 1.73 (Kalisto): SpongeBob SquarePants: Revenge of the Flying
// Dutchman, Jimmy Neutron: Boy Genius. What the bytes mean, and how sure each statement is, stands in
// docs/formats/totemtech.md; no real file was at hand.
#pragma once
#include <bit>
#include <map>
#include <optional>

#include "dopesheet/check.hpp"
#include "dopesheet/clip.hpp"
#include "dopesheet/io.hpp"
#include "dopesheet/names.hpp"

namespace dopesheet::totemtech {

inline constexpr std::uint32_t class_id = 0xC9909A33;  // CRC-32 of "ANIMATION"
inline constexpr std::size_t max_text = 143;           // the game's buffer for a message's text

// ---- what the file says

struct KeyFloat {
  std::uint16_t frame = 0;  // ticks, 1/60 s as far as known
  std::uint16_t junk = 0;   // stale memory; kept
  float value = 0;
  float tangent_in = 0, tangent_out = 0;  // of the segments before and after, times their lengths

  static constexpr std::size_t wire_size = 16;
  static constexpr void fields(auto& ar, auto& k) {
    ar("frame", k.frame);
    ar("junk", k.junk);
    ar("value", k.value);
    ar("tangent_in", k.tangent_in);
    ar("tangent_out", k.tangent_out);
  }
  friend bool operator==(const KeyFloat&, const KeyFloat&) = default;
};
static_assert(io::complete<KeyFloat> && io::memory_image<KeyFloat>);

struct KeyVec3 {
  std::uint16_t frame = 0;                                  // ticks
  std::array<std::int16_t, 3> value{};                      // 1/1000, as far as known
  std::array<std::int16_t, 3> tangent_in{}, tangent_out{};  // the same, per segment

  static constexpr std::size_t wire_size = 20;
  static constexpr void fields(auto& ar, auto& k) {
    ar("frame", k.frame);
    ar("value", k.value);
    ar("tangent_in", k.tangent_in);
    ar("tangent_out", k.tangent_out);
  }
  friend bool operator==(const KeyVec3&, const KeyVec3&) = default;
};
static_assert(io::complete<KeyVec3> && io::memory_image<KeyVec3>);

struct KeyRot {
  std::uint16_t frame = 0;                 // ticks
  std::array<std::int16_t, 4> rotation{};  // quaternion x y z w in 1/2000
  std::uint16_t junk = 0;                  // stale memory; kept
  // To the next key: the angle between the two as four-vectors, radians, two pi more where the next one
  // is to be negated; and one over its sine. 0 and 0 on the last key.
  float omega = 0, sinom = 0;

  static constexpr std::size_t wire_size = 20;
  static constexpr void fields(auto& ar, auto& k) {
    ar("frame", k.frame);
    ar("rotation", k.rotation);
    ar("junk", k.junk);
    ar("omega", k.omega);
    ar("sinom", k.sinom);
  }
  friend bool operator==(const KeyRot&, const KeyRot&) = default;
};
static_assert(io::complete<KeyRot> && io::memory_image<KeyRot>);

struct Message {
  std::uint32_t id = 0, param = 0;
  std::string text;        // of ids 0x11 to 0x13 only: the name of a stream; raw bytes
  std::uint32_t name = 0;  // CRC-32, 0: none

  bool has_text() const { return id >= 0x11 && id <= 0x13; }

  static constexpr std::size_t min_wire_size = 12;
  static constexpr void fields(auto& ar, auto& m) {
    ar("id", m.id);
    ar("param", m.param);
    ar.when(m.has_text(),
            [&](auto& in) { in.template counted_text<std::uint32_t>("text", m.text); });
    ar("name", m.name);
  }
  friend bool operator==(const Message&, const Message&) = default;
};

struct KeyMessage {
  std::uint16_t frame = 0;  // ticks
  std::uint16_t junk = 0;   // in files of one variant only
  std::vector<Message> messages;

  static constexpr std::size_t min_wire_size = 6;
  static constexpr void fields(auto& ar, auto& k, bool has_junk) {
    ar("frame", k.frame);
    ar.when(has_junk, [&](auto& in) { in("junk", k.junk); });
    ar.template count<std::uint32_t>("messages", k.messages);
    ar.each("messages", k.messages);
  }
  friend bool operator==(const KeyMessage&, const KeyMessage&) = default;
};

// Bits of Keyframer::interp. 4 and 0x10 occur in related files and mean something unknown.
inline constexpr unsigned smooth_bit = 1, linear_bit = 2, hold_bit = 8;

template <class Key>
struct Keyframer {
  std::uint16_t interp = smooth_bit;
  std::vector<Key> keys;  // none: the channel is not animated

  static constexpr std::size_t min_wire_size = 6;
  static constexpr void fields(auto& ar, auto& k) {
    ar("interp", k.interp);
    ar.template count<std::uint32_t>("keys", k.keys);
    ar.each("keys", k.keys);
  }
  static constexpr void fields(auto& ar, auto& k, bool has_junk) {
    ar("interp", k.interp);
    ar.template count<std::uint32_t>("keys", k.keys);
    ar.each_with("keys", k.keys, static_cast<std::int64_t>(k.keys.size()),
                 [has_junk](auto& in, auto& key, std::size_t) { Key::fields(in, key, has_junk); });
  }
  friend bool operator==(const Keyframer&, const Keyframer&) = default;
};

struct MeshTracks {
  std::uint32_t name = 0;          // CRC-32 of the mesh object's name
  std::uint16_t flag = 0;          // meaning unknown
  Keyframer<KeyFloat> visibility;  // 0 hides, all else shows

  static constexpr std::size_t min_wire_size = 12;
  static constexpr void fields(auto& ar, auto& t) {
    ar("name", t.name);
    ar("flag", t.flag);
    ar("visibility", t.visibility);
  }
  friend bool operator==(const MeshTracks&, const MeshTracks&) = default;
};

struct NodeTracks {
  std::uint32_t name = 0;  // CRC-32 of the bone's name
  std::uint16_t flag = 0;  // meaning unknown
  Keyframer<KeyVec3> t1;   // translation, as far as known
  Keyframer<KeyRot> rotation;
  Keyframer<KeyVec3> t3;  // scale, as far as known
  Keyframer<KeyMessage> messages;

  static constexpr std::size_t min_wire_size = 30;
  static constexpr void fields(auto& ar, auto& t, bool message_junk) {
    ar("name", t.name);
    ar("flag", t.flag);
    ar("t1", t.t1);
    ar("rotation", t.rotation);
    ar("t3", t.t3);
    ar.part("messages",
            [&](auto& in) { Keyframer<KeyMessage>::fields(in, t.messages, message_junk); });
  }
  friend bool operator==(const NodeTracks&, const NodeTracks&) = default;
};

// What the eight tracks move is not known for sure; see the document.
struct MaterialTracks {
  std::uint32_t name = 0;  // CRC-32 of the material's name
  std::uint16_t flag = 0;  // meaning unknown
  Keyframer<KeyFloat> track1, track2, track3, track4, track5;
  Keyframer<KeyVec3> track6, track7;
  Keyframer<KeyFloat> track8;

  static constexpr std::size_t min_wire_size = 54;
  static constexpr void fields(auto& ar, auto& t) {
    ar("name", t.name);
    ar("flag", t.flag);
    ar("track1", t.track1);
    ar("track2", t.track2);
    ar("track3", t.track3);
    ar("track4", t.track4);
    ar("track5", t.track5);
    ar("track6", t.track6);
    ar("track7", t.track7);
    ar("track8", t.track8);
  }
  friend bool operator==(const MaterialTracks&, const MaterialTracks&) = default;
};

// What a container puts in front of each resource.
struct Header {
  std::uint32_t size = 0;  // of the resource, these 16 bytes included
  std::uint32_t class_id = totemtech::class_id;
  std::uint32_t name = 0, link = 0;  // CRC-32

  static constexpr std::size_t wire_size = 16;
  static constexpr void fields(auto& ar, auto& h) {
    ar("size", h.size);
    ar("class_id", h.class_id);
    ar("name", h.name);
    ar("link", h.link);
  }
  friend bool operator==(const Header&, const Header&) = default;
};
static_assert(io::complete<Header>);

struct File {
  // How the file is written; 0 or 1. The file itself does not say it.
  std::uint8_t big_endian = 0;  // GameCube; 0: PS2, PC
  std::uint8_t has_header = 0;
  std::uint8_t message_junk = 0;  // KeyMessage::junk is in the file

  Header header;
  float length = 0;        // seconds
  std::uint16_t flag = 0;  // 2 is said to turn smoothing off
  std::vector<MeshTracks> meshes;
  std::vector<NodeTracks> nodes;
  std::vector<MaterialTracks> materials;

  std::endian order() const { return big_endian != 0 ? std::endian::big : std::endian::little; }

  static constexpr void fields(auto& ar, auto& f) {
    ar.aside("big_endian", f.big_endian);
    ar.aside("has_header", f.has_header);
    ar.aside("message_junk", f.message_junk);
    ar.require(f.big_endian <= 1 && f.has_header <= 1 && f.message_junk <= 1, "message_junk",
               "or one before it is neither 0 nor 1");
    ar.when(f.has_header != 0, [&](auto& in) { in("header", f.header); });
    ar("length", f.length);
    ar("flag", f.flag);
    ar.template count<std::uint32_t>("meshes", f.meshes);
    ar.each("meshes", f.meshes);
    ar.template count<std::uint32_t>("nodes", f.nodes);
    ar.each_with(
        "nodes", f.nodes, static_cast<std::int64_t>(f.nodes.size()),
        [&](auto& in, auto& t, std::size_t) { NodeTracks::fields(in, t, f.message_junk != 0); });
    ar.template count<std::uint32_t>("materials", f.materials);
    ar.each("materials", f.materials);
  }
  friend bool operator==(const File&, const File&) = default;
};

// ---- reading and writing

// What the caller knows about the file; the rest is found out.
struct ReadChoices {
  std::optional<std::endian> order;
  std::optional<bool> message_junk;
};

// How a file is written. Every way that the choices leave open is tried, and those are possible that end
// exactly at the end of the input. Of several, the one whose content makes most sense is taken.
struct Detection {
  std::endian order = std::endian::little;
  bool has_header = false;
  bool message_junk = false;
  bool order_is_open = false;  // both byte orders are possible
  bool junk_is_open = false;   // both variants are; so it is in every file without messages
};
// Fails where no way is possible, with the error of the way that got furthest.
Result<Detection> detect(ByteView in, const ReadChoices& choices = {});

Result<File> read(ByteView in, const Limits& limits = {}, const ReadChoices& choices = {});
Result<Bytes> write(const File& file);

// Sets header.size to what the file will have.
void layout(File& file);

std::string dump(const File& file);
std::string to_json(const File& file);
Result<File> from_json(std::string_view json, const Limits& limits = {});

// True for a resource with its header, and for a body that is one to its last byte.
bool probe(ByteView in);

// ---- what it means, as far as that is known

enum class TangentSign : std::uint8_t { automatic, plus, minus };
enum class TrackOrder : std::uint8_t { automatic, translation_first, scale_first };
// What Keyframer::interp does to vectors and floats. Both hold where hold_bit is set.
enum class Flags : std::uint8_t {
  recommended,  // linear_bit without smooth_bit is linear, all else Hermite
  engine,       // all else is Hermite
};
enum class BeforeFirst : std::uint8_t {
  first,  // the first key
  last,   // the last key, which is what a related engine does
};

// Every choice that no real file has settled yet. The defaults are what docs/formats/totemtech.md
// recommends; evidence() says what a file has to say about them.
struct Options {
  double frames_per_second = 0;  // ticks a second; 0: found out, 60 where the file does not tell
  TangentSign tangent_sign =
      TangentSign::automatic;                      // of KeyVec3::tangent_in, KeyFloat::tangent_in
  TrackOrder track_order = TrackOrder::automatic;  // which of t1 and t3 is the scale
  double vector_scale = 0.001;                     // of KeyVec3
  double tangent_scale = 1;                        // 3 would make handles of a Bezier curve of them
  Flags flags = Flags::recommended;
  BeforeFirst before_first = BeforeFirst::first;
  bool conjugate = false;  // whether stored rotations are the inverse ones
};

// The options with all automatic ones decided, and why.
struct Meaning {
  double frames_per_second = 60;
  int tangent_sign = 1;
  bool scale_first = false;
  std::string rate_reason, sign_reason, order_reason;
};
Meaning meaning(const File& file, const Options& options = {});

// What a file says about the open questions: numbers to decide by, and nothing decided.
struct Evidence {
  // Ticks a second.
  std::uint16_t last_frame = 0;
  double frames_per_length = 0;  // last_frame / length; 0 where that is no number
  double snapped = 0;            // 60, 50, 30 or 25, where it is near one; else 0
  // Tangents of vectors and floats that are not held.
  std::size_t tangent_keys = 0;      // with both tangents
  double mean_cosine = 0;            // of the angle between them
  std::size_t tangent_segments = 0;  // with a tangent in that is not 0
  double along = 0;                  // sum of dot(tangent_in, what the value goes by), in raw units
  std::size_t unit_keys = 0;
  double unit_ratio = 0;  // median of |tangent_out| to half the way between the neighbour keys
  std::size_t linear_keys = 0, linear_flat = 0;  // of linear keyframers; those without tangents
  // t1 and t3.
  std::size_t t1_values = 0, t3_values = 0;  // numbers in all keys
  double t1_median = 0, t3_median = 0;       // of those, raw
  // Rotations.
  std::size_t segments = 0, turned = 0, flagged = 0,
              agreeing = 0;         // dot < 0; omega > 2 pi; both or none
  std::size_t still = 0;            // omega is 0
  std::size_t last_with_angle = 0;  // last keys whose omega or sinom is not 0
  double worst_angle = 0;           // radians between omega and the keys' angle
  double worst_product = 0;         // |sinom sin(omega) - 1|
  int largest_component = 0;        // raw
  std::size_t rotation_keys = 0;
  // Occurrences.
  std::map<std::uint32_t, std::size_t> interps;  // of keyframers with keys
  std::map<std::uint32_t, std::size_t> node_flags, mesh_flags, material_flags;
  std::map<std::uint32_t, std::size_t> message_ids;
  std::size_t texts = 0, terminated_texts = 0;  // ends with a zero byte
  struct Track {
    std::size_t values = 0;
    double least = 0, most = 0;  // raw for track6 and track7
  };
  std::array<Track, 8> materials;
};
Evidence evidence(const File& file);

// The animation as a clip, right-handed, Y up: that is an assumption, as are the units. Nodes are those
// of `skeleton`, found by the CRC-32 of their names (or a property "tt_id"), then those the animation has
// besides, as roots. `names` names them, else they are called "#XXXXXXXX". Meshes are nodes too, with
// visibility; materials have custom tracks "track1" to "track8" whose target counts the materials.
// Messages are events "message_<id>", their payload a JSON object.
Clip to_clip(const File& file, const Options& options = {}, std::span<const Node> skeleton = {},
             const Names* names = nullptr, std::string name = {});

// Writes what changed in `clip`, compared with to_clip(base), into `base`. Unchanged tracks keep their
// bytes, unchanged keys of a changed track their junk; angles are recomputed where an end of a segment
// changed. Rotations of kinds that the format lacks are baked. Fails where the format has no room, and
// names the limit; `base` is then unchanged. See docs/formats/totemtech.md, "Writing".
struct WriteOptions {
  Options meaning;
  bool clamp = false;  // numbers that do not fit become the nearest that does, which is a loss
  double max_mm = 0.05, max_degrees = 0.05;  // error that baking may add, object space
};
Result<std::vector<Loss>> from_clip(const Clip& clip, File& base, const WriteOptions& options = {});

// The angle and one over its sine to store for a segment between unit quaternions: two pi more where
// their dot product is negative; 0 and 0 where they are one direction.
Params segment_params(Quat a, Quat b);

// What looks wrong, and as notes what the file says about the open questions. The codes are listed in
// docs/formats/totemtech.md. `model` is the character that the animation is for, where known.
std::vector<Finding> check(const File& file, const Options& options = {},
                           const Model* model = nullptr, const Names* names = nullptr);

// A hint from one game's leftover headers at what a message does: "playsound"; empty where unknown.
std::string_view message_hint(std::uint32_t id);

// ---- the skeleton, which stands in other resources

// The bones of a SKEL block, which is found in NODE and GAMEOBJ resources; its bytes begin at the path id.
// Not verified on a real file. Which of a bone's five ids is its name and which its parent is not
// known: they are told apart by what is in them, and by the stored world matrices.
struct Skeleton {
  Model model;  // nodes only; "tt_id" is a node's id
  int name_column = -1, parent_column = -1;
  double worst_mm = 0;    // between the stored world matrices and those of the result
  std::size_t bytes = 0;  // read
};
Result<Skeleton> read_skeleton(ByteView block, std::endian order, const Names* names = nullptr,
                               const Limits& limits = {});

}  // namespace dopesheet::totemtech
