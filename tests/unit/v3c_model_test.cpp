// What a mesh means: skeleton, skin, primitives, materials; and what its checks find.
#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>
#include <regex>
#include <set>

#include "../support.hpp"
#include "dopesheet/sample.hpp"
#include "dopesheet/v3c.hpp"

namespace dopesheet {
namespace {

constexpr float nan = std::numeric_limits<float>::quiet_NaN();
constexpr double tolerance = 1e-5;

v3c::File file_of(const std::string& name) {
  return *v3c::read(support::read_bytes(support::fixture(name)));
}
Model model_of(const v3c::File& file) {
  auto model = v3c::to_model(file, "name");
  EXPECT_TRUE(model) << to_string(model.error());
  return model ? std::move(*model) : Model{};
}
Model model_of(const std::string& name) { return model_of(file_of(name)); }

v3c::Submesh& submesh(v3c::File& file, std::size_t chunk = 0) {
  return std::get<v3c::Submesh>(file.chunks[chunk].body);
}
v3c::Lod& lod(v3c::File& file, std::size_t index = 0) { return submesh(file).lods[index]; }
v3c::Batch& batch(v3c::File& file, std::size_t index = 0) { return lod(file).batches[index]; }
std::vector<v3c::Bone>& bones(v3c::File& file) {
  for (auto& c : file.chunks) {
    if (auto* b = std::get_if<v3c::Bones>(&c.body)) return b->bones;
  }
  ADD_FAILURE() << "no bones";
  static std::vector<v3c::Bone> none;
  return none;
}
v3c::Sphere& sphere(v3c::File& file) {
  for (auto& c : file.chunks) {
    if (auto* s = std::get_if<v3c::Sphere>(&c.body)) return *s;
  }
  ADD_FAILURE() << "no sphere";
  static v3c::Sphere none;
  return none;
}

void expect_near(Vec3 a, Vec3 b, double within = tolerance) {
  EXPECT_NEAR(a.x, b.x, within);
  EXPECT_NEAR(a.y, b.y, within);
  EXPECT_NEAR(a.z, b.z, within);
}
void expect_same_rotation(Quat a, Quat b, double within = tolerance) {
  EXPECT_NEAR(length(Vec3{a.x, a.y, a.z}) * length(Vec3{a.x, a.y, a.z}) + a.w * a.w, 1, 1e-5);
  if (dot(a, b) < 0) a = {-a.x, -a.y, -a.z, -a.w};
  EXPECT_NEAR(a.x, b.x, within);
  EXPECT_NEAR(a.y, b.y, within);
  EXPECT_NEAR(a.z, b.z, within);
  EXPECT_NEAR(a.w, b.w, within);
}
void expect_near(const Transform& a, const support::Json& want) {
  const auto t = want.at("t").get<std::vector<float>>(), q = want.at("q").get<std::vector<float>>();
  expect_near(a.translation, {t[0], t[1], t[2]});
  expect_same_rotation(a.rotation, {q[0], q[1], q[2], q[3]});
}

std::vector<Transform> object_rest(const Model& m) {
  std::vector<Transform> local, object(m.nodes.size());
  for (const Node& n : m.nodes) local.push_back(n.rest);
  to_object_space(m.nodes, topological_order(m.nodes), local, object);
  return object;
}
void expect_binds_cancel(const Model& m) {
  const auto rest = object_rest(m);
  ASSERT_EQ(m.inverse_bind.size(), m.nodes.size());
  for (std::size_t i = 0; i < rest.size(); ++i) {
    const Transform t = rest[i] * m.inverse_bind[i];
    expect_near(t.translation, {});
    expect_same_rotation(t.rotation, {});
  }
}
const Property* property(const Properties& list, const std::string& key) {
  for (const auto& p : list) {
    if (p.key == key) return &p;
  }
  return nullptr;
}
void expect_property(const Properties& list, const std::string& key, const PropertyValue& value) {
  const Property* p = property(list, key);
  ASSERT_NE(p, nullptr) << key;
  EXPECT_EQ(p->value, value) << key;
}

std::optional<v3c::File> real_character() {
  const auto dir = support::samples_dir();
  if (!dir || !std::filesystem::exists(*dir + "/rfa/boxt.v3c")) return {};
  return *v3c::read(support::read_bytes(*dir + "/rfa/boxt.v3c"));
}
constexpr const char* no_samples = "no real samples here (set DOPESHEET_SAMPLES)";

// ---- the skeleton

TEST(V3cModel, RestPoseIsTheReference) {
  for (const std::string name : {"char", "char_b", "oddpad"}) {
    const Model m = model_of(name + ".v3c");
    const auto want = support::read_json(support::fixture(name + ".expected.json"));
    ASSERT_EQ(m.nodes.size(), 6U);
    ASSERT_EQ(want.at("rest_local").size(), 6U);
    const auto object = object_rest(m);
    for (std::size_t i = 0; i < 6; ++i) {
      expect_near(m.nodes[i].rest, want.at("rest_local")[i]);
      expect_near(object[i], want.at("rest_world")[i]);
      expect_near(m.inverse_bind[i], want.at("inverse_bind")[i]);
    }
    expect_binds_cancel(m);
    expect_binds_cancel(to_right_handed(m));
  }
}

TEST(V3cModel, BonesKeepOrderNamesAndParents) {
  const Model m = model_of("char.v3c");
  EXPECT_EQ(m.name, "name");
  EXPECT_EQ(m.space, Space::left_handed);
  const char* names[] = {"head", "arm-l", "spine", "arm-r", "leg", "root"};
  const int parents[] = {2, 2, 5, 2, 5, -1};  // most stand after their children
  for (std::size_t i = 0; i < 6; ++i) {
    EXPECT_EQ(m.nodes[i].name, names[i]);
    EXPECT_EQ(m.nodes[i].parent, parents[i]);
    EXPECT_EQ(m.nodes[i].role, Role::joint);
    expect_property(m.nodes[i].properties, "rf_type", "bone");
    expect_property(m.nodes[i].properties, "rf_bone_index", static_cast<std::int64_t>(i));
  }
}

TEST(V3cModel, RotationsAreNormalised) {
  v3c::File file = file_of("char.v3c");
  for (auto& b : bones(file)) {
    for (float& x : b.rotation) x *= 3;
  }
  const Model a = model_of(file), b = model_of("char.v3c");
  for (std::size_t i = 0; i < 6; ++i) {
    expect_same_rotation(a.nodes[i].rest.rotation, b.nodes[i].rest.rotation);
    expect_near(a.nodes[i].rest.translation, b.nodes[i].rest.translation);
  }
  bones(file)[0].rotation = {0, 0, 0, 0};
  expect_binds_cancel(model_of(file));
}

TEST(V3cModel, ParentsThatCannotBeMakeRoots) {
  v3c::File file = file_of("char.v3c");
  for (const std::int32_t parent : {6, -2, std::numeric_limits<std::int32_t>::min(), 0x7fffffff}) {
    bones(file)[1].parent = parent;
    const Model m = model_of(file);
    EXPECT_EQ(m.nodes[1].parent, -1);
    expect_binds_cancel(m);
  }
  bones(file)[1].parent = 1;
  EXPECT_EQ(model_of(file).nodes[1].parent, -1);
  bones(file)[5].parent = 0;  // head, spine, root
  const Model m = model_of(file);
  EXPECT_EQ((m.nodes[0].parent < 0) + (m.nodes[2].parent < 0) + (m.nodes[5].parent < 0), 1);
  Clip clip;
  clip.nodes = m.nodes;
  EXPECT_TRUE(validate(clip).empty());
  expect_binds_cancel(m);
}

TEST(V3cModel, TheRealSkeletonIsTheDocumented) {
  const auto file = real_character();
  if (!file) GTEST_SKIP() << no_samples;
  const Model m = model_of(*file);
  const struct {
    const char* name;
    int parent;
    Quat q;
    Vec3 t;
  } want[] = {
      {"body", 5, {-0.70711F, 0, 0, 0.70711F}, {0, 0, 0}},
      {"chin", 0, {}, {0.03216F, 0.06748F, 1.71138F}},
      {"eye", 0, {}, {0.04295F, 0.45916F, 2.00352F}},
      {"flap-b", 0, {}, {0.00083F, -0.82378F, -0.76339F}},
      {"flap-f", 0, {}, {0.00083F, -0.82384F, 0.17604F}},
      {"root", -1, {0.70711F, 0, 0, 0.70711F}, {0, 0, 0}},
      {"thruster-l", 0, {0, 0, -0.22495F, 0.97437F}, {-1.95224F, 0.26087F, -0.29014F}},
      {"thruster-r", 0, {0, 0, 0.23345F, 0.97237F}, {1.93285F, 0.25050F, -0.29014F}},
  };
  ASSERT_EQ(m.nodes.size(), std::size(want));
  for (std::size_t i = 0; i < std::size(want); ++i) {
    EXPECT_EQ(m.nodes[i].name, std::string("boxt-bdbn-") + want[i].name);
    EXPECT_EQ(m.nodes[i].parent, want[i].parent);
    expect_same_rotation(m.nodes[i].rest.rotation, want[i].q);
    expect_near(m.nodes[i].rest.translation, want[i].t);
  }
  expect_binds_cancel(m);

  const Model mirrored = to_right_handed(m);
  expect_binds_cancel(mirrored);
  expect_near(object_rest(mirrored)[6].translation, {1.95224F, 0.26087F, -0.29014F});
  expect_near(mirrored.inverse_bind[6].translation, {-1.86902F, 0.62134F, 0.29014F});
  expect_near(rotate(mirrored.inverse_bind[6].rotation, {1, 0, 0}), {0.89879F, -0.43837F, 0});
}

// ---- places on bones

TEST(V3cModel, PropPointsAndSpheresAreAttachments) {
  const Model m = model_of("char.v3c");
  const auto want_props = std::array{"fixture-root", "eye", "primary_weapon_1", "thruster_1"};
  ASSERT_EQ(m.attachments.size(), 6U);  // of the finest level of detail only
  for (std::size_t i = 0; i < 4; ++i) {
    const Attachment& a = m.attachments[i];
    EXPECT_EQ(a.name, want_props[i]);  // without the junk after it
    expect_property(a.properties, "rf_type", "prop_point");
    expect_property(a.properties, "rf_name", std::string(want_props[i]));
    expect_property(a.properties, "rf_parent_bone", std::int64_t{a.joint});
  }
  EXPECT_EQ(m.attachments[2].joint, 3);
  expect_near(m.attachments[2].transform.translation, {0.47F, 0.01F, 0.05F});
  // 90 degrees backwards about an axis near x: active, not as stored.
  EXPECT_LT(m.attachments[3].transform.rotation.x * m.attachments[3].transform.rotation.w, -0.4F);

  const Attachment& head = m.attachments[4];
  EXPECT_EQ(head.name, "csphere_head");
  EXPECT_EQ(head.joint, 0);
  EXPECT_EQ(head.transform.scale, (Vec3{0.2F, 0.2F, 0.2F}));
  expect_near(head.transform.translation, {0, 0.14F, 0.02F});
  expect_property(head.properties, "rf_type", "collision_sphere");
  expect_property(head.properties, "rf_radius", 0.2F);
  expect_property(head.properties, "rf_parent_bone", std::int64_t{0});
  EXPECT_EQ(m.attachments[5].joint, -1);
}

TEST(V3cModel, PropPointsOfNoBoneMoveWithTheirSubmesh) {
  const Model m = model_of("static.v3m");
  ASSERT_EQ(m.attachments.size(), 2U);
  EXPECT_EQ(m.attachments[0].name, "corona_1");
  expect_near(m.attachments[0].transform.translation, {1.5F, 1.1F, -0.25F});
  expect_near(m.attachments[1].transform.translation,
              {1.5F, 0.5F, -0.25F});  // a sphere: in the model
}

TEST(V3cModel, ARealPropPointIsWhereItIsDocumented) {
  const auto file = real_character();
  if (!file) GTEST_SKIP() << no_samples;
  const Model m = model_of(*file);
  ASSERT_EQ(m.attachments.size(), 8U);
  EXPECT_EQ(m.attachments[4].name, "thruster_1");
  const Transform t = object_rest(m)[6] * m.attachments[4].transform;
  expect_near(t.translation, {-2.44847F, -0.87768F, 0.48116F});
  expect_same_rotation(m.attachments[4].transform.rotation,
                       {-0.30318F, 0.02589F, 0.07511F, 0.94962F});
  // The point that is named after the root bone has its rest rotation.
  expect_same_rotation(m.attachments[0].transform.rotation, object_rest(m)[5].rotation);
}

// ---- meshes

TEST(V3cModel, OneMeshPerSubmeshAndLevelOfDetail) {
  const Model m = model_of("char.v3c");
  ASSERT_EQ(m.meshes.size(), 2U);
  EXPECT_EQ(m.meshes[0].name, "FixtureMan");
  EXPECT_EQ(m.meshes[1].name, "FixtureMan_LOD1");
  EXPECT_EQ(m.meshes[1].lod, 1);
  EXPECT_EQ(m.meshes[1].lod_distance, 7);
  expect_property(m.meshes[1].properties, "rf_lod_distance", 7.0F);
  ASSERT_EQ(m.meshes[0].primitives.size(), 2U);
  EXPECT_EQ(m.meshes[0].primitives[0].positions.size(), 67U);
  EXPECT_EQ(m.meshes[0].primitives[0].triangles.size(), 34U);  // 33, and the fin from behind
  EXPECT_EQ(m.meshes[0].primitives[1].positions.size(), 85U);
  EXPECT_EQ(m.meshes[0].primitives[1].triangles.size(), 44U);
  EXPECT_EQ(m.meshes[1].primitives[0].triangles.size(), 72U);

  const Model s = model_of("static.v3m");
  ASSERT_EQ(s.meshes.size(), 2U);
  EXPECT_EQ(s.meshes[0].name, "crate");
  EXPECT_EQ(s.meshes[0].translation, (Vec3{1.5F, 0, -0.25F}));
  EXPECT_EQ(s.meshes[1].name, "sign");
  EXPECT_TRUE(s.nodes.empty());
}

TEST(V3cModel, BothFamiliesOfWritersMeanTheSame) {
  const Model a = model_of("char.v3c"), b = model_of("char_b.v3c"), odd = model_of("oddpad.v3c");
  for (const Model* other : {&b, &odd}) {
    for (std::size_t i = 0; i < 2; ++i) {
      const Primitive &p = a.meshes[0].primitives[i], &q = other->meshes[0].primitives[i];
      EXPECT_EQ(p.positions, q.positions);
      EXPECT_EQ(p.normals, q.normals);
      EXPECT_EQ(p.uvs, q.uvs);
      EXPECT_EQ(p.triangles, q.triangles);
      EXPECT_EQ(p.influences, q.influences);
      EXPECT_EQ(a.materials[p.material], other->materials[q.material]);
    }
  }
}

TEST(V3cModel, TheRealMeshHasTheDocumentedSize) {
  const auto file = real_character();
  if (!file) GTEST_SKIP() << no_samples;
  const Model m = model_of(*file);
  ASSERT_EQ(m.meshes.size(), 1U);
  EXPECT_EQ(m.meshes[0].name, "BoxTransport");
  const std::size_t vertices[] = {32, 32, 18, 364, 288, 40},
                    triangles[] = {20, 16, 16, 266, 322, 22};
  ASSERT_EQ(m.meshes[0].primitives.size(), 6U);
  for (std::size_t i = 0; i < 6; ++i) {
    const Primitive& p = m.meshes[0].primitives[i];
    EXPECT_EQ(p.positions.size(), vertices[i]);
    EXPECT_EQ(p.triangles.size(), triangles[i]);
    EXPECT_EQ(p.morph_map.size(), 366U);
    EXPECT_EQ(p.material, i);
    for (const Vec3& n : p.normals) EXPECT_NEAR(length(n), 1, 1e-5);
  }
  const Primitive& p = m.meshes[0].primitives[0];
  expect_near(p.positions[0], {-0.8025039F, 0.8238081F, -1.9211320F}, 1e-6);
  expect_near(p.normals[0], {0.7581470F, 0.4484433F, -0.4734044F}, 1e-6);
  EXPECT_NEAR(p.uvs[0][0], 0.9995005, 1e-6);
  EXPECT_EQ(p.triangles[1], (std::array<std::uint32_t, 3>{3, 1, 0}));
  EXPECT_EQ(p.influences[0].weights, (std::array<float, 4>{1, 0, 0, 0}));
  EXPECT_EQ(p.morph_map[6], 22);
  EXPECT_EQ(p.morph_map[5], -1);
  EXPECT_EQ(m.materials.size(), 6U);  // the seventh is unused
}

Vec3 cross(Vec3 a, Vec3 b) {
  return {a.y * b.z - a.z * b.y, a.z * b.x - a.x * b.z, a.x * b.y - a.y * b.x};
}

TEST(V3cModel, FacesPointOutwards) {
  for (const bool mirrored : {false, true}) {
    Model m = model_of("char.v3c");
    if (mirrored) m = to_right_handed(std::move(m));
    const Primitive& p = m.meshes[0].primitives[1];  // no double-sided face
    for (const auto& [a, b, c] : p.triangles) {
      const Vec3 n = cross(p.positions[b] - p.positions[a], p.positions[c] - p.positions[a]);
      const Vec3 v = p.normals[a] + p.normals[b] + p.normals[c];
      EXPECT_GT(n.x * v.x + n.y * v.y + n.z * v.z, 0);  // in either space
    }
  }
}

TEST(V3cModel, MissingNormalsAreTheAverageOfTheirFaces) {
  const Model s = model_of("static.v3m");
  const Primitive& sign = s.meshes[1].primitives[0];
  for (std::size_t v = 8; v < 11; ++v)
    EXPECT_EQ(sign.normals[v], (Vec3{0, 1, 0}));  // no face with an area

  v3c::File file = file_of("char.v3c");
  const Model before = model_of(file);
  batch(file, 1).normals[80] = {nan, nan, nan};  // a corner of the nose
  batch(file, 1).normals[84] = {0, 0, 0};        // its tip, of four faces
  const Model after = model_of(file);
  const Primitive& p = after.meshes[0].primitives[1];
  for (const std::uint32_t v : {80U, 84U}) {
    Vec3 sum{};
    for (const auto& [a, b, c] : p.triangles) {
      if (a != v && b != v && c != v) continue;
      const Vec3 n = cross(p.positions[b] - p.positions[a], p.positions[c] - p.positions[a]);
      sum = sum + (1 / length(n)) * n;
    }
    expect_near(p.normals[v], (1 / length(sum)) * sum);
  }
  for (const std::size_t v : {0U, 79U, 83U}) {  // the others are as stored
    expect_near(p.normals[v], before.meshes[0].primitives[1].normals[v]);
  }
}

TEST(V3cModel, TheTwoSidesOfASheetTakeTheFirstFace) {
  v3c::File file = file_of("static.v3m");
  v3c::Batch& b = batch(file);
  b.triangles = {{{0, 1, 2}, 0}, {{1, 0, 2}, 0}};
  b.normals[1] = {nan, nan, nan};
  const Primitive p = model_of(file).meshes[0].primitives[0];
  expect_near(p.normals[1], p.normals[0]);
  EXPECT_EQ(p.triangles.size(), 2U);
}

TEST(V3cModel, TrianglesWithoutAreaAreDropped) {
  const Model s = model_of("static.v3m");
  EXPECT_EQ(s.meshes[1].primitives[0].positions.size(), 11U);
  EXPECT_EQ(s.meshes[1].primitives[0].triangles.size(), 6U);  // 4 of 6, and 2 from behind
  v3c::File file = file_of("static.v3m");
  for (auto& t : batch(file).triangles) t.vertices[1] = t.vertices[0];
  EXPECT_EQ(model_of(file).meshes[0].primitives.size(), 1U);  // nothing left of the first batch
}

TEST(V3cModel, DoubleSidedBatchesAndTriangles) {
  const Model s = model_of("static.v3m");
  const auto& crate = s.meshes[0].primitives;
  EXPECT_TRUE(s.materials[crate[0].material].double_sided);
  EXPECT_EQ(crate[0].triangles.size(), 12U);
  EXPECT_FALSE(s.materials[crate[1].material].double_sided);
  const Primitive& sign = s.meshes[1].primitives[0];
  EXPECT_FALSE(s.materials[sign.material].double_sided);
  for (const std::size_t i : {0U, 1U}) {
    const auto [a, b, c] = sign.triangles[i];
    EXPECT_EQ(sign.triangles[4 + i], (std::array<std::uint32_t, 3>{a, c, b}));
  }
}

// ---- skin and morphs

TEST(V3cModel, WeightsAddUpToOne) {
  for (const char* name : {"char.v3c", "char_b.v3c"}) {
    std::size_t shared = 0;
    for (const Mesh& mesh : model_of(name).meshes) {
      for (const Primitive& p : mesh.primitives) {
        ASSERT_EQ(p.influences.size(), p.positions.size());
        for (const Influence& in : p.influences) {
          EXPECT_NEAR(in.weights[0] + in.weights[1] + in.weights[2] + in.weights[3], 1, 1e-6);
          for (std::size_t k = 0; k < 4; ++k) {
            EXPECT_LT(in.joints[k], 6);
            EXPECT_TRUE(in.weights[k] > 0 || in.joints[k] == 0);
          }
          shared += in.weights[1] > 0;
        }
      }
    }
    EXPECT_GT(shared, 20U);
  }
  v3c::File file = file_of("char.v3c");
  batch(file).links[3] = {{84, 0, 84, 84}, {1, 200, 2, 0}};
  batch(file).links[4] = {{0, 0, 0, 0}, {0xFF, 0xFF, 0xFF, 0xFF}};
  const Model m = model_of(file);
  const auto& in = m.meshes[0].primitives[0].influences;
  const float third = 84.0F / 252.0F;
  EXPECT_EQ(in[3], (Influence{{1, 0, 2, 0}, {third, 0, third, third}}));
  EXPECT_EQ(in[4], (Influence{{0, 0, 0, 0}, {1, 0, 0, 0}}));
}

TEST(V3cModel, OnlyCharactersWithBonesAreSkinned) {
  v3c::File file = file_of("char.v3c");
  file.magic = v3c::static_magic;
  EXPECT_TRUE(model_of(file).meshes[0].primitives[0].influences.empty());
  for (const auto& mesh : model_of("static.v3m").meshes) {
    for (const auto& p : mesh.primitives) EXPECT_TRUE(p.influences.empty());
  }
  file = file_of("char.v3c");
  batch(file).links.clear();
  EXPECT_TRUE(model_of(file).meshes[0].primitives[0].influences.empty());
  EXPECT_FALSE(model_of(file).meshes[0].primitives[1].influences.empty());
}

TEST(V3cModel, OriginalVerticesAreFoundInEveryBatch) {
  const Model m = model_of("char.v3c");
  const auto& batches = m.meshes[0].primitives;
  std::size_t in_both = 0;
  for (std::size_t o = 0; o < 57; ++o) {
    const int a = batches[0].morph_map.at(o), b = batches[1].morph_map.at(o);
    EXPECT_EQ(a < 0 && b < 0, o == 56) << o;
    if (a < 0 || b < 0) continue;
    ++in_both;
    EXPECT_EQ(batches[0].positions[static_cast<std::size_t>(a)],
              batches[1].positions[static_cast<std::size_t>(b)]);
  }
  EXPECT_EQ(in_both, 8U);  // the corners of the spine
  for (const Primitive& p : batches) {
    std::set<std::size_t> originals;
    for (const int v : p.morph_map) {
      if (v >= 0) originals.insert(static_cast<std::size_t>(v));
    }
    ASSERT_EQ(p.copy_of.size(), p.positions.size());
    for (std::size_t v = 0; v < p.copy_of.size(); ++v) {
      EXPECT_EQ(p.positions[p.copy_of[v]], p.positions[v]);
      EXPECT_EQ(originals.contains(v), p.copy_of[v] == v);
    }
    EXPECT_LT(originals.size(), p.positions.size());
  }
}

TEST(V3cModel, WithoutAMapTheVertexIsTheOriginal) {
  const Model m = model_of("char_b.v3c");
  for (const Primitive& p : m.meshes[0].primitives) {
    EXPECT_TRUE(p.morph_map.empty());
    for (std::size_t v = 0; v < p.copy_of.size(); ++v) EXPECT_EQ(p.copy_of[v], v);
  }
}

TEST(V3cModel, ACopyOfACopyEndsAtTheFirst) {
  v3c::File file = file_of("char.v3c");
  auto& back = batch(file).same_position;
  back[1] = 1;
  back[2] = 1;
  back[3] = -1;
  const auto copy = model_of(file).meshes[0].primitives[0].copy_of;
  EXPECT_EQ(copy[1], 0U);
  EXPECT_EQ(copy[2], 0U);
  EXPECT_EQ(copy[3], 3U);
}

// ---- materials

TEST(V3cModel, MaterialsFollowTheChainOfIndices) {
  const Model m = model_of("char.v3c");
  ASSERT_EQ(m.materials.size(), 3U);  // the lower level of detail has one of its own
  const auto& p = m.meshes[0].primitives;
  EXPECT_EQ(m.materials[p[0].material].name, "fix_body.tga");  // texture 1, material 0
  EXPECT_EQ(m.materials[p[1].material].name, "fix_trim.tga");
  const Material& low = m.materials[m.meshes[1].primitives[0].material];
  EXPECT_EQ(low.name, "fix_low.tga");
  EXPECT_EQ(low.emissive, (Vec3{0.5F, 0.5F, 0.5F}));
  expect_property(low.properties, "rf_texture", "fix_low.tga");
  expect_property(low.properties, "rf_render_flags", std::int64_t{0x518C41});
  expect_property(low.properties, "rf_material_flags", std::int64_t{1});

  v3c::File file = file_of("char.v3c");
  lod(file).batch_headers[1].texture_index = 1;
  submesh(file).materials[0].emissive = 7;
  const Model shared = model_of(file);
  EXPECT_EQ(shared.meshes[0].primitives[0].material, shared.meshes[0].primitives[1].material);
  EXPECT_EQ(shared.materials[0].emissive, (Vec3{1, 1, 1}));
}

TEST(V3cModel, RenderFlagsSayHowToBlend) {
  v3c::File file = file_of("char.v3c");
  for (const auto& [flags, alpha] : {
           std::pair{0x518C41U, Material::Alpha::mask},
           std::pair{0x400C41U, Material::Alpha::opaque},
           std::pair{0x110C21U, Material::Alpha::blend},
           std::pair{0x418C41U, Material::Alpha::blend},   // alpha without the alpha test
           std::pair{0x500C41U, Material::Alpha::opaque},  // the alpha test without blending
       }) {
    lod(file).batch_infos[0].render_flags = flags;
    const Model m = model_of(file);
    EXPECT_EQ(m.materials[m.meshes[0].primitives[0].material].alpha, alpha) << std::hex << flags;
  }
}

// ---- indices to nothing

TEST(V3cModel, AnIndexToNothingIsAnErrorWithAPath) {
  const std::string body = "chunks[0].body", first = body + ".lods[0]",
                    b = first + ".data.batches[1]";
  const struct {
    std::string path;
    std::function<void(v3c::File&)> edit;
  } cases[] = {
      {b + ".triangles[2]", [](auto& f) { batch(f, 1).triangles[2].vertices[1] = 85; }},
      {b + ".links[7].bones[0]",
       [](auto& f) { batch(f, 1).links[7] = {{255, 0, 0, 0}, {6, 0, 0, 0}}; }},
      {b + ".links[7].bones[1]",
       [](auto& f) { batch(f, 1).links[7] = {{200, 55, 0, 0}, {0, 0xFF, 0, 0}}; }},
      {b + ".same_position[3]", [](auto& f) { batch(f, 1).same_position[3] = 4; }},
      {b + ".morph_map[9]", [](auto& f) { batch(f, 1).morph_map[9] = 85; }},
      {b + ".morph_map[9]", [](auto& f) { batch(f, 1).morph_map[9] = -2; }},
      {first + ".data.batch_headers[1].texture_index",
       [](auto& f) { lod(f).batch_headers[1].texture_index = 2; }},
      {first + ".data.batch_headers[1].texture_index",
       [](auto& f) { lod(f).batch_headers[1].texture_index = -1; }},
      {first + ".textures[0].material", [](auto& f) { lod(f).textures[0].material = 3; }},
      {first + ".data.prop_points[2].bone", [](auto& f) { lod(f).prop_points[2].bone = 6; }},
      {first + ".data.prop_points[2].bone", [](auto& f) { lod(f).prop_points[2].bone = -2; }},
      {"chunks[1].body.bone", [](auto& f) { sphere(f).bone = 6; }},
      {b, [](auto& f) { batch(f, 1).normals.pop_back(); }},
      {b, [](auto& f) { batch(f, 1).uvs.clear(); }},
      {b, [](auto& f) { batch(f, 1).links.pop_back(); }},
      {b, [](auto& f) { batch(f, 1).same_position.pop_back(); }},
      {b, [](auto& f) { lod(f).batch_headers.pop_back(); }},
      {b, [](auto& f) { lod(f).batch_infos.pop_back(); }},
  };
  for (const auto& c : cases) {
    v3c::File file = file_of("char.v3c");
    c.edit(file);
    const auto model = v3c::to_model(file);
    ASSERT_FALSE(model) << c.path;
    EXPECT_EQ(model.error().code, Code::bad_value);
    EXPECT_EQ(model.error().path, c.path);
    EXPECT_GT(model.error().text.size(), 10U);
    v3c::check(file);
  }
  v3c::File file = file_of("char.v3c");
  batch(file, 1).links[7] = {{255, 0, 0, 0}, {0, 99, 99, 99}};  // the bone of a slot without weight
  EXPECT_TRUE(v3c::to_model(file));
}

// ---- checks

struct Case {
  const char* file;
  const char* code;
  Level level;
  const char* path;
  std::function<void(v3c::File&)> edit = {};
};

template <std::size_t N>
void fill(std::array<char, N>& name) {
  name.fill('x');
}

std::vector<Case> cases() {
  const auto error = Level::error, warning = Level::warning, note = Level::note;
  const auto* c = "char.v3c";
  const auto* s = "static.v3m";
  return {
      {"trailing.v3c", "v3c-trailing-bytes", warning, "trailing"},
      {c, "v3c-submesh-count", warning, "num_submeshes", [](auto& f) { f.num_submeshes = 2; }},
      {c, "v3c-sphere-count", warning, "num_spheres", [](auto& f) { f.num_spheres = 0; }},
      {c, "v3c-material-count", warning, "num_materials", [](auto& f) { f.num_materials = -1; }},
      {c, "v3c-bone-chunks", warning, "chunks",
       [](auto& f) { f.chunks.insert(f.chunks.begin() + 3, f.chunks[3]); }},
      {c, "v3c-no-bones", warning, "magic", [](auto& f) { f.chunks.erase(f.chunks.begin() + 3); }},
      {c, "v3c-no-bones", warning, "magic", [](auto& f) { bones(f).clear(); }},
      {c, "v3c-static-bones", warning, "magic", [](auto& f) { f.magic = v3c::static_magic; }},
      {c, "v3c-chunk-size", note, "chunks[2].size"},
      {"char_b.v3c", "v3c-chunk-size", note, "chunks[1].size"},
      {s, "v3c-unknown-chunk", note, "chunks[2]"},
      {c, "v3c-name-length", warning, "chunks[3].body.bones[1].name",
       [](auto& f) { fill(bones(f)[1].name); }},
      {c, "v3c-name-length", warning, "chunks[0].body.materials[2].diffuse",
       [](auto& f) { fill(submesh(f).materials[2].diffuse); }},
      {c, "v3c-not-finite", error, "chunks[0].body.lods[0].data.batches[0].positions[3]",
       [](auto& f) { batch(f).positions[3][1] = nan; }},
      {c, "v3c-not-finite", error, "chunks[0].body.lods[0].data.batches[0].uvs[3]",
       [](auto& f) { batch(f).uvs[3][1] = std::numeric_limits<float>::infinity(); }},
      {c, "v3c-not-finite", error, "chunks[3].body.bones[0]",
       [](auto& f) { bones(f)[0].translation[2] = nan; }},
      {c, "v3c-not-finite", error, "chunks[1].body", [](auto& f) { sphere(f).radius = nan; }},
      {c, "v3c-not-finite", error, "chunks[0].body.offset",
       [](auto& f) { submesh(f).offset[0] = nan; }},
      {c, "v3c-not-finite", error, "chunks[0].body.lods[0].data.prop_points[1]",
       [](auto& f) { lod(f).prop_points[1].rotation[0] = nan; }},
      {c, "v3c-bone-limit", error, "chunks[3].body.bones", [](auto& f) { bones(f).resize(51); }},
      {c, "v3c-bone-name", warning, "chunks[3].body.bones[2].name",
       [](auto& f) { bones(f)[2].name = bones(f)[0].name; }},
      {c, "v3c-bone-rotation", warning, "chunks[3].body.bones[2].rotation",
       [](auto& f) {
         for (float& x : bones(f)[2].rotation) x *= 1.002F;
       }},
      {c, "v3c-bone-parent", error, "chunks[3].body.bones[1].parent",
       [](auto& f) { bones(f)[1].parent = 6; }},
      {c, "v3c-bone-parent", error, "chunks[3].body.bones[1].parent",
       [](auto& f) { bones(f)[1].parent = -2; }},
      {c, "v3c-bone-roots", warning, "chunks[3].body.bones",
       [](auto& f) { bones(f)[1].parent = -1; }},
      {c, "v3c-bone-cycle", error, "chunks[3].body.bones[1].parent",
       [](auto& f) { bones(f)[1].parent = 1; }},
      {c, "v3c-bone-cycle", error, "chunks[3].body.bones[5].parent",
       [](auto& f) { bones(f)[5].parent = 0; }},
      {c, "v3c-lod-count", error, "chunks[0].body.lods",
       [](auto& f) { submesh(f).lods.resize(4, lod(f)); }},
      {c, "v3c-lod-count", error, "chunks[0].body.lods", [](auto& f) { submesh(f).lods.clear(); }},
      {c, "v3c-lod-distance", warning, "chunks[0].body.lod_distances[1]",
       [](auto& f) { submesh(f).lod_distances[1] = 0; }},
      {c, "v3c-lod-distance", warning, "chunks[0].body.lod_distances[0]",
       [](auto& f) { submesh(f).lod_distances[0] = 1; }},
      {c, "v3c-bounds", note, "chunks[0].body.radius", [](auto& f) { submesh(f).radius += 0.01F; }},
      {c, "v3c-bounds", note, "chunks[0].body.box_min",
       [](auto& f) { submesh(f).box_min[2] += 0.01F; }},
      {c, "v3c-texture-limit", warning, "chunks[0].body.lods[0].textures",
       [](auto& f) { lod(f).textures.resize(8, lod(f).textures[0]); }},
      {c, "v3c-prop-limit", warning, "chunks[0].body.lods[0].data.prop_points",
       [](auto& f) { lod(f).prop_points.resize(33); }},
      {c, "v3c-material-index", error, "chunks[0].body.lods[0].textures[1]",
       [](auto& f) { lod(f).textures[1].material = 3; }},
      {c, "v3c-texture-name", note, "chunks[0].body.lods[0].textures[1]",
       [](auto& f) { lod(f).textures[1].name = "other.tga"; }},
      {c, "v3c-prop-bone", error, "chunks[0].body.lods[0].data.prop_points[1].bone",
       [](auto& f) { lod(f).prop_points[1].bone = 6; }},
      {c, "v3c-prop-lists", note, "chunks[0].body.lods[1].data.prop_points",
       [](auto& f) { lod(f).prop_points[1].position[0] += 1; }},
      {c, "v3c-sphere-bone", error, "chunks[1].body.bone", [](auto& f) { sphere(f).bone = -2; }},
      {c, "v3c-texture-index", error, "chunks[0].body.lods[0].data.batch_headers[1]",
       [](auto& f) { lod(f).batch_headers[1].texture_index = 2; }},
      {c, "v3c-header-copy", note, "chunks[0].body.lods[0].data.batch_headers[1]",
       [](auto& f) { ++lod(f).batch_headers[1].stale_info[4]; }},
      {"oddpad.v3c", "v3c-padding", note, "chunks[0].body.lods[0].data.batches[0].positions_pad"},
      {"slack_block.v3c", "v3c-unread-data", warning, "chunks[0].body.lods[0].data"},
      {c, "v3c-batch-limit", warning, "chunks[0].body.lods[0].data.batches[0]",
       [](auto& f) { batch(f).positions.resize(5233); }},
      {c, "v3c-batch-limit", warning, "chunks[0].body.lods[0].data.batches[0]",
       [](auto& f) { batch(f).triangles.resize(3078); }},
      {s, "v3c-normal-nan", note, "chunks[1].body.lods[0].data.batches[0].normals[8]"},
      {c, "v3c-normal-length", warning, "chunks[0].body.lods[0].data.batches[0].normals[4]",
       [](auto& f) { batch(f).normals[4] = {0, 0.5F, 0}; }},
      {c, "v3c-triangle-index", error, "chunks[0].body.lods[0].data.batches[0].triangles[5]",
       [](auto& f) { batch(f).triangles[5].vertices[2] = 67; }},
      {s, "v3c-degenerate-triangle", note, "chunks[1].body.lods[0].data.batches[0].triangles[4]"},
      {s, "v3c-plane", note, "chunks[0].body.lods[0].data.batches[0].planes[6]",
       [](auto& f) {
         for (float& x : batch(f).planes[6]) x = -x;  // seen from behind
       }},
      {s, "v3c-plane", note, "chunks[0].body.lods[0].data.batches[0].planes[6]",
       [](auto& f) { batch(f).planes[6][3] += 0.01F; }},
      {s, "v3c-plane", note, "chunks[0].body.lods[0].data.batches[0].planes[6]",
       [](auto& f) { batch(f).planes[6] = {nan, nan, nan, nan}; }},
      {c, "v3c-same-position", error, "chunks[0].body.lods[0].data.batches[0].same_position[2]",
       [](auto& f) { batch(f).same_position[2] = 3; }},
      {c, "v3c-same-position", error, "chunks[0].body.lods[0].data.batches[0].same_position[2]",
       [](auto& f) { batch(f).same_position[2] = -1; }},
      {c, "v3c-same-position", error, "chunks[0].body.lods[0].data.batches[0].same_position[2]",
       [](auto& f) { batch(f).same_position[2] = 2; }},  // another position
      {c, "v3c-same-position", error, "chunks[0].body.lods[0].data.batches[0].same_position[2]",
       [](auto& f) {
         for (std::size_t i = 0; i < 3; ++i) batch(f).positions[i] = batch(f).positions[0];
         batch(f).same_position[1] = batch(f).same_position[2] = 1;
       }},
      {c, "v3c-morph-map", error, "chunks[0].body.lods[0].data.batches[0].morph_map[2]",
       [](auto& f) { batch(f).morph_map[2] = 67; }},
      {c, "v3c-morph-target", warning, "chunks[0].body.lods[0].data.batches[0].morph_map[2]",
       [](auto& f) {
         std::int16_t copy = 0;
         while (batch(f).same_position[static_cast<std::size_t>(copy)] == 0) ++copy;
         batch(f).morph_map[2] = copy;
       }},
      {c, "v3c-no-links", warning, "chunks[0].body.lods[0].data.batches[1]",
       [](auto& f) { batch(f, 1).links.clear(); }},
      {c, "v3c-weight-sum", warning, "chunks[0].body.lods[0].data.batches[0].links[3]",
       [](auto& f) { batch(f).links[3] = {{251, 0, 0, 0}, {0, 0, 0, 0}}; }},
      {c, "v3c-weight-sum", warning, "chunks[0].body.lods[0].data.batches[0].links[3]",
       [](auto& f) { batch(f).links[3] = {{255, 1, 0, 0}, {0, 1, 0, 0}}; }},
      {c, "v3c-link-bone", error, "chunks[0].body.lods[0].data.batches[0].links[3]",
       [](auto& f) { batch(f).links[3] = {{255, 0, 0, 0}, {6, 0, 0, 0}}; }},
      {c, "v3c-link-unused", error, "chunks[0].body.lods[0].data.batches[0].links[3]",
       [](auto& f) { batch(f).links[3] = {{200, 55, 0, 0}, {0, 0xFF, 0, 0}}; }},
  };
}

TEST(V3cCheck, EveryFaultIsFound) {
  for (const Case& c : cases()) {
    v3c::File file = file_of(c.file);
    const auto is_it = [&](const Finding& f) { return f.code == c.code && f.path == c.path; };
    if (c.edit) {
      EXPECT_TRUE(std::ranges::none_of(v3c::check(file), is_it)) << c.code << " without a cause";
      c.edit(file);
    }
    const auto findings = v3c::check(file);
    const auto f = std::ranges::find_if(findings, is_it);
    ASSERT_NE(f, findings.end()) << c.code << " at " << c.path << " in " << c.file;
    EXPECT_EQ(f->level, c.level) << c.code;
    EXPECT_GT(f->text.size(), 20U) << c.code;
  }
}

TEST(V3cCheck, GoodFilesHaveNoWarnings) {
  for (const char* name : {"char.v3c", "char_b.v3c", "static.v3m", "oddpad.v3c"}) {
    for (const Finding& f : v3c::check(file_of(name))) {
      EXPECT_EQ(f.level, Level::note) << name << " " << f.code << " " << f.path << " " << f.text;
    }
  }
  EXPECT_EQ(v3c::check(file_of("char.v3c")).size(), 1U);  // a size of 40
}

TEST(V3cCheck, TheRealCharacterHasOnlyNormalsThatAreNotNumbers) {
  const auto file = real_character();
  if (!file) GTEST_SKIP() << no_samples;
  const auto findings = v3c::check(*file);
  EXPECT_EQ(findings.size(), 3U);
  for (const Finding& f : findings) EXPECT_EQ(f.code, "v3c-normal-nan") << f.path << " " << f.text;
}

TEST(V3cCheck, ManyFindingsOfAKindAreCounted) {
  v3c::File file = file_of("char.v3c");
  for (auto& n : batch(file, 1).normals) n = {0, 2, 0};
  const auto findings = v3c::check(file);
  const auto n = std::ranges::count(findings, "v3c-normal-length", &Finding::code);
  EXPECT_EQ(n, 21);
  EXPECT_EQ(findings.back().code, "v3c-normal-length");
  EXPECT_EQ(findings.back().text, "65 more of these");
  EXPECT_EQ(findings.back().level, Level::warning);
}

TEST(V3cCheck, TheDocumentationListsTheCodes) {
  const std::string doc =
      support::read_text(support::environment("DOPESHEET_SOURCE") + "/docs/formats/v3c.md");
  std::set<std::string> written, tested;
  const std::regex code("`(v3c-[a-z-]+)`");
  for (std::sregex_iterator i(doc.begin(), doc.end(), code), end; i != end; ++i)
    written.insert((*i)[1]);
  for (const Case& c : cases()) tested.insert(c.code);
  EXPECT_EQ(written, tested);
}

}  // namespace
}  // namespace dopesheet
