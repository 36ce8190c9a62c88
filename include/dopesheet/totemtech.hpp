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

}  // namespace dopesheet::totemtech
