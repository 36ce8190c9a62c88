// Findings: what a format's checker has to say about a file that reads.
#pragma once
#include <string_view>

#include "dopesheet/error.hpp"
#include "dopesheet/model.hpp"

namespace dopesheet {

enum class Level : std::uint8_t { note, warning, error };
const char* name(Level level);

struct Finding {
  std::string code;  // "rfa-weight-range"; stable, listed in docs/formats
  Level level = Level::warning;
  std::string path;  // "bones[2].rotation_keys[7].time"
  std::string text;  // what is there, and what the game will do with it
};

}  // namespace dopesheet
