#include "dopesheet/names.hpp"

#include <fmt/format.h>

#include <charconv>

namespace dopesheet {
namespace {

using Table = std::array<std::uint32_t, 256>;

// CRC-32/IEEE: reflected.
constexpr Table ieee = [] {
  Table t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i;
    for (int k = 0; k < 8; ++k) c = (c & 1U) != 0 ? (c >> 1U) ^ 0xEDB88320U : c >> 1U;
    t[i] = c;
  }
  return t;
}();
// Asobo's: the table of the unreflected CRC, most significant bit first.
constexpr Table asobo = [] {
  Table t{};
  for (std::uint32_t i = 0; i < 256; ++i) {
    std::uint32_t c = i << 24U;
    for (int k = 0; k < 8; ++k) c = (c & 0x80000000U) != 0 ? (c << 1U) ^ 0x04C11DB7U : c << 1U;
    t[i] = c;
  }
  return t;
}();

std::uint8_t upper(char c) {
  return static_cast<std::uint8_t>(c >= 'a' && c <= 'z' ? c - 'a' + 'A' : c);
}
std::uint8_t lower(char c) {
  return static_cast<std::uint8_t>(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

// `<signed decimal> "<name>"`
std::optional<std::pair<std::uint32_t, std::string_view>> entry_of(std::string_view line) {
  std::int64_t id = 0;
  const auto [stop, bad] = std::from_chars(line.data(), line.data() + line.size(), id);
  if (bad != std::errc{} || id < INT32_MIN || id > UINT32_MAX) return std::nullopt;
  line.remove_prefix(static_cast<std::size_t>(stop - line.data()));
  if (!line.starts_with(" \"") || line.size() < 3 || !line.ends_with('"')) return std::nullopt;
  return std::pair(static_cast<std::uint32_t>(id), line.substr(2, line.size() - 3));
}

}  // namespace

std::uint32_t hash_name(NameHash hash, std::string_view name) {
  if (hash == NameHash::zouna) {
    std::uint32_t h = 0;
    for (const char c : name) h = (h >> 8U) ^ asobo[(h ^ lower(c)) & 0xFFU];
    return h;
  }
  std::uint32_t h = ~0U;
  for (const char c : name) h = (h >> 8U) ^ ieee[(h ^ upper(c)) & 0xFFU];
  return ~h;
}

std::string hash_text(std::uint32_t hash) { return fmt::format("#{:08X}", hash); }

std::optional<std::uint32_t> parse_hash_text(std::string_view text) {
  std::uint32_t value = 0;
  if (text.size() != 9 || text[0] != '#') return std::nullopt;
  const auto [stop, bad] = std::from_chars(text.data() + 1, text.data() + 9, value, 16);
  if (bad != std::errc{} || stop != text.data() + 9) return std::nullopt;
  return value;
}

void Names::add(std::string_view name) {
  for (const auto hash : {NameHash::totemtech, NameHash::zouna})
    tables_[static_cast<std::size_t>(hash)].try_emplace(hash_name(hash, name), name);
}

void Names::add(std::uint32_t hash, std::string_view name) {
  for (auto& table : tables_) table.try_emplace(hash, name);
}

Result<void> Names::read(ByteView text, const Limits& limits) {
  std::string_view rest(reinterpret_cast<const char*>(text.data()), text.size());
  rest = rest.substr(0, rest.find('\0'));
  while (!rest.empty()) {
    const auto end = rest.find('\n');
    std::string_view line = rest.substr(0, end);
    rest = end == rest.npos ? std::string_view{} : rest.substr(end + 1);
    if (line.ends_with('\r')) line.remove_suffix(1);
    if (line.empty()) continue;
    if (size() >= limits.keys) {
      return tl::unexpected(
          Error{Code::limit, 0, "names", fmt::format("more than {} names", limits.keys)});
    }
    if (const auto entry = entry_of(line)) {
      add(entry->first, entry->second);
    } else {
      add(line);
    }
  }
  return {};
}

std::optional<std::string_view> Names::find(NameHash hash, std::uint32_t value) const {
  const auto& table = tables_[static_cast<std::size_t>(hash)];
  const auto at = table.find(value);
  if (at == table.end()) return std::nullopt;
  return at->second;
}

std::string Names::of(NameHash hash, std::uint32_t value) const {
  const auto name = find(hash, value);
  return name ? std::string(*name) : hash_text(value);
}

}  // namespace dopesheet
