// Red Faction meshes come back byte for byte, and broken ones are refused.
#include "dopesheet/v3c.hpp"

#include "../sweeps.hpp"

namespace dopesheet {
namespace {

// What reads is also checked and made into a model, which must not fall over anything.
const auto read_v3c = [](const Bytes& b) {
  auto file = v3c::read(b);
  if (file) {
    v3c::check(*file);
    const auto model = v3c::to_model(*file);
    if (!model) {
      EXPECT_EQ(model.error().code, Code::bad_value);
      EXPECT_FALSE(model.error().path.empty());
      EXPECT_FALSE(model.error().text.empty());
    }
  }
  return file;
};
const auto write_v3c = [](const v3c::File& f) { return v3c::write(f); };

std::vector<std::string> all_fixtures() {
  auto names = support::fixtures("v3c");
  for (auto& name : support::fixtures("v3m")) names.push_back(std::move(name));
  return names;
}
Bytes bytes_of(const std::string& name) { return support::read_bytes(support::fixture(name)); }
v3c::File file_of(const std::string& name) { return *v3c::read(bytes_of(name)); }

void expect_round_trips(const Bytes& bytes, const std::string& name) {
  auto file = v3c::read(bytes);
  ASSERT_TRUE(file) << name << ": " << to_string(file.error());
  EXPECT_TRUE(*v3c::write(*file) == bytes) << name;
  const auto built = v3c::from_json(v3c::to_json(*file));
  ASSERT_TRUE(built) << name << ": " << to_string(built.error());
  EXPECT_TRUE(*v3c::write(*built) == bytes) << name << " through JSON";
  v3c::layout(*file);
  EXPECT_TRUE(*v3c::write(*file) == bytes) << name << " through layout";
}

TEST(V3c, EveryFixtureComesBack) {
  const auto names = all_fixtures();
  EXPECT_GE(names.size(), 6U);
  for (const auto& name : names) expect_round_trips(bytes_of(name), name);
}

TEST(V3c, TheRealCharacterComesBack) {
  const auto dir = support::samples_dir();
  if (!dir || !std::filesystem::exists(*dir + "/rfa/boxt.v3c")) {
    GTEST_SKIP() << "no real samples here (set DOPESHEET_SAMPLES)";
  }
  const Bytes bytes = support::read_bytes(*dir + "/rfa/boxt.v3c");
  ASSERT_EQ(bytes.size(), 44908U);
  expect_round_trips(bytes, "boxt.v3c");
  support::sweep_flips(bytes, read_v3c, write_v3c);
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const auto file = v3c::read(ByteView(bytes).first(n));
    ASSERT_FALSE(file) << "prefix of " << n;
    EXPECT_LE(file.error().offset, n);
  }
}

TEST(V3c, EveryPrefixIsRefused) {
  for (const auto& name : all_fixtures()) {
    const Bytes bytes = bytes_of(name);
    const std::size_t needed = bytes.size() - file_of(name).trailing.size();
    support::sweep_prefixes(bytes, needed, read_v3c, write_v3c);
  }
}

TEST(V3c, EveryFlipIsRefusedOrExact) {
  for (const auto& name : all_fixtures()) {
    support::sweep_flips(bytes_of(name), read_v3c, write_v3c, 1);
  }
}

TEST(V3c, MoreBatchesThanTheirInfosAreRefused) {
  auto json = support::Json::parse(v3c::to_json(file_of("char.v3c")));
  std::size_t cut = 0;
  for (auto& chunk : json.at("chunks")) {
    if (!chunk.contains("body") || !chunk["body"].contains("lods")) continue;
    auto& infos = chunk["body"]["lods"][0]["batch_infos"];
    infos.erase(infos.size() - 1);
    ++cut;
  }
  ASSERT_EQ(cut, 1U);
  const auto built = v3c::from_json(json.dump());
  ASSERT_FALSE(built);
  EXPECT_NE(built.error().path.find("batch"), std::string::npos) << to_string(built.error());
}

TEST(V3c, NumbersKeepTheirBits) {
  v3c::File file = file_of("static.v3m");
  auto& mesh = std::get<v3c::Submesh>(file.chunks[0].body);
  mesh.radius = std::bit_cast<float>(0x7fa12345U);  // a signalling NaN
  mesh.offset[0] = -0.0F;
  mesh.offset[1] = std::bit_cast<float>(1U);
  mesh.offset[2] = -std::numeric_limits<float>::infinity();
  const Bytes bytes = *v3c::write(file);
  expect_round_trips(bytes, "edited static.v3m");
  const v3c::File again = *v3c::read(bytes);
  EXPECT_EQ(std::bit_cast<std::uint32_t>(std::get<v3c::Submesh>(again.chunks[0].body).radius),
            0x7fa12345U);
}

// ---- hostile input, made by hand: offsets into char_b.v3c, whose submesh has one level of detail

constexpr std::size_t submesh = 0x30, lod = submesh + 96 + 4;

void put(Bytes& bytes, std::size_t at, std::uint32_t v, std::size_t size = 4) {
  for (std::size_t i = 0; i < size; ++i) bytes[at + i] = static_cast<std::byte>(v >> (8 * i));
}
Error refused(const Bytes& bytes) {
  support::reset_peak();
  const std::size_t before = support::live_bytes();
  const auto file = v3c::read(bytes);
  EXPECT_LT(support::peak_bytes() - before, 4 * bytes.size() + 4096) << "memory before the refusal";
  EXPECT_FALSE(file);
  return file ? Error{} : file.error();
}

TEST(V3c, CountsAreCheckedBeforeMemoryIsTaken) {
  const Bytes good = bytes_of("char_b.v3c");
  std::uint32_t data_size = 0;
  for (std::size_t i = 0; i < 4; ++i) {
    data_size |= std::to_integer<std::uint32_t>(good[lod + 10 + i]) << (8 * i);
  }
  const std::size_t tables = lod + 14 + data_size + 4 + 2 * 18;  // after two batch infos
  const struct {
    std::size_t at;
    const char* path;
  } counts[] = {
      {submesh + 52, "chunks[0].body.lod_distances"},
      {lod + 10, "chunks[0].body.lods[0].data"},
      {tables, "chunks[0].body.lods[0].prop_points"},
      {tables + 4, "chunks[0].body.lods[0].textures"},
  };
  for (const auto& [at, path] : counts) {
    for (const std::uint32_t n : {0x7fffffffU, 0xffffffffU, 0x80000000U, 0x10000000U}) {
      Bytes bytes = good;
      put(bytes, at, n);
      const Error e = refused(bytes);
      EXPECT_EQ(e.path, path);
      EXPECT_LE(e.offset, bytes.size());
    }
  }
  Bytes bytes = good;
  put(bytes, lod + 8, 0xffff, 2);
  EXPECT_FALSE(refused(bytes).path.empty());
}

TEST(V3c, ErrorsSayWhere) {
  Bytes bytes = bytes_of("char_b.v3c");
  put(bytes, 0, 0x12345678);
  Error e = refused(bytes);
  EXPECT_EQ(e.code, Code::bad_magic);
  EXPECT_EQ(e.path, "magic");

  bytes = bytes_of("char_b.v3c");
  put(bytes, 4, 0x40001);
  e = refused(bytes);
  EXPECT_EQ(e.code, Code::bad_version);
  EXPECT_EQ(to_string(e), "at byte 8 (0x8), version: only version 0x40000 is known");

  bytes = bytes_of("char_b.v3c");
  put(bytes, submesh + 48, 6);
  e = refused(bytes);
  EXPECT_EQ(e.code, Code::bad_version);
  EXPECT_EQ(e.path, "chunks[0].body.version");
}

TEST(V3c, ARegionTooSmallForItsElementsIsRefused) {
  v3c::File file = file_of("char_b.v3c");
  auto& l = std::get<v3c::Submesh>(file.chunks[0].body).lods[0];
  --l.batch_infos[1].positions_size;
  const auto out = v3c::write(file);
  ASSERT_FALSE(out);
  EXPECT_NE(out.error().path.find("lods[0].data.batches[1]"), std::string::npos)
      << out.error().path;

  Bytes bytes = bytes_of("char_b.v3c");
  put(bytes, lod + 14 + static_cast<std::uint32_t>(l.data_size) + 4 + 18 + 4, 1, 2);
  const Error e = refused(bytes);
  EXPECT_EQ(e.code, Code::bad_value);
  EXPECT_NE(e.path.find("lods[0].data.batches[1].positions"), std::string::npos) << e.path;
}

TEST(V3c, AnEditIsWrittenOnceItIsLaidOut) {
  for (const auto& name : all_fixtures()) {
    v3c::File file = file_of(name);
    auto& l = std::get<v3c::Submesh>(file.chunks[0].body).lods[0];
    v3c::Batch& b = l.batches[0];
    const std::size_t n = b.positions.size();
    b.positions.push_back({1, 2, 3});
    b.normals.push_back({0, 1, 0});
    b.uvs.push_back({0.5F, 0.25F});
    b.same_position.push_back(0);
    if (!b.links.empty()) b.links.push_back({{255, 0, 0, 0}, {0, 0xFF, 0xFF, 0xFF}});
    l.textures.push_back({0, "another.tga"});
    EXPECT_FALSE(v3c::write(file)) << name;
    v3c::layout(file);
    const auto bytes = v3c::write(file);
    ASSERT_TRUE(bytes) << name << ": " << to_string(bytes.error());
    const auto again = v3c::read(*bytes);
    ASSERT_TRUE(again) << name << ": " << to_string(again.error());
    const auto& read = std::get<v3c::Submesh>(again->chunks[0].body).lods[0];
    ASSERT_EQ(read.batches[0].positions.size(), n + 1);
    EXPECT_EQ(read.batches[0].positions.back(), (std::array<float, 3>{1, 2, 3}));
    EXPECT_EQ(read.batches[1].positions, l.batches[1].positions);
    EXPECT_EQ(read.prop_points.size(), l.prop_points.size());
    EXPECT_EQ(read.textures.back().name, "another.tga");
  }
}

TEST(V3c, JunkAndPaddingAreKept) {
  const v3c::File odd = file_of("oddpad.v3c");
  const auto& l = std::get<v3c::Submesh>(odd.chunks[0].body).lods[0];
  EXPECT_FALSE(l.batches[0].pads[0].empty());
  EXPECT_EQ(std::get<v3c::Submesh>(file_of("char.v3c").chunks[0].body).lods[0].batches[0].pads[0],
            Bytes{});
  EXPECT_EQ(file_of("slack_block.v3c").chunks.size(), file_of("char.v3c").chunks.size());
  EXPECT_EQ(std::get<v3c::Submesh>(file_of("slack_block.v3c").chunks[0].body).lods[0].unread.size(),
            20U);
  EXPECT_EQ(file_of("trailing.v3c").trailing.size(), 13U);
}

}  // namespace
}  // namespace dopesheet
