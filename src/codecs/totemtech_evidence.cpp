// What a file has to say about the questions that docs/formats/totemtech.md leaves open.
#include <fmt/format.h>

#include <algorithm>

#include "totemtech_math.hpp"

namespace dopesheet::totemtech {
namespace {

double median(std::vector<double>& v) {
  if (v.empty()) return 0;
  const auto middle = v.begin() + static_cast<std::ptrdiff_t>(v.size() / 2);
  std::nth_element(v.begin(), middle, v.end());
  return *middle;
}

// The components of a key's value and tangents, raw.
std::array<double, 1> value(const KeyFloat& k) { return {k.value}; }
std::array<double, 1> tangent_in(const KeyFloat& k) { return {k.tangent_in}; }
std::array<double, 1> tangent_out(const KeyFloat& k) { return {k.tangent_out}; }
std::array<double, 3> wide(const std::array<std::int16_t, 3>& v) {
  return {static_cast<double>(v[0]), static_cast<double>(v[1]), static_cast<double>(v[2])};
}
std::array<double, 3> value(const KeyVec3& k) { return wide(k.value); }
std::array<double, 3> tangent_in(const KeyVec3& k) { return wide(k.tangent_in); }
std::array<double, 3> tangent_out(const KeyVec3& k) { return wide(k.tangent_out); }

template <std::size_t N>
double dot(const std::array<double, N>& a, const std::array<double, N>& b) {
  double d = 0;
  for (std::size_t i = 0; i < N; ++i) d += a[i] * b[i];
  return d;
}
template <std::size_t N>
std::array<double, N> difference(const std::array<double, N>& a, const std::array<double, N>& b) {
  std::array<double, N> out;
  for (std::size_t i = 0; i < N; ++i) out[i] = b[i] - a[i];
  return out;
}

class Collector {
 public:
  Evidence run(const File& file) {
    for (const MeshTracks& t : file.meshes) {
      ++e_.mesh_flags[t.flag];
      tangents(t.visibility);
    }
    for (const NodeTracks& t : file.nodes) node(t);
    for (const MaterialTracks& t : file.materials) {
      ++e_.material_flags[t.flag];
      for (std::size_t i = 0; i < 8; ++i) {
        for_track(t, i, [&](const auto& k) {
          tangents(k);
          range(k, e_.materials[i]);
        });
      }
    }
    finish(file.length);
    return std::move(e_);
  }

 private:
  void node(const NodeTracks& t) {
    ++e_.node_flags[t.flag];
    tangents(t.t1);
    tangents(t.t3);
    for (const auto& [k, list] : {std::pair{&t.t1, &t1_}, std::pair{&t.t3, &t3_}}) {
      for (const KeyVec3& key : k->keys)
        list->insert(list->end(), key.value.begin(), key.value.end());
    }
    rotations(t.rotation);
    occurs(t.messages);
    for (const KeyMessage& k : t.messages.keys) {
      for (const Message& m : k.messages) {
        ++e_.message_ids[m.id];
        if (!m.has_text()) continue;
        ++e_.texts;
        if (m.text.ends_with('\0')) ++e_.terminated_texts;
      }
    }
  }

  template <class Key>
  void occurs(const Keyframer<Key>& k) {
    if (k.keys.empty()) return;
    ++e_.interps[k.interp];
    for (const Key& key : k.keys) e_.last_frame = std::max(e_.last_frame, key.frame);
  }

  template <class Key>
  void tangents(const Keyframer<Key>& k) {
    occurs(k);
    if ((k.interp & hold_bit) != 0) return;  // nothing reads them there
    const bool is_linear = kind_of(k.interp, Flags::recommended) == Interp::linear;
    for (std::size_t i = 0; i < k.keys.size(); ++i) {
      const auto in = tangent_in(k.keys[i]), out = tangent_out(k.keys[i]);
      const double n_in = std::sqrt(dot(in, in)), n_out = std::sqrt(dot(out, out));
      if (is_linear) {
        ++e_.linear_keys;
        if (n_in == 0 && n_out == 0) ++e_.linear_flat;
      }
      if (!std::isfinite(n_in) || !std::isfinite(n_out)) continue;
      if (n_in > 0 && n_out > 0) {
        ++e_.tangent_keys;
        cosines_ += dot(in, out) / (n_in * n_out);
      }
      if (i > 0 && n_in > 0) {
        const double along = dot(in, difference(value(k.keys[i - 1]), value(k.keys[i])));
        if (std::isfinite(along)) {
          ++e_.tangent_segments;
          e_.along += along;
        }
      }
      if (i > 0 && i + 1 < k.keys.size() && n_out > 0) {
        const auto across = difference(value(k.keys[i - 1]), value(k.keys[i + 1]));
        const double half = std::sqrt(dot(across, across)) / 2;
        if (half > 0 && std::isfinite(half)) ratios_.push_back(n_out / half);
      }
    }
  }

  template <class Key>
  static void range(const Keyframer<Key>& k, Evidence::Track& t) {
    for (const Key& key : k.keys) {
      for (const double v : value(key)) {
        if (!std::isfinite(v)) continue;
        t.least = t.values == 0 ? v : std::min(t.least, v);
        t.most = t.values == 0 ? v : std::max(t.most, v);
        ++t.values;
      }
    }
  }

  void rotations(const Keyframer<KeyRot>& k) {
    occurs(k);
    e_.rotation_keys += k.keys.size();
    for (std::size_t i = 0; i < k.keys.size(); ++i) {
      const KeyRot& a = k.keys[i];
      for (const int c : a.rotation)
        e_.largest_component = std::max(e_.largest_component, std::abs(c));
      if (i + 1 == k.keys.size()) {
        if (a.omega != 0 || a.sinom != 0) ++e_.last_with_angle;
        continue;
      }
      const KeyRot& b = k.keys[i + 1];
      const double d = totemtech::dot(a.rotation, b.rotation);
      const double n = length(a.rotation) * length(b.rotation);
      ++e_.segments;
      const bool turned = d<0, flagged = a.omega> turn_flag;
      if (turned) ++e_.turned;
      if (flagged) ++e_.flagged;
      if (turned == flagged) ++e_.agreeing;
      if (a.omega == 0) {
        ++e_.still;
        continue;
      }
      const double angle = plain_angle(a.omega), product = a.sinom * std::sin(angle);
      const double off = std::abs(angle - std::acos(std::min(1.0, std::abs(d) / n)));
      if (std::isfinite(off)) e_.worst_angle = std::max(e_.worst_angle, off);
      if (std::isfinite(product))
        e_.worst_product = std::max(e_.worst_product, std::abs(product - 1));
    }
  }

  void finish(float length) {
    const double ratio = e_.last_frame / double{length};
    if (length > 0 && std::isfinite(ratio)) e_.frames_per_length = ratio;
    // The nearest of the usual ones, if the last key would then be within a frame of the end.
    double least = std::max(1.0, 0.01 * e_.last_frame);
    for (const double rate : {60.0, 50.0, 30.0, 25.0}) {
      const double off = std::abs(e_.last_frame - rate * double{length});
      if (e_.frames_per_length == 0 || !(off <= least) || (off == least && e_.snapped != 0))
        continue;
      least = off;
      e_.snapped = rate;
    }
    if (e_.tangent_keys > 0) e_.mean_cosine = cosines_ / static_cast<double>(e_.tangent_keys);
    e_.unit_keys = ratios_.size();
    e_.unit_ratio = median(ratios_);
    e_.t1_values = t1_.size();
    e_.t3_values = t3_.size();
    e_.t1_median = median(t1_);
    e_.t3_median = median(t3_);
  }

  Evidence e_;
  double cosines_ = 0;
  std::vector<double> ratios_, t1_, t3_;
};

// Whether raw values are those of sizes: half of them at least are within a tenth of 1.
bool near_one(double median, std::size_t values, double one) {
  return values > 0 && std::abs(median - one) <= 0.1 * one;
}

}  // namespace

Evidence evidence(const File& file) { return Collector().run(file); }

Meaning meaning(const File& file, const Options& o) {
  const Evidence e = evidence(file);
  Meaning m;
  if (o.frames_per_second > 0) {
    m.frames_per_second = o.frames_per_second;
    m.rate_reason = "as asked for";
  } else if (e.snapped > 0) {
    m.frames_per_second = e.snapped;
    m.rate_reason = fmt::format("the last key is at frame {}, the length {:.4g} s", e.last_frame,
                                double{file.length});
  } else {
    m.rate_reason = "assumed: the last key does not stand at the end";
  }
  if (o.tangent_sign != TangentSign::automatic) {
    m.tangent_sign = o.tangent_sign == TangentSign::plus ? 1 : -1;
    m.sign_reason = "as asked for";
  } else if (e.tangent_keys > 0 && e.mean_cosine != 0) {
    m.tangent_sign = e.mean_cosine > 0 ? 1 : -1;
    m.sign_reason = fmt::format("the two tangents of {} keys have a mean cosine of {:.2f}",
                                e.tangent_keys, e.mean_cosine);
  } else if (e.tangent_segments > 0 && e.along != 0) {
    m.tangent_sign = e.along > 0 ? 1 : -1;
    m.sign_reason = fmt::format("{} tangents point {} the way to their key", e.tangent_segments,
                                e.along > 0 ? "along" : "against");
  } else {
    m.sign_reason = "assumed: no tangent tells";
  }
  const double one = 1 / o.vector_scale;
  const bool t1 = near_one(e.t1_median, e.t1_values, one);
  const bool t3 = near_one(e.t3_median, e.t3_values, one);
  if (o.track_order != TrackOrder::automatic) {
    m.scale_first = o.track_order == TrackOrder::scale_first;
    m.order_reason = "as asked for";
  } else if (t1 != t3) {
    m.scale_first = t1;
    m.order_reason = fmt::format("{} is near 1 throughout", t1 ? "t1" : "t3");
  } else {
    m.order_reason = t1 ? "assumed: both tracks are near 1" : "assumed: neither track is near 1";
  }
  return m;
}

}  // namespace dopesheet::totemtech
