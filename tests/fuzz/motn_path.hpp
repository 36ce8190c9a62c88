// A bank's whole path: read, check, play, solve, export, write, read again.
#pragma once
#include "whole_path.hpp"

inline void bank_path(dopesheet::ByteView in) {
  using namespace dopesheet;
  const auto bank = motn::read(in);
  if (!bank) {
    promise(bank.error().offset <= in.size() && !bank.error().text.empty(),
            "errors say where and what");
    return;
  }
  promise(*motn::write(*bank) == Bytes(in.begin(), in.end()), "an untouched file comes back");
  promise(*motn::write(*motn::from_json(motn::to_json(*bank))) == *motn::write(*bank),
          "also through JSON");
  promise(!motn::dump(*bank).empty(), "it can be shown");
  motn::check(*bank);
  motn::statistics(*bank);
  for (std::size_t i = 0; i < bank->table.size() && i < 2; ++i) {
    if (motn::sequence_of(*bank, i).frames() > 60) continue;
    play_and_export(motn::to_clip(*bank, i), nullptr);
    motn::SolveOptions options;
    options.targets = true;
    const auto solved = motn::solve(*bank, i, options);
    if (solved) play_and_export(solved->clip, nullptr);
    motn::Bank edited = *bank;
    if (motn::replace(edited, i, motn::motion_of(edited, i)) && motn::layout(edited)) {
      const auto bytes = motn::write(edited);
      promise(bytes && motn::read(*bytes), "an edited bank reads");
    }
  }
}
