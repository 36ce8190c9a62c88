// LZRS: two little-endian sizes on every platform, the result's and the blob's, then groups of a
// big-endian word of flags and what 30 of its bits say: a byte, or a pair of distance and length. The
// word's low two bits are the size class of the group: wide distances or long matches.
#include "archives/lzrs.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "archives/archive.hpp"

namespace dopesheet::archives {
namespace {

constexpr std::size_t header_size = 8;
constexpr unsigned group_size = 30;
constexpr std::size_t least_match = 3;

struct SizeClass {
  unsigned level;
  std::size_t window() const { return (0x3FFFU >> level) + 1; }
  std::size_t longest() const { return (0xFFFFU >> (14 - level)) + least_match; }
};

std::uint32_t le32(ByteView in, std::size_t at) {
  return io::detail::load<std::uint32_t, std::endian::native == std::endian::big>(in.data() + at);
}
std::uint32_t be32(ByteView in, std::size_t at) {
  return io::detail::load<std::uint32_t, std::endian::native == std::endian::little>(in.data() +
                                                                                     at);
}

// Where text like the one ahead was seen last: chains through equal hashes of three bytes.
class Matcher {
 public:
  explicit Matcher(ByteView in)
      : in_(in), heads_(std::size_t{1} << bits, none), before_(in.size()) {}

  struct Match {
    std::size_t distance = 0, length = 0;
  };
  Match best(std::size_t at, SizeClass size) const {
    Match m;
    if (in_.size() - at < least_match) return m;
    const std::size_t most = std::min(size.longest(), in_.size() - at);
    std::size_t from = heads_[hash(at)];
    for (int tries = 0; from != none && at - from <= size.window() && tries < 64; ++tries) {
      std::size_t n = 0;
      while (n < most && in_[from + n] == in_[at + n]) ++n;
      if (n > m.length) m = {at - from, n};
      if (n == most) break;
      from = before_[from];
    }
    return m.length >= least_match ? m : Match{};
  }
  void add(std::size_t at) {
    if (in_.size() - at < least_match) return;
    const std::size_t h = hash(at);
    before_[at] = heads_[h];
    heads_[h] = at;
  }

 private:
  static constexpr unsigned bits = 14;
  static constexpr std::size_t none = SIZE_MAX;

  std::size_t hash(std::size_t at) const {
    const auto byte = [&](std::size_t k) { return static_cast<std::uint32_t>(in_[at + k]); };
    return ((byte(0) | byte(1) << 8U | byte(2) << 16U) * 0x9E3779B1U) >> (32 - bits);
  }

  ByteView in_;
  std::vector<std::size_t> heads_, before_;
};

void put32(Bytes& out, std::size_t at, std::uint32_t v, bool big) {
  for (unsigned k = 0; k < 4; ++k)
    out[at + k] = static_cast<std::byte>(v >> (8 * (big ? 3 - k : k)) & 0xFFU);
}

Bytes pack_at(ByteView in, SizeClass size) {
  Bytes out(header_size);
  Matcher matcher(in);
  for (std::size_t at = 0; at < in.size();) {
    const std::size_t flags_at = out.size();
    out.resize(flags_at + 4);
    std::uint32_t flags = size.level;
    for (unsigned k = 0; k < group_size && at < in.size(); ++k) {
      const auto m = matcher.best(at, size);
      if (m.length == 0) {
        matcher.add(at);
        out.push_back(in[at++]);
        continue;
      }
      flags |= 0x80000000U >> k;
      const auto pair = static_cast<std::uint32_t>((m.length - least_match) << (14 - size.level) |
                                                   (m.distance - 1));
      out.push_back(static_cast<std::byte>(pair >> 8U));
      out.push_back(static_cast<std::byte>(pair & 0xFFU));
      for (std::size_t n = 0; n < m.length; ++n) matcher.add(at++);
    }
    put32(out, flags_at, flags, true);
  }
  put32(out, 0, static_cast<std::uint32_t>(in.size()), false);
  put32(out, 4, static_cast<std::uint32_t>(out.size()), false);
  return out;
}

}  // namespace

Result<Bytes> lzrs_unpack(ByteView in, std::size_t size) {
  if (in.size() < header_size) return tl::unexpected(outside(in.size(), header_size, in.size()));
  if (le32(in, 0) != size || le32(in, 4) != in.size()) {
    return fail(Code::bad_value, 0, "lzrs",
                fmt::format("says {} bytes from {}, the archive says {} from {}", le32(in, 0),
                            le32(in, 4), size, in.size()));
  }
  // Two bytes give at most 34.
  if (size / 17 > in.size())
    return fail(Code::bad_value, 0, "lzrs", fmt::format("cannot unpack to {} bytes", size));
  Bytes out;
  out.reserve(size);
  std::size_t at = header_size;
  const auto need = [&](std::size_t n) { return n <= in.size() - at; };
  const auto truncated = [&] {
    return fail(Code::truncated, at, "lzrs",
                fmt::format("ends after {} of {} bytes", out.size(), size));
  };
  while (out.size() < size) {
    if (!need(4)) return truncated();
    const std::uint32_t flags = be32(in, at);
    at += 4;
    const SizeClass sizes{flags & 3U};
    for (unsigned k = 0; k < group_size && out.size() < size; ++k) {
      if ((flags & 0x80000000U >> k) == 0) {
        if (!need(1)) return truncated();
        out.push_back(in[at++]);
        continue;
      }
      if (!need(2)) return truncated();
      const auto pair =
          static_cast<std::uint32_t>(in[at]) << 8U | static_cast<std::uint32_t>(in[at + 1]);
      const std::size_t distance = (pair & (sizes.window() - 1)) + 1;
      const std::size_t length = (pair >> (14 - sizes.level)) + least_match;
      if (distance > out.size())
        return fail(Code::bad_value, at, "lzrs", "a copy from before the start");
      if (length > size - out.size())
        return fail(Code::bad_value, at, "lzrs", "a copy beyond the end");
      at += 2;
      for (std::size_t n = 0; n < length; ++n) out.push_back(out[out.size() - distance]);
    }
  }
  return out;
}

Bytes lzrs_pack(ByteView bytes) {
  Bytes best = pack_at(bytes, {0});
  for (const unsigned level : {1U, 2U, 3U}) {
    Bytes other = pack_at(bytes, {level});
    if (other.size() < best.size()) best = std::move(other);
  }
  return best;
}

}  // namespace dopesheet::archives
