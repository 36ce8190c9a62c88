// Writes an example character and three clips: walker.v3c, walker_walk.rfa, walker_wave.rfa,
// walker_talk.rfa. The same bytes on every machine.
//   make_character OUTDIR
#include <cstdio>
#include <fstream>

#include "character.hpp"

namespace {

using namespace dopesheet;

int fail(const std::string& text) {
  std::fprintf(stderr, "make_character: %s\n", text.c_str());
  return 1;
}

bool save(const std::string& path, const Result<Bytes>& bytes) {
  if (!bytes) {
    fail(path + ": " + to_string(bytes.error()));
    return false;
  }
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes->data()),
            static_cast<std::streamsize>(bytes->size()));
  if (!out.flush()) {
    fail(path + ": cannot write it");
    return false;
  }
  std::printf("%s: %zu bytes\n", path.c_str(), bytes->size());
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 2) return fail("usage: make_character OUTDIR");
  const std::string folder = std::string(argv[1]) + "/";
  const auto skeleton = example::skeleton();
  if (!save(folder + "walker.v3c", v3c::write(example::mesh(skeleton)))) return 1;
  for (const auto make : {example::walk, example::wave, example::talk}) {
    const auto animation = make(skeleton);
    if (!animation) return fail(to_string(animation.error()));
    if (!save(folder + animation->name + ".rfa", rfa::write(animation->file))) return 1;
  }
  return 0;
}
