// The one sequence of a bank: what banks hold most of, without their tables in the way.
#include "motn_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  Bytes bank;
  const auto word = [&](std::size_t v) {
    for (unsigned shift = 0; shift < 32; shift += 8)
      bank.push_back(static_cast<std::byte>(v >> shift));
  };
  // Header, table, extra data (six flags, the operation 0), a name, the sequence.
  for (const std::size_t v : {0x20UL, 0x38UL, 0x40UL, 2UL, 0x40 + size, 0UL, 0UL, 0UL}) word(v);
  for (const std::size_t v : {0, 0x28, 0, 0, 0, 0, 0x3C}) word(v);
  for (const std::size_t v : {0x41}) word(v);
  const auto* first = reinterpret_cast<const std::byte*>(data);
  bank.insert(bank.end(), first, first + size);
  bank_path(bank);
  return 0;
}
