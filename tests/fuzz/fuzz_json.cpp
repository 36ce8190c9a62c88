// Documents as JSON: what builds must read back to what it was built from.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  const std::string_view json(reinterpret_cast<const char*>(data), size);
  const auto format = identify_json(json);
  if (!format) {
    promise(format.error().offset <= size && !format.error().text.empty(),
            "errors say where and what");
    return 0;
  }
  const auto bytes = (*format)->from_json(json, {});
  if (!bytes) {
    promise(!bytes.error().text.empty(), "an error has a text");
    return 0;
  }
  const auto dumped = (*format)->to_json(*bytes, {});
  if (!dumped) return 0;  // a document may describe bytes that mean something else
  const auto again = (*format)->from_json(*dumped, {});
  promise(again && *again == *bytes, "a built file comes back through JSON");
  return 0;
}
