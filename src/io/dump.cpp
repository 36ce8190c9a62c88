#include "io/dump.hpp"

#include <fmt/format.h>

#include <iterator>

#include "io/text.hpp"

namespace dopesheet::io {

void Dumper::push(const char* name, std::int64_t index, bool dot) {
  path_ += name;
  if (index >= 0) path_ += fmt::format("[{}]", index);
  if (dot) path_ += '.';
}
void Dumper::line(const char* prefix, const char* name) {
  fmt::format_to(std::back_inserter(text_), "{}{:#08x}  {}{}{} =", text_.empty() ? "" : "\n", at_,
                 path_, prefix, name);
}
void Dumper::range(const char* name, std::size_t begin, std::size_t end) {
  line(name, fmt::format("[{}..{}]", begin, end - 1).c_str());
}
void Dumper::real(float v) { text_ += ' ' + float_text(v); }
void Dumper::real(double v) { text_ += ' ' + float_text(v); }
void Dumper::integer(std::int64_t v) { text_ += ' ' + std::to_string(v); }
void Dumper::quoted(const char* name, std::string_view v) {
  line(name);
  text_ += " \"" + escape_bytes(trim_zeros(v)) + '"';
}
void Dumper::hex(const char* name, const Bytes& v) {
  if (v.empty()) return;
  line(name);
  text_ += fmt::format(" {} bytes ", v.size()) + to_hex(v);
}

}  // namespace dopesheet::io
