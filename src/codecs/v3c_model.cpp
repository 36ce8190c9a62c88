// document -> Model. Sources of every rule: docs/formats/v3c.md.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <tuple>
#include <utility>

#include "io/text.hpp"
#include "v3c_geometry.hpp"

namespace dopesheet::v3c {
namespace {

// Unit quaternion x y z w.
using Rotation = std::array<double, 4>;

Rotation unit(const std::array<float, 4>& q) {
  const double n = std::sqrt(double{q[0]} * q[0] + double{q[1]} * q[1] + double{q[2]} * q[2] +
                             double{q[3]} * q[3]);
  if (!(n > 0) || !std::isfinite(n)) return {0, 0, 0, 1};
  return {q[0] / n, q[1] / n, q[2] / n, q[3] / n};
}
Rotation conjugate(const Rotation& q) { return {-q[0], -q[1], -q[2], q[3]}; }
Rotation product(const Rotation& a, const Rotation& b) {
  return {a[3] * b[0] + a[0] * b[3] + a[1] * b[2] - a[2] * b[1],
          a[3] * b[1] - a[0] * b[2] + a[1] * b[3] + a[2] * b[0],
          a[3] * b[2] + a[0] * b[1] - a[1] * b[0] + a[2] * b[3],
          a[3] * b[3] - a[0] * b[0] - a[1] * b[1] - a[2] * b[2]};
}
Point rotate(const Rotation& q, const Point& v) {
  const Point u{q[0], q[1], q[2]};
  const Point t = cross(u, v), s = cross(u, t);
  return {v[0] + 2 * (q[3] * t[0] + s[0]), v[1] + 2 * (q[3] * t[1] + s[1]),
          v[2] + 2 * (q[3] * t[2] + s[2])};
}

Quat quat(const Rotation& q) {
  return {static_cast<float>(q[0]), static_cast<float>(q[1]), static_cast<float>(q[2]),
          static_cast<float>(q[3])};
}
Vec3 vec(const Point& v) {
  return {static_cast<float>(v[0]), static_cast<float>(v[1]), static_cast<float>(v[2])};
}
Vec3 vec(const std::array<float, 3>& v) { return {v[0], v[1], v[2]}; }

template <std::size_t N>
std::string text(const std::array<char, N>& field) {
  return std::string(io::until_zero({field.data(), N}));
}

Material::Alpha alpha_of(std::uint32_t render_flags) {
  const std::uint32_t blend = render_flags >> 15 & 31, depth = render_flags >> 20 & 31;
  constexpr std::uint32_t alpha = 3, full_with_alpha_test = 5;
  if (blend == 0) return Material::Alpha::opaque;
  return blend == alpha && depth == full_with_alpha_test ? Material::Alpha::mask
                                                         : Material::Alpha::blend;
}

struct Place {
  std::size_t chunk = 0, lod = 0, batch = 0;

  std::string in_submesh() const { return fmt::format("chunks[{}].body", chunk); }
  std::string in_lod() const { return fmt::format("{}.lods[{}]", in_submesh(), lod); }
  std::string in_batch() const { return fmt::format("{}.data.batches[{}]", in_lod(), batch); }
};

// A triangle that has an area.
struct Face {
  std::array<std::uint32_t, 3> vertices;
  Point normal;
  bool double_sided;
};

class Builder {
 public:
  explicit Builder(const File& file) : file_(file) {}

  Result<Model> run(std::string name) {
    model_.name = std::move(name);
    model_.space = Space::left_handed;
    if (const auto [bones, chunk] = find_bones(file_); bones != nullptr) skeleton(*bones);
    skinned_ = file_.is_character() && !model_.nodes.empty();
    Place at;
    for (; at.chunk < file_.chunks.size() && good_; ++at.chunk) {
      const auto& body = file_.chunks[at.chunk].body;
      if (const auto* s = std::get_if<Submesh>(&body)) submesh(*s, at);
      if (const auto* s = std::get_if<Sphere>(&body)) sphere(*s, at);
    }
    if (!good_) return tl::unexpected(error_);
    return std::move(model_);
  }

 private:
  void fail(std::string path, std::string reason) {
    if (!good_) return;
    good_ = false;
    error_ = {Code::bad_value, 0, std::move(path), std::move(reason)};
  }

  // The file stores inverse binds, so every bone is known in model space first.
  void skeleton(const Bones& list) {
    const auto& bones = list.bones;
    std::vector<Rotation> rotations;
    std::vector<Point> positions;
    for (std::size_t i = 0; i < bones.size(); ++i) {
      const Bone& b = bones[i];
      const Point t = point(b.translation);
      rotations.push_back(unit(b.rotation));
      positions.push_back(rotate(rotations[i], {-t[0], -t[1], -t[2]}));
      model_.inverse_bind.push_back({vec(b.translation), quat(conjugate(rotations[i])), {1, 1, 1}});
      Node node;
      node.name = text(b.name);
      node.parent = b.parent >= 0 && std::cmp_less(b.parent, bones.size()) ? b.parent : -1;
      node.properties = {{"rf_type", "bone"}, {"rf_bone_index", static_cast<std::int64_t>(i)}};
      model_.nodes.push_back(std::move(node));
    }
    std::vector<bool> seen(bones.size());
    for (const std::size_t i : topological_order(model_.nodes)) {
      Node& node = model_.nodes[i];
      if (node.parent >= 0 && !seen[static_cast<std::size_t>(node.parent)])
        node.parent = -1;  // a cycle
      seen[i] = true;
      if (node.parent < 0) {
        node.rest = {vec(positions[i]), quat(rotations[i]), {1, 1, 1}};
        continue;
      }
      const auto p = static_cast<std::size_t>(node.parent);
      const Rotation from_model = conjugate(rotations[p]);
      node.rest = {vec(rotate(from_model, positions[i] - positions[p])),
                   quat(product(from_model, rotations[i])),
                   {1, 1, 1}};
    }
  }

  bool is_joint(std::int32_t bone) const {
    return bone == -1 || (bone >= 0 && std::cmp_less(bone, model_.nodes.size()));
  }

  void submesh(const Submesh& s, Place at) {
    for (; at.lod < s.lods.size() && good_; ++at.lod) {
      const Lod& lod = s.lods[at.lod];
      const bool is_first = at.lod == 0;
      Mesh mesh;
      mesh.name = is_first ? text(s.name) : fmt::format("{}_LOD{}", text(s.name), at.lod);
      mesh.lod = static_cast<int>(at.lod);
      if (at.lod < s.lod_distances.size()) mesh.lod_distance = s.lod_distances[at.lod];
      mesh.translation = vec(s.offset);
      mesh.properties = {{"rf_lod_index", std::int64_t{mesh.lod}},
                         {"rf_lod_distance", mesh.lod_distance},
                         {"rf_lod_flags", std::int64_t{lod.flags}}};
      for (at.batch = 0; at.batch < lod.batches.size() && good_; ++at.batch) {
        batch(s, lod, at, mesh.primitives);
      }
      model_.meshes.push_back(std::move(mesh));
      for (std::size_t i = 0; i < lod.prop_points.size() && is_first && good_; ++i) {
        prop_point(s, lod.prop_points[i], fmt::format("{}.data.prop_points[{}]", at.in_lod(), i));
      }
    }
  }

  void batch(const Submesh& s, const Lod& lod, const Place& at, std::vector<Primitive>& out) {
    const Batch& b = lod.batches[at.batch];
    const std::size_t n = b.positions.size();
    const bool has_links = skinned_ && !b.links.empty();
    if (at.batch >= lod.batch_headers.size() || at.batch >= lod.batch_infos.size()) {
      return fail(at.in_batch(), "has no batch header or batch info");
    }
    if (b.normals.size() != n || b.uvs.size() != n || b.same_position.size() != n ||
        (has_links && b.links.size() != n)) {
      return fail(at.in_batch(), "its arrays differ in length");
    }
    const std::vector<Face> kept = faces(b, at);
    if (kept.empty()) return;
    Primitive p;
    for (const auto& v : b.positions) p.positions.push_back(vec(v));
    p.normals = normals(b, kept);
    p.uvs = b.uvs;
    const bool all_double = std::ranges::all_of(kept, &Face::double_sided);
    for (const Face& f : kept) p.triangles.push_back(f.vertices);
    for (const Face& f : kept) {
      const auto [i, j, k] = f.vertices;
      if (f.double_sided && !all_double) p.triangles.push_back({i, k, j});
    }
    if (has_links) influences(b, at, p);
    morph(lod, b, at, p);
    p.material = material(s, lod, at, all_double);
    out.push_back(std::move(p));
  }

  std::vector<Face> faces(const Batch& b, const Place& at) {
    std::vector<Face> out;
    for (std::size_t i = 0; i < b.triangles.size(); ++i) {
      const auto& v = b.triangles[i].vertices;
      for (const std::uint16_t x : v) {
        if (x < b.positions.size()) continue;
        fail(fmt::format("{}.triangles[{}]", at.in_batch(), i),
             fmt::format("names vertex {} of {}", x, b.positions.size()));
        return {};
      }
      const auto normal = face_normal(b.positions[v[0]], b.positions[v[1]], b.positions[v[2]]);
      if (!normal) continue;
      out.push_back(
          {{v[0], v[1], v[2]}, *normal, (b.triangles[i].flags & triangle_double_sided) != 0});
    }
    return out;
  }

  // Files have no normal (NaN) where the faces around a vertex have no area or cancel each other.
  static std::vector<Vec3> normals(const Batch& b, const std::vector<Face>& kept) {
    const auto has_direction = [](const Point& n) {
      const double square = dot(n, n);
      return square > 1e-12 && std::isfinite(square);
    };
    std::vector<Point> sums;
    std::vector<bool> is_missing;
    for (const auto& n : b.normals) {
      is_missing.push_back(!has_direction(point(n)));
      sums.push_back(is_missing.back() ? Point{} : point(n));
    }
    for (const Face& f : kept) {
      for (const std::uint32_t v : f.vertices) {
        if (!is_missing[v] || !has_direction(f.normal)) continue;
        for (std::size_t axis = 0; axis < 3; ++axis) sums[v][axis] += f.normal[axis];
      }
    }
    for (const Face& f : kept) {  // the two sides of a sheet: the first of them
      for (const std::uint32_t v : f.vertices) {
        if (!has_direction(sums[v]) && has_direction(f.normal)) sums[v] = f.normal;
      }
    }
    std::vector<Vec3> out;
    for (const Point& n : sums) {
      const double size = std::sqrt(dot(n, n));
      out.push_back(size > 0 ? vec(Point{n[0] / size, n[1] / size, n[2] / size}) : Vec3{0, 1, 0});
    }
    return out;
  }

  void influences(const Batch& b, const Place& at, Primitive& p) {
    for (std::size_t v = 0; v < b.links.size(); ++v) {
      const auto& [weights, bones] = b.links[v];
      const int sum = weights[0] + weights[1] + weights[2] + weights[3];
      Influence in;
      if (sum == 0) in.weights[0] = 1;
      for (std::size_t k = 0; k < 4; ++k) {
        if (weights[k] == 0) continue;
        if (bones[k] == unused_bone || bones[k] >= model_.nodes.size()) {
          return fail(fmt::format("{}.links[{}].bones[{}]", at.in_batch(), v, k),
                      fmt::format("names bone {} of {}", bones[k], model_.nodes.size()));
        }
        in.joints[k] = bones[k];
        in.weights[k] = static_cast<float>(weights[k]) / static_cast<float>(sum);
      }
      p.influences.push_back(in);
    }
  }

  void morph(const Lod& lod, const Batch& b, const Place& at, Primitive& p) {
    for (std::size_t i = 0; i < b.same_position.size(); ++i) {
      const std::int16_t back = std::max<std::int16_t>(b.same_position[i], 0);
      if (std::cmp_greater(back, i)) {
        return fail(fmt::format("{}.same_position[{}]", at.in_batch(), i),
                    fmt::format("points {} vertices back from vertex {}", back, i));
      }
      // The game goes through the vertices in order, so that a copy of a copy ends at the original.
      p.copy_of.push_back(back == 0 ? static_cast<std::uint32_t>(i)
                                    : p.copy_of[i - static_cast<std::size_t>(back)]);
    }
    if ((lod.flags & lod_has_morph_map) == 0) return;
    for (std::size_t i = 0; i < b.morph_map.size(); ++i) {
      const std::int16_t v = b.morph_map[i];
      if (v != -1 && (v < 0 || std::cmp_greater_equal(v, b.positions.size()))) {
        return fail(fmt::format("{}.morph_map[{}]", at.in_batch(), i),
                    fmt::format("names vertex {} of {}", v, b.positions.size()));
      }
      p.morph_map.push_back(v);
    }
  }

  // One per material record and way to draw it.
  std::size_t material(const Submesh& s, const Lod& lod, const Place& at, bool double_sided) {
    const std::int32_t t = lod.batch_headers[at.batch].texture_index;
    if (t < 0 || std::cmp_greater_equal(t, lod.textures.size())) {
      fail(fmt::format("{}.data.batch_headers[{}].texture_index", at.in_lod(), at.batch),
           fmt::format("names texture {} of {}", t, lod.textures.size()));
      return 0;
    }
    const LodTexture& texture = lod.textures[static_cast<std::size_t>(t)];
    if (texture.material >= s.materials.size()) {
      fail(fmt::format("{}.textures[{}].material", at.in_lod(), t),
           fmt::format("names material {} of {}", texture.material, s.materials.size()));
      return 0;
    }
    const MaterialRecord& record = s.materials[texture.material];
    const std::uint32_t render_flags = lod.batch_infos[at.batch].render_flags;
    const auto [known, is_new] = materials_.try_emplace(
        {&record, texture.name, double_sided, render_flags}, model_.materials.size());
    if (is_new) {
      Material m;
      m.name = text(record.diffuse);
      const float light =
          std::isfinite(record.emissive) ? std::clamp(record.emissive, 0.0F, 1.0F) : 0;
      m.emissive = {light, light, light};
      m.double_sided = double_sided;
      m.alpha = alpha_of(render_flags);
      m.properties = {{"rf_render_flags", std::int64_t{render_flags}},
                      {"rf_texture", texture.name},
                      {"rf_material_flags", std::int64_t{record.flags}}};
      model_.materials.push_back(std::move(m));
    }
    return known->second;
  }

  void prop_point(const Submesh& s, const PropPoint& p, const std::string& path) {
    if (!is_joint(p.bone)) {
      return fail(path + ".bone", fmt::format("names bone {} of {}", p.bone, model_.nodes.size()));
    }
    Attachment a;
    a.name = text(p.name);
    a.joint = p.bone;
    a.transform.rotation = quat(conjugate(unit(p.rotation)));
    Point position = point(p.position);
    for (std::size_t axis = 0; axis < 3 && p.bone == -1; ++axis) position[axis] += s.offset[axis];
    a.transform.translation = vec(position);
    a.properties = {
        {"rf_type", "prop_point"}, {"rf_name", a.name}, {"rf_parent_bone", std::int64_t{p.bone}}};
    model_.attachments.push_back(std::move(a));
  }

  void sphere(const Sphere& s, const Place& at) {
    if (!is_joint(s.bone)) {
      return fail(at.in_submesh() + ".bone",
                  fmt::format("names bone {} of {}", s.bone, model_.nodes.size()));
    }
    Attachment a;
    a.name = text(s.name);
    a.joint = s.bone;
    a.transform.translation = vec(s.position);
    a.transform.scale = {s.radius, s.radius, s.radius};
    a.properties = {{"rf_type", "collision_sphere"},
                    {"rf_name", a.name},
                    {"rf_parent_bone", std::int64_t{s.bone}},
                    {"rf_radius", s.radius}};
    model_.attachments.push_back(std::move(a));
  }

  const File& file_;
  Model model_;
  bool skinned_ = false;
  // Record, texture name, double sided, render flags -> index into Model::materials.
  std::map<std::tuple<const MaterialRecord*, std::string, bool, std::uint32_t>, std::size_t>
      materials_;
  bool good_ = true;
  Error error_;
};

}  // namespace

Result<Model> to_model(const File& file, std::string name) {
  return Builder(file).run(std::move(name));
}

}  // namespace dopesheet::v3c
