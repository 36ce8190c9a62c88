// Runs a harness without libFuzzer, over the files, and the files of the folders, of the command line.
#include <algorithm>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

namespace fs = std::filesystem;

int main(int argc, char** argv) {
  std::vector<fs::path> paths;
  for (const fs::path argument : std::vector<std::string>(argv + 1, argv + argc)) {
    if (!fs::is_directory(argument)) {
      paths.push_back(argument);
      continue;
    }
    for (const auto& entry : fs::recursive_directory_iterator(argument))
      if (entry.is_regular_file()) paths.push_back(entry.path());
  }
  std::sort(paths.begin(), paths.end());

  for (const fs::path& path : paths) {
    std::ifstream file(path, std::ios::binary);
    if (!file) {
      std::fprintf(stderr, "cannot read %s\n", path.c_str());
      return 1;
    }
    const std::vector<char> bytes{std::istreambuf_iterator<char>(file), {}};
    std::printf("%s\n", path.c_str());
    std::fflush(stdout);  // the last line names the input that crashed
    LLVMFuzzerTestOneInput(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
  }
  if (paths.empty()) std::fprintf(stderr, "no input files\n");
  return paths.empty() ? 1 : 0;
}
