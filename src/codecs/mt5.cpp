// bytes <-> document. Games: Shenmue (1999), Shenmue II (2001); no real file was at hand.
#include "dopesheet/mt5.hpp"

#include <algorithm>

#include "io/dump.hpp"
#include "io/json.hpp"
#include "mt5_tree.hpp"

namespace dopesheet::mt5 {
namespace {

std::uint32_t word(ByteView in, std::size_t at) {
  return io::detail::load<std::uint32_t, std::endian::native == std::endian::big>(in.data() + at);
}
std::size_t half(ByteView in, std::size_t at) {
  return io::detail::load<std::uint16_t, std::endian::native == std::endian::big>(in.data() + at);
}

void make_distinct(std::vector<std::uint32_t>& offsets) {
  std::sort(offsets.begin(), offsets.end());
  offsets.erase(std::unique(offsets.begin(), offsets.end()), offsets.end());
}
std::size_t index_of(const std::vector<std::uint32_t>& offsets, std::uint32_t offset) {
  return static_cast<std::size_t>(std::lower_bound(offsets.begin(), offsets.end(), offset) -
                                  offsets.begin());
}

std::vector<std::uint32_t> mesh_places(const std::vector<Node>& nodes) {
  std::vector<std::uint32_t> out;
  for (const Node& n : nodes) {
    if (n.mesh != 0) out.push_back(n.mesh);
  }
  make_distinct(out);
  return out;
}
void add_mesh_data(const std::vector<MeshHeader>& meshes, Places& places) {
  places.vertices.clear();
  places.streams.clear();
  for (const MeshHeader& m : meshes) {
    if (m.num_vertices > 0) places.vertices.push_back(m.vertices);
    if (m.polygons != 0) places.streams.push_back(m.polygons);
  }
  make_distinct(places.vertices);
  make_distinct(places.streams);
}

// How many bytes a polygon stream takes; 0 where it leaves the file.
std::size_t stream_size(ByteView in, std::size_t begin) {
  for (std::size_t at = begin; at <= in.size() && in.size() - at >= 2;) {
    const auto kind = Command::kind_of(static_cast<unsigned>(half(in, at)));
    at += 2;
    if (kind == Command::Kind::end || kind == Command::Kind::unknown) return at - begin;
    if (kind == Command::Kind::none) continue;
    if (in.size() - at < 2) return 0;
    const std::size_t length = kind == Command::Kind::word ? 0 : half(in, at);
    at += 2;
    if (in.size() - at < length) return 0;
    at += length;
  }
  return 0;
}

// Finds the meshes of the nodes and makes room for them. False where that is more than the file can
// hold without overlaps, so that hostile offsets take no memory.
bool find_meshes(ByteView in, const std::vector<std::uint32_t>& offsets, File& file) {
  std::size_t left = in.size();
  const auto take = [&](std::size_t at, std::size_t size) {
    if (at > in.size() || size > in.size() - at || size > left) return false;
    left -= size;
    return true;
  };
  file.meshes.assign(offsets.size(), {});
  for (std::size_t i = 0; i < offsets.size(); ++i) {
    if (!take(offsets[i], MeshHeader::wire_size)) return false;
    io::Reader r(in.subspan(offsets[i]));
    MeshHeader::fields(r, file.meshes[i]);
  }
  file.places.meshes = offsets;
  add_mesh_data(file.meshes, file.places);
  std::vector<std::size_t> lengths(file.places.vertices.size(), 0);
  for (const MeshHeader& m : file.meshes) {
    if (m.num_vertices < 0) return false;
    if (m.num_vertices == 0) continue;
    auto& n = lengths[index_of(file.places.vertices, m.vertices)];
    n = std::max(n, static_cast<std::size_t>(m.num_vertices));
  }
  file.vertex_arrays.assign(lengths.size(), {});
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    if (!take(file.places.vertices[i], lengths[i] * Vertex::wire_size)) return false;
    file.vertex_arrays[i].vertices.resize(lengths[i]);
  }
  for (const std::uint32_t at : file.places.streams) {
    const std::size_t size = stream_size(in, at);
    if (size == 0 || !take(at, size)) return false;
  }
  file.streams.assign(file.places.streams.size(), {});
  return true;
}
void forget_meshes(File& file) {
  file.meshes.clear();
  file.vertex_arrays.clear();
  file.streams.clear();
  file.places.meshes.clear();
  file.places.vertices.clear();
  file.places.streams.clear();
}

bool same_places(const Places& a, const Places& b) {
  return a.nodes == b.nodes && a.meshes == b.meshes && a.vertices == b.vertices &&
         a.streams == b.streams;
}
Result<Places> places_of(const File& file) {
  auto places = walk_nodes(file.nodes, file.first_node);
  if (!places || file.meshes.empty()) return places;
  places->meshes = mesh_places(file.nodes);
  add_mesh_data(file.meshes, *places);
  return places;
}

Error header_error(ByteView in, std::size_t size) {
  return {Code::truncated,
          in.size(),
          {},
          fmt::format("the header has {} bytes, {} are here", size, in.size())};
}

}  // namespace

bool probe(ByteView in) {
  return in.size() >= 12 && word(in, 0) == 0x4D435248 && word(in, 8) >= 12 &&
         word(in, 8) < in.size();
}

Result<File> read(ByteView in, const Limits& limits) {
  if (in.size() > limits.bytes)
    return refuse(Code::limit, 0, "", "the input is larger than the limit");
  if (in.size() >= 4 && word(in, 0) != 0x4D435248)
    return refuse(Code::bad_magic, 0, "magic", "expected 'HRCM'");
  if (in.size() < 12) return tl::unexpected(header_error(in, 12));
  const auto tree = walk_bytes<Node>(in, word(in, first_node_field));
  if (!tree) return tl::unexpected(tree.error());

  Result<File> file{File{}};
  std::vector<std::uint32_t> meshes;
  for (const std::uint32_t at : tree->nodes) {
    if (const std::uint32_t mesh = word(in, at + 4); mesh != 0) meshes.push_back(mesh);
  }
  make_distinct(meshes);
  for (const bool with_meshes : {true, false}) {
    file->places = *tree;
    file->nodes.assign(tree->nodes.size(), {});
    if (!with_meshes || !find_meshes(in, meshes, *file)) forget_meshes(*file);
    io::Reader r(in);
    File::fields(r, *file);
    if (r.ok()) return file;
    if (file->meshes.empty()) return tl::unexpected(r.error());
  }
  return file;
}

Result<Bytes> write(const File& file) {
  const auto places = places_of(file);
  if (!places) return tl::unexpected(places.error());
  if (!same_places(*places, file.places)) {
    return refuse(Code::bad_document, 0, "nodes",
                  "offsets have changed; records cannot move in this format");
  }
  return io::write(file);
}

std::string dump(const File& file) { return io::dump(file); }
std::string to_json(const File& file) { return io::to_json(file, "mt5"); }
Result<File> from_json(std::string_view json, const Limits& limits) {
  auto file = io::from_json<File>(json, "mt5", limits);
  if (!file) return file;
  auto places = places_of(*file);
  if (!places) return tl::unexpected(places.error());
  file->places = std::move(*places);
  return file;
}

Mesh mesh_of(const File& file, std::size_t node) {
  Mesh out;
  if (node >= file.nodes.size() || file.nodes[node].mesh == 0) return out;
  const auto at = [](const auto& list, const auto& offsets, std::uint32_t offset) {
    const std::size_t i = index_of(offsets, offset);
    return i < list.size() && i < offsets.size() && offsets[i] == offset ? &list[i] : nullptr;
  };
  out.header = at(file.meshes, file.places.meshes, file.nodes[node].mesh);
  if (out.header == nullptr) return out;
  if (const auto* a = at(file.vertex_arrays, file.places.vertices, out.header->vertices);
      a != nullptr && out.header->num_vertices > 0) {
    out.vertices = std::span(a->vertices)
                       .first(std::min(a->vertices.size(),
                                       static_cast<std::size_t>(out.header->num_vertices)));
  }
  if (const auto* s = at(file.streams, file.places.streams, out.header->polygons))
    out.commands = s->commands;
  return out;
}

Result<std::vector<Strip>> strips_of(const Command& command) {
  std::vector<Strip> strips;
  const unsigned op = command.op;
  const bool has_uv = op == 0x11 || op == 0x14 || op == 0x19 || op == 0x1C;
  const bool has_colour = op == 0x12 || op == 0x14 || op == 0x1A || op == 0x1C;
  const std::size_t corner_size = 2 + (has_uv ? 4U : 0U) + (has_colour ? 4U : 0U);
  io::Reader in(command.data);
  std::uint16_t n = 0;
  in("num_strips", n);
  for (std::size_t i = 0; i < n && in.ok(); ++i) {
    Strip strip;
    in("length", strip.length);
    const auto corners = static_cast<std::size_t>(std::abs(int{strip.length}));
    if (in.ok() && corners > in.left() / corner_size) {
      return refuse(Code::bad_value, in.offset(), fmt::format("strips[{}].length", i),
                    fmt::format("{} corners do not fit in the {} bytes left", corners, in.left()));
    }
    strip.corners.resize(in.ok() ? corners : 0);
    for (Corner& c : strip.corners) {
      in("vertex", c.vertex);
      if (has_uv) in("uv", c.uv);
      if (has_colour) in("colour", c.colour);
    }
    strips.push_back(std::move(strip));
  }
  if (!in.ok()) return tl::unexpected(in.error());
  if (in.left() != 0) {
    return refuse(Code::bad_value, in.offset(), "strips",
                  fmt::format("{} bytes follow the last strip", in.left()));
  }
  return strips;
}

}  // namespace dopesheet::mt5

namespace dopesheet::mt7 {

bool is_magic(const std::array<char, 4>& m) {
  const bool kind = m[2] == 'C' || m[2] == 'P' || m[2] == 'O' || m[2] == 'L';
  return m[0] == 'M' && m[1] == 'D' && kind && (m[3] == 'X' || m[3] == '7');
}

bool probe(ByteView in) {
  if (in.size() < 16) return false;
  std::array<char, 4> magic{};
  std::memcpy(magic.data(), in.data(), 4);
  return is_magic(magic) && mt5::word(in, 8) >= 16 && mt5::word(in, 8) < in.size();
}

Result<File> read(ByteView in, const Limits& limits) {
  if (in.size() > limits.bytes)
    return mt5::refuse(Code::limit, 0, "", "the input is larger than the limit");
  if (in.size() < 16) return tl::unexpected(mt5::header_error(in, 16));
  Result<File> file{File{}};
  io::Reader head(in);
  File::fields(head, *file);  // for the magic
  if (!head.ok()) return tl::unexpected(head.error());
  auto tree = mt5::walk_bytes<Node>(in, file->first_node);
  if (!tree) return tl::unexpected(tree.error());
  file->places = std::move(*tree);
  file->nodes.assign(file->places.nodes.size(), {});
  io::Reader r(in);
  File::fields(r, *file);
  if (!r.ok()) return tl::unexpected(r.error());
  return file;
}

Result<Bytes> write(const File& file) {
  const auto places = mt5::walk_nodes(file.nodes, file.first_node);
  if (!places) return tl::unexpected(places.error());
  if (places->nodes != file.places.nodes) {
    return mt5::refuse(Code::bad_document, 0, "nodes",
                       "offsets have changed; records cannot move in this format");
  }
  return io::write(file);
}

std::string dump(const File& file) { return io::dump(file); }
std::string to_json(const File& file) { return io::to_json(file, "mt7"); }
Result<File> from_json(std::string_view json, const Limits& limits) {
  auto file = io::from_json<File>(json, "mt7", limits);
  if (!file) return file;
  auto places = mt5::walk_nodes(file->nodes, file->first_node);
  if (!places) return tl::unexpected(places.error());
  file->places = std::move(*places);
  return file;
}

}  // namespace dopesheet::mt7
