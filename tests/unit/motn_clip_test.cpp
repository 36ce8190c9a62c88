// Shenmue motions as clips: stored, and solved to a skeleton.
#include <cmath>

#include "../allocations.hpp"
#include "../support.hpp"
#include "dopesheet/motn.hpp"
#include "dopesheet/mt5.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

motn::Bank load(const std::string& path) { return *motn::read(support::read_bytes(path)); }
std::optional<motn::Bank> real_bank() {
  const auto dir = support::samples_dir();
  if (!dir || !std::filesystem::exists(*dir + "/motn/motion.bin")) return {};
  return load(*dir + "/motn/motion.bin");
}

motn::SolveOptions as_stored() {
  motn::SolveOptions o;
  o.mirror = o.face_forward = false;
  return o;
}

// World transforms of a clip's joints at a time.
std::vector<Transform> world_at(const Clip& clip, double time) {
  const Sampler sampler(clip, Outside::clamp);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> local(clip.nodes.size()), world(local);
  sampler.sample(time, cursor, local);
  to_object_space(clip.nodes, topological_order(clip.nodes), local, world);
  return world;
}
std::size_t joint(const Clip& clip, const std::string& name) {
  for (std::size_t i = 0; i < clip.nodes.size(); ++i) {
    if (clip.nodes[i].name == name) return i;
  }
  ADD_FAILURE() << name;
  return 0;
}

TEST(MotnClip, StoredCurvesAreExact) {
  const auto expected = support::read_json(support::fixture("motn.json"));
  const motn::Bank bank = load(support::fixture("bank.motn"));
  const Clip clip = motn::to_clip(bank, 0);
  EXPECT_TRUE(validate(clip).empty());
  EXPECT_EQ(clip.name, "WALK_L");
  EXPECT_EQ(clip.outside, Outside::wrap);
  ASSERT_EQ(clip.events.size(), 1U);
  EXPECT_NEAR(clip.events[0].time, 4 / 30.0, 1e-9);
  std::size_t compared = 0;
  for (const auto& track : expected.at("tracks")) {
    if (track.at("bone") != 0 && track.at("bone") != 8) continue;
    const int bit = track.at("bit");
    const auto channel = bit >= 0x40 ? Channel::translation : Channel::rotation;
    const std::size_t axis = bit == 0x100 || bit == 0x20 ? 0 : bit == 0x80 || bit == 0x10 ? 1 : 2;
    for (const Track& t : clip.tracks) {
      if (t.target != track.at("bone").get<std::size_t>() || t.channel != channel) continue;
      for (const auto& s : track.at("samples")) {
        std::uint32_t hint = 0;
        EXPECT_NEAR(evaluate(std::get<std::array<Curve<float>, 3>>(t.curve)[axis],
                             s[0].get<double>(), hint),
                    s[1].get<double>(), 1e-6);
        ++compared;
      }
    }
  }
  EXPECT_GT(compared, 100U);
  EXPECT_EQ(clip.nodes[8].role, Role::ik_target);
  EXPECT_EQ(clip.nodes[23].role, Role::look_at);
  EXPECT_EQ(clip.nodes[8].parent, -1);
}

TEST(MotnClip, DenseAndObjectMotions) {
  const motn::Bank bank = load(support::fixture("bank.motn"));
  const Clip dense = motn::to_clip(bank, 3), prop = motn::to_clip(bank, 4);
  EXPECT_TRUE(validate(dense).empty());
  EXPECT_TRUE(validate(prop).empty());
  EXPECT_TRUE(motn::solve(bank, 3));
  EXPECT_FALSE(motn::solve(bank, 4));
  const Sampler sampler(prop, Outside::clamp);
  Cursor cursor = sampler.cursor();
  std::vector<Transform> pose(1);
  sampler.sample(3 / 30.0, cursor, pose);
  const Quat want = rotation_of_turns({150 / 65536.F, 1150 / 65536.F, 2150 / 65536.F});
  EXPECT_LT(angle_between(pose[0].rotation, want), 1e-3);
  EXPECT_NEAR(pose[0].translation.z, 1, 1e-3);
}

// World positions that an independent program found for the walk and for a telephone call.
TEST(MotnClip, TheRealWalkStandsWhereItShould) {
  const auto bank = real_bank();
  if (!bank) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  const auto solved = [&](const char* name) {
    return motn::solve(*bank, *motn::find_motion(*bank, name), as_stored())->clip;
  };
  const auto near = [](const Clip& clip, int frame, const char* name, Vec3 want) {
    const Vec3 at = world_at(clip, frame / 30.0)[joint(clip, name)].translation;
    EXPECT_LT(length(at - want), 3e-4F) << name << ' ' << at.x << ' ' << at.y << ' ' << at.z;
  };
  const Clip walk = solved("AKI_AKI_WALK_LP"), call = solved("AKI_AKI_DENWA_DIAL_LP");
  near(walk, 0, "shin_R", {0.1045F, 0.5429F, 0.0703F});
  near(walk, 0, "shin_L", {-0.0928F, 0.5588F, -0.1954F});
  near(walk, 0, "forearm_L", {-0.2486F, 1.1665F, 0.0913F});
  near(walk, 0, "foot_R", {0.0976F, 0.2390F, 0.3948F});
  near(walk, 18, "shin_R", {0.0908F, 0.5610F, -0.9231F});
  near(walk, 18, "forearm_R", {0.2438F, 1.1697F, -0.6311F});
  near(call, 30, "forearm_L", {-0.3041F, 1.2265F, -0.1448F});
  near(call, 30, "hand_R", {0.0782F, 0.9644F, -0.3496F});
}

TEST(MotnClip, FeetAndHandsReachBonesKeepTheirLengthNothingFlips) {
  const auto bank = real_bank();
  if (!bank) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  std::size_t poses = 0, motions = 0;
  for (std::size_t i = 0; i < bank->names.size(); ++i) {
    const std::string& name = bank->names[i].text;
    const bool wanted = name.starts_with("AKI_") &&
                        (name.find("WALK") != name.npos || name.find("RUN") != name.npos ||
                         name.find("TURN") != name.npos);
    if (!wanted) continue;
    const Clip stored = motn::to_clip(*bank, i);
    const auto solved = motn::solve(*bank, i, as_stored());
    ASSERT_TRUE(solved) << name;
    EXPECT_LE(solved->error.max_mm, 0.1) << name;
    EXPECT_LE(solved->error.max_degrees, 0.05) << name;
    ++motions;
    const Sampler targets(stored, Outside::clamp), sampler(solved->clip, Outside::clamp);
    Cursor ct = targets.cursor(), cs = sampler.cursor();
    std::vector<Transform> t(stored.nodes.size()), just_before(t), just_after(t),
        local(solved->clip.nodes.size()), world(local), before;
    const auto order = topological_order(solved->clip.nodes);
    for (double time = 0; time <= stored.end + 1e-9; time += 1 / 30.0) {
      targets.sample(time, ct, t);
      targets.sample(time - 1e-6, ct, just_before);
      targets.sample(time + 1e-6, ct, just_after);
      sampler.sample(time, cs, local);
      to_object_space(solved->clip.nodes, order, local, world);
      for (const auto& [target, limb] : {std::pair{8, "foot_R"}, std::pair{15, "foot_L"},
                                         std::pair{29, "hand_L"}, std::pair{35, "hand_R"}}) {
        // The default lets the last segment stretch, so the end is always there, but for the moment of
        // a jump in the data (two keys on one frame).
        const auto at = static_cast<std::size_t>(target);
        if (length(just_before[at].translation - just_after[at].translation) > 0.005F) continue;
        EXPECT_LT(length(world[joint(solved->clip, limb)].translation -
                         t[static_cast<std::size_t>(target)].translation),
                  0.01F)
            << name << ' ' << limb << ' ' << time;
      }
      for (const auto& [bone, child] :
           {std::pair{"thigh_R", "shin_R"}, std::pair{"thigh_L", "shin_L"},
            std::pair{"upperarm_R", "forearm_R"}, std::pair{"spine", "neck"}}) {
        const std::size_t c = joint(solved->clip, child);
        EXPECT_NEAR(length(world[c].translation - world[joint(solved->clip, bone)].translation),
                    length(solved->clip.nodes[c].rest.translation), 1e-4F)
            << name << ' ' << bone;
      }
      if (!before.empty()) {
        for (const char* j : {"thigh_R", "thigh_L", "shin_R", "shin_L", "forearm_R", "forearm_L"}) {
          const std::size_t k = joint(solved->clip, j);
          EXPECT_LT(angle_between(before[k].rotation, world[k].rotation), 130)
              << name << ' ' << j << ' ' << time;
        }
      }
      before = world;
      ++poses;
    }
  }
  EXPECT_GT(motions, 30U);
  EXPECT_GT(poses, 500U);
}

TEST(MotnClip, MirroringSwapsTheSides) {
  const motn::Bank bank = load(support::fixture("bank.motn"));
  const auto left = motn::solve(bank, 0),
             right = motn::solve(bank, 1);  // one sequence, the second one mirrored
  ASSERT_TRUE(left && right);
  const auto a = world_at(left->clip, 0.1), b = world_at(right->clip, 0.1);
  const Vec3 foot = a[joint(left->clip, "foot_R")].translation,
             other = b[joint(right->clip, "foot_L")].translation;
  EXPECT_LT(length(mirror_x(foot) - other), 2e-3F);
}

// What an engine plays is what is exported, without a single allocation.
TEST(MotnClip, ThePlayerSolvesWhatSolveDoes) {
  const motn::Bank bank = load(support::fixture("bank.motn"));
  for (const std::size_t motion : {0U, 1U, 3U}) {
    const auto player = motn::Player::make(bank, motion);
    const auto solved = motn::solve(bank, motion);
    ASSERT_TRUE(player && solved);
    const Sampler sampler(solved->clip, Outside::clamp);
    Cursor ours = player->cursor(), theirs = sampler.cursor();
    std::vector<Transform> a(shenmue::joint_count), b(a);
    const auto order = topological_order(solved->clip.nodes);
    std::vector<Transform> wa(a), wb(a);
    for (int i = 0; i / 120.0 < player->end(); ++i) {
      const double t = i / 120.0;
      const std::size_t before = support::allocations();
      player->sample(t, ours, a);
      EXPECT_EQ(support::allocations(), before);
      sampler.sample(t, theirs, b);
      to_object_space(solved->clip.nodes, order, a, wa);
      to_object_space(solved->clip.nodes, order, b, wb);
      for (std::size_t j = 0; j < a.size(); ++j)
        EXPECT_LT(length(wa[j].translation - wb[j].translation), 1.5e-4F) << motion << ' ' << t;
    }
  }
  EXPECT_FALSE(motn::Player::make(bank, 4)) << "a prop has no rig";
}

// The packed curves give the controls that the plain ones give.
TEST(MotnClip, ThePlayerReadsTheCurvesAsTheyAre) {
  const motn::Bank bank = load(support::fixture("bank.motn"));
  const auto& rig = shenmue::default_rig();
  for (const std::size_t motion : {0U, 1U, 2U}) {
    const auto player = motn::Player::make(bank, motion);
    ASSERT_TRUE(player);
    Cursor cursor = player->cursor();
    const Clip stored = motn::to_clip(bank, motion);
    for (int i = 0; i < 20; ++i) {
      const double t = stored.end * (i + 0.5) / 20;
      shenmue::ControlPose pose = shenmue::rest_pose(rig);
      for (const Track& track : stored.tracks) {
        const auto& axes = std::get<std::array<Curve<float>, 3>>(track.curve);
        for (std::size_t axis = 0; axis < 3; ++axis) {
          std::uint32_t hint = 0;
          const double v = evaluate(axes[axis], t, hint);
          if (track.channel == Channel::rotation) pose.set_turn(track.target, axis, v);
          if (track.channel == Channel::translation) pose.positions[track.target][axis] = v;
        }
        if (track.channel == Channel::translation) pose.has_position.set(track.target);
      }
      if (motn::link_of(motn::extra_of(bank, motion)).mirrored) pose = shenmue::mirror(pose);
      std::array<Transform, shenmue::control_count> want, got;
      shenmue::solve(rig, pose, {}, want);
      player->world(t, cursor, got);
      for (std::size_t c = 0; c < want.size(); ++c) {
        EXPECT_LT(length(want[c].translation - got[c].translation), 1e-4F) << motion << ' ' << c;
        EXPECT_LT(angle_between(want[c].rotation, got[c].rotation), 0.02) << motion << ' ' << c;
      }
    }
  }
}

// Feet and hands of the solved skeleton are at the targets beside it, turned and mirrored like it.
TEST(MotnClip, TargetsStandBesideTheSkeleton) {
  const auto bank = real_bank();
  if (!bank) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  motn::SolveOptions options;
  options.targets = true;
  std::size_t mirrored = 0, compared = 0;
  for (std::size_t i = 0; i < bank->names.size(); i += 7) {
    const auto both = motn::solve(*bank, i, options);
    if (!both || motn::sequence_of(*bank, i).encoding() != motn::Encoding::curves) continue;
    const Clip& clip = both->clip;
    EXPECT_TRUE(validate(clip).empty());
    ASSERT_EQ(clip.nodes.size(), shenmue::joint_count + 6);
    mirrored += motn::link_of(motn::extra_of(*bank, i)).mirrored ? 1 : 0;
    const auto world = world_at(clip, clip.end / 2);
    for (const auto& [control, limb] :
         {std::pair{8, "foot_R"}, std::pair{15, "foot_L"}, std::pair{29, "hand_L"}}) {
      const std::string_view name =
          shenmue::default_rig().controls[static_cast<std::size_t>(control)].name;
      const std::size_t target = joint(clip, std::string(name));
      const bool has_track = std::any_of(clip.tracks.begin(), clip.tracks.end(),
                                         [&](const Track& t) { return t.target == target; });
      if (!has_track) continue;
      EXPECT_LT(length(world[target].translation - world[joint(clip, limb)].translation), 0.01F)
          << bank->names[i].text << ' ' << limb;
      ++compared;
    }
  }
  EXPECT_GT(mirrored, 5U);
  EXPECT_GT(compared, 300U);
}

// The nodes of a model follow the controls that the game copies to them.
TEST(MotnClip, ModelsAreMovedByTheirOwnNodes) {
  const motn::Bank bank = load(support::fixture("bank.motn"));
  const auto file = mt5::read(support::read_bytes(support::fixture("person36.mt5")));
  ASSERT_TRUE(file);
  const Model model = mt5::to_model(*file);
  const auto moved = motn::solve_model(bank, 0, model.nodes);
  ASSERT_TRUE(moved) << to_string(moved.error());
  EXPECT_TRUE(validate(moved->clip).empty());
  ASSERT_EQ(moved->clip.nodes.size(), model.nodes.size());
  // The same rig by the other way out: its knees are where the skeleton's are.
  const auto solved = motn::solve(bank, 0, as_stored(), shenmue::rig_from_model(model.nodes));
  for (const double t : {0.0, 0.1, 0.25}) {
    const auto a = world_at(moved->clip, t), b = world_at(solved->clip, t);
    for (const char* name : {"shin_R", "shin_L", "forearm_R"}) {
      EXPECT_LT(length(a[joint(moved->clip, name)].translation -
                       b[joint(solved->clip, name)].translation),
                5e-4F)
          << name << ' ' << t;
    }
  }
  EXPECT_FALSE(motn::solve_model(bank, 4, model.nodes)) << "a prop has no rig";
}

}  // namespace
}  // namespace dopesheet
