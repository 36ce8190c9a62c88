#include <fmt/format.h>

#include "dopesheet/io.hpp"

namespace dopesheet {

const char* name(Code code) {
  switch (code) {
    case Code::usage:
      return "usage";
    case Code::cannot_read:
      return "cannot read";
    case Code::truncated:
      return "truncated";
    case Code::bad_magic:
      return "bad magic";
    case Code::bad_version:
      return "bad version";
    case Code::bad_value:
      return "bad value";
    case Code::bad_document:
      return "bad document";
    case Code::limit:
      return "limit";
    case Code::cannot_represent:
      return "cannot represent";
    case Code::cannot_write:
      return "cannot write";
  }
  return "unknown";
}

std::string to_string(const Error& e) {
  std::string out;
  if (!e.file.empty()) out += e.file + ": ";
  const bool has_place = e.code == Code::truncated || e.code == Code::bad_magic ||
                         e.code == Code::bad_version || e.code == Code::bad_value;
  if (has_place) out += fmt::format("at byte {} ({:#x}), ", e.offset, e.offset);
  if (!e.path.empty()) out += e.path + ": ";
  return out + e.text;
}

}  // namespace dopesheet

namespace dopesheet::io {

std::string Path::text(const char* name) const {
  std::string out;
  for (std::size_t i = 0; i < depth_ && i < steps_.size(); ++i) {
    if (!out.empty() && *steps_[i].name != 0) out += '.';
    out += steps_[i].name;
    if (steps_[i].index >= 0) out += fmt::format("[{}]", steps_[i].index);
  }
  if (*name != 0) {
    if (!out.empty()) out += '.';
    out += name;
  }
  return out;
}

void Reader::text(const char* name, std::string& v) {
  v.clear();
  if (!ok()) return;
  const auto* begin = in_.data() + at_;
  const auto* zero = std::find(begin, in_.data() + end_, std::byte{0});
  if (zero == in_.data() + end_) {
    return fail(Code::truncated, at_, name, "text has no zero byte to close it");
  }
  v.assign(reinterpret_cast<const char*>(begin), static_cast<std::size_t>(zero - begin));
  at_ += v.size() + 1;
}

void Reader::counted_text(const char* name, std::string& v, std::int64_t n) {
  v.clear();
  if (!ok()) return;
  if (n < 0 || static_cast<std::uint64_t>(n) > left()) return bad_count(name, at_, n, left());
  v.assign(reinterpret_cast<const char*>(in_.data() + at_), static_cast<std::size_t>(n));
  at_ += static_cast<std::size_t>(n);
}

void Reader::bytes(const char* name, Bytes& v, std::int64_t n) {
  v.clear();
  if (!ok()) return;
  if (n < 0) return bad_count(name, at_, n, left());
  if (!need(name, static_cast<std::size_t>(n))) return;
  const auto begin = in_.begin() + static_cast<std::ptrdiff_t>(at_);
  v.assign(begin, begin + static_cast<std::ptrdiff_t>(n));
  at_ += static_cast<std::size_t>(n);
}

void Reader::pad(const char* name, Bytes& v, std::size_t n) {
  bytes(name, v, static_cast<std::int64_t>(n));
  if (std::all_of(v.begin(), v.end(), [](std::byte b) { return b == std::byte{0}; })) v.clear();
}

void Reader::next_segment() {
  if (at_ > segment_begin_) segments_.push_back({segment_begin_, at_});
  segment_begin_ = at_;
}

void Reader::seek_to(const char* name, std::int64_t offset) {
  if (offset < 0 || static_cast<std::uint64_t>(offset) > end_) {
    return fail(
        Code::bad_value, at_, name,
        fmt::format("the stored offset {} is outside the {} bytes of the file", offset, end_));
  }
  if (static_cast<std::size_t>(offset) == at_) return;
  next_segment();
  at_ = segment_begin_ = static_cast<std::size_t>(offset);
}

void Reader::gaps(const char* name, std::vector<Gap>& v) {
  v.clear();
  if (!ok()) return;
  next_segment();
  std::sort(segments_.begin(), segments_.end(), [](const Segment& a, const Segment& b) {
    return std::tie(a.begin, a.end) < std::tie(b.begin, b.end);
  });
  std::size_t at = 0;
  const auto keep = [&](std::size_t end) {
    const auto begin = in_.begin() + static_cast<std::ptrdiff_t>(at);
    v.push_back({static_cast<std::int64_t>(at),
                 Bytes(begin, begin + static_cast<std::ptrdiff_t>(end - at))});
  };
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const Segment& s = segments_[i];
    if (i > 0 && s.begin == segments_[i - 1].begin && s.end == segments_[i - 1].end) continue;
    if (s.begin < at) {
      return fail(Code::bad_value, s.begin, name,
                  fmt::format("two records overlap: one starts here, another ends at byte {}", at));
    }
    if (s.begin > at) keep(s.begin);
    at = s.end;
  }
  if (at < end_) keep(end_);
  at_ = end_;
}

void Reader::truncated(const char* name, std::size_t n) {
  if (ok()) fail(Code::truncated, at_, name, fmt::format("needs {} bytes, {} left", n, left()));
}
void Reader::bad_magic(std::size_t at, const char* name, const char* want) {
  fail(Code::bad_magic, at, name, fmt::format("expected '{}'", want));
}
void Reader::bad_count(const char* name, std::size_t at, std::int64_t n, std::size_t bytes_left) {
  if (!ok()) return;
  if (n < 0)
    return fail(Code::bad_value, at, name, fmt::format("the stored length {} is negative", n));
  fail(Code::bad_value, at, name,
       fmt::format("a length of {} does not fit in the {} bytes left", n, bytes_left));
}
void Reader::bad_gap(const char* name, std::int64_t offset) {
  fail(Code::bad_value, at_, name,
       fmt::format("the stored offset {} is outside the {} to {} that are left of the record",
                   offset, at_ - base_, end_ - base_));
}
void Reader::bad_region(const char* name, std::size_t at, std::size_t needed, std::int64_t size) {
  fail(Code::bad_value, at, name,
       fmt::format("needs {} bytes, its stored size is {}", needed, size));
}
void Reader::fail(Code code, std::size_t at, const char* name, std::string text) {
  if (!ok_) return;
  ok_ = false;
  error_ = {code, at, path_.text(name), std::move(text)};
}

}  // namespace dopesheet::io
