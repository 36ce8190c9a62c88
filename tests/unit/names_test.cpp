// Hashes of names, by the public test vectors, and files of names.
#include "dopesheet/names.hpp"

#include <gtest/gtest.h>

using namespace dopesheet;
using namespace std::string_view_literals;

namespace {

ByteView bytes(std::string_view text) {
  return {reinterpret_cast<const std::byte*>(text.data()), text.size()};
}

}  // namespace

TEST(Names, totemtech_hashes) {
  const auto h = [](std::string_view n) { return hash_name(NameHash::totemtech, n); };
  EXPECT_EQ(h("ANIMATION"), 0xC9909A33U);
  EXPECT_EQ(h("animation"), 0xC9909A33U);
  EXPECT_EQ(h("NODE"), 0xB3EA05F1U);
  EXPECT_EQ(h("SKEL"), 0x7657AB8AU);
  EXPECT_EQ(h("EYES_CLOSED"), 0x5655A931U);
  EXPECT_EQ(h(""), 0U);
}

TEST(Names, zouna_hashes) {
  const auto h = [](std::string_view n) { return hash_name(NameHash::zouna, n); };
  EXPECT_EQ(h("Animation_Z"), 0x46107D89U);
  EXPECT_EQ(h("ANIMATION_z"), 0x46107D89U);
  EXPECT_EQ(h("Skel_Z"), 0xD73B85ECU);
  EXPECT_EQ(h("Skin_Z"), 0x53415807U);
  EXPECT_EQ(h("TETE"), 1573865363U);
  EXPECT_EQ(h("DYN_POINT1"), 1178470142U);
  EXPECT_EQ(h(""), 0U);
}

TEST(Names, tables_and_word_lists) {
  Names names;
  ASSERT_TRUE(
      names.read(bytes("0 \"\"\r\n-913270221 \"ANIMATION\"\r\n77 \"odd\"\r\n\r\nTETE\n"
                       "12 no quotes\n\0after"
                       "the end"sv)));
  EXPECT_EQ(names.of(NameHash::totemtech, 0xC9909A33U), "ANIMATION");
  EXPECT_EQ(names.of(NameHash::totemtech, 77), "odd");
  EXPECT_EQ(names.of(NameHash::zouna, 77), "odd");
  EXPECT_EQ(names.of(NameHash::zouna, 1573865363U), "TETE");
  EXPECT_EQ(names.of(NameHash::zouna, 0x0000ABCDU), "#0000ABCD");
  EXPECT_EQ(names.find(NameHash::zouna, hash_name(NameHash::zouna, "12 no quotes")),
            "12 no quotes");
  EXPECT_FALSE(names.find(NameHash::zouna, hash_name(NameHash::zouna, "after")));
  EXPECT_EQ(names.find(NameHash::zouna, 0), "");
}

TEST(Names, limits_hold) {
  Limits limits;
  limits.keys = 2;
  Names names;
  const auto done = names.read(bytes("A\nB\nC\n"), limits);
  ASSERT_FALSE(done);
  EXPECT_EQ(done.error().code, Code::limit);
}

TEST(Names, hash_text_goes_both_ways) {
  EXPECT_EQ(hash_text(0x12ABU), "#000012AB");
  EXPECT_EQ(parse_hash_text("#000012AB"), 0x12ABU);
  EXPECT_EQ(parse_hash_text("#000012ab"), 0x12ABU);
  for (const char* bad : {"", "#", "000012AB", "#000012A", "#000012AG", "#000012AB0", "#+00012AB"})
    EXPECT_FALSE(parse_hash_text(bad)) << bad;
}
