// Archives: what they hold, the same bytes again, and hostile ones.
#include "dopesheet/archives.hpp"

#include "../sweeps.hpp"
#include "io/file.hpp"
#include "io/text.hpp"

using namespace dopesheet;
using namespace dopesheet::archives;
using support::Json;

namespace {

Result<Directory> list_bytes(ByteView bytes) {
  const MemorySource in(bytes);
  const Kind* kind = archives::identify(in);
  if (kind == nullptr) return tl::unexpected(Error{Code::bad_magic, 0, {}, "no archive"});
  return kind->list(in);
}

// Each entry is read as well: what does not read must say where.
struct Doc {
  Bytes bytes;
  Directory directory;
};
Result<Doc> read_all(ByteView bytes) {
  auto d = list_bytes(bytes);
  if (!d) return tl::unexpected(d.error());
  const MemorySource in(bytes);
  for (std::size_t i = 0; i < d->entries.size(); ++i) {
    const auto entry = d->kind->read(in, *d, i, {});
    if (!entry) {
      EXPECT_LE(entry.error().offset, bytes.size());
      EXPECT_FALSE(entry.error().text.empty());
    } else {
      EXPECT_EQ(entry->size(), d->entries[i].size);
    }
  }
  return Doc{Bytes(bytes.begin(), bytes.end()), std::move(*d)};
}
Result<Bytes> write_again(const Doc& doc) {
  const MemorySource in{ByteView(doc.bytes)};
  const auto out = doc.directory.kind->rewrite(in, doc.directory, {}, {});
  if (!out) return tl::unexpected(out.error());
  EXPECT_TRUE(out->notes.empty());
  return out->bytes;
}

struct Fixture {
  std::string name;
  Json expected;
};
std::vector<Fixture> fixtures() {
  std::vector<Fixture> out;
  const Json all = support::read_json(support::fixture("archives.json"));
  for (const auto& [name, expected] : all.items()) out.push_back({name, expected});
  return out;
}

std::string hex(ByteView bytes) { return io::to_hex(bytes); }

void expect_same_again(const std::string& path) {
  const Bytes bytes = support::read_bytes(path);
  const auto doc = read_all(bytes);
  ASSERT_TRUE(doc) << path << ": " << to_string(doc.error());
  const auto out = write_again(*doc);
  ASSERT_TRUE(out) << path << ": " << to_string(out.error());
  EXPECT_TRUE(*out == bytes) << path;
}

// 64 chunks of a gigabyte.
class Vast final : public Source {
 public:
  static constexpr std::uint64_t chunk = 0x40000000, chunks = 64;
  Vast() : head_(support::read_bytes(support::fixture("totem_big.dgc"))) {
    head_.resize(0x800 + 4 + 16);
    head_[0x100] = std::byte{0x40};
    head_[0x102] = std::byte{0};
    head_[0x803] = std::byte{1};
    head_[0x804] = std::byte{0x3f};
  }
  std::uint64_t size() const override { return 0x800 + chunks * chunk; }
  Result<void> read(std::uint64_t offset, std::span<std::byte> out) const override {
    read_ += out.size();
    if (offset >= 0x800) offset = 0x800 + (offset - 0x800) % chunk;
    EXPECT_LE(offset + out.size(), head_.size());
    std::copy_n(head_.begin() + static_cast<std::ptrdiff_t>(offset), out.size(), out.begin());
    return {};
  }
  mutable std::size_t read_ = 0;

 private:
  Bytes head_;
};

}  // namespace

TEST(Archives, hold_what_was_put_in) {
  for (const auto& f : fixtures()) {
    SCOPED_TRACE(f.name);
    const auto in = io::open_file(support::fixture(f.name));
    ASSERT_TRUE(in);
    const Kind* kind = archives::identify(**in);
    ASSERT_NE(kind, nullptr);
    EXPECT_EQ(kind->id, f.expected.at("kind").get<std::string>());
    const auto d = kind->list(**in);
    ASSERT_TRUE(d) << to_string(d.error());
    EXPECT_EQ(d->order == std::endian::big, f.expected.at("order") == "big");
    const auto& entries = f.expected.at("entries");
    ASSERT_EQ(d->entries.size(), entries.size());
    for (std::size_t i = 0; i < entries.size(); ++i) {
      SCOPED_TRACE(i);
      if (kind->hash) {
        EXPECT_EQ(d->entries[i].id, entries[i].at("id").get<std::uint32_t>());
      }
      if (entries[i].contains("name")) {
        EXPECT_EQ(entry_name(*d, d->entries[i], nullptr), entries[i].at("name").get<std::string>());
      }
      EXPECT_EQ(d->entries[i].type, entries[i].at("type").get<std::uint32_t>());
      EXPECT_EQ(d->entries[i].size, entries[i].at("size").get<std::uint64_t>());
      const auto bytes = kind->read(**in, *d, i, {});
      ASSERT_TRUE(bytes) << to_string(bytes.error());
      EXPECT_EQ(hex(*bytes), entries[i].at("hex").get<std::string>());
    }
  }
}

TEST(Archives, come_back_byte_for_byte) {
  for (const auto& f : fixtures()) expect_same_again(support::fixture(f.name));
}

TEST(Archives, samples_come_back_byte_for_byte) {
  const auto samples = support::samples_dir();
  if (!samples) GTEST_SKIP() << "no samples here (set DOPESHEET_SAMPLES)";
  for (const char* name : {"totemtech/sample.DGC", "zouna/rat_le.DPC", "vpp/rfr_tbl.vpp"}) {
    const std::string path = *samples + "/" + name;
    if (io::exists(path) && archives::identify(**io::open_file(path)) != nullptr)
      expect_same_again(path);
  }
}

TEST(Archives, flipped_bytes_are_refused_or_kept) {
  for (const auto& f : fixtures()) {
    SCOPED_TRACE(f.name);
    const Bytes bytes = support::read_bytes(support::fixture(f.name));
    support::sweep_flips(bytes, read_all, write_again, 3);
  }
}

TEST(Archives, prefixes_are_refused_or_kept) {
  for (const auto& f : fixtures()) {
    SCOPED_TRACE(f.name);
    const Bytes bytes = support::read_bytes(support::fixture(f.name));
    support::sweep_prefixes(bytes, 0x800, read_all, write_again);
    if (testing::Test::HasFailure()) return;
  }
}

TEST(Archives, hostile_counts_and_sizes_take_no_memory) {
  Bytes bytes = support::read_bytes(support::fixture("totem_big.dgc"));
  const auto put = [&](std::size_t at, unsigned a, unsigned b, unsigned c, unsigned d) {
    const unsigned word[] = {a, b, c, d};
    for (std::size_t k = 0; k < 4; ++k) bytes[at + k] = static_cast<std::byte>(word[k]);
  };
  put(0x800, 0x7f, 0xff, 0xff, 0xff);  // records in the first chunk
  auto d = list_bytes(bytes);
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().code, Code::bad_value);
  EXPECT_EQ(d.error().path, "chunks[0]");

  bytes = support::read_bytes(support::fixture("zouna_little.dpc"));
  put(0x120, 0xff, 0xff, 0xff, 0x7f);  // records in the first block
  d = list_bytes(bytes);
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().path, "blocks[0].records");

  bytes = support::read_bytes(support::fixture("zouna_pool.dpc"));
  put(0x724, 0xff, 0xff, 0x7f, 0);  // the pool far beyond the end
  d = list_bytes(bytes);
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().path, "pool.offset");
}

// A body that says it unpacks to gigabytes is refused by arithmetic.
TEST(Archives, hostile_packed_bodies_are_refused) {
  Bytes bytes = support::read_bytes(support::fixture("zouna_little.dpc"));
  const auto d = list_bytes(bytes);
  ASSERT_TRUE(d);
  const std::size_t record = d->entries[1].offset, body = record + 24 + 8;
  for (const std::size_t at : {record + 8, body}) bytes[at + 3] = std::byte{0x3f};
  const auto again = list_bytes(bytes);
  ASSERT_TRUE(again);
  support::reset_peak();
  const std::size_t before = support::live_bytes();
  const auto entry =
      again->kind->read(MemorySource{ByteView(bytes)}, *again, 1, {.bytes = std::size_t{1} << 33});
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, Code::bad_value);
  EXPECT_LT(support::peak_bytes() - before, std::size_t{1} << 16);
}

TEST(Archives, undocumented_versions_are_refused) {
  Bytes bytes = support::read_bytes(support::fixture("zouna_little.dpc"));
  bytes[4] = std::byte{'5'};  // v1.05
  const auto d = list_bytes(bytes);
  ASSERT_FALSE(d);
  EXPECT_EQ(d.error().code, Code::bad_version);
}

// Listing looks at headers alone: an archive of 64 GB takes the memory of its directory.
TEST(Archives, large_ones_are_listed_without_being_read) {
  const Vast in;
  support::reset_peak();
  const std::size_t before = support::live_bytes();
  const auto d = archives::identify(in)->list(in);
  ASSERT_TRUE(d) << to_string(d.error());
  EXPECT_EQ(d->entries.size(), Vast::chunks);
  EXPECT_LT(in.read_, std::size_t{4096});
  EXPECT_LT(support::peak_bytes() - before, std::size_t{1} << 16);
  const auto entry = d->kind->read(in, *d, 0, {.bytes = 1 << 20});
  ASSERT_FALSE(entry);
  EXPECT_EQ(entry.error().code, Code::limit);
}
