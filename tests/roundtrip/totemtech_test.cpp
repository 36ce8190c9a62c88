// TotemTech animations come back byte for byte, whichever way they are written, and nothing else reads.
#include "dopesheet/totemtech.hpp"

#include "../sweeps.hpp"
#include "dopesheet/formats.hpp"

namespace dopesheet {
namespace {

using totemtech::Detection;
using totemtech::ReadChoices;

const auto read_any = [](const Bytes& b) { return totemtech::read(b); };
const auto write_any = [](const totemtech::File& f) { return totemtech::write(f); };

Bytes fixture(const std::string& name) { return support::read_bytes(support::fixture(name)); }

void expect_round_trips(const Bytes& bytes, const std::string& name) {
  const auto file = totemtech::read(bytes);
  ASSERT_TRUE(file) << name << ": " << to_string(file.error());
  EXPECT_EQ(*totemtech::write(*file), bytes) << name;
  const auto built = totemtech::from_json(totemtech::to_json(*file));
  ASSERT_TRUE(built) << name << ": " << to_string(built.error());
  EXPECT_EQ(*totemtech::write(*built), bytes) << name;
  totemtech::File laid_out = *file;
  totemtech::layout(laid_out);
  EXPECT_EQ(*totemtech::write(laid_out), bytes) << name;
}

std::endian order_of(bool big) { return big ? std::endian::big : std::endian::little; }

// What another program says about how a file is written.
struct Truth {
  bool big, header, junk, messages, tracks;
};
void expect_detected(const Bytes& bytes, const Truth& truth, const std::string& name) {
  const auto d = totemtech::detect(bytes);
  ASSERT_TRUE(d) << name << ": " << to_string(d.error());
  EXPECT_EQ(d->has_header, truth.header) << name;
  EXPECT_EQ(d->order, order_of(truth.big)) << name;
  EXPECT_EQ(d->message_junk, truth.junk && truth.messages) << name;
  EXPECT_EQ(d->junk_is_open, !truth.messages) << name;
  // Every other way to read it is refused.
  if (truth.tracks || truth.header) {
    EXPECT_FALSE(d->order_is_open) << name;
    EXPECT_FALSE(totemtech::read(bytes, {}, {order_of(!truth.big), std::nullopt})) << name;
  }
  EXPECT_TRUE(totemtech::read(bytes, {}, {order_of(truth.big), truth.junk})) << name;
  const auto other = totemtech::read(bytes, {}, {std::nullopt, !truth.junk});
  EXPECT_EQ(other.has_value(), !truth.messages) << name;
}
Truth truth_of(const support::Json& entry) {
  return {entry.at("big"), entry.at("header"), entry.at("junk"), entry.at("messages"),
          entry.at("tracks") > 0};
}

TEST(Totemtech, EveryFixtureComesBack) {
  const auto index = support::read_json(support::fixture("totemtech.json"));
  EXPECT_GT(index.size(), 20U);
  for (const auto& entry : index) {
    const std::string name = entry.at("file");
    expect_round_trips(fixture(name), name);
    expect_detected(fixture(name), truth_of(entry), name);
  }
}

TEST(Totemtech, TheTableServesThem) {
  for (const auto& entry : support::read_json(support::fixture("totemtech.json"))) {
    const std::string name = entry.at("file");
    const Bytes bytes = fixture(name);
    const auto format = identify(bytes);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ((*format)->id, "totemtech") << name;
    const Format& f = **format;
    ReadOptions options;
    options.name = name;
    options.settings["endian"] = entry.at("big") ? "big" : "little";
    const auto info = f.info(bytes, options);
    ASSERT_TRUE(info) << name;
    EXPECT_EQ(info->facts[0].key, "byte order");
    EXPECT_NE(info->facts[0].value.find("as asked for"), std::string::npos);
    EXPECT_TRUE(f.dump(bytes, options) && f.check(bytes, options)) << name;
    const auto json = f.to_json(bytes, options);
    ASSERT_TRUE(json) << name;
    EXPECT_EQ(*f.from_json(*json, options), bytes) << name;
    const auto clips = f.clips(bytes, options).and_then(all);
    ASSERT_TRUE(clips && clips->size() == 1) << name;
    EXPECT_EQ((*clips)[0].name + ".animation", name);
  }
}

TEST(Totemtech, SettingsAreHeardAndBadOnesRefused) {
  const Format& f = *find_format("totemtech");
  const Bytes bytes = fixture("tt_walk_be.animation");
  EXPECT_EQ(f.settings.size(), 10U);
  for (const Setting& s : f.settings) {
    ReadOptions options;
    options.settings[std::string(s.name)] = std::string(s.standard);
    EXPECT_TRUE(f.clips(bytes, options)) << s.name;
    options.settings[std::string(s.name)] = "nonsense";
    const auto bad = f.clips(bytes, options);
    ASSERT_FALSE(bad) << s.name;
    EXPECT_EQ(bad.error().code, Code::usage) << s.name;
    EXPECT_EQ(bad.error().path, s.name);
  }
  ReadOptions options;
  options.settings = {
      {"frame-rate", "30"}, {"tangent-sign", "minus"}, {"track-order", "scale-first"}};
  const Clip clip = f.clips(bytes, options)->make(0)->clip;
  EXPECT_EQ(clip.frames_per_second, 30);
  EXPECT_EQ(clip.tracks[0].channel, Channel::scale);
  options.settings = {{"endian", "little"}};
  EXPECT_FALSE(f.clips(bytes, options));
}

TEST(Totemtech, TheSamplesAndTheirTwinsComeBack) {
  const auto dir = support::samples_dir();
  if (!dir) GTEST_SKIP() << "no samples here (set DOPESHEET_SAMPLES)";
  for (const auto& [name, truth] : {std::pair{"walk_le", Truth{false, false, false, true, true}},
                                    {"walk_be_hdr", Truth{true, true, false, true, true}},
                                    {"walk_be_msgjunk", Truth{true, false, true, true, true}},
                                    {"empty_be", Truth{true, false, false, false, false}}}) {
    const Bytes bytes = support::read_bytes(*dir + "/totemtech/" + name + ".animation");
    expect_round_trips(bytes, name);
    expect_detected(bytes, truth, name);
    support::sweep_prefixes(bytes, bytes.size(), read_any, write_any);
    support::sweep_flips(bytes, read_any, write_any);
  }
  const auto twins = support::read_json(support::fixture("totemtech_twins.json"));
  EXPECT_EQ(twins.size(), 32U);
  for (const auto& entry : twins) {
    const std::string name = entry.at("file");
    expect_round_trips(fixture(name), name);
    expect_detected(fixture(name), truth_of(entry), name);
  }
}

TEST(Totemtech, OneAnimationIsOneDocumentInEveryVariant) {
  totemtech::File first = *totemtech::read(fixture("tt_walk_le.animation"));
  for (const char* variant :
       {"le_junk", "le_hdr", "le_hdr_junk", "be", "be_junk", "be_hdr", "be_hdr_junk"}) {
    const Bytes bytes = fixture(std::string("tt_walk_") + variant + ".animation");
    totemtech::File f = *totemtech::read(bytes);
    const totemtech::File as_read = f;
    for (auto& n : f.nodes) {
      for (auto& k : n.messages.keys) k.junk = 0;
    }
    f.big_endian = f.has_header = f.message_junk = 0;
    f.header = first.header;
    EXPECT_TRUE(f == first) << variant;
    // And the other way round: the first one, written the way of this one.
    f.big_endian = as_read.big_endian;
    f.has_header = as_read.has_header;
    f.message_junk = as_read.message_junk;
    f.header = as_read.header;
    for (auto& n : f.nodes) {
      for (auto& k : n.messages.keys) k.junk = f.message_junk != 0 ? 0xBEEF : 0;
    }
    EXPECT_EQ(*totemtech::write(f), bytes) << variant;
  }
}

TEST(Totemtech, ThousandsOfRandomOnesAreNeverMistaken) {
  const Bytes all = fixture("totemtech_random.bin");
  std::size_t at = 4, messages = 0, ambiguous = 0, wrong = 0, n = 0;
  const auto byte = [&](std::size_t i) { return std::to_integer<std::size_t>(all[i]); };
  for (; at < all.size(); ++n) {
    const Truth truth{byte(at) != 0, byte(at + 1) != 0, byte(at + 2) != 0, byte(at + 3) != 0, true};
    const std::size_t size =
        byte(at + 4) | byte(at + 5) << 8 | byte(at + 6) << 16 | byte(at + 7) << 24;
    const Bytes bytes(all.begin() + static_cast<std::ptrdiff_t>(at + 8),
                      all.begin() + static_cast<std::ptrdiff_t>(at + 8 + size));
    at += 8 + size;
    const std::string name = "random " + std::to_string(n);
    const auto d = totemtech::detect(bytes);
    ASSERT_TRUE(d) << name << ": " << to_string(d.error());
    ambiguous += d->order_is_open || (d->junk_is_open && truth.messages) ? 1 : 0;
    wrong += d->order != order_of(truth.big) || d->has_header != truth.header ||
                     (truth.messages && d->message_junk != truth.junk)
                 ? 1
                 : 0;
    messages += truth.messages ? 1 : 0;
    expect_detected(bytes, truth, name);
    expect_round_trips(bytes, name);
    EXPECT_TRUE(totemtech::probe(bytes)) << name;
    if (n % 16 == 0) {
      for (std::size_t cut = 0; cut < size; cut += 1 + cut / 64) {
        EXPECT_FALSE(totemtech::read(ByteView(bytes).first(cut))) << name << " cut to " << cut;
      }
    }
    if (HasFailure()) return;
  }
  EXPECT_EQ(at, all.size());
  EXPECT_GE(n, 3000U);
  EXPECT_GE(messages, 1500U);
  EXPECT_EQ(ambiguous, 0U);
  EXPECT_EQ(wrong, 0U);
}

TEST(Totemtech, EveryPrefixIsRefused) {
  for (const char* name : {"tt_walk_le.animation", "tt_walk_be_junk.animation",
                           "tt_walk_be_hdr_junk.animation", "tt_empty_be.animation"}) {
    const Bytes bytes = fixture(name);
    support::sweep_prefixes(bytes, bytes.size(), read_any, write_any);
  }
}

TEST(Totemtech, EveryFlipIsRefusedOrExact) {
  for (const char* name : {"tt_walk_le.animation", "tt_walk_be_hdr_junk.animation",
                           "tt_empty_le.animation", "tt_faults.animation"}) {
    support::sweep_flips(fixture(name), read_any, write_any);
  }
}

// ---- hostile input, made by hand

void put(Bytes& bytes, std::size_t at, std::uint32_t v) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(v >> (8 * i));
}
Error refused(const Bytes& bytes, const ReadChoices& choices = {}) {
  support::reset_peak();
  const std::size_t before = support::live_bytes();
  const auto file = totemtech::read(bytes, {}, choices);
  EXPECT_LT(support::peak_bytes() - before, 4 * bytes.size() + 4096) << "memory before the refusal";
  EXPECT_FALSE(file);
  return file ? Error{} : file.error();
}

TEST(Totemtech, CountsAreCheckedBeforeMemoryIsTaken) {
  const Bytes good = fixture("tt_walk_le.animation");
  for (const std::size_t at : {std::size_t{6}, std::size_t{18}}) {  // meshes, keys of the first one
    for (const std::uint32_t n : {0xFFFFFFFFU, 0xFFFFFFF0U, 0x80000000U, 0x7FFFFFFFU, 0x10000U}) {
      Bytes bytes = good;
      put(bytes, at, n);
      const Error e = refused(bytes);
      EXPECT_FALSE(e.path.empty());
    }
  }
  // 200 bytes that claim four billion keys, in every way to write that.
  for (std::uint32_t big = 0; big < 2; ++big) {
    Bytes bytes(200);
    put(bytes, 0, big != 0 ? 0x0000803F : 0x3F800000);
    put(bytes, 6, big != 0 ? 0x01000000 : 1);
    put(bytes, 18, 0xFFFFFFFF);
    const Error e = refused(bytes);
    EXPECT_EQ(e.path, "meshes[0].visibility.keys");
    EXPECT_EQ(e.offset, 18U);
    refused(bytes, {order_of(big != 0), false});
  }
}

TEST(Totemtech, ErrorsSayWhere) {
  const Bytes good = fixture("tt_walk_be_hdr.animation");
  Bytes bytes = good;
  bytes.resize(bytes.size() - 7);
  Error e = refused(bytes);
  EXPECT_EQ(e.code, Code::truncated);
  EXPECT_EQ(e.path, "header.size");
  bytes = good;
  bytes.emplace_back();
  e = refused(bytes);
  EXPECT_EQ(e.code, Code::bad_value);
  EXPECT_EQ(e.path, "header.size");

  bytes = fixture("tt_walk_be.animation");
  bytes.emplace_back();
  e = refused(bytes);
  EXPECT_EQ(e.offset, bytes.size() - 1);
  EXPECT_NE(e.text.find("1 bytes follow"), std::string::npos) << e.text;
  EXPECT_NE(e.text.find("other byte order"), std::string::npos) << e.text;

  e = refused(good, {std::endian::little, std::nullopt});
  EXPECT_EQ(e.path, "header.class_id");
  e = refused(fixture("tt_walk_le_junk.animation"), {std::nullopt, false});
  EXPECT_FALSE(e.text.empty());
}

TEST(Totemtech, AStaleDocumentIsNotWritten) {
  totemtech::File file = *totemtech::read(fixture("tt_walk_be_hdr.animation"));
  file.nodes.pop_back();
  const auto out = totemtech::write(file);
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().path, "header.size");
  totemtech::layout(file);
  EXPECT_TRUE(totemtech::read(*totemtech::write(file)));
}

TEST(Totemtech, TheAmbiguousBodyIsReadAsTheCallerSays) {
  for (const bool big : {false, true}) {
    const Bytes bytes = fixture(big ? "tt_empty_be.animation" : "tt_empty_le.animation");
    const auto d = totemtech::detect(bytes);
    ASSERT_TRUE(d);
    EXPECT_TRUE(d->order_is_open);
    EXPECT_EQ(d->order, order_of(big)) << "by its length";
    const auto other = totemtech::read(bytes, {}, {order_of(!big), true});
    ASSERT_TRUE(other);
    EXPECT_NE(other->length, 1.5F);
    EXPECT_EQ(other->message_junk, 1);
    EXPECT_EQ(*totemtech::write(*other), bytes);
  }
}

TEST(Totemtech, ProbeIsNotEager) {
  EXPECT_TRUE(totemtech::probe(fixture("tt_walk_le_hdr.animation")));
  EXPECT_TRUE(totemtech::probe(fixture("tt_walk_be.animation")));
  for (const std::string& text : {std::string(18, '\0'), std::string(54, '\xff'),
                                  std::string("hello, this is just a text of some length\n")}) {
    EXPECT_FALSE(totemtech::probe({reinterpret_cast<const std::byte*>(text.data()), text.size()}));
  }
  for (const auto& entry : support::read_json(support::fixture("index.json"))) {
    EXPECT_FALSE(totemtech::probe(fixture(entry.at("file")))) << entry.at("file");
  }
  EXPECT_FALSE(totemtech::probe(fixture("bank.motn")));
}

TEST(Totemtech, JsonCarriesHowTheFileIsWritten) {
  const std::string good =
      totemtech::to_json(*totemtech::read(fixture("tt_walk_be_junk.animation")));
  const auto with = [&](const std::string& from, const std::string& to) {
    std::string json = good;
    const auto at = json.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return totemtech::from_json(json.replace(at, from.size(), to));
  };
  EXPECT_EQ(*totemtech::write(*with("\"big_endian\": 1", "\"big_endian\": 0")),
            fixture("tt_walk_le_junk.animation"));
  EXPECT_FALSE(with("\"big_endian\": 1", "\"big_endian\": 2"));
  EXPECT_FALSE(with("\"big_endian\": 1,", ""));
  EXPECT_FALSE(with("\"message_junk\": 1", "\"message_junk\": 0")) << "the keys have junk";
}

}  // namespace
}  // namespace dopesheet
