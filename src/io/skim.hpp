// How far a description reaches over bytes, without keeping any of them: no memory is taken, and packed
// arrays are stepped over. For formats whose variants are told apart by where they end.
#pragma once
#include "dopesheet/io.hpp"

namespace dopesheet::io {

class Skimmer {
 public:
  Skimmer(ByteView in, std::endian order) : in_(in), swap_(order != std::endian::native) {}

  bool ok() const { return ok_; }
  std::size_t offset() const { return at_; }
  bool at_end() const { return ok_ && at_ == in_.size(); }

  template <Scalar T>
  void operator()(const char*, T& v) {
    const std::byte* p = in_.data() + at_;
    if (step(sizeof(T))) v = swap_ ? detail::load<T, true>(p) : detail::load<T, false>(p);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char*, std::array<T, N>&) {
    step(N * sizeof(T));
  }
  template <class T>
    requires requires(Skimmer& s, T& t) { T::fields(s, t); }
  void operator()(const char*, T& v) {
    if constexpr (Packed<T>) {
      step(T::wire_size);
    } else {
      T::fields(*this, v);
    }
  }
  void when(bool present, auto walk) {
    if (present) walk(*this);
  }
  void part(const char*, auto walk) { walk(*this); }
  template <Scalar T>
  void aside(const char*, T&) {}
  // Directly in front of each() or each_with(), which take the length from here.
  template <class Int, class T>
  void count(const char*, std::vector<T>&) {
    Int n{};
    (*this)("", n);
    count_ = static_cast<std::uint64_t>(n);
    if (count_ > (in_.size() - at_) / wire_size<T>) fail();
  }
  template <class T>
  void each(const char* name, std::vector<T>& v) {
    if constexpr (Fixed<T>) {
      if (ok_) step(static_cast<std::size_t>(count_) * wire_size<T>);
    } else {
      each_with(name, v, 0, [](auto& in, T& e, std::size_t) { T::fields(in, e); });
    }
  }
  template <class T>
  void each_with(const char*, std::vector<T>&, std::int64_t, auto walk) {
    const std::uint64_t n = count_;
    for (std::uint64_t i = 0; i < n && ok_; ++i) {
      T element{};
      walk(*this, element, static_cast<std::size_t>(i));
    }
  }
  template <Scalar Int>
  void counted_text(const char*, std::string&) {
    Int n{};
    (*this)("", n);
    if (ok_) step(static_cast<std::size_t>(n));
  }
  void require(bool good, const char*, const char*) {
    if (!good) fail();
  }

 private:
  bool step(std::size_t n) {
    if (!ok_ || n > in_.size() - at_) {
      fail();
      return false;
    }
    at_ += n;
    return true;
  }
  void fail() {
    ok_ = false;
    count_ = 0;
  }

  ByteView in_;
  std::size_t at_ = 0;
  std::uint64_t count_ = 0;
  bool swap_, ok_ = true;
};

}  // namespace dopesheet::io
