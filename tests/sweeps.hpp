// What every codec must survive: each prefix and each flipped byte of a file.
#pragma once
#include "allocations.hpp"
#include "support.hpp"

namespace support {

inline constexpr std::size_t memory_limit = std::size_t{16} << 20;

// Whatever reads comes back to the same bytes; whatever does not is refused at a place inside it.
template <class Read, class Write>
void expect_refused_or_exact(const dopesheet::Bytes& bytes, Read read, Write write) {
  reset_peak();
  const std::size_t before = live_bytes();
  {
    const auto doc = read(bytes);
    if (!doc) {
      EXPECT_LE(doc.error().offset, bytes.size());
      EXPECT_FALSE(doc.error().text.empty());
    } else {
      const auto out = write(*doc);
      ASSERT_TRUE(out) << to_string(out.error());
      EXPECT_TRUE(*out == bytes);
    }
  }
  EXPECT_LT(peak_bytes() - before, memory_limit);
}

template <class Read, class Write>
void sweep_flips(const dopesheet::Bytes& bytes, Read read, Write write, std::size_t stride = 1) {
  dopesheet::Bytes flipped = bytes;
  for (std::size_t i = 0; i < bytes.size(); i += stride) {
    for (const unsigned mask : {0xffU, 0x80U, 0x01U}) {
      if (mask != 0xff && bytes.size() > 8192 && i % 8 != 0)
        continue;  // single bits of large files
      flipped[i] = bytes[i] ^ static_cast<std::byte>(mask);
      expect_refused_or_exact(flipped, read, write);
      if (testing::Test::HasFailure()) FAIL() << "byte " << i << " with mask " << mask;
    }
    flipped[i] = bytes[i];
  }
}

// `needed`: the length without bytes that no record claims at the end; shorter prefixes must be refused.
template <class Read, class Write>
void sweep_prefixes(const dopesheet::Bytes& bytes, std::size_t needed, Read read, Write write) {
  for (std::size_t n = 0; n < bytes.size(); ++n) {
    const dopesheet::Bytes prefix(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(n));
    expect_refused_or_exact(prefix, read, write);
    EXPECT_TRUE(n >= needed || !read(prefix)) << n << " of " << needed;
    if (testing::Test::HasFailure()) FAIL() << "prefix of " << n;
  }
}

}  // namespace support
