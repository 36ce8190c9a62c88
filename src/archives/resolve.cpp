// Paths into archives, and archives in archives.
#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "archives/archive.hpp"
#include "io/text.hpp"

namespace dopesheet::archives {
namespace {

// The first selector of "a#b": a name that is a hash starts with the sign itself.
std::pair<std::string_view, std::string_view> first_of(std::string_view selectors) {
  const auto end = selectors.find('#', selectors.starts_with('#') ? 1 : 0);
  if (end == selectors.npos) return {selectors, {}};
  return {selectors.substr(0, end), selectors.substr(end + 1)};
}

// A selector that means this entry and no other.
std::string selector_of(const Opened& a, std::size_t entry) {
  const auto& entries = a.directory.entries;
  std::string name = entry_name(a.directory, entries[entry], a.names.get());
  const auto alike = select(a.directory, a.names.get(), name);
  if (alike.size() == 1 && alike[0] == entry) return name;
  const auto at = std::find(alike.begin(), alike.end(), entry);
  if (at != alike.end()) return fmt::format("{}/{}", name, at - alike.begin());
  return fmt::format("/{}", entry);
}

}  // namespace

Result<std::shared_ptr<const Opened>> open(std::shared_ptr<const Source> source,
                                           std::shared_ptr<const Names> names) {
  const Kind* kind = identify(*source);
  if (kind == nullptr) return std::shared_ptr<const Opened>{};
  auto directory = kind->list(*source);
  if (!directory) return tl::unexpected(directory.error());
  return std::make_shared<const Opened>(
      Opened{std::move(source), std::move(*directory), std::move(names), {}, 0});
}

Result<Bytes> Found::bytes(const Limits& limits) const {
  const auto& d = archive->directory;
  return d.kind->read(*archive->source, d, entry, limits);
}

Result<std::shared_ptr<const Opened>> open(const Found& found, const Limits& limits) {
  auto bytes = found.bytes(limits);
  if (!bytes) return tl::unexpected(bytes.error());
  const auto source = std::make_shared<MemorySource>(std::move(*bytes));
  const Kind* kind = identify(*source);
  if (kind == nullptr) return std::shared_ptr<const Opened>{};
  auto directory = kind->list(*source);
  if (!directory) return tl::unexpected(directory.error());
  return std::make_shared<const Opened>(
      Opened{source, std::move(*directory), found.archive->names, found.archive, found.entry});
}

std::string Found::path() const {
  std::string out = "#" + selector_of(*archive, entry);
  for (const Opened* a = archive.get(); a->outer != nullptr; a = a->outer.get())
    out.insert(0, "#" + selector_of(*a->outer, a->outer_entry));
  return out;
}

Result<Rewritten> rewrite(const Opened& archive, std::span<const Edit> edits,
                          const Limits& limits) {
  const auto& d = archive.directory;
  auto out = d.kind->rewrite(*archive.source, d, edits, limits);
  for (const Opened* a = &archive; out && a->outer != nullptr; a = a->outer.get()) {
    const Edit edit{Edit::What::replace, a->outer_entry, {}, std::move(out->bytes)};
    const auto& outer = a->outer->directory;
    auto next = outer.kind->rewrite(*a->outer->source, outer, {&edit, 1}, limits);
    if (!next) return next;
    next->notes.insert(next->notes.begin(), out->notes.begin(), out->notes.end());
    out = std::move(next);
  }
  return out;
}

Result<std::vector<Found>> resolve(const std::shared_ptr<const Opened>& archive,
                                   std::string_view selectors, const Limits& limits) {
  auto [selector, rest] = first_of(selectors);
  auto some = select(archive->directory, archive->names.get(), selectors);
  if (!some.empty()) {
    selector = selectors;  // a name with the sign in it
    rest = {};
  } else {
    some = select(archive->directory, archive->names.get(), selector);
  }
  if (some.empty()) {
    return fail(Code::usage, 0, {},
                fmt::format("no entry matches '{}'", io::escape_bytes(selector)));
  }
  std::vector<Found> out;
  for (const std::size_t i : some) {
    Found found{archive, i, std::string(rest)};
    if (!rest.empty()) {
      const auto inner = open(found, limits);
      if (!inner) return tl::unexpected(inner.error());
      if (*inner) {
        auto deeper = resolve(*inner, rest, limits);
        if (!deeper) return tl::unexpected(deeper.error());
        std::move(deeper->begin(), deeper->end(), std::back_inserter(out));
        continue;
      }
    }
    out.push_back(std::move(found));
  }
  return out;
}

}  // namespace dopesheet::archives
