// Parts of a file replaced by parts of other lengths, and where that moves the rest.
#pragma once
#include <algorithm>

#include "archives/archive.hpp"

namespace dopesheet::archives {

class Splices {
 public:
  // [begin, begin + length) becomes `with`. Several must not overlap.
  void add(std::uint64_t begin, std::uint64_t length, Bytes with) {
    all_.push_back({begin, length, all_.size(), std::move(with)});
  }

  // Fails where two overlap: nothing can say then what the result should be.
  Result<Bytes> apply(ByteView old);

  // Where what began at `offset` begins now; from inside a part that was replaced, where that begins.
  std::uint64_t moved(std::uint64_t offset) const {
    std::uint64_t out = offset;
    for (const Splice& s : all_) {
      if (s.begin + s.length <= offset && (s.begin < offset || s.length == 0)) {
        out += s.with.size() - s.length;
      } else if (s.begin < offset) {
        out -= offset - s.begin;
      }
    }
    return out;
  }
  // Where what a splice at `offset` put in begins now.
  std::uint64_t inserted(std::uint64_t offset) const {
    std::uint64_t out = offset;
    for (const Splice& s : all_) {
      if (s.begin < offset) out += s.with.size() - s.length;
    }
    return out;
  }

 private:
  struct Splice {
    std::uint64_t begin, length;
    std::size_t order;  // of adding, which is theirs in the file where they begin alike
    Bytes with;
  };
  std::vector<Splice> all_;
};

// The room of an entry: from its start to whatever begins next. Entries that are replaced or removed must
// have theirs for themselves.
struct Room {
  std::uint64_t begin = 0, size = 0;
};
// `marks` are other starts: of tables, and the end of the file. Fails where an edited entry shares bytes.
Result<std::vector<Room>> rooms(const Directory& d, const Plan& plan,
                                std::vector<std::uint64_t> marks);

// Fails where an entry shares bytes with a table at [begin, begin + size), which is to be written anew.
Result<void> is_free(const Directory& d, std::uint64_t begin, std::uint64_t size);

// Splices what replaced and removed entries are into their rooms; a room that has to grow does so to a
// multiple of `unit`, and with `exact` one that need not be so large shrinks. None may begin before `floor`.
Result<void> splice_entries(Splices& splices, ByteView old, const Directory& d, const Plan& plan,
                            const std::vector<std::uint64_t>& marks, std::uint64_t floor,
                            std::uint64_t unit, bool exact);

}  // namespace dopesheet::archives
