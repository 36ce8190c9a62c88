#include <cstdio>
#include <dopesheet/dopesheet.hpp>

int main() {
  for (const dopesheet::Format& format : dopesheet::formats())
    std::printf("%.*s\n", static_cast<int>(format.id.size()), format.id.data());
  return dopesheet::find_format("rfa") != nullptr ? 0 : 1;
}
