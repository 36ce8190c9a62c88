// What the entries of the table share.
#pragma once
#include <cstring>
#include <initializer_list>
#include <optional>
#include <utility>

#include "dopesheet/formats.hpp"

namespace dopesheet {

const Format& rfa_format();
const Format& v3c_format();
const Format& motn_format();
const Format& mt5_format();
const Format& mt7_format();
const Format& totemtech_format();

// "game/walk.rfa" is "walk".
std::string stem(const std::string& name);

inline bool starts_with(ByteView in, std::string_view magic) {
  return in.size() >= magic.size() && std::memcmp(in.data(), magic.data(), magic.size()) == 0;
}

// What every entry does alike: read the document, then hand it on.
template <class Doc, auto Read, class F>
auto with(ByteView in, const ReadOptions& options, F f)
    -> Result<decltype(f(std::declval<const Doc&>()))> {
  const auto doc = Read(in, options.limits);
  if (!doc) return tl::unexpected(doc.error());
  return f(*doc);
}

// The settings of a read, taken out one by one. The first bad value is kept, and said in plain words.
class Settings {
 public:
  explicit Settings(const ReadOptions& options) : values_(options.settings) {}

  // The value of a setting, or nothing where it was not given.
  std::optional<std::string_view> text(std::string_view name) const;
  // One of a few words.
  template <class T>
  T choice(std::string_view name, T fallback,
           std::initializer_list<std::pair<std::string_view, T>> words) {
    const auto given = text(name);
    if (!given) return fallback;
    std::string known;
    for (const auto& [word, value] : words) {
      if (*given == word) return value;
      known += (known.empty() ? "" : ", ") + std::string(word);
    }
    fail(name, *given, known);
    return fallback;
  }
  bool flag(std::string_view name, bool fallback) {
    return choice(name, fallback, {{"yes", true}, {"no", false}});
  }
  // A finite number in [least, most].
  double number(std::string_view name, double fallback, double least, double most);

  const std::optional<Error>& error() const { return error_; }

 private:
  void fail(std::string_view name, std::string_view given, const std::string& known);

  const std::map<std::string, std::string>& values_;
  std::optional<Error> error_;
};

}  // namespace dopesheet
