// Names that files keep only as 32-bit hashes.
#pragma once
#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>

#include "dopesheet/error.hpp"

namespace dopesheet {

enum class NameHash : std::uint8_t {
  totemtech,  // CRC-32/IEEE of the name with A to Z in place of a to z
  zouna,  // Asobo's: a table of the polynomial 0x04C11DB7 that is used right-shifting, lower case
};

// The hash of a name's bytes; 0 for an empty name. Only ASCII letters are folded.
std::uint32_t hash_name(NameHash hash, std::string_view name);

// "#XXXXXXXX", which is how a hash without a known name is shown, and the way back.
std::string hash_text(std::uint32_t hash);
std::optional<std::uint32_t> parse_hash_text(std::string_view text);

// What hashes stand for.
class Names {
 public:
  // Under both hashes. The first of several names of one hash is kept.
  void add(std::string_view name);
  // Under this very hash, whatever the name's own would be.
  void add(std::uint32_t hash, std::string_view name);
  // A text file: lines of `<signed decimal> "<name>"` as .NGC, .NPS and .NPC files have them, or one name
  // a line. Blank lines are skipped; a byte of zero ends the text. Windows-1252 bytes are kept as they
  // are. Fails with Code::limit beyond limits.keys names.
  Result<void> read(ByteView text, const Limits& limits = {});

  std::optional<std::string_view> find(NameHash hash, std::uint32_t value) const;
  // The name, or hash_text.
  std::string of(NameHash hash, std::uint32_t value) const;
  std::size_t size() const { return tables_[0].size(); }

 private:
  std::array<std::unordered_map<std::uint32_t, std::string>, 2> tables_;
};

}  // namespace dopesheet
