// code/loop_kernels.hpp -- LoopBody: the kernels that it takes, one after the other.
#pragma once
#include "loop_flatten.hpp"

#if FX_BODIES
namespace fx::inline v0::tiled::code {

// The vectors of a kernel's results: positions of loops that are walked one by one, and along the last one, where all
// results are contiguous, several elements at a time.
struct LoopBody::Box {
  struct Loop {
    std::int64_t size;
    Vec<std::int64_t> stride;  // of each access
  };
  Vec<const tile::Access*> access;
  Vec<Loop> loops;
  bool along = false;  // the last loop is walked by vectors
  int lanes;
  std::int64_t position[max_rank]{};

  Box(const tile::Kernel& k, int dims, bool merge, int vector) : lanes(vector) {
    for (const Vec<tile::Access>* list : {&k.in, &k.out})
      for (const tile::Access& a : *list) access.push_back(&a);
    for (int d = 0; d < dims; ++d) {
      if (k.space[d] == 1 && merge) continue;
      Loop l{k.space[d], {}};
      bool joins = merge && !loops.empty();
      for (int i = 0; i < access.size(); ++i) {
        l.stride.push_back(access[i]->stride[d]);
        joins = joins && loops.back().stride[i] == l.stride[i] * l.size;
      }
      if (joins) l.size *= loops.back().size, loops.pop_back();
      loops.push_back(std::move(l));
    }
    along = !loops.empty();
    for (int i = k.in.size(); along && i < access.size(); ++i) along = loops.back().stride[i] == 1;
  }
  bool empty() const {
    for (const Loop& l : loops)
      if (l.size == 0) return true;
    return false;
  }
  std::int64_t element(int i) const {
    std::int64_t n = 0;
    for (int d = 0; d < loops.size(); ++d) n += position[d] * loops[d].stride[i];
    return n;
  }
  std::int64_t stride(int i) const { return along ? loops.back().stride[i] : 0; }
  int count() const {
    if (!along) return 1;
    const std::int64_t left = loops.back().size - position[loops.size() - 1];
    return int(left < lanes ? left : lanes);
  }
  // The next vector; false at the end.
  bool next() {
    for (int d = loops.size() - 1; d >= 0; --d) {
      position[d] += along && d == loops.size() - 1 ? lanes : 1;
      if (position[d] < loops[d].size) return true;
      position[d] = 0;
    }
    return false;
  }
};

FX_INLINE void LoopBody::add_kernel(const tile::Kernel& k) {
  switch (k.kind) {
    case tile::KernelKind::map: return add_map(k);
    case tile::KernelKind::copy: return add_copy(k);
    case tile::KernelKind::dot:
      if (!k.body && !k.made[0] && !k.made[1]) return add_dot(k);
      missing = k.body ? "it has a product with an epilogue" : "it has a product with a prologue";
      return;
    case tile::KernelKind::reduce: return add_reduce(k);
    case tile::KernelKind::scan: missing = "it has a loop"; return;
    default: missing = "it has a kernel that is not made of vectors"; return;
  }
}

// i on other registers.
FX_INLINE int LoopBody::instance(const Instr& i, Span<const int> regs) {
  Instr own = i;
  own.a = regs[i.a];
  if (i.op != Instr::lookup) {
    own.b = i.b >= 0 ? regs[i.b] : -1;
    own.c = i.c >= 0 ? regs[i.c] : -1;
  }
  return push(own, i.to);
}

// Some vectors at a time go through the body side by side.
FX_INLINE void LoopBody::add_map(const tile::Kernel& k) {
  constexpr int most_together = 3;
  const int rank = k.space.n;
  Dims same(rank, 0);
  for (int d = 0; d < rank; ++d) same[d] = d;
  const tile::RecordedBody body = tile::record_body(*k.body, same);
  bool indexed = false;
  for (const Instr& i : body.r.code) indexed = indexed || i.op == Instr::index;
  Box box(k, rank, !indexed, lanes);
  if (box.empty()) return;
  struct Vector {
    Vec<int> regs;
    Vec<LoopPlace> out;
    std::int64_t position[max_rank];
    int count;
  };
  for (bool more = true; more && !missing;) {
    Vec<Vector> some;
    for (int n = 0; more && n < most_together; ++n, more = box.next()) {
      Vector v{Vec<int>(body.r.regs.size(), -1), {}, {}, box.count()};
      for (int i = 0; i < k.in.size(); ++i)
        v.regs[body.ins[i]] = operand(k.in[i], box.element(i), box.stride(i), v.count);
      for (int j = 0; j < k.out.size(); ++j) v.out.push_back(place(k.out[j], box.element(k.in.size() + j), v.count));
      for (int d = 0; d < rank; ++d) v.position[d] = d < box.loops.size() ? box.position[d] : 0;
      some.push_back(std::move(v));
    }
    for (const Instr& i : body.r.code) {
      if (i.op == Instr::input) continue;
      for (Vector& v : some) {
        if (i.op == Instr::constant) {
          v.regs[i.dst] = constant(i.type, i.imm);
        } else if (i.op == Instr::index) {
          v.regs[i.dst] = positions(i.to, v.position[i.a], box.along && i.a == rank - 1);
        } else {
          v.regs[i.dst] = instance(i, v.regs);
        }
      }
    }
    for (const Vector& v : some)
      for (int j = 0; j < v.out.size(); ++j) store(v.regs[body.outs[j]], v.out[j]);
  }
}

FX_INLINE void LoopBody::add_copy(const tile::Kernel& k) {
  const tile::Access &from = k.in[0], &to = k.out[0];
  const LoopPlace a = place(from, 0, 1), b = place(to, 0, 1);
  if (a.port == b.port && a.at == b.at && from.stride == to.stride) return;  // it stays where it is
  Box box(k, k.space.n, true, lanes);
  if (box.empty()) return;
  do {
    const int n = box.count();
    store(operand(from, box.element(0), box.stride(0), n), place(to, box.element(1), n));
  } while (!missing && box.next());
}

// Chains of some vectors of results are interleaved: one alone would wait for its own last sum.
FX_INLINE void LoopBody::add_dot(const tile::Kernel& k) {
  constexpr int most_together = 8, few = 4;
  const int inner = k.space.n - 1;
  const DType d = dtype(k.out[0]);
  const std::int64_t terms = k.space[inner];
  const tile::Access& out = k.out[0];
  Box box(k, inner, true, lanes);
  if (box.empty()) return;
  struct Vector {
    std::int64_t element[2], stride[2];
    LoopPlace to;
    int sum;
  };
  for (bool more = true; more && !missing;) {
    Vec<Vector> some;
    for (int n = 0; more && n < most_together; ++n, more = box.next())
      some.push_back({{box.element(0), box.element(1)},
                      {box.stride(0), box.stride(1)},
                      place(out, box.element(2), box.count()),
                      constant(d, 0)});
    for (std::int64_t t = 0; t < terms && !missing; ++t)
      for (Vector& v : some) {
        int x[2];
        for (int o = 0; o < 2; ++o)
          x[o] =
              operand(k.in[o], v.element[o] + t * k.in[o].stride[inner], v.stride[o], v.to.lanes, some.size() <= few);
        Instr i{is_float(d) ? Instr::fma : Instr::mul, d};
        const bool turned = v.stride[0] != 0;  // what is the same in all steps last: it may stay in memory
        i.a = x[turned], i.b = x[!turned];
        if (is_float(d)) {
          i.c = v.sum;
          v.sum = push(i, d);
        } else {
          Instr add{Instr::add, d};
          add.a = v.sum;
          add.b = push(i, d);
          v.sum = push(add, d);
        }
      }
    for (const Vector& v : some) store(v.sum, v.to);
  }
}

}  // namespace fx::inline v0::tiled::code
#endif
