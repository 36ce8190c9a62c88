// bytes <-> document. Games: Red Faction (2001).
#include "dopesheet/rfa.hpp"

#include <fmt/format.h>

#include "io/dump.hpp"
#include "io/json.hpp"

namespace dopesheet::rfa {

Result<File> read(ByteView in, const Limits& limits) { return io::read<File>(in, limits); }
Result<Bytes> write(const File& file) {
  io::Writer w;
  std::size_t size = 0x50;
  for (const Bone& b : file.bones)
    size += 12 + 16 * b.rotation_keys.size() + 40 * b.position_keys.size();
  w.reserve(size);
  File::fields(w, file);
  return w.take();
}

std::vector<Loss> layout(File& file) {
  std::vector<Loss> losses;
  for (std::size_t i = 0; i < file.gaps.size(); ++i) {
    const Bytes& b = file.gaps[i].bytes;
    if (std::any_of(b.begin(), b.end(), [](std::byte x) { return x != std::byte{0}; })) {
      losses.push_back({fmt::format("gaps[{}]", i),
                        fmt::format("{} bytes at {} that belong to no record are dropped", b.size(),
                                    file.gaps[i].offset)});
    }
  }
  file.bone_offsets.resize(file.bones.size());
  io::layout(file);
  return losses;
}

std::string dump(const File& file) { return io::dump(file); }
std::string to_json(const File& file) { return io::to_json(file, "rfa"); }
Result<File> from_json(std::string_view json, const Limits& limits) {
  return io::from_json<File>(json, "rfa", limits);
}

}  // namespace dopesheet::rfa
