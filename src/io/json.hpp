// Documents as JSON, both ways, exact to the last bit. Empty arrays and empty bytes are left out.
#pragma once
#include "dopesheet/io.hpp"
#include "io/text.hpp"

namespace dopesheet::io {

class JsonWriter {
 public:
  explicit JsonWriter(std::string_view format) {
    open('{');
    member("format");
    text_ += json_string(format);
  }
  std::string take() {
    close('}');
    return std::move(text_) + '\n';
  }

  template <Scalar T>
  void operator()(const char* name, const T& v) {
    member(name);
    number(v);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char* name, const std::array<T, N>& v) {
    member(name);
    list(v);
  }
  template <class T>
    requires requires(JsonWriter& w, const T& t) { T::fields(w, t); }
  void operator()(const char* name, const T& v) {
    member(name);
    object([&] { T::fields(*this, v); }, Packed<T>);
  }
  void when(bool present, auto walk) {
    if (present) walk(*this);
  }
  void part(const char* name, auto walk) {
    member(name);
    object([&] { walk(*this); }, false);
  }
  template <Scalar T>
  void aside(const char* name, const T& v) {
    (*this)(name, v);
  }
  void based(auto walk) { walk(*this); }
  template <std::size_t N>
  void magic(const char*, const char (&)[N]) {}
  template <class Int, class T>
  void count(const char*, const std::vector<T>&) {}
  template <class Int, class T>
  void count_inside(const char*, const std::vector<T>&, std::int64_t) {}
  template <class T>
  void each(const char* name, const std::vector<T>& v) {
    if constexpr (Scalar<T>) {
      if (v.empty()) return;
      member(name);
      list(v);
    } else {
      each_with(name, v, 0, [](auto& ar, const T& e, std::size_t) {
        if constexpr (is_array<T>) {
          ar.list(e);
        } else {
          T::fields(ar, e);
        }
      });
    }
  }
  template <class T>
  void each(const char* name, const std::vector<T>& v, std::int64_t) {
    each(name, v);
  }
  template <class T>
  void each_with(const char* name, const std::vector<T>& v, std::int64_t, auto walk) {
    if (v.empty()) return;
    member(name);
    open('[');
    for (std::size_t i = 0; i < v.size(); ++i) {
      separate();
      if constexpr (is_array<T>) {
        walk(*this, v[i], i);
      } else {
        object([&] { walk(*this, v[i], i); }, Packed<T>);
      }
    }
    close(']');
  }
  void each_sized(const char* name, const std::vector<std::uint16_t>& v, std::int64_t,
                  std::size_t) {
    each(name, v);
  }
  template <Scalar T>
  void until_zero(const char* name, const std::vector<T>& v) {
    each(name, v);
  }
  template <Scalar Int>
  void gap(const char* name, const Bytes& v, const Int&) {
    bytes(name, v, 0);
  }
  template <class T>
  void each_until(const char* name, const std::vector<T>& v, auto) {
    each(name, v);
  }
  template <class T, class Int>
  void each_at(const char* name, const std::vector<T>& v, const std::vector<Int>&,
               std::int64_t = 0) {
    each(name, v);
  }
  template <std::size_t N>
  void text(const char* name, const std::array<char, N>& v) {
    member(name);
    text_ += json_string(escape_bytes(trim_zeros({v.data(), N})));
  }
  void text(const char* name, const std::string& v) {
    member(name);
    text_ += json_string(escape_bytes(v));
  }
  template <Scalar Int>
  void counted_text(const char* name, const std::string& v) {
    text(name, v);
  }
  void bytes(const char* name, const Bytes& v, std::int64_t) {
    if (v.empty()) return;
    member(name);
    text_ += '"' + to_hex(v) + '"';
  }
  void rest(const char* name, const Bytes& v) { bytes(name, v, 0); }
  void pad(const char* name, const Bytes& v, std::size_t) { bytes(name, v, 0); }
  void align(const char* name, const Bytes& v, std::size_t) { bytes(name, v, 0); }
  template <Scalar Int>
  void seek(const char*, const Int&, std::size_t = 1) {}
  template <Scalar Int>
  void seek_if(bool, const char*, const Int&, std::size_t = 1) {}
  void gaps(const char* name, const std::vector<Gap>& v) {
    each_with(name, v, 0, [](JsonWriter& ar, const Gap& g, std::size_t) {
      ar("offset", g.offset);
      ar.bytes("bytes", g.bytes, 0);
    });
  }
  template <Scalar Int>
  Block later(const char*, const Int&) {
    return {};
  }
  template <Scalar Int>
  void block(const char* name, Block, const Int&, const Bytes& unread, auto walk) {
    member(name);
    object(
        [&] {
          walk(*this);
          bytes("unread", unread, 0);
        },
        false);
  }
  template <Scalar Int>
  void region(const char* name, const Int&, std::size_t, const Bytes& slack, auto walk) {
    walk(*this);
    bytes(name, slack, 0);
  }
  template <class... A>
  void choose(const char* name, const std::variant<A...>& v, std::size_t) {
    std::visit(
        [&](const auto& x) {
          if constexpr (!std::is_empty_v<std::remove_cvref_t<decltype(x)>>) (*this)(name, x);
        },
        v);
  }
  void require(bool, const char*, const char*) {}
  void require_version(bool, const char*, const char*) {}
  void require_magic(bool, const char*, const char*) {}

 private:
  void object(auto walk, bool on_one_line) {
    const bool outer = std::exchange(inline_, inline_ || on_one_line);
    open('{');
    walk();
    close('}');
    inline_ = outer;
  }
  void list(const auto& v) {
    text_ += '[';
    for (std::size_t i = 0; i < v.size(); ++i) {
      if (i > 0) text_ += ", ";
      number(v[i]);
    }
    text_ += ']';
  }
  template <Scalar T>
  void number(T v) {
    if constexpr (std::floating_point<T>) {
      const std::string s = float_text(v);
      text_ += s.find(':') == std::string::npos ? s : json_string(s);
    } else {
      text_ += std::to_string(v);
    }
  }
  void member(const char* name);
  void separate();
  void open(char c);
  void close(char c);

  std::string text_;
  std::vector<bool> empty_;  // of the enclosing arrays and objects
  bool inline_ = false;
};

// Parsed JSON, flat: a node, then the nodes inside it. Object members are a key and a value.
class JsonDocument {
 public:
  enum class Kind : std::uint8_t { null, boolean, number, string, array, object };
  struct Node {
    Kind kind = Kind::null;
    bool used = false;                 // of a key: somebody asked for this member
    std::size_t offset = 0;            // of the token, bytes from the start of the text
    std::size_t end = 0;               // index of the node after this one and all inside it
    std::size_t text = 0, length = 0;  // in texts(): of a string, decoded; of a number, as written
    std::size_t children = 0;          // elements or members
  };
  static Result<JsonDocument> parse(std::string_view json, const Limits& limits);

  std::vector<Node> nodes;
  std::string texts;
  std::size_t size = 0;  // of the input, bytes
  std::string_view text(const Node& n) const {
    return std::string_view(texts).substr(n.text, n.length);
  }
};

class JsonReader {
 public:
  explicit JsonReader(JsonDocument& json);
  JsonReader(JsonDocument& json, std::string_view format);

  bool ok() const { return ok_; }
  const Error& error() const { return error_; }
  std::string string(const char* name, bool needed);
  // Fails when the object in hand has members that nobody asked for.
  void finish();

  template <Scalar T>
  void operator()(const char* name, T& v) {
    if (const auto at = find(name, true)) number(name, *at, v);
  }
  template <Scalar T, std::size_t N>
  void operator()(const char* name, std::array<T, N>& v) {
    if (const auto at = find(name, true)) list(name, *at, v);
  }
  template <class T>
    requires requires(JsonReader& r, T& t) { T::fields(r, t); }
  void operator()(const char* name, T& v) {
    if (const auto at = find(name, true)) inside(name, *at, [&] { T::fields(*this, v); });
  }
  void when(bool present, auto walk) {
    if (present) walk(*this);
  }
  void part(const char* name, auto walk) {
    if (const auto at = find(name, true)) inside(name, *at, [&] { walk(*this); });
  }
  template <Scalar T>
  void aside(const char* name, T& v) {
    (*this)(name, v);
  }
  void based(auto walk) { walk(*this); }
  template <std::size_t N>
  void magic(const char*, const char (&)[N]) {}
  template <class Int, class T>
  void count(const char* name, std::vector<T>& v) {
    resize(name, v);
  }
  template <class Int, class T>
  void count_inside(const char*, std::vector<T>&, std::int64_t) {}
  template <class T>
  void each(const char* name, std::vector<T>& v) {
    elements(name, v, [](auto& ar, T& e, std::size_t) { T::fields(ar, e); });
  }
  template <class T>
    requires(Scalar<T> || is_array<T>)
  void each(const char* name, std::vector<T>& v) {
    const auto at = resize(name, v);
    if (!at) return;
    path_.enter(name, 0);
    std::size_t node = *at + 1;
    for (std::size_t i = 0; i < v.size() && ok(); ++i, node = json_.nodes[node].end) {
      path_.index(static_cast<std::int64_t>(i));
      if constexpr (Scalar<T>) {
        number("", node, v[i]);
      } else {
        list("", node, v[i]);
      }
    }
    path_.leave();
  }
  template <class T>
  void each(const char* name, std::vector<T>& v, std::int64_t) {
    each(name, v);
  }
  template <class T>
  void each_with(const char* name, std::vector<T>& v, std::int64_t n, auto walk) {
    const auto at = array(name, sizeof(T));
    const std::size_t have = at ? json_.nodes[*at].children : 0;
    if (static_cast<std::int64_t>(have) != n) {
      return fail(here_, name,
                  "has " + std::to_string(have) + " elements, expected " + std::to_string(n));
    }
    elements(name, v, walk);
  }
  void each_sized(const char* name, std::vector<std::uint16_t>& v, std::int64_t, std::size_t) {
    each(name, v);
  }
  template <Scalar T>
  void until_zero(const char* name, std::vector<T>& v) {
    each(name, v);
  }
  template <Scalar Int>
  void gap(const char* name, Bytes& v, const Int&) {
    bytes(name, v);
  }
  template <class T>
  void each_until(const char* name, std::vector<T>& v, auto) {
    each(name, v);
  }
  template <class T, class Int>
  void each_at(const char* name, std::vector<T>& v, const std::vector<Int>&, std::int64_t = 0) {
    each(name, v);
  }
  template <std::size_t N>
  void text(const char* name, std::array<char, N>& v) {
    const std::string s = string(name, true);
    v = {};
    if (s.size() > N)
      return fail(here_, name, "is longer than the " + std::to_string(N) + " bytes it has");
    std::copy(s.begin(), s.end(), v.begin());
  }
  void text(const char* name, std::string& v) { v = string(name, true); }
  template <Scalar Int>
  void counted_text(const char* name, std::string& v) {
    text(name, v);
  }
  void bytes(const char* name, Bytes& v, std::int64_t = 0);
  void rest(const char* name, Bytes& v) { bytes(name, v); }
  void pad(const char* name, Bytes& v, std::size_t) { bytes(name, v); }
  void align(const char* name, Bytes& v, std::size_t) { bytes(name, v); }
  template <Scalar Int>
  void seek(const char*, const Int&, std::size_t = 1) {}
  template <Scalar Int>
  void seek_if(bool, const char*, const Int&, std::size_t = 1) {}
  void gaps(const char* name, std::vector<Gap>& v) {
    elements(name, v, [](JsonReader& ar, Gap& g, std::size_t) {
      ar("offset", g.offset);
      ar.bytes("bytes", g.bytes);
    });
  }
  template <Scalar Int>
  Block later(const char*, const Int&) {
    return {};
  }
  template <Scalar Int>
  void block(const char* name, Block, const Int&, Bytes& unread, auto walk) {
    if (const auto at = find(name, true)) {
      inside(name, *at, [&] {
        walk(*this);
        bytes("unread", unread);
      });
    }
  }
  template <Scalar Int>
  void region(const char* name, const Int&, std::size_t, Bytes& slack, auto walk) {
    walk(*this);
    bytes(name, slack);
  }
  template <class... A>
  void choose(const char* name, std::variant<A...>& v, std::size_t index) {
    emplace(v, index);
    std::visit(
        [&](auto& x) {
          if constexpr (!std::is_empty_v<std::remove_cvref_t<decltype(x)>>) (*this)(name, x);
        },
        v);
  }
  void require(bool good, const char* name, const char* text) {
    if (!good) fail(here_, name, text);
  }
  void require_version(bool good, const char* name, const char* text) { require(good, name, text); }
  void require_magic(bool good, const char* name, const char* text) { require(good, name, text); }

 private:
  template <class T>
  void elements(const char* name, std::vector<T>& v, auto walk) {
    const auto at = resize(name, v);
    if (!at) return;
    path_.enter(name, 0);
    std::size_t node = *at + 1;
    for (std::size_t i = 0; i < v.size() && ok(); ++i, node = json_.nodes[node].end) {
      path_.index(static_cast<std::int64_t>(i));
      enter(node, [&] { walk(*this, v[i], i); });
    }
    path_.leave();
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
  template <class T>
  std::optional<std::size_t> resize(const char* name, std::vector<T>& v) {
    v.clear();
    const auto at = array(name, sizeof(T));
    if (at) v.resize(json_.nodes[*at].children);
    return at;
  }
  template <Scalar T>
  void number(const char* name, std::size_t node, T& v) {
    if constexpr (std::floating_point<T>) {
      real(name, node, v);
    } else {
      static_assert(sizeof(T) < 8 || std::is_signed_v<T>);
      v = static_cast<T>(integer(name, node, std::int64_t{std::numeric_limits<T>::min()},
                                 std::int64_t{std::numeric_limits<T>::max()}));
    }
  }
  template <Scalar T, std::size_t N>
  void list(const char* name, std::size_t node, std::array<T, N>& v) {
    if (!has_children(name, node, N)) return;
    ++node;
    for (T& x : v) {
      number(name, node, x);
      node = json_.nodes[node].end;
    }
  }
  void inside(const char* name, std::size_t node, auto walk) {
    path_.enter(name);
    enter(node, walk);
    path_.leave();
  }
  void enter(std::size_t node, auto walk) {
    if (!is_object(node)) return;
    const auto saved = std::pair{object_, next_};
    object_ = node;
    next_ = node + 1;
    here_ = json_.nodes[node].offset;
    walk();
    if (ok()) finish();
    std::tie(object_, next_) = saved;
  }

  std::optional<std::size_t> find(const char* name, bool needed);
  std::optional<std::size_t> array(const char* name, std::size_t element_size);
  bool is_object(std::size_t node);
  bool has_children(const char* name, std::size_t node, std::size_t n);
  std::int64_t integer(const char* name, std::size_t node, std::int64_t min, std::int64_t max);
  void real(const char* name, std::size_t node, float& v);
  void real(const char* name, std::size_t node, double& v);
  void fail(std::size_t offset, const char* name, std::string text);

  JsonDocument& json_;
  std::size_t object_ = 0, next_ = 1;  // the object in hand; where the next member is expected
  std::size_t here_ = 0;               // offset of what was read last
  Path path_;
  bool ok_ = true;
  Error error_;
};

// The "format" member of a document.
Result<std::string> json_format(std::string_view json, const Limits& limits = {});

template <class Doc>
std::string to_json(const Doc& doc, std::string_view format) {
  JsonWriter w(format);
  Doc::fields(w, doc);
  return w.take();
}
template <class Doc>
Result<Doc> from_json(std::string_view json, std::string_view format, const Limits& limits) {
  auto parsed = JsonDocument::parse(json, limits);
  if (!parsed) return tl::unexpected(parsed.error());
  Result<Doc> doc{Doc{}};
  JsonReader r(*parsed, format);
  if (r.ok()) Doc::fields(r, *doc);
  if (r.ok()) r.finish();
  if (!r.ok()) return tl::unexpected(r.error());
  return doc;
}

}  // namespace dopesheet::io
