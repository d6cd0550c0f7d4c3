// tile/lowering_dot.hpp -- Lowering: a product as batch, row, column and contracted dimensions, as few as strides
// allow.
#pragma once
#include "lowering.hpp"

namespace fx::inline v0::tile {
namespace detail {

// One dimension of a product: how far a step along it moves lhs, rhs and the result.
struct DotDim {
  std::int64_t size = 1, stride[3] = {0, 0, 0};
};

// Neighbours that lhs, rhs and result walk as one are one dimension; those of size 1 are none.
FX_INLINE Vec<DotDim> merged(const Vec<DotDim>& dims) {
  Vec<DotDim> r;
  for (const DotDim& d : dims) {
    if (d.size == 1) continue;
    bool joins = !r.empty();
    for (int k = 0; joins && k < 3; ++k) joins = r.back().stride[k] == d.size * d.stride[k];
    if (!joins) {
      r.push_back(d);
      continue;
    }
    for (int k = 0; k < 3; ++k) r.back().stride[k] = d.stride[k];
    r.back().size *= d.size;
  }
  return r;
}

// The dimensions of a product by role.
struct DotSpace {
  enum Role { batch, row, column, contracted };
  Vec<DotDim> dims[4];
  std::int64_t count(Role r) const {
    std::int64_t n = 1;
    for (const DotDim& d : dims[r]) n *= d.size;
    return n;
  }
  // Whether operand k walks the contracted dimensions as one.
  bool one_chain(int k) const {
    Vec<DotDim> own = dims[contracted];
    for (DotDim& d : own)
      for (int other = 0; other < 3; ++other)
        if (other != k) d.stride[other] = 0;
    return merged(own).size() <= 1;
  }
  int rank() const {
    int n = 0;
    for (const Vec<DotDim>& d : dims) n += merged(d).size();
    return n;
  }
};
}  // namespace detail

// Operand k (0: lhs, 1: rhs) copied so that its dimensions lie in the product's order.
FX_INLINE Access Lowering::repack(detail::DotSpace& s, int k, const Access& from, DType d) {
  using detail::DotSpace;
  Dims space, from_stride;
  for (DotSpace::Role r : {DotSpace::batch, k == 0 ? DotSpace::row : DotSpace::column, DotSpace::contracted})
    for (const detail::DotDim& dim : s.dims[r])
      if (dim.size != 1) {
        space.push_back(dim.size);
        from_stride.push_back(dim.stride[k]);
      }
  const Access to = dense_access(new_buffer({d, space}), space);
  copy(space, {from.buffer, from.offset, from_stride}, to);
  int at = 0;
  for (DotSpace::Role r : {DotSpace::batch, k == 0 ? DotSpace::row : DotSpace::column, DotSpace::contracted})
    for (detail::DotDim& dim : s.dims[r])
      if (dim.size != 1) dim.stride[k] = to.stride[at++];
  return {to.buffer, 0, {}};
}

FX_INLINE void Lowering::lower_dot(const Eqn& e) {
  using detail::DotSpace;
  const Attrs attr = attrs(g_, e);
  const Dims contract[] = {attr.dims(0), attr.dims(1)}, batch[] = {attr.dims(2), attr.dims(3)};
  const Dims out_stride = strides_of(g_.type(e.out).dims);
  DotSpace s;
  Access in[2];
  int out = batch[0].n;  // the result's dimension of the next free one
  for (int k = 0; k < 2; ++k) {
    const int o = g_.in(e)[k];
    const Dims& dims = g_.type(o).dims;
    in[k] = a_.literal(o) >= 0 ? dense(o) : access(a_.view(o));
    auto at = [&](DotSpace::Role r, int i) -> detail::DotDim& {
      if (s.dims[r].size() <= i) s.dims[r].resize(i + 1);
      return s.dims[r][i];
    };
    auto place = [&](detail::DotDim& dim, std::int64_t d) {
      dim.size = dims[int(d)];
      dim.stride[k] = in[k].stride[int(d)];
    };
    for (int i = 0; i < batch[k].n; ++i) {
      place(at(DotSpace::batch, i), batch[k][i]);
      at(DotSpace::batch, i).stride[2] = out_stride[i];
    }
    for (int i = 0; i < contract[k].n; ++i) place(at(DotSpace::contracted, i), contract[k][i]);
    const DotSpace::Role own = k == 0 ? DotSpace::row : DotSpace::column;
    for (int d = 0; d < dims.n; ++d) {
      if (contract[k].contains(d) || batch[k].contains(d)) continue;
      detail::DotDim& dim = at(own, s.dims[own].size());
      place(dim, d);
      dim.stride[2] = out_stride[out++];
    }
  }
  const bool empty = numel(g_.type(e.out)) == 0 || s.count(DotSpace::contracted) == 0;
  for (int k = 0; k < 2 && !empty; ++k)
    if (!s.one_chain(k) || s.rank() >= max_rank) in[k] = repack(s, k, in[k], g_.type(e.out).dtype);
  add_dot(e, s, in);
}

// The kernel of a product whose operands lie as `s` says; its last dimension is the contracted one.
FX_INLINE void Lowering::add_dot(const Eqn& e, const detail::DotSpace& s, const Access* in) {
  using detail::DotSpace;
  Dims space;
  Access access[3] = {{in[0].buffer, in[0].offset, {}}, {in[1].buffer, in[1].offset, {}}, {define(e.out), 0, {}}};
  auto push = [&](const detail::DotDim& d) {
    space.push_back(d.size);
    for (int k = 0; k < 3; ++k) access[k].stride.push_back(d.stride[k]);
  };
  if (numel(g_.type(e.out)) == 0) {
    push({0, {0, 0, 0}});  // nothing to compute
    push({1, {0, 0, 0}});
  } else if (s.count(DotSpace::contracted) == 0) {
    push({numel(g_.type(e.out)), {0, 0, 1}});
    push({0, {0, 0, 0}});
  } else {
    for (DotSpace::Role r : {DotSpace::batch, DotSpace::row, DotSpace::column})
      for (const detail::DotDim& d : detail::merged(s.dims[r])) push(d);
    const Vec<detail::DotDim> chain = detail::merged(s.dims[DotSpace::contracted]);
    push(chain.empty() ? detail::DotDim{} : chain[0]);
  }
  Kernel& k = add(KernelKind::dot, space);
  k.op = single(e);
  for (int i = 0; i < 2; ++i) k.in.push_back(access[i]);
  k.out.push_back(access[2]);
}

}  // namespace fx::inline v0::tile
