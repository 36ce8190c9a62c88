// Shenmue models come back byte for byte, broken ones are refused, and nodes mean what they should.
#include "dopesheet/mt5.hpp"

#include <gmock/gmock.h>

#include <set>

#include "../sweeps.hpp"
#include "dopesheet/sample.hpp"
#include "dopesheet/shenmue_rig.hpp"

namespace dopesheet {
namespace {

std::vector<std::string> fixtures(const std::string& kind) {
  std::vector<std::string> out;
  for (const auto& entry : support::read_json(support::fixture("mt5.json"))) {
    if (entry.at("kind") == kind) out.push_back(entry.at("file"));
  }
  return out;
}
Bytes bytes_of(const std::string& name) { return support::read_bytes(support::fixture(name)); }
mt5::File file_of(const std::string& name) { return *mt5::read(bytes_of(name)); }
mt7::File file7_of(const std::string& name) { return *mt7::read(bytes_of(name)); }

// What reads is also checked and made into a model, which must not fall over anything.
const auto read_mt5 = [](const Bytes& b) {
  auto file = mt5::read(b);
  if (file) {
    mt5::check(*file);
    mt5::to_model(*file);
  }
  return file;
};
const auto write_mt5 = [](const mt5::File& f) { return mt5::write(f); };
const auto read_mt7 = [](const Bytes& b) {
  auto file = mt7::read(b);
  if (file) {
    mt7::check(*file);
    mt7::to_model(*file);
  }
  return file;
};
const auto write_mt7 = [](const mt7::File& f) { return mt7::write(f); };

std::set<std::string> codes(const std::vector<Finding>& findings) {
  std::set<std::string> out;
  for (const Finding& f : findings) out.insert(f.code);
  return out;
}

// ---- bytes

TEST(Mt5, EveryFixtureComesBack) {
  const auto names = fixtures("mt5");
  EXPECT_GE(names.size(), 5U);
  for (const auto& name : names) {
    const Bytes bytes = bytes_of(name);
    EXPECT_TRUE(mt5::probe(bytes));
    EXPECT_FALSE(mt7::probe(bytes));
    const auto file = mt5::read(bytes);
    ASSERT_TRUE(file) << name << ": " << to_string(file.error());
    EXPECT_TRUE(*mt5::write(*file) == bytes) << name;
    const auto built = mt5::from_json(mt5::to_json(*file));
    ASSERT_TRUE(built) << name << ": " << to_string(built.error());
    EXPECT_TRUE(*mt5::write(*built) == bytes) << name << " through JSON";
    EXPECT_EQ(built->places.parents, file->places.parents);
    EXPECT_FALSE(mt5::dump(*file).empty());
  }
}

TEST(Mt7, EveryFixtureComesBack) {
  const auto names = fixtures("mt7");
  EXPECT_GE(names.size(), 2U);
  for (const auto& name : names) {
    const Bytes bytes = bytes_of(name);
    EXPECT_TRUE(mt7::probe(bytes));
    EXPECT_FALSE(mt5::probe(bytes));
    const auto file = mt7::read(bytes);
    ASSERT_TRUE(file) << name << ": " << to_string(file.error());
    EXPECT_TRUE(*mt7::write(*file) == bytes) << name;
    const auto built = mt7::from_json(mt7::to_json(*file));
    ASSERT_TRUE(built) << name << ": " << to_string(built.error());
    EXPECT_TRUE(*mt7::write(*built) == bytes) << name << " through JSON";
    EXPECT_FALSE(mt7::dump(*file).empty());
  }
}

template <class File>
std::size_t end_of_nodes(const File& file) {
  return *std::max_element(file.places.nodes.begin(), file.places.nodes.end()) + 64;
}

TEST(Mt5, EveryPrefixIsRefused) {
  for (const auto& name : fixtures("mt5")) {
    support::sweep_prefixes(bytes_of(name), end_of_nodes(file_of(name)), read_mt5, write_mt5);
  }
}
TEST(Mt7, EveryPrefixIsRefused) {
  for (const auto& name : fixtures("mt7")) {
    support::sweep_prefixes(bytes_of(name), end_of_nodes(file7_of(name)), read_mt7, write_mt7);
  }
}
TEST(Mt5, EveryFlipIsRefusedOrExact) {
  for (const auto& name : fixtures("mt5"))
    support::sweep_flips(bytes_of(name), read_mt5, write_mt5);
}
TEST(Mt7, EveryFlipIsRefusedOrExact) {
  for (const auto& name : fixtures("mt7"))
    support::sweep_flips(bytes_of(name), read_mt7, write_mt7);
}

void put(Bytes& bytes, std::size_t at, std::uint32_t v) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(v >> (8 * i));
}
constexpr std::size_t child = 0x2C, sibling = 0x30;

TEST(Mt5, ATreeThatMeetsItselfIsRefused) {
  const Bytes good = bytes_of("person36.mt5");
  const auto offsets = file_of("person36.mt5").places.nodes;
  const struct {
    std::size_t node, field;
    std::uint32_t to;
    const char* path;
  } broken[] = {
      {0, child, offsets[0], "nodes[0].child"},
      {5, child, offsets[2], "nodes[5].child"},
      {34, sibling, offsets[0], "nodes[34].sibling"},
      {35, sibling, offsets[10], "nodes[35].sibling"},
      {35, sibling, 0x7fffffff, "nodes[35].sibling"},
      {35, child, static_cast<std::uint32_t>(good.size()) - 63, "nodes[35].child"},
  };
  for (const auto& b : broken) {
    Bytes bytes = good;
    put(bytes, offsets[b.node] + b.field, b.to);
    const auto file = mt5::read(bytes);
    ASSERT_FALSE(file) << b.path;
    EXPECT_EQ(file.error().code, Code::bad_value);
    EXPECT_EQ(file.error().path, b.path);
    EXPECT_EQ(file.error().offset, offsets[b.node] + b.field);
  }
  Bytes bytes = good;
  put(bytes, offsets[35] + child, offsets[35] + 4);  // half inside another node
  EXPECT_FALSE(mt5::read(bytes));
  put(bytes, 8, 0);
  EXPECT_EQ(mt5::read(bytes).error().path, "first_node");

  // Nodes every eight bytes: they overlap, and are too many before they are read.
  bytes.assign(12 + 8 * 1000 + 64, std::byte{0});
  std::memcpy(bytes.data(), "HRCM", 4);
  put(bytes, 8, 12);
  for (std::uint32_t i = 0; i < 1000; ++i) put(bytes, 12 + 8 * i + child, 12 + 8 * (i + 1));
  const auto many = mt5::read(bytes);
  ASSERT_FALSE(many);
  EXPECT_THAT(many.error().text, testing::HasSubstr("room for 126 nodes"));
}

TEST(Mt5, AChainOfManyNodesNeedsNoStack) {
  constexpr std::uint32_t n = 60000;
  Bytes bytes(12 + 64 * n);
  std::memcpy(bytes.data(), "HRCM", 4);
  put(bytes, 8, 12);
  for (std::uint32_t i = 0; i + 1 < n; ++i) put(bytes, 12 + 64 * i + child, 12 + 64 * (i + 1));
  const auto file = mt5::read(bytes);
  ASSERT_TRUE(file) << to_string(file.error());
  EXPECT_EQ(file->nodes.size(), n);
  EXPECT_EQ(mt5::to_model(*file).nodes.size(), n);
  EXPECT_TRUE(*mt5::write(*file) == bytes);
}

TEST(Mt5, MagicsAreChecked) {
  Bytes bytes = bytes_of("person36.mt5");
  bytes[0] = std::byte{'h'};
  EXPECT_EQ(mt5::read(bytes).error().code, Code::bad_magic);
  bytes = bytes_of("person36.mt7");
  bytes[2] = std::byte{'Q'};
  EXPECT_EQ(mt7::read(bytes).error().code, Code::bad_magic);
}

TEST(Mt5, ValuesMayChangeButOffsetsMayNot) {
  mt5::File file = file_of("person36.mt5");
  file.nodes[9].position[0] = 0.25F;
  const auto bytes = mt5::write(file);
  ASSERT_TRUE(bytes);
  EXPECT_EQ(mt5::read(*bytes)->nodes[9].position[0], 0.25F);
  file.nodes[3].sibling += 4;
  EXPECT_FALSE(mt5::write(file));
  file = file_of("person36.mt5");
  file.nodes.pop_back();
  EXPECT_FALSE(mt5::write(file));
}

// ---- the tree of a real character

constexpr const char* person_names[] = {"root",
                                        "node_1",
                                        "spine",
                                        "waist",
                                        "thigh_R",
                                        "shin_R",
                                        "foot_R",
                                        "thigh_L",
                                        "shin_L",
                                        "foot_L",
                                        "shoulder_R",
                                        "upperarm_R",
                                        "forearm_R",
                                        "wrist_R",
                                        "hand_R",
                                        "index_upper_R",
                                        "index_lower_R",
                                        "fingers_upper_R",
                                        "fingers_lower_R",
                                        "thumb_R",
                                        "shoulder_L",
                                        "upperarm_L",
                                        "forearm_L",
                                        "wrist_L",
                                        "hand_L",
                                        "index_upper_L",
                                        "index_lower_L",
                                        "fingers_upper_L",
                                        "fingers_lower_L",
                                        "thumb_L",
                                        "node_30",
                                        "head",
                                        "jaw",
                                        "node_33",
                                        "node_34",
                                        "node_35"};

std::vector<Transform> object_rest(const Model& m) {
  std::vector<Transform> local, object(m.nodes.size());
  for (const Node& n : m.nodes) local.push_back(n.rest);
  to_object_space(m.nodes, topological_order(m.nodes), local, object);
  return object;
}
void expect_near(Vec3 a, Vec3 b, double within) {
  EXPECT_LT(length(a - b), within)
      << a.x << ' ' << a.y << ' ' << a.z << " for " << b.x << ' ' << b.y << ' ' << b.z;
}
void expect_axes(const Transform& t, Vec3 x, Vec3 y, Vec3 z, double within) {
  expect_near(rotate(t.rotation, {1, 0, 0}), x, within);
  expect_near(rotate(t.rotation, {0, 1, 0}), y, within);
  expect_near(rotate(t.rotation, {0, 0, 1}), z, within);
}
std::size_t find(const Model& m, const std::string& name) {
  for (std::size_t i = 0; i < m.nodes.size(); ++i) {
    if (m.nodes[i].name == name) return i;
  }
  ADD_FAILURE() << name;
  return 0;
}

void expect_person(const Model& m) {
  ASSERT_EQ(m.nodes.size(), 36U);
  for (std::size_t i = 0; i < 36; ++i) EXPECT_EQ(m.nodes[i].name, person_names[i]);
  const auto object = object_rest(m);
  constexpr Vec3 up{0, 1, 0}, down{0, -1, 0}, back{0, 0, 1}, forward{0, 0, -1}, right{1, 0, 0},
      left{-1, 0, 0};
  for (const char* n : {"spine", "shoulder_R", "shoulder_L"})
    expect_axes(object[find(m, n)], up, back, right, 1e-6);
  for (const char* n : {"waist", "thigh_R", "shin_R", "thigh_L", "shin_L"}) {
    expect_axes(object[find(m, n)], down, forward, right, 1e-6);
  }
  for (const char* n : {"upperarm_R", "forearm_R", "hand_R", "upperarm_L", "forearm_L", "hand_L"}) {
    expect_axes(object[find(m, n)], down, forward, right,
                0.012);  // 68 and 65 of 65536 turns are left in the arms
  }
  for (const char* n : {"foot_R", "foot_L"}) expect_axes(object[find(m, n)], right, up, back, 1e-6);
  for (const char* n : {"node_30", "head"})
    expect_axes(object[find(m, n)], forward, left, up, 1e-6);
  expect_near(object[find(m, "head")].translation, {0, 0.380852F, 0}, 1e-5);
  expect_near(object[find(m, "shin_R")].translation, {0.091672F, -0.584196F, 0}, 1e-5);
  expect_near(object[find(m, "foot_R")].translation, {0.085952F, -1.028804F, 0}, 1e-5);
  expect_near(object[find(m, "foot_L")].translation, {-0.091675F, -1.028811F, 0}, 1e-5);
  expect_near(object[find(m, "forearm_R")].translation, {0.224404F, 0.029642F, 0.0016F}, 1e-4);
  expect_near(object[find(m, "hand_L")].translation, {-0.224404F, -0.221020F, 0}, 1e-4);
  ASSERT_EQ(m.inverse_bind.size(), 36U);
  for (std::size_t i = 0; i < 36; ++i) {
    const Transform t = object[i] * m.inverse_bind[i];
    expect_near(t.translation, {}, 1e-6);
    EXPECT_LT(angle_between(t.rotation, {}), 1e-3);
  }
  Clip clip;
  clip.nodes = m.nodes;
  EXPECT_TRUE(validate(clip).empty());
}

TEST(Mt5, ThePersonStandsUpright) {
  const Model m = mt5::to_model(file_of("person36.mt5"), "person");
  EXPECT_EQ(m.name, "person");
  EXPECT_TRUE(m.meshes.empty());
  expect_person(m);
  expect_person(mt5::to_model(file_of("shuffled.mt5")));
  const Properties& root = m.nodes[0].properties;
  EXPECT_THAT(root, testing::Contains(Property{"mt5_family", std::int64_t{0}}));
  EXPECT_THAT(root, testing::Contains(Property{"mt5_tag", std::string("YEAM")}));
  EXPECT_THAT(m.nodes[31].properties, testing::Contains(Property{"mt5_bone", std::int64_t{189}}));
}

TEST(Mt7, ThePersonStandsUpright) {
  expect_person(mt7::to_model(file7_of("person36.mt7")));
  const Model m = mt7::to_model(file7_of("xbox.mt7"));
  ASSERT_EQ(m.nodes.size(), 2U);
  EXPECT_EQ(m.nodes[1].name, "waist");
  EXPECT_THAT(m.nodes[0].properties, testing::Contains(Property{"mt5_family", std::int64_t{2}}));
  EXPECT_EQ(m.nodes[1].rest.scale, (Vec3{2, 2, 2}));
  EXPECT_LT(
      angle_between(m.nodes[1].rest.rotation, rotation_of_turns({-0.25F, 0, 4464 / 65536.0F})),
      1e-3);
  const Transform t = object_rest(m)[1] * m.inverse_bind[1];
  expect_near(t.translation, {}, 1e-6);
  EXPECT_EQ(t.scale, (Vec3{1, 1, 1}));
}

// ---- meshes

TEST(Mt5, MeshesBecomeOneSkin) {
  std::vector<Loss> losses;
  const Model m = mt5::to_model(file_of("meshes.mt5"), "parts", {}, &losses);
  EXPECT_TRUE(losses.empty());
  ASSERT_EQ(m.meshes.size(), 1U);
  EXPECT_EQ(m.meshes[0].properties.at(0).key, "mt5_unverified");
  const auto& list = m.meshes[0].primitives;
  std::vector<std::string> names;
  std::size_t triangles = 0;
  const auto object = object_rest(m);
  for (const Primitive& p : list) {
    names.push_back(m.materials[p.material].name);
    triangles += p.triangles.size();
    ASSERT_EQ(p.influences.size(), p.positions.size());
    for (std::size_t v = 0; v < p.positions.size(); ++v) {
      EXPECT_EQ(p.influences[v].weights, (std::array<float, 4>{1, 0, 0, 0}));
      // In the space of its node a vertex is a corner of that node's square.
      const Transform own = inverse(object[p.influences[v].joints[0]]);
      const Vec3 at = (own * Transform{p.positions[v], {}, {1, 1, 1}}).translation;
      const float size = 1 + p.influences[v].joints[0];
      EXPECT_NEAR(std::abs(at.x - size / 2), size / 2, 1e-5);
      EXPECT_NEAR(std::abs(at.y - size / 2), size / 2, 1e-5);
    }
    for (const auto& [a, b, c] : p.triangles) {
      const Vec3 u = p.positions[b] - p.positions[a], w = p.positions[c] - p.positions[a];
      EXPECT_GT(u.x * w.y - u.y * w.x, 0) << "is not seen from the side of its normals";
    }
  }
  EXPECT_THAT(names,
              testing::ElementsAre("texture_0", "texture_3", "texture_3", "texture_4", "trigger"));
  EXPECT_EQ(triangles, 2U + 1 + 2 + 2 + 1);
  EXPECT_THAT(m.materials[2].properties,
              testing::Contains(Property{"mt5_mirror_u", std::int64_t{1}}));

  const Primitive& plain = list[2];
  EXPECT_THAT(plain.uvs, testing::Contains(std::array<float, 2>{1, -1}));
  EXPECT_THAT(list[1].uvs, testing::Contains(std::array<float, 2>{0.5F, 0}));
  EXPECT_THAT(list[3].uvs, testing::Contains(std::array<float, 2>{0.25F, -0.5F}));
  std::set<int> joints;
  for (const Influence& in : list[0].influences) joints.insert(in.joints[0]);
  EXPECT_THAT(joints,
              testing::ElementsAre(0, 2));  // -5 of the finger: past the limb's four, into the body
}

TEST(Mt5, WhatSourcesDisagreeAboutIsAnOption) {
  const mt5::File file = file_of("meshes.mt5");
  mt5::ModelOptions options;
  options.uv_size = 1024;
  options.uvh_size = 1024;
  options.winding = mt5::Winding::reversed;
  const Model m = mt5::to_model(file, {}, options);
  const Primitive& plain = m.meshes[0].primitives[2];
  EXPECT_THAT(plain.uvs, testing::Contains(std::array<float, 2>{0.25F, -0.25F}));
  const auto [a, b, c] = plain.triangles[0];
  const Vec3 u = plain.positions[b] - plain.positions[a],
             w = plain.positions[c] - plain.positions[a];
  EXPECT_LT(u.x * w.y - u.y * w.x, 0);
  EXPECT_THAT(m.meshes[0].primitives[3].uvs, testing::Contains(std::array<float, 2>{16, -32}));
}

TEST(Mt5, WhatCannotBeShownIsReported) {
  std::vector<Loss> losses;
  Model m = mt5::to_model(file_of("shared_mesh.mt5"), {}, {}, &losses);
  EXPECT_EQ(losses.size(), 4U);  // the unknown op twice, a strip, a corner
  ASSERT_EQ(m.meshes.size(), 1U);
  EXPECT_EQ(m.meshes[0].primitives[0].triangles.size(), 3U);
  EXPECT_EQ(file_of("shared_mesh.mt5").meshes.size(), 2U);
  EXPECT_THAT(codes(mt5::check(file_of("shared_mesh.mt5"))),
              testing::UnorderedElementsAre("mt5-op", "mt5-strip", "mt5-corner"));

  losses.clear();
  m = mt5::to_model(file_of("lost_mesh.mt5"), {}, {}, &losses);
  EXPECT_EQ(losses.size(), 2U);
  EXPECT_TRUE(m.meshes.empty());
  EXPECT_EQ(m.nodes.size(), 2U);
  EXPECT_THAT(codes(mt5::check(file_of("lost_mesh.mt5"))), testing::ElementsAre("mt5-mesh"));
}

TEST(Mt5, ChecksOfNodes) {
  EXPECT_TRUE(mt5::check(file_of("person36.mt5")).empty());
  const auto few_bones = mt5::check(file_of("meshes.mt5"));
  EXPECT_EQ(few_bones.size(), 6U);  // of the eight, that fixture has two
  EXPECT_THAT(codes(few_bones), testing::ElementsAre("mt5-bones"));
  EXPECT_THAT(codes(mt5::check(file_of("shuffled.mt5"))),
              testing::UnorderedElementsAre("mt5-parent", "mt5-rotation"));
  mt5::File file = file_of("person36.mt5");
  file.nodes[3].scale[1] = 0;
  file.nodes[4].position[2] = std::numeric_limits<float>::infinity();
  file.nodes[5].id = 18;
  EXPECT_THAT(codes(mt5::check(file)),
              testing::UnorderedElementsAre("mt5-scale", "mt5-not-finite", "mt5-bones"));
  EXPECT_TRUE(mt7::check(file7_of("person36.mt7")).empty());
}

// ---- the rig and the model

TEST(Mt5, TheModelHasTheSegmentsOfTheRig) {
  const auto& rig = shenmue::default_rig();
  const auto own = shenmue::rig_from_model(mt5::to_model(file_of("person36.mt5")).nodes);
  for (std::size_t i = 0; i < shenmue::control_count; ++i) {
    for (std::size_t axis = 0; axis < 3; ++axis) {
      EXPECT_NEAR(own.controls[i].offset[axis], rig.controls[i].offset[axis], 2.5e-5) << i;
    }
  }
  mt5::File longer = file_of("person36.mt5");
  longer.nodes[5].position[0] = 0.5F;   // right shin below the thigh
  longer.nodes[30].position[0] = 0.6F;  // neck
  const auto changed = shenmue::rig_from_model(mt5::to_model(longer).nodes);
  EXPECT_NEAR(changed.controls[7].offset[0], 0.5, 1e-6);
  EXPECT_NEAR(changed.controls[20].offset[0], 0.6, 1e-6);
  EXPECT_NEAR(changed.controls[14].offset[0], 0.392729, 1e-6);
  EXPECT_NEAR(changed.controls[25].offset[0], 0.255221 - 0.6, 1e-6);
  const auto unchanged = shenmue::rig_from_model({});
  EXPECT_EQ(unchanged.controls[7].offset, rig.controls[7].offset);
}

TEST(Mt5, NodesAreMovedAsTheGameDoes) {
  const Model m = mt5::to_model(file_of("person36.mt5"));
  std::array<Transform, shenmue::control_count> world;
  shenmue::ControlPose pose = shenmue::rest_pose(shenmue::default_rig());
  pose.set_position(0, {0.1, 1.0, 0.2});
  pose.set_turn(0, 1, 0.125);
  pose.set_position(8, {0.2, 0.3, -0.1});
  pose.set_turn(9, 0, 0.1);
  shenmue::solve(shenmue::default_rig(), pose, {}, world);
  std::vector<Transform> object(m.nodes.size()), local(m.nodes.size()), again(m.nodes.size());
  for (const bool move_feet : {false, true}) {
    const auto map = shenmue::map_nodes(m.nodes, {move_feet});
    EXPECT_EQ(std::count_if(map.controls.begin(), map.controls.end(), [](int c) { return c >= 0; }),
              move_feet ? 16 : 14);
    const std::size_t before = support::allocations();
    shenmue::to_mt5_nodes(m.nodes, map, world, object, local);
    EXPECT_EQ(support::allocations(), before);
    to_object_space(m.nodes, topological_order(m.nodes), local, again);
    for (std::size_t i = 0; i < m.nodes.size(); ++i) {
      expect_near(again[i].translation, object[i].translation, 1e-6);
      EXPECT_LT(angle_between(again[i].rotation, object[i].rotation), 1e-3);
      if (map.controls[i] < 0) {
        EXPECT_EQ(local[i], m.nodes[i].rest);
      } else {
        EXPECT_EQ(object[i], world[static_cast<std::size_t>(map.controls[i])]);
      }
    }
    EXPECT_EQ(map.controls[find(m, "foot_R")], move_feet ? 9 : -1);
  }
}

}  // namespace
}  // namespace dopesheet
