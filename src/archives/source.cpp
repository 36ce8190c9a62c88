#include "dopesheet/source.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

namespace dopesheet {

Error outside(std::uint64_t offset, std::uint64_t size, std::uint64_t available) {
  const std::uint64_t at = std::min(offset, available);
  return {Code::truncated, at, {}, fmt::format("needs {} bytes, {} left", size, available - at)};
}

Result<void> MemorySource::read(std::uint64_t offset, std::span<std::byte> out) const {
  if (offset > view_.size() || out.size() > view_.size() - offset)
    return tl::unexpected(outside(offset, out.size(), view_.size()));
  if (!out.empty()) std::memcpy(out.data(), view_.data() + offset, out.size());
  return {};
}

Result<Bytes> read_bytes(const Source& in, std::uint64_t offset, std::uint64_t size,
                         const Limits& limits) {
  if (offset > in.size() || size > in.size() - offset)
    return tl::unexpected(outside(offset, size, in.size()));
  if (size > limits.bytes) {
    return tl::unexpected(
        Error{Code::limit,
              offset,
              {},
              fmt::format("{} bytes are more than the limit of {}", size, limits.bytes)});
  }
  Bytes out(static_cast<std::size_t>(size));
  const auto done = in.read(offset, out);
  if (!done) return tl::unexpected(done.error());
  return out;
}

}  // namespace dopesheet
