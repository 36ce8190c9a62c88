// The text of whole documents, line by line as a reader sees it. After an intended change run with
// DOPESHEET_UPDATE_GOLDEN=1 and read the difference before you commit it.
#include <fstream>

#include "../support.hpp"
#include "dopesheet/rfa.hpp"
#include "dopesheet/totemtech.hpp"
#include "dopesheet/v3c.hpp"

namespace dopesheet {
namespace {

void expect_golden(const std::string& name, const std::string& text) {
  const std::string path = support::environment("DOPESHEET_SOURCE") + "/tests/golden/" + name;
  if (!support::environment("DOPESHEET_UPDATE_GOLDEN").empty())
    std::ofstream(path, std::ios::binary) << text;
  const std::string want = support::read_text(path);
  if (text == want) return;
  std::size_t line = 1, i = 0;
  for (; i < text.size() && i < want.size() && text[i] == want[i]; ++i) line += text[i] == '\n';
  ADD_FAILURE() << name << " differs from line " << line << " on: got '"
                << text.substr(i, text.substr(i).find('\n')) << "', want '"
                << want.substr(std::min(i, want.size()),
                               want.substr(std::min(i, want.size())).find('\n'))
                << "'";
}

TEST(Golden, Rfa) {
  for (const std::string name : {"plain_v8.rfa", "morph_v8_odd.rfa", "morph_v7.rfa",
                                 "out_of_order.rfa", "trailing.rfa", "nan_floats.rfa"}) {
    const rfa::File file = *rfa::read(support::read_bytes(support::fixture(name)));
    expect_golden(name + ".txt", rfa::dump(file) + '\n');
    expect_golden(name + ".json", rfa::to_json(file));
  }
}

TEST(Golden, Totemtech) {
  for (const std::string name : {"tt_walk_be_hdr_junk", "tt_quaternions", "tt_faults"}) {
    const auto file = *totemtech::read(support::read_bytes(support::fixture(name + ".animation")));
    expect_golden(name + ".txt", totemtech::dump(file) + '\n');
    expect_golden(name + ".json", totemtech::to_json(file));
  }
}

TEST(Golden, V3c) {
  for (const std::string name : {"static.v3m"}) {
    const v3c::File file = *v3c::read(support::read_bytes(support::fixture(name)));
    expect_golden(name + ".txt", v3c::dump(file) + '\n');
    expect_golden(name + ".json", v3c::to_json(file));
  }
}

}  // namespace
}  // namespace dopesheet
