// Primitives, morph targets and materials.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "dopesheet/sample.hpp"
#include "gltf_build.hpp"

namespace dopesheet::gltf {
namespace {

// Makes the weights add up to 1, each joint stand once, and unused slots zero. False where one of
// them could not be; where none is left, joint 0 takes all.
bool normalise(Influence& in, std::size_t joints) {
  Influence out;
  std::size_t size = 0;
  double sum = 0;
  bool is_good = true;
  for (std::size_t i = 0; i < 4; ++i) {
    const float w = in.weights[i];
    if (w == 0) continue;
    if (!(w > 0) || !std::isfinite(w) || in.joints[i] >= joints) {
      is_good = false;
      continue;
    }
    const auto end = out.joints.begin() + static_cast<std::ptrdiff_t>(size);
    const auto same = static_cast<std::size_t>(std::find(out.joints.begin(), end, in.joints[i]) -
                                               out.joints.begin());
    if (same == size) ++size;
    out.joints[same] = in.joints[i];
    out.weights[same] += w;
    sum += w;
  }
  if (!(sum > 0) || !std::isfinite(sum)) {
    in = {{}, {1, 0, 0, 0}};
    return false;
  }
  for (float& w : out.weights) w = static_cast<float>(w / sum);
  for (std::size_t i = 0; i < 4; ++i) {
    if (out.weights[i] == 0) out.joints[i] = 0;
  }
  in = out;
  return is_good;
}

Vec3 unit_normal(Vec3 n) {
  const double l = std::sqrt(double{n.x} * n.x + double{n.y} * n.y + double{n.z} * n.z);
  if (!(l > 1e-30) || !std::isfinite(l)) return {0, 1, 0};
  return {static_cast<float>(n.x / l), static_cast<float>(n.y / l), static_cast<float>(n.z / l)};
}

template <class T>
std::span<const float> floats(const std::vector<T>& v) {
  static_assert(sizeof(T) % sizeof(float) == 0);
  return {reinterpret_cast<const float*>(v.data()), v.size() * sizeof(T) / sizeof(float)};
}

// Where the vertices of a primitive are when one morph target shows in full, relative to where they
// are without. Empty where the morph moves none of them.
std::vector<Vec3> morph_deltas(const Primitive& p, const Morph& morph, std::size_t target) {
  std::vector<Vec3> moved = p.positions;
  bool any = false;
  for (std::size_t i = 0; i < morph.vertices.size(); ++i) {
    const std::size_t original = morph.vertices[i];
    std::int64_t v = static_cast<std::int64_t>(original);
    if (!p.morph_map.empty()) v = original < p.morph_map.size() ? p.morph_map[original] : -1;
    if (v < 0 || std::cmp_greater_equal(v, moved.size())) continue;
    any = true;
    moved[static_cast<std::size_t>(v)] = morph.positions[target][i];
  }
  if (!any) return {};
  std::vector<Vec3> out(moved.size());
  for (std::size_t v = 0; v < moved.size(); ++v) {
    const std::size_t from = v < p.copy_of.size() && p.copy_of[v] < moved.size() ? p.copy_of[v] : v;
    out[v] = moved[from] - p.positions[v];
    if (!is_finite(out[v])) out[v] = {};  // it stays
  }
  return out;
}

void add_influences(Object& attributes, const Primitive& p, const MeshContext& to,
                    const std::string& path) {
  std::vector<std::array<std::uint8_t, 4>> joints;
  std::vector<std::array<float, 4>> weights;
  std::size_t bad = 0;
  for (std::size_t v = 0; v < p.positions.size(); ++v) {
    Influence in = v < p.influences.size() ? p.influences[v] : Influence{};
    if (!normalise(in, to.joints)) ++bad;
    joints.push_back(in.joints);
    weights.push_back(in.weights);
  }
  if (bad > 0) {
    to.losses.push_back({path + ".influences",
                         fmt::format("{} vertices have weights or joints that cannot be", bad)});
  }
  attributes.number("JOINTS_0", to.builder.attribute(joints));
  attributes.number("WEIGHTS_0", to.builder.attribute(floats(weights), 4, false));
}

// The targets of all clips, one after the other.
std::string targets(const Primitive& p, const MeshContext& to) {
  std::vector<std::string> list;
  for (const Clip& c : to.clips) {
    for (std::size_t k = 0; k < c.morph.positions.size(); ++k) {
      const auto deltas = morph_deltas(p, c.morph, k);
      const std::size_t accessor = deltas.empty() ? to.builder.zeros(p.positions.size())
                                                  : to.builder.attribute(floats(deltas), 3, true);
      list.push_back(Object().number("POSITION", accessor).str());
    }
  }
  return array(list);
}

bool is_good(Vec3 v) { return is_finite(v); }
bool is_good(std::array<float, 2> v) { return std::isfinite(v[0]) && std::isfinite(v[1]); }
// One line for all that is not finite.
template <class T>
void repair(std::vector<T>& list, T instead, const std::string& path, std::vector<Loss>& losses) {
  std::size_t bad = 0;
  for (T& v : list) {
    if (is_good(v)) continue;
    v = instead;
    ++bad;
  }
  if (bad > 0) losses.push_back({path, fmt::format("{} are not finite; 0 is written", bad)});
}

}  // namespace

std::optional<std::string> primitive(Primitive p, Vec3 offset, bool is_skinned,
                                     std::size_t morph_targets, const MeshContext& to,
                                     const std::string& path) {
  const std::size_t n = p.positions.size();
  std::vector<std::uint32_t> indices;
  for (const auto& t : p.triangles) {
    if (t[0] < n && t[1] < n && t[2] < n) indices.insert(indices.end(), t.begin(), t.end());
  }
  if (indices.size() < p.triangles.size() * 3) {
    to.losses.push_back({path + ".triangles", "some have no vertices; they are left out"});
  }
  if (indices.empty()) return {};
  repair(p.positions, Vec3{}, path + ".positions", to.losses);
  if (to.builder.is_full(std::uint64_t{n} * 12 * (5 + morph_targets))) {
    to.builder.fail();
    return {};
  }

  Object attributes;
  std::vector<Vec3> shifted = p.positions;
  for (Vec3& v : shifted) v = v + offset;
  repair(shifted, Vec3{}, path + ".positions", to.losses);
  attributes.number("POSITION", to.builder.attribute(floats(shifted), 3, true));
  if (!p.normals.empty()) {
    p.normals.resize(n, Vec3{0, 1, 0});
    for (Vec3& v : p.normals) v = unit_normal(v);
    attributes.number("NORMAL", to.builder.attribute(floats(p.normals), 3, false));
  }
  if (!p.uvs.empty()) {
    p.uvs.resize(n);
    repair(p.uvs, {}, path + ".uvs", to.losses);
    attributes.number("TEXCOORD_0", to.builder.attribute(floats(p.uvs), 2, false));
  }
  if (is_skinned) add_influences(attributes, p, to, path);

  Object o;
  o.raw("attributes", attributes.str()).number("indices", to.builder.indices(indices, n));
  if (p.material < to.materials) o.number("material", p.material);
  if (morph_targets > 0) o.raw("targets", targets(p, to));
  return o.str();
}

bool moves(const Mesh& m, std::span<const Clip> clips) {
  for (const Clip& c : clips) {
    if (c.morph.positions.empty()) continue;
    for (const Primitive& p : m.primitives) {
      if (!p.triangles.empty() && !morph_deltas(p, c.morph, 0).empty()) return true;
    }
  }
  return false;
}

std::string material(const Material& m, const std::string& path, std::vector<Loss>& losses) {
  Object o;
  o.name(m.name);
  o.raw("pbrMetallicRoughness", R"({"metallicFactor":0})");
  const auto part = [](float v) { return std::isfinite(v) ? std::clamp(v, 0.0F, 1.0F) : 0.0F; };
  const Vec3 light{part(m.emissive.x), part(m.emissive.y), part(m.emissive.z)};
  if (light != Vec3{}) o.numbers("emissiveFactor", std::array{light.x, light.y, light.z});
  if (m.alpha == Material::Alpha::mask) o.text("alphaMode", "MASK");
  if (m.alpha == Material::Alpha::blend) o.text("alphaMode", "BLEND");
  if (m.double_sided) o.raw("doubleSided", "true");
  o.extras(Object().properties(m.properties, {}, path, losses));
  return o.str();
}

std::array<float, 16> matrix(const Transform& t) {
  const double x = t.rotation.x, y = t.rotation.y, z = t.rotation.z, w = t.rotation.w;
  const auto f = [](double v, float scale) { return static_cast<float>(v * scale); };
  const auto [sx, sy, sz] = t.scale;
  return {f(1 - 2 * (y * y + z * z), sx),
          f(2 * (x * y + z * w), sx),
          f(2 * (x * z - y * w), sx),
          0,
          f(2 * (x * y - z * w), sy),
          f(1 - 2 * (x * x + z * z), sy),
          f(2 * (y * z + x * w), sy),
          0,
          f(2 * (x * z + y * w), sz),
          f(2 * (y * z - x * w), sz),
          f(1 - 2 * (x * x + y * y), sz),
          0,
          t.translation.x,
          t.translation.y,
          t.translation.z,
          1};
}

}  // namespace dopesheet::gltf
