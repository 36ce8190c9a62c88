// document -> Model. Sources of every rule: docs/formats/mt5.md.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>

#include "dopesheet/sample.hpp"
#include "dopesheet/shenmue_rig.hpp"
#include "io/text.hpp"
#include "mt5_tree.hpp"

namespace dopesheet::mt5 {
namespace {

Vec3 vec(const std::array<float, 3>& v) { return {v[0], v[1], v[2]}; }
bool finite(Vec3 v) { return std::isfinite(v.x) && std::isfinite(v.y) && std::isfinite(v.z); }
double dot(Vec3 a, Vec3 b) { return double{a.x} * b.x + double{a.y} * b.y + double{a.z} * b.z; }
Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

// Both formats: the nodes as joints in their order.
template <class Node>
void add_nodes(const std::vector<Node>& nodes, const Places& places, Model& model) {
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    const Node& n = nodes[i];
    dopesheet::Node joint;
    joint.parent = i < places.parents.size() ? places.parents[i] : -1;
    const auto turn = [&](std::size_t axis) {
      return static_cast<float>(bams(n.rotation[axis]) / shenmue::bams_per_turn);
    };
    joint.rest = {vec(n.position), rotation_of_turns({turn(0), turn(1), turn(2)}), vec(n.scale)};
    const auto bone = shenmue::bone_of_node(n.id);
    const auto family = shenmue::family_of_root(n.id);
    if (family) joint.name = "root";
    // Every other node of a stage has bone 0: that says nothing.
    if (bone && (*bone != 0 || joint.parent < 0)) joint.name = shenmue::bone_name(*bone);
    if (joint.name.empty()) joint.name = fmt::format("node_{}", i);
    joint.properties.push_back({"mt5_id", std::int64_t{n.id}});
    if (bone) joint.properties.push_back({"mt5_bone", std::int64_t{*bone}});
    if (family) joint.properties.push_back({"mt5_family", std::int64_t{*family}});
    if (i < places.nodes.size())
      joint.properties.push_back({"mt5_offset", std::int64_t{places.nodes[i]}});
    model.nodes.push_back(std::move(joint));
  }
}

std::vector<Transform> object_rest(const Model& model) {
  std::vector<Transform> local, object(model.nodes.size());
  for (const auto& n : model.nodes) local.push_back(n.rest);
  to_object_space(model.nodes, topological_order(model.nodes), local, object);
  return object;
}
// Exact for the same scale on all axes; no other was seen.
Transform inverse_bind(const Transform& object) {
  Transform t = inverse(object);
  const auto over = [](float a, float s) { return s != 0 ? a / s : a; };
  const Vec3 s = object.scale;
  t.translation = {over(t.translation.x, s.x), over(t.translation.y, s.y),
                   over(t.translation.z, s.z)};
  t.scale = {over(1, s.x), over(1, s.y), over(1, s.z)};
  return t;
}

// Of parents that a corner may reach; no source speaks of more than a grandparent.
constexpr int most_generations = 16;

// What the stream said last, and what holds until it says something else.
struct Attributes {
  std::uint16_t texture = 0;
  float uv_size;
  bool high_resolution = false, mirror_u = false, mirror_v = false;
};

std::string lost_corners(std::size_t triangles) {
  return fmt::format("{} triangles have a corner that is not in this file", triangles);
}

class Builder {
 public:
  Builder(const File& file, const ModelOptions& options, Model& model, std::vector<Loss>* losses)
      : file_(file),
        options_(options),
        model_(model),
        losses_(losses),
        object_(object_rest(model)) {
    skinned_ = model.nodes.size() <= 256;
  }

  void run() {
    for (std::size_t i = 0; i < file_.nodes.size(); ++i) {
      if (file_.nodes[i].mesh == 0) continue;
      const Mesh mesh = mesh_of(file_, i);
      if (mesh.header == nullptr) {
        lose(fmt::format("nodes[{}].mesh", i),
             "leaves the file or overlaps another record; not shown");
        continue;
      }
      stream(i, mesh);
    }
    dopesheet::Mesh mesh;
    mesh.name = model_.name.empty() ? "mesh" : model_.name;
    mesh.properties = {
        {"mt5_unverified", std::string("built by a description that no real file confirmed")}};
    for (auto& [key, built] : primitives_) {
      if (built.primitive.triangles.empty()) continue;
      built.primitive.material = model_.materials.size();
      model_.materials.push_back(material(key));
      mesh.primitives.push_back(std::move(built.primitive));
    }
    if (mesh.primitives.empty()) return;
    if (!skinned_) lose("nodes", "more than 256 of them: the mesh has no skin");
    model_.meshes.push_back(std::move(mesh));
  }

  // Per node, triangles with a corner that is not in the file.
  const std::map<std::size_t, std::size_t>& dropped() const { return dropped_; }

 private:
  struct Key {
    std::uint16_t texture;
    bool mirror_u, mirror_v;
    auto operator<=>(const Key&) const = default;
  };
  struct Place {
    std::size_t node, vertex;
    auto operator<=>(const Place&) const = default;
  };
  struct Built {
    Primitive primitive;
    std::map<std::tuple<Place, std::array<float, 2>>, std::uint32_t> index;
  };

  void lose(std::string path, std::string text) {
    if (losses_ != nullptr) losses_->push_back({std::move(path), std::move(text)});
  }

  void stream(std::size_t node, const Mesh& mesh) {
    Attributes now{.uv_size = options_.uv_size};
    std::size_t dropped = 0;
    for (std::size_t i = 0; i < mesh.commands.size(); ++i) {
      const Command& c = mesh.commands[i];
      const auto path = [&] { return fmt::format("nodes[{}].mesh.commands[{}]", node, i); };
      if (c.kind() == Command::Kind::unknown) {
        lose(path(), fmt::format("unknown op {:#06x}: the rest of the mesh is not shown", c.op));
      } else if (c.kind() == Command::Kind::strips) {
        const auto strips = strips_of(c);
        if (!strips) {
          lose(path(), strips.error().text);
          continue;
        }
        for (const Strip& s : *strips) dropped += strip(node, s, now);
      } else {
        attribute(c, now);
      }
    }
    if (dropped == 0) return;
    dropped_[node] = dropped;
    lose(fmt::format("nodes[{}].mesh", node), lost_corners(dropped));
  }

  static void attribute(const Command& c, Attributes& now) {
    const auto byte = [&](std::size_t i) {
      return i < c.data.size() ? std::to_integer<unsigned>(c.data[i]) : 0U;
    };
    if (c.op == 0x0009) now.texture = c.value;
    if (c.op == 0x000B && c.value != 0) now.uv_size = c.value;
    if (c.op >= 0x0002 && c.op <= 0x0007) {
      now.high_resolution = (byte(0) & 1U) != 0;
      now.mirror_u = (byte(10) & 4U) != 0;
      now.mirror_v = (byte(10) & 2U) != 0;
    }
  }

  // A vertex of this node's mesh or, below 0, of a parent's.
  std::optional<Place> find(std::size_t node, int vertex) const {
    for (int generation = 0; generation < most_generations; ++generation) {
      const Mesh mesh = mesh_of(file_, node);
      if (vertex >= 0) {
        if (static_cast<std::size_t>(vertex) >= mesh.vertices.size()) return {};
        return Place{node, static_cast<std::size_t>(vertex)};
      }
      const int parent = model_.nodes[node].parent;
      if (parent < 0) return {};
      node = static_cast<std::size_t>(parent);
      vertex += static_cast<int>(mesh_of(file_, node).vertices.size());
    }
    return {};
  }

  // Returns how many triangles are not in the model.
  std::size_t strip(std::size_t node, const Strip& s, const Attributes& now) {
    if (s.corners.size() < 3) return 0;
    Built& built = primitives_[{now.texture, now.mirror_u, now.mirror_v}];
    std::vector<std::optional<std::uint32_t>> corners;
    for (const Corner& c : s.corners) {
      const auto place = find(node, c.vertex);
      corners.push_back(place ? std::optional(vertex(built, *place, c, now)) : std::nullopt);
    }
    std::vector<std::array<std::uint32_t, 3>> triangles;
    std::size_t dropped = 0;
    double agreement = 0;
    for (std::size_t i = 0; i + 2 < corners.size(); ++i) {
      const auto a = corners[i], b = corners[i + 1], c = corners[i + 2];
      if (!a || !b || !c) {
        ++dropped;
        continue;
      }
      const auto [first, second] = i % 2 == 0 ? std::pair{*b, *c} : std::pair{*c, *b};
      const Primitive& p = built.primitive;
      const Vec3 normal =
          cross(p.positions[first] - p.positions[*a], p.positions[second] - p.positions[*a]);
      if (!(dot(normal, normal) > 1e-24)) continue;  // no area
      for (const std::uint32_t v : {*a, first, second})
        agreement += dot(normal, p.normals[v]) > 0 ? 1 : -1;
      triangles.push_back({*a, first, second});
    }
    const bool turn = options_.winding == Winding::reversed ||
                      (options_.winding == Winding::by_normals && agreement < 0);
    for (auto& t : triangles) {
      if (turn) std::swap(t[1], t[2]);
      built.primitive.triangles.push_back(t);
    }
    return dropped;
  }

  std::uint32_t vertex(Built& built, const Place& place, const Corner& c, const Attributes& now) {
    const float size = now.high_resolution ? options_.uvh_size : now.uv_size;
    const std::array<float, 2> uv{static_cast<float>(c.uv[0]) / size,
                                  static_cast<float>(c.uv[1]) / size};
    Primitive& p = built.primitive;
    const auto [known, is_new] =
        built.index.try_emplace({place, uv}, static_cast<std::uint32_t>(p.positions.size()));
    if (!is_new) return known->second;
    const Vertex& v = mesh_of(file_, place.node).vertices[place.vertex];
    const Transform& object = object_[place.node];
    p.positions.push_back((object * Transform{vec(v.position), {}, {1, 1, 1}}).translation);
    const Vec3 n = rotate(object.rotation, vec(v.normal));
    const float length = dopesheet::length(n);
    p.normals.push_back(length > 1e-6F && finite(n) ? (1 / length) * n : Vec3{0, 1, 0});
    p.uvs.push_back(uv);
    if (skinned_) {
      Influence in;
      in.joints[0] = static_cast<std::uint8_t>(place.node);
      in.weights[0] = 1;
      p.influences.push_back(in);
    }
    return known->second;
  }

  static Material material(const Key& key) {
    Material m;
    m.name = key.texture == 0xFFFF ? "trigger" : fmt::format("texture_{}", key.texture);
    m.properties = {{"mt5_texture", std::int64_t{key.texture}}};
    if (key.mirror_u) m.properties.push_back({"mt5_mirror_u", std::int64_t{1}});
    if (key.mirror_v) m.properties.push_back({"mt5_mirror_v", std::int64_t{1}});
    return m;
  }

  const File& file_;
  const ModelOptions& options_;
  Model& model_;
  std::vector<Loss>* losses_;
  std::vector<Transform> object_;
  bool skinned_ = true;
  std::map<Key, Built> primitives_;
  std::map<std::size_t, std::size_t> dropped_;
};

// ---- checks

constexpr std::size_t most_of_a_kind = 20;  // findings of one code that are spelled out

class Findings {
 public:
  void say(const char* code, Level level, std::string path, std::string text) {
    auto& [n, l] = counts_[code];
    l = level;
    if (++n <= most_of_a_kind) out_.push_back({code, level, std::move(path), std::move(text)});
  }
  std::vector<Finding> take() {
    for (const auto& [code, c] : counts_) {
      if (c.first > most_of_a_kind) {
        out_.push_back(
            {code, c.second, {}, fmt::format("{} more of these", c.first - most_of_a_kind)});
      }
    }
    return std::move(out_);
  }

 private:
  std::vector<Finding> out_;
  std::map<std::string, std::pair<std::size_t, Level>> counts_;
};

template <class Node>
void check_nodes(const std::vector<Node>& nodes, const Places& places, Findings& out) {
  const std::size_t n = std::min({nodes.size(), places.nodes.size(), places.parents.size()});
  std::map<int, std::size_t> bones;
  bool is_character = false;
  for (std::size_t i = 0; i < n; ++i) {
    const Node& node = nodes[i];
    const auto path = [&](const char* field) { return fmt::format("nodes[{}].{}", i, field); };
    const std::uint32_t parent =
        places.parents[i] < 0 ? 0 : places.nodes[static_cast<std::size_t>(places.parents[i])];
    if (node.parent != parent) {
      out.say("mt5-parent", Level::warning, path("parent"),
              fmt::format("says {}, the tree says {}", node.parent, parent));
    }
    if (places.nodes[i] % 4 != 0) {
      out.say("mt5-alignment", Level::warning, fmt::format("nodes[{}]", i),
              fmt::format("starts at {}, which is no multiple of 4", places.nodes[i]));
    }
    for (const std::uint32_t w : node.rotation) {
      const std::uint32_t high = w >> 16;
      if (high != 0 && !(high == 0xFFFF && (w & 0x8000U) != 0)) {
        out.say("mt5-rotation", Level::note, path("rotation"),
                fmt::format("{:#x} has more than 16 bits; the low ones count", w));
      }
    }
    if (!finite(vec(node.position)) || !finite(vec(node.scale))) {
      out.say("mt5-not-finite", Level::error, path("position"),
              "position or scale is not a number");
    }
    if (node.scale[0] == 0 || node.scale[1] == 0 || node.scale[2] == 0) {
      out.say("mt5-scale", Level::error, path("scale"), "a scale of 0 makes the part vanish");
    }
    is_character = is_character || (places.parents[i] < 0 && shenmue::family_of_root(node.id));
    if (const auto bone = shenmue::bone_of_node(node.id)) ++bones[*bone];
  }
  for (const int bone : {1, 14, 17, 22, 5, 6, 10, 11}) {
    if (is_character && bones[bone] != 1) {
      out.say("mt5-bones", Level::warning, "nodes",
              fmt::format("{} nodes are the bone {} ({}); a character has one", bones[bone], bone,
                          shenmue::bone_name(bone)));
    }
  }
}

}  // namespace

Model to_model(const File& file, std::string name, const ModelOptions& options,
               std::vector<Loss>* losses) {
  Model model;
  model.name = std::move(name);
  add_nodes(file.nodes, file.places, model);
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    const auto& tag = file.nodes[i].tag;
    const std::string_view text = io::until_zero({tag.data(), tag.size()});
    if (!text.empty()) model.nodes[i].properties.push_back({"mt5_tag", std::string(text)});
  }
  for (const Transform& t : object_rest(model)) model.inverse_bind.push_back(inverse_bind(t));
  Builder(file, options, model, losses).run();
  return model;
}

std::vector<Finding> check(const File& file) {
  Findings out;
  check_nodes(file.nodes, file.places, out);
  for (std::size_t i = 0; i < file.nodes.size(); ++i) {
    if (file.nodes[i].mesh != 0 && mesh_of(file, i).header == nullptr) {
      out.say("mt5-mesh", Level::error, fmt::format("nodes[{}].mesh", i),
              "a mesh leaves the file or overlaps another record; no mesh was read");
      break;
    }
  }
  for (std::size_t i = 0; i < file.streams.size(); ++i) {
    for (std::size_t k = 0; k < file.streams[i].commands.size(); ++k) {
      const Command& c = file.streams[i].commands[k];
      const auto path = [&] { return fmt::format("streams[{}].commands[{}]", i, k); };
      if (c.kind() == Command::Kind::unknown) {
        out.say("mt5-op", Level::error, path(),
                fmt::format("{:#06x} is no known op; the stream ends here", c.op));
      } else if (c.kind() == Command::Kind::strips) {
        if (const auto strips = strips_of(c); !strips)
          out.say("mt5-strip", Level::error, path(), strips.error().text);
      }
    }
  }
  Model model;
  add_nodes(file.nodes, file.places, model);
  const ModelOptions options;
  Builder builder(file, options, model, nullptr);
  builder.run();
  for (const auto& [node, triangles] : builder.dropped()) {
    out.say("mt5-corner", Level::warning, fmt::format("nodes[{}].mesh", node),
            lost_corners(triangles));
  }
  return out.take();
}

}  // namespace dopesheet::mt5

namespace dopesheet::mt7 {

Model to_model(const File& file, std::string name) {
  Model model;
  model.name = std::move(name);
  mt5::add_nodes(file.nodes, file.places, model);
  for (const Transform& t : mt5::object_rest(model))
    model.inverse_bind.push_back(mt5::inverse_bind(t));
  return model;
}

std::vector<Finding> check(const File& file) {
  mt5::Findings out;
  mt5::check_nodes(file.nodes, file.places, out);
  return out.take();
}

}  // namespace dopesheet::mt7
