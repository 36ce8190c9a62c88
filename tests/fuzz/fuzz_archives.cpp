// Archives: list, read each entry, write the same again, and write with edits.
#include "whole_path.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dopesheet;
  using namespace dopesheet::archives;
  const ByteView view(reinterpret_cast<const std::byte*>(data), size);
  const MemorySource in(view);
  const Kind* kind = archives::identify(in);
  if (kind == nullptr) return 0;
  const auto d = kind->list(in);
  if (!d) {
    promise(d.error().offset <= size && !d.error().text.empty(), "errors say where and what");
    return 0;
  }
  const auto same = kind->rewrite(in, *d, {}, {});
  promise(same && same->bytes == Bytes(view.begin(), view.end()),
          "an untouched archive comes back");
  std::size_t total = 0;
  for (std::size_t i = 0; i < d->entries.size() && i < 50; ++i) {
    const Entry& e = d->entries[i];
    promise(e.offset + e.stored <= size, "entries lie inside");
    const auto bytes = kind->read(in, *d, i, {.bytes = std::size_t{1} << 20});
    if (!bytes) {
      promise(bytes.error().offset <= size && !bytes.error().text.empty(), "errors say what");
      continue;
    }
    promise(bytes->size() == e.size, "entries are as large as the directory says");
    if ((total += bytes->size()) > (std::size_t{1} << 20)) break;
    Bytes changed = *bytes;
    if (!changed.empty()) changed.back() ^= std::byte{1};
    for (const archives::Edit& edit :
         {archives::Edit{archives::Edit::What::replace, i, {}, *bytes},
          archives::Edit{archives::Edit::What::replace, i, {}, changed},
          archives::Edit{archives::Edit::What::remove, i, {}, {}},
          archives::Edit{archives::Edit::What::add, 0, "added", changed}}) {
      const auto out = kind->rewrite(in, *d, {&edit, 1}, {});
      if (!out) {
        promise(!out.error().text.empty(), "errors say what");
        continue;
      }
      const MemorySource again{ByteView(out->bytes)};
      promise(kind->probe(again) && kind->list(again), "an edited archive reads");
    }
  }
  return 0;
}
