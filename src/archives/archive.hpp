// What the kinds of archives share.
#pragma once
#include "dopesheet/archives.hpp"
#include "dopesheet/io.hpp"

namespace dopesheet::archives {

const Kind& afs_kind();
const Kind& ipac_kind();
const Kind& totemtech_kind();
const Kind& vpp_kind();
const Kind& zouna_kind();

inline tl::unexpected<Error> fail(Code code, std::uint64_t offset, std::string path,
                                  std::string text) {
  return tl::unexpected(Error{code, offset, std::move(path), std::move(text)});
}

// A record at an offset, which must end before `end`.
template <io::Packed T>
Result<T> load(const Source& in, std::endian order, std::uint64_t offset, std::uint64_t end,
               const char* path) {
  std::array<std::byte, T::wire_size> bytes{};
  const auto bad = [&](Error e) {
    e.path = path;
    return tl::unexpected(std::move(e));
  };
  if (offset > end || T::wire_size > end - offset) return bad(outside(offset, T::wire_size, end));
  if (const auto done = in.read(offset, bytes); !done) return bad(done.error());
  io::Reader reader(bytes, order);
  T out;
  reader("", out);
  return out;
}

template <io::Packed T>
void store(Bytes& out, std::size_t offset, std::endian order, const T& v) {
  io::Writer writer(order);
  writer("", v);
  const auto bytes = writer.take();  // of packed records it cannot fail
  std::copy(bytes->begin(), bytes->end(), out.begin() + static_cast<std::ptrdiff_t>(offset));
}

struct U32 {
  std::uint32_t value = 0;
  static constexpr std::size_t wire_size = 4;
  static constexpr void fields(auto& ar, auto& v) { ar("value", v.value); }
};

constexpr std::uint64_t round_up(std::uint64_t n, std::uint64_t unit) {
  return (n + unit - 1) / unit * unit;
}

inline void append(Bytes& out, ByteView bytes) {
  out.insert(out.end(), bytes.begin(), bytes.end());
}

// What becomes of each entry.
struct Plan {
  std::vector<const Bytes*> replaced;  // null: kept
  std::vector<bool> removed;
  std::vector<const Edit*> added;
  bool touches(const Part& part) const;
};
// Refuses edits of entries that do not exist, and two edits of one entry.
Result<Plan> plan(const Directory& directory, std::span<const Edit> edits);

}  // namespace dopesheet::archives
