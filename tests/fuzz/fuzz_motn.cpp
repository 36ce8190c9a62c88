// Shenmue banks: read, check, play, solve, export, write, read again.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  const ByteView in(reinterpret_cast<const std::byte*>(data), size);
  const auto bank = motn::read(in);
  if (!bank) {
    promise(bank.error().offset <= size && !bank.error().text.empty(), "errors say where and what");
    return 0;
  }
  promise(*motn::write(*bank) == Bytes(in.begin(), in.end()), "an untouched file comes back");
  promise(*motn::write(*motn::from_json(motn::to_json(*bank))) == *motn::write(*bank),
          "also through JSON");
  promise(!motn::dump(*bank).empty(), "it can be shown");
  motn::check(*bank);
  motn::statistics(*bank);
  for (std::size_t i = 0; i < bank->table.size() && i < 2; ++i) {
    if (motn::sequence_of(*bank, i).frames() > 500) continue;
    play_and_export(motn::to_clip(*bank, i), nullptr);
    const auto solved = motn::solve(*bank, i);
    if (solved) play_and_export(solved->clip, nullptr);
    motn::Bank edited = *bank;
    if (motn::replace(edited, i, motn::motion_of(edited, i))) {
      const auto bytes = motn::write(edited);
      promise(bytes && motn::read(*bytes), "an edited bank reads");
    }
  }
  return 0;
}
