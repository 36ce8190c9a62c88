// Records of Zouna archives, which reading and writing share.
#pragma once
#include "archives/archive.hpp"

namespace dopesheet::archives::zouna {

inline constexpr std::uint64_t sector = 0x800, header_at = 0x100, blocks_at = 0x120,
                               pool_at = 0x720;
inline constexpr std::size_t max_blocks = 64;

struct Header {
  std::uint32_t type = 0;  // 0 for cutscenes, 1 else
  std::uint32_t blocks = 0;
  // The largest padded size + working offset of the blocks at even and at odd places [bff].
  std::array<std::uint32_t, 2> capacity{};
  std::uint32_t padded_size = 0;  // of all blocks
  std::array<std::uint32_t, 3> version{};

  static constexpr std::size_t wire_size = 32;
  static constexpr void fields(auto& ar, auto& v) {
    ar("type", v.type);
    ar("blocks", v.blocks);
    ar("capacity", v.capacity);
    ar("padded_size", v.padded_size);
    ar("version", v.version);
  }
};
static_assert(io::complete<Header>);

struct Block {
  std::uint32_t records = 0;
  std::uint32_t padded_size = 0, data_size = 0;
  std::uint32_t working_offset = 0;  // where the game loads it, so that it can unpack in place
  std::uint32_t first_name = 0;
  std::uint32_t checksum = 0;  // of the data; 0 where there is none

  static constexpr std::size_t wire_size = 24;
  static constexpr void fields(auto& ar, auto& v) {
    ar("records", v.records);
    ar("padded_size", v.padded_size);
    ar("data_size", v.data_size);
    ar("working_offset", v.working_offset);
    ar("first_name", v.first_name);
    ar("checksum", v.checksum);
  }
};
static_assert(io::complete<Block>);

// From version 1.381: bodies apart from their records.
struct Pool {
  std::uint32_t manifest_size = 0, offset = 0;  // in sectors, offset from the start of the file
  std::array<std::uint32_t, 2> unused{};
  std::uint32_t capacity = 0;              // sectors of the largest unpacked body
  std::array<std::uint32_t, 2> padding{};  // bytes of filler in the blocks, and in the pool
  std::uint32_t file_size = 0;

  static constexpr std::size_t wire_size = 32;
  static constexpr void fields(auto& ar, auto& v) {
    ar("manifest_size", v.manifest_size);
    ar("offset", v.offset);
    ar("unused", v.unused);
    ar("capacity", v.capacity);
    ar("padding", v.padding);
    ar("file_size", v.file_size);
  }
  bool present() const { return offset != 0 && offset != UINT32_MAX; }
};
static_assert(io::complete<Pool>);

struct Record {
  std::uint32_t data_size = 0;  // what follows: the link header and the body as stored
  std::uint32_t link_size = 0;
  std::uint32_t unpacked = 0, packed = 0;  // of the body; packed 0: it is stored as it is
  std::uint32_t type = 0, id = 0;

  static constexpr std::size_t wire_size = 24;
  static constexpr void fields(auto& ar, auto& v) {
    ar("data_size", v.data_size);
    ar("link_size", v.link_size);
    ar("unpacked", v.unpacked);
    ar("packed", v.packed);
    ar("type", v.type);
    ar("id", v.id);
  }
  std::uint32_t body() const { return packed != 0 ? packed : unpacked; }
  bool sound() const { return std::uint64_t{link_size} + body() == data_size; }
};
static_assert(io::complete<Record>);

// Whether archives of this version keep bodies in a pool; nothing where the version is not documented.
std::optional<bool> has_pool(std::string_view version);

Result<Bytes> read(const Source& in, const Directory& d, std::size_t entry, const Limits& limits);
Result<Rewritten> rewrite(const Source& in, const Directory& d, std::span<const Edit> edits,
                          const Limits& limits);

}  // namespace dopesheet::archives::zouna
