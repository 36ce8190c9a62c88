// Shenmue banks.
#include "motn_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  bank_path({reinterpret_cast<const std::byte*>(data), size});
  return 0;
}
