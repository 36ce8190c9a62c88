#include "formats/format.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "io/text.hpp"

namespace dopesheet {

std::string stem(const std::string& name) {
  const auto slash = name.find_last_of("/\\");
  const std::string base = slash == name.npos ? name : name.substr(slash + 1);
  const auto dot = base.rfind('.');
  return dot == base.npos || dot == 0 ? base : base.substr(0, dot);
}

std::optional<std::string_view> Settings::text(std::string_view name) const {
  const auto at = values_.find(std::string(name));
  if (at == values_.end()) return std::nullopt;
  return at->second;
}

double Settings::number(std::string_view name, double fallback, double least, double most) {
  const auto given = text(name);
  if (!given) return fallback;
  double value = 0;
  const char* end = given->data() + given->size();
  const auto [stop, bad] = std::from_chars(given->data(), end, value);
  if (bad == std::errc{} && stop == end && value >= least && value <= most) return value;
  fail(name, *given, fmt::format("a number from {} to {}", least, most));
  return fallback;
}

void Settings::fail(std::string_view name, std::string_view given, const std::string& known) {
  if (error_) return;
  error_ = Error{Code::usage, 0, std::string(name),
                 fmt::format("'{}' is not one of: {}", io::escape_bytes(given), known)};
}

}  // namespace dopesheet
