// kernels/arg_loops.hpp -- the loops of argmax and argmin along rows and columns: the first extremum, a NaN being one.
#pragma once
#include <cstring>

#include "fold_loops.hpp"
#include "vector_kernels.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::kernels {

// The state of one row: the best of the blocks before and its position (-1: none); each lane's best in the block at hand and
// the round it came in.
template <class T>
struct ArgState {
  using Round = std::conditional_t<sizeof(T) == 1, std::uint8_t, std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>;
  static_assert(reduce_block / lanes_of<bool> <= 256, "a round fits a byte");
  std::int64_t at;
  T best;
  alignas(64) T lane[lanes_of<T>];
  alignas(64) Round round[lanes_of<T>];
};

// Ties go to the smaller position.
template <class B, class T>
void take(ArgState<T>& s, T v, std::int64_t at) {
  const bool wins = s.at < 0 || B::template run<T, T>(s.best, v) || (at < s.at && !B::template run<T, T>(v, s.best));
  if (wins) s.best = v, s.at = at;
}
template <class B, class T>
void arg_close(void* state, std::int64_t first, std::int64_t count) {
  ArgState<T>& s = *static_cast<ArgState<T>*>(state);
  constexpr int lanes = lanes_of<T>;
  for (int l = 0; l < lanes && l < count; ++l) take<B>(s, s.lane[l], first + std::int64_t(s.round[l]) * lanes + l);
}
template <class B, class T>
void arg_merge(void* state, const void* later) {
  const ArgState<T>& s = *static_cast<const ArgState<T>*>(later);
  if (s.at >= 0) take<B>(*static_cast<ArgState<T>*>(state), s.best, s.at);
}

template <class B, class T>
FX_LOOP void arg_element(ArgState<T>& s, T v, std::int64_t in_block) {
  constexpr int lanes = lanes_of<T>;
  const std::int64_t l = in_block % lanes, round = in_block / lanes;
  if (round && !B::template run<T, T>(s.lane[l], v)) return;
  s.lane[l] = v;
  s.round[l] = typename ArgState<T>::Round(round);
}
// Rounds [from, to) of one vector of lanes.
template <class B, class T, int bytes>
FX_LOOP void arg_lanes(T* lane, typename ArgState<T>::Round* round, const T* x, std::int64_t from, std::int64_t to) {
  using R = typename ArgState<T>::Round;
  using V = typename Lanes<T, bytes>::type;
  using RV = typename Lanes<R, bytes>::type;
  V best = *reinterpret_cast<V*>(lane);
  RV at = *reinterpret_cast<RV*>(round);
  RV now = RV{} + R(from);
  for (std::int64_t i = from; i < to; ++i, x += lanes_of<T>, now = now + R(1)) {
    const V v = *reinterpret_cast<const typename Lanes<T, bytes>::loose*>(x);
    const auto wins = B::template run<T, V>(best, v);
    best = wins ? v : best;
    at = wins ? now : at;
  }
  *reinterpret_cast<V*>(lane) = best;
  *reinterpret_cast<RV*>(round) = at;
}

template <class B, class T, int bytes>
FX_LOOP void arg_row_loop(void* state, const void* in, std::int64_t first, std::int64_t count) {
  constexpr int lanes = lanes_of<T>, size = int(sizeof(T)), width = size * lanes < bytes ? 16 : bytes;
  ArgState<T>& s = *static_cast<ArgState<T>*>(state);
  const T* x = static_cast<const T*>(in);
  for (const std::int64_t end = first + count; first < end;) {
    const std::int64_t block = first / reduce_block * reduce_block, block_end = block + reduce_block;
    const std::int64_t stop = block_end < end ? block_end : end;
    for (; first < stop && (first % lanes || first == block); ++first) arg_element<B, T>(s, *x++, first - block);
    for (; first < stop && first - block < lanes; ++first) arg_element<B, T>(s, *x++, first - block);
    const std::int64_t from = (first - block) / lanes, to = (stop - block) / lanes;
    if (from < to) {
      for (int l = 0; l < lanes; l += width / size)
        arg_lanes<B, T, width>(s.lane + l, s.round + l, x + l, from, to);
      x += (to - from) * lanes, first += (to - from) * lanes;
    }
    for (; first < stop; ++first) arg_element<B, T>(s, *x++, first - block);
    if (stop == block_end) arg_close<B, T>(state, block, reduce_block);
  }
}

// Columns: best values and their positions side by side. Positions are wider than most elements, so this is left to the
// compiler, in pieces of constant length.
template <class B, class T>
FX_LOOP void arg_piece(T* best, std::int64_t* at, const T* x, std::int64_t i, int n) {
  FX_INDEPENDENT
  for (int c = 0; c < n; ++c) {
    const T a = best[c], b = x[c];
    const std::int64_t before = at[c];
    const bool wins = B::template run<T, T>(a, b);
    best[c] = wins ? b : a;
    at[c] = wins ? i : before;
  }
}
template <class B, class T>
FX_LOOP void arg_columns_loop(void* best_, std::int64_t* at, const void* in, std::int64_t first, std::int64_t rows,
                              std::int64_t cols, std::int64_t stride, bool begins) {
  T* best = static_cast<T*>(best_);
  const T* x = static_cast<const T*>(in);
  if (begins && rows > 0) {
    std::memcpy(best, x, std::size_t(cols) * sizeof(T));
    for (std::int64_t c = 0; c < cols; ++c) at[c] = first;
    x += stride, ++first, --rows;
  }
  for (const std::int64_t end = first + rows; first < end; ++first, x += stride) {
    std::int64_t c = 0;
    for (; c + 32 <= cols; c += 32) arg_piece<B, T>(best + c, at + c, x + c, first, 32);
    arg_piece<B, T>(best + c, at + c, x + c, first, int(cols - c));
  }
}

#if defined(__clang__)
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wpass-failed"
#endif
template <class B, class T>
void arg_columns_plain(void* best, std::int64_t* at, const void* x, std::int64_t first, std::int64_t rows,
                       std::int64_t cols, std::int64_t stride, bool begins) {
  arg_columns_loop<B, T>(best, at, x, first, rows, cols, stride, begins);
}
template <class B, class T>
FX_AVX2 void arg_columns_wide(void* best, std::int64_t* at, const void* x, std::int64_t first, std::int64_t rows,
                              std::int64_t cols, std::int64_t stride, bool begins) {
  arg_columns_loop<B, T>(best, at, x, first, rows, cols, stride, begins);
}
#if defined(__clang__)
#pragma clang diagnostic pop
#endif
template <class B, class T>
void arg_row_plain(void* state, const void* x, std::int64_t first, std::int64_t count) {
  arg_row_loop<B, T, 16>(state, x, first, count);
}
template <class B, class T>
FX_AVX2 void arg_row_wide(void* state, const void* x, std::int64_t first, std::int64_t count) {
  arg_row_loop<B, T, 32>(state, x, first, count);
}

template <class B>
ArgLoops arg_loops_of(DType d, Level l) {
  ArgLoops r;
  fx::detail::with_type<computed>(d, [&]<class U>() {
    using T = Stored<U>;
    r = {&arg_columns_plain<B, T>, &arg_row_plain<B, T>, &arg_close<B, T>, &arg_merge<B, T>};
    if constexpr (std::is_floating_point_v<T>)
      if (l != Level::baseline) r.columns = &arg_columns_wide<B, T>, r.row = &arg_row_wide<B, T>;
  });
  return r;
}

}  // namespace fx::inline v0::tiled::kernels
#endif
