// tile/epilogue_fuse.hpp -- the body of tile/epilogue.hpp: which kernels fit each other, and what they become.
#pragma once
#include "epilogue.hpp"

namespace fx::inline v0::tile {
namespace detail {

// A product over the space of a kernel that reads it: the dimensions divided and turned as the reader walks them, the
// contracted one last.
struct ProductAsRead {
  Dims space;
  Access in[2], out;
  bool whole = false;  // every element is read, once

  ProductAsRead(const Kernel& k, const Dims& dims, const Access& read) : space(dims), out(read) {
    const int terms = k.space.n - 1;
    if (k.out[0].offset != 0 || read.offset != 0 || !is_dense(dims, read.stride)) return;
    for (int j = 0; j < 2; ++j) in[j] = {k.in[j].buffer, k.in[j].offset, Dims(dims.n, 0)};
    for (int i = 0; i < dims.n; ++i) {
      if (dims[i] == 1) continue;
      const std::int64_t step = read.stride[i];
      int d = -1;  // the product's dimension that a step along this one moves along
      for (int e = 0; e < terms; ++e)
        if (const std::int64_t s = k.out[0].stride[e]; s <= step && step < s * k.space[e]) d = e;
      if (d < 0 || step % k.out[0].stride[d] != 0) return;
      const std::int64_t times = step / k.out[0].stride[d];
      if (times * dims[i] > k.space[d]) return;
      for (int j = 0; j < 2; ++j) in[j].stride[i] = k.in[j].stride[d] * times;
    }
    space.push_back(k.space[terms]);
    for (int j = 0; j < 2; ++j) in[j].stride.push_back(k.in[j].stride[terms]);
    out.stride.push_back(0);
    const int column = dims.n - 1;
    if (column >= 0 && in[0].stride[column] != 0 && in[1].stride[column] == 0) std::swap(in[0], in[1]);
    whole = true;
  }
  // Whether the strides are those of a dense array with its dimensions in some order.
  static bool is_dense(const Dims& dims, const Dims& stride) {
    std::int64_t inside = 1;
    for (int found = 0; found < dims.n; ++found) {
      int next = -1;
      for (int i = 0; i < dims.n; ++i)
        if (dims[i] != 1 && stride[i] == inside) next = i;
      if (next < 0) break;
      inside *= dims[next];
    }
    return inside == numel(dims);
  }
};

// Whether a product has enough rows and columns for tiles, columns last but for the contracted dimension; by the
// strides of lhs and rhs.
FX_INLINE bool fills_tiles(const Dims& space, const Dims& lhs, const Dims& rhs) {
  constexpr std::int64_t least_rows = 5, least_columns = 16, least_results = 1024;
  const int n = space.n - 1;  // free dimensions
  if (n < 2 || lhs[n - 1] != 0 || space[n - 1] < least_columns) return false;
  std::int64_t results = 1, rows = 0;
  for (int i = 0; i < n; ++i) {
    results *= space[i];
    if (i < n - 1 && rhs[i] == 0 && space[i] > rows) rows = space[i];
  }
  return rows >= least_rows && results >= least_results;
}

// Kernels that may write over an operand in place: who reads that operand must not move behind them.
FX_INLINE bool may_update(const Kernel& k, int buffer) {
  if (k.kind != KernelKind::index && k.kind != KernelKind::scan && k.kind != KernelKind::sort) return false;
  bool reads = false;
  for (const Access& a : k.in) reads = reads || a.buffer == buffer;
  return reads;
}

class Epilogues {
 public:
  explicit Epilogues(Program& p) : p_(p), uses_(p.buffers.size(), 0), gone_(p.kernels.size(), char(0)) {
    for (const Kernel& k : p.kernels) each_access(k, [&](const Access& a) { ++uses_[a.buffer]; });
  }
  void fuse() {
    bool any = false;
    for (int i = 0; i < p_.kernels.size(); ++i)
      if (const int j = reader(i); j >= 0) any = merge(i, j) || any;
    if (!any) return;
    Vec<Kernel> left;
    for (int i = 0; i < p_.kernels.size(); ++i)
      if (!gone_[i]) left.push_back(std::move(p_.kernels[i]));
    p_.kernels = std::move(left);
    drop_unused(p_);  // products that nothing stores
  }

 private:
  Program& p_;
  Vec<int> uses_;  // of each buffer
  Vec<char> gone_;

  // The first kernel that reads the product i, if the product can move there; else -1.
  int reader(int i) const {
    constexpr int reach = 64;  // keeps it linear
    const Kernel& dot = p_.kernels[i];
    if (dot.kind != KernelKind::dot || dot.body || numel(dot.space) == 0) return -1;
    for (int j = i + 1; j < p_.kernels.size() && j < i + reach; ++j) {
      const Kernel& k = p_.kernels[j];
      for (const Access& a : k.in)
        if (a.buffer == dot.out[0].buffer) return k.kind == KernelKind::map ? j : -1;
      if (may_update(k, dot.in[0].buffer) || may_update(k, dot.in[1].buffer)) return -1;
    }
    return -1;
  }

  // Whether the product has tiles, and few enough terms to be packed as a whole.
  static bool worthwhile(const ProductAsRead& d) {
    constexpr std::int64_t most_terms = 4096;
    return d.space[d.space.n - 1] <= most_terms && fills_tiles(d.space, d.in[0].stride, d.in[1].stride);
  }
  // Which operand of the map buffer b is, if it is one; else -1.
  static int operand(const Kernel& map, int b) {
    int at = -1;
    for (int i = 0; i < map.in.size(); ++i) {
      if (map.in[i].buffer != b) continue;
      if (at >= 0) return -1;
      at = i;
    }
    return at;
  }
  // By rows of contiguous elements or one for all (but for operand `any`), and without positions.
  static bool simple(const Kernel& map, int any) {
    const int last = map.space.n - 1;
    for (int i = 0; i < map.in.size(); ++i)
      if (i != any && map.in[i].stride[last] != 0 && map.in[i].stride[last] != 1) return false;
    for (const Access& a : map.out)
      if (a.stride[last] != 1) return false;
    return !uses_positions(*map.body);
  }

  bool merge(int i, int j) {
    Kernel& map = p_.kernels[j];
    const int b = p_.kernels[i].out[0].buffer, product = operand(map, b);
    if (product < 0 || map.space.n < 2 || map.space.n >= max_rank) return false;
    const ProductAsRead d(p_.kernels[i], map.space, map.in[product]);
    if (!d.whole || numel(p_.buffers[b].type) != numel(map.space) || !worthwhile(d)) return false;
    const bool kept = p_.buffers[b].place == BufferDecl::output || uses_[b] > 2;
    if (!simple(map, kept ? -1 : product)) return false;
    Kernel k;
    k.kind = KernelKind::dot;
    k.space = d.space;
    k.op = p_.kernels[i].op;
    k.in = {d.in[0], d.in[1]};
    auto with_terms = [](Access a) {
      a.stride.push_back(0);
      return a;
    };
    for (int n = 0; n < map.in.size(); ++n)
      if (n != product) k.in.push_back(with_terms(map.in[n]));
    if (kept) k.out.push_back(d.out);
    for (const Access& a : map.out) k.out.push_back(with_terms(a));
    k.body = body(*map.body, product, kept);
    p_.kernels[j] = std::move(k);
    gone_[i] = 1;
    return true;
  }
  // g with operand `product` first, and as a first result if it is kept.
  static GraphRef body(const Graph& g, int product, bool kept) {
    Builder b;
    Vec<Val> ins(g.ins.size()), outs;
    ins[product] = b.input(g.type(g.ins[product]));
    for (int n = 0; n < g.ins.size(); ++n)
      if (n != product) ins[n] = b.input(g.type(g.ins[n]));
    if (kept) outs.push_back(ins[product]);
    for (const Val& v : inline_graph(b, g, ins)) outs.push_back(v);
    return GraphRef(new Graph(b.finish(outs)));
  }
};
}  // namespace detail

FX_INLINE void fuse_epilogues(Program& p) { detail::Epilogues(p).fuse(); }

}  // namespace fx::inline v0::tile
