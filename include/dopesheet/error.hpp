// What every fallible call of dopesheet returns, and the limits that keep hostile input small.
#pragma once
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <tl/expected.hpp>
#include <vector>

namespace dopesheet {

enum class Code : std::uint8_t {
  usage,             // the caller asked for something that makes no sense
  cannot_read,       // the file system said no
  truncated,         // the input ends inside a field
  bad_magic,         // not this format
  bad_version,       // this format, but a version that nobody has documented
  bad_value,         // a field contradicts the bytes around it
  bad_document,      // a document contradicts itself and cannot become bytes
  limit,             // the input is larger than Limits allows
  cannot_represent,  // the target format has no room for it
  cannot_write,      // the file system said no
};

// The short name of a code: "truncated", "bad magic", ...
const char* name(Code code);

struct Error {
  Code code = Code::bad_value;
  std::uint64_t offset = 0;  // bytes from the start of the input; 0 where the input has no bytes
  std::string path;          // "bones[2].rotation_keys[7].time"; empty for the whole input
  std::string text;          // plain words
  std::string file = {};     // as the user named it; empty inside the library
};

// "walk.rfa: at byte 116 (0x74), bones[0].weight: needs 4 bytes, 2 left".
std::string to_string(const Error& error);

template <class T>
using Result = tl::expected<T, Error>;

// Something the target could not hold, or that had to be changed to fit.
struct Loss {
  std::string path;
  std::string text;
};

struct Limits {
  std::size_t bytes = std::size_t{1} << 30;  // of one input
  std::size_t nodes = 65536;
  std::size_t keys = std::size_t{1} << 26;
  std::size_t depth = 64;  // nesting of JSON
};

using Bytes = std::vector<std::byte>;
using ByteView = std::span<const std::byte>;

}  // namespace dopesheet
