#include "io/json.hpp"

#include <fmt/format.h>

#include <charconv>
#include <nlohmann/json.hpp>

namespace dopesheet::io {

void JsonWriter::separate() {
  if (!empty_.back()) text_ += ',';
  if (inline_) {
    if (!empty_.back()) text_ += ' ';
  } else {
    text_ += '\n';
    text_.append(2 * empty_.size(), ' ');
  }
  empty_.back() = false;
}
void JsonWriter::member(const char* name) {
  separate();
  text_ += json_string(name) + ": ";
}
void JsonWriter::open(char c) {
  text_ += c;
  empty_.push_back(true);
}
void JsonWriter::close(char c) {
  const bool empty = empty_.back();
  empty_.pop_back();
  if (!inline_ && !empty) {
    text_ += '\n';
    text_.append(2 * empty_.size(), ' ');
  }
  text_ += c;
}

namespace {

// Fills a JsonDocument from nlohmann's parser. That one does not say where its tokens are, so the text
// is followed alongside: between two tokens stand only blanks and punctuation.
class Builder : public nlohmann::json::json_sax_t {
 public:
  Builder(std::string_view text, const Limits& limits, JsonDocument& out)
      : text_(text), limits_(limits), out_(out), at_(text.starts_with("\xEF\xBB\xBF") ? 3 : 0) {}

  bool null() override { return literal(JsonDocument::Kind::null); }
  bool boolean(bool) override { return literal(JsonDocument::Kind::boolean); }
  bool number_integer(number_integer_t) override { return number(); }
  bool number_unsigned(number_unsigned_t) override { return number(); }
  bool number_float(number_float_t, const string_t&) override { return number(); }
  bool string(string_t& v) override {
    auto& n = scalar(JsonDocument::Kind::string);
    n.text = out_.texts.size();
    n.length = v.size();
    out_.texts += v;
    for (++at_; at_ < text_.size() && text_[at_] != '"'; ++at_) {
      if (text_[at_] == '\\') ++at_;
    }
    ++at_;
    return true;
  }
  bool binary(binary_t&) override { return false; }
  bool key(string_t& v) override {
    is_key_ = true;
    return string(v);
  }
  bool start_object(std::size_t) override { return open(JsonDocument::Kind::object); }
  bool start_array(std::size_t) override { return open(JsonDocument::Kind::array); }
  bool end_object() override { return close(); }
  bool end_array() override { return close(); }
  bool parse_error(std::size_t position, const std::string&,
                   const nlohmann::detail::exception& e) override {
    if (error_.text.empty()) {
      const std::string_view what = e.what();
      const auto colon = what.find(": ");
      error_ = {Code::bad_value,
                position > 0 ? position - 1 : 0,
                {},
                "not JSON: " + std::string(colon == what.npos ? what : what.substr(colon + 2))};
    }
    return false;
  }
  const Error& error() const { return error_; }

 private:
  JsonDocument::Node& scalar(JsonDocument::Kind kind) {
    at_ = std::min(text_.find_first_not_of(" \t\r\n,:]}", at_), text_.size());
    if (!std::exchange(is_key_, false) && !open_.empty()) ++out_.nodes[open_.back()].children;
    auto& n = out_.nodes.emplace_back();
    n.kind = kind;
    n.offset = at_;
    n.end = out_.nodes.size();
    return n;
  }
  bool literal(JsonDocument::Kind kind) {
    scalar(kind);
    at_ = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
    return true;
  }
  bool number() {
    auto& n = scalar(JsonDocument::Kind::number);
    const std::size_t stop = std::min(text_.find_first_of(" \t\r\n,:]}", at_), text_.size());
    n.text = out_.texts.size();
    n.length = stop - at_;
    out_.texts += text_.substr(at_, n.length);
    at_ = stop;
    return true;
  }
  bool open(JsonDocument::Kind kind) {
    scalar(kind);
    if (open_.size() >= limits_.depth) {
      error_ = {Code::limit, at_, {}, fmt::format("JSON nested deeper than {}", limits_.depth)};
      return false;
    }
    open_.push_back(out_.nodes.size() - 1);
    ++at_;
    return true;
  }
  bool close() {
    out_.nodes[open_.back()].end = out_.nodes.size();
    open_.pop_back();
    return true;
  }

  std::string_view text_;
  const Limits& limits_;
  JsonDocument& out_;
  std::size_t at_;  // behind the last token; the parser skips a byte order mark
  std::vector<std::size_t> open_;
  bool is_key_ = false;
  Error error_;
};

}  // namespace

Result<JsonDocument> JsonDocument::parse(std::string_view json, const Limits& limits) {
  if (json.size() > limits.bytes) {
    return tl::unexpected(Error{Code::limit, 0, {}, "the input is larger than the limit"});
  }
  Result<JsonDocument> out{JsonDocument{}};
  out->size = json.size();
  Builder builder(json, limits, *out);
  if (!nlohmann::json::sax_parse(json.begin(), json.end(), &builder)) {
    return tl::unexpected(builder.error());
  }
  return out;
}

JsonReader::JsonReader(JsonDocument& json) : json_(json) {
  if (json.nodes.empty() || json.nodes[0].kind != JsonDocument::Kind::object) {
    fail(0, "", "expected a JSON object");
  }
}
JsonReader::JsonReader(JsonDocument& json, std::string_view format) : JsonReader(json) {
  const std::string is = string("format", true);
  if (ok() && is != format) {
    fail(here_, "format", fmt::format("is '{}', expected '{}'", is, format));
  }
}

Result<std::string> json_format(std::string_view json, const Limits& limits) {
  auto parsed = JsonDocument::parse(json, limits);
  if (!parsed) return tl::unexpected(parsed.error());
  JsonReader r(*parsed);
  std::string format = r.string("format", true);
  if (!r.ok()) return tl::unexpected(r.error());
  return format;
}

std::optional<std::size_t> JsonReader::find(const char* name, bool needed) {
  if (!ok()) return {};
  const auto& object = json_.nodes[object_];
  const std::string_view want = name;
  // Members usually stand in the order in which they are asked for.
  std::size_t key = next_ < object.end ? next_ : object_ + 1;
  for (std::size_t i = 0; i < object.children; ++i) {
    auto& k = json_.nodes[key];
    const std::size_t value = key + 1;
    next_ = json_.nodes[value].end;
    if (!k.used && json_.text(k) == want) {
      k.used = true;
      here_ = json_.nodes[value].offset;
      return value;
    }
    key = next_ < object.end ? next_ : object_ + 1;
  }
  if (needed) fail(object.offset, name, "is missing");
  return {};
}

void JsonReader::finish() {
  const auto& object = json_.nodes[object_];
  for (std::size_t key = object_ + 1; key < object.end; key = json_.nodes[key + 1].end) {
    const auto& k = json_.nodes[key];
    if (!k.used) {
      return fail(k.offset, "",
                  fmt::format("unknown or repeated member '{}'", escape_bytes(json_.text(k))));
    }
  }
}

std::optional<std::size_t> JsonReader::array(const char* name, std::size_t element_size) {
  // A count may have looked at the array already.
  if (!ok()) return {};
  const auto& object = json_.nodes[object_];
  std::optional<std::size_t> at;
  std::size_t key = next_ < object.end ? next_ : object_ + 1;
  const std::string_view want = name;
  for (std::size_t i = 0; i < object.children && !at; ++i) {
    if (json_.text(json_.nodes[key]) == want) {
      json_.nodes[key].used = true;
      at = key + 1;
    } else {
      key = json_.nodes[key + 1].end;
      if (key >= object.end) key = object_ + 1;
    }
  }
  if (!at) return {};
  const auto& n = json_.nodes[*at];
  here_ = n.offset;
  if (n.kind != JsonDocument::Kind::array) {
    fail(n.offset, name, "expected an array");
    return {};
  }
  if (n.children * element_size > 64 * json_.size + (std::size_t{1} << 20)) {
    fail(n.offset, name, "too many elements for the size of the text");
    return {};
  }
  return at;
}

bool JsonReader::is_object(std::size_t node) {
  if (!ok()) return false;
  const bool good = json_.nodes[node].kind == JsonDocument::Kind::object;
  if (!good) fail(json_.nodes[node].offset, "", "expected an object");
  return good;
}

bool JsonReader::has_children(const char* name, std::size_t node, std::size_t n) {
  if (!ok()) return false;
  const auto& a = json_.nodes[node];
  const bool good = a.kind == JsonDocument::Kind::array && a.children == n;
  if (!good) fail(a.offset, name, fmt::format("expected an array of {} numbers", n));
  return good;
}

std::int64_t JsonReader::integer(const char* name, std::size_t node, std::int64_t min,
                                 std::int64_t max) {
  if (!ok()) return 0;
  const auto& n = json_.nodes[node];
  const std::string_view text = json_.text(n);
  std::int64_t v = 0;
  const char* end = text.data() + text.size();
  if (n.kind != JsonDocument::Kind::number || std::from_chars(text.data(), end, v).ptr != end ||
      v < min || v > max) {
    fail(n.offset, name, fmt::format("expected an integer from {} to {}", min, max));
    return 0;
  }
  return v;
}

namespace {
template <class T>
bool to_real(JsonDocument::Kind kind, std::string_view text, std::optional<T> tagged, T& v) {
  if (kind == JsonDocument::Kind::string && tagged) {
    v = *tagged;
    return true;
  }
  if (kind != JsonDocument::Kind::number) return false;
  const char* end = text.data() + text.size();
  const auto r = std::from_chars(text.data(), end, v);
  return r.ec == std::errc{} && r.ptr == end;
}
}  // namespace

void JsonReader::real(const char* name, std::size_t node, float& v) {
  if (!ok()) return;
  const auto& n = json_.nodes[node];
  if (!to_real(n.kind, json_.text(n), tagged_float(json_.text(n)), v)) {
    fail(n.offset, name,
         "expected a number that fits a 32 bit float, or \"f32:\" and 8 hex digits");
  }
}
void JsonReader::real(const char* name, std::size_t node, double& v) {
  if (!ok()) return;
  const auto& n = json_.nodes[node];
  if (!to_real(n.kind, json_.text(n), tagged_double(json_.text(n)), v)) {
    fail(n.offset, name, "expected a number, or \"f64:\" and 16 hex digits");
  }
}

std::string JsonReader::string(const char* name, bool needed) {
  const auto at = find(name, needed);
  if (!at) return {};
  const auto& n = json_.nodes[*at];
  const auto s = unescape_bytes(json_.text(n));
  if (n.kind != JsonDocument::Kind::string || !s) {
    fail(n.offset, name, "expected text, with \\\\xNN for bytes that are not UTF-8");
    return {};
  }
  return *s;
}

void JsonReader::bytes(const char* name, Bytes& v, std::int64_t) {
  v.clear();
  const auto at = find(name, false);
  if (!at) return;
  const auto& n = json_.nodes[*at];
  auto b = from_hex(json_.text(n));
  if (n.kind != JsonDocument::Kind::string || !b) {
    return fail(n.offset, name, "expected bytes as pairs of hex digits");
  }
  v = std::move(*b);
}

void JsonReader::fail(std::size_t offset, const char* name, std::string text) {
  if (!ok_) return;
  ok_ = false;
  error_ = {Code::bad_value, offset, path_.text(name), std::move(text)};
}

}  // namespace dopesheet::io
