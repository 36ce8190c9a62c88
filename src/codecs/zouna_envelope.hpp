// What stands in front of every Zouna resource, told apart by content.
#pragma once
#include "dopesheet/zouna.hpp"

namespace dopesheet::zouna {

inline std::uint32_t word(ByteView in, std::size_t at, std::endian order) {
  return order != std::endian::native ? io::detail::load<std::uint32_t, true>(in.data() + at)
                                      : io::detail::load<std::uint32_t, false>(in.data() + at);
}

// The flavour, byte order and link header of a resource of this class; nothing where there is no header
// of it. Choices that the bytes contradict count as no header.
std::optional<Detection> headed(ByteView in, std::uint32_t class_id, const Choices& choices);

Envelope blank(const Detection& d, std::uint32_t class_id);

// The sizes in the headers for a body of so many bytes.
void layout(Envelope& e, std::size_t body_size);

}  // namespace dopesheet::zouna
