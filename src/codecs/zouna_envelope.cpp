#include "zouna_envelope.hpp"

#include <fmt/format.h>

namespace dopesheet::zouna {
namespace {

constexpr std::size_t bff_start = 6;  // magic and size

// The version that a BFF header tells, as far as it decides about link headers.
std::optional<std::pair<unsigned, unsigned>> version_of(ByteView in) {
  const auto byte = [&](std::size_t at) { return std::to_integer<unsigned>(in[at]); };
  if (byte(7) != 0 || (byte(4) | byte(5) << 8U) < 10) return std::nullopt;
  return std::pair(byte(8) | byte(9) << 8U, byte(10) | byte(11) << 8U);
}

Links links_of(ByteView in, std::size_t at, std::endian order,
               std::optional<std::pair<unsigned, unsigned>> version) {
  const std::uint32_t size = word(in, at + 4, order);
  if (size < 4) return Links::none;
  if (size < 8 || (version && *version >= std::pair(1U, 381U))) return Links::name;
  if (in.size() < at + Header::wire_size + 8) return Links::name;
  const std::uint64_t n = word(in, at + Header::wire_size + 4, order);
  return 8 + 4 * n <= size ? Links::list : Links::name;
}

}  // namespace

const char* name(Flavour flavour) {
  switch (flavour) {
    case Flavour::bare:
      return "bare";
    case Flavour::resource:
      return "resource";
    case Flavour::bff:
      return "bff";
  }
  return "unknown";
}
const char* name(Links links) {
  switch (links) {
    case Links::none:
      return "none";
    case Links::name:
      return "name";
    case Links::list:
      return "list";
  }
  return "unknown";
}

std::endian BffHeader::platform_order() const {
  switch (platform) {
    case 3:   // Mac, PowerPC
    case 5:   // PS3
    case 10:  // Xbox 360
    case 12:  // GameCube
    case 13:  // Wii
      return std::endian::big;
    default:
      return std::endian::little;
  }
}

std::optional<Detection> headed(ByteView in, std::uint32_t class_id, const Choices& choices) {
  const bool magic = in.size() > bff_start && std::memcmp(in.data(), "BFF0", 4) == 0;
  const Flavour flavour = choices.flavour.value_or(magic ? Flavour::bff : Flavour::resource);
  if (flavour == Flavour::bare || (flavour == Flavour::bff && !magic)) return std::nullopt;
  std::size_t at = 0;
  if (flavour == Flavour::bff) {
    const auto size = std::to_integer<std::size_t>(in[4]) | std::to_integer<std::size_t>(in[5])
                                                                << 8U;
    at = (bff_start + std::max<std::size_t>(size, 2) + 15) / 16 * 16;
  }
  if (in.size() < at + Header::wire_size) return std::nullopt;
  for (const auto order : {std::endian::little, std::endian::big}) {
    if (choices.order && *choices.order != order) continue;
    if (word(in, at + 0x10, order) != class_id) continue;
    const auto version = flavour == Flavour::bff ? version_of(in) : std::nullopt;
    return Detection{order, flavour, choices.links.value_or(links_of(in, at, order, version)),
                     false,
                     fmt::format("class {} at byte {:#x}, {}-endian", hash_text(class_id),
                                 at + 0x10, order == std::endian::big ? "big" : "little")};
  }
  return std::nullopt;
}

Envelope blank(const Detection& d, std::uint32_t class_id) {
  Envelope e;
  e.big_endian = d.order == std::endian::big ? 1 : 0;
  e.flavour = static_cast<std::uint8_t>(d.flavour);
  e.links = static_cast<std::uint8_t>(d.links);
  e.header.class_id = class_id;
  return e;
}

void layout(Envelope& e, std::size_t body_size) {
  std::size_t link = e.link_rest.size();
  if (!e.has(Links::none)) link += 4;
  if (e.has(Links::list)) link += 4 + 4 * e.linked.size();
  // Zeros behind the links are not kept as bytes, but counted: they stay where they still fit.
  const bool grown = link > e.header.link_size || !e.link_rest.empty();
  if (grown) e.header.link_size = static_cast<std::uint32_t>(link);
  e.header.body_size = static_cast<std::uint32_t>(body_size);
  e.header.data_size = static_cast<std::uint32_t>(e.header.link_size + body_size);
  e.header.packed_size = 0;
}

}  // namespace dopesheet::zouna
