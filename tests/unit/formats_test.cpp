// The table: every entry is whole, and files are told apart by what is in them.
#include "dopesheet/formats.hpp"

#include <gmock/gmock.h>

#include <set>

#include "../support.hpp"

namespace dopesheet {
namespace {

TEST(Formats, TheTableIsWhole) {
  std::set<std::string_view> ids;
  for (const Format& f : formats()) {
    EXPECT_TRUE(ids.insert(f.id).second) << f.id;
    EXPECT_EQ(find_format(f.id), &f);
    EXPECT_FALSE(f.title.empty() || f.games.empty() || f.verified.empty()) << f.id;
    EXPECT_EQ(f.extensions.front(), '.') << f.id;
    EXPECT_TRUE(f.probe && f.info && f.dump && f.to_json && f.from_json && f.check) << f.id;
    EXPECT_TRUE(f.clips != nullptr || f.model != nullptr) << f.id;
    EXPECT_THAT(formats_markdown(), testing::HasSubstr(std::string(f.title)));
  }
  EXPECT_EQ(find_format("nonsense"), nullptr);
}

TEST(Formats, EveryFixtureIsIdentifiedAndServed) {
  std::size_t n = 0;
  for (const auto& entry : support::read_json(support::fixture("index.json"))) {
    const std::string name = entry.at("file");
    const Bytes bytes = support::read_bytes(support::fixture(name));
    const auto format = identify(bytes);
    ASSERT_TRUE(format) << name;
    EXPECT_EQ((*format)->id, entry.at("kind") == "rfa" ? "rfa" : "v3c") << name;
    ReadOptions options;
    options.name = name;
    const Format& f = **format;
    EXPECT_TRUE(f.info(bytes, options)) << name;
    EXPECT_TRUE(f.dump(bytes, options)) << name;
    EXPECT_TRUE(f.check(bytes, options)) << name;
    const auto json = f.to_json(bytes, options);
    ASSERT_TRUE(json) << name;
    const auto by_json = identify_json(*json);
    ASSERT_TRUE(by_json) << name;
    EXPECT_EQ(*by_json, *format);
    EXPECT_EQ(*f.from_json(*json, options), bytes) << name;
    if (f.clips != nullptr) {
      const auto lazy = f.clips(bytes, options);
      ASSERT_TRUE(lazy && lazy->size() == 1) << name;
      const auto clips = all(*lazy);
      ASSERT_TRUE(clips) << name;
      EXPECT_EQ(lazy->names[0], (*clips)[0].name);
      EXPECT_EQ((*clips)[0].name + ".rfa", name);
      const std::vector<double> times{(*clips)[0].start, (*clips)[0].end};
      EXPECT_EQ(f.exact(bytes, options, times)->size(), 2U);
    }
    EXPECT_TRUE(f.model == nullptr || f.model(bytes, options)) << name;
    ++n;
  }
  EXPECT_GT(n, 50U);
}

TEST(Formats, WhatNobodyClaimsIsRefused) {
  for (const std::string text : {"", "V", "VMV", "RIFFxxxx", "not a format of ours at all"}) {
    const auto* p = reinterpret_cast<const std::byte*>(text.data());
    const auto format = identify({p, text.size()});
    ASSERT_FALSE(format) << text;
    EXPECT_EQ(format.error().code, Code::bad_magic);
    EXPECT_FALSE(identify_json(text));
  }
  EXPECT_FALSE(identify_json("{\"format\": \"nonsense\"}"));
}

}  // namespace
}  // namespace dopesheet
