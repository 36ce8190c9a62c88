// Red Faction clips come back byte for byte, and broken ones are refused.
#include "dopesheet/rfa.hpp"

#include "../sweeps.hpp"

namespace dopesheet {
namespace {

const auto read_rfa = [](const Bytes& b) { return rfa::read(b); };
const auto write_rfa = [](const rfa::File& f) { return rfa::write(f); };

void expect_round_trips(const Bytes& bytes, const std::string& name) {
  const auto file = rfa::read(bytes);
  ASSERT_TRUE(file) << name << ": " << to_string(file.error());
  EXPECT_EQ(*rfa::write(*file), bytes) << name;
  const auto built = rfa::from_json(rfa::to_json(*file));
  ASSERT_TRUE(built) << name << ": " << to_string(built.error());
  EXPECT_EQ(*rfa::write(*built), bytes) << name;
}

std::size_t without_trailing(const rfa::File& file, const Bytes& bytes) {
  if (file.gaps.empty()) return bytes.size();
  const auto& last = file.gaps.back();
  const auto end = static_cast<std::size_t>(last.offset) + last.bytes.size();
  return end == bytes.size() ? static_cast<std::size_t>(last.offset) : bytes.size();
}

TEST(Rfa, EveryFixtureComesBack) {
  const auto names = support::fixtures("rfa");
  EXPECT_GT(names.size(), 40U);
  for (const auto& name : names)
    expect_round_trips(support::read_bytes(support::fixture(name)), name);
}

TEST(Rfa, TheRealClipsComeBack) {
  const auto dir = support::samples_dir();
  if (!dir) GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  for (const char* name : {"BoxT_Flinch_Hover.rfa", "BoxT_Fly.rfa", "BoxT_Hover.rfa"}) {
    const Bytes bytes = support::read_bytes(*dir + "/rfa/" + name);
    expect_round_trips(bytes, name);
    rfa::File file = *rfa::read(bytes);
    EXPECT_TRUE(rfa::layout(file).empty());
    EXPECT_EQ(*rfa::write(file), bytes) << name << " is in canonical order";
    const auto losses = rfa::from_clip(rfa::to_clip(file), file);
    ASSERT_TRUE(losses);
    EXPECT_EQ(*rfa::write(file), bytes) << name;
    support::sweep_prefixes(bytes, bytes.size(), read_rfa, write_rfa);
    support::sweep_flips(bytes, read_rfa, write_rfa);
  }
}

TEST(Rfa, LayoutMakesTheCanonicalOrder) {
  std::size_t changed = 0;
  for (const auto& entry : support::read_json(support::fixture("index.json"))) {
    if (entry.at("kind") != "rfa") continue;
    const Bytes bytes = support::read_bytes(support::fixture(entry.at("file")));
    rfa::File file = *rfa::read(bytes);
    rfa::layout(file);
    const Bytes out = *rfa::write(file);
    EXPECT_EQ(out == bytes, entry.at("canonical").get<bool>()) << entry.at("file");
    changed += out != bytes;
    rfa::File again = *rfa::read(out);
    rfa::layout(again);
    EXPECT_EQ(*rfa::write(again), out) << entry.at("file");
    EXPECT_EQ(rfa::to_json(file), rfa::to_json(again)) << entry.at("file");
  }
  EXPECT_GT(changed, 5U);
}

TEST(Rfa, LayoutSaysWhichBytesItDrops) {
  rfa::File file = *rfa::read(support::read_bytes(support::fixture("gaps.rfa")));
  ASSERT_FALSE(file.gaps.empty());
  EXPECT_FALSE(rfa::layout(file).empty());
  EXPECT_TRUE(file.gaps.empty());
}

TEST(Rfa, EveryPrefixIsRefused) {
  for (const char* name : {"plain_v7.rfa", "morph_v8_odd.rfa", "morph_v7.rfa", "out_of_order.rfa",
                           "gaps.rfa", "trailing.rfa", "morph_times_only.rfa"}) {
    const Bytes bytes = support::read_bytes(support::fixture(name));
    support::sweep_prefixes(bytes, without_trailing(*rfa::read(bytes), bytes), read_rfa, write_rfa);
  }
}

TEST(Rfa, EveryFlipIsRefusedOrExact) {
  for (const char* name : {"plain_v8.rfa", "morph_v8_odd.rfa", "morph_v7_odd.rfa",
                           "morph_first.rfa", "shared_record.rfa", "zero_bones.rfa"}) {
    support::sweep_flips(support::read_bytes(support::fixture(name)), read_rfa, write_rfa);
  }
}

// ---- hostile input, made by hand

Bytes plain() { return support::read_bytes(support::fixture("plain_v8.rfa")); }

void put(Bytes& bytes, std::size_t at, std::uint32_t v) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(v >> (8 * i));
}
Error refused(const Bytes& bytes) {
  support::reset_peak();
  const std::size_t before = support::live_bytes();
  const auto file = rfa::read(bytes);
  EXPECT_LT(support::peak_bytes() - before, 4 * bytes.size() + 4096) << "memory before the refusal";
  EXPECT_FALSE(file);
  return file ? Error{} : file.error();
}

TEST(Rfa, CountsAreCheckedBeforeMemoryIsTaken) {  // cases F2, F5, F6, F7
  for (const std::size_t at : {std::size_t{0x18}, std::size_t{0x1c}, std::size_t{0x20}}) {
    for (const std::uint32_t n : {0x7fffffffU, 0xffffffffU, 0x80000000U, 0x10000000U}) {
      Bytes bytes = plain();
      put(bytes, at, n);
      const Error e = refused(bytes);
      EXPECT_FALSE(e.path.empty());
    }
  }
}

TEST(Rfa, ErrorsSayWhere) {
  Bytes bytes = plain();
  const rfa::File file = *rfa::read(bytes);
  const auto bone = static_cast<std::size_t>(file.bone_offsets[1]);
  put(bytes, bone + 4, 0x7fff7fff);  // key counts
  Error e = refused(bytes);
  EXPECT_EQ(e.path, "bones[1].rotation_keys");
  EXPECT_EQ(e.offset, bone + 4);

  bytes = plain();
  put(bytes, 0, 0);
  e = refused(bytes);
  EXPECT_EQ(e.code, Code::bad_magic);

  bytes = plain();
  put(bytes, 4, 9);
  e = refused(bytes);
  EXPECT_EQ(e.code, Code::bad_version);
  EXPECT_EQ(e.path, "version");
  EXPECT_EQ(to_string(e), "at byte 8 (0x8), version: only versions 7 and 8 are known");

  bytes = plain();
  bytes.resize(bone + 30);
  e = refused(bytes);
  EXPECT_EQ(e.path.substr(0, 8), "bones[1]");
  EXPECT_LE(e.offset, bytes.size());
}

TEST(Rfa, ManyOffsetsToOneRecordDoNotMultiplyIt) {
  // 3,000 bones that all name one record of 500 keys.
  rfa::File file;
  file.bones.resize(1);
  file.bones[0].rotation_keys.resize(500);
  rfa::layout(file);
  const Bytes one = *rfa::write(file);
  constexpr std::uint32_t n = 3000;
  Bytes bytes(one.begin(), one.begin() + 0x50);
  put(bytes, 0x18, n);
  bytes.resize(0x50 + 4 * n);
  for (std::size_t i = 0; i < n; ++i) put(bytes, 0x50 + 4 * i, 0x50 + 4 * n);
  bytes.insert(bytes.end(), one.begin() + 0x54, one.end());
  bytes.resize(bytes.size() + 8 * std::size_t{n});
  support::reset_peak();
  const std::size_t before = support::live_bytes();
  EXPECT_FALSE(rfa::read(bytes));
  EXPECT_LT(support::peak_bytes() - before, std::size_t{2} << 20);
}

TEST(Rfa, AStaleDocumentIsNotWritten) {
  rfa::File file = *rfa::read(plain());
  file.bones[0].rotation_keys.emplace_back();
  EXPECT_FALSE(rfa::write(file));
  rfa::layout(file);
  EXPECT_TRUE(rfa::write(file));

  file.morph_times.push_back(1);
  const auto out = rfa::write(file);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().path, "morph_times");
}

TEST(Rfa, JsonThatIsNotADocumentIsRefusedWithAPlace) {
  const std::string good = rfa::to_json(*rfa::read(plain()));
  const auto expect_error = [&](std::string json, const std::string& path,
                                const std::string& text) {
    const auto file = rfa::from_json(json);
    ASSERT_FALSE(file) << json.substr(0, 80);
    EXPECT_EQ(file.error().path, path) << to_string(file.error());
    EXPECT_NE(file.error().text.find(text), std::string::npos) << to_string(file.error());
    EXPECT_LE(file.error().offset, json.size());
  };
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string json = good;
    const auto at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return json.replace(at, from.size(), to);
  };
  expect_error("", "", "not JSON");
  expect_error("[]", "", "object");
  expect_error(good.substr(0, good.size() / 2), "", "not JSON");
  expect_error(with("\"rfa\"", "\"v3c\""), "format", "expected 'rfa'");
  expect_error(with("\"ramp_in\"", "\"ramp_inn\""), "ramp_in", "missing");
  expect_error(with("\"version\": 8", "\"version\": 8, \"extra\": 1"), "",
               "unknown or repeated member 'extra'");
  expect_error(with("\"version\": 8", "\"version\": 8, \"version\": 8"), "",
               "unknown or repeated member 'version'");
  expect_error(with("\"version\": 8", "\"version\": 8.5"), "version", "integer");
  expect_error(with("\"version\": 8", "\"version\": 9"), "version", "known");
  expect_error(with("\"ease_in\": ", "\"ease_in\": 200"), "bones[0].rotation_keys[0].ease_in",
               "-128 to 127");
  expect_error(with("\"rotation\": [", "\"rotation\": [1, "), "bones[0].rotation_keys[0].rotation",
               "4 numbers");
  expect_error(std::string(100000, '['), "", "nested");
}

TEST(Rfa, NonFiniteFloatsSurviveJson) {
  const Bytes bytes = support::read_bytes(support::fixture("nan_floats.rfa"));
  const std::string json = rfa::to_json(*rfa::read(bytes));
  EXPECT_NE(json.find("\"f32:"), std::string::npos);
  EXPECT_NE(json.find("-0.0"), std::string::npos);
  EXPECT_EQ(*rfa::write(*rfa::from_json(json)), bytes);
}

}  // namespace
}  // namespace dopesheet
