// A clip's curves into sheets and loose sets.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <map>
#include <unordered_map>

#include "clip/packed.hpp"

namespace dopesheet::packed {
namespace {

constexpr double longest = 1e30;  // seconds; its square and its halves are sound floats

using Axes = std::array<Curve<float>, 3>;
using Values = std::array<float, 16>;  // of one key

template <class T>
bool usable(const Curve<T>& c) {
  const std::size_t n = c.times.size();
  const bool tangents = c.interp == Interp::hermite || c.interp == Interp::bezier;
  const bool params = c.interp == Interp::slerp_ease || c.interp == Interp::slerp_stored;
  return n > 0 && n < 0xFFFFFFF0 && c.values.size() == n &&
         (!tangents || (c.in.size() == n && c.out.size() == n)) &&
         (!std::same_as<T, Quat> || !params || c.params.size() == n) &&
         std::is_sorted(c.times.begin(), c.times.end()) &&
         std::all_of(
             c.times.begin(), c.times.end(), [](double t) { return std::abs(t) < longest; });
}

bool cubic(Interp i) { return i == Interp::hermite || i == Interp::bezier; }

template <class T>
bool constant(const Curve<T>& c) {
  if (c.times.size() == 1) return true;
  if (c.interp == Interp::slerp_stored) return false;
  const auto all = [](const std::vector<T>& list, const T& v) {
    return std::all_of(list.begin(), list.end(), [&](const T& x) { return x == v; });
  };
  T flat = c.values[0];
  if (c.interp == Interp::hermite) {
    flat = T{};
    if constexpr (std::same_as<T, Quat>) flat.w = 0;
  }
  return all(c.values, c.values[0]) && (!cubic(c.interp) || (all(c.in, flat) && all(c.out, flat)));
}

// c0 to c3 of component `m` of the segment after a key.
template <class T, class Member>
std::array<double, 4> polynomial(const Curve<T>& c, std::size_t k, Member m) {
  const double a = m(c.values[k]);
  if (k + 1 == c.times.size() || c.interp == Interp::step) return {a};
  const double b = m(c.values[k + 1]);
  if (!cubic(c.interp)) return {a, b - a};
  const double out = m(c.out[k]), in = m(c.in[k + 1]);
  if (c.interp == Interp::bezier) {
    return {a, 3 * (out - a), 3 * (a - 2 * out + in), b - a + 3 * (out - in)};
  }
  const double dt = c.times[k + 1] - c.times[k];
  return {a, dt * out, 3 * (b - a) - dt * (2 * out + in), 2 * (a - b) + dt * (out + in)};
}

// The angle of the arc between two rotations and one over its sine, as kernels want them: see Kind.
std::array<float, 2> arc(Quat p, Quat q) {
  using Double4 = std::array<double, 4>;
  const auto unit = [](Quat v) {
    Double4 d{v.x, v.y, v.z, v.w};
    const double n = std::sqrt(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + d[3] * d[3]);
    for (double& x : d) x /= n;
    return d;
  };
  const Double4 a = unit(p), b = unit(q);
  const double d = a[0] * b[0] + a[1] * b[1] + a[2] * b[2] + a[3] * b[3];
  // Codecs choose the arc of a half turn; rounding must not choose again.
  const double sign = d < -1e-6 ? -1 : 1;
  double chord = 0;
  for (std::size_t i = 0; i < 4; ++i) chord += (sign * b[i] - a[i]) * (sign * b[i] - a[i]);
  double s = std::sqrt(chord) / 2;  // sine of half the angle, up to 0.7072
  const double sine_of_angle = 2 * s * std::sqrt(1 - s * s);
  // Halved three times the angle is small enough for a short series.
  for (int i = 0; i < 3; ++i) s /= std::sqrt(2 * (1 + std::sqrt(1 - s * s)));
  const double z = s * s;
  const double asin =
      s * (1 + z * (1 / 6.0 +
                    z * (3 / 40.0 +
                         z * (15 / 336.0 +
                              z * (105 / 3456.0 + z * (945 / 42240.0 + z * 10395 / 599040.0))))));
  const double angle = 16 * asin;
  // Of powers of two, so that nothing is rounded.
  if (!(angle > 1e-9)) return {static_cast<float>(sign * 0x1p-30), 0x1p30F};
  const auto rounded = static_cast<float>(angle);
  const auto inverse = static_cast<float>(1 / sine_of_angle);
  // With the kernels' own sine their product is to be 1: then keys come out as they are.
  // A few units in the last place of the angle are 2e-5 degrees.
  for (int i = 0; i < 7; ++i) {
    float x = rounded;
    for (int n = 0; n < (i + 1) / 2; ++n) x = std::nextafter(x, i % 2 == 0 ? 0.F : 2.F);
    float y = std::nextafter(std::nextafter(inverse, 0.F), 0.F);
    for (int n = 0; n < 5; ++n, y = std::nextafter(y, INFINITY)) {
      if (y * sine(x) == 1) return {x * static_cast<float>(sign), y};
    }
  }
  return {rounded * static_cast<float>(sign), inverse};
}

// TotemTech's stored angle and 1 / sine; what cannot be right falls back to plain slerp.
std::array<float, 2> stored_arc(Quat a, Quat b, Params p) {
  if (p[0] == 0) return {0, 0};
  double angle = p[0], sign = 1;
  if (p[0] > 6.2831855F) {
    angle -= 6.283185307179586;
    sign = -1;
  }
  double inverse = p[1];
  if (angle < 0) {
    angle = -angle;
    inverse = -inverse;
  }
  const bool right =
      angle > 0 && angle < 3.1415927 &&
      std::abs(inverse * sine(static_cast<float>(std::min(angle, 3.141592653589793 - angle))) - 1) <
          0.05;
  if (!right) return arc(a, b);
  return {static_cast<float>(sign * angle), static_cast<float>(inverse)};
}

std::array<float, 2> eases(Params earlier, Params later) {
  const auto sound = [](float v) { return v > 0 && std::isfinite(v) ? double{v} : 0.0; };
  double a = sound(earlier[1]), b = sound(later[0]);
  if (a + b > 1) {
    const double s = a + b;
    a /= s;
    b /= s;
  }
  return {static_cast<float>(a), static_cast<float>(b)};
}

Kind kind_of(Interp interp) {  // of a rotation
  switch (interp) {
    case Interp::hermite:
    case Interp::bezier:
      return Kind::hyper;
    case Interp::slerp_ease:
      return Kind::eased;
    case Interp::slerp_stored:
      return Kind::stored;
    case Interp::nlerp:
      return Kind::nlerp;
    default:
      return Kind::slerp;
  }
}

void put(Values& out, std::size_t at, std::array<float, 2> v) {
  out[at] = v[0];
  out[at + 1] = v[1];
}

Values rotation_key(const Curve<Quat>& c, std::size_t k) {
  Values out{};
  const Quat a = normalize(c.values[k]);
  const bool last = k + 1 == c.times.size();
  if (cubic(c.interp) && !last) {
    constexpr std::array members{&Quat::x, &Quat::y, &Quat::z, &Quat::w};
    for (std::size_t m = 0; m < 4; ++m) {
      const auto p = polynomial(c, k, [&](const Quat& q) { return double{q.*members[m]}; });
      for (std::size_t d = 0; d < 4; ++d) out[4 * d + m] = static_cast<float>(p[d]);
    }
    return out;
  }
  out = {a.x, a.y, a.z, a.w};
  const Kind kind = kind_of(c.interp);
  if (kind == Kind::hyper || kind == Kind::nlerp) return out;
  const Quat b = last ? a : normalize(c.values[k + 1]);
  if (kind == Kind::stored && !last) {
    put(out, 4, stored_arc(a, b, c.params[k]));
  } else {
    put(out, 4, arc(a, b));
  }
  if (kind == Kind::eased && !last) put(out, 6, eases(c.params[k], c.params[k + 1]));
  return out;
}

std::array<float, 4> scalar_key(const Curve<float>& c, std::size_t k, bool turns) {
  auto p = polynomial(c, k, [](float v) { return double{v}; });
  if (turns) p[0] = within_two_turns(p[0]);
  return {static_cast<float>(p[0]), static_cast<float>(p[1]), static_cast<float>(p[2]),
          static_cast<float>(p[3])};
}

Values vector_key(const Curve<Vec3>& c, std::size_t k) {
  Values out{};
  constexpr std::array members{&Vec3::x, &Vec3::y, &Vec3::z};
  for (std::size_t m = 0; m < 3; ++m) {
    const auto p = polynomial(c, k, [&](const Vec3& v) { return double{v.*members[m]}; });
    for (std::size_t d = 0; d < 4; ++d) out[3 * d + m] = static_cast<float>(p[d]);
  }
  return out;
}

// One track that moves.
struct Item {
  const Track* track;
  Kind kind;
  bool step;
  std::uint32_t to;                        // in bytes
  std::array<std::uint32_t, 3> timelines;  // all of an axis track, else three times the same

  const Axes* axes() const { return std::get_if<Axes>(&track->curve); }
  bool one_timeline() const { return timelines[0] == timelines[1] && timelines[0] == timelines[2]; }
  Values key(std::size_t k) const {
    if (const auto* q = std::get_if<Curve<Quat>>(&track->curve)) return rotation_key(*q, k);
    if (const auto* v = std::get_if<Curve<Vec3>>(&track->curve)) return vector_key(*v, k);
    Values out{};
    for (std::size_t m = 0; m < 3; ++m) {
      const auto p = scalar_key((*axes())[m], k, kind == Kind::turns);
      for (std::size_t d = 0; d < 4; ++d) out[3 * d + m] = p[d];
    }
    return out;
  }
};

class Packer {
 public:
  Packer(const dopesheet::Clip& clip, Outside outside) : source_(clip) {
    out_.start = clip.start;
    out_.end = clip.end;
    out_.outside = outside;
    out_.weights = clip.morph.positions.size();
    out_.kernels = &best_kernels();
    out_.rest.reserve(clip.nodes.size());
    for (const Node& n : clip.nodes) {
      out_.rest.push_back(n.rest);
      out_.rest.back().rotation = normalize(n.rest.rotation);
    }
  }

  Clip run() {
    collect();
    plan_sheets();
    plan_loose();
    fill_timelines();
    fill_sheets();
    fill_loose();
    return std::move(out_);
  }

 private:
  bool fits(const Track& t) const {
    const bool weight = t.channel == Channel::weight;
    const bool vector = t.channel == Channel::translation || t.channel == Channel::scale;
    const bool rotation = t.channel == Channel::rotation;
    if (t.target >= (weight ? out_.weights : out_.rest.size())) return false;
    if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) return vector && usable(*v);
    if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) return rotation && usable(*q);
    if (const auto* f = std::get_if<Curve<float>>(&t.curve)) return weight && usable(*f);
    const Axes& a = std::get<Axes>(t.curve);
    return (vector || rotation) && usable(a[0]) && usable(a[1]) && usable(a[2]);
  }

  void collect() {
    std::map<std::pair<Channel, std::size_t>, const Track*> tracks;
    for (const Track& t : source_.tracks) {
      if (fits(t)) tracks[{t.channel, t.target}] = &t;
    }
    for (const auto& [place, track] : tracks) {
      if (const auto* f = std::get_if<Curve<float>>(&track->curve)) {
        out_.weight_curves.push_back({track->target, *f});
      } else if (!rest(*track)) {
        add(*track);
      }
    }
  }

  // Takes a constant track into the rest pose.
  bool rest(const Track& t) {
    Transform& node = out_.rest[t.target];
    if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
      if (!constant(*q)) return false;
      node.rotation = normalize(q->values[0]);
      return true;
    }
    Vec3 value;
    if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
      if (!constant(*v)) return false;
      value = v->values[0];
    } else {
      const Axes& a = std::get<Axes>(t.curve);
      if (!std::all_of(a.begin(), a.end(), constant<float>)) return false;
      value = {a[0].values[0], a[1].values[0], a[2].values[0]};
    }
    if (t.channel == Channel::translation) node.translation = value;
    if (t.channel == Channel::scale) node.scale = value;
    if (t.channel == Channel::rotation) {
      const auto turns = [](float v) { return static_cast<float>(within_two_turns(v)); };
      node.rotation = packed::rotation_of_turns({turns(value.x), turns(value.y), turns(value.z)});
    }
    return true;
  }

  void add(const Track& t) {
    std::size_t at = offsetof(Transform, translation);
    if (t.channel == Channel::rotation) at = offsetof(Transform, rotation);
    if (t.channel == Channel::scale) at = offsetof(Transform, scale);
    Item item{
        &t, Kind::cubic, false, static_cast<std::uint32_t>(t.target * sizeof(Transform) + at), {}};
    if (const auto* q = std::get_if<Curve<Quat>>(&t.curve)) {
      item.kind = kind_of(q->interp);
      item.step = q->interp == Interp::step;
      item.timelines.fill(timeline(q->times));
    } else if (const auto* v = std::get_if<Curve<Vec3>>(&t.curve)) {
      item.kind = cubic(v->interp) ? Kind::cubic : Kind::line;
      item.step = v->interp == Interp::step;
      item.timelines.fill(timeline(v->times));
    } else {
      if (t.channel == Channel::rotation) item.kind = Kind::turns;
      const Axes& a = std::get<Axes>(t.curve);
      for (std::size_t i = 0; i < 3; ++i) item.timelines[i] = timeline(a[i].times);
    }
    items_.push_back(item);
  }

  std::uint32_t timeline(const std::vector<double>& times) {
    std::uint64_t hash = times.size();
    for (const double t : times) {
      std::uint64_t bits;
      std::memcpy(&bits, &t, sizeof bits);
      hash = (hash ^ bits) * 0x9E3779B97F4A7C15U;
      hash ^= hash >> 29U;
    }
    const auto [from, to] = known_.equal_range(hash);
    for (auto i = from; i != to; ++i) {
      if (*lines_[i->second] == times) return i->second;
    }
    const auto id = static_cast<std::uint32_t>(lines_.size());
    lines_.push_back(&times);
    known_.emplace(hash, id);
    return id;
  }

  // Curves with common times, unless too many lanes would be empty.
  void plan_sheets() {
    const auto key = [](const Item& i) {
      return std::tuple(!i.one_timeline(), i.timelines, i.kind, i.step, i.to);
    };
    std::sort(items_.begin(), items_.end(),
              [&](const Item& a, const Item& b) { return key(a) < key(b); });
    std::vector<Item> rest;
    for (std::size_t i = 0; i < items_.size();) {
      const Item& first = items_[i];
      std::size_t n = 1;
      while (i + n < items_.size() && items_[i + n].timelines == first.timelines &&
             items_[i + n].kind == first.kind && items_[i + n].step == first.step) {
        ++n;
      }
      std::size_t groups = (n + lanes - 1) / lanes;
      if (groups * lanes * 10 > n * 13) groups = n / lanes;
      const std::size_t taken = first.one_timeline() ? std::min(n, groups * lanes) : 0;
      if (taken > 0) {
        sheet_items_.emplace_back(items_.begin() + static_cast<std::ptrdiff_t>(i),
                                  items_.begin() + static_cast<std::ptrdiff_t>(i + taken));
      }
      rest.insert(rest.end(), items_.begin() + static_cast<std::ptrdiff_t>(i + taken),
                  items_.begin() + static_cast<std::ptrdiff_t>(i + n));
      i += n;
    }
    items_ = std::move(rest);
  }

  void plan_loose() {
    for (Item& i : items_) {
      if (i.kind == Kind::line) i.kind = Kind::cubic;
    }
    const auto key = [](const Item& i) {
      return std::tuple(i.kind, i.axes() != nullptr, i.timelines, i.to);
    };
    std::sort(items_.begin(), items_.end(),
              [&](const Item& a, const Item& b) { return key(a) < key(b); });
  }

  void fill_timelines() {
    std::size_t times = 0, buckets = 0;
    for (const auto* t : lines_) {
      times += t->size();
      buckets += (t->size() + 3) / 4 + 1;
    }
    out_.times.reserve(times);
    out_.index.reserve(buckets);
    out_.timelines.reserve(lines_.size());
    for (const auto* t : lines_) {
      Timeline& line = out_.timelines.emplace_back();
      line.times = out_.times.size();
      line.index = out_.index.size();
      line.count = static_cast<std::uint32_t>(t->size());
      line.buckets = (line.count + 3) / 4;
      line.origin = t->front();
      const double scale = line.buckets / (t->back() - t->front());
      if (std::isfinite(scale)) line.scale = scale;
      out_.times.insert(out_.times.end(), t->begin(), t->end());
      std::uint32_t k = 0;
      for (std::uint32_t b = 0; b < line.buckets; ++b) {
        while (k < line.count && line.bucket((*t)[k]) < b) ++k;
        out_.index.push_back(k);
      }
      out_.index.push_back(line.count);
    }
  }

  void add_places(const Item* items, std::size_t count, std::size_t groups) {
    for (std::size_t i = 0; i < groups * lanes; ++i) {
      out_.to.push_back(items[std::min(i, count - 1)].to);  // lanes left over repeat the last one
    }
  }

  void fill_sheets() {
    std::size_t rows = 0;
    for (const auto& items : sheet_items_) {
      const std::size_t groups = (items.size() + lanes - 1) / lanes;
      const std::uint32_t line = items[0].timelines[0];
      out_.sheets.push_back({items[0].kind, items[0].step, line, groups, rows, out_.to.size()});
      add_places(items.data(), items.size(), groups);
      rows += groups * rows_of(items[0].kind) * lines_[line]->size();
    }
    out_.rows.resize(rows);
    for (std::size_t s = 0; s < out_.sheets.size(); ++s) {
      const Sheet& sheet = out_.sheets[s];
      const std::size_t n = rows_of(sheet.kind);
      Lanes* row = out_.rows.data() + sheet.rows;
      for (std::size_t k = 0; k < lines_[sheet.timeline]->size(); ++k) {
        for (std::size_t g = 0; g < sheet.groups; ++g, row += n) {
          for (std::size_t lane = 0; lane < lanes; ++lane) {
            const std::size_t i = std::min(g * lanes + lane, sheet_items_[s].size() - 1);
            const Values v = sheet_items_[s][i].key(k);
            for (std::size_t c = 0; c < n; ++c) row[c].values[lane] = v[c];
          }
        }
      }
    }
  }

  struct Form {
    LooseCurve::Form form = LooseCurve::Form::value;
    bool step = false;
  };
  static Form form_of(const Item& item, std::size_t axis) {
    Interp interp = Interp::linear;
    if (const auto* v = std::get_if<Curve<Vec3>>(&item.track->curve)) interp = v->interp;
    if (const auto* q = std::get_if<Curve<Quat>>(&item.track->curve)) interp = q->interp;
    if (item.axes() != nullptr) interp = (*item.axes())[axis].interp;
    return {cubic(interp) ? LooseCurve::Form::cubic : LooseCurve::Form::value,
            interp == Interp::step};
  }

  void fill_loose() {
    std::size_t floats = 0, curves = 0;
    for (const Item& item : items_) {
      const Clock clock = item.axes() != nullptr ? Clock::axis : Clock::lane;
      for (std::size_t a = 0; a < (clock == Clock::axis ? 3U : 1U); ++a) {
        floats +=
            key_floats(item.kind, clock, form_of(item, a).form) * lines_[item.timelines[a]]->size();
        ++curves;
      }
    }
    out_.keys.reserve(floats);
    out_.loose.reserve(curves + 24 * kinds * 2);
    for (std::size_t i = 0; i < items_.size();) {
      std::size_t n = 1;
      while (i + n < items_.size() && items_[i + n].kind == items_[i].kind &&
             (items_[i + n].axes() != nullptr) == (items_[i].axes() != nullptr)) {
        ++n;
      }
      fill_set(items_.data() + i, n);
      i += n;
    }
  }

  void fill_set(const Item* items, std::size_t count) {
    LooseSet set{};
    set.kind = items[0].kind;
    set.clock = items[0].axes() != nullptr ? Clock::axis : Clock::lane;
    set.groups = (count + lanes - 1) / lanes;
    set.to = out_.to.size();
    set.curves = out_.loose.size();
    set.block = out_.block;
    set.window = out_.windows;
    out_.block += set.groups * set.group_rows();
    out_.windows += 2 * set.groups * (set.per_group() + 1);
    add_places(items, count, set.groups);
    const std::size_t axes = set.clock == Clock::axis ? 3 : 1;
    for (std::size_t g = 0; g < set.groups; ++g) {
      for (std::size_t a = 0; a < axes; ++a) {
        for (std::size_t lane = 0; lane < lanes; ++lane) {
          const std::size_t i = g * lanes + lane;
          if (i < count) {
            fill_curve(items[i], set, a);
          } else {
            const LooseCurve again = out_.loose.back();
            out_.loose.push_back(again);
          }
        }
      }
    }
    out_.sets.push_back(set);
  }

  void fill_curve(const Item& item, const LooseSet& set, std::size_t axis) {
    const auto [form, step] = form_of(item, axis);
    out_.loose.push_back({item.timelines[axis], form, step, out_.keys.size()});
    const std::size_t n = key_floats(set.kind, set.clock, form);
    for (std::size_t k = 0; k < lines_[item.timelines[axis]]->size(); ++k) {
      if (set.clock == Clock::axis) {
        const Curve<float>& c = (*item.axes())[axis];
        // A value keeps all its turns: its segment's difference needs them.
        const auto v = scalar_key(c, k, set.kind == Kind::turns && n > 1);
        out_.keys.insert(out_.keys.end(), v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
      } else {
        const Values v = item.key(k);
        out_.keys.insert(out_.keys.end(), v.begin(), v.begin() + static_cast<std::ptrdiff_t>(n));
      }
    }
  }

  const dopesheet::Clip& source_;
  Clip out_;
  std::vector<Item> items_;
  std::vector<std::vector<Item>> sheet_items_;
  std::vector<const std::vector<double>*> lines_;
  std::unordered_multimap<std::uint64_t, std::uint32_t> known_;
};

}  // namespace

double within_two_turns(double turns) { return turns - 2 * std::floor(turns / 2 + 0.5); }

Clip pack(const dopesheet::Clip& clip, Outside outside) { return Packer(clip, outside).run(); }

}  // namespace dopesheet::packed
