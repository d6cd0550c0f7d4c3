// tile/print.hpp -- the text of a tile program: complete, read back by tile/parse.hpp.
//
//   { tile target=cpu ins=(b0) outs=(b1) workspace=0
//       buffer b0 input 0 f32[64,128]
//       buffer b1 output 0 f32[64]
//     reduce space=(64,128) order=(0,1) block=(64,128) grid=(1,1) cost=(8192 flops, 33024 bytes)
//       in b0 offset 0 stride (128,1) block (64,128)
//       out b1 offset 0 stride (1,0) block (64)
//       body { lambda ; a:f32[64,128]. let b:f32[64,128] = mul a a in (b,) }
//       op { lambda ; a:f32[64,128]. let b:f32[64] = reduce_sum[axes=(1)] a in (b,) } }
#pragma once
#include "program.hpp"

namespace fx::inline v0::tile {

// The text of p; lines but the first are indented by `indent` more. Costs are those of `t`, with times if it has rates.
void put(Str& s, const Program& p, const Target& t, int indent = 0);
std::string text(const Program& p, const Target& t);
// The estimated time of each kernel on the TPUs and on this processor, whose rates are measured for it.
std::string cost_table(const Program& p);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "../print.hpp"
#include "cost.hpp"
#include "target.hpp"

namespace fx::inline v0::tile {
namespace detail {

// "12.3 us", three digits.
FX_INLINE void put_seconds(Str& s, double t) {
  constexpr std::string_view units[] = {"s", "ms", "us", "ns"};
  int u = 0;
  while (u < 3 && t < 1) t *= 1000, ++u;
  const int digits = t < 10 ? 2 : t < 100 ? 1 : 0;
  const std::int64_t scale = digits == 2 ? 100 : digits == 1 ? 10 : 1, n = std::int64_t(t * double(scale) + 0.5);
  s.num(n / scale);
  if (digits) {
    s += '.';
    if (digits == 2 && n % scale < 10) s += '0';
    s.num(n % scale);
  }
  s += ' ';
  s += units[u];
}

struct ProgramPrinter {
  Str& s;
  const Program& p;
  const Target& t;
  int indent;

  void line(int deeper) {
    s += '\n';
    for (int i = 0; i < indent + deeper; ++i) s += ' ';
  }
  void buffer_name(int b) {
    s += 'b';
    s.num(b);
  }
  void names(std::string_view label, const Vec<int>& buffers) {
    s += label;
    s += "=(";
    for (int i = 0; i < buffers.size(); ++i) {
      if (i) s += ',';
      buffer_name(buffers[i]);
    }
    s += ')';
  }
  void dims(std::string_view label, const Dims& d) {
    s += label;
    put(s, d, '(', ')');
  }
  void buffer(int b) {
    constexpr std::string_view places[] = {" input ", " output ", " workspace "};
    const BufferDecl& d = p.buffers[b];
    line(4);
    s += "buffer ";
    buffer_name(b);
    s += places[int(d.place)];
    s.num(d.at) += ' ';
    put(s, d.type);
  }
  void access(std::string_view role, const Kernel& k, const Access& a) {
    line(4);
    s += role;
    buffer_name(a.buffer);
    s += " offset ";
    s.num(a.offset);
    dims(" stride ", a.stride);
    if (k.kind == KernelKind::index) return;
    Dims block;
    for (int d = 0; d < a.stride.n; ++d)
      if (a.stride[d] != 0) block.push_back(k.block[d]);
    dims(" block ", block);
  }
  void graph(std::string_view role, const GraphRef& g) {
    if (!g) return;
    line(4);
    s += role;
    fx::put(s, *g, indent + 4);
  }
  void cost(const Kernel& k) {
    const Estimate e = estimate(k, p, t);
    s += " cost=(";
    s.num(std::int64_t(e.flops)) += " flops, ";
    s.num(std::int64_t(e.bytes)) += " bytes";
    if (e.seconds > 0) {
      s += ", ";
      put_seconds(s, e.seconds);
    }
    s += ')';
  }
  void kernel(const Kernel& k) {
    line(2);
    s += name(k.kind);
    dims(" space=", k.space);
    if (!k.order.empty()) dims(" order=", k.order);
    dims(" block=", k.block);
    Dims grid;
    for (int d = 0; d < k.space.n; ++d) grid.push_back(k.grid(d));
    dims(" grid=", grid);
    if (k.loop) {
      (s += " consts=").num(k.consts) += " carries=";
      s.num(k.carries) += k.reverse ? " reverse=true" : " reverse=false";
    }
    cost(k);
    for (const Access& a : k.in) access("in ", k, a);
    for (const Access& a : k.out) access("out ", k, a);
    graph("lhs ", k.made[0]);
    graph("rhs ", k.made[1]);
    graph("body ", k.body);
    graph("op ", k.op);
    if (k.loop) {
      line(4);
      s += "loop ";
      put(s, *k.loop, t, indent + 4);
    }
  }
  void program() {
    s += "{ tile target=";
    s += p.target;
    names(" ins", p.ins);
    names(" outs", p.outs);
    (s += " workspace=").num(p.workspace);
    for (int b = 0; b < p.buffers.size(); ++b) buffer(b);
    for (const Kernel& k : p.kernels) kernel(k);
    s += " }";
  }
};
}  // namespace detail

FX_INLINE void put(Str& s, const Program& p, const Target& t, int indent) {
  detail::ProgramPrinter{s, p, t, indent}.program();
}
FX_INLINE std::string text(const Program& p, const Target& t) {
  Str s;
  put(s, p, t);
  return std::string(s.view());
}

FX_INLINE std::string cost_table(const Program& p) {
  const Target* targets[] = {&tpu_v5e, &tpu_v5p, &tpu_v6e, &measured_host()};
  Str s("kernel");
  auto cell = [&](const Str& text, int width) {
    for (int i = text.size(); i < width; ++i) s += ' ';
    s += text;
  };
  for (const Target* t : targets) cell(Str(t->name), 14);
  double total[4]{};
  for (const Kernel& k : p.kernels) {
    (s += '\n') += name(k.kind);
    for (int i = 0; i < 4; ++i) {
      const double seconds = estimate(k, p, *targets[i]).seconds;
      total[i] += seconds;
      Str text;
      detail::put_seconds(text, seconds);
      cell(text, i == 0 ? 20 - int(name(k.kind).size()) : 14);
    }
  }
  s += "\ntotal";
  for (int i = 0; i < 4; ++i) {
    Str text;
    detail::put_seconds(text, total[i]);
    cell(text, i == 0 ? 15 : 14);
  }
  return std::string(s.view());
}

}  // namespace fx::inline v0::tile
#endif
