#include <fmt/format.h>

#include "dopesheet/io.hpp"

namespace dopesheet::io {

void Writer::text(const char* name, const std::string& v) {
  if (v.find('\0') != std::string::npos)
    return fail(name, "a zero byte inside text that a zero closes");
  const auto* p = reinterpret_cast<const std::byte*>(v.data());
  out_.insert(out_.end(), p, p + v.size());
  out_.push_back(std::byte{0});
}

void Writer::each_sized(const char* name, const std::vector<std::uint16_t>& v, std::int64_t n,
                        std::size_t bytes) {
  if (static_cast<std::int64_t>(v.size()) != n) return wrong_length(name, v.size(), n);
  for (const std::uint16_t x : v) {
    if (bytes == 2) {
      (*this)(name, x);
    } else if (x > 0xff) {
      return fail(name, fmt::format("{} does not fit its one byte", x));
    } else {
      (*this)(name, static_cast<std::uint8_t>(x));
    }
  }
}

void Writer::bytes(const char* name, const Bytes& v, std::int64_t n) {
  if (static_cast<std::int64_t>(v.size()) != n) return wrong_length(name, v.size(), n);
  raw(v);
}

void Writer::pad(const char* name, const Bytes& v, std::size_t n) {
  if (v.empty()) {
    out_.resize(out_.size() + n);
  } else if (v.size() == n) {
    raw(v);
  } else {
    wrong_length(name, v.size(), static_cast<std::int64_t>(n));
  }
}

void Writer::seek_to(const char* name, std::int64_t offset) {
  if (offset != position()) begin_segment(name, offset);
}
void Writer::begin_segment(const char* name, std::int64_t offset) {
  if (offset < 0) return fail(name, fmt::format("the offset {} is negative", offset));
  segments_.push_back({offset, out_.size()});
}

void Writer::gaps(const char* name, const std::vector<Gap>& v) {
  path_.enter(name, 0);
  for (std::size_t i = 0; i < v.size(); ++i) {
    path_.index(static_cast<std::int64_t>(i));
    begin_segment("offset", v[i].offset);
    raw(v[i].bytes);
  }
  path_.leave();
}

Result<Bytes> Writer::take() {
  if (!ok_) return tl::unexpected(error_);
  const auto in_place = [](const Segment& s) {
    return static_cast<std::uint64_t>(s.offset) == s.begin;
  };
  if (std::all_of(segments_.begin(), segments_.end(), in_place)) return std::move(out_);

  struct Piece {
    std::int64_t offset;
    ByteView bytes;
  };
  std::vector<Piece> pieces;
  for (std::size_t i = 0; i < segments_.size(); ++i) {
    const std::size_t begin = segments_[i].begin;
    const std::size_t end = i + 1 < segments_.size() ? segments_[i + 1].begin : out_.size();
    if (end > begin)
      pieces.push_back({segments_[i].offset, ByteView(out_).subspan(begin, end - begin)});
  }
  std::sort(pieces.begin(), pieces.end(), [](const Piece& a, const Piece& b) {
    return std::pair{a.offset, a.bytes.data()} < std::pair{b.offset, b.bytes.data()};
  });
  const auto same = [](const Piece& a, const Piece& b) {
    return a.offset == b.offset &&
           std::equal(a.bytes.begin(), a.bytes.end(), b.bytes.begin(), b.bytes.end());
  };
  pieces.erase(std::unique(pieces.begin(), pieces.end(), same), pieces.end());
  Bytes out;
  out.reserve(out_.size());
  for (const Piece& p : pieces) {
    if (static_cast<std::uint64_t>(p.offset) != out.size()) {
      return tl::unexpected(Error{
          Code::bad_document,
          0,
          {},
          fmt::format("stale offsets: the next record is at {}, the one before ends at {}; lay the "
                      "document out again after editing it",
                      p.offset, out.size())});
    }
    out.insert(out.end(), p.bytes.begin(), p.bytes.end());
  }
  return out;
}

void Writer::too_many(const char* name, std::size_t n, std::size_t most) {
  fail(name, fmt::format("has {} elements, the file can count {}", n, most));
}
void Writer::wrong_length(const char* name, std::size_t have, std::int64_t stored) {
  fail(name, fmt::format("has a length of {}, the field that stores it says {}", have, stored));
}
void Writer::fail(const char* name, std::string text) {
  if (!ok_) return;
  ok_ = false;
  error_ = {Code::bad_document, 0, path_.text(name), std::move(text)};
}

}  // namespace dopesheet::io
