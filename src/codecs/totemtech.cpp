// bytes <-> document. Games: SpongeBob SquarePants: Revenge of the Flying Dutchman, Jimmy Neutron: Boy
// Genius; both untested.
#include "dopesheet/totemtech.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "io/dump.hpp"
#include "io/json.hpp"
#include "io/skim.hpp"

namespace dopesheet::totemtech {
namespace {

constexpr std::size_t header_size = Header::wire_size, smallest_body = 18;

std::uint32_t word(ByteView in, std::size_t at, std::endian order) {
  return order != std::endian::native ? io::detail::load<std::uint32_t, true>(in.data() + at)
                                      : io::detail::load<std::uint32_t, false>(in.data() + at);
}

// The byte order of a resource header, which a body's bytes never look like: they would say that there
// are more meshes than the file has room for.
std::optional<std::endian> header_order(ByteView in) {
  if (in.size() < header_size) return std::nullopt;
  for (const auto order : {std::endian::big, std::endian::little}) {
    if (word(in, 4, order) == class_id) return order;
  }
  return std::nullopt;
}

File blank(const Detection& d) {
  File f;
  f.big_endian = d.order == std::endian::big ? 1 : 0;
  f.has_header = d.has_header ? 1 : 0;
  f.message_junk = d.message_junk ? 1 : 0;
  return f;
}

// How far the description reaches; whether it ends where the input does.
struct Reach {
  std::size_t offset;
  bool exact;
};
Reach reach(ByteView in, const Detection& d) {
  File scratch = blank(d);
  io::Skimmer s(in, d.order);
  File::fields(s, scratch);
  return {s.offset(), s.at_end()};
}

Result<File> parse(ByteView in, const Detection& d) {
  Result<File> file{blank(d)};
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

bool sane(float length) {
  return std::isfinite(length) && length >= 0 && length < 3600 &&
         (length == 0 || length > 1e-3F);  // the other byte order makes tiny numbers
}

// About what a file takes, and not less by much.
std::size_t size_of(const File& f) {
  std::size_t size = 64 + 12 * f.meshes.size() + 30 * f.nodes.size() + 54 * f.materials.size();
  const auto add = [&](const auto& k) {
    size += k.keys.size() * io::wire_size<std::remove_cvref_t<decltype(k.keys[0])>>;
  };
  for (const auto& t : f.meshes) add(t.visibility);
  for (const auto& t : f.nodes) {
    add(t.t1);
    add(t.rotation);
    add(t.t3);
    size += 64 * t.messages.keys.size();
  }
  for (const auto& t : f.materials) {
    for (const auto* k : {&t.track1, &t.track2, &t.track3, &t.track4, &t.track5, &t.track8})
      add(*k);
    add(t.track6);
    add(t.track7);
  }
  return size;
}

// Counts what no exporter would write.
struct Oddities {
  const File& file;
  std::size_t count = 0;

  explicit Oddities(const File& f) : file(f) {
    odd(!sane(f.length));
    odd(f.flag >= 0x100);
    for (const auto& t : f.meshes) add(t.flag, t.visibility);
    for (const auto& t : f.nodes) {
      add(t.flag, t.t1);
      add(0, t.t3);
      add(0, t.rotation);
      add(0, t.messages);
    }
    for (const auto& t : f.materials) {
      for (const auto* k : {&t.track1, &t.track2, &t.track3, &t.track4, &t.track5, &t.track8})
        add(0, *k);
      add(t.flag, t.track6);
      add(0, t.track7);
    }
  }

 private:
  void odd(bool is) { count += is ? 1 : 0; }
  template <class Key>
  void add(std::uint16_t flag, const Keyframer<Key>& k) {
    odd(flag >= 0x100);
    odd(k.interp >= 0x20);
    for (std::size_t i = 0; i < k.keys.size(); ++i) {
      odd(i > 0 && k.keys[i].frame < k.keys[i - 1].frame);
      content(k.keys[i]);
    }
    if (!k.keys.empty()) odd(k.keys.back().frame > file.length * 120 + 2);
  }
  void content(const KeyFloat& k) {
    odd(!std::isfinite(k.value) || !std::isfinite(k.tangent_in) || !std::isfinite(k.tangent_out));
  }
  void content(const KeyVec3&) {}
  void content(const KeyRot& k) {
    double square = 0;
    for (const double c : k.rotation) square += c * c;
    odd(!(std::abs(std::sqrt(square) - 2000) <= 20));
    odd(!std::isfinite(k.omega) || !std::isfinite(k.sinom));
  }
  void content(const KeyMessage& k) {
    for (const Message& m : k.messages) odd(m.id >= 0x1000);
  }
};

}  // namespace

Result<Detection> detect(ByteView in, const ReadChoices& choices) {
  Detection base;
  const auto header = header_order(in);
  base.has_header = header.has_value();
  if (header && choices.order && *choices.order != *header) {
    return tl::unexpected(Error{Code::bad_value, 4, "header.class_id",
                                "the header is of the other byte order than asked for"});
  }
  if (header && word(in, 0, *header) != in.size()) {
    const std::uint32_t size = word(in, 0, *header);
    return tl::unexpected(Error{size > in.size() ? Code::truncated : Code::bad_value, 0,
                                "header.size",
                                fmt::format("says {} bytes, {} are here", size, in.size())});
  }
  std::vector<Detection> possible;
  Detection furthest = base;
  std::size_t most = 0;
  bool tried = false;
  for (const auto order : {std::endian::little, std::endian::big}) {
    if ((header && order != *header) || (choices.order && order != *choices.order)) continue;
    for (const bool junk : {false, true}) {
      if (choices.message_junk && junk != *choices.message_junk) continue;
      Detection d = base;
      d.order = order;
      d.message_junk = junk;
      const Reach r = reach(in, d);
      if (r.exact) possible.push_back(d);
      if (!tried || r.offset > most) furthest = d;
      most = std::max(most, r.offset);
      tried = true;
    }
  }
  if (possible.empty()) {
    const auto file = parse(in, furthest);
    Error e = file ? Error{} : file.error();
    if (!choices.order && !header) e.text += "; the other byte order does not fit either";
    return tl::unexpected(std::move(e));
  }
  Detection best = possible[0];
  if (possible.size() > 1) {
    std::size_t least = SIZE_MAX;
    for (const Detection& d : possible) {  // of equals the first: without junk
      const auto file = parse(in, d);
      const std::size_t odd = file ? Oddities(*file).count : SIZE_MAX;
      if (odd >= least) continue;
      least = odd;
      best = d;
    }
  }
  for (const Detection& d : possible) {
    best.order_is_open = best.order_is_open || d.order != best.order;
    best.junk_is_open =
        best.junk_is_open || (d.order == best.order && d.message_junk != best.message_junk);
  }
  return best;
}

Result<File> read(ByteView in, const Limits& limits, const ReadChoices& choices) {
  if (in.size() > limits.bytes) {
    return tl::unexpected(Error{Code::limit, 0, {}, "the input is larger than the limit"});
  }
  return detect(in, choices).and_then([&](const Detection& d) { return parse(in, d); });
}

Result<Bytes> write(const File& file) {
  io::Writer w(file.order());
  w.reserve(size_of(file));
  File::fields(w, file);
  auto bytes = w.take();
  if (bytes && file.has_header != 0 && file.header.size != bytes->size()) {
    return tl::unexpected(Error{Code::bad_document, 0, "header.size",
                                fmt::format("says {} bytes, there are {}; lay the document out "
                                            "again after editing it",
                                            file.header.size, bytes->size())});
  }
  return bytes;
}

void layout(File& file) {
  io::Layout l;
  File::fields(l, file);
  file.header.size = static_cast<std::uint32_t>(l.size());
}

std::string dump(const File& file) { return io::dump(file); }
std::string to_json(const File& file) { return io::to_json(file, "totemtech"); }
Result<File> from_json(std::string_view json, const Limits& limits) {
  return io::from_json<File>(json, "totemtech", limits);
}

bool probe(ByteView in) {
  if (header_order(in)) return true;
  if (in.size() < smallest_body) return false;
  for (const auto order : {std::endian::little, std::endian::big}) {
    // Nothing but counts of 0 is too little to go by.
    const auto length = std::bit_cast<float>(word(in, 0, order));
    if (in.size() == smallest_body && !(sane(length) && length > 0)) continue;
    for (const bool junk : {false, true}) {
      if (reach(in, {order, false, junk}).exact) return true;
    }
  }
  return false;
}

}  // namespace dopesheet::totemtech
