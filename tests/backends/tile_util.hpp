// backends/tile_util.hpp -- running Graphs on the tiled backend and comparing bits with constant evaluation.
#pragma once
#include <doctest/doctest.h>

#include <cstring>
#include <fx/backends/tiled/backend.hpp>
#include <fx/ops/all.hpp>
#include <fx/passes/evaluate.hpp>
#include <fx/print.hpp>
#include <fx/runtime/executables.hpp>
#include <string>
#include <vector>

namespace tile_test {
using namespace fx;

inline Vec<Type> types_of(const Graph& g, const Vec<int>& vars) {
  Vec<Type> t;
  for (int v : vars) t.push_back(g.type(v));
  return t;
}

inline Ref<Storage> pack(const Type& t, const Elements& e) {
  const int size = size_of(t.dtype);
  Ref<Storage> s = allocate(e.size() * size);
  for (int i = 0; i < e.size(); ++i) std::memcpy(static_cast<char*>(s->data) + i * size, &e[i], std::size_t(size));
  return s;
}
inline Elements unpack(const Type& t, const Storage& s) {
  const int size = size_of(t.dtype);
  Elements e(int(numel(t)), 0);
  for (int i = 0; i < e.size(); ++i) std::memcpy(&e[i], static_cast<const char*>(s.data) + i * size, std::size_t(size));
  return e;
}

// All NaNs are one value.
inline std::uint64_t canonical(DType d, std::uint64_t bits) {
  if (d == f32 && (bits & 0x7fffffff) > 0x7f800000) return 0x7fc00000;
  if (d == f64 && (bits & 0x7fffffffffffffff) > 0x7ff0000000000000) return 0x7ff8000000000000;
  return bits;
}

struct Random {
  std::uint64_t state;
  std::uint64_t next() {
    std::uint64_t z = state += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  int below(int n) { return int(next() % std::uint64_t(n)); }
  double uniform() { return double(next() >> 11) * 0x1p-53 * 4 - 2; }
};

inline Elements sample(Random& r, const Type& t) {
  Elements e(int(numel(t)), 0);
  for (std::uint64_t& x : e) {
    if (t.dtype == f32)
      x = detail::to_bits(float(r.uniform()));
    else if (t.dtype == f64)
      x = detail::to_bits(r.uniform());
    else if (t.dtype == boolean)
      x = r.next() & 1;
    else
      x = size_of(t.dtype) == 4 ? std::uint32_t(r.below(9)) : std::uint64_t(r.below(9));
  }
  return e;
}
inline Vec<Elements> samples(const Graph& g, std::uint64_t seed = 1) {
  Random r{seed};
  Vec<Elements> v;
  for (int i : g.ins) v.push_back(sample(r, g.type(i)));
  return v;
}

inline Target small_target(std::int64_t on_chip) {
  Target t = tile::host();
  t.on_chip = on_chip;
  return t;
}
inline Ref<const tiled::TiledExecutable> compile(const Graph& g, const Target& t = tile::host()) {
  ExecutableRef e = tiled::TiledBackend(t).compile(g);
  return Ref<const tiled::TiledExecutable>(static_cast<const tiled::TiledExecutable*>(e.get()));
}

// What an image of g makes: the same texts, and nothing was compiled for it. Null where images are not made.
inline Ref<const tiled::TiledExecutable> reloaded(const Graph& g, const Target& t = tile::host()) {
  const tiled::TiledBackend backend(t);
  ByteWriter image;
  const ExecutableRef made = backend.compile(g, image);
  const bool possible = tiled::level() != tiled::Level::baseline && tiled::code::executable_memory();
  CHECK(image.bytes().empty() != possible);
  if (!possible) return {};
  const ExecutableRef e = backend.load(g, image.bytes());
  REQUIRE(e);
  for (const char* what : {"ir", "tile", "asm"}) CHECK(e->text(what) == made->text(what));
  CHECK(e->workspace() == made->workspace());
  for (int k = 0; k < g.outs.size(); ++k) CHECK(e->may_alias(k) == made->may_alias(k));
  return Ref<const tiled::TiledExecutable>(static_cast<const tiled::TiledExecutable*>(e.get()));
}

// The memory of one run: the inputs, and every byte of outputs and workspace set to `dirt`.
struct RunMemory {
  const Graph& g;
  Vec<Ref<Storage>> owners;
  Vec<Buffer> ins, outs;
  Ref<Storage> workspace;

  RunMemory(const Executable& e, const Graph& graph, const Vec<Elements>& in, int dirt = 0xAB) : g(graph) {
    auto buffer = [&](Ref<Storage> s) {
      owners.push_back(s);
      return Buffer{s->data, s->bytes};
    };
    for (int k = 0; k < g.ins.size(); ++k) ins.push_back(buffer(pack(g.type(g.ins[k]), in[k])));
    for (int v : g.outs) {
      Ref<Storage> s = allocate(numel(g.type(v)) * size_of(g.type(v).dtype));
      std::memset(s->data, dirt, std::size_t(s->bytes));
      outs.push_back(buffer(s));
    }
    workspace = allocate(e.workspace());
    std::memset(workspace->data, dirt, std::size_t(workspace->bytes));
  }
  Elements in(int k) const { return unpack(g.type(g.ins[k]), *owners[k]); }
  Vec<Elements> out() const {
    Vec<Elements> r;
    for (int k = 0; k < g.outs.size(); ++k) r.push_back(unpack(g.type(g.outs[k]), *owners[g.ins.size() + k]));
    return r;
  }
};

struct Outcome {
  Vec<Elements> out;
  Vec<tile::Counts> counts;
};
inline Outcome run_bits(const tiled::TiledExecutable& e, const Graph& g, const Vec<Elements>& in, int dirt = 0xAB) {
  const RunMemory m(e, g, in, dirt);
  Outcome r;
  r.counts = Vec<tile::Counts>(e.program().kernels.size());
  const std::int64_t before = memory_stats().allocated;
  e.run_counted(m.ins, m.outs, m.workspace->data, r.counts);
  CHECK(memory_stats().allocated == before);
  r.out = m.out();
  for (int k = 0; k < g.ins.size(); ++k) CHECK(m.in(k) == in[k]);  // inputs are not written
  return r;
}
// As a call runs it: without counts.
inline Vec<Elements> call_bits(const tiled::TiledExecutable& e, const Graph& g, const Vec<Elements>& in) {
  const RunMemory m(e, g, in);
  e.run(m.ins, m.outs, m.workspace->data);
  return m.out();
}

inline std::string graph_text(const Graph& g) {
  Str s;
  put(s, g);
  return std::string(s.view());
}

inline void check_same(const Graph& g, const Vec<Elements>& expected, const Vec<Elements>& got) {
  for (int k = 0; k < g.outs.size(); ++k) {
    const Type& t = g.type(g.outs[k]);
    REQUIRE(expected[k].size() == got[k].size());
    for (int i = 0; i < got[k].size(); ++i)
      if (canonical(t.dtype, expected[k][i]) != canonical(t.dtype, got[k][i])) {
        FAIL_CHECK("output " << k << ", element " << i << ": " << detail::decode(t.dtype, got[k][i]) << " instead of "
                             << detail::decode(t.dtype, expected[k][i]) << " in\n"
                             << graph_text(g));
        break;
      }
  }
}

// Compiles for several sizes of on-chip memory; all give the bits of constant evaluation, and count what is predicted.
inline void check(const Graph& g, std::uint64_t seed = 1) {
  const Vec<Elements> in = samples(g, seed), expected = evaluate(g, in);
  for (std::int64_t on_chip : {1 << 20, 1 << 14, 1 << 12}) {
    auto e = compile(g, small_target(on_chip));
    const Outcome r = run_bits(*e, g, in);
    check_same(g, expected, r.out);
    const Vec<tile::Counts> predicted = e->program().predicted();
    for (int k = 0; k < predicted.size(); ++k) {
      INFO("kernel " << k << " (" << std::string(tile::name(e->program().kernels[k].kind)) << ") of " << graph_text(g));
      CHECK(predicted[k].steps == r.counts[k].steps);
      CHECK(predicted[k].bytes_in == r.counts[k].bytes_in);
      CHECK(predicted[k].bytes_out == r.counts[k].bytes_out);
    }
  }
}

}  // namespace tile_test
