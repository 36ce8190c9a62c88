// Zouna animations come back byte for byte, in every byte order and flavour, and nothing else reads.
#include "dopesheet/zouna.hpp"

#include <random>

#include "../sweeps.hpp"
#include "dopesheet/formats.hpp"
#include "dopesheet/sample.hpp"

namespace dopesheet {
namespace {

using zouna::Flavour;
using zouna::Links;

const auto read_any = [](const Bytes& b) { return zouna::read(b); };
const auto write_any = [](const zouna::File& f) { return zouna::write(f); };

Bytes fixture(const std::string& name) { return support::read_bytes(support::fixture(name)); }
std::endian order_of(bool big) { return big ? std::endian::big : std::endian::little; }
std::endian other(std::endian o) {
  return o == std::endian::big ? std::endian::little : std::endian::big;
}

void expect_round_trips(const Bytes& bytes, const std::string& name) {
  const auto file = zouna::read(bytes);
  ASSERT_TRUE(file) << name << ": " << to_string(file.error());
  EXPECT_EQ(*zouna::write(*file), bytes) << name;
  const auto built = zouna::from_json(zouna::to_json(*file));
  ASSERT_TRUE(built) << name << ": " << to_string(built.error());
  EXPECT_EQ(*zouna::write(*built), bytes) << name;
  EXPECT_FALSE(zouna::dump(*file).empty());
}

TEST(Zouna, EveryFixtureComesBackAndIsToldApart) {
  const auto index = support::read_json(support::fixture("zouna.json"));
  EXPECT_GT(index.size(), 70U);
  for (const auto& entry : index) {
    const std::string name = entry.at("file");
    const Bytes bytes = fixture(name);
    expect_round_trips(bytes, name);
    const auto d = zouna::detect(bytes);
    ASSERT_TRUE(d) << name;
    EXPECT_EQ(d->order, order_of(entry.at("big"))) << name;
    EXPECT_EQ(zouna::name(d->flavour), entry.at("flavour").get<std::string>()) << name;
    EXPECT_EQ(zouna::name(d->links), entry.at("links").get<std::string>()) << name;
    EXPECT_EQ(zouna::read(bytes)->trailing.size(), entry.at("trailing").get<std::size_t>()) << name;
    EXPECT_TRUE(zouna::probe(bytes)) << name;
    EXPECT_EQ((*identify(bytes))->id, "zouna") << name;
    // What was found out may also be said; what is not so is refused.
    EXPECT_EQ(*zouna::write(*zouna::read(bytes, {}, {d->order, d->flavour, d->links})), bytes);
    const bool open = entry.at("content") == "empty" && d->flavour == Flavour::bare;
    EXPECT_EQ(d->order_is_open, open) << name;
    EXPECT_EQ(zouna::read(bytes, {}, {other(d->order), {}, {}}).has_value(), open) << name;
    for (const auto f : {Flavour::bare, Flavour::resource, Flavour::bff}) {
      EXPECT_EQ(zouna::read(bytes, {}, {{}, f, {}}).has_value(), f == d->flavour) << name;
    }
  }
}

TEST(Zouna, TheSamplesComeBack) {
  const auto dir = support::samples_dir();
  if (!dir) GTEST_SKIP() << "no samples here (set DOPESHEET_SAMPLES)";
  for (const char* name :
       {"v106_rat_be.bff.Animation_Z", "v106_rat_le.Animation_Z", "v381_fuel_le.bff.Animation_Z"}) {
    const Bytes bytes = support::read_bytes(*dir + "/zouna/" + name);
    expect_round_trips(bytes, name);
    support::sweep_prefixes(bytes, bytes.size(), read_any, write_any);
    support::sweep_flips(bytes, read_any, write_any);
    zouna::File file = *zouna::read(bytes);
    zouna::layout(file);
    EXPECT_EQ(*zouna::write(file), bytes) << name << " has the sizes that we would write";
    EXPECT_EQ(file.envelope.has(Links::list), name[1] == '1') << name;
  }
}

// ---- random animations, and what they are not

class Random {
 public:
  explicit Random(unsigned seed) : engine_(seed) {}
  std::size_t below(std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(engine_);
  }
  template <class T>
  T bits() {
    return static_cast<T>(engine_());
  }
  float time() { return static_cast<float>(below(3000)) / 100; }
  template <class Key>
  void keys(std::vector<Key>& v) {
    v.resize(below(6));
    for (Key& k : v) {
      k.time = time();
      fill(k);
    }
  }
  zouna::File file() {
    zouna::File f;
    zouna::Body& b = f.body;
    b.max_time = time() + 0.01F;
    b.smooth_ratio = static_cast<float>(below(10));
    b.flag = static_cast<std::uint16_t>(below(4));
    b.node_flag = below(2) != 0 ? 0xCDCD : 0;
    keys(b.rotation);
    keys(b.bezier_rotation);
    keys(b.scale.keys);
    keys(b.translation.keys);
    keys(b.messages);
    for (auto* k : {&b.u, &b.v, &b.material_rotation, &b.visibility, &b.morph}) keys(k->keys);
    for (auto* k : {&b.diffuse, &b.emissive}) keys(k->keys);
    b.nodes.resize(1 + below(4));
    b.materials.resize(below(3));
    b.meshes.resize(below(3));
    b.morphs.resize(below(3));
    for (auto& n : b.nodes) n.name = bits<std::uint32_t>();
    for (auto& n : b.materials) n.name = bits<std::uint32_t>();
    return f;
  }

 private:
  void fill(zouna::KeyRot& k) {
    for (auto& c : k.rotation) c = bits<std::int16_t>();
  }
  void fill(zouna::KeyBezierRot& k) { k.value[0] = time(); }
  void fill(zouna::KeyVec3& k) {
    for (auto& c : k.value) c = bits<std::int16_t>();
  }
  void fill(zouna::KeyFloat& k) { k.value = bits<std::int16_t>(); }
  void fill(zouna::KeyMessage& k) {
    k.messages.resize(below(3));
    for (auto& m : k.messages) m.id = static_cast<std::int32_t>(below(120));
  }
  std::mt19937 engine_;
};

TEST(Zouna, TheOtherByteOrderAndFlavourNeverFit) {
  Random random(1);
  for (int i = 0; i < 4000; ++i) {
    zouna::File f = random.file();
    f.envelope.big_endian = static_cast<std::uint8_t>(i % 2);
    f.envelope.flavour = static_cast<std::uint8_t>(i / 2 % 3);
    if (!f.envelope.has(Flavour::bare)) f.envelope.links = static_cast<std::uint8_t>(i / 6 % 3);
    // What BFF versions say about links is another test's matter.
    if (f.envelope.has(Links::name)) f.envelope.bff.version = {1, 381, 67, 9};
    zouna::layout(f);
    const Bytes bytes = *zouna::write(f);
    const auto d = zouna::detect(bytes);
    ASSERT_TRUE(d) << i << to_string(d.error());
    EXPECT_FALSE(d->order_is_open) << i;
    EXPECT_EQ(d->order, f.envelope.order()) << i;
    EXPECT_EQ(static_cast<int>(d->flavour), f.envelope.flavour) << i;
    EXPECT_EQ(static_cast<int>(d->links), f.envelope.links) << i;
    EXPECT_FALSE(zouna::read(bytes, {}, {other(d->order), {}, {}})) << i;
    for (const auto wrong : {Flavour::bare, Flavour::resource, Flavour::bff}) {
      EXPECT_TRUE(wrong == d->flavour || !zouna::read(bytes, {}, {{}, wrong, {}})) << i;
    }
    EXPECT_EQ(*zouna::write(*zouna::read(bytes)), bytes) << i;
  }
}

TEST(Zouna, NobodyElsesFileIsABareBody) {
  for (const auto& entry : support::read_json(support::fixture("index.json"))) {
    EXPECT_FALSE(zouna::probe(fixture(entry.at("file")))) << entry.at("file");
  }
  for (const auto& entry : support::read_json(support::fixture("totemtech.json"))) {
    EXPECT_FALSE(zouna::probe(fixture(entry.at("file")))) << entry.at("file");
  }
}

TEST(Zouna, EveryPrefixIsRefused) {
  for (const char* name : {"zn_rich_be_bare.Animation_Z", "zn_rich_le_bff_list.Animation_Z",
                           "zn_squares_be_resource_name.Animation_Z"}) {
    const Bytes bytes = fixture(name);
    support::sweep_prefixes(bytes, bytes.size(), read_any, write_any);
  }
  const Bytes odd = fixture("zn_odd_envelope.Animation_Z");
  support::sweep_prefixes(odd, odd.size() - 9, read_any, write_any);
}

TEST(Zouna, EveryFlipIsRefusedOrExact) {
  for (const char* name : {"zn_rich_le_bare.Animation_Z", "zn_rich_be_bff_list.Animation_Z",
                           "zn_odd_envelope.Animation_Z", "zn_zero_rest.Animation_Z"}) {
    support::sweep_flips(fixture(name), read_any, write_any);
  }
}

TEST(Zouna, AnEmptyAnimationHas94Bytes) {
  const Bytes bytes = fixture("zn_empty_le_bare.Animation_Z");
  EXPECT_EQ(bytes.size(), zouna::smallest_body);
  EXPECT_EQ(bytes.size(), 94U);
}

// ---- hostile input, made by hand

void put(Bytes& bytes, std::size_t at, std::uint32_t v) {
  for (std::size_t i = 0; i < 4; ++i) bytes[at + i] = static_cast<std::byte>(v >> (8 * i));
}
Error refused(const Bytes& bytes, const zouna::Choices& choices = {}) {
  support::reset_peak();
  const std::size_t before = support::live_bytes();
  const auto file = zouna::read(bytes, {}, choices);
  EXPECT_LT(support::peak_bytes() - before, 4096U) << "memory before the refusal";
  EXPECT_FALSE(file);
  return file ? Error{} : file.error();
}

TEST(Zouna, CountsAreCheckedBeforeMemoryIsTaken) {
  for (const std::uint32_t n : {4000000000U, 0xffffffffU, 0x80000000U, 0x10000000U, 20U}) {
    Bytes bytes(200);
    put(bytes, 12, n);
    const Error e = refused(bytes, {std::endian::little, {}, {}});
    EXPECT_EQ(e.path, "rotation");
    EXPECT_EQ(e.offset, 12U);
    refused(bytes);
  }
}

TEST(Zouna, PackedBodiesAreRefusedInWords) {
  Bytes bytes = fixture("zn_rich_le_resource_list.Animation_Z");
  put(bytes, 12, 100);
  const Error e = refused(bytes);
  EXPECT_NE(e.text.find("LZRS"), std::string::npos) << to_string(e);
  EXPECT_EQ(e.path, "header.packed_size");
}

TEST(Zouna, LayoutListsWhatMessagesName) {
  zouna::File file = *zouna::read(fixture("zn_rich_be_bff_list.Animation_Z"));
  const auto before = file.envelope.linked;
  file.body.messages[1].messages.push_back({0x29, 77, 0, 0, 0});
  file.body.messages[1].messages.push_back({0x2A, 78, 0, 0, 0});
  file.body.messages[1].messages.push_back({0x20, 79, 0, 0, 0});
  zouna::layout(file);
  auto want = before;
  want.push_back(77);
  EXPECT_EQ(file.envelope.linked, want);
  const Bytes bytes = *zouna::write(file);
  const zouna::File again = *zouna::read(bytes);
  EXPECT_EQ(again, file);
  EXPECT_EQ(again.envelope.header.data_size, bytes.size() - 16 - 24);
}

TEST(ZounaSkeleton, ComesBackAndIsAModel) {
  const auto read = [](const Bytes& b) { return zouna::read_skeleton(b); };
  const auto write = [](const zouna::Skeleton& s) { return zouna::write(s); };
  for (const auto& entry : support::read_json(support::fixture("zouna_skeletons.json"))) {
    const std::string name = entry.at("file");
    const Bytes bytes = fixture(name);
    const auto s = zouna::read_skeleton(bytes);
    ASSERT_TRUE(s) << name << to_string(s.error());
    EXPECT_EQ(*zouna::write(*s), bytes) << name;
    EXPECT_EQ(*zouna::write(*zouna::skeleton_from_json(zouna::to_json(*s))), bytes) << name;
    EXPECT_EQ(s->envelope.order(), order_of(entry.at("big"))) << name;
    EXPECT_EQ(s->has_rotation != 0, entry.at("rotation").get<bool>()) << name;
    EXPECT_EQ((*identify(bytes))->id, "zouna-skeleton") << name;
    support::sweep_flips(bytes, read, write, 3);
    Names names;
    names.add("TETE");
    const Model m = zouna::to_model(*s, &names, "rat");
    ASSERT_EQ(m.nodes.size(), 4U);
    EXPECT_EQ(m.nodes[2].name, "TETE");
    EXPECT_EQ(m.nodes[2].parent, 1);
    EXPECT_EQ(m.nodes[3].parent, 0);
    EXPECT_EQ(m.nodes[1].rest.rotation, (Quat{0, 0.6F, 0, 0.8F}));
    // HIPS up 1, SPINE up 0.5: the head's bind is turned and 1.75 high.
    const Vec3 head =
        rotate(m.inverse_bind[2].rotation, {0, 1.75F, 0}) + m.inverse_bind[2].translation;
    EXPECT_NEAR(head.y, 0, 1e-6);
    EXPECT_EQ(zouna::node_hash(m.nodes[0]), hash_name(NameHash::zouna, "HIPS"));
  }
}

}  // namespace
}  // namespace dopesheet
