// bytes <-> document. Games: Ratatouille, WALL-E, FUEL, Toy Story 3; none tested on a real file.
#include "dopesheet/zouna.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>

#include "io/dump.hpp"
#include "io/json.hpp"
#include "io/skim.hpp"
#include "zouna_envelope.hpp"

namespace dopesheet::zouna {
namespace {

// How far the description of a body reaches; whether it ends where the input does.
struct Reach {
  std::size_t offset;
  bool exact;
};
Reach reach(ByteView in, std::endian order) {
  Body scratch;
  io::Skimmer s(in, order);
  Body::fields(s, scratch);
  return {s.offset(), s.at_end()};
}

bool sane(float v) {
  return std::isfinite(v) && v >= 0 && v < 1e5F &&
         (v == 0 || v > 1e-4F);  // the other byte order makes tiny numbers
}
bool likely(ByteView in, std::endian order) {
  return sane(std::bit_cast<float>(word(in, 0, order))) &&
         sane(std::bit_cast<float>(word(in, 4, order)));
}

Error no_header(const Choices& choices) {
  std::string text = "no header of an Animation_Z";
  if (choices.order) text += " in the byte order that was asked for";
  return {Code::bad_magic, 0, "header", std::move(text)};
}

// A packed body would be unpacked here, into a file of stored bytes, and nowhere else.
Result<File> parse(ByteView in, const Detection& d) {
  Result<File> file{File{}};
  file->envelope = blank(d, animation_class);
  io::Reader r(in, d.order);
  File::fields(r, *file);
  if (!r.ok()) return tl::unexpected(r.error());
  if (r.left() > 0) {
    return tl::unexpected(Error{Code::bad_value,
                                r.offset(),
                                {},
                                fmt::format("the animation ends here, {} bytes follow", r.left())});
  }
  return file;
}

Result<Detection> bare(ByteView in, const Choices& choices) {
  std::vector<std::endian> exact;
  std::endian furthest = choices.order.value_or(std::endian::little);
  std::size_t most = 0;
  for (const auto order : {std::endian::little, std::endian::big}) {
    if (choices.order && *choices.order != order) continue;
    const Reach r = reach(in, order);
    if (r.exact) exact.push_back(order);
    if (r.offset > most) furthest = order;
    most = std::max(most, r.offset);
  }
  Detection d;
  if (exact.empty()) {
    d.order = furthest;
    const auto file = parse(in, d);
    Error e = file ? Error{} : file.error();
    if (!choices.order) e.text += "; the other byte order does not fit either";
    return tl::unexpected(std::move(e));
  }
  d.order_is_open = exact.size() > 1;
  const bool second = d.order_is_open && !likely(in, exact[0]) && likely(in, exact[1]);
  d.order = exact[second ? 1 : 0];
  d.reason = d.order_is_open ? "both byte orders fit; the likelier duration decides"
             : choices.order ? "as asked for"
                             : "only this byte order ends where the file does";
  return d;
}

}  // namespace

Result<Detection> detect(ByteView in, const Choices& choices) {
  if (auto d = headed(in, animation_class, choices)) return *d;
  const bool head = choices.flavour && *choices.flavour != Flavour::bare;
  if (head || (!choices.flavour && headed(in, animation_class, {}))) {
    return tl::unexpected(no_header(choices));
  }
  return bare(in, choices);
}

Result<File> read(ByteView in, const Limits& limits, const Choices& choices) {
  if (in.size() > limits.bytes) {
    return tl::unexpected(Error{Code::limit, 0, {}, "the input is larger than the limit"});
  }
  return detect(in, choices).and_then([&](const Detection& d) { return parse(in, d); });
}

Result<Bytes> write(const File& file) {
  io::Writer w(file.envelope.order());
  const Body& b = file.body;
  w.reserve(256 + 12 * b.rotation.size() + 40 * b.bezier_rotation.size() +
            24 * (b.scale.keys.size() + b.translation.keys.size()) + 28 * b.nodes.size());
  File::fields(w, file);
  return w.take();
}

void layout(File& file) {
  Envelope& e = file.envelope;
  if (e.has(Flavour::bare)) return;
  if (e.has(Links::list)) {
    std::unordered_set<std::uint32_t> listed(e.linked.begin(), e.linked.end());
    for (const KeyMessage& k : file.body.messages) {
      for (const Message& m : k.messages) {
        if (m.links() && listed.insert(m.param).second) e.linked.push_back(m.param);
      }
    }
  }
  io::Layout l;
  Body::fields(l, file.body);
  layout(e, l.size());
}

std::string dump(const File& file) { return io::dump(file); }
std::string to_json(const File& file) { return io::to_json(file, "zouna"); }
Result<File> from_json(std::string_view json, const Limits& limits) {
  return io::from_json<File>(json, "zouna", limits);
}

bool probe(ByteView in) {
  if (headed(in, animation_class, {})) return true;
  if (in.size() < smallest_body) return false;
  for (const auto order : {std::endian::little, std::endian::big}) {
    if (likely(in, order) && reach(in, order).exact) return true;
  }
  return false;
}

}  // namespace dopesheet::zouna
