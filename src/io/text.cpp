#include "io/text.hpp"

#include <fmt/format.h>

#include <bit>
#include <charconv>
#include <cmath>
#include <iterator>

namespace dopesheet::io {
namespace {

template <class T, class Word>
std::string text_of(T v, const char* tag) {
  if (!std::isfinite(v))
    return fmt::format("{}:{:0{}x}", tag, std::bit_cast<Word>(v), 2 * sizeof v);
  char b[40];
  const auto end = std::to_chars(b, b + sizeof b, v).ptr;
  std::string out(b, end);
  if (out == "-0") out = "-0.0";  // JSON parsers take "-0" for the integer 0
  return out;
}

template <class T, class Word>
std::optional<T> tagged(std::string_view text, std::string_view tag) {
  if (text.size() != tag.size() + 2 * sizeof(T) || !text.starts_with(tag)) return {};
  Word w = 0;
  const char* end = text.data() + text.size();
  if (std::from_chars(text.data() + tag.size(), end, w, 16).ptr != end) return {};
  return std::bit_cast<T>(w);
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

// The length of the well-formed UTF-8 sequence at the start of s, 0 if there is none.
std::size_t utf8_length(std::string_view s) {
  const auto at = [&](std::size_t i) { return static_cast<unsigned char>(s[i]); };
  const unsigned c = at(0);
  const std::size_t n = c < 0x80                ? 1
                        : c >= 0xc2 && c < 0xe0 ? 2
                        : c >= 0xe0 && c < 0xf0 ? 3
                        : c >= 0xf0 && c < 0xf5 ? 4
                                                : 0;
  if (n == 0 || n > s.size()) return 0;
  for (std::size_t i = 1; i < n; ++i) {
    if ((at(i) & 0xc0) != 0x80) return 0;
  }
  if (n == 3 && ((c == 0xe0 && at(1) < 0xa0) || (c == 0xed && at(1) > 0x9f))) return 0;
  if (n == 4 && ((c == 0xf0 && at(1) < 0x90) || (c == 0xf4 && at(1) > 0x8f))) return 0;
  return n;
}

}  // namespace

std::string float_text(float v) { return text_of<float, std::uint32_t>(v, "f32"); }
std::string float_text(double v) { return text_of<double, std::uint64_t>(v, "f64"); }
std::optional<float> tagged_float(std::string_view t) {
  return tagged<float, std::uint32_t>(t, "f32:");
}
std::optional<double> tagged_double(std::string_view t) {
  return tagged<double, std::uint64_t>(t, "f64:");
}

std::string to_hex(ByteView bytes) {
  std::string out;
  out.reserve(bytes.size() * 2);
  for (const std::byte b : bytes) {
    out += "0123456789abcdef"[static_cast<unsigned>(b) >> 4];
    out += "0123456789abcdef"[static_cast<unsigned>(b) & 15];
  }
  return out;
}

std::optional<Bytes> from_hex(std::string_view text) {
  if (text.size() % 2 != 0) return {};
  Bytes out;
  out.reserve(text.size() / 2);
  for (std::size_t i = 0; i < text.size(); i += 2) {
    const int hi = hex_digit(text[i]), lo = hex_digit(text[i + 1]);
    if (hi < 0 || lo < 0) return {};
    out.push_back(static_cast<std::byte>(hi * 16 + lo));
  }
  return out;
}

std::string escape_bytes(std::string_view bytes) {
  std::string out;
  for (std::size_t i = 0; i < bytes.size();) {
    const std::size_t n = utf8_length(bytes.substr(i));
    const auto c = static_cast<unsigned char>(bytes[i]);
    if (n == 0 || (n == 1 && (c < 0x20 || c == 0x7f || c == '\\'))) {
      fmt::format_to(std::back_inserter(out), "\\x{:02x}", c);
      ++i;
    } else {
      out += bytes.substr(i, n);
      i += n;
    }
  }
  return out;
}

std::optional<std::string> unescape_bytes(std::string_view text) {
  std::string out;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\\') {
      out += text[i];
      continue;
    }
    if (i + 3 >= text.size() || text[i + 1] != 'x') return {};
    const int hi = hex_digit(text[i + 2]), lo = hex_digit(text[i + 3]);
    if (hi < 0 || lo < 0) return {};
    out += static_cast<char>(hi * 16 + lo);
    i += 3;
  }
  return out;
}

std::string_view trim_zeros(std::string_view text) {
  while (!text.empty() && text.back() == '\0') text.remove_suffix(1);
  return text;
}
std::string_view until_zero(std::string_view text) { return text.substr(0, text.find('\0')); }

std::string json_string(std::string_view utf8) {
  std::string out = "\"";
  for (const char c : utf8) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      fmt::format_to(std::back_inserter(out), "\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

bool matches(std::string_view pattern, std::string_view name) {
  std::size_t p = 0, n = 0, star = std::string_view::npos, from = 0;
  while (n < name.size()) {
    if (p < pattern.size() && (pattern[p] == '?' || pattern[p] == name[n]) && pattern[p] != '*') {
      ++p;
      ++n;
    } else if (p < pattern.size() && pattern[p] == '*') {
      star = p++;
      from = n;
    } else if (star != std::string_view::npos) {
      p = star + 1;
      n = ++from;
    } else {
      return false;
    }
  }
  while (p < pattern.size() && pattern[p] == '*') ++p;
  return p == pattern.size();
}

}  // namespace dopesheet::io
