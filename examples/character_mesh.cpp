// The skeleton and the mesh, from bones, rings and boxes to a v3c::File.
#include <algorithm>
#include <cmath>
#include <map>
#include <tuple>

#include "character.hpp"

namespace example {
namespace {

struct Joint {
  const char* name;
  int parent;
  Vec3 offset;  // from the parent, in its axes
};
constexpr float shoulder = 0.235F, hip = 0.095F;
constexpr std::array<Joint, num_bones> joints{{
    {"walker-chest", spine, {0, 0.11F, 0}},
    {"walker-foot-l", shin_l, {0, -0.38F, 0}},
    {"walker-foot-r", shin_r, {0, -0.38F, 0}},
    {"walker-forearm-l", upperarm_l, {0, -0.26F, 0}},
    {"walker-forearm-r", upperarm_r, {0, -0.26F, 0}},
    {"walker-hand-l", forearm_l, {0, -0.24F, 0}},
    {"walker-hand-r", forearm_r, {0, -0.24F, 0}},
    {"walker-head", chest, {0, 0.29F, 0}},
    {"walker-hips", -1, {0, 0.9F, 0}},
    {"walker-shin-l", thigh_l, {0, -0.39F, 0}},
    {"walker-shin-r", thigh_r, {0, -0.39F, 0}},
    {"walker-spine", hips, {0, 0.12F, 0}},
    {"walker-thigh-l", hips, {-hip, -0.04F, 0}},
    {"walker-thigh-r", hips, {hip, -0.04F, 0}},
    {"walker-upperarm-l", chest, {-shoulder, 0.22F, 0}},
    {"walker-upperarm-r", chest, {shoulder, 0.22F, 0}},
}};

// Textures are names only; the game finds the pixels elsewhere.
enum Material : std::uint8_t { shell, dark, screen, glow, trim, num_materials };
constexpr std::array<const char*, num_materials> textures{"walker_shell.tga", "walker_dark.tga",
                                                          "walker_screen.tga", "walker_glow.tga",
                                                          "walker_trim.tga"};

std::array<float, 3> raw(Vec3 v) { return {v.x, v.y, v.z}; }
template <std::size_t N>
void set_text(std::array<char, N>& field, std::string_view text) {
  std::copy_n(text.begin(), std::min(text.size(), N - 1), field.begin());
}

// The eight corners of a rectangle without its own corners, around the Y axis of a part.
struct Ring {
  float y, half_x, half_z;
  std::array<Bone, 2> bones;
  int second = 0;  // weight of the second bone, of 255
  float z = 0;     // of the centre
};

struct Polygon {
  Material material;
  std::vector<std::size_t> vertices;  // counter-clockwise as the formula (b - a) x (c - a) has it
};

class Sculptor {
 public:
  std::vector<Vec3> positions;
  std::vector<v3c::Link> links;
  std::vector<Polygon> polygons;

  std::size_t vertex(Vec3 p, std::array<Bone, 2> bones, int second = 0) {
    const auto grid = [](float v) { return static_cast<float>(rounded(v, 1e-4)); };
    positions.push_back({grid(p.x), grid(p.y), grid(p.z)});
    if (2 * second > 255) {  // the larger weight comes first
      std::swap(bones[0], bones[1]);
      second = 255 - second;
    }
    v3c::Link link{{255, 0, 0, 0}, {bones[0], 0xFF, 0xFF, 0xFF}};
    if (second > 0) {
      link.weights = {static_cast<std::uint8_t>(255 - second), static_cast<std::uint8_t>(second)};
      link.bones[1] = bones[1];
    }
    links.push_back(link);
    return positions.size() - 1;
  }

  // A skin through rings from bottom to top, given in the space `from`; closed at both ends or open.
  void loft(Material material, const Transform& from, const std::vector<Ring>& rings, bool closed) {
    constexpr std::size_t n = 8;
    const std::size_t first = positions.size();
    for (const Ring& r : rings) {
      const float x = r.half_x, z = r.half_z, c = 0.3F * std::min(x, z);
      const std::array<std::array<float, 2>, n> corners{{{x, c - z},
                                                         {x, z - c},
                                                         {x - c, z},
                                                         {c - x, z},
                                                         {-x, z - c},
                                                         {-x, c - z},
                                                         {c - x, -z},
                                                         {x - c, -z}}};
      for (const auto& [cx, cz] : corners) {
        vertex(from.translation + rotate(from.rotation, {cx, r.y, cz + r.z}), r.bones, r.second);
      }
    }
    for (std::size_t at = first; at + n < positions.size(); at += n) {
      for (std::size_t i = 0; i < n; ++i) {
        const std::size_t j = (i + 1) % n;
        polygons.push_back({material, {at + i, at + n + i, at + n + j, at + j}});
      }
    }
    if (!closed) return;
    Polygon bottom{material, {}}, top{material, {}};
    for (std::size_t i = 0; i < n; ++i) {
      bottom.vertices.push_back(first + i);
      top.vertices.push_back(positions.size() - 1 - i);
    }
    polygons.push_back(bottom);
    polygons.push_back(top);
  }

  // `low` and `high` are in model space. The box has no back, where it touches another.
  void box(Material material, Bone bone, Vec3 low, Vec3 high) {
    const std::size_t first = positions.size();
    for (const Vec3 p : box_corners(low, high)) vertex(p, {bone, bone});
    box_faces(material, first);
  }
  static std::array<Vec3, 8> box_corners(Vec3 a, Vec3 b) {
    return {{{a.x, a.y, a.z},
             {b.x, a.y, a.z},
             {b.x, b.y, a.z},
             {a.x, b.y, a.z},
             {a.x, a.y, b.z},
             {b.x, a.y, b.z},
             {b.x, b.y, b.z},
             {a.x, b.y, b.z}}};
  }
  void box_faces(Material material, std::size_t first) {
    constexpr std::array<std::array<std::size_t, 4>, 5> faces{
        {{4, 5, 6, 7}, {0, 1, 5, 4}, {2, 3, 7, 6}, {1, 2, 6, 5}, {3, 0, 4, 7}}};
    for (const auto& [a, b, c, d] : faces) {
      polygons.push_back({material, {first + a, first + b, first + c, first + d}});
    }
  }

  Vec3 normal(const Polygon& p) const {  // Newell's, of unit length
    double x = 0, y = 0, z = 0;
    for (std::size_t i = 0; i < p.vertices.size(); ++i) {
      const Vec3 a = positions[p.vertices[i]],
                 b = positions[p.vertices[(i + 1) % p.vertices.size()]];
      x += (double{a.y} - b.y) * (double{a.z} + b.z);
      y += (double{a.z} - b.z) * (double{a.x} + b.x);
      z += (double{a.x} - b.x) * (double{a.y} + b.y);
    }
    const double size = std::sqrt(x * x + y * y + z * z);
    const auto grid = [&](double c) { return static_cast<float>(rounded(c / size, 1e-5)); };
    return {grid(x), grid(y), grid(z)};
  }
};

constexpr std::size_t eye_vertices = 9, brow_vertices = 8, mouth_columns = 5;

void add_face(Sculptor& s) {
  for (const Vec3 p : face({})) s.vertex(p, {head, head});
  std::size_t at = 0;
  for (int eye = 0; eye < 2; ++eye, at += eye_vertices) {
    for (std::size_t i = 1; i < eye_vertices; ++i) {
      s.polygons.push_back({glow, {at, at + i, at + i % (eye_vertices - 1) + 1}});
    }
  }
  for (int brow = 0; brow < 2; ++brow, at += brow_vertices) s.box_faces(trim, at);
  for (std::size_t i = at; i + 1 < at + mouth_columns; ++i) {
    s.polygons.push_back({glow, {i + mouth_columns, i + mouth_columns + 1, i + 1, i}});
  }
}

void add_trunk(Sculptor& s) {
  const Transform model;
  s.loft(shell, model,
         {{0.8F, 0.07F, 0.06F, {hips, hips}},
          {0.86F, 0.145F, 0.1F, {hips, hips}},
          {0.96F, 0.15F, 0.105F, {hips, hips}},
          {1, 0.11F, 0.08F, {hips, hips}}},
         true);
  s.loft(dark, model,
         {{0.97F, 0.09F, 0.07F, {hips, hips}},
          {1.03F, 0.082F, 0.065F, {hips, spine}, 128},
          {1.08F, 0.082F, 0.065F, {spine, spine}},
          {1.12F, 0.088F, 0.07F, {spine, chest}, 128},
          {1.17F, 0.1F, 0.08F, {chest, chest}}},
         false);
  s.loft(shell, model,
         {{1.11F, 0.115F, 0.085F, {chest, chest}},
          {1.17F, 0.165F, 0.12F, {chest, chest}},
          {1.34F, 0.195F, 0.13F, {chest, chest}},
          {1.4F, 0.13F, 0.085F, {chest, chest}}},
         true);
  s.box(glow, chest, {0.05F, 1.27F, 0.115F}, {0.1F, 1.31F, 0.14F});
  s.loft(dark, model,
         {{1.15F, 0.1F, 0.04F, {chest, chest}, 0, -0.15F},
          {1.36F, 0.12F, 0.05F, {chest, chest}, 0, -0.15F}},
         true);  // a backpack
  s.loft(dark, model,
         {{1.38F, 0.055F, 0.05F, {chest, chest}},
          {1.415F, 0.05F, 0.046F, {chest, head}, 128},
          {1.46F, 0.055F, 0.05F, {head, head}}},
         false);
  s.loft(shell, model,
         {{1.44F, 0.1F, 0.085F, {head, head}},
          {1.47F, 0.14F, 0.125F, {head, head}},
          {1.66F, 0.14F, 0.125F, {head, head}},
          {1.69F, 0.11F, 0.095F, {head, head}}},
         true);
  s.box(screen, head, {-0.115F, 1.487F, 0.12F}, {0.115F, 1.652F, 0.129F});
  s.loft(trim, model,
         {{1.685F, 0.008F, 0.008F, {head, head}}, {1.75F, 0.006F, 0.006F, {head, head}}}, false);
  s.loft(glow, model,
         {{1.74F, 0.01F, 0.01F, {head, head}},
          {1.755F, 0.02F, 0.02F, {head, head}},
          {1.77F, 0.01F, 0.01F, {head, head}}},
         true);
}

void add_arm(Sculptor& s, const Transform& upper, int side) {
  const Bone u = on_side(side, upperarm_l, upperarm_r), f = on_side(side, forearm_l, forearm_r);
  const Bone h = on_side(side, hand_l, hand_r);
  s.loft(shell, upper,
         {{-0.1F, 0.06F, 0.065F, {u, u}},
          {-0.03F, 0.078F, 0.085F, {u, u}},
          {0.045F, 0.06F, 0.065F, {u, u}}},
         true);
  s.loft(dark, upper,
         {{-0.36F, 0.04F, 0.042F, {u, f}, 255},
          {-0.295F, 0.039F, 0.042F, {u, f}, 191},
          {-0.26F, 0.038F, 0.042F, {u, f}, 128},
          {-0.225F, 0.039F, 0.042F, {u, f}, 64},
          {-0.16F, 0.042F, 0.045F, {u, u}},
          {-0.07F, 0.042F, 0.045F, {u, u}}},
         false);
  s.loft(shell, upper,
         {{-0.5F, 0.04F, 0.045F, {f, f}},
          {-0.47F, 0.054F, 0.062F, {f, f}},
          {-0.36F, 0.06F, 0.068F, {f, f}},
          {-0.325F, 0.045F, 0.05F, {f, f}}},
         true);
  s.loft(dark, upper,
         {{-0.62F, 0.02F, 0.035F, {h, h}},
          {-0.59F, 0.03F, 0.05F, {h, h}},
          {-0.53F, 0.032F, 0.054F, {h, h}},
          {-0.49F, 0.025F, 0.035F, {h, h}}},
         true);
  s.loft(dark, upper,
         {{-0.59F, 0.014F, 0.014F, {h, h}, 0, 0.072F}, {-0.525F, 0.018F, 0.02F, {h, h}, 0, 0.056F}},
         true);  // a thumb
}

void add_leg(Sculptor& s, float x, int side) {
  const Transform at{{x, 0, 0}, {}, {1, 1, 1}};
  const Bone t = on_side(side, thigh_l, thigh_r), c = on_side(side, shin_l, shin_r);
  const Bone f = on_side(side, foot_l, foot_r);
  s.loft(dark, at,
         {{0.37F, 0.055F, 0.06F, {t, c}, 255},
          {0.43F, 0.053F, 0.06F, {t, c}, 191},
          {0.47F, 0.052F, 0.06F, {t, c}, 128},
          {0.51F, 0.053F, 0.06F, {t, c}, 64},
          {0.57F, 0.055F, 0.062F, {t, t}},
          {0.87F, 0.06F, 0.07F, {t, t}}},
         false);
  s.loft(shell, at,
         {{0.555F, 0.06F, 0.07F, {t, t}},
          {0.59F, 0.074F, 0.086F, {t, t}},
          {0.76F, 0.08F, 0.096F, {t, t}},
          {0.81F, 0.066F, 0.075F, {t, t}}},
         true);
  s.loft(shell, at,
         {{0.1F, 0.052F, 0.058F, {c, c}},
          {0.14F, 0.066F, 0.075F, {c, c}},
          {0.34F, 0.074F, 0.088F, {c, c}},
          {0.39F, 0.06F, 0.07F, {c, c}}},
         true);
  s.loft(dark, at,
         {{0, 0.05F, 0.09F, {f, f}, 0, 0.035F},  // shorter, so that the foot can roll
          {0.03F, 0.06F, 0.12F, {f, f}, 0, 0.05F},
          {0.09F, 0.048F, 0.075F, {f, f}, 0, 0.01F},
          {0.125F, 0.042F, 0.046F, {f, f}}},
         true);
}

// Texture coordinates: the position seen along the axis that a face looks along most, two metres a
// texture; V runs down.
std::array<float, 2> uv(Vec3 p, Vec3 normal) {
  const float x = std::abs(normal.x), y = std::abs(normal.y), z = std::abs(normal.z);
  if (y >= x && y >= z) return {0.5F + p.x / 2, 0.5F - p.z / 2};
  return {0.5F + (x > z ? p.z : p.x) / 2, 1 - p.y / 2};
}

// The faces of one material. A vertex is stored once for every direction that its faces look in.
v3c::Batch make_batch(const Sculptor& s, Material material) {
  v3c::Batch b;
  b.morph_map.assign(s.positions.size(), -1);
  std::map<std::tuple<std::size_t, float, float, float>, std::size_t> known;
  for (const Polygon& p : s.polygons) {
    if (p.material != material) continue;
    const Vec3 n = s.normal(p);
    std::vector<std::uint16_t> corners;
    for (const std::size_t v : p.vertices) {
      const std::size_t next = b.positions.size();
      const auto [at, is_new] = known.try_emplace({v, n.x, n.y, n.z}, next);
      corners.push_back(static_cast<std::uint16_t>(at->second));
      if (!is_new) continue;
      b.positions.push_back(raw(s.positions[v]));
      b.normals.push_back(raw(n));
      b.uvs.push_back(uv(s.positions[v], n));
      b.links.push_back(s.links[v]);
      if (b.morph_map[v] < 0) b.morph_map[v] = static_cast<std::int16_t>(next);
      b.same_position.push_back(
          static_cast<std::int16_t>(next - static_cast<std::size_t>(b.morph_map[v])));
    }
    for (std::size_t i = 1; i + 1 < corners.size(); ++i) {
      b.triangles.push_back({{corners[0], corners[i], corners[i + 1]}, 0});
    }
  }
  return b;
}

v3c::Submesh make_submesh(const Sculptor& s) {
  v3c::Submesh out;
  set_text(out.name, "walker");
  set_text(out.parent, "None");
  out.lod_distances = {0};
  v3c::Lod& lod = out.lods.emplace_back();
  lod.flags = v3c::lod_has_morph_map | v3c::lod_is_character;
  lod.num_vertices = static_cast<std::int32_t>(s.positions.size());
  for (std::uint8_t m = 0; m < num_materials; ++m) {
    lod.batches.push_back(make_batch(s, Material{m}));
    lod.batch_infos.emplace_back().render_flags = 0x518C41;  // as every character of the game
    lod.batch_headers.emplace_back().texture_index = m;
    lod.textures.push_back({m, textures[m]});
    auto& material = out.materials.emplace_back();
    set_text(material.diffuse, textures[m]);
    material.emissive = m == glow ? 1.0F : 0.0F;
  }
  out.tails.push_back({out.name, 0});
  out.box_min = out.box_max = raw(s.positions[0]);
  double square = 0;
  for (const Vec3 v : s.positions) {
    const auto p = raw(v);
    for (std::size_t axis = 0; axis < 3; ++axis) {
      out.box_min[axis] = std::min(out.box_min[axis], p[axis]);
      out.box_max[axis] = std::max(out.box_max[axis], p[axis]);
    }
    square = std::max(square, double{v.x} * v.x + double{v.y} * v.y + double{v.z} * v.z);
  }
  out.radius = static_cast<float>(std::sqrt(square));
  return out;
}

}  // namespace

double rounded(double value, double step) { return std::round(value / step) * step; }

std::vector<Node> skeleton() {
  std::vector<Node> nodes;
  for (const Joint& j : joints) {
    Node& node = nodes.emplace_back();
    node.name = j.name;
    node.parent = j.parent;
    node.rest.translation = j.offset;
  }
  // The tangent of half the angle: about 39 degrees away from the body.
  nodes[upperarm_l].rest.rotation = normalize({0, 0, -0.35F, 1});
  nodes[upperarm_r].rest.rotation = normalize({0, 0, 0.35F, 1});
  return nodes;
}

std::vector<Vec3> face(const Expression& e) {
  std::vector<Vec3> out;
  const auto add = [&](double x, double y, int z) {  // millimetres
    const auto metres = [](double mm) { return static_cast<float>(std::round(mm) / 1000); };
    out.push_back({metres(x), metres(y), metres(z)});
  };
  constexpr std::array<std::array<int, 2>, 8> rim{
      {{22, 0}, {16, 16}, {0, 22}, {-16, 16}, {-22, 0}, {-16, -16}, {0, -22}, {16, -16}}};
  for (const int side : {-1, 1}) {
    add(52 * side, 1588, 132);
    for (const auto& [x, y] : rim) add(52 * side + x, 1588 + y * (1 - 0.9 * e.blink), 132);
  }
  for (const int side : {-1, 1}) {
    const double y = 1621 + 9 * e.brows;
    for (const int z : {127, 138}) {
      add(52 * side - 24, y, z);
      add(52 * side + 24, y, z);
      add(52 * side + 24, y + 8, z);
      add(52 * side - 24, y + 8, z);
    }
  }
  constexpr std::array<std::array<double, 3>, mouth_columns> lip{
      // x, smile, how far it opens
      {{-42, 8, 0.25}, {-21, 2, 0.85}, {0, 0, 1}, {21, 2, 0.85}, {42, 8, 0.25}}};
  for (const double jaw : {0.0, 1.0}) {
    for (const auto& [x, smile, opens] : lip) {
      add(x * (1 + 0.3 * e.wide), 1528 + smile + opens * e.open * (6 - 32 * jaw) - 7 * jaw, 132);
    }
  }
  return out;
}

v3c::File mesh(std::span<const Node> nodes) {
  std::vector<Transform> local, rest(nodes.size());
  for (const Node& n : nodes) local.push_back(n.rest);
  to_object_space(nodes, topological_order(nodes), local, rest);

  Sculptor s;
  add_face(s);  // first, see character.hpp
  add_trunk(s);
  for (const int side : {-1, 1}) {
    add_arm(s, rest[on_side(side, upperarm_l, upperarm_r)], side);
    add_leg(s, rest[on_side(side, thigh_l, thigh_r)].translation.x, side);
  }

  v3c::Submesh submesh = make_submesh(s);
  // Both are given in model space and stored relative to a bone; a stored rotation is the conjugate.
  const auto relative = [&](Bone bone, Vec3 p) {
    return raw((inverse(rest[bone]) * Transform{p, {}, {1, 1, 1}}).translation);
  };
  const auto add_prop = [&](const char* name, Bone bone, Vec3 p) {
    v3c::PropPoint& prop = submesh.lods[0].prop_points.emplace_back();
    set_text(prop.name, name);
    const Quat q = rest[bone].rotation;
    prop.rotation = {q.x, q.y, q.z, q.w};
    prop.position = relative(bone, p);
    prop.bone = bone;
  };
  add_prop("eye", head, {0, 1.588F, 0.14F});
  add_prop("primary_weapon_1", hand_r, rest[hand_r].translation + Vec3{0.03F, -0.05F, 0.05F});
  add_prop("$prop_flag", chest, {0, 1.3F, -0.21F});

  v3c::File file;
  file.num_submeshes = 1;
  file.num_materials = num_materials;
  file.chunks.push_back({v3c::submesh_chunk, 0, std::move(submesh), {}});
  const auto add_sphere = [&](const char* name, Bone bone, Vec3 p, float radius) {
    v3c::Sphere sphere;
    set_text(sphere.name, name);
    sphere.bone = bone;
    sphere.position = relative(bone, p);
    sphere.radius = radius;
    file.chunks.push_back({v3c::sphere_chunk, 44, sphere, {}});
    ++file.num_spheres;
  };
  add_sphere("walker_head", head, {0, 1.57F, 0}, 0.19F);
  add_sphere("walker_body", chest, {0, 1.24F, 0}, 0.26F);

  v3c::Bones bones;
  for (std::size_t i = 0; i < nodes.size(); ++i) {
    v3c::Bone& b = bones.bones.emplace_back();
    const Quat q = rest[i].rotation;
    set_text(b.name, nodes[i].name);
    b.rotation = {q.x, q.y, q.z, q.w};
    b.translation = raw(inverse(rest[i]).translation);
    b.parent = nodes[i].parent;
  }
  const auto size = static_cast<std::int32_t>(4 + 56 * nodes.size());
  file.chunks.push_back({v3c::bone_chunk, size, std::move(bones), {}});
  file.chunks.emplace_back();
  v3c::layout(file);
  return file;
}

}  // namespace example
