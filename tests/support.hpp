// What the tests share: where the data is, and how to read it.
#pragma once
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "dopesheet/error.hpp"

namespace support {

using Json = nlohmann::json;

inline std::string environment(const char* name) {
  const char* v = std::getenv(name);
  return v != nullptr ? v : "";
}

// The fixtures that tests/data/make.py and reference.py made.
inline std::string fixture_dir() { return environment("DOPESHEET_FIXTURES"); }
inline std::string fixture(const std::string& name) { return fixture_dir() + "/" + name; }

// Real game data, which the project does not ship: $DOPESHEET_SAMPLES, else ../shared/samples.
inline std::optional<std::string> samples_dir() {
  std::string dir = environment("DOPESHEET_SAMPLES");
  if (dir.empty()) dir = environment("DOPESHEET_SOURCE") + "/../shared/samples";
  if (!std::filesystem::is_directory(dir)) return {};
  return dir;
}

inline std::string read_text(const std::string& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in.good()) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}
inline dopesheet::Bytes read_bytes(const std::string& path) {
  const std::string s = read_text(path);
  const auto* p = reinterpret_cast<const std::byte*>(s.data());
  return {p, p + s.size()};
}
inline Json read_json(const std::string& path) { return Json::parse(read_text(path)); }

// The files of index.json of one of the kinds "rfa", "v3c", "v3m".
inline std::vector<std::string> fixtures(const std::string& kind) {
  std::vector<std::string> out;
  for (const auto& entry : read_json(fixture("index.json"))) {
    if (entry.at("kind") == kind) out.push_back(entry.at("file"));
  }
  return out;
}

}  // namespace support
