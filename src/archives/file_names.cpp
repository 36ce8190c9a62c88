// Names of entries as names of files.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "dopesheet/archives.hpp"
#include "io/text.hpp"

namespace dopesheet::archives {
namespace {

constexpr std::size_t longest = 120;  // bytes; systems take 255, and something may be added

std::string upper(std::string_view text) {
  std::string out(text);
  for (char& c : out) c = c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return out;
}

// Windows opens devices under these names, whatever the extension.
bool is_device(std::string_view name) {
  const std::string stem = upper(name.substr(0, name.find('.')));
  for (const char* word : {"CON", "PRN", "AUX", "NUL", "CONIN$", "CONOUT$"}) {
    if (stem == word) return true;
  }
  return stem.size() == 4 && (stem.starts_with("COM") || stem.starts_with("LPT")) &&
         stem[3] >= '0' && stem[3] <= '9';
}

std::string plain(std::string_view name) {
  std::string out = io::escape_bytes(name);
  for (char& c : out) {
    // Beyond ASCII, systems do not agree on which letters are one letter.
    if (static_cast<unsigned char>(c) >= 0x80 ||
        std::string_view("/\\:*?\"<>|").find(c) != std::string_view::npos)
      c = '_';
  }
  if (out.size() > longest) {
    const auto dot = out.rfind('.');
    const std::string extension =
        dot != out.npos && out.size() - dot <= 16 ? out.substr(dot) : std::string();
    out = out.substr(0, longest - extension.size()) + extension;
  }
  if (out.empty()) return "_";
  for (char* c : {&out.front(), &out.back()}) {
    if (*c == '.' || *c == ' ') *c = '_';
  }
  return is_device(out) ? "_" + out : out;
}

}  // namespace

FileNames::FileNames() : used_{"MANIFEST.JSON"} {}

std::string FileNames::add(std::string_view name) {
  const std::string first = plain(name);
  std::string out = first;
  for (int& n = next_.try_emplace(upper(first), 2).first->second; !used_.insert(upper(out)).second;
       ++n) {
    const auto dot = first.rfind('.');
    const std::size_t at = dot == first.npos || dot == 0 ? first.size() : dot;
    out = fmt::format("{}~{}{}", first.substr(0, at), n, first.substr(at));
  }
  return out;
}

}  // namespace dopesheet::archives
