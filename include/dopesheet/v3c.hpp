// Red Faction (2001) meshes: .v3c (character: mesh and bones) and .v3m (static mesh).
// What the bytes mean, and how sure each statement is, stands in docs/formats/v3c.md.
#pragma once
#include "dopesheet/check.hpp"
#include "dopesheet/io.hpp"
#include "dopesheet/model.hpp"

namespace dopesheet::v3c {

inline constexpr std::uint32_t character_magic = 0x5246434D;
inline constexpr std::uint32_t static_magic = 0x52463344;

enum ChunkType : std::uint32_t {
  end_chunk = 0,
  submesh_chunk = 0x5355424D,
  sphere_chunk = 0x43535048,
  bone_chunk = 0x424F4E45,
};

// Bits of Lod::flags.
inline constexpr std::uint32_t lod_has_morph_map = 0x01;
inline constexpr std::uint32_t lod_is_character = 0x02;
inline constexpr std::uint32_t lod_has_planes = 0x20;
inline constexpr std::uint16_t triangle_double_sided = 0x20;

// A memory image left by the original compiler. The game reads texture_index only; in some families of
// files the rest is zero, in others it repeats BatchInfo between stale pointers.
struct BatchHeader {
  std::array<std::uint32_t, 8> stale{};  // render flags and seven pointers
  std::int32_t texture_index = 0;        // into Lod::textures
  std::array<std::uint32_t, 5> stale_info{};

  static constexpr std::size_t wire_size = 0x38;
  static constexpr void fields(auto& ar, auto& h) {
    ar("stale", h.stale);
    ar("texture_index", h.texture_index);
    ar("stale_info", h.stale_info);
  }
};
static_assert(io::complete<BatchHeader>);

// Lengths count elements; sizes are bytes, and may be longer than the elements that they hold.
struct BatchInfo {
  std::uint16_t num_vertices = 0, num_triangles = 0;
  std::uint16_t positions_size = 0;  // of the positions, and of the normals
  std::uint16_t triangles_size = 0;
  std::uint16_t same_position_size = 0;
  std::uint16_t links_size = 0;  // 0: the batch has no links
  std::uint16_t uvs_size = 0;
  std::uint32_t render_flags = 0;

  static constexpr std::size_t wire_size = 18;
  static constexpr void fields(auto& ar, auto& b) {
    ar("num_vertices", b.num_vertices);
    ar("num_triangles", b.num_triangles);
    ar("positions_size", b.positions_size);
    ar("triangles_size", b.triangles_size);
    ar("same_position_size", b.same_position_size);
    ar("links_size", b.links_size);
    ar("uvs_size", b.uvs_size);
    ar("render_flags", b.render_flags);
  }
};
static_assert(io::complete<BatchInfo>);

struct Triangle {
  std::array<std::uint16_t, 3>
      vertices{};  // of the batch; clockwise from outside in this left-handed space
  std::uint16_t flags = 0;

  static constexpr std::size_t wire_size = 8;
  static constexpr void fields(auto& ar, auto& t) {
    ar("vertices", t.vertices);
    ar("flags", t.flags);
  }
};
static_assert(io::complete<Triangle>);

struct Link {
  std::array<std::uint8_t, 4> weights{};  // the game divides by 256
  std::array<std::uint8_t, 4> bones{};    // 0xFF in an unused slot, or 0 with weight 0

  static constexpr std::size_t wire_size = 8;
  static constexpr void fields(auto& ar, auto& l) {
    ar("weights", l.weights);
    ar("bones", l.bones);
  }
};
static_assert(io::complete<Link>);

// The geometry of one batch. A pad holds what follows the elements of an array, up to its stored size
// and the next multiple of 16 bytes; empty where that is all zero.
struct Batch {
  std::vector<std::array<float, 3>> positions;  // metres
  std::vector<std::array<float, 3>> normals;    // unit length, or NaN at triangles without area
  std::vector<std::array<float, 2>> uvs;        // V runs down
  std::vector<Triangle> triangles;
  std::vector<std::array<float, 4>> planes;  // one per triangle where the LOD has planes
  std::vector<std::int16_t>
      same_position;        // vertex i repeats vertex i - same_position[i], 0: it does not
  std::vector<Link> links;  // one per vertex, or none
  std::vector<std::int16_t> morph_map;  // original vertex to vertex of this batch, -1: not in it
  std::array<Bytes, 8> pads;            // after each of the arrays, in this order

  // What the batch is made of stands in two other records of the LOD.
  static constexpr void walk(auto& ar, auto& b, auto& info, auto& lod) {
    ar.region("positions_pad", info.positions_size, 16, b.pads[0],
              [&](auto& in) { in.each("positions", b.positions, info.num_vertices); });
    ar.region("normals_pad", info.positions_size, 16, b.pads[1],
              [&](auto& in) { in.each("normals", b.normals, info.num_vertices); });
    ar.region("uvs_pad", info.uvs_size, 16, b.pads[2],
              [&](auto& in) { in.each("uvs", b.uvs, info.num_vertices); });
    ar.region("triangles_pad", info.triangles_size, 16, b.pads[3],
              [&](auto& in) { in.each("triangles", b.triangles, info.num_triangles); });
    const std::int64_t planes = (lod.flags & lod_has_planes) != 0 ? info.num_triangles : 0;
    ar.each("planes", b.planes, planes);
    ar.align("planes_pad", b.pads[4], 16);
    ar.region("same_position_pad", info.same_position_size, 16, b.pads[5],
              [&](auto& in) { in.each("same_position", b.same_position, info.num_vertices); });
    const std::int64_t links = info.links_size > 0 ? info.num_vertices : 0;
    ar.region("links_pad", info.links_size, 16, b.pads[6],
              [&](auto& in) { in.each("links", b.links, links); });
    const std::int64_t map = (lod.flags & lod_has_morph_map) != 0 ? lod.num_vertices : 0;
    ar.each("morph_map", b.morph_map, map);
    ar.align("morph_map_pad", b.pads[7], 16);
  }
};

struct PropPoint {
  std::array<char, 0x44> name{};    // may carry junk after its terminator
  std::array<float, 4> rotation{};  // conjugate of the active one, relative to the bone
  std::array<float, 3> position{};  // metres, relative to the bone
  std::int32_t bone = -1;           // -1: relative to the submesh

  static constexpr std::size_t min_wire_size = 0x64;
  static constexpr void fields(auto& ar, auto& p) {
    ar.text("name", p.name);
    ar("rotation", p.rotation);
    ar("position", p.position);
    ar("bone", p.bone);
  }
};

struct LodTexture {
  std::uint8_t material = 0;  // index into Submesh::materials
  std::string name;

  static constexpr std::size_t min_wire_size = 2;
  static constexpr void fields(auto& ar, auto& t) {
    ar("material", t.material);
    ar.text("name", t.name);
  }
};

struct Lod {
  std::uint32_t flags = 0;
  std::int32_t num_vertices = 0;  // the length of each batch's morph map, and nothing else
  std::int32_t data_size = 0;
  std::int32_t unknown = -1;  // -1 in every known file
  std::vector<BatchInfo> batch_infos;
  std::vector<BatchHeader> batch_headers;
  Bytes headers_pad;
  std::vector<Batch> batches;
  std::vector<PropPoint> prop_points;
  Bytes unread;  // of the data block, after the last prop point
  std::vector<LodTexture> textures;

  static constexpr std::size_t min_wire_size = 30;
  static constexpr void fields(auto& ar, auto& l) {
    ar("flags", l.flags);
    ar("num_vertices", l.num_vertices);
    ar.template count<std::uint16_t>("batch_infos", l.batch_infos);
    ar("data_size", l.data_size);
    const io::Block data = ar.later("data", l.data_size);
    ar("unknown", l.unknown);
    ar.each("batch_infos", l.batch_infos);
    ar.template count_inside<std::int32_t>("prop_points", l.prop_points, l.data_size);
    ar.template count<std::int32_t>("textures", l.textures);
    ar.each("textures", l.textures);
    ar.block("data", data, l.data_size, l.unread, [&](auto& in) {
      const auto n = static_cast<std::int64_t>(l.batch_infos.size());
      in.each("batch_headers", l.batch_headers, n);
      in.align("headers_pad", l.headers_pad, 16);
      in.each_with("batches", l.batches, n, [&](auto& each, auto& b, std::size_t i) {
        std::remove_cvref_t<decltype(b)>::walk(each, b, l.batch_infos[i], l);
      });
      in.each("prop_points", l.prop_points);
    });
  }
};

struct MaterialRecord {
  std::array<char, 32> diffuse{};  // texture name
  float emissive = 0;              // 0 to 1
  float specular = 0, glossiness = 0;
  float reflection = 0;
  std::array<char, 32> reflection_map{};
  std::uint32_t flags = 1;  // 0x08: the texture has alpha (one public tool says so)

  static constexpr std::size_t min_wire_size = 84;
  static constexpr void fields(auto& ar, auto& m) {
    ar.text("diffuse", m.diffuse);
    ar("emissive", m.emissive);
    ar("specular", m.specular);
    ar("glossiness", m.glossiness);
    ar("reflection", m.reflection);
    ar.text("reflection_map", m.reflection_map);
    ar("flags", m.flags);
  }
};

struct Tail {
  std::array<char, 24> name{};
  float value = 0;

  static constexpr std::size_t min_wire_size = 28;
  static constexpr void fields(auto& ar, auto& t) {
    ar.text("name", t.name);
    ar("value", t.value);
  }
};

struct Submesh {
  std::array<char, 24> name{};
  std::array<char, 24> parent{};  // "None", empty, or a group
  std::int32_t version = 7;
  std::vector<float> lod_distances;  // metres, ascending from 0
  std::array<float, 3> offset{};     // metres, added to every vertex
  float radius = 0;                  // metres, around the origin of the submesh
  std::array<float, 3> box_min{}, box_max{};
  std::vector<Lod> lods;
  std::vector<MaterialRecord> materials;
  std::vector<Tail> tails;  // one in every known file, with the submesh's name

  static constexpr void fields(auto& ar, auto& s) {
    ar.text("name", s.name);
    ar.text("parent", s.parent);
    ar("version", s.version);
    ar.require_version(s.version == 7, "version", "only submesh version 7 is known");
    ar.template count<std::int32_t>("lod_distances", s.lod_distances);
    ar.each("lod_distances", s.lod_distances);
    ar("offset", s.offset);
    ar("radius", s.radius);
    ar("box_min", s.box_min);
    ar("box_max", s.box_max);
    ar.each("lods", s.lods, static_cast<std::int64_t>(s.lod_distances.size()));
    ar.template count<std::int32_t>("materials", s.materials);
    ar.each("materials", s.materials);
    ar.template count<std::int32_t>("tails", s.tails);
    ar.each("tails", s.tails);
  }
};

struct Sphere {
  std::array<char, 24> name{};
  std::int32_t bone = -1;           // -1: relative to the model
  std::array<float, 3> position{};  // metres, relative to the bone's rest frame
  float radius = 0;                 // metres

  static constexpr void fields(auto& ar, auto& s) {
    ar.text("name", s.name);
    ar("bone", s.bone);
    ar("position", s.position);
    ar("radius", s.radius);
  }
};

struct Bone {
  std::array<char, 24> name{};
  std::array<float, 4> rotation{};     // conjugate of the inverse bind rotation, x y z w
  std::array<float, 3> translation{};  // of the inverse bind, metres
  std::int32_t parent = -1;            // may be higher than the bone's own index

  static constexpr std::size_t min_wire_size = 56;
  static constexpr void fields(auto& ar, auto& b) {
    ar.text("name", b.name);
    ar("rotation", b.rotation);
    ar("translation", b.translation);
    ar("parent", b.parent);
  }
};

struct Bones {
  std::vector<Bone> bones;

  static constexpr void fields(auto& ar, auto& b) {
    ar.template count<std::int32_t>("bones", b.bones);
    ar.each("bones", b.bones);
  }
};

struct Nothing {
  static constexpr void fields(auto&, auto&) {}
};

struct Chunk {
  std::uint32_t type = end_chunk;
  // Bytes, where it is right: 0 for submeshes; some tools write 40 for spheres (44 follow) and
  // 4 + 44 n for bones (4 + 56 n follow). Only an unknown chunk is stepped over by it.
  std::int32_t size = 0;
  std::variant<Nothing, Submesh, Sphere, Bones> body;
  Bytes unknown;  // the body of a chunk of another type

  std::size_t kind() const {
    switch (type) {
      case submesh_chunk:
        return 1;
      case sphere_chunk:
        return 2;
      case bone_chunk:
        return 3;
      default:
        return 0;
    }
  }

  static constexpr std::size_t min_wire_size = 8;
  static constexpr void fields(auto& ar, auto& c) {
    ar("type", c.type);
    ar("size", c.size);
    ar.choose("body", c.body, c.kind());
    const bool unknown = c.kind() == 0 && c.type != end_chunk;
    ar.bytes("unknown", c.unknown, unknown ? std::int64_t{c.size} : 0);
  }
};

struct File {
  std::uint32_t magic = character_magic;
  std::uint32_t version = 0x40000;
  std::int32_t num_submeshes = 0;  // bounds nothing: read the chunks
  std::array<std::int32_t, 3>
      unused{};                    // vertices, faces, normals before the original compiler ran
  std::int32_t num_materials = 0;  // of all submeshes
  std::array<std::int32_t, 2> unused2{};  // LODs, dumbs
  std::int32_t num_spheres = 0;
  std::vector<Chunk> chunks;  // the last one has type end_chunk
  Bytes trailing;             // after it; empty in every known file

  bool is_character() const { return magic == character_magic; }

  static constexpr void fields(auto& ar, auto& f) {
    ar("magic", f.magic);
    ar.require_magic(f.magic == character_magic || f.magic == static_magic, "magic",
                     "expected 'MCFR' (V3C) or 'D3FR' (V3M)");
    ar("version", f.version);
    ar.require_version(f.version == 0x40000, "version", "only version 0x40000 is known");
    ar("num_submeshes", f.num_submeshes);
    ar("unused", f.unused);
    ar("num_materials", f.num_materials);
    ar("unused2", f.unused2);
    ar("num_spheres", f.num_spheres);
    ar.each_until("chunks", f.chunks, [](const Chunk& c) { return c.type == end_chunk; });
    ar.rest("trailing", f.trailing);
  }
};

Result<File> read(ByteView in, const Limits& limits = {});
Result<Bytes> write(const File& file);
// Recomputes lengths and sizes after an edit. Stored sizes that are long enough stay.
void layout(File& file);
std::string dump(const File& file);
std::string to_json(const File& file);
Result<File> from_json(std::string_view json, const Limits& limits = {});

// Skeleton, skin, meshes, materials, prop points and collision spheres in the game's own space
// (left-handed). Fails with Code::bad_value where an index points nowhere; bones in a cycle are cut loose.
Result<Model> to_model(const File& file, std::string name = {});

// Broken indices, wrong counts, unreachable data, limits of the game. See docs/formats/v3c.md.
std::vector<Finding> check(const File& file);

}  // namespace dopesheet::v3c
