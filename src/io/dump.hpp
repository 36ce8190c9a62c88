// "0x000024  bones[0].weight = 1": a document as text, one field a line, with its place in the file.
#pragma once
#include "dopesheet/io.hpp"

namespace dopesheet::io {

class Dumper {
 public:
  std::string take() { return std::move(text_); }

  template <Scalar T>
  void operator()(const char* name, const T& v) {
    line(name);
    number(v);
    at_ += sizeof(T);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char* name, const std::array<T, N>& v) {
    line(name);
    for (T x : v) number(x);
    at_ += N * sizeof(T);
  }
  template <class T>
    requires requires(Dumper& d, const T& t) { T::fields(d, t); }
  void operator()(const char* name, const T& v) {
    inside(name, -1, [&] { T::fields(*this, v); });
  }
  void when(bool present, auto walk) {
    if (present) walk(*this);
  }
  void part(const char* name, auto walk) {
    inside(name, -1, [&] { walk(*this); });
  }
  template <Scalar T>
  void aside(const char* name, const T& v) {
    line(name);
    number(v);
  }
  void based(auto walk) {
    const std::size_t saved = std::exchange(base_, at_);
    walk(*this);
    base_ = saved;
  }
  template <std::size_t N>
  void magic(const char* name, const char (&want)[N]) {
    line(name);
    text_ += " \"";
    text_ += want;
    text_ += '"';
    at_ += N - 1;
  }
  template <class Int, class T>
  void count(const char* name, const std::vector<T>& v) {
    line("num_", name);
    number(v.size());
    at_ += sizeof(Int);
  }
  template <class Int, class T>
  void count_inside(const char* name, const std::vector<T>& v, std::int64_t) {
    count<Int>(name, v);
  }
  template <class T>
  void each(const char* name, const std::vector<T>& v) {
    if constexpr (Scalar<T>) {
      rows(name, v, sizeof(T));
    } else {
      for (std::size_t i = 0; i < v.size(); ++i) {
        inside(name, static_cast<std::int64_t>(i), [&] { element(v[i]); }, !is_array<T>);
      }
    }
  }
  template <class T>
  void each(const char* name, const std::vector<T>& v, std::int64_t) {
    each(name, v);
  }
  template <class T>
  void each_with(const char* name, const std::vector<T>& v, std::int64_t, auto walk) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      inside(name, static_cast<std::int64_t>(i), [&] { walk(*this, v[i], i); });
    }
  }
  void each_sized(const char* name, const std::vector<std::uint16_t>& v, std::int64_t,
                  std::size_t bytes) {
    rows(name, v, bytes);
  }
  template <Scalar T>
  void until_zero(const char* name, const std::vector<T>& v) {
    rows(name, v, sizeof(T));
    at_ += sizeof(T);
  }
  template <Scalar Int>
  void gap(const char* name, const Bytes& v, const Int& offset) {
    hex(name, v);
    at_ = base_ + static_cast<std::size_t>(offset);
  }
  template <class T>
  void each_until(const char* name, const std::vector<T>& v, auto) {
    each(name, v);
  }
  template <class T, class Int>
  void each_at(const char* name, const std::vector<T>& v, const std::vector<Int>& offsets,
               std::int64_t origin = 0) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      at_ = static_cast<std::size_t>(origin + static_cast<std::int64_t>(offsets[i]));
      inside(name, static_cast<std::int64_t>(i), [&] { T::fields(*this, v[i]); });
    }
  }
  template <std::size_t N>
  void text(const char* name, const std::array<char, N>& v) {
    quoted(name, {v.data(), N});
    at_ += N;
  }
  void text(const char* name, const std::string& v) {
    quoted(name, v);
    at_ += v.size() + 1;
  }
  template <Scalar Int>
  void counted_text(const char* name, const std::string& v) {
    quoted(name, v);
    at_ += sizeof(Int) + v.size();
  }
  void bytes(const char* name, const Bytes& v, std::int64_t) {
    hex(name, v);
    at_ += v.size();
  }
  void rest(const char* name, const Bytes& v) { bytes(name, v, 0); }
  void pad(const char* name, const Bytes& v, std::size_t n) {
    hex(name, v);
    at_ += n;
  }
  void align(const char* name, const Bytes& v, std::size_t n) {
    pad(name, v, (n - (at_ - base_) % n) % n);
  }
  template <Scalar Int>
  void seek(const char*, const Int& offset, std::size_t = 1) {
    at_ = static_cast<std::size_t>(offset);
  }
  template <Scalar Int>
  void seek_if(bool present, const char* name, const Int& offset, std::size_t = 1) {
    if (present) seek(name, offset);
  }
  void gaps(const char* name, const std::vector<Gap>& v) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      at_ = static_cast<std::size_t>(v[i].offset);
      inside(name, static_cast<std::int64_t>(i), [&] { hex("", v[i].bytes); }, false);
    }
  }
  template <Scalar Int>
  Block later(const char*, const Int& size) {
    const Block b{at_};
    at_ += static_cast<std::size_t>(size);
    return b;
  }
  template <Scalar Int>
  void block(const char* name, Block b, const Int&, const Bytes& unread, auto walk) {
    const auto saved = std::pair{at_, base_};
    at_ = base_ = b.at;
    inside(name, -1, [&] {
      walk(*this);
      hex("unread", unread);
    });
    std::tie(at_, base_) = saved;
  }
  template <Scalar Int>
  void region(const char* name, const Int& size, std::size_t alignment, const Bytes& slack,
              auto walk) {
    const std::size_t stop = at_ - base_ + static_cast<std::size_t>(size);
    walk(*this);
    hex(name, slack);
    at_ = base_ + (stop + alignment - 1) / alignment * alignment;
  }
  template <class... A>
  void choose(const char* name, const std::variant<A...>& v, std::size_t) {
    std::visit([&](const auto& x) { (*this)(name, x); }, v);
  }
  void require(bool, const char*, const char*) {}
  void require_version(bool, const char*, const char*) {}
  void require_magic(bool, const char*, const char*) {}

 private:
  template <Scalar T>
  void rows(const char* name, const std::vector<T>& v, std::size_t bytes) {
    constexpr std::size_t in_a_row = 16;
    for (std::size_t i = 0; i < v.size(); i += in_a_row) {
      const std::size_t end = std::min(i + in_a_row, v.size());
      range(name, i, end);
      for (std::size_t k = i; k < end; ++k) number(v[k]);
      at_ += (end - i) * bytes;
    }
  }
  void inside(const char* name, std::int64_t index, auto walk, bool dot = true) {
    const std::size_t n = path_.size();
    push(name, index, dot);
    walk();
    path_.resize(n);
  }
  template <class T>
  void element(const T& v) {
    if constexpr (is_array<T>) {
      (*this)("", v);
    } else {
      T::fields(*this, v);
    }
  }
  template <Scalar T>
  void number(T v) {
    if constexpr (std::floating_point<T>) {
      real(v);
    } else {
      integer(static_cast<std::int64_t>(v));
    }
  }
  void push(const char* name, std::int64_t index, bool dot);
  void line(const char* prefix, const char* name = "");
  void range(const char* name, std::size_t begin, std::size_t end);
  void real(float v);
  void real(double v);
  void integer(std::int64_t v);
  void quoted(const char* name, std::string_view v);
  void hex(const char* name, const Bytes& v);

  std::string text_, path_;
  std::size_t at_ = 0, base_ = 0;
};

template <class Doc>
std::string dump(const Doc& doc) {
  Dumper d;
  Doc::fields(d, doc);
  return d.take();
}

}  // namespace dopesheet::io
