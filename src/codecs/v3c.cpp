// bytes <-> document. Games: Red Faction (2001).
#include "dopesheet/v3c.hpp"

#include "io/dump.hpp"
#include "io/json.hpp"

namespace dopesheet::v3c {

Result<File> read(ByteView in, const Limits& limits) { return io::read<File>(in, limits); }
Result<Bytes> write(const File& file) { return io::write(file); }
void layout(File& file) { io::layout(file); }
std::string dump(const File& file) { return io::dump(file); }
std::string to_json(const File& file) { return io::to_json(file, "v3c"); }
Result<File> from_json(std::string_view json, const Limits& limits) {
  return io::from_json<File>(json, "v3c", limits);
}

}  // namespace dopesheet::v3c
