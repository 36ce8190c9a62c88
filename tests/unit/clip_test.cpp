// The clip model: order of joints, mirroring, invariants, distance between clips.
#include <gmock/gmock.h>

#include <Eigen/Geometry>
#include <cmath>
#include <random>

#include "../support.hpp"
#include "dopesheet/compare.hpp"
#include "dopesheet/model.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

std::vector<Node> parents(std::initializer_list<int> list) {
  std::vector<Node> nodes;
  for (const int p : list) {
    nodes.emplace_back();
    nodes.back().parent = p;
  }
  return nodes;
}

TEST(Clip, ParentsComeFirstInAnyOrderOfIndices) {
  const auto nodes =
      parents({5, 0, 0, 0, 0, -1, 0, 0});  // as in a real mesh: the root is the sixth
  const auto order = topological_order(nodes);
  ASSERT_EQ(order.size(), nodes.size());
  std::vector<bool> seen(nodes.size());
  for (const auto i : order) {
    EXPECT_TRUE(nodes[i].parent < 0 || seen[static_cast<std::size_t>(nodes[i].parent)]);
    seen[i] = true;
  }
}

TEST(Clip, CyclesAndBadParentsEndAndAreReported) {
  for (const auto& nodes :
       {parents({1, 0}), parents({0}), parents({1, 2, 0, 2}), parents({7, -5})}) {
    EXPECT_EQ(topological_order(nodes).size(), nodes.size());
    Clip clip;
    clip.nodes = nodes;
    EXPECT_FALSE(validate(clip).empty());
  }
  EXPECT_TRUE(topological_order({}).empty());
  // A long chain takes linear time and no stack.
  std::vector<Node> chain(200000);
  for (std::size_t i = 0; i + 1 < chain.size(); ++i) chain[i].parent = static_cast<int>(i) + 1;
  EXPECT_EQ(topological_order(chain).front(), chain.size() - 1);
}

TEST(Clip, ValidateNamesEveryBrokenInvariant) {
  Clip clip;
  clip.nodes = parents({-1});
  clip.end = -1;
  Curve<Quat> q;
  q.times = {0, 2, 1};
  q.values = {{}, {0, 0, 0, 2}};
  q.interp = Interp::slerp_ease;
  clip.tracks.push_back({4, Channel::rotation, {}, q, {}});
  Curve<Vec3> v;
  clip.tracks.push_back({0, Channel::rotation, {}, v, {}});
  clip.tracks.push_back({0, Channel::rotation, {}, v, {}});
  std::string all;
  for (const auto& l : validate(clip)) all += l.path + ": " + l.text + '\n';
  for (const char* want :
       {"end: is before start", "tracks[0].target: 4 does not exist",
        "tracks[0].curve.values: differs", "tracks[0].curve.params: has a wrong length",
        "tracks[0].curve.times[2]: is before", "tracks[0].curve.values[1]: is not of unit length",
        "tracks[1].curve: does not fit", "tracks[1].curve: has no keys",
        "tracks[2]: a second track"}) {
    EXPECT_THAT(all, testing::HasSubstr(want));
  }
}

TEST(Clip, MirroringIsABasisChange) {  // case A15: q' = M q M^-1 for every axis
  std::mt19937 random(3);
  std::normal_distribution<float> n;
  const Eigen::Matrix3d m = Eigen::Vector3d(-1, 1, 1).asDiagonal();
  EXPECT_LT(m.determinant(), 0);
  for (int i = 0; i < 200; ++i) {
    const Quat q = normalize({n(random), n(random), n(random), n(random)});
    const Quat r = mirror_x(q);
    const Eigen::Matrix3d a = Eigen::Quaterniond(q.w, q.x, q.y, q.z).toRotationMatrix();
    const Eigen::Matrix3d b = Eigen::Quaterniond(r.w, r.x, r.y, r.z).toRotationMatrix();
    EXPECT_LT((m * a * m - b).norm(), 1e-6);
  }
}

// A clip with every kind of track on an asymmetric chain.
Clip chain() {
  Clip clip;
  clip.space = Space::left_handed;
  clip.end = 2;
  clip.nodes = parents({-1, 0, 1});
  clip.nodes[0].rest = {{0.1F, 1, -0.3F}, normalize({0.2F, -0.1F, 0.4F, 1}), {1, 1, 1}};
  clip.nodes[1].rest = {{0.5F, 0.2F, 0.1F}, normalize({-0.3F, 0.6F, 0.1F, 1}), {1, 1, 1}};
  Curve<Quat> q;
  q.times = {0, 1, 2};
  q.values = {{}, normalize({0.4F, 0.1F, -0.6F, 1}), normalize({-0.2F, 0.9F, 0.3F, 0.1F})};
  clip.tracks.push_back({0, Channel::rotation, {}, q, {}});
  Curve<Vec3> v;
  v.interp = Interp::bezier;
  v.times = {0, 0.5, 2};
  v.values = {{0, 0, 0}, {1, 2, 3}, {-1, 0, 1}};
  v.in = {{0, 0, 0}, {0.5F, 3, 2}, {-2, 1, 0}};
  v.out = {{0.3F, 0, 1}, {1.5F, 1, 4}, {0, 0, 0}};
  clip.tracks.push_back({2, Channel::translation, {}, v, {}});
  std::array<Curve<float>, 3> turns;
  for (std::size_t i = 0; i < 3; ++i) {
    turns[i].times = {0, 0.3 + 0.5 * static_cast<double>(i), 2};
    turns[i].values = {0, 0.2F * static_cast<float>(i + 1), -0.4F};
  }
  clip.tracks.push_back({1, Channel::rotation, {}, turns, {}});
  return clip;
}

TEST(Clip, AMirroredClipPlaysTheMirroredMotion) {  // cases A2, C6
  const Clip left = chain(), right = to_right_handed(left);
  EXPECT_TRUE(validate(right).empty());
  const Sampler a(left), b(right);
  Cursor ca = a.cursor(), cb = b.cursor();
  std::vector<Transform> la(3), lb(3), wa(3), wb(3);
  const auto order = topological_order(left.nodes);
  for (double t = 0; t <= 2; t += 0.05) {
    a.sample(t, ca, la);
    b.sample(t, cb, lb);
    to_object_space(left.nodes, order, la, wa);
    to_object_space(right.nodes, order, lb, wb);
    for (std::size_t i = 0; i < 3; ++i) {
      EXPECT_LT(length(mirror_x(wa[i].translation) - wb[i].translation), 1e-5F) << t;
      EXPECT_LT(angle_between(mirror_x(wa[i].rotation), wb[i].rotation), 1e-3) << t;
    }
  }
}

TEST(Clip, MirroringAMeshKeepsItsOutside) {
  Model model;
  model.space = Space::left_handed;
  Primitive p;
  p.positions = {{1, 0, 0}, {1, 1, 0}, {1, 0, 1}};
  p.triangles = {{0, 1, 2}};
  model.meshes.push_back({"m", 0, 0, {1, 2, 3}, {p}, {}});
  const Model r = to_right_handed(model);
  EXPECT_EQ(r.meshes[0].primitives[0].triangles[0], (std::array<std::uint32_t, 3>{0, 2, 1}));
  EXPECT_EQ(r.meshes[0].primitives[0].positions[1], (Vec3{-1, 1, 0}));
  EXPECT_EQ(r.meshes[0].translation, (Vec3{-1, 2, 3}));
  EXPECT_EQ(r.space, Space::right_handed);
}

TEST(Clip, CompareMeasuresWhatWasChanged) {
  const Clip a = chain();
  EXPECT_EQ(compare(a, a).max_mm, 0);
  EXPECT_LT(compare(a, a).max_degrees, 1e-9);
  Clip b = a;
  b.nodes[0].rest.translation.x += 0.001F;
  const auto moved = compare(a, b);
  EXPECT_NEAR(moved.max_mm, 1, 0.01);
  EXPECT_NEAR(moved.p99_mm, 1, 0.01);
  EXPECT_LT(moved.max_degrees, 1e-3);
  b = a;
  auto& q = std::get<Curve<Quat>>(b.tracks[0].curve);
  for (auto& v : q.values)
    v = normalize(v * Quat{std::sin(0.5F * 0.0174533F), 0, 0, std::cos(0.5F * 0.0174533F)});
  const auto turned = compare(a, b);
  EXPECT_NEAR(turned.max_degrees, 1, 0.01);
  // The turn of the first joint carries the third one along: farther out, larger.
  EXPECT_GT(turned.max_mm, 0.03 * 1000 * 0.0174);
  EXPECT_GT(turned.samples, 480U);
}

}  // namespace
}  // namespace dopesheet
