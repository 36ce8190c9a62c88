// Shenmue banks come back byte for byte, say what they hold, and can be edited.
#include "dopesheet/motn.hpp"

#include <cmath>

#include "../sweeps.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

const auto read_bank = [](const Bytes& b) { return motn::read(b); };
const auto write_bank = [](const motn::Bank& b) { return motn::write(b); };

const std::vector<std::string> banks{"bank.motn", "bank_orphan.motn", "bank_holes.motn",
                                     "bank_wide_counts.motn", "package_relative.motn"};

Bytes bytes_of(const std::string& name) { return support::read_bytes(support::fixture(name)); }
motn::Bank load(const std::string& name) {
  auto bank = motn::read(bytes_of(name));
  EXPECT_TRUE(bank) << name << ": " << (bank ? "" : to_string(bank.error()));
  return *bank;
}

const Bytes* real_bank() {
  static const auto bytes = []() -> std::optional<Bytes> {
    const auto dir = support::samples_dir();
    if (!dir || !std::filesystem::exists(*dir + "/motn/motion.bin")) return {};
    return support::read_bytes(*dir + "/motn/motion.bin");
  }();
  return bytes ? &*bytes : nullptr;
}

void expect_round_trips(const Bytes& bytes, const std::string& name) {
  const auto bank = motn::read(bytes);
  ASSERT_TRUE(bank) << name << ": " << to_string(bank.error());
  EXPECT_EQ(*motn::write(*bank), bytes) << name;
  const auto built = motn::from_json(motn::to_json(*bank));
  ASSERT_TRUE(built) << name << ": " << to_string(built.error());
  EXPECT_EQ(*motn::write(*built), bytes) << name;
}

TEST(Motn, EveryFixtureComesBack) {
  for (const auto& name : banks) expect_round_trips(bytes_of(name), name);
}

TEST(Motn, TheRealBankComesBackAndCounts) {
  if (real_bank() == nullptr) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  expect_round_trips(*real_bank(), "motion.bin");
  motn::Bank bank = *motn::read(*real_bank());
  EXPECT_EQ(bank.table.size(), 1559U);
  EXPECT_EQ(bank.sequences.size(), 1319U);
  EXPECT_EQ(bank.extras.size(), 944U);
  const auto s = motn::statistics(bank);
  EXPECT_EQ(s.curve_sequences, 1293U);
  EXPECT_EQ(s.dense_sequences, 9U);
  EXPECT_EQ(s.object_sequences, 17U);
  EXPECT_EQ(s.curves, 78669U);
  EXPECT_EQ(s.keys, 373866U);
  EXPECT_EQ(s.longest, 410U);
  EXPECT_EQ(s.first_codes, (std::array<std::size_t, 4>{16064, 42931, 17943, 1731}));
  EXPECT_EQ(s.middle_codes, (std::array<std::size_t, 4>{2443, 30743, 176821, 6521}));
  EXPECT_EQ(s.last_codes, (std::array<std::size_t, 4>{15539, 52469, 9952, 709}));
  std::size_t mirrored = 0, orphans = 0;
  for (std::size_t i = 0; i < bank.table.size(); ++i)
    mirrored += motn::link_of(motn::extra_of(bank, i)).mirrored;
  EXPECT_EQ(mirrored, 62U);
  for (const auto& f : motn::check(bank)) {
    EXPECT_NE(f.level, Level::error) << f.code << ' ' << f.path << ' ' << f.text;
    orphans += f.code == "motn-orphan";
  }
  EXPECT_EQ(orphans, 5U);  // seven sequences in five places
}

TEST(Motn, TheRealCurvesEncodeToTheSameBytes) {
  if (real_bank() == nullptr) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  const motn::Bank bank = *motn::read(*real_bank());
  const auto bytes = [](const motn::Sequence& s) {
    io::Writer w;
    motn::Sequence::fields(w, s);
    return *w.take();
  };
  for (const auto& s : bank.sequences) {
    if (s.encoding() != motn::Encoding::curves) continue;
    const auto again = motn::encode(motn::decode(s), s.frames(), s.rig_id());
    ASSERT_TRUE(again) << to_string(again.error());
    EXPECT_EQ(bytes(*again), bytes(s));
  }
}

// One kick was cut in two by its authors; the key at the cut is the curve of the whole at that frame.
TEST(Motn, TheCutKickProvesTheFormula) {
  if (real_bank() == nullptr) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  const motn::Bank bank = *motn::read(*real_bank());
  const auto curves = [&](const char* name) {
    return motn::decode(motn::sequence_of(bank, *motn::find_motion(bank, name)));
  };
  const auto whole = curves("AKI_AKI_KICK_KKT_S1_MK"), first = curves("AKI_AKI_KICK_KKT_S1");
  std::vector<double> errors;
  for (const auto& a : first) {
    for (const auto& b : whole) {
      if (a.bone != b.bone || a.axis != b.axis || a.channel != b.channel) continue;
      Curve<float> c;
      c.interp = Interp::hermite;
      bool has_key = false;
      for (const auto& k : b.keys) {
        has_key = has_key || k.frame == 14;
        c.times.push_back(k.frame / 30.0);
        c.values.push_back(k.value);
        c.in.push_back(k.slope_in);
        c.out.push_back(k.slope_out);
      }
      if (has_key) continue;
      std::uint32_t hint = 0;
      errors.push_back(std::abs(double{a.keys.back().value} - evaluate(c, 14 / 30.0, hint)));
    }
  }
  ASSERT_GT(errors.size(), 20U);
  std::sort(errors.begin(), errors.end());
  EXPECT_LT(errors[errors.size() / 2], 1e-4);
  EXPECT_LT(errors.back(), 1e-3);
}

TEST(Motn, TurnsEndAtTheirAngles) {
  if (real_bank() == nullptr) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  const motn::Bank bank = *motn::read(*real_bank());
  std::size_t n = 0;
  for (std::size_t i = 0; i < bank.names.size(); ++i) {
    const std::string& name = bank.names[i].text;
    for (const auto& [part, turns] :
         {std::pair{"AKI_AKI_TURN180_SP", 0.5}, std::pair{"AKI_AKI_TURN135_SP", 0.375},
          std::pair{"AKI_AKI_TURN090_SP", 0.25}, std::pair{"AKI_AKI_TURN045_SP", 0.125}}) {
      if (!name.starts_with(part)) continue;
      for (const auto& c : motn::decode(motn::sequence_of(bank, i))) {
        if (c.bone != 0 || c.axis != 1 || c.channel != Channel::rotation) continue;
        EXPECT_NEAR(std::abs(c.keys.back().value), turns, 1e-3) << name;
        ++n;
      }
    }
  }
  EXPECT_GT(n, 4U);
}

TEST(Motn, CurvesAreWhatPlainPythonSays) {
  const auto expected = support::read_json(support::fixture("motn.json"));
  const motn::Bank bank = load(expected.at("file"));
  const auto curves = motn::decode(
      motn::sequence_of(bank, *motn::find_motion(bank, std::string(expected.at("motion")))));
  ASSERT_EQ(curves.size(), expected.at("tracks").size());
  for (const auto& track : expected.at("tracks")) {
    const int bit = track.at("bit");
    const motn::DecodedCurve* found = nullptr;
    for (const auto& c : curves) {
      const int group = c.channel == Channel::translation ? 6
                        : c.channel == Channel::rotation  ? 3
                                                          : 0;
      if (c.bone == track.at("bone").get<int>() && 1 << (group + 2 - c.axis) == bit) found = &c;
    }
    ASSERT_NE(found, nullptr);
    Curve<float> curve;
    curve.interp = Interp::hermite;
    ASSERT_EQ(found->keys.size(), track.at("keys").size());
    for (std::size_t k = 0; k < found->keys.size(); ++k) {
      const auto& key = found->keys[k];
      EXPECT_EQ(key.frame, track["keys"][k][0].get<int>());
      EXPECT_EQ(key.value, track["keys"][k][1].get<float>());
      EXPECT_EQ(key.slope_in, track["keys"][k][2].get<float>());
      EXPECT_EQ(key.slope_out, track["keys"][k][3].get<float>());
      curve.times.push_back(key.frame / 30.0);
      curve.values.push_back(key.value);
      curve.in.push_back(key.slope_in);
      curve.out.push_back(key.slope_out);
    }
    for (const auto& s : track.at("samples")) {
      std::uint32_t hint = 0;
      EXPECT_NEAR(evaluate(curve, s[0].get<double>(), hint), s[1].get<double>(), 1e-6);
    }
  }
}

TEST(Motn, HalfFloats) {
  EXPECT_EQ(motn::from_half(0x0000), 0);
  EXPECT_EQ(motn::from_half(0x8000), 0);
  EXPECT_EQ(motn::from_half(0x3C00), 1);
  EXPECT_EQ(motn::from_half(0xBC00), -1);
  EXPECT_NEAR(motn::from_half(0x83FF), -6.1005e-5, 1e-9);
  EXPECT_EQ(motn::to_half(1), 0x3C00);
  EXPECT_EQ(motn::to_half(5e-5F), 0);
  EXPECT_EQ(motn::to_half(std::nextafter(1.0F, 0.0F)), 0x3BFF);  // cut off, not rounded
  for (unsigned h = 0x0400; h < 0x7C00; ++h) {
    const auto half = static_cast<std::uint16_t>(h);
    EXPECT_EQ(motn::to_half(motn::from_half(half)), half);
  }
}

TEST(Motn, TheCountOfAPackageComesFromItsNames) {
  const motn::Bank bank = load("package_relative.motn");
  EXPECT_EQ(bank.table.size(), 4U);
  EXPECT_EQ(bank.names[3].text, "STANDBY");
  EXPECT_NE(bank.name_origin, 0U);
  EXPECT_EQ(bank.count, 4 + 1 + 0x10U);
}

TEST(Motn, SharedSequencesAndLinks) {
  const motn::Bank bank = load("bank.motn");
  ASSERT_EQ(bank.table.size(), 6U);
  EXPECT_EQ(bank.sequences.size(), 4U);
  EXPECT_EQ(&motn::sequence_of(bank, 0), &motn::sequence_of(bank, 1));
  const auto left = motn::link_of(motn::extra_of(bank, 0)),
             right = motn::link_of(motn::extra_of(bank, 1));
  EXPECT_TRUE(left.loops && right.loops && !left.mirrored && right.mirrored);
  EXPECT_EQ(motn::link_of(motn::extra_of(bank, 2)).next, 4);
  EXPECT_EQ(motn::extra_of(bank, 0).events[0].type, 4);
  EXPECT_EQ(motn::sequence_of(bank, 3).encoding(), motn::Encoding::dense);
  EXPECT_EQ(motn::sequence_of(bank, 4).encoding(), motn::Encoding::object);
}

TEST(Motn, PrefixesAndFlips) {
  for (const auto& name : banks) {
    const Bytes bytes = bytes_of(name);
    support::sweep_prefixes(bytes, bytes.size(), read_bank, write_bank);
    support::sweep_flips(bytes, read_bank, write_bank);
  }
}

TEST(Motn, ReplacingAMotionByItselfChangesNothing) {
  for (const auto& name : banks) {
    const motn::Bank before = load(name);
    for (std::size_t i = 0; i < before.table.size(); ++i) {
      motn::Bank bank = before;
      ASSERT_TRUE(motn::replace(bank, i, motn::motion_of(bank, i)));
      EXPECT_EQ(*motn::write(bank), bytes_of(name)) << name << ' ' << i;
    }
  }
  if (real_bank() == nullptr) return;
  motn::Bank bank = *motn::read(*real_bank());
  ASSERT_TRUE(motn::replace(bank, 242, motn::motion_of(bank, 242)));
  EXPECT_EQ(*motn::write(bank), *real_bank());
}

TEST(Motn, ReplacingOneOfTwoSharedMotionsSplitsThem) {
  motn::Bank bank = load("bank.motn");
  motn::Motion motion = motn::motion_of(bank, 1);
  auto curves = motn::decode(motion.sequence);
  curves[1].keys[1].code = -1;
  curves[1].keys[1].value = 1.25F;
  motion.sequence = *motn::encode(curves, motion.sequence.frames(), 0);
  ASSERT_TRUE(motn::replace(bank, 1, motion));
  const motn::Bank again = *motn::read(*motn::write(bank));
  EXPECT_EQ(motn::decode(motn::sequence_of(again, 1))[1].keys[1].value, 1.25F);
  EXPECT_NE(motn::decode(motn::sequence_of(again, 0))[1].keys[1].value, 1.25F);
  EXPECT_EQ(&motn::sequence_of(again, 0), &motn::sequence_of(again, 5));
}

TEST(Motn, InsertingRenamingReorderingFollowsLinks) {
  motn::Bank bank = load("bank.motn");
  motn::Motion fresh = motn::motion_of(bank, 3);
  fresh.name = "NEW";
  ASSERT_TRUE(motn::insert(bank, 0, fresh));
  EXPECT_EQ(*motn::find_motion(bank, "NEW"), 0U);
  EXPECT_EQ(motn::link_of(motn::extra_of(bank, 3)).next, 5);  // STANDBY moved on by one
  EXPECT_FALSE(motn::insert(bank, 0, fresh)) << "the name is taken";
  ASSERT_TRUE(motn::rename(bank, 0, "NEWER"));
  EXPECT_TRUE(motn::find_motion(bank, "NEWER"));
  const auto losses =
      motn::reorder(bank, std::vector<std::size_t>{3, 0});  // LONG and NEWER; STANDBY is gone
  ASSERT_TRUE(losses);
  EXPECT_EQ(losses->size(), 1U);
  EXPECT_EQ(bank.names[0].text, "LONG");
  const auto bytes = motn::write(bank);
  ASSERT_TRUE(bytes) << to_string(bytes.error());
  EXPECT_EQ(motn::read(*bytes)->table.size(), 2U);
}

TEST(Motn, MergingTwoBanks) {
  motn::Bank bank = load("bank.motn");
  motn::Bank other = load("bank.motn");
  for (std::size_t i = 1; i < other.names.size(); ++i)
    ASSERT_TRUE(motn::rename(other, i, "B_" + other.names[i].text));
  const auto losses = motn::merge(bank, other);
  ASSERT_TRUE(losses);
  EXPECT_EQ(losses->size(), 1U) << "WALK_L is in both";
  ASSERT_EQ(bank.table.size(), 11U);
  const motn::Bank again = *motn::read(*motn::write(bank));
  const auto from = *motn::find_motion(again, "B_LONG");
  EXPECT_EQ(
      again.names[static_cast<std::size_t>(*motn::link_of(motn::extra_of(again, from)).next) - 1]
          .text,
      "B_STANDBY");
}

TEST(Motn, EncodingNamesItsLimits) {
  motn::DecodedCurve c;
  c.keys = {{0}, {9}};
  const auto error = [&](int frames, int rig) {
    return motn::encode({&c, 1}, frames, rig).error().text;
  };
  EXPECT_TRUE(motn::encode({&c, 1}, 10, 0));
  EXPECT_NE(error(40000, 0).find("32767"), std::string::npos);
  EXPECT_NE(error(10, 0x7FFF).find("15 bits"), std::string::npos);
  EXPECT_NE(error(20, 0).find("frame 0 and 19"), std::string::npos);
  c.bone = 128;
  EXPECT_NE(error(10, 0).find("127"), std::string::npos);
  c.bone = 0;
  c.keys.assign(300, {});
  c.keys.back().frame = 9;
  EXPECT_NE(error(10, 0).find("255"), std::string::npos);
}

TEST(Motn, NewKeysTakeTheShortestExactCode) {
  motn::DecodedCurve c;
  c.keys = {{0}, {1, 0.5F}, {2, 0.5F, 1, 1}, {3, 0.5F, 1, 2}, {4}};
  const auto s = motn::encode({&c, 1}, 5, 0);
  ASSERT_TRUE(s);
  EXPECT_EQ(s->curves.codes, (std::vector<std::uint8_t>{0b00011011, 0}));
  EXPECT_EQ(s->curves.values.size(), 6U);
}

TEST(Motn, FaultsAreFound) {
  const auto has = [](const motn::Bank& bank, const std::string& code) {
    for (const auto& f : motn::check(bank)) {
      if (f.code == code) return true;
    }
    return false;
  };
  EXPECT_TRUE(has(load("bank_orphan.motn"), "motn-orphan"));
  EXPECT_TRUE(has(load("bank_holes.motn"), "motn-hole"));
  EXPECT_TRUE(has(load("bank_wide_counts.motn"), "motn-length"));
  EXPECT_TRUE(has(load("package_relative.motn"), "motn-count"));
  EXPECT_TRUE(has(load("package_relative.motn"), "motn-relative-names"));
  EXPECT_TRUE(has(load("bank.motn"), "motn-loop-seam"));
  motn::Bank bank = load("bank.motn");
  for (const auto& f : motn::check(bank)) EXPECT_EQ(f.level, Level::note) << f.code << f.text;
  bank.sequences[0].curves.frames[1] = 200;
  EXPECT_TRUE(has(bank, "motn-frame-outside"));
  EXPECT_TRUE(has(bank, "motn-frame-order"));
  bank.sequences[0].curves.values[0] = 0x7C00;
  EXPECT_TRUE(has(bank, "motn-half"));
  bank.sequences[0].curves.values[0] = 0x0001;
  EXPECT_TRUE(has(bank, "motn-half-small"));
  bank.sequences[0].curves.codes[0] |= 1;
  EXPECT_TRUE(has(bank, "motn-code-bits"));
  bank.sequences[0].rig = 99;
  EXPECT_TRUE(has(bank, "motn-rig"));
  std::swap(bank.sequences[0].curves.channels[0], bank.sequences[0].curves.channels[1]);
  EXPECT_TRUE(has(bank, "motn-bone-order"));
  bank.sequences[0].curves.channels[0] |= 1;
  EXPECT_TRUE(has(bank, "motn-scale"));
  for (auto& s : bank.sequences) {
    s.dense.stride += 2;
    s.object.zero = 1;
    if (!s.object.nodes.empty()) s.object.nodes[0].rotation_x.track += 2;
  }
  EXPECT_TRUE(has(bank, "motn-dense-stride"));
  EXPECT_TRUE(has(bank, "motn-object-header"));
  EXPECT_TRUE(has(bank, "motn-object-tracks"));
  bank.names[0].text = bank.names[1].text = "lower";
  EXPECT_TRUE(has(bank, "motn-name"));
  EXPECT_TRUE(has(bank, "motn-name-twice"));
  for (auto& x : bank.extras) {
    for (auto& e : x.events) e.frame = 999;
    for (auto& o : x.ops) {
      if (o.op == 1 && o.payload[1] != std::byte{0xff}) o.payload[1] = std::byte{77};
    }
  }
  EXPECT_TRUE(has(bank, "motn-event-frame"));
  EXPECT_TRUE(has(bank, "motn-link"));
  bank.extras[0].ops.back().op = 99;
  EXPECT_TRUE(has(bank, "motn-extra-unknown"));
}

TEST(Motn, LayoutPlacesAnEditedDocument) {
  for (const char* name : {"bank.motn", "bank_holes.motn", "bank_orphan.motn"}) {
    const auto bytes = support::read_bytes(support::fixture(name));
    motn::Bank bank = *motn::read(bytes);
    const std::size_t orphans = bank.gaps.size();
    ASSERT_TRUE(motn::layout(bank)) << name;
    const auto same = motn::write(bank);
    ASSERT_TRUE(same) << name << ' ' << to_string(same.error());
    EXPECT_TRUE(*same == bytes || std::string_view(name) != "bank.motn") << name;
    // One name grows: all that follows moves.
    bank.names[0].text += "_WITH_A_LONGER_NAME";
    ASSERT_TRUE(motn::layout(bank)) << name;
    const auto moved = motn::write(bank);
    ASSERT_TRUE(moved) << name << ' ' << to_string(moved.error());
    const auto again = motn::read(*moved);
    ASSERT_TRUE(again) << name << ' ' << to_string(again.error());
    EXPECT_EQ(again->names[0].text, bank.names[0].text);
    EXPECT_EQ(again->sequences.size(), bank.sequences.size());
    EXPECT_EQ(orphans > 0, !again->gaps.empty()) << name;
    for (std::size_t i = 0; i < bank.names.size(); ++i) {
      EXPECT_EQ(motn::decode(motn::sequence_of(*again, i)).size(),
                motn::decode(motn::sequence_of(bank, i)).size());
    }
  }
}

}  // namespace
}  // namespace dopesheet
