// Shenmue motion banks: MOTION.BIN, .MOT, and the MOTN entries of scene packages.
// What the bytes mean, and how sure each statement is, stands in docs/formats/motn.md.
#pragma once
#include <optional>

#include "dopesheet/check.hpp"
#include "dopesheet/clip.hpp"
#include "dopesheet/io.hpp"
#include "dopesheet/reduce.hpp"
#include "dopesheet/sample.hpp"
#include "dopesheet/shenmue_rig.hpp"

namespace dopesheet::motn {

inline constexpr int frames_per_second = 30;

// ---- sequences: one motion's data. Offsets in them count from their own start.

// Channel bits of Curves::channels; bits 9 to 15 are the bone.
inline constexpr unsigned position_bits = 0x1C0, rotation_bits = 0x38, scale_bits = 0x07;

// Per bone and axis a cubic Hermite curve with its own keys. The first key, at frame 0, and the last, at
// the last frame, are implicit: only the frames between are stored.
struct Curves {
  std::array<std::uint16_t, 4> blocks{};  // where counts, frames, codes and values start
  std::vector<std::uint16_t>
      channels;  // bone << 9 | posX 0x100 .. posZ, rotX .. rotZ, scaleX .. 0x01
  Bytes gap_counts, gap_frames, gap_codes, gap_values;  // before each of these blocks
  std::vector<std::uint16_t> counts;  // per curve: keys between the first and the last
  std::vector<std::uint16_t> frames;  // of those keys, all curves in order
  std::vector<std::uint8_t> codes;    // two bits a key, high bits first, each curve from a new byte
  std::vector<std::uint16_t> values;  // half floats; a key has as many as its code says

  std::int64_t curves() const;
  std::int64_t keys_between() const;
  std::int64_t code_bytes() const;
  std::int64_t words() const;  // that the codes ask for

  static constexpr void fields(auto& ar, auto& c, std::size_t count_bytes,
                               std::size_t frame_bytes) {
    ar("blocks", c.blocks);
    ar.until_zero("channels", c.channels);
    ar.gap("gap_counts", c.gap_counts, c.blocks[0]);
    ar.each_sized("counts", c.counts, c.curves(), count_bytes);
    ar.gap("gap_frames", c.gap_frames, c.blocks[1]);
    ar.each_sized("frames", c.frames, c.keys_between(), frame_bytes);
    ar.gap("gap_codes", c.gap_codes, c.blocks[2]);
    ar.each("codes", c.codes, c.code_bytes());
    ar.gap("gap_values", c.gap_values, c.blocks[3]);
    ar.each("values", c.values, c.words());
  }
};

// Joint angles for every frame, already solved.
struct Dense {
  std::uint16_t stride = 0;             // bytes of one frame
  std::array<std::uint16_t, 4> mask{};  // 64 bits, low word first: bone i is present
  std::vector<std::uint16_t>
      words;  // per frame: root position 3 halves, root rotation 3 angles, then the bones

  bool has(unsigned bone) const {
    return bone < 64 && ((mask[bone / 16] >> (bone % 16)) & 1U) != 0;
  }
  static bool is_hinge(unsigned bone) {
    return bone == 7 || bone == 14 || bone == 28 || bone == 34;
  }

  static constexpr void fields(auto& ar, auto& d, std::int64_t frames) {
    ar("stride", d.stride);
    ar("mask", d.mask);
    ar.require(d.stride % 2 == 0, "stride", "is odd");
    ar.each("words", d.words, d.stride / 2 * frames);
  }
};

// A rigid prop: nodes with constant or per-frame values.
struct ObjectChannel {
  std::uint16_t track = 0;  // where its samples start, 0: none, the value stands for all frames
  std::uint16_t value = 0;  // rotation: angle; position: half float

  static constexpr std::size_t wire_size = 4;
  static constexpr void fields(auto& ar, auto& c) {
    ar("track", c.track);
    ar("value", c.value);
  }
};
static_assert(io::complete<ObjectChannel>);

struct ObjectNode {
  std::uint16_t scale_track = 0;
  std::array<std::uint16_t, 3> scale{};  // half floats
  ObjectChannel rotation_x, rotation_y, rotation_z;
  ObjectChannel position_x, position_y, position_z;

  static constexpr std::size_t wire_size = 32;
  static constexpr void fields(auto& ar, auto& n) {
    ar("scale_track", n.scale_track);
    ar("scale", n.scale);
    ar("rotation_x", n.rotation_x);
    ar("rotation_y", n.rotation_y);
    ar("rotation_z", n.rotation_z);
    ar("position_x", n.position_x);
    ar("position_y", n.position_y);
    ar("position_z", n.position_z);
  }
};
static_assert(io::complete<ObjectNode>);

struct Object {
  std::uint16_t unknown = 0x3C00;  // a half float of 1 in every known file
  std::uint16_t zero = 0, zero2 = 0;
  std::vector<ObjectNode> nodes;
  std::vector<std::uint16_t> samples;  // all tracks, frames + 1 samples each

  std::int64_t sample_words(std::int64_t frames) const;

  static constexpr void fields(auto& ar, auto& o, std::int64_t frames) {
    ar("unknown", o.unknown);
    ar("zero", o.zero);
    ar.template count<std::uint16_t>("nodes", o.nodes);
    ar("zero2", o.zero2);
    ar.each("nodes", o.nodes);
    ar.each("samples", o.samples, o.sample_words(frames));
  }
};

enum class Encoding : std::uint8_t { curves, dense, object };
const char* name(Encoding encoding);

struct Sequence {
  std::uint16_t length = 0;  // bits 0 to 14: frames; bit 15: counts take two bytes (no known file)
  std::uint16_t rig = 0;     // 0xFFFF: object; bit 15: dense; else, and below it, the rig's id
  Curves curves;
  Dense dense;
  Object object;

  Encoding encoding() const {
    return rig == 0xFFFF          ? Encoding::object
           : (rig & 0x8000U) != 0 ? Encoding::dense
                                  : Encoding::curves;
  }
  int frames() const { return length & 0x7FFF; }
  int rig_id() const { return rig == 0xFFFF ? -1 : rig & 0x7FFF; }
  std::size_t count_bytes() const { return (length & 0x8000U) != 0 ? 2 : 1; }
  std::size_t frame_bytes() const { return frames() > 0xFF ? 2 : 1; }

  static constexpr std::size_t min_wire_size = 12;
  static constexpr void fields(auto& ar, auto& s) {
    ar.based([&](auto& in) {
      in("length", s.length);
      in("rig", s.rig);
      in.when(s.encoding() == Encoding::curves,
              [&](auto& c) { Curves::fields(c, s.curves, s.count_bytes(), s.frame_bytes()); });
      in.when(s.encoding() == Encoding::dense,
              [&](auto& d) { Dense::fields(d, s.dense, s.frames()); });
      in.when(s.encoding() == Encoding::object,
              [&](auto& o) { Object::fields(o, s.object, s.frames()); });
    });
  }
};

// ---- extra data: what happens with a motion

// Bytes of an operation or event, its head included; 0: unknown.
std::size_t op_size(std::uint8_t op);
std::size_t event_size(std::uint8_t type);

struct Op {
  std::uint8_t op = 0;  // 0 ends the list; 8 begins the events
  Bytes payload;

  static constexpr std::size_t min_wire_size = 1;
  static constexpr void fields(auto& ar, auto& o) {
    ar("op", o.op);
    ar.bytes("payload", o.payload,
             op_size(o.op) > 0 ? static_cast<std::int64_t>(op_size(o.op)) - 1 : 0);
  }
  bool closes() const { return op == 0 || op == 8 || op_size(op) == 0; }
};

struct EventRecord {
  std::uint16_t frame = 0;
  std::uint8_t type = 0;  // 0 ends the list
  std::uint8_t sub = 0;
  Bytes payload;

  static constexpr std::size_t min_wire_size = 4;
  static constexpr void fields(auto& ar, auto& e) {
    ar("frame", e.frame);
    ar("type", e.type);
    ar("sub", e.sub);
    ar.bytes("payload", e.payload,
             event_size(e.type) > 0 ? static_cast<std::int64_t>(event_size(e.type)) - 4 : 0);
  }
  bool closes() const { return type == 0 || event_size(type) == 0; }
};

struct Extra {
  std::array<std::uint16_t, 6> flags{};  // meaning unknown
  std::vector<Op> ops;
  std::vector<EventRecord> events;  // after an op 8 only

  static constexpr std::size_t min_wire_size = 13;
  static constexpr void fields(auto& ar, auto& x) {
    ar("flags", x.flags);
    ar.each_until("ops", x.ops, [](const Op& o) { return o.closes(); });
    ar.when(!x.ops.empty() && x.ops.back().op == 8, [&](auto& in) {
      in.each_until("events", x.events, [](const EventRecord& e) { return e.closes(); });
    });
  }
};

// ---- the bank

struct Entry {
  std::uint32_t data = 0;   // of the sequence, from Bank::data_offset
  std::uint32_t extra = 0;  // of the extra data, from the start of the file

  static constexpr std::size_t wire_size = 8;
  static constexpr void fields(auto& ar, auto& e) {
    ar("data", e.data);
    ar("extra", e.extra);
  }
};
static_assert(io::complete<Entry>);

struct Name {
  std::string text;

  static constexpr std::size_t min_wire_size = 1;
  static constexpr void fields(auto& ar, auto& n) { ar.text("text", n.text); }
};

struct Bank {
  std::uint32_t table_offset = 0x20, names_offset = 0, data_offset = 0;
  std::uint32_t count = 1;  // motions + 1; scene packages keep flags here: the name table decides
  std::uint32_t file_size = 0;
  std::array<std::uint32_t, 3> zero{};
  std::vector<Entry> table;   // motion id i + 1
  std::vector<Extra> extras;  // distinct, by offset
  std::vector<std::uint32_t> name_offsets;
  std::vector<Name> names;
  std::vector<Sequence> sequences;  // distinct, by offset
  std::vector<io::Gap> gaps;        // padding, orphans, the trailer
  // Not in the file, but made from the table (see index).
  std::vector<std::uint32_t> extra_offsets, sequence_offsets;  // from the start of the file
  std::uint32_t name_origin =
      0;  // name offsets count from here: 0, or names_offset in some packages

  static constexpr void fields(auto& ar, auto& b) {
    ar("table_offset", b.table_offset);
    ar("names_offset", b.names_offset);
    ar("data_offset", b.data_offset);
    ar("count", b.count);
    ar("file_size", b.file_size);
    ar("zero", b.zero);
    ar.seek("table_offset", b.table_offset);
    ar.each("table", b.table);
    ar.each_at("extras", b.extras, b.extra_offsets);
    ar.seek("names_offset", b.names_offset);
    ar.each("name_offsets", b.name_offsets);
    ar.each_at("names", b.names, b.name_offsets, b.name_origin);
    ar.each_at("sequences", b.sequences, b.sequence_offsets);
    ar.gaps("gaps", b.gaps);
  }
};

// Motions without a name pointer, a sequence or extra data inside the file are refused.
Result<Bank> read(ByteView in, const Limits& limits = {});
Result<Bytes> write(const Bank& bank);
std::string dump(const Bank& bank);
std::string to_json(const Bank& bank);
Result<Bank> from_json(std::string_view json, const Limits& limits = {});

// Places everything anew, after an edit that changed lengths: blocks inside sequences keep the gaps
// before them, orphans stay behind the sequence they followed. Tracks of object sequences stay where
// they say. Fails with Code::cannot_represent where an offset has no room.
Result<void> layout(Bank& bank);

// True when the bytes begin like a bank.
bool probe(ByteView in);

// The sequence and the extra data of a motion. `motion` counts from 0; its id in the game is one more.
const Sequence& sequence_of(const Bank& bank, std::size_t motion);
const Extra& extra_of(const Bank& bank, std::size_t motion);

// What the extra data says, as far as it is understood.
struct Link {
  std::optional<int> next;  // id of the motion that follows, from 1; absent: none
  bool loops = false;       // it follows itself
  bool mirrored = false;    // the game plays it mirrored
};
Link link_of(const Extra& extra);

// ---- numbers

// Half floats as the game stores them: exponents are only re-biased, so there are no infinities; both
// zeros read 0. Writing truncates, and flushes magnitudes below about 6.1e-5 to 0.
float from_half(std::uint16_t half);
std::uint16_t to_half(float value);

// One key of a curve, decoded.
struct Key {
  int frame = 0;
  float value = 0;                    // metres or turns
  float slope_in = 0, slope_out = 0;  // per second
  int code = -1;  // 0 to 3 as stored; -1: a new key, the shortest exact code is chosen
  std::array<std::uint16_t, 3>
      words{};  // as stored, in file order; they win over the numbers where code >= 0
};
struct DecodedCurve {
  int bone = 0;                            // 0 to 127
  int axis = 0;                            // 0 to 2
  Channel channel = Channel::translation;  // or rotation, scale
  std::vector<Key> keys;                   // the implicit first and last included
};
std::vector<DecodedCurve> decode(const Sequence& sequence);  // of encoding curves; else empty

// A sequence of encoding curves with packed blocks. Curves come in the order of bone, channel, axis. Fails with
// Code::cannot_represent, naming the limit: 7 bit bone ids, one-byte counts, 15 bit frames, 16 bit block
// offsets, a first key at 0 and a last one at the last frame, no key after the last but one.
Result<Sequence> encode(std::span<const DecodedCurve> curves, int frames, int rig);

// How often what occurs in a bank's distinct sequences.
struct Statistics {
  std::size_t curve_sequences = 0, dense_sequences = 0, object_sequences = 0;
  std::size_t curves = 0, keys = 0;
  std::array<std::size_t, 4> first_codes{}, middle_codes{}, last_codes{};
  std::size_t longest = 0;  // frames
};
Statistics statistics(const Bank& bank);

// Holes and orphans, frames out of order or outside, impossible numbers, links to nowhere, loops that
// do not close. The codes are listed in docs/formats/motn.md.
std::vector<Finding> check(const Bank& bank);

// ---- meaning

// A motion as it is stored: one node per control, exact per-axis curves, nothing solved. Human rigs (see
// shenmue_rig.hpp) name their 37 controls; IK targets are roots with role ik_target or look_at, feet hang
// on their targets. Other rigs and props have nodes by number, "control_<id>" and "node_<index>". Axes as
// stored: the character faces -Z. Mirroring is not applied; the property "shm_mirrored" says so.
Clip to_clip(const Bank& bank, std::size_t motion);

struct SolveOptions {
  shenmue::SolveOptions solver;
  bool mirror = true;        // as the extra data asks for
  bool face_forward = true;  // half a turn about Y: the character faces +Z, as glTF expects
  bool targets = false;      // also the IK targets, as further nodes with their own exact curves
  double rate = 120;         // poses a second that are solved; the game shows 30
  bool between = false;  // further poses, down to 1/30,000 s apart, where joints snap in between
  double max_mm = 0.1;   // error that leaving out keys may add, object space
  double max_degrees = 0.05;
};
// The pose that the motion means, on the 21 joints of shenmue::reduced_skeleton. The error is against
// every solved pose, those between the kept keys included: what happens between two poses, where the game
// never looks, is a straight line (see `between`). Fails with Code::cannot_represent for animals
// and props, whose rigs are not known.
Result<Reduced> solve(const Bank& bank, std::size_t motion, const SolveOptions& options = {},
                      const shenmue::Rig& rig = shenmue::default_rig());
// The same on the nodes of an MT5 or MT7 model, with its segment lengths and in its own axes (it faces
// -Z). Nodes that no control moves keep their rest.
Result<Reduced> solve_model(const Bank& bank, std::size_t motion, std::span<const Node> model,
                            const SolveOptions& options = {});

// A motion ready to be played in an engine: its curves packed, each pose solved when it is asked for.
// Constant after construction: threads may share one.
class Player {
 public:
  // `rig` is copied. Fails as solve does.
  static Result<Player> make(const Bank& bank, std::size_t motion, const SolveOptions& options = {},
                             const shenmue::Rig& rig = shenmue::default_rig());
  // The same without asking whether a rig is known: controls beyond it are left out.
  Player(const Bank& bank, std::size_t motion, const SolveOptions& options, const shenmue::Rig& rig,
         std::optional<Outside> outside = {});

  double start() const { return sampler_.start(); }  // seconds
  double end() const { return sampler_.end(); }
  Cursor cursor() const { return sampler_.cursor(); }
  // Local transforms of the joints of shenmue::reduced_skeleton, at a time that is clamped or wrapped as
  // the motion says. Allocates nothing.
  void sample(double time, Cursor& cursor, std::span<Transform> out) const;
  // World transforms of all controls, in the motion's own axes.
  void world(double time, Cursor& cursor, shenmue::World out) const;

 private:
  static constexpr std::size_t most_slots = 2 * shenmue::control_count;
  struct Slot {
    std::size_t control;
    Channel channel;
  };
  shenmue::Rig rig_;
  SolveOptions options_;
  bool mirrored_;
  shenmue::Motion kind_;
  std::vector<Slot> slots_;  // what the translations of the sampler's nodes mean
  shenmue::ControlPose rest_;
  Sampler sampler_;
};

// ---- editing banks. Motions count from 0. Sequences and extra data that several motions share stay
// shared, until one of these motions is replaced. Links between motions follow their targets.

struct Motion {
  std::string name;  // A to Z, 0 to 9 and _ in the known bank
  Sequence sequence;
  Extra extra;
};
Motion motion_of(const Bank& bank, std::size_t motion);
std::optional<std::size_t> find_motion(const Bank& bank, std::string_view name);

// Replacing a motion by itself leaves the bank as it is, to the byte.
Result<void> replace(Bank& bank, std::size_t motion, const Motion& with);
Result<void> insert(Bank& bank, std::size_t before, const Motion& motion);
Result<void> rename(Bank& bank, std::size_t motion, std::string_view name);
// `order` names every motion once, or leaves some out, which removes them. A link to a removed motion
// is set to none, and reported.
Result<std::vector<Loss>> reorder(Bank& bank, std::span<const std::size_t> order);
// Appends the motions of `other` whose names are new; those whose names exist are reported and left out.
Result<std::vector<Loss>> merge(Bank& bank, const Bank& other);

}  // namespace dopesheet::motn
