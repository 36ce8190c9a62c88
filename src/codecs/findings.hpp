// A checker's findings: the first ones of each code in full, the rest as a number.
#pragma once
#include <fmt/format.h>

#include <map>

#include "dopesheet/check.hpp"

namespace dopesheet {

class Findings {
 public:
  // `path` and `text` are strings, or functions that make them when they are needed.
  void say(const char* code, Level level, const auto& path, const auto& text) {
    Seen& seen = seen_[code];
    seen.level = std::max(seen.level, level);  // an error among warnings is not hidden
    if (++seen.count <= most_of_a_kind) out_.push_back({code, level, made(path), made(text)});
  }
  std::vector<Finding> take() {
    for (const auto& [code, seen] : seen_) {
      if (seen.count <= most_of_a_kind) continue;
      out_.push_back(
          {code, seen.level, {}, fmt::format("{} more of these", seen.count - most_of_a_kind)});
    }
    return std::move(out_);
  }

 private:
  static constexpr std::size_t most_of_a_kind = 20;
  struct Seen {
    std::size_t count = 0;
    Level level = Level::note;
  };
  static std::string made(const auto& words) {
    if constexpr (std::is_invocable_v<decltype(words)>) {
      return words();
    } else {
      return words;
    }
  }

  std::map<std::string, Seen> seen_;
  std::vector<Finding> out_;
};

}  // namespace dopesheet
