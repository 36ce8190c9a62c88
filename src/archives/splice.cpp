#include "archives/splice.hpp"

#include <fmt/format.h>

namespace dopesheet::archives {

Result<Bytes> Splices::apply(ByteView old) {
  std::sort(all_.begin(), all_.end(), [](const Splice& a, const Splice& b) {
    return std::tie(a.begin, a.order) < std::tie(b.begin, b.order);
  });
  Bytes out;
  std::size_t at = 0;
  for (const Splice& s : all_) {
    if (s.begin < at || s.begin > old.size() || s.length > old.size() - s.begin)
      return fail(Code::cannot_represent, s.begin, {}, "what is edited overlaps something else");
    append(out, old.subspan(at, static_cast<std::size_t>(s.begin) - at));
    append(out, s.with);
    at = static_cast<std::size_t>(s.begin + s.length);
  }
  append(out, old.subspan(at));
  return out;
}

Result<std::vector<Room>> rooms(const Directory& d, const Plan& plan,
                                std::vector<std::uint64_t> marks) {
  struct Span {
    std::uint64_t begin, end;
    std::size_t entry;
  };
  std::vector<Span> spans;
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    const Entry& e = d.entries[i];
    if (e.stored == 0) continue;
    spans.push_back({e.offset, e.offset + e.stored, i});
    marks.push_back(e.offset);
  }
  std::sort(spans.begin(), spans.end(),
            [](const Span& a, const Span& b) { return a.begin < b.begin; });
  std::sort(marks.begin(), marks.end());
  std::vector<Room> out(d.entries.size());
  std::uint64_t end_before = 0;
  for (std::size_t k = 0; k < spans.size(); ++k) {
    const Span& s = spans[k];
    const auto next = std::upper_bound(marks.begin(), marks.end(), s.begin);
    const std::uint64_t end = next != marks.end() ? *next : s.end;
    const bool alone = end_before <= s.begin && s.end <= end &&
                       (k + 1 == spans.size() || spans[k + 1].begin >= s.end);
    out[s.entry] = {s.begin, end - s.begin};
    end_before = std::max(end_before, s.end);
    if (!alone && (plan.replaced[s.entry] != nullptr || plan.removed[s.entry])) {
      return fail(Code::cannot_represent, s.begin, fmt::format("entries[{}]", s.entry),
                  "shares bytes with others");
    }
  }
  return out;
}

Result<void> is_free(const Directory& d, std::uint64_t begin, std::uint64_t size) {
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    const Entry& e = d.entries[i];
    if (e.stored != 0 && e.offset < begin + size && e.offset + e.stored > begin) {
      return fail(Code::cannot_represent, e.offset, fmt::format("entries[{}]", i),
                  "shares bytes with the archive's own tables");
    }
  }
  return {};
}

Result<void> splice_entries(Splices& splices, ByteView old, const Directory& d, const Plan& plan,
                            const std::vector<std::uint64_t>& marks, std::uint64_t floor,
                            std::uint64_t unit, bool exact) {
  const auto room = rooms(d, plan, marks);
  if (!room) return tl::unexpected(room.error());
  for (std::size_t i = 0; i < d.entries.size(); ++i) {
    const Room& r = (*room)[i];
    const Entry& e = d.entries[i];
    if (e.stored != 0 && e.offset < floor && (plan.removed[i] || plan.replaced[i] != nullptr)) {
      return fail(Code::cannot_represent, e.offset, fmt::format("entries[{}]", i),
                  "begins inside the archive's own header");
    }
    if (plan.removed[i]) {
      if (e.stored != 0) splices.add(r.begin, r.size, {});
      continue;
    }
    if (plan.replaced[i] == nullptr) continue;
    if (e.stored == 0) {
      if (plan.replaced[i]->empty()) continue;
      return fail(Code::cannot_represent, e.offset, fmt::format("entries[{}]", i),
                  "is empty and has no place of its own; remove it and add it anew");
    }
    Bytes with = *plan.replaced[i];
    const std::size_t used = with.size();
    std::uint64_t size = r.size;
    if (used > size || (exact && used != e.stored)) size = round_up(used, unit);
    with.resize(static_cast<std::size_t>(size));
    // Filler keeps its bytes where it stays filler.
    for (std::uint64_t k = std::max<std::uint64_t>(used, e.stored); k < std::min(size, r.size); ++k)
      with[static_cast<std::size_t>(k)] = old[static_cast<std::size_t>(r.begin + k)];
    splices.add(r.begin, r.size, std::move(with));
  }
  return {};
}

}  // namespace dopesheet::archives
