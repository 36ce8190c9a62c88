// Byte archives: a record is described once, by a function template `fields` that names every member
// in file order, and several walks serve it:
//
//   Reader   bytes    -> document   bounds checked, the first error wins, never throws
//   Writer   document -> bytes      refuses a document whose offsets or counts do not fit
//   Layout   document -> document   recomputes stored sizes and offsets in canonical order
//
// Two more, for text, live in src/io: Dumper (offset, path, value) and Json (both directions).
// The byte order belongs to the archive, not to the record.
#pragma once
#include <algorithm>
#include <array>
#include <bit>
#include <concepts>
#include <cstring>
#include <limits>
#include <tuple>
#include <type_traits>
#include <utility>
#include <variant>

#include "dopesheet/error.hpp"

namespace dopesheet::io {

template <class T>
concept Scalar = std::is_arithmetic_v<T> && !std::same_as<std::remove_cv_t<T>, bool>;

// A record of fixed size, made of scalars, arrays and other packed records.
template <class T>
concept Packed = requires {
  { T::wire_size } -> std::convertible_to<std::size_t>;
};

// Bytes that no record claims. Offsets count from the start of the file.
struct Gap {
  std::int64_t offset = 0;
  Bytes bytes;

  static constexpr std::size_t min_wire_size = 1;
  friend bool operator==(const Gap&, const Gap&) = default;
};

// A part of the file whose size is known before its description is (see Reader::later).
struct Block {
  std::size_t at = 0;
};

namespace detail {

template <std::size_t N>
using Word = std::conditional_t<
    N == 1, std::uint8_t,
    std::conditional_t<N == 2, std::uint16_t,
                       std::conditional_t<N == 4, std::uint32_t, std::uint64_t>>>;

template <class W>
constexpr W swap_bytes(W w) {
  if constexpr (sizeof(W) == 1) return w;
  if constexpr (sizeof(W) == 2) return __builtin_bswap16(w);
  if constexpr (sizeof(W) == 4) return __builtin_bswap32(w);
  if constexpr (sizeof(W) == 8) return __builtin_bswap64(w);
}

template <Scalar T, bool Swap>
T load(const std::byte* p) {
  Word<sizeof(T)> w;
  std::memcpy(&w, p, sizeof w);
  if constexpr (Swap) w = swap_bytes(w);
  return std::bit_cast<T>(w);
}
template <Scalar T, bool Swap>
void store(std::byte* p, T v) {
  auto w = std::bit_cast<Word<sizeof(T)>>(v);
  if constexpr (Swap) w = swap_bytes(w);
  std::memcpy(p, &w, sizeof w);
}

// Walks packed values inside a range that was checked once, as a whole.
template <bool Swap>
struct UncheckedReader {
  const std::byte* p;
  template <Scalar T>
  void operator()(const char*, T& v) {
    v = load<T, Swap>(p);
    p += sizeof(T);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char*, std::array<T, N>& v) {
    for (T& x : v) (*this)("", x);
  }
  template <Packed T>
  void operator()(const char*, T& v) {
    T::fields(*this, v);
  }
};
template <bool Swap>
struct UncheckedWriter {
  std::byte* p;
  template <Scalar T>
  void operator()(const char*, const T& v) {
    store<T, Swap>(p, v);
    p += sizeof(T);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char*, const std::array<T, N>& v) {
    for (const T& x : v) (*this)("", x);
  }
  template <Packed T>
  void operator()(const char*, const T& v) {
    T::fields(*this, v);
  }
};

// How many bytes and how many members fields() visits.
struct Sizer {
  std::size_t bytes = 0, members = 0;
  template <Scalar T>
  constexpr void operator()(const char*, const T&) {
    bytes += sizeof(T);
    ++members;
  }
  template <Scalar T, std::size_t N>
  constexpr void operator()(const char*, const std::array<T, N>&) {
    bytes += N * sizeof(T);
    ++members;
  }
  template <Packed T>
  constexpr void operator()(const char*, const T& v) {
    const std::size_t before = members;
    T::fields(*this, v);
    members = before + 1;
  }
};

struct Any {
  template <class T>
  constexpr operator T() const;  // NOLINT(google-explicit-constructor): converts to every member
};
template <class T, class... A>
consteval std::size_t arity() {
  if constexpr (requires { T{std::declval<A>()..., std::declval<Any>()}; }) {
    return arity<T, A..., Any>();
  } else {
    return sizeof...(A);
  }
}

// Fills a record, field by field, with the bytes 0 1 2 3 ... in native order.
struct Iota {
  unsigned next = 0;
  template <Scalar T>
  constexpr T take() {
    std::array<std::uint8_t, sizeof(T)> b{};
    for (auto& x : b) x = static_cast<std::uint8_t>(next++);
    return std::bit_cast<T>(b);
  }
  template <Scalar T>
  constexpr void operator()(const char*, T& v) {
    v = take<T>();
  }
  template <Scalar T, std::size_t N>
  constexpr void operator()(const char*, std::array<T, N>& v) {
    for (T& x : v) x = take<T>();
  }
  template <Packed T>
  constexpr void operator()(const char*, T& v) {
    T::fields(*this, v);
  }
};

}  // namespace detail

// True when fields() names every member of T once and the sizes add up to T::wire_size.
// Put `static_assert(io::complete<T>);` under each packed record: a forgotten field does not compile.
template <Packed T>
constexpr bool complete = [] {
  detail::Sizer s;
  const T v{};
  T::fields(s, v);
  return s.bytes == T::wire_size && s.members == detail::arity<T>();
}();

// True when the memory of T is its file image (no padding, members in file order), so that an array of
// T in the machine's byte order is copied in one go. Proven by the compiler, never assumed.
template <class T>
constexpr bool memory_image = false;
template <Scalar T>
constexpr bool memory_image<T> = true;
template <Scalar T, std::size_t N>
constexpr bool memory_image<std::array<T, N>> = sizeof(std::array<T, N>) == N * sizeof(T);
template <Packed T>
  requires(sizeof(T) == T::wire_size && T::wire_size < 0x7f && std::is_trivially_copyable_v<T>)
constexpr bool memory_image<T> = [] {
  detail::Iota iota;
  T v{};
  T::fields(iota, v);
  const auto bytes = std::bit_cast<std::array<std::uint8_t, sizeof(T)>>(v);
  for (unsigned i = 0; i < sizeof(T); ++i) {
    if (bytes[i] != i) return false;
  }
  return iota.next == sizeof(T);
}();

// The size of a value in the file: exact for scalars, arrays and packed records, else a lower bound.
template <class T>
constexpr std::size_t wire_size = [] {
  if constexpr (Packed<T>) {
    return T::wire_size;
  } else {
    return T::min_wire_size;
  }
}();
template <Scalar T>
constexpr std::size_t wire_size<T> = sizeof(T);
template <Scalar T, std::size_t N>
constexpr std::size_t wire_size<std::array<T, N>> = N * sizeof(T);

template <class T>
constexpr bool is_array = false;
template <Scalar T, std::size_t N>
constexpr bool is_array<std::array<T, N>> = true;

// Elements whose size does not depend on their content.
template <class T>
concept Fixed = Packed<T> || Scalar<T> || is_array<T>;

// Where a walk is: "bones[2].rotation_keys[7]".
class Path {
 public:
  void enter(const char* name, std::int64_t index = -1) {
    if (depth_ < steps_.size()) steps_[depth_] = {name, index};
    ++depth_;
  }
  void index(std::int64_t i) {
    if (depth_ <= steps_.size()) steps_[depth_ - 1].index = i;
  }
  void leave() { --depth_; }
  std::string text(const char* name = "") const;

 private:
  struct Step {
    const char* name;
    std::int64_t index;
  };
  std::array<Step, 16> steps_{};
  std::size_t depth_ = 0;
};

class Reader {
 public:
  explicit Reader(ByteView in, std::endian order = std::endian::little)
      : in_(in), end_(in.size()), swap_(order != std::endian::native) {}

  bool ok() const { return ok_; }
  const Error& error() const { return error_; }
  std::size_t offset() const { return at_; }
  std::size_t left() const { return end_ - at_; }

  template <Scalar T>
  void operator()(const char* name, T& v) {
    if (!need(name, sizeof(T))) {
      v = T{};
      return;
    }
    v = load<T>();
  }
  template <Scalar T, std::size_t N>
  void operator()(const char* name, std::array<T, N>& v) {
    if (!need(name, N * sizeof(T))) {
      v = {};
      return;
    }
    for (T& x : v) x = load<T>();
  }
  template <class T>
    requires requires(Reader& r, T& t) { T::fields(r, t); }
  void operator()(const char* name, T& v) {
    path_.enter(name);
    T::fields(*this, v);
    path_.leave();
  }
  // Members that are in the file only when `present`.
  void when(bool present, auto walk) {
    if (present) walk(*this);
  }
  // A record that needs to know more than itself to be described.
  void part(const char* name, auto walk) {
    path_.enter(name);
    walk(*this);
    path_.leave();
  }
  // A member that the file does not hold, but that says how it is written. Text carries it.
  template <Scalar T>
  void aside(const char*, T&) {}
  // A record whose stored offsets, and whose alignment, count from its own start.
  void based(auto walk) {
    const std::size_t saved = std::exchange(base_, at_);
    walk(*this);
    base_ = saved;
  }
  template <std::size_t N>
  void magic(const char* name, const char (&want)[N]) {
    const std::size_t at = at_;
    if (!need(name, N - 1)) return;
    if (std::memcmp(in_.data() + at_, want, N - 1) != 0) return bad_magic(at, name, want);
    at_ += N - 1;
  }

  // The stored length of the array `name`, which follows somewhere. Refuses a length that could not
  // fit in the bytes left, so that a hostile count never allocates.
  template <class Int, class T>
  void count(const char* name, std::vector<T>& v) {
    const std::size_t at = at_;
    Int n{};
    (*this)(name, n);
    if (ok()) resize(name, at, v, static_cast<std::int64_t>(n), left());
  }
  // The same for an array inside a block of `size` bytes that was stepped over by later().
  template <class Int, class T>
  void count_inside(const char* name, std::vector<T>& v, std::int64_t size) {
    const std::size_t at = at_;
    Int n{};
    (*this)(name, n);
    if (ok()) resize(name, at, v, static_cast<std::int64_t>(n), static_cast<std::size_t>(size));
  }
  template <class T>
  void each(const char* name, std::vector<T>& v) {
    if (!ok()) return;
    if constexpr (Fixed<T>) {
      if (v.size() <= left() / wire_size<T>) {  // one check for the whole array
        bulk(v);
        return;
      }
    }
    path_.enter(name, 0);
    for (std::size_t i = 0; i < v.size() && ok(); ++i) {
      path_.index(static_cast<std::int64_t>(i));
      element(v[i]);
    }
    path_.leave();
  }
  // An array whose length is a field elsewhere.
  template <class T>
  void each(const char* name, std::vector<T>& v, std::int64_t n) {
    if (ok()) resize(name, at_, v, n, left());
    if (ok()) each(name, v);
  }
  // Elements that are described by `walk(archive, element, index)`, as many as another array has.
  template <class T>
  void each_with(const char* name, std::vector<T>& v, std::int64_t n, auto walk) {
    if (!ok()) return;
    v.clear();
    v.resize(static_cast<std::size_t>(n));
    path_.enter(name, 0);
    for (std::size_t i = 0; i < v.size() && ok(); ++i) {
      path_.index(static_cast<std::int64_t>(i));
      walk(*this, v[i], i);
    }
    path_.leave();
  }
  // Small numbers stored in one or two bytes each.
  void each_sized(const char* name, std::vector<std::uint16_t>& v, std::int64_t n,
                  std::size_t bytes) {
    if (!ok()) return;
    if (n < 0 || static_cast<std::uint64_t>(n) > left() / bytes) {
      return bad_count(name, at_, n, left());
    }
    v.resize(static_cast<std::size_t>(n));
    for (auto& x : v) x = bytes == 1 ? load<std::uint8_t>() : load<std::uint16_t>();
  }
  // A list closed by a zero, which is not kept.
  template <Scalar T>
  void until_zero(const char* name, std::vector<T>& v) {
    v.clear();
    for (T x{}; (*this)(name, x), ok() && x != T{};) v.push_back(x);
  }
  // Whatever lies between here and `offset`, which counts from the start of the record (see based).
  template <Scalar Int>
  void gap(const char* name, Bytes& v, Int& offset) {
    const auto to = base_ + static_cast<std::size_t>(offset);
    if (ok() && (to < at_ || to > end_)) return bad_gap(name, static_cast<std::int64_t>(offset));
    bytes(name, v, static_cast<std::int64_t>(to - at_));
  }
  // A list whose last element is the first one that `last` accepts.
  template <class T>
  void each_until(const char* name, std::vector<T>& v, auto last) {
    path_.enter(name, 0);
    v.clear();
    while (ok()) {
      path_.index(static_cast<std::int64_t>(v.size()));
      element(v.emplace_back());
      if (ok() && last(std::as_const(v.back()))) break;
    }
    path_.leave();
  }
  // As each(), but element i starts at offsets[i]. Several elements may be one record in the file, but
  // not so many that their copies would take memory without end.
  // Offsets count from `origin`.
  template <class T, class Int>
  void each_at(const char* name, std::vector<T>& v, std::vector<Int>& offsets,
               std::int64_t origin = 0) {
    std::size_t total = 0;
    path_.enter(name, 0);
    for (std::size_t i = 0; i < v.size() && ok(); ++i) {
      path_.index(static_cast<std::int64_t>(i));
      if (ok()) seek_to("offset", origin + static_cast<std::int64_t>(offsets[i]));
      next_segment();
      const std::size_t begin = at_;
      if (ok()) T::fields(*this, v[i]);
      total += at_ - begin;
      if (ok() && total > 4 * in_.size()) {
        fail(Code::limit, begin, "", "too many elements share one record");
      }
    }
    next_segment();
    path_.leave();
  }

  // Text of fixed width; every byte is kept, also after a terminator.
  template <std::size_t N>
  void text(const char* name, std::array<char, N>& v) {
    (*this)(name, v);
  }
  // Text closed by a zero byte, which is not kept.
  void text(const char* name, std::string& v);
  // Text behind its stored length, without any terminator.
  template <Scalar Int>
  void counted_text(const char* name, std::string& v) {
    Int n{};
    (*this)(name, n);
    counted_text(name, v, static_cast<std::int64_t>(n));
  }
  void bytes(const char* name, Bytes& v, std::int64_t n);
  void rest(const char* name, Bytes& v) { bytes(name, v, static_cast<std::int64_t>(left())); }

  // Padding of n bytes. Kept only when it is not all zero: an empty vector means zeros.
  void pad(const char* name, Bytes& v, std::size_t n);
  // Padding up to a multiple of n bytes from the start of the file or of the enclosing block.
  void align(const char* name, Bytes& v, std::size_t n) {
    pad(name, v, (n - (at_ - base_) % n) % n);
  }

  // The next record starts at the stored offset. What no record claims goes to gaps().
  template <Scalar Int>
  void seek(const char* name, Int& offset, std::size_t = 1) {
    if (ok()) seek_to(name, static_cast<std::int64_t>(offset));
  }
  // The same for a record that may be absent: then the stored offset is only kept, whatever it is.
  template <Scalar Int>
  void seek_if(bool present, const char* name, Int& offset, std::size_t alignment = 1) {
    if (present) seek(name, offset, alignment);
  }
  // Closes a file of records reached through seek(): keeps the bytes between and after them. Two may be
  // the same bytes; records that overlap in part are refused.
  void gaps(const char* name, std::vector<Gap>& v);

  // A block of stored size whose description comes after it: later() steps over it, block() walks it.
  // Bytes that the walk leaves unread go to `unread`.
  template <Scalar Int>
  Block later(const char* name, const Int& size) {
    const Block b{at_};
    if (size < 0) {
      bad_count(name, at_, static_cast<std::int64_t>(size), left());
    } else if (need(name, static_cast<std::size_t>(size))) {
      at_ += static_cast<std::size_t>(size);
    }
    return b;
  }
  template <Scalar Int>
  void block(const char* name, Block b, Int& size, Bytes& unread, auto walk) {
    if (!ok()) return;
    const auto saved = std::tuple{at_, end_, base_};
    at_ = base_ = b.at;
    end_ = b.at + static_cast<std::size_t>(size);
    path_.enter(name);
    walk(*this);
    if (ok()) rest("unread", unread);
    path_.leave();
    std::tie(at_, end_, base_) = saved;
  }
  // Items inside a region of stored size, which may be longer than they are, closed by padding to
  // `alignment`. `slack` is all that follows the items.
  template <Scalar Int>
  void region(const char* name, Int& size, std::size_t alignment, Bytes& slack, auto walk) {
    if (!ok()) return;
    const std::size_t begin = at_;
    walk(*this);
    if (!ok()) return;
    if (at_ - begin > static_cast<std::size_t>(size))
      return bad_region(name, begin, at_ - begin, size);
    const std::size_t stop = begin - base_ + static_cast<std::size_t>(size);
    const std::size_t padded = (stop + alignment - 1) / alignment * alignment;
    pad(name, slack, padded + base_ - at_);
  }

  // One of several records; `index` says which.
  template <class... A>
  void choose(const char* name, std::variant<A...>& v, std::size_t index) {
    if (!ok()) return;
    emplace(v, index);
    std::visit([&](auto& x) { (*this)(name, x); }, v);
  }
  void require(bool good, const char* name, const char* text) {
    if (ok() && !good) fail(Code::bad_value, at_, name, text);
  }
  void require_version(bool good, const char* name, const char* text) {
    if (ok() && !good) fail(Code::bad_version, at_, name, text);
  }
  void require_magic(bool good, const char* name, const char* text) {
    if (ok() && !good) fail(Code::bad_magic, at_, name, text);
  }

 private:
  struct Segment {
    std::size_t begin, end;
  };

  template <Scalar T>
  T load() {
    const std::byte* p = in_.data() + at_;
    at_ += sizeof(T);
    return swap_ ? detail::load<T, true>(p) : detail::load<T, false>(p);
  }
  template <class T>
  void element(T& v) {
    if constexpr (Scalar<T> || is_array<T>) {
      (*this)("", v);
    } else {
      T::fields(*this, v);
    }
  }
  template <Fixed T>
  void bulk(std::vector<T>& v) {
    const std::byte* p = in_.data() + at_;
    const std::size_t n = v.size() * wire_size<T>;
    if (swap_) {
      detail::UncheckedReader<true> r{p};
      for (T& e : v) r("", e);
    } else if constexpr (memory_image<T>) {
      if (n > 0) std::memcpy(v.data(), p, n);
    } else {
      detail::UncheckedReader<false> r{p};
      for (T& e : v) r("", e);
    }
    at_ += n;
  }
  template <class T>
  void resize(const char* name, std::size_t at, std::vector<T>& v, std::int64_t n,
              std::size_t bytes_left) {
    if (n < 0 || static_cast<std::uint64_t>(n) > bytes_left / wire_size<T>) {
      return bad_count(name, at, n, bytes_left);
    }
    v.clear();
    v.resize(static_cast<std::size_t>(n));
  }
  template <std::size_t I = 0, class... A>
  static void emplace(std::variant<A...>& v, std::size_t index) {
    if constexpr (I < sizeof...(A)) {
      if (index == I) {
        v.template emplace<I>();
      } else {
        emplace<I + 1>(v, index);
      }
    }
  }
  bool need(const char* name, std::size_t n) {
    if (ok_ && n <= end_ - at_) [[likely]] {
      return true;
    }
    truncated(name, n);
    return false;
  }
  void next_segment();
  void counted_text(const char* name, std::string& v, std::int64_t n);
  // Cold paths, out of line: error text must not be stamped into every field.
  void seek_to(const char* name, std::int64_t offset);
  void truncated(const char* name, std::size_t n);
  void bad_magic(std::size_t at, const char* name, const char* want);
  void bad_count(const char* name, std::size_t at, std::int64_t n, std::size_t bytes_left);
  void bad_gap(const char* name, std::int64_t offset);
  void bad_region(const char* name, std::size_t at, std::size_t needed, std::int64_t size);
  void fail(Code code, std::size_t at, const char* name, std::string text);

  ByteView in_;
  std::size_t at_ = 0, end_ = 0, base_ = 0;
  std::size_t segment_begin_ = 0;
  std::vector<Segment> segments_;
  Path path_;
  bool ok_ = true, swap_ = false;
  Error error_;
};

class Writer {
 public:
  explicit Writer(std::endian order = std::endian::little) : swap_(order != std::endian::native) {}

  bool ok() const { return ok_; }
  const Error& error() const { return error_; }
  // The file. Fails where segments reached through seek() overlap or leave holes.
  Result<Bytes> take();
  void reserve(std::size_t bytes) { out_.reserve(bytes); }

  template <Scalar T>
  void operator()(const char*, const T& v) {
    store(grow(sizeof(T)), v);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char*, const std::array<T, N>& v) {
    std::byte* p = grow(N * sizeof(T));
    for (const T& x : v) {
      store(p, x);
      p += sizeof(T);
    }
  }
  template <class T>
    requires requires(Writer& w, const T& t) { T::fields(w, t); }
  void operator()(const char* name, const T& v) {
    path_.enter(name);
    T::fields(*this, v);
    path_.leave();
  }
  void when(bool present, auto walk) {
    if (present) walk(*this);
  }
  void part(const char* name, auto walk) {
    path_.enter(name);
    walk(*this);
    path_.leave();
  }
  template <Scalar T>
  void aside(const char*, const T&) {}
  void based(auto walk) {
    const std::size_t saved = std::exchange(base_, out_.size());
    walk(*this);
    base_ = saved;
  }
  template <std::size_t N>
  void magic(const char*, const char (&want)[N]) {
    std::memcpy(grow(N - 1), want, N - 1);
  }
  template <class Int, class T>
  void count(const char* name, const std::vector<T>& v) {
    if (v.size() > static_cast<std::size_t>(std::numeric_limits<Int>::max())) {
      return too_many(name, v.size(), static_cast<std::size_t>(std::numeric_limits<Int>::max()));
    }
    (*this)(name, static_cast<Int>(v.size()));
  }
  template <class Int, class T>
  void count_inside(const char* name, const std::vector<T>& v, std::int64_t) {
    count<Int>(name, v);
  }
  template <class T>
  void each(const char* name, const std::vector<T>& v) {
    if constexpr (Fixed<T>) {
      const std::size_t n = v.size() * wire_size<T>;
      if (swap_) {
        detail::UncheckedWriter<true> w{grow(n)};
        for (const T& e : v) w("", e);
      } else if constexpr (memory_image<T>) {
        const auto* p = reinterpret_cast<const std::byte*>(v.data());
        out_.insert(out_.end(), p, p + n);
      } else {
        detail::UncheckedWriter<false> w{grow(n)};
        for (const T& e : v) w("", e);
      }
    } else {
      path_.enter(name, 0);
      for (std::size_t i = 0; i < v.size(); ++i) {
        path_.index(static_cast<std::int64_t>(i));
        T::fields(*this, v[i]);
      }
      path_.leave();
    }
  }
  template <class T>
  void each(const char* name, const std::vector<T>& v, std::int64_t n) {
    if (static_cast<std::int64_t>(v.size()) != n) return wrong_length(name, v.size(), n);
    each(name, v);
  }
  template <class T>
  void each_with(const char* name, const std::vector<T>& v, std::int64_t n, auto walk) {
    if (static_cast<std::int64_t>(v.size()) != n) return wrong_length(name, v.size(), n);
    path_.enter(name, 0);
    for (std::size_t i = 0; i < v.size(); ++i) {
      path_.index(static_cast<std::int64_t>(i));
      walk(*this, v[i], i);
    }
    path_.leave();
  }
  void each_sized(const char* name, const std::vector<std::uint16_t>& v, std::int64_t n,
                  std::size_t bytes);
  template <Scalar T>
  void until_zero(const char* name, const std::vector<T>& v) {
    for (const T& x : v) {
      if (x == T{}) return fail(name, "a zero inside a list that a zero closes");
      (*this)(name, x);
    }
    (*this)(name, T{});
  }
  template <Scalar Int>
  void gap(const char* name, const Bytes& v, const Int& offset) {
    raw(v);
    const std::size_t at = out_.size() - base_;
    if (at != static_cast<std::size_t>(offset)) {
      wrong_length(name, at, static_cast<std::int64_t>(offset));
    }
  }
  template <class T>
  void each_until(const char* name, const std::vector<T>& v, auto last) {
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (last(v[i]) != (i + 1 == v.size())) {
        fail(name, "only the last element may close the list");
      }
    }
    if (v.empty()) fail(name, "has no closing element");
    each(name, v);
  }
  template <class T, class Int>
  void each_at(const char* name, const std::vector<T>& v, const std::vector<Int>& offsets,
               std::int64_t origin = 0) {
    if (offsets.size() != v.size()) {
      return wrong_length(name, v.size(), static_cast<std::int64_t>(offsets.size()));
    }
    path_.enter(name, 0);
    for (std::size_t i = 0; i < v.size(); ++i) {
      path_.index(static_cast<std::int64_t>(i));
      begin_segment("offset", origin + static_cast<std::int64_t>(offsets[i]));
      T::fields(*this, v[i]);
    }
    if (!v.empty())
      begin_segment("", position());  // nothing is added to a record that may be shared
    path_.leave();
  }
  template <std::size_t N>
  void text(const char* name, const std::array<char, N>& v) {
    (*this)(name, v);
  }
  void text(const char* name, const std::string& v);
  template <Scalar Int>
  void counted_text(const char* name, const std::string& v) {
    constexpr auto most = static_cast<std::uint64_t>(std::numeric_limits<Int>::max());
    if (v.size() > most) return too_many(name, v.size(), most);
    (*this)(name, static_cast<Int>(v.size()));
    std::memcpy(grow(v.size()), v.data(), v.size());
  }
  void bytes(const char* name, const Bytes& v, std::int64_t n);
  void rest(const char*, const Bytes& v) { raw(v); }
  void pad(const char* name, const Bytes& v, std::size_t n);
  void align(const char* name, const Bytes& v, std::size_t n) {
    pad(name, v, (n - (out_.size() - base_) % n) % n);
  }
  template <Scalar Int>
  void seek(const char* name, const Int& offset, std::size_t = 1) {
    seek_to(name, static_cast<std::int64_t>(offset));
  }
  template <Scalar Int>
  void seek_if(bool present, const char* name, const Int& offset, std::size_t alignment = 1) {
    if (present) seek(name, offset, alignment);
  }
  void gaps(const char* name, const std::vector<Gap>& v);
  template <Scalar Int>
  Block later(const char*, const Int& size) {
    base_ -= static_cast<std::size_t>(size);  // not written yet, but counted by align()
    return {out_.size()};
  }
  template <Scalar Int>
  void block(const char* name, Block b, const Int& size, const Bytes& unread, auto walk) {
    const std::size_t begin = out_.size();
    const std::size_t saved = std::exchange(base_, begin);
    path_.enter(name);
    walk(*this);
    raw(unread);
    path_.leave();
    base_ = saved + static_cast<std::size_t>(size);
    if (static_cast<std::int64_t>(out_.size() - begin) != static_cast<std::int64_t>(size)) {
      return wrong_length(name, out_.size() - begin, static_cast<std::int64_t>(size));
    }
    std::rotate(out_.begin() + static_cast<std::ptrdiff_t>(b.at),
                out_.begin() + static_cast<std::ptrdiff_t>(begin), out_.end());
  }
  template <Scalar Int>
  void region(const char* name, const Int& size, std::size_t alignment, const Bytes& slack,
              auto walk) {
    const std::size_t begin = out_.size();
    walk(*this);
    const std::size_t items = out_.size() - begin;
    if (items > static_cast<std::size_t>(size)) {
      return wrong_length(name, items, static_cast<std::int64_t>(size));
    }
    const std::size_t stop = begin - base_ + static_cast<std::size_t>(size);
    const std::size_t padded = (stop + alignment - 1) / alignment * alignment;
    pad(name, slack, padded + base_ - out_.size());
  }
  template <class... A>
  void choose(const char* name, const std::variant<A...>& v, std::size_t index) {
    if (v.index() != index) return fail(name, "holds another kind of record than its type says");
    std::visit([&](const auto& x) { (*this)(name, x); }, v);
  }
  void require(bool good, const char* name, const char* text) {
    if (!good) fail(name, text);
  }
  void require_version(bool good, const char* name, const char* text) { require(good, name, text); }
  void require_magic(bool good, const char* name, const char* text) { require(good, name, text); }

 private:
  struct Segment {
    std::int64_t offset;  // in the file
    std::size_t begin;    // in out_
  };

  template <Scalar T>
  void store(std::byte* p, T v) {
    if (swap_) {
      detail::store<T, true>(p, v);
    } else {
      detail::store<T, false>(p, v);
    }
  }
  std::byte* grow(std::size_t n) {
    const std::size_t at = out_.size();
    out_.resize(at + n);
    return out_.data() + at;
  }
  std::int64_t position() const {
    const Segment& s = segments_.back();
    return s.offset + static_cast<std::int64_t>(out_.size() - s.begin);
  }
  void raw(const Bytes& v) { out_.insert(out_.end(), v.begin(), v.end()); }
  void seek_to(const char* name, std::int64_t offset);
  void begin_segment(const char* name, std::int64_t offset);
  void too_many(const char* name, std::size_t n, std::size_t most);
  void wrong_length(const char* name, std::size_t have, std::int64_t stored);
  void fail(const char* name, std::string text);

  Bytes out_;
  std::size_t base_ = 0;
  std::vector<Segment> segments_{{0, 0}};
  Path path_;
  bool ok_ = true, swap_ = false;
  Error error_;
};

// Recomputes stored sizes, lengths and offsets in canonical order: the same walk, with a position
// instead of a buffer. Bytes in gaps are dropped; where a record is aligned, a gap of zeros is made.
class Layout {
 public:
  std::size_t size() const { return at_; }

  template <Scalar T>
  void operator()(const char*, T&) {
    at_ += sizeof(T);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char*, std::array<T, N>&) {
    at_ += N * sizeof(T);
  }
  template <class T>
    requires requires(Layout& l, T& t) { T::fields(l, t); }
  void operator()(const char*, T& v) {
    T::fields(*this, v);
  }
  void when(bool present, auto walk) {
    if (present) walk(*this);
  }
  void part(const char*, auto walk) { walk(*this); }
  template <Scalar T>
  void aside(const char*, T&) {}
  void based(auto walk) {
    const std::size_t saved = std::exchange(base_, at_);
    walk(*this);
    base_ = saved;
  }
  template <std::size_t N>
  void magic(const char*, const char (&)[N]) {
    at_ += N - 1;
  }
  template <class Int, class T>
  void count(const char*, std::vector<T>&) {
    at_ += sizeof(Int);
  }
  template <class T>
  void each(const char*, std::vector<T>& v) {
    if constexpr (Fixed<T>) {
      at_ += v.size() * wire_size<T>;
    } else {
      for (T& e : v) T::fields(*this, e);
    }
  }
  template <class T, class Int>
  void each(const char* name, std::vector<T>& v, Int&& n) {
    if constexpr (std::is_lvalue_reference_v<Int> &&
                  !std::is_const_v<std::remove_reference_t<Int>>) {
      n = static_cast<std::remove_reference_t<Int>>(v.size());
    }
    each(name, v);
  }
  template <class Int, class T>
  void count_inside(const char*, std::vector<T>&, std::int64_t) {
    at_ += sizeof(Int);
  }
  template <class T>
  void each_with(const char*, std::vector<T>& v, std::int64_t n, auto walk) {
    v.resize(static_cast<std::size_t>(n));
    for (std::size_t i = 0; i < v.size(); ++i) walk(*this, v[i], i);
  }
  void each_sized(const char*, std::vector<std::uint16_t>& v, std::int64_t, std::size_t bytes) {
    at_ += v.size() * bytes;
  }
  template <Scalar T>
  void until_zero(const char*, std::vector<T>& v) {
    at_ += (v.size() + 1) * sizeof(T);
  }
  template <Scalar Int>
  void gap(const char*, Bytes& v, Int& offset) {
    at_ += v.size();
    offset = static_cast<Int>(at_ - base_);
  }
  template <class T>
  void each_until(const char* name, std::vector<T>& v, auto) {
    each(name, v);
  }
  template <class T, class Int>
  void each_at(const char*, std::vector<T>& v, std::vector<Int>& offsets, std::int64_t origin = 0) {
    offsets.resize(v.size());
    for (std::size_t i = 0; i < v.size(); ++i) {
      offsets[i] = static_cast<Int>(static_cast<std::int64_t>(at_) - origin);
      T::fields(*this, v[i]);
    }
  }
  template <std::size_t N>
  void text(const char*, std::array<char, N>&) {
    at_ += N;
  }
  void text(const char*, std::string& v) { at_ += v.size() + 1; }
  template <Scalar Int>
  void counted_text(const char*, std::string& v) {
    at_ += sizeof(Int) + v.size();
  }
  void bytes(const char*, Bytes& v, std::int64_t) { at_ += v.size(); }
  void rest(const char*, Bytes& v) { at_ += v.size(); }
  void pad(const char*, Bytes& v, std::size_t n) {
    if (v.size() != n) v.clear();
    at_ += n;
  }
  void align(const char* name, Bytes& v, std::size_t n) {
    pad(name, v, (n - (at_ - base_) % n) % n);
  }
  template <Scalar Int>
  void seek(const char*, Int& offset, std::size_t alignment = 1) {
    const std::size_t n = (alignment - at_ % alignment) % alignment;
    if (n > 0) holes_.push_back({static_cast<std::int64_t>(at_), Bytes(n)});
    at_ += n;
    offset = static_cast<Int>(at_);
  }
  // An absent record is said to start here.
  template <Scalar Int>
  void seek_if(bool present, const char* name, Int& offset, std::size_t alignment = 1) {
    if (present) {
      seek(name, offset, alignment);
    } else {
      offset = static_cast<Int>(at_);
    }
  }
  void gaps(const char*, std::vector<Gap>& v) { v = std::move(holes_); }
  template <Scalar Int>
  Block later(const char*, Int&) {
    return {};
  }
  template <Scalar Int>
  void block(const char*, Block, Int& size, Bytes& unread, auto walk) {
    const std::size_t saved = std::exchange(base_, at_);
    walk(*this);
    at_ += unread.size();
    size = static_cast<Int>(at_ - base_);
    base_ = saved;
  }
  // A stored size that still holds its items stays; one that does not becomes exact.
  template <Scalar Int>
  void region(const char*, Int& size, std::size_t alignment, Bytes& slack, auto walk) {
    const std::size_t begin = at_;
    walk(*this);
    if (at_ - begin > static_cast<std::size_t>(size)) size = static_cast<Int>(at_ - begin);
    const std::size_t stop = begin - base_ + static_cast<std::size_t>(size);
    const std::size_t padded = (stop + alignment - 1) / alignment * alignment + base_;
    if (slack.size() != padded - at_) slack.clear();
    at_ = padded;
  }
  template <class... A>
  void choose(const char*, std::variant<A...>& v, std::size_t) {
    std::visit([&](auto& x) { std::remove_cvref_t<decltype(x)>::fields(*this, x); }, v);
  }
  void require(bool, const char*, const char*) {}
  void require_version(bool, const char*, const char*) {}
  void require_magic(bool, const char*, const char*) {}

 private:
  std::size_t at_ = 0, base_ = 0;
  std::vector<Gap> holes_;
};

// What every codec shares.
template <class Doc>
Result<Doc> read(ByteView in, const Limits& limits = {}, std::endian order = std::endian::little) {
  if (in.size() > limits.bytes) {
    return tl::unexpected(Error{Code::limit, 0, {}, "the input is larger than the limit"});
  }
  Result<Doc> doc{Doc{}};
  Reader r(in, order);
  Doc::fields(r, *doc);
  if (!r.ok()) return tl::unexpected(r.error());
  return doc;
}
template <class Doc>
Result<Bytes> write(const Doc& doc, std::endian order = std::endian::little) {
  Writer w(order);
  Doc::fields(w, doc);
  return w.take();
}
template <class Doc>
void layout(Doc& doc) {
  Layout l;
  Doc::fields(l, doc);
}

}  // namespace dopesheet::io
