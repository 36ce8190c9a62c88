// The document layer by itself, on a record made up for the purpose, in both byte orders.
#include "dopesheet/io.hpp"

#include <gmock/gmock.h>

#include <clocale>
#include <cmath>

#include "../support.hpp"
#include "io/dump.hpp"
#include "io/json.hpp"

namespace dopesheet {
namespace {

struct Pair {
  std::uint16_t a = 0;
  float b = 0;
  static constexpr std::size_t wire_size = 6;
  static constexpr void fields(auto& ar, auto& p) {
    ar("a", p.a);
    ar("b", p.b);
  }
  friend bool operator==(const Pair&, const Pair&) = default;
};
static_assert(io::complete<Pair>);
static_assert(!io::memory_image<Pair>, "two bytes of padding");

struct Plain {
  std::int32_t a = 0;
  std::array<std::int16_t, 2> b{};
  static constexpr std::size_t wire_size = 8;
  static constexpr void fields(auto& ar, auto& p) {
    ar("a", p.a);
    ar("b", p.b);
  }
  friend bool operator==(const Plain&, const Plain&) = default;
};
static_assert(io::complete<Plain> && io::memory_image<Plain>);

struct Reordered {  // the file has b first
  std::int32_t a = 0, b = 0;
  static constexpr std::size_t wire_size = 8;
  static constexpr void fields(auto& ar, auto& p) {
    ar("b", p.b);
    ar("a", p.a);
  }
};
static_assert(io::complete<Reordered> && !io::memory_image<Reordered>);

struct Forgotten {
  std::int32_t a = 0, b = 0;
  static constexpr std::size_t wire_size = 4;
  static constexpr void fields(auto& ar, auto& p) { ar("a", p.a); }
};
static_assert(!io::complete<Forgotten>, "b is not described");

struct Twice {
  std::int32_t a = 0, b = 0;
  static constexpr std::size_t wire_size = 8;
  static constexpr void fields(auto& ar, auto& p) {
    ar("a", p.a);
    ar("a", p.a);
    static_cast<void>(p.b);
  }
};
// Two visits and two members: only the iota of memory_image sees that they are the same one.
static_assert(!io::memory_image<Twice>);

struct Everything {
  std::int64_t big = 0;
  double real = 0;
  std::array<char, 8> fixed{};
  std::string name;
  std::vector<Pair> pairs;
  std::vector<Plain> plains;
  std::vector<std::uint16_t> words;
  std::vector<std::array<float, 2>> points;
  Bytes pad;
  std::uint16_t size = 0;
  Bytes unread;
  std::uint8_t tag = 0;
  Bytes rest;

  static constexpr void fields(auto& ar, auto& e) {
    ar.magic("magic", "TEST");
    ar("big", e.big);
    ar("real", e.real);
    ar.text("fixed", e.fixed);
    ar.text("name", e.name);
    ar.template count<std::uint8_t>("pairs", e.pairs);
    ar.template count<std::uint32_t>("plains", e.plains);
    ar("size", e.size);
    const io::Block block = ar.later("block", e.size);
    ar("tag", e.tag);
    ar.each("pairs", e.pairs);
    ar.each("plains", e.plains);
    ar.align("pad", e.pad, 8);
    ar.block("block", block, e.size, e.unread, [&](auto& in) {
      in.each("words", e.words, e.tag);
      in.each("points", e.points, 1);
    });
    ar.rest("rest", e.rest);
  }
};

struct List {
  std::vector<float> v;
  static constexpr void fields(auto& ar, auto& l) { ar.each("v", l.v); }
};

Everything example() {
  Everything e;
  e.big = -1234567890123456789;
  e.real = 0.1;
  e.fixed = {'a', '\0', 'j', 'u', 'n', 'k', '\xff', '\0'};
  e.name = "B\xc3\xa4r \xff \\ \"";
  e.pairs = {{1, 0.1F}, {65535, -0.0F}};
  e.plains = {{-1, {-2, 3}}, {7, {8, 9}}};
  e.tag = 3;
  e.words = {1, 2, 65535};
  e.points = {{1.5F, std::numeric_limits<float>::infinity()}};
  e.unread = {std::byte{9}};
  e.rest = {std::byte{1}, std::byte{0}};
  io::layout(e);
  return e;
}

TEST(Io, BothByteOrdersComeBack) {
  const Everything e = example();
  const Bytes little = *io::write(e, std::endian::little), big = *io::write(e, std::endian::big);
  EXPECT_NE(little, big);
  EXPECT_EQ(little.size(), big.size());
  for (const auto order : {std::endian::little, std::endian::big}) {
    const auto back = io::read<Everything>(order == std::endian::little ? little : big, {}, order);
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(back->big, e.big);
    EXPECT_EQ(back->pairs, e.pairs);
    EXPECT_EQ(back->plains, e.plains);
    EXPECT_EQ(back->words, e.words);
    EXPECT_EQ(back->name, e.name);
    EXPECT_EQ(*io::write(*back, order), order == std::endian::little ? little : big);
  }
  // The first number after the magic, by hand.
  EXPECT_EQ(static_cast<unsigned>(big[4]), 0xeeU);
  EXPECT_EQ(static_cast<unsigned>(little[11]), 0xeeU);
}

TEST(Io, JsonComesBack) {
  const Everything e = example();
  const std::string json = io::to_json(e, "test");
  const auto back = io::from_json<Everything>(json, "test", {});
  ASSERT_TRUE(back) << to_string(back.error()) << json;
  EXPECT_EQ(*io::write(*back), *io::write(e));
  EXPECT_EQ(io::to_json(*back, "test"), json);
}

TEST(Io, AByteOrderMarkDoesNoHarm) {
  const std::string json = io::to_json(example(), "test");
  const auto back = io::from_json<Everything>("\xEF\xBB\xBF" + json, "test", {});
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*io::write(*back), *io::write(example()));
}

TEST(Io, EveryPrefixAndFlip) {
  const Bytes bytes = *io::write(example());
  for (std::size_t n = 0; n + 2 < bytes.size(); ++n) {  // the last two are the rest
    const auto r = io::read<Everything>(ByteView(bytes).first(n));
    ASSERT_FALSE(r) << n;
    EXPECT_LE(r.error().offset, n);
  }
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    Bytes b = bytes;
    b[i] ^= std::byte{0xff};
    if (const auto r = io::read<Everything>(b)) {
      const auto out = io::write(*r);
      ASSERT_TRUE(out) << to_string(out.error());
      EXPECT_EQ(*out, b);
    }
  }
}

TEST(Io, DumpHasEveryFieldAtItsPlace) {
  const std::string text = io::dump(example());
  EXPECT_THAT(text, testing::HasSubstr("0x000000  magic = \"TEST\""));
  EXPECT_THAT(text, testing::HasSubstr("0x000004  big = -1234567890123456789"));
  EXPECT_THAT(text, testing::HasSubstr("0x000014  fixed = \"a\\x00junk\\xff\""));
  EXPECT_THAT(text, testing::HasSubstr("pairs[1].a = 65535"));
  EXPECT_THAT(text, testing::HasSubstr("block.words[0..2] = 1 2 65535"));
  EXPECT_THAT(text, testing::HasSubstr("f32:7f800000"));
  EXPECT_THAT(text, testing::HasSubstr("block.unread = 1 bytes 09"));
}

TEST(Io, FloatsAreTheShortestTextThatReadsBack) {
  for (const std::uint32_t bits :
       {0x3dcccccdU, 0x00000001U, 0x7f7fffffU, 0x80000000U, 0x7fc00000U, 0xffc12345U, 0x7f800000U,
        0x7f800001U, 0x4b000001U, 0x3f800000U, 0x33d6bf95U}) {
    const auto v = std::bit_cast<float>(bits);
    Everything e = example();
    e.pairs[0].b = v;
    const auto back = io::from_json<Everything>(io::to_json(e, "t"), "t", {});
    ASSERT_TRUE(back) << to_string(back.error());
    EXPECT_EQ(std::bit_cast<std::uint32_t>(back->pairs[0].b), bits);
  }
  EXPECT_EQ(io::float_text(0.1F), "0.1");
  EXPECT_EQ(io::float_text(-0.0F), "-0.0");
  EXPECT_EQ(io::float_text(std::bit_cast<float>(0x7fc00001U)), "f32:7fc00001");
  EXPECT_EQ(io::float_text(0.1), "0.1");
}

TEST(Io, ManyRandomFloatsReadBackExactly) {
  std::uint32_t bits = 1;
  List list;
  for (int i = 0; i < 100000; ++i) {
    bits = bits * 1664525 + 1013904223;
    list.v.push_back(std::bit_cast<float>(bits));
  }
  const auto back = io::from_json<List>(io::to_json(list, "f"), "f", {});
  ASSERT_TRUE(back) << to_string(back.error());
  ASSERT_EQ(back->v.size(), list.v.size());
  EXPECT_EQ(std::memcmp(back->v.data(), list.v.data(), list.v.size() * 4), 0);
}

TEST(Io, TextDoesNotDependOnTheLocale) {  // case F12
  const char* set = nullptr;
  for (const char* name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8"}) {
    if (set == nullptr) set = std::setlocale(LC_ALL, name);
  }
  const std::string json = io::to_json(example(), "t");
  EXPECT_THAT(json, testing::HasSubstr("0.1"));
  EXPECT_TRUE(io::from_json<Everything>(json, "t", {}));
  std::setlocale(LC_ALL, "C");
}

TEST(Io, NamesSurviveAsText) {
  for (const std::string name :
       {"plain", "B\xc3\xa4r", "\xff\xfe", "back\\slash", "tab\t", "\xe2\x82", "\xed\xa0\x80",
        "\xf0\x9f\x98\x80", "\xc0\x80", "new\nline"}) {
    const std::string text = io::escape_bytes(name);
    EXPECT_EQ(io::unescape_bytes(text), name);
    EXPECT_EQ(text.find('\n'), std::string::npos);
  }
  EXPECT_EQ(io::escape_bytes("B\xc3\xa4r"), "B\xc3\xa4r");
  EXPECT_EQ(io::escape_bytes("\xff"), "\\xff");
  EXPECT_FALSE(io::unescape_bytes("\\q"));
  EXPECT_FALSE(io::unescape_bytes("\\x1"));
}

TEST(Io, TheInputLimitIsKept) {
  Limits limits;
  limits.bytes = 10;
  const auto r = io::read<Everything>(Bytes(11), limits);
  ASSERT_FALSE(r);
  EXPECT_EQ(r.error().code, Code::limit);
}

}  // namespace
}  // namespace dopesheet
