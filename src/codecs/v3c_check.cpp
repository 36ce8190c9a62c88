// What the game or other tools would trip over in a mesh that reads. The codes are listed in
// docs/formats/v3c.md.
#include <fmt/format.h>

#include <concepts>
#include <map>
#include <string_view>
#include <utility>

#include "findings.hpp"
#include "io/text.hpp"
#include "v3c_geometry.hpp"

namespace dopesheet::v3c {
namespace {

constexpr std::size_t max_bones = 50, max_lods = 3, max_textures = 7, max_prop_points = 32;
constexpr std::size_t max_vertices = 5232, max_triangles = 3077;  // of a batch

template <std::size_t N>
std::string_view text(const std::array<char, N>& field) {
  return io::until_zero({field.data(), N});
}

bool equal_without_case(std::string_view a, std::string_view b) {
  const auto lower = [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  };
  return std::ranges::equal(a, b, {}, lower, lower);
}

template <std::size_t N>
bool finite(const std::array<float, N>& v) {
  return std::ranges::all_of(v, [](float x) { return std::isfinite(x); });
}
bool close(double a, double b, double tolerance) {
  return std::abs(a - b) <= tolerance * std::max(1.0, std::abs(b));
}

bool same(const PropPoint& a, const PropPoint& b) {
  return text(a.name) == text(b.name) && a.rotation == b.rotation && a.position == b.position &&
         a.bone == b.bone;
}

class Checker {
 public:
  explicit Checker(const File& file) : file_(file) {
    if (const auto [bones, chunk] = find_bones(file); bones != nullptr)
      num_bones_ = bones->bones.size();
    skinned_ = file.is_character() && num_bones_ > 0;
  }

  std::vector<Finding> run() {
    counts();
    for (std::size_t i = 0; i < file_.chunks.size(); ++i)
      chunk(file_.chunks[i], fmt::format("chunks[{}]", i));
    if (!file_.trailing.empty()) {
      say("v3c-trailing-bytes", Level::warning, "trailing", [&] {
        return fmt::format("{} bytes after the last chunk; readers stop before them",
                           file_.trailing.size());
      });
    }
    return findings_.take();
  }

 private:
  void say(const char* code, Level level, const auto& path, const auto& text) {
    findings_.say(code, level, path, text);
  }
  static auto item(const std::string& path, const char* list, std::size_t i) {
    return [&path, list, i] { return fmt::format("{}.{}[{}]", path, list, i); };
  }

  // ---- the file

  void counts() {
    std::int64_t submeshes = 0, spheres = 0, materials = 0, skeletons = 0;
    for (const Chunk& c : file_.chunks) {
      if (const auto* s = std::get_if<Submesh>(&c.body)) {
        ++submeshes;
        materials += static_cast<std::int64_t>(s->materials.size());
      }
      spheres += std::holds_alternative<Sphere>(c.body);
      skeletons += std::holds_alternative<Bones>(c.body);
    }
    const auto expect = [&](const char* code, const char* path, std::int64_t stored,
                            std::int64_t found) {
      if (stored == found) return;
      say(code, Level::warning, path, [&] {
        return fmt::format(
            "says {}, the file has {}; readers go by the chunks, but every known file agrees",
            stored, found);
      });
    };
    expect("v3c-submesh-count", "num_submeshes", file_.num_submeshes, submeshes);
    expect("v3c-sphere-count", "num_spheres", file_.num_spheres, spheres);
    expect("v3c-material-count", "num_materials", file_.num_materials, materials);
    if (skeletons > 1) {
      say("v3c-bone-chunks", Level::warning, "chunks",
          fmt::format("{} bone chunks; converters take the first", skeletons));
    }
    if (file_.is_character() && num_bones_ == 0) {
      say("v3c-no-bones", Level::warning, "magic",
          "a character without bones; no clip can move it");
    }
    if (!file_.is_character() && skeletons > 0) {
      say("v3c-static-bones", Level::warning, "magic",
          "a static mesh with bones; converters do not skin it");
    }
  }

  void chunk(const Chunk& c, const std::string& path) {
    const std::string body = path + ".body";
    if (const auto* s = std::get_if<Submesh>(&c.body)) {
      chunk_size(c, 0, path);
      submesh(*s, body);
    } else if (const auto* sphere = std::get_if<Sphere>(&c.body)) {
      chunk_size(c, 44, path);
      name(sphere->name, body + ".name");
      bone_index(sphere->bone, "v3c-sphere-bone", body + ".bone");
      if (!finite(sphere->position) || !std::isfinite(sphere->radius)) not_finite(body);
    } else if (const auto* b = std::get_if<Bones>(&c.body)) {
      chunk_size(c, 4 + 56 * static_cast<std::int64_t>(b->bones.size()), path);
      skeleton(b->bones, body);
    } else if (c.type != end_chunk) {
      say("v3c-unknown-chunk", Level::note, path, [&] {
        return fmt::format("type {:#010x}, {} bytes; readers step over it", c.type,
                           c.unknown.size());
      });
    }
  }

  void chunk_size(const Chunk& c, std::int64_t right, const std::string& path) {
    if (c.size == right) return;
    say("v3c-chunk-size", Level::note, path + ".size", [&] {
      return fmt::format(
          "{} instead of {}; some tools write this, and readers that step by it get lost", c.size,
          right);
    });
  }

  template <std::size_t N>
  void name(const std::array<char, N>& field, const std::string& path) {
    if (text(field).size() < N) return;
    say("v3c-name-length", Level::warning, path, [&] {
      return fmt::format(
          "no zero byte in {} characters; a reader of C strings runs into the next field", N);
    });
  }

  void not_finite(const auto& path) {
    say("v3c-not-finite", Level::error, path,
        "holds a number that is not finite; converters put 0 there, or leave the face out");
  }

  void bone_index(std::int32_t bone, const char* code, const std::string& path) {
    if (bone == -1 || (bone >= 0 && std::cmp_less(bone, num_bones_))) return;
    say(code, Level::error, path, [&] {
      return fmt::format("bone {} of {} does not exist; converters refuse the file", bone,
                         num_bones_);
    });
  }

  // ---- the skeleton

  void skeleton(const std::vector<Bone>& bones, const std::string& path) {
    if (bones.size() > max_bones) {
      say("v3c-bone-limit", Level::error, path + ".bones",
          fmt::format("{} bones; the game's tables hold {}", bones.size(), max_bones));
    }
    std::map<std::string_view, std::size_t> names;
    std::vector<Node> nodes(bones.size());
    std::size_t roots = 0;
    for (std::size_t i = 0; i < bones.size(); ++i) {
      const Bone& b = bones[i];
      const std::string at = fmt::format("{}.bones[{}]", path, i);
      name(b.name, at + ".name");
      if (const auto [first, is_new] = names.try_emplace(text(b.name), i); !is_new) {
        say("v3c-bone-name", Level::warning, at + ".name", [&, twin = first->second] {
          return fmt::format(
              "bone {} has the same name; tools that match bones by name mix them up", twin);
        });
      }
      const double norm =
          std::sqrt(double{b.rotation[0]} * b.rotation[0] + double{b.rotation[1]} * b.rotation[1] +
                    double{b.rotation[2]} * b.rotation[2] + double{b.rotation[3]} * b.rotation[3]);
      if (!finite(b.rotation) || !finite(b.translation)) {
        not_finite(at);
      } else if (!close(norm, 1, 0.001)) {
        say("v3c-bone-rotation", Level::warning, at + ".rotation", [&] {
          return fmt::format(
              "length {:.4f} instead of 1; converters normalise it, the game may scale the skin",
              norm);
        });
      }
      roots += b.parent == -1;
      nodes[i].parent = b.parent;
      if (b.parent < -1 || (b.parent >= 0 && std::cmp_greater_equal(b.parent, bones.size()))) {
        nodes[i].parent = -1;
        say("v3c-bone-parent", Level::error, at + ".parent", [&] {
          return fmt::format("bone {} of {} does not exist; converters make this one a root",
                             b.parent, bones.size());
        });
      }
    }
    if (!bones.empty() && roots != 1) {
      say("v3c-bone-roots", Level::warning, path + ".bones",
          fmt::format("{} bones without a parent; every known skeleton has one", roots));
    }
    cycles(nodes, path);
  }

  void cycles(const std::vector<Node>& nodes, const std::string& path) {
    std::vector<bool> seen(nodes.size());
    for (const std::size_t i : topological_order(nodes)) {
      const int parent = nodes[i].parent;
      if (parent >= 0 && !seen[static_cast<std::size_t>(parent)]) {
        say("v3c-bone-cycle", Level::error, fmt::format("{}.bones[{}].parent", path, i),
            "the bone is its own ancestor, so that no pose can be computed; converters make it a "
            "root");
      }
      seen[i] = true;
    }
  }

  // ---- submeshes and their levels of detail

  void submesh(const Submesh& s, const std::string& path) {
    name(s.name, path + ".name");
    name(s.parent, path + ".parent");
    if (s.lods.empty() || s.lods.size() > max_lods) {
      say("v3c-lod-count", Level::error, path + ".lods",
          fmt::format("{} levels of detail; the game takes 1 to {}", s.lods.size(), max_lods));
    }
    for (std::size_t i = 0; i < s.lod_distances.size(); ++i) {
      const float d = s.lod_distances[i];
      if (i == 0 ? d == 0 : d > s.lod_distances[i - 1]) continue;
      say("v3c-lod-distance", Level::warning, item(path, "lod_distances", i),
          [&] { return fmt::format("{} metres; distances ascend from 0 in every known file", d); });
    }
    if (!finite(s.offset)) not_finite(path + ".offset");
    bounds(s, path);
    for (std::size_t i = 0; i < s.materials.size(); ++i) {
      name(s.materials[i].diffuse, fmt::format("{}.materials[{}].diffuse", path, i));
      name(s.materials[i].reflection_map, fmt::format("{}.materials[{}].reflection_map", path, i));
    }
    for (std::size_t i = 0; i < s.lods.size(); ++i) lod(s, i, fmt::format("{}.lods[{}]", path, i));
  }

  void bounds(const Submesh& s, const std::string& path) {
    if (s.lods.empty()) return;
    std::array<double, 3> low{}, high{};
    double square = 0;
    bool any = false;
    for (const Batch& b : s.lods[0].batches) {
      for (const auto& p : b.positions) {
        if (!finite(p)) return;
        for (std::size_t axis = 0; axis < 3; ++axis) {
          low[axis] = any ? std::min<double>(low[axis], p[axis]) : p[axis];
          high[axis] = any ? std::max<double>(high[axis], p[axis]) : p[axis];
        }
        square = std::max(square, dot(point(p), point(p)));
        any = true;
      }
    }
    if (!any) return;
    const char* where = nullptr;
    for (std::size_t axis = 0; axis < 3; ++axis) {
      if (!close(s.box_min[axis], low[axis], 1e-5)) where = "box_min";
      if (!close(s.box_max[axis], high[axis], 1e-5)) where = "box_max";
    }
    if (!close(s.radius, std::sqrt(square), 1e-5)) where = "radius";
    if (where == nullptr) return;
    say("v3c-bounds", Level::note, path + "." + where,
        "differs from the vertices of the finest level of detail, from which every known tool "
        "computes it");
  }

  void lod(const Submesh& s, std::size_t index, const std::string& path) {
    const Lod& l = s.lods[index];
    const std::string data = path + ".data";
    if (l.textures.size() > max_textures) {
      say("v3c-texture-limit", Level::warning, path + ".textures",
          fmt::format("{} textures; the game's table holds {}", l.textures.size(), max_textures));
    }
    if (l.prop_points.size() > max_prop_points) {
      say("v3c-prop-limit", Level::warning, data + ".prop_points",
          fmt::format("{} prop points; the game's table holds {}", l.prop_points.size(),
                      max_prop_points));
    }
    textures(s, l, path);
    prop_points(s, index, data);
    if (!l.headers_pad.empty()) pad(data + ".headers_pad");
    for (std::size_t i = 0; i < l.batches.size(); ++i) {
      if (i < l.batch_headers.size() && i < l.batch_infos.size()) header(l, i, data);
      batch(l, l.batches[i], fmt::format("{}.batches[{}]", data, i));
    }
    if (!l.unread.empty()) {
      say("v3c-unread-data", Level::warning, data, [&] {
        return fmt::format("{} bytes after the last prop point; nothing is known to read them",
                           l.unread.size());
      });
    }
  }

  void textures(const Submesh& s, const Lod& l, const std::string& path) {
    for (std::size_t i = 0; i < l.textures.size(); ++i) {
      const LodTexture& t = l.textures[i];
      if (t.material >= s.materials.size()) {
        say("v3c-material-index", Level::error, item(path, "textures", i), [&] {
          return fmt::format("material {} of {} does not exist; converters refuse the file",
                             t.material, s.materials.size());
        });
      } else if (!equal_without_case(t.name, text(s.materials[t.material].diffuse))) {
        say("v3c-texture-name", Level::note, item(path, "textures", i), [&] {
          return fmt::format("'{}' here and '{}' in material {}; programs may load either",
                             io::escape_bytes(t.name),
                             io::escape_bytes(text(s.materials[t.material].diffuse)), t.material);
        });
      }
    }
  }

  void prop_points(const Submesh& s, std::size_t index, const std::string& data) {
    const auto& points = s.lods[index].prop_points;
    for (std::size_t i = 0; i < points.size(); ++i) {
      const std::string at = fmt::format("{}.prop_points[{}]", data, i);
      name(points[i].name, at + ".name");
      bone_index(points[i].bone, "v3c-prop-bone", at + ".bone");
      if (!finite(points[i].rotation) || !finite(points[i].position)) not_finite(at);
    }
    if (index > 0 && !std::ranges::equal(points, s.lods[0].prop_points, same)) {
      say("v3c-prop-lists", Level::note, data + ".prop_points",
          "differ from those of the finest level of detail; the game looks there only");
    }
  }

  // ---- batches

  // Three families of writers: the original one repeats the batch info here, others leave it empty.
  void header(const Lod& l, std::size_t i, const std::string& data) {
    const BatchHeader& h = l.batch_headers[i];
    const BatchInfo& b = l.batch_infos[i];
    if (h.texture_index < 0 || std::cmp_greater_equal(h.texture_index, l.textures.size())) {
      say("v3c-texture-index", Level::error, item(data, "batch_headers", i), [&] {
        return fmt::format("texture {} of {} does not exist; converters refuse the file",
                           h.texture_index, l.textures.size());
      });
    }
    const auto is_zero = [](std::uint32_t v) { return v == 0; };
    if (std::ranges::all_of(h.stale, is_zero) && std::ranges::all_of(h.stale_info, is_zero)) return;
    const auto pair = [](std::uint32_t low, std::uint32_t high) { return low | high << 16; };
    const std::array<std::uint32_t, 4> info{pair(b.num_vertices, b.num_triangles),
                                            pair(b.positions_size, b.triangles_size),
                                            pair(b.uvs_size, b.links_size), b.same_position_size};
    const bool agrees = h.stale[0] == b.render_flags &&
                        std::equal(info.begin(), info.end(), h.stale_info.begin() + 1);
    if (agrees) return;
    say("v3c-header-copy", Level::note, item(data, "batch_headers", i),
        "repeats other flags, lengths or sizes than the batch info; the game reads the batch info");
  }

  void pad(const std::string& path) {
    say("v3c-padding", Level::note, path,
        "bytes between arrays that are not zero, as they are in every known file; readers ignore "
        "them");
  }

  void batch(const Lod& l, const Batch& b, const std::string& path) {
    static constexpr const char* pads[] = {"positions_pad", "normals_pad",  "uvs_pad",
                                           "triangles_pad", "planes_pad",   "same_position_pad",
                                           "links_pad",     "morph_map_pad"};
    for (std::size_t i = 0; i < b.pads.size(); ++i) {
      if (!b.pads[i].empty()) pad(fmt::format("{}.{}", path, pads[i]));
    }
    if (b.positions.size() > max_vertices || b.triangles.size() > max_triangles) {
      say("v3c-batch-limit", Level::warning, path, [&] {
        return fmt::format(
            "{} vertices and {} triangles; the game is said to draw at most {} and {} at once",
            b.positions.size(), b.triangles.size(), max_vertices, max_triangles);
      });
    }
    vertices(b, path);
    triangles(b, path);
    same_positions(b, path);
    if ((l.flags & lod_has_morph_map) != 0) morph_map(b, path);
    if (skinned_) links(b, path);
  }

  void vertices(const Batch& b, const std::string& path) {
    for (std::size_t i = 0; i < b.positions.size(); ++i) {
      if (!finite(b.positions[i])) not_finite(item(path, "positions", i));
    }
    for (std::size_t i = 0; i < b.uvs.size(); ++i) {
      if (!finite(b.uvs[i])) not_finite(item(path, "uvs", i));
    }
    for (std::size_t i = 0; i < b.normals.size(); ++i) {
      const double size = std::sqrt(dot(point(b.normals[i]), point(b.normals[i])));
      if (std::isnan(size)) {
        say("v3c-normal-nan", Level::note, item(path, "normals", i),
            "not a number, as the original tools write where faces have no area or cancel each "
            "other; converters "
            "average the faces around it");
      } else if (!close(size, 1, 0.01)) {
        say("v3c-normal-length", Level::warning, item(path, "normals", i), [&] {
          return fmt::format("length {:.4f} instead of 1; converters normalise it", size);
        });
      }
    }
  }

  void triangles(const Batch& b, const std::string& path) {
    for (std::size_t i = 0; i < b.triangles.size(); ++i) {
      const auto& [x, y, z] = b.triangles[i].vertices;
      if (std::max({x, y, z}) >= b.positions.size()) {
        say("v3c-triangle-index", Level::error, item(path, "triangles", i),
            [&, last = std::max({x, y, z})] {
              return fmt::format("vertex {} of {} does not exist; converters refuse the file", last,
                                 b.positions.size());
            });
        continue;
      }
      const auto normal = face_normal(b.positions[x], b.positions[y], b.positions[z]);
      if (!normal) {
        say("v3c-degenerate-triangle", Level::note, item(path, "triangles", i),
            x == y || y == z || z == x
                ? "repeats a vertex; it shows nothing, and converters drop it"
                : "has no area; it shows nothing, and converters drop it");
      } else if (i < b.planes.size()) {
        plane(b.planes[i], *normal, b.positions[x], item(path, "planes", i));
      }
    }
  }

  void plane(const std::array<float, 4>& p, const Point& normal, const std::array<float, 3>& corner,
             const auto& path) {
    const Point n{p[0], p[1], p[2]}, at = point(corner);
    const double away = std::abs(dot(n, at) + p[3]);
    if (dot(n, normal) > 0.999 && away <= 1e-4 * (1 + std::sqrt(dot(at, at)))) return;
    say("v3c-plane", Level::note, path,
        "is not the plane of its triangle; planes have to be computed anew when a vertex moves");
  }

  void same_positions(const Batch& b, const std::string& path) {
    for (std::size_t i = 0; i < b.same_position.size() && i < b.positions.size(); ++i) {
      const std::int16_t back = b.same_position[i];
      if (back == 0) continue;
      const auto complain = [&](const char* words) {
        say("v3c-same-position", Level::error, item(path, "same_position", i),
            [&] { return fmt::format("{}: {}", back, words); });
      };
      if (back < 0 || std::cmp_greater(back, i)) {
        complain(back < 0 ? "is below 0; converters take it for 0"
                          : "points at no vertex; converters refuse the file");
        continue;
      }
      const std::size_t first = i - static_cast<std::size_t>(back);
      if (b.same_position[first] != 0) {
        complain("points at a vertex that is a copy itself; a morph may leave a crack here");
      } else if (b.positions[i] != b.positions[first]) {
        complain("points at a vertex in another place; renderers that use it pull the mesh apart");
      }
    }
  }

  void morph_map(const Batch& b, const std::string& path) {
    for (std::size_t i = 0; i < b.morph_map.size(); ++i) {
      const std::int16_t v = b.morph_map[i];
      if (v == -1) continue;
      if (v < 0 || std::cmp_greater_equal(v, b.positions.size())) {
        say("v3c-morph-map", Level::error, item(path, "morph_map", i), [&] {
          return fmt::format("vertex {} of {} does not exist; converters refuse the file", v,
                             b.positions.size());
        });
      } else if (static_cast<std::size_t>(v) < b.same_position.size() &&
                 b.same_position[static_cast<std::size_t>(v)] != 0) {
        say("v3c-morph-target", Level::warning, item(path, "morph_map", i), [&] {
          return fmt::format("vertex {} is a copy of another, which overwrites its morph", v);
        });
      }
    }
  }

  void links(const Batch& b, const std::string& path) {
    if (b.links.empty() && !b.positions.empty()) {
      say("v3c-no-links", Level::warning, path,
          "a character's batch without bone links; no bone moves it");
    }
    for (std::size_t i = 0; i < b.links.size(); ++i) {
      const auto& weights = b.links[i].weights;
      const auto& bones = b.links[i].bones;
      const int sum = weights[0] + weights[1] + weights[2] + weights[3];
      if (sum < 252 || sum > 255) {
        say("v3c-weight-sum", Level::warning, item(path, "links", i), [&] {
          return fmt::format(
              "weights add up to {}; the game divides by 256 all the same, which draws the vertex "
              "aside, converters divide by the sum",
              sum);
        });
      }
      for (std::size_t k = 0; k < 4; ++k) {
        if (weights[k] == 0) continue;
        if (bones[k] == unused_bone) {
          say("v3c-link-unused", Level::error, item(path, "links", i), [&] {
            return fmt::format("slot {} has weight {} and no bone; converters refuse the file", k,
                               weights[k]);
          });
        } else if (bones[k] >= num_bones_) {
          say("v3c-link-bone", Level::error, item(path, "links", i), [&] {
            return fmt::format("bone {} of {} does not exist; converters refuse the file", bones[k],
                               num_bones_);
          });
        }
      }
    }
  }

  const File& file_;
  std::size_t num_bones_ = 0;
  bool skinned_ = false;
  Findings findings_;
};

}  // namespace

std::vector<Finding> check(const File& file) { return Checker(file).run(); }

}  // namespace dopesheet::v3c
