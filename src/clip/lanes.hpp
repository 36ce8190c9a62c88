// Lanes of floats: one (plain float), four, or eight, by the compiler's own vector types. Only
// operations that IEEE 754 rounds exactly, so that all widths and machines give the same bits.
// Included inside an unnamed namespace by sources that are built for different machines: no inline
// function of another header may be used here, or the linker could pick the wrong machine's copy.

#if defined(__GNUC__) || defined(__clang__)
#define DOPESHEET_LANES 1
using F4 = float __attribute__((vector_size(16)));
using F8 = float __attribute__((vector_size(32)));
using D2 = double __attribute__((vector_size(16)));
#endif

template <class F>
inline constexpr unsigned long width = sizeof(F) / 4;

template <class F>
inline F load(const float* p) {
  F v;
  __builtin_memcpy(&v, p, sizeof v);
  return v;
}
template <class F>
inline F splat(float x) {
  if constexpr (width<F> == 1) {
    return x;
  } else if constexpr (width<F> == 4) {
    return F{x, x, x, x};
  } else {
    return F{x, x, x, x, x, x, x, x};
  }
}

inline float root(float x) { return __builtin_sqrtf(x); }
template <class F>
inline F absolute(F x) {
  return x < 0.F ? -x : x;
}
template <class F>
inline F positive(F x) {  // or 0
  return x > 0.F ? x : splat<F>(0);
}

// Into `out` at the places of `to`, one per lane, in bytes.
inline void store3(unsigned char* out, const unsigned* to, float x, float y, float z) {
  const float v[3] = {x, y, z};
  __builtin_memcpy(out + to[0], v, sizeof v);
}
inline void store4(unsigned char* out, const unsigned* to, float x, float y, float z, float w) {
  const float v[4] = {x, y, z, w};
  __builtin_memcpy(out + to[0], v, sizeof v);
}

#if defined(DOPESHEET_LANES)
#if defined(__clang__)
template <class F>
inline F root(F v) {
  return __builtin_elementwise_sqrt(v);
}
#else
inline F4 root(F4 v) {
#if defined(__SSE__)
  return __builtin_ia32_sqrtps(v);
#else
  return F4{root(v[0]), root(v[1]), root(v[2]), root(v[3])};
#endif
}
#if defined(__AVX__)
inline F8 root(F8 v) { return __builtin_ia32_sqrtps256(v); }
#endif
#endif

struct Columns4 {
  F4 at[4];
};
inline Columns4 transpose(F4 x, F4 y, F4 z, F4 w) {
  const F4 a = __builtin_shufflevector(x, y, 0, 4, 1, 5),
           b = __builtin_shufflevector(x, y, 2, 6, 3, 7);
  const F4 c = __builtin_shufflevector(z, w, 0, 4, 1, 5),
           d = __builtin_shufflevector(z, w, 2, 6, 3, 7);
  return {{__builtin_shufflevector(a, c, 0, 1, 4, 5), __builtin_shufflevector(a, c, 2, 3, 6, 7),
           __builtin_shufflevector(b, d, 0, 1, 4, 5), __builtin_shufflevector(b, d, 2, 3, 6, 7)}};
}
inline void store(unsigned char* out, F4 v) { __builtin_memcpy(out, &v, sizeof v); }
inline void store_three(unsigned char* out, F4 v) {
  D2 pair;
  __builtin_memcpy(&pair, &v, sizeof v);
  const double xy = pair[0];
  const float z = v[2];
  __builtin_memcpy(out, &xy, sizeof xy);
  __builtin_memcpy(out + sizeof xy, &z, sizeof z);
}
inline void store4(unsigned char* out, const unsigned* to, F4 x, F4 y, F4 z, F4 w) {
  const Columns4 c = transpose(x, y, z, w);
  for (int i = 0; i < 4; ++i) store(out + to[i], c.at[i]);
}
inline void store3(unsigned char* out, const unsigned* to, F4 x, F4 y, F4 z) {
  const Columns4 c = transpose(x, y, z, z);
  for (int i = 0; i < 4; ++i) store_three(out + to[i], c.at[i]);
}

#if defined(__AVX__)
inline F4 low(F8 v) { return __builtin_shufflevector(v, v, 0, 1, 2, 3); }
inline F4 high(F8 v) { return __builtin_shufflevector(v, v, 4, 5, 6, 7); }
struct Columns8 {
  F8 at[4];  // lanes i and i + 4
};
inline Columns8 transpose(F8 x, F8 y, F8 z, F8 w) {
  const F8 a = __builtin_shufflevector(x, y, 0, 8, 1, 9, 4, 12, 5, 13);
  const F8 b = __builtin_shufflevector(x, y, 2, 10, 3, 11, 6, 14, 7, 15);
  const F8 c = __builtin_shufflevector(z, w, 0, 8, 1, 9, 4, 12, 5, 13);
  const F8 d = __builtin_shufflevector(z, w, 2, 10, 3, 11, 6, 14, 7, 15);
  return {{__builtin_shufflevector(a, c, 0, 1, 8, 9, 4, 5, 12, 13),
           __builtin_shufflevector(a, c, 2, 3, 10, 11, 6, 7, 14, 15),
           __builtin_shufflevector(b, d, 0, 1, 8, 9, 4, 5, 12, 13),
           __builtin_shufflevector(b, d, 2, 3, 10, 11, 6, 7, 14, 15)}};
}
inline void store4(unsigned char* out, const unsigned* to, F8 x, F8 y, F8 z, F8 w) {
  const Columns8 c = transpose(x, y, z, w);
  for (int i = 0; i < 4; ++i) {
    store(out + to[i], low(c.at[i]));
    store(out + to[i + 4], high(c.at[i]));
  }
}
inline void store3(unsigned char* out, const unsigned* to, F8 x, F8 y, F8 z) {
  const Columns8 c = transpose(x, y, z, z);
  for (int i = 0; i < 4; ++i) {
    store_three(out + to[i], low(c.at[i]));
    store_three(out + to[i + 4], high(c.at[i]));
  }
}
#endif
#endif
