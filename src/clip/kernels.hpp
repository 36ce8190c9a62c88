// The arithmetic of sampling, for any number of lanes. Included inside an unnamed namespace; see
// lanes.hpp.
#include "clip/lanes.hpp"

// Polynomials by Remez' algorithm, over quarter turns; errors of the exact ones below 5e-9.
template <class F>
inline F sine_of(F x) {  // |x| up to pi / 2
  const F z = x * x;
  return x + x * (z * (-0.16666659712791443F +
                       z * (0.008333087898790836F +
                            z * (-0.0001981105306185782F + z * 2.6087896003446076e-06F))));
}
template <class F>
struct SineCosine {
  F sine, cosine;
};
// Of half turns, below 2^22 of them: 1 is pi.
template <class F>
inline SineCosine<F> sine_cosine(F half) {
  constexpr float whole = 12582912.F;  // 1.5 * 2^23: adding it leaves no room for fractions
  const F nearest = (half + whole) - whole;
  const F odd = nearest - 2.F * ((nearest * 0.5F + whole) - whole);  // -1, 0 or 1
  const F sign = 1.F - 2.F * (odd * odd);
  const F r = half - nearest, z = r * r;
  const F s =
      r * 3.1415927410125732F +
      r * (-1.0147280e-07F +
           z * (-5.167709827423096F +
                z * (2.550076723098755F + z * (-0.5982862710952759F + z * 0.07764698565006256F))));
  const F c = 1.F + z * (-4.934802055358887F +
                         z * (4.058709621429443F +
                              z * (-1.3352158069610596F +
                                   z * (0.23495244979858398F + z * -0.024417998269200325F))));
  return {sign * s, sign * c};
}

template <class F>
struct Quaternion {
  F x, y, z, w;
};
// Identity where the length is not a sound number.
template <class F>
inline Quaternion<F> unit(Quaternion<F> q) {
  const F n = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  const F r = 1.F / root(n);
  const F none = splat<F>(0), one = splat<F>(1);
  const auto low = n > 1e-30F, high = n < 1e30F;
  const auto pick = [&](F good, F bad) { return low ? (high ? good : bad) : bad; };
  return {pick(q.x * r, none), pick(q.y * r, none), pick(q.z * r, none), pick(q.w * r, one)};
}

template <class F>
inline F cubic_of(const float* rows, unsigned long component, unsigned long components, F u) {
  const auto c = [&](unsigned long i) {
    return load<F>(rows + (i * components + component) * lanes);
  };
  return c(0) + u * (c(1) + u * (c(2) + u * c(3)));
}

// Red Faction's ease, in one line for all three pieces: see ease() in sample.hpp.
template <class F>
inline F eased(F u, F a, F b) {
  const auto above = [](F x) { return x > 1e-20F ? x : splat<F>(1e-20F); };
  const F p = positive(a - u), q = positive(u + b - 1.F);
  return (2.F * u - a + p * (p / above(a)) - q * (q / above(b))) / (2.F - a - b);
}

template <class F>
inline F at_row(const float* rows, unsigned long row) {
  return load<F>(rows + row * lanes);
}

template <class F>
inline Quaternion<F> weighted(const float* now, const float* next, F wa, F wb) {
  const auto mix = [&](unsigned long row) {
    return wa * at_row<F>(now, row) + wb * at_row<F>(next, row);
  };
  return {mix(0), mix(1), mix(2), mix(3)};
}

// `now` and `next`: rows of one group, from its first lane to be computed.
template <class F, Kind kind>
inline Quaternion<F> rotation_at(const float* now, const float* next, F u) {
  if constexpr (kind == Kind::hyper) {
    return unit<F>({cubic_of<F>(now, 0, 4, u), cubic_of<F>(now, 1, 4, u), cubic_of<F>(now, 2, 4, u),
                    cubic_of<F>(now, 3, 4, u)});
  } else if constexpr (kind == Kind::nlerp) {
    const auto product = [&](unsigned long row) {
      return at_row<F>(now, row) * at_row<F>(next, row);
    };
    const F dot = product(0) + product(1) + product(2) + product(3);
    return unit(weighted<F>(now, next, 1.F - u, dot < 0.F ? -u : u));
  } else {
    const F signed_angle = at_row<F>(now, 4), inverse = at_row<F>(now, 5);
    const F angle = absolute(signed_angle);
    if constexpr (kind == Kind::eased) u = eased<F>(u, at_row<F>(now, 6), at_row<F>(now, 7));
    if constexpr (kind == Kind::stored) {
      const auto folded = [](F x) {
        constexpr float pi_high = 3.1415927F, pi_low = -8.742278e-08F;
        return x > 1.5707964F ? (pi_high - x) + pi_low : x;
      };
      const F wa = inverse * sine_of<F>(folded((1.F - u) * angle));
      const F wb = inverse * sine_of<F>(folded(u * angle));
      const F none = splat<F>(0), one = splat<F>(1);
      return unit(weighted<F>(now, next, angle > 0.F ? wa : one,
                              signed_angle > 0.F ? wb : (signed_angle < 0.F ? -wb : none)));
    } else {
      return weighted<F>(now, next, inverse * sine_of<F>((1.F - u) * angle),
                         inverse * sine_of<F>(u * signed_angle));
    }
  }
}

// Rz Ry Rx; identity where a turn is not a sound number.
template <class F>
inline Quaternion<F> rotation_of_turns_at(F x, F y, F z) {
  const auto [sx, cx] = sine_cosine<F>(x);
  const auto [sy, cy] = sine_cosine<F>(y);
  const auto [sz, cz] = sine_cosine<F>(z);
  const F cc = cy * cz, ss = sy * sz, cs = cy * sz, sc = sy * cz;
  const Quaternion<F> q{sx * cc - cx * ss, cx * sc + sx * cs, cx * cs - sx * sc, cx * cc + sx * ss};
  const F n = q.x * q.x + q.y * q.y + q.z * q.z + q.w * q.w;
  const F none = splat<F>(0), one = splat<F>(1);
  const auto low = n > 0.999F, high = n < 1.001F;
  const auto pick = [&](F good, F bad) { return low ? (high ? good : bad) : bad; };
  return {pick(q.x, none), pick(q.y, none), pick(q.z, none), pick(q.w, one)};
}

template <class F, Kind kind, Clock clock>
void run(const Job& job) {
  const F high = splat<F>(job.time_high), low = splat<F>(job.time_low);
  for (unsigned long g = 0; g < job.groups; ++g) {
    for (unsigned long lane = 0; lane < lanes; lane += width<F>) {
      const unsigned long at = g * job.stride + lane;
      const float* now = job.now + at;
      const float* next = job.next + at;
      const auto u = [&](unsigned long axis) {
        if constexpr (clock == Clock::shared) {
          return splat<F>(job.u);
        } else {
          const float* c = job.clock + at + (clock == Clock::axis ? 3 * axis * lanes : 0);
          return ((high - at_row<F>(c, 0)) + (low - at_row<F>(c, 1))) * at_row<F>(c, 2);
        }
      };
      auto* out = reinterpret_cast<unsigned char*>(job.out);
      const unsigned* to = job.to + g * lanes + lane;
      if constexpr (kind == Kind::line) {
        const F v = u(0);
        const auto mix = [&](unsigned long row) {
          const F a = at_row<F>(now, row);
          return a + v * (at_row<F>(next, row) - a);
        };
        store3(out, to, mix(0), mix(1), mix(2));
      } else if constexpr (kind == Kind::cubic || kind == Kind::turns) {
        const F x = cubic_of<F>(now, 0, 3, u(0)), y = cubic_of<F>(now, 1, 3, u(1)),
                z = cubic_of<F>(now, 2, 3, u(2));
        if constexpr (kind == Kind::cubic) {
          store3(out, to, x, y, z);
        } else {
          const Quaternion<F> q = rotation_of_turns_at<F>(x, y, z);
          store4(out, to, q.x, q.y, q.z, q.w);
        }
      } else {
        const Quaternion<F> q = rotation_at<F, kind>(now, next, u(0));
        store4(out, to, q.x, q.y, q.z, q.w);
      }
    }
  }
}

template <class F, Kind kind>
inline constexpr std::array<Kernel, 3> clocks_of{
    run<F, kind, Clock::shared>, run<F, kind, Clock::lane>, run<F, kind, Clock::axis>};
template <class F>
inline constexpr Kernels all_kernels{clocks_of<F, Kind::line>,  clocks_of<F, Kind::cubic>,
                                     clocks_of<F, Kind::turns>, clocks_of<F, Kind::slerp>,
                                     clocks_of<F, Kind::eased>, clocks_of<F, Kind::stored>,
                                     clocks_of<F, Kind::nlerp>, clocks_of<F, Kind::hyper>};
