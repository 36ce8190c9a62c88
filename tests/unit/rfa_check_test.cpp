// Each finding comes from a file that has the fault, and a good file has none.
#include <gmock/gmock.h>

#include "../support.hpp"
#include "dopesheet/rfa.hpp"
#include "dopesheet/v3c.hpp"

namespace dopesheet {
namespace {

Model character() {
  const auto file = v3c::read(support::read_bytes(support::fixture("char.v3c")));
  return *v3c::to_model(*file, "char");
}

std::vector<Finding> check(const std::string& name, const Model* model = nullptr) {
  const auto file = rfa::read(support::read_bytes(support::fixture(name)));
  EXPECT_TRUE(file) << name;
  return rfa::check(*file, model, name);
}

const Finding* find(const std::vector<Finding>& list, const std::string& code) {
  for (const auto& f : list) {
    if (f.code == code) return &f;
  }
  return nullptr;
}

struct Case {
  const char* file;
  const char* code;
  Level level;
  const char* path;
  bool with_model = false;
};

TEST(RfaCheck, EveryFaultIsFound) {
  const Model model = character();
  for (const Case& c : {
           Case{"end_before_start.rfa", "rfa-end-before-start", Level::error, "end_time"},
           Case{"bones51.rfa", "rfa-bone-limit", Level::error, "bones"},
           Case{"long_ramps.rfa", "rfa-ramp-longer-than-clip", Level::warning, "ramp_in"},
           Case{"a_base_name_that_is_longer_than_the_59_characters_the_game_allows.rfa",
                "rfa-name-length", Level::warning, ""},
           Case{"weights.rfa", "rfa-weight-range", Level::warning, "bones["},
           Case{"no_keys.rfa", "rfa-no-rotation-keys", Level::warning, "bones["},
           Case{"no_keys.rfa", "rfa-no-position-keys", Level::warning, "bones["},
           Case{"single_key.rfa", "rfa-single-rotation-key", Level::warning, "bones["},
           Case{"time_disorder.rfa", "rfa-key-order", Level::error, "bones["},
           Case{"keys_outside.rfa", "rfa-key-outside", Level::warning, "bones["},
           Case{"long_quat.rfa", "rfa-quaternion-long", Level::warning, "bones["},
           Case{"short_quat.rfa", "rfa-quaternion-short", Level::warning, "bones["},
           Case{"negative_ease.rfa", "rfa-ease-range", Level::warning, "bones["},
           Case{"eases.rfa", "rfa-ease-sum", Level::note, "bones["},
           Case{"snap.rfa", "rfa-snap", Level::warning, "bones["},
           Case{"nan_floats.rfa", "rfa-not-finite", Level::error, "bones["},
           Case{"zero_handles.rfa", "rfa-zero-handles", Level::warning, "bones["},
           Case{"flat_handles.rfa", "rfa-flat-handles", Level::note, "bones["},
           Case{"morph_indices_only.rfa", "rfa-morph-incomplete", Level::note,
                "num_morph_keyframes"},
           Case{"loop_seam.rfa", "rfa-loop-seam", Level::note, ""},
           Case{"gaps.rfa", "rfa-unknown-bytes", Level::note, "gaps["},
           Case{"out_of_order.rfa", "rfa-not-canonical", Level::note, "bone_offsets"},
           Case{"padded_keys.rfa", "rfa-pad", Level::note, "bones["},
           Case{"morph_index_past.rfa", "rfa-morph-vertex", Level::error, "morph_vertices[", true},
           Case{"char_fewer_bones.rfa", "rfa-bone-count", Level::error, "bones", true},
           Case{"char_wrong_order.rfa", "rfa-bone-order", Level::error, "bones[", true},
           Case{"char_stretch.rfa", "rfa-bone-length", Level::note, "bones[", true},
       }) {
    const auto findings = check(c.file, c.with_model ? &model : nullptr);
    const Finding* f = find(findings, c.code);
    ASSERT_NE(f, nullptr) << c.file << " has no " << c.code;
    EXPECT_EQ(f->level, c.level) << c.file;
    EXPECT_EQ(f->path.substr(0, std::string(c.path).size()), c.path) << c.file;
    EXPECT_GT(f->text.size(), 20U);
  }
}

TEST(RfaCheck, NamesWithTwoDotsAndNegativeRampsAndMorphTimes) {
  rfa::File file = *rfa::read(support::read_bytes(support::fixture("morph_v8.rfa")));
  file.ramp_in = -1;
  std::swap(file.morph_times[0], file.morph_times[1]);
  const auto findings = rfa::check(file, nullptr, "walk.v2.rfa");
  EXPECT_NE(find(findings, "rfa-name-dot"), nullptr);
  EXPECT_NE(find(findings, "rfa-ramp-negative"), nullptr);
  EXPECT_NE(find(findings, "rfa-morph-order"), nullptr);
}

TEST(RfaCheck, TheSeamIsMeasured) {
  const auto findings = check("loop_seam.rfa");
  const Finding* f = find(findings, "rfa-loop-seam");
  ASSERT_NE(f, nullptr);
  EXPECT_THAT(f->text, testing::HasSubstr("10.00 mm"));
  EXPECT_THAT(f->text, testing::HasSubstr("2.00 degrees"));
}

TEST(RfaCheck, AGoodClipOfTheCharacterIsClean) {
  const Model model = character();
  for (const char* name : {"char_wave.rfa", "char_morph_v8.rfa", "char_morph_v7.rfa"}) {
    for (const auto& f : check(name, &model)) {
      EXPECT_EQ(f.level, Level::note) << name << ' ' << f.code << ' ' << f.path << ' ' << f.text;
    }
  }
}

TEST(RfaCheck, TheRealClipsAreClean) {
  const auto dir = support::samples_dir();
  if (!dir) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  const Model model = *v3c::to_model(*v3c::read(support::read_bytes(*dir + "/rfa/boxt.v3c")));
  for (const char* name : {"BoxT_Flinch_Hover.rfa", "BoxT_Fly.rfa", "BoxT_Hover.rfa"}) {
    const auto file = rfa::read(support::read_bytes(*dir + "/rfa/" + name));
    for (const auto& f : rfa::check(*file, &model, name)) {
      EXPECT_EQ(f.level, Level::note) << name << ' ' << f.code << ' ' << f.path << ' ' << f.text;
    }
  }
}

TEST(RfaCheck, AnErrorAmongManyWarningsIsNotHidden) {
  rfa::File file = *rfa::read(support::read_bytes(support::fixture("plain_v8.rfa")));
  auto& keys = file.bones[0].rotation_keys;
  keys.assign(30, {});
  for (std::size_t i = 0; i < keys.size(); ++i) {
    keys[i].time = static_cast<std::int32_t>(i);
    keys[i].rotation = {0, 0, 0, static_cast<std::int16_t>(i == 25 ? 100 : 16000)};
  }
  bool error = false;
  for (const auto& f : rfa::check(file)) error = error || f.level == Level::error;
  EXPECT_TRUE(error);
}

TEST(RfaCheck, AThousandFaultsDoNotDrownTheRest) {
  rfa::File file = *rfa::read(support::read_bytes(support::fixture("plain_v8.rfa")));
  file.bones[0].rotation_keys.assign(1000, {});
  const auto findings = rfa::check(file);
  EXPECT_LT(findings.size(), 100U);
  bool more = false;
  for (const auto& f : findings) more = more || f.text.find("more of these") != std::string::npos;
  EXPECT_TRUE(more);
}

}  // namespace
}  // namespace dopesheet
