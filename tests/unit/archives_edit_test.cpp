// Edits of archives, the compression, names and selectors.
#include <algorithm>
#include <cstring>

#include "../support.hpp"
#include "archives/lzrs.hpp"
#include "dopesheet/archives.hpp"

using namespace dopesheet;
using namespace dopesheet::archives;

namespace {

struct Loaded {
  explicit Loaded(Bytes b) : source(std::make_shared<MemorySource>(std::move(b))) {
    const Kind* kind = archives::identify(*source);
    EXPECT_NE(kind, nullptr);
    auto listed = kind->list(*source);
    EXPECT_TRUE(listed) << to_string(listed.error());
    d = std::move(*listed);
  }
  Bytes entry(std::size_t i) const { return *d.kind->read(*source, d, i, {}); }
  Result<Rewritten> edit(const std::vector<Edit>& edits) const {
    return d.kind->rewrite(*source, d, edits, {});
  }
  std::shared_ptr<const Source> source;
  Directory d;
};
Loaded load_fixture(const std::string& name) {
  return Loaded(support::read_bytes(support::fixture(name)));
}

Edit replace(std::size_t entry, Bytes bytes) {
  return {Edit::What::replace, entry, {}, std::move(bytes)};
}
Edit removed(std::size_t entry) { return {Edit::What::remove, entry, {}, {}}; }
Edit add(Bytes bytes, std::string name = {}) {
  return {Edit::What::add, 0, std::move(name), std::move(bytes)};
}

void put(Bytes& out, std::size_t at, std::uint32_t v, std::endian order) {
  for (unsigned k = 0; k < 4; ++k)
    out[at + k] = static_cast<std::byte>(v >> (order == std::endian::big ? 24 - 8 * k : 8 * k));
}
std::uint32_t get(const Bytes& in, std::size_t at, std::endian order) {
  std::uint32_t v = 0;
  for (unsigned k = 0; k < 4; ++k)
    v |= static_cast<std::uint32_t>(in[at + k]) << (order == std::endian::big ? 24 - 8 * k : 8 * k);
  return v;
}
// A TotemTech record with `n` bytes more.
Bytes longer(Bytes record, std::size_t n, std::endian order) {
  record.resize(record.size() + n, std::byte{0x5a});
  put(record, 0, static_cast<std::uint32_t>(record.size()), order);
  return record;
}
Bytes longer_zouna(Bytes record, std::size_t n, std::endian order) {
  for (std::size_t k = 0; k < n; ++k) record.push_back(static_cast<std::byte>(k * 7 % 251));
  put(record, 0, static_cast<std::uint32_t>(record.size() - 24), order);
  put(record, 8, get(record, 8, order) + static_cast<std::uint32_t>(n), order);
  return record;
}

}  // namespace

TEST(TotemTech, a_replaced_record_that_fits_stays_where_it_is) {
  for (const char* name : {"totem_big.dgc", "totem_little.dps"}) {
    const Loaded a = load_fixture(name);
    const Bytes grown = longer(a.entry(1), 40, a.d.order);
    const auto out = a.edit({replace(1, grown)});
    ASSERT_TRUE(out) << to_string(out.error());
    EXPECT_TRUE(out->notes.empty());
    EXPECT_EQ(out->bytes.size(), a.source->size());
    const Loaded b(out->bytes);
    ASSERT_EQ(b.d.entries.size(), a.d.entries.size());
    for (std::size_t i = 0; i < a.d.entries.size(); ++i)
      EXPECT_EQ(b.entry(i), i == 1 ? grown : a.entry(i));
    const auto back = b.edit({replace(1, a.entry(1))});
    ASSERT_TRUE(back);
    EXPECT_EQ(*read_bytes(*a.source, 0, a.source->size()), back->bytes);
  }
}

TEST(TotemTech, a_record_without_room_moves_and_never_straddles) {
  const Loaded a = load_fixture("totem_big.dgc");
  const auto out = a.edit({replace(0, longer(a.entry(0), 1000, a.d.order))});
  ASSERT_TRUE(out) << to_string(out.error());
  ASSERT_EQ(out->notes.size(), 1U);
  const Loaded b(out->bytes);
  EXPECT_EQ(b.d.parts.size(), 2U);
  EXPECT_EQ(b.d.parts[0].count, 2U);
  EXPECT_EQ(b.d.parts[1].count, 2U);
  EXPECT_EQ(b.entry(0), a.entry(1));
  EXPECT_EQ(b.entry(3), longer(a.entry(0), 1000, a.d.order));
  for (const Entry& e : b.d.entries) {
    const Part& p = b.d.parts[e.part];
    EXPECT_GE(e.offset, p.offset + 4);
    EXPECT_LE(e.offset + e.stored, p.offset + p.size);
  }
}

TEST(TotemTech, chunks_grow_only_when_a_record_needs_it) {
  const Loaded a = load_fixture("totem_little.dps");
  const auto fits = a.edit({replace(3, longer(a.entry(3), 0x800 - 4 - 80, a.d.order))});
  ASSERT_TRUE(fits);
  EXPECT_EQ(Loaded(fits->bytes).d.parts[0].size, 0x800U);
  const auto out = a.edit({replace(3, longer(a.entry(3), 0x800 - 3 - 80, a.d.order))});
  ASSERT_TRUE(out);
  ASSERT_EQ(out->notes.size(), 1U);
  EXPECT_NE(out->notes[0].find("from 2048 to 4096"), std::string::npos);
  const Loaded b(out->bytes);
  ASSERT_EQ(b.d.parts.size(), 2U);
  for (const Part& p : b.d.parts) EXPECT_EQ(p.size, 0x1000U);
  for (std::size_t i = 0; i < 3; ++i) EXPECT_EQ(b.entry(i), a.entry(i));
}

TEST(TotemTech, records_are_added_and_removed) {
  const Loaded a = load_fixture("totem_big.dgc");
  Bytes extra = a.entry(0);
  put(extra, 8, 0x01020304, a.d.order);
  const auto out = a.edit({removed(2), add(extra), add(longer(extra, 1940, a.d.order))});
  ASSERT_TRUE(out);
  const Loaded b(out->bytes);
  ASSERT_EQ(b.d.entries.size(), 5U);
  EXPECT_EQ(b.d.parts.size(), 3U);
  EXPECT_EQ(b.entry(2), extra);
  EXPECT_EQ(b.d.entries[2].id, 0x01020304U);
  EXPECT_EQ(b.entry(4), longer(extra, 1940, a.d.order));
}

TEST(TotemTech, records_of_the_wrong_size_are_refused) {
  const Loaded a = load_fixture("totem_big.dgc");
  Bytes wrong = a.entry(0);
  wrong.pop_back();
  for (const Bytes& bytes : {wrong, Bytes(7), load_fixture("totem_little.dps").entry(0)}) {
    const auto out = a.edit({replace(0, bytes)});
    ASSERT_FALSE(out);
    EXPECT_EQ(out.error().path, "entries[0]");
  }
  EXPECT_EQ(a.edit({removed(0), removed(0)}).error().code, Code::usage);
  EXPECT_EQ(a.edit({removed(9)}).error().code, Code::usage);
}

TEST(Zouna, replaced_records_keep_the_rest) {
  for (const char* name : {"zouna_big.dpc", "zouna_little.dpc", "zouna_sums.dpc"}) {
    SCOPED_TRACE(name);
    const Loaded a = load_fixture(name);
    for (const std::size_t n : {std::size_t{10}, std::size_t{5000}}) {
      for (std::size_t i = 0; i < a.d.entries.size(); ++i) {
        const Bytes grown = longer_zouna(a.entry(i), n, a.d.order);
        const auto out = a.edit({replace(i, grown)});
        ASSERT_TRUE(out) << to_string(out.error());
        const Loaded b(out->bytes);
        ASSERT_EQ(b.d.entries.size(), a.d.entries.size());
        for (std::size_t k = 0; k < a.d.entries.size(); ++k) {
          EXPECT_EQ(b.entry(k), k == i ? grown : a.entry(k));
          EXPECT_EQ(b.d.entries[k].link, a.d.entries[k].link);
        }
      }
    }
  }
}

TEST(Zouna, headers_follow_the_blocks) {
  const Loaded a = load_fixture("zouna_sums.dpc");
  const Bytes before = *read_bytes(*a.source, 0, a.source->size());
  Bytes grown = longer_zouna(a.entry(3), 5000, a.d.order);
  const auto out = a.edit({replace(3, grown)});
  ASSERT_TRUE(out);
  const auto word = [&](const Bytes& b, std::size_t at) { return get(b, at, a.d.order); };
  EXPECT_EQ(word(before, 0x110), 3U * 0x800);
  EXPECT_EQ(word(out->bytes, 0x110), 5U * 0x800);
  EXPECT_EQ(word(before, 0x10C), 0x800U);  // the odd capacity
  EXPECT_EQ(word(out->bytes, 0x10C), 3U * 0x800);
  EXPECT_EQ(word(out->bytes, 0x108), word(before, 0x108));
  const std::size_t block = 0x120 + 24;
  EXPECT_EQ(word(out->bytes, block + 4), 3U * 0x800);
  EXPECT_EQ(word(out->bytes, block + 8), word(before, block + 8) + 5000);
  EXPECT_NE(word(out->bytes, block + 20), word(before, block + 20));
  EXPECT_EQ(out->notes.size(), 2U);
  const auto back = Loaded(out->bytes).edit({replace(3, a.entry(3))});
  ASSERT_TRUE(back);  // also the sum is what the fixture's author worked out
  EXPECT_EQ(word(back->bytes, block + 20), word(before, block + 20));
}

TEST(Zouna, a_sum_by_an_unknown_rule_is_no_licence_to_write) {
  const Loaded good = load_fixture("zouna_sums.dpc");
  Bytes bytes = *read_bytes(*good.source, 0, good.source->size());
  bytes[0x120 + 20] ^= std::byte{1};
  const Loaded a(bytes);
  EXPECT_EQ(a.edit({})->bytes, bytes);
  const auto out = a.edit({replace(0, longer_zouna(a.entry(0), 4, a.d.order))});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::cannot_represent);
  EXPECT_EQ(out.error().path, "blocks[0].checksum");
}

TEST(Zouna, records_are_added_and_removed) {
  const Loaded a = load_fixture("zouna_little.dpc");
  const auto out = a.edit({removed(0), removed(3), add(a.entry(2))});
  ASSERT_TRUE(out) << to_string(out.error());
  const Loaded b(out->bytes);
  ASSERT_EQ(b.d.entries.size(), 4U);
  EXPECT_EQ(b.entry(0), a.entry(1));
  EXPECT_EQ(b.entry(3), a.entry(2));
  EXPECT_EQ(b.d.parts[1].count, 0U);
}

TEST(Zouna, bodies_in_the_pool_are_patched_in_place_or_not_at_all) {
  const Loaded a = load_fixture("zouna_pool.dpc");
  for (const std::size_t i : {std::size_t{0}, std::size_t{1}}) {
    const Bytes changed = longer_zouna(a.entry(i), 100, a.d.order);
    const auto out = a.edit({replace(i, changed)});
    ASSERT_TRUE(out) << to_string(out.error());
    EXPECT_EQ(out->bytes.size(), a.source->size());
    const Loaded b(out->bytes);
    EXPECT_EQ(b.entry(i), changed);
    EXPECT_EQ(b.entry(1 - i), a.entry(1 - i));
    const auto large = a.edit({replace(i, longer_zouna(a.entry(i), 60000, a.d.order))});
    ASSERT_FALSE(large);
    EXPECT_EQ(large.error().code, Code::cannot_represent);
    EXPECT_EQ(a.edit({removed(i)}).error().code, Code::cannot_represent);
  }
  // A block that grows moves the pool.
  const auto out = a.edit({replace(2, longer_zouna(a.entry(2), 4000, a.d.order))});
  ASSERT_TRUE(out);
  const Loaded b(out->bytes);
  EXPECT_EQ(b.entry(0), a.entry(0));
  EXPECT_EQ(b.entry(1), a.entry(1));
  EXPECT_EQ(get(out->bytes, 0x73C, a.d.order), out->bytes.size());
}

TEST(Vpp, files_are_replaced_added_and_removed) {
  const Loaded a = load_fixture("files.vpp");
  const Bytes before = *read_bytes(*a.source, 0, a.source->size());
  for (std::size_t i = 0; i < a.d.entries.size(); ++i) {
    EXPECT_EQ(a.edit({replace(i, a.entry(i))})->bytes, before);
    for (const std::size_t n :
         {std::size_t{0}, std::size_t{5}, std::size_t{2048}, std::size_t{9000}}) {
      const Bytes content(n, std::byte{0x77});
      const auto out = a.edit({replace(i, content)});
      ASSERT_TRUE(out) << to_string(out.error());
      const Loaded b(out->bytes);
      EXPECT_EQ(get(out->bytes, 12, std::endian::little), out->bytes.size());
      for (std::size_t k = 0; k < a.d.entries.size(); ++k)
        EXPECT_EQ(b.entry(k), k == i ? content : a.entry(k));
    }
  }
  std::vector<Edit> edits{removed(0)};
  for (int i = 0; i < 40; ++i)
    edits.push_back(add(Bytes(30, std::byte(i)), "new" + std::to_string(i)));
  const auto out = a.edit(edits);
  ASSERT_TRUE(out) << to_string(out.error());
  const Loaded b(out->bytes);
  ASSERT_EQ(b.d.entries.size(), 43U);
  EXPECT_EQ(b.d.entries[42].name, "new39");
  EXPECT_EQ(b.entry(42), Bytes(30, std::byte{39}));
  EXPECT_EQ(b.entry(2), a.entry(3));
  EXPECT_EQ(a.edit({add({}, "WALK.RFA")}).error().code, Code::cannot_represent);
  EXPECT_EQ(a.edit({add({}, std::string(61, 'x'))}).error().code, Code::cannot_represent);
}

TEST(Lzrs, packs_and_unpacks) {
  std::vector<Bytes> texts{{}, Bytes(1), Bytes(100000), Bytes(3, std::byte{7})};
  Bytes mixed;
  std::uint32_t state = 1;
  for (int i = 0; i < 60000; ++i) {
    state = state * 1664525 + 1013904223;
    mixed.push_back(static_cast<std::byte>((state >> 24U) & ((i / 5000) % 2 != 0 ? 3U : 255U)));
  }
  texts.push_back(mixed);
  for (const Bytes& text : texts) {
    const Bytes packed = lzrs_pack(text);
    const auto out = lzrs_unpack(packed, text.size());
    ASSERT_TRUE(out) << to_string(out.error());
    EXPECT_EQ(*out, text);
  }
  EXPECT_LT(lzrs_pack(Bytes(100000)).size(), 100000U / 15);
  const Bytes packed = lzrs_pack(mixed);
  EXPECT_FALSE(lzrs_unpack(packed, mixed.size() + 1));
  for (std::size_t n = 0; n < 200; ++n)
    EXPECT_FALSE(lzrs_unpack(ByteView(packed).subspan(0, n), mixed.size()));
}

TEST(Selectors, mean_entries) {
  const Loaded a = load_fixture("totem_big.dgc");
  Names names;
  ASSERT_TRUE(names.read(support::read_bytes(support::fixture("totem_big.NGC"))));
  using Some = std::vector<std::size_t>;
  const auto sel = [&](std::string_view s, bool known = true) {
    return archives::select(a.d, known ? &names : nullptr, s);
  };
  EXPECT_EQ(sel(""), (Some{0, 1, 2, 3}));
  EXPECT_EQ(sel("*"), (Some{0, 1, 2, 3}));
  EXPECT_EQ(sel("DB:>ACTORS>SPONGE>RUN.TANIM"), Some{1});
  EXPECT_EQ(sel("db:>actors>sponge>run.tanim"), Some{1});
  EXPECT_EQ(sel("DB:>ACTORS>SPONGE>RUN.TANIM", false), Some{1});
  EXPECT_EQ(sel("unnamed"), Some{3});  // by its hash: no table has it
  EXPECT_EQ(sel("*.tanim"), (Some{0, 1}));
  EXPECT_EQ(sel("*.tanim", false), Some{});
  EXPECT_EQ(sel("*@ANIMATION", false), (Some{0, 1}));
  EXPECT_EQ(sel("@node"), Some{3});
  EXPECT_EQ(sel("@#8A901DCF"), Some{2});
  EXPECT_EQ(sel("@txt"), Some{2});
  EXPECT_EQ(sel("*.TANIM/1"), Some{1});
  EXPECT_EQ(sel("/3"), Some{3});
  EXPECT_EQ(sel("/4"), Some{});
  EXPECT_EQ(sel("@ANIMATION/1"), Some{1});
  const auto hash = entry_name(a.d, a.d.entries[3], &names);
  EXPECT_EQ(hash, hash_text(a.d.entries[3].id));
  EXPECT_EQ(sel(hash), Some{3});
  EXPECT_EQ(sel("0x" + hash.substr(1)), Some{3});
  EXPECT_EQ(sel("nothing"), Some{});
  const Loaded z = load_fixture("zouna_little.dpc");
  EXPECT_EQ(archives::select(z.d, nullptr, "walk.tanim"), (Some{0, 4}));
  EXPECT_EQ(archives::select(z.d, nullptr, "walk.tanim/1"), Some{4});
}

TEST(Paths, lead_to_one_entry_each) {
  for (const char* name : {"totem_big.dgc", "zouna_little.dpc", "zouna_pool.dpc"}) {
    const auto archive = archives::open(load_fixture(name).source, nullptr);
    ASSERT_TRUE(archive && *archive);
    const auto all = resolve(*archive, "*");
    ASSERT_TRUE(all);
    ASSERT_EQ(all->size(), (*archive)->directory.entries.size());
    for (const Found& f : *all) {
      const auto again = resolve(*archive, f.path().substr(1));
      ASSERT_TRUE(again) << f.path() << ": " << to_string(again.error());
      ASSERT_EQ(again->size(), 1U) << f.path();
      EXPECT_EQ(again->front().entry, f.entry);
    }
    const auto rest = resolve(*archive, "/0#WALK");
    ASSERT_TRUE(rest);
    EXPECT_EQ(rest->front().rest, "WALK");
    EXPECT_EQ(resolve(*archive, "none").error().code, Code::usage);
  }
}

TEST(Shenmue, files_are_replaced_added_and_removed) {
  for (const char* name : {"files.afs", "nameless.afs", "scene.pks", "first.ipac"}) {
    SCOPED_TRACE(name);
    const Loaded a = load_fixture(name);
    const Bytes before = *read_bytes(*a.source, 0, a.source->size());
    for (std::size_t i = 0; i < a.d.entries.size(); ++i) {
      EXPECT_EQ(a.edit({replace(i, a.entry(i))})->bytes, before);
      if (a.entry(i).empty()) continue;
      for (const std::size_t n : {std::size_t{5}, std::size_t{2048}, std::size_t{9000}}) {
        const Bytes content(n, std::byte{0x77});
        const auto out = a.edit({replace(i, content)});
        ASSERT_TRUE(out) << to_string(out.error());
        const Loaded b(out->bytes);
        ASSERT_EQ(b.d.entries.size(), a.d.entries.size());
        for (std::size_t k = 0; k < a.d.entries.size(); ++k) {
          EXPECT_EQ(b.entry(k), k == i ? content : a.entry(k));
          EXPECT_EQ(b.d.entries[k].name, a.d.entries[k].name);
        }
      }
    }
    const Bytes content(100, std::byte{0x11});
    const auto out =
        a.edit({removed(0), replace(2, content), add(content, "NEW.BIN"), add({}, "O.E")});
    ASSERT_TRUE(out) << to_string(out.error());
    const Loaded b(out->bytes);
    ASSERT_EQ(b.d.entries.size(), 4U);
    EXPECT_EQ(b.entry(0), a.entry(1));
    EXPECT_EQ(b.entry(1), content);
    EXPECT_EQ(b.entry(2), content);
    EXPECT_EQ(b.entry(3), Bytes{});
    EXPECT_EQ(b.d.entries[2].name, std::string_view(name) == "nameless.afs" ? "00002" : "NEW.BIN");
    const auto none = a.edit({removed(0), removed(1), removed(2)});
    ASSERT_TRUE(none);
    EXPECT_TRUE(Loaded(none->bytes).d.entries.empty());
    const auto some = Loaded(none->bytes).edit({add(content, "A.B")});
    ASSERT_TRUE(some);
    EXPECT_EQ(Loaded(some->bytes).entry(0), content);
  }
  const Loaded pks = load_fixture("scene.pks");
  EXPECT_EQ(archives::select(pks.d, nullptr, "walk"), (std::vector<std::size_t>{0, 1}));
  EXPECT_EQ(archives::select(pks.d, nullptr, "walk/1"), std::vector<std::size_t>{1});
  EXPECT_EQ(pks.edit({add({}, "MUCH_TOO_LONG.BIN")}).error().code, Code::cannot_represent);
}

// Two entries that are the same bytes: either may be read, none replaced.
TEST(Shenmue, shared_bytes_are_not_written_over) {
  const Loaded good = load_fixture("files.afs");
  Bytes bytes = *read_bytes(*good.source, 0, good.source->size());
  for (std::size_t k = 0; k < 8; ++k) bytes[8 + 16 + k] = bytes[8 + k];
  const Loaded a(bytes);
  EXPECT_EQ(a.entry(0), a.entry(2));
  EXPECT_EQ(a.edit({})->bytes, bytes);
  const auto out = a.edit({replace(0, Bytes(3))});
  ASSERT_FALSE(out);
  EXPECT_EQ(out.error().code, Code::cannot_represent);
}

// A TotemTech archive inside a VPP inside a VPP, read and written.
TEST(Paths, go_through_archives_in_archives) {
  const Loaded inner = load_fixture("totem_little.dps");
  Loaded outer = load_fixture("files.vpp");
  for (int depth = 0; depth < 2; ++depth) {
    const Loaded& next = depth == 0 ? inner : outer;
    const Bytes nested = *read_bytes(*next.source, 0, next.source->size());
    outer = Loaded(load_fixture("files.vpp").edit({add(nested, "deep.dps")})->bytes);
  }
  const auto archive = *archives::open(outer.source, nullptr);
  const auto found = resolve(archive, "deep#DEEP.dps#*@ANIMATION#x");
  ASSERT_TRUE(found) << to_string(found.error());
  ASSERT_EQ(found->size(), 2U);
  EXPECT_EQ(*found->back().bytes({}), inner.entry(1));
  EXPECT_EQ(found->back().path(), "#deep.dps#deep.dps#" + hash_text(inner.d.entries[1].id));
  EXPECT_EQ(found->back().rest, "x");
  EXPECT_EQ(resolve(archive, found->back().path().substr(1))->front().entry, 1U);

  const Bytes grown = longer(inner.entry(1), 3000, std::endian::little);
  const auto out = archives::rewrite(*found->back().archive, std::vector<Edit>{replace(1, grown)});
  ASSERT_TRUE(out) << to_string(out.error());
  EXPECT_FALSE(out->notes.empty());
  const auto again = resolve(*archives::open(std::make_shared<MemorySource>(out->bytes), nullptr),
                             found->back().path().substr(1));
  ASSERT_TRUE(again);
  EXPECT_EQ(*again->front().bytes({}), grown);
}

TEST(FileNames, are_safe_on_every_system_and_differ) {
  FileNames names;
  const std::vector<std::pair<std::string, std::string>> cases{
      {"walk.tanim", "walk.tanim"},
      {"WALK.TANIM", "WALK~2.TANIM"},
      {"walk.tanim", "walk~3.tanim"},
      {"walk~2.tanim", "walk~2~2.tanim"},
      {"DB:>ACTORS>SPONGE>WALK.TANIM", "DB__ACTORS_SPONGE_WALK.TANIM"},
      {"..", "__"},
      {".", "_"},
      {"", "_~2"},
      {"/etc/passwd", "_etc_passwd"},
      {"..\\..\\up", "_._x5c.._x5cup"},
      {"con", "_con"},
      {"NUL.txt", "_NUL.txt"},
      {"com1", "_com1"},
      {"com10", "com10"},
      {"a\nb", "a_x0ab"},
      {"end. ", "end._"},
      {"manifest.json", "manifest~2.json"},
      {"\xc3\x89", "__~2"},
      {"a?b*c|d\"e<f", "a_b_c_d_e_f"},
  };
  for (const auto& [name, file] : cases) EXPECT_EQ(names.add(name), file) << name;
  const std::string long_name = names.add(std::string(500, 'x') + ".rfa");
  EXPECT_EQ(long_name.size(), 120U);
  EXPECT_TRUE(long_name.ends_with(".rfa"));
  EXPECT_NE(names.add(std::string(501, 'x') + ".rfa"), long_name);
}
