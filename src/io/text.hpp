// Numbers, bytes and names as text, so that they read back exactly, in every locale.
#pragma once
#include <optional>
#include <string_view>

#include "dopesheet/error.hpp"

namespace dopesheet::io {

// The shortest decimal that reads back to the same number; "-0.0" keeps its point, since JSON parsers
// take "-0" for the integer. Non-finite numbers: "f32:7fc00000", "f64:7ff8000000000000".
std::string float_text(float v);
std::string float_text(double v);
// The reverse, of the tagged form only.
std::optional<float> tagged_float(std::string_view text);
std::optional<double> tagged_double(std::string_view text);

std::string to_hex(ByteView bytes);
std::optional<Bytes> from_hex(std::string_view text);

// Bytes as UTF-8: valid printable UTF-8 stays, everything else and the backslash become \xNN.
std::string escape_bytes(std::string_view bytes);
std::optional<std::string> unescape_bytes(std::string_view text);
std::string_view trim_zeros(std::string_view text);  // without zeros at the end
std::string_view until_zero(std::string_view text);  // up to the first zero

// Whether a name fits a pattern: * stands for any bytes, ? for one.
bool matches(std::string_view pattern, std::string_view name);

// A JSON string literal, quotes included. `utf8` must be valid UTF-8.
std::string json_string(std::string_view utf8);

}  // namespace dopesheet::io
