// Shenmue models: MT5 (the first game) and the node tree of MT7 (Shenmue II). The rest pose and the
// names of the joints that motions move are here.
// No real file was at hand: what the bytes mean, and how sure each statement is, stands in
// docs/formats/mt5.md.
#pragma once
#include "dopesheet/check.hpp"
#include "dopesheet/io.hpp"
#include "dopesheet/model.hpp"

namespace dopesheet::mt5 {

// Turns are BAMS (65536 is 360 degrees) in the low half of each word, signed; R = Rz Ry Rx.
// Offsets count from the start of the file; 0: none.
struct Node {
  std::uint32_t id = 0;  // low 16 bits: type; see shenmue::bone_of_node
  std::uint32_t mesh = 0;
  std::array<std::uint32_t, 3> rotation{};
  std::array<float, 3> scale{1, 1, 1};
  std::array<float, 3> position{};  // metres, relative to the parent
  std::uint32_t child = 0, sibling = 0, parent = 0;
  std::array<char, 4> tag{};  // on roots of characters; otherwise mostly unused
  std::uint32_t unknown = 0;

  static constexpr std::size_t min_wire_size = 64;
  static constexpr void fields(auto& ar, auto& n) {
    ar("id", n.id);
    ar("mesh", n.mesh);
    ar("rotation", n.rotation);
    ar("scale", n.scale);
    ar("position", n.position);
    ar("child", n.child);
    ar("sibling", n.sibling);
    ar("parent", n.parent);
    ar.text("tag", n.tag);
    ar("unknown", n.unknown);
  }
};

struct Vertex {
  std::array<float, 3> position{};  // metres, in the space of the node
  std::array<float, 3> normal{};

  static constexpr std::size_t wire_size = 24;
  static constexpr void fields(auto& ar, auto& v) {
    ar("position", v.position);
    ar("normal", v.normal);
  }
};
static_assert(io::complete<Vertex>);

// One instruction of a polygon stream.
struct Command {
  std::uint16_t op = 0x8000;
  std::uint16_t value = 0;  // of ops that carry one word; the length of `data` where there is some
  Bytes data;               // of ops that carry a length: strips, attributes, colours

  enum class Kind : std::uint8_t { none, word, bytes, strips, end, unknown };
  static constexpr Kind kind_of(unsigned op) {
    if (op == 0x0000 || op == 0xFFFF) return Kind::none;
    if (op == 0x8000) return Kind::end;
    if (op >= 0x0008 && op <= 0x000B) return Kind::word;
    if ((op >= 0x0010 && op <= 0x0014) || (op >= 0x0018 && op <= 0x001C)) return Kind::strips;
    if ((op >= 0x0002 && op <= 0x0007) || (op >= 0x000C && op <= 0x000F) || op == 0x0015 ||
        op == 0x001D) {
      return Kind::bytes;
    }
    return Kind::unknown;
  }
  Kind kind() const { return kind_of(op); }
  // Nothing can be read after an unknown one.
  bool closes() const { return kind() == Kind::end || kind() == Kind::unknown; }

  static constexpr std::size_t min_wire_size = 2;
  static constexpr void fields(auto& ar, auto& c) {
    ar("op", c.op);
    const bool has_data = c.kind() == Kind::bytes || c.kind() == Kind::strips;
    ar.when(has_data || c.kind() == Kind::word, [&](auto& in) { in("value", c.value); });
    ar.bytes("data", c.data, has_data ? std::int64_t{c.value} : 0);
  }
};

// A strip, decoded from a command of kind strips.
struct Corner {
  std::int16_t vertex = 0;  // below 0: of the parent node's mesh, counted from its end
  std::array<std::int16_t, 2> uv{};
  std::array<std::uint8_t, 4> colour{255, 255, 255, 255};  // blue, green, red, alpha
};
struct Strip {
  std::int16_t length = 0;  // as stored: below 0, it may be that the first triangle is turned over
  std::vector<Corner> corners;
};
// Fails where the strips do not fill the command. Offsets of the error count from the start of its
// data.
Result<std::vector<Strip>> strips_of(const Command& command);

struct MeshHeader {
  std::uint32_t flags = 0;
  std::uint32_t vertices = 0;
  std::int32_t num_vertices = 0;
  std::uint32_t polygons = 0;
  std::array<float, 3> centre{};  // of the bounding sphere, metres
  float radius = 0;

  static constexpr std::size_t wire_size = 32;
  static constexpr void fields(auto& ar, auto& m) {
    ar("flags", m.flags);
    ar("vertices", m.vertices);
    ar("num_vertices", m.num_vertices);
    ar("polygons", m.polygons);
    ar("centre", m.centre);
    ar("radius", m.radius);
  }
};
static_assert(io::complete<MeshHeader>);

struct VertexArray {
  std::vector<Vertex> vertices;

  static constexpr void fields(auto& ar, auto& a) { ar.each("vertices", a.vertices); }
};

struct Stream {
  std::vector<Command> commands;  // the last one closes the stream

  static constexpr void fields(auto& ar, auto& s) {
    ar.each_until("commands", s.commands, [](const Command& c) { return c.closes(); });
  }
};

// Where the records are. Not in the file, but made from the offsets in it.
struct Places {
  std::vector<std::uint32_t> nodes;
  std::vector<int> parents;                              // per node: index, -1 for a root
  std::vector<std::uint32_t> meshes, vertices, streams;  // distinct, ascending
};

struct File {
  std::uint32_t textures = 0;  // the section TEXD, which stays in `gaps`
  std::uint32_t first_node = 0x0C;
  std::vector<Node> nodes;  // a node, its children, its siblings
  // The three are empty where one of them leaves the file or overlaps another record in part: then
  // the bytes of all meshes are in `gaps`.
  std::vector<MeshHeader> meshes;
  std::vector<VertexArray> vertex_arrays;
  std::vector<Stream> streams;
  std::vector<io::Gap> gaps;
  Places places;

  static constexpr void fields(auto& ar, auto& f) {
    ar.magic("magic", "HRCM");
    ar("textures", f.textures);
    ar("first_node", f.first_node);
    ar.each_at("nodes", f.nodes, f.places.nodes);
    ar.each_at("meshes", f.meshes, f.places.meshes);
    ar.each_at("vertex_arrays", f.vertex_arrays, f.places.vertices);
    ar.each_at("streams", f.streams, f.places.streams);
    ar.gaps("gaps", f.gaps);
  }
};

// Refuses a tree that leaves the file, meets itself, or whose nodes overlap.
Result<File> read(ByteView in, const Limits& limits = {});
// Values may have changed, but no offset and no length: what lies between the records cannot move.
Result<Bytes> write(const File& file);
std::string dump(const File& file);
std::string to_json(const File& file);
Result<File> from_json(std::string_view json, const Limits& limits = {});
bool probe(ByteView in);

// The mesh of a node. Empty where it has none, or where it was not read.
struct Mesh {
  const MeshHeader* header = nullptr;
  std::span<const Vertex> vertices;
  std::span<const Command> commands;
};
Mesh mesh_of(const File& file, std::size_t node);

// Which way round a strip's triangles are.
enum class Winding : std::uint8_t {
  by_normals,  // whichever way agrees with the vertex normals of the strip
  stored,      // corners i, i+1, i+2 of even i are counter-clockwise
  reversed,    // they are clockwise, as ShenmueDK reads them
};
// What sources disagree about.
struct ModelOptions {
  float uv_size = 256;     // divides UVs where the stream does not say; sources: 256, 1023, 1024
  float uvh_size = 65536;  // divides UVs of high resolution; sources: 65536, 1024
  Winding winding = Winding::by_normals;
};

// Nodes with names by bone, and one skinned mesh in rest space: every vertex follows one node.
// Without skin where there are more than 256 nodes. Node properties: mt5_id, mt5_bone, mt5_family,
// mt5_tag, mt5_offset. The mesh is built by a description that no real file has confirmed: its
// property mt5_unverified says so, and `losses` tells what was left out.
Model to_model(const File& file, std::string name = {}, const ModelOptions& options = {},
               std::vector<Loss>* losses = nullptr);

// Broken offsets, ids, transforms, streams. The codes are listed in docs/formats/mt5.md.
std::vector<Finding> check(const File& file);

}  // namespace dopesheet::mt5

// The node tree of MT7. Meshes and textures stay in the gaps.
namespace dopesheet::mt7 {

struct Node {
  std::uint32_t id = 0;                     // as in MT5
  std::array<float, 3> position{};          // metres, relative to the parent
  std::array<std::uint32_t, 3> rotation{};  // BAMS, as in MT5
  std::array<float, 3> scale{1, 1, 1};
  std::uint32_t mesh = 0;
  std::uint32_t child = 0, sibling = 0, parent = 0;
  std::array<std::uint32_t, 2> unknown{};

  static constexpr std::size_t wire_size = 64;
  static constexpr void fields(auto& ar, auto& n) {
    ar("id", n.id);
    ar("position", n.position);
    ar("rotation", n.rotation);
    ar("scale", n.scale);
    ar("mesh", n.mesh);
    ar("child", n.child);
    ar("sibling", n.sibling);
    ar("parent", n.parent);
    ar("unknown", n.unknown);
  }
};
static_assert(io::complete<Node>);

// MDCX, MDC7, MDPX, MDP7, MDOX, MDO7, MDLX, MDL7.
bool is_magic(const std::array<char, 4>& magic);

struct File {
  std::array<char, 4> magic{'M', 'D', 'C', '7'};
  std::uint32_t size = 0;
  std::uint32_t first_node = 0x10;
  std::uint32_t num_textures = 0;  // their table follows, in `gaps`
  std::vector<Node> nodes;         // a node, its children, its siblings
  std::vector<io::Gap> gaps;
  mt5::Places places;  // nodes and parents only

  static constexpr void fields(auto& ar, auto& f) {
    ar.text("magic", f.magic);
    ar.require_magic(is_magic(f.magic), "magic", "expected 'MDC7' or one of its seven kin");
    ar("size", f.size);
    ar("first_node", f.first_node);
    ar("num_textures", f.num_textures);
    ar.each_at("nodes", f.nodes, f.places.nodes);
    ar.gaps("gaps", f.gaps);
  }
};

Result<File> read(ByteView in, const Limits& limits = {});
Result<Bytes> write(const File& file);  // as mt5::write
std::string dump(const File& file);
std::string to_json(const File& file);
Result<File> from_json(std::string_view json, const Limits& limits = {});
bool probe(ByteView in);

// The nodes only.
Model to_model(const File& file, std::string name = {});
std::vector<Finding> check(const File& file);

}  // namespace dopesheet::mt7
