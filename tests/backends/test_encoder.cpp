// The encoder's bytes against those of Xbyak, and against the disassembler objdump: every form and every instruction
// on general registers, in every shape of operands.
#include <doctest/doctest.h>

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <fx/backends/tiled/code/forms.hpp>
#include <string>
#include <vector>

#if defined(__x86_64__) && __has_include(<xbyak/xbyak.h>)
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wall"
#pragma GCC diagnostic ignored "-Wextra"
#pragma GCC diagnostic ignored "-Wshadow"
#pragma GCC diagnostic ignored "-Wconversion"
#include <xbyak/xbyak.h>
#pragma GCC diagnostic pop

namespace code = fx::tiled::code;
using code::Encoder;
using code::Form;
using code::Gpr;
using code::Mem;
using code::Rm;

namespace {

// What a form's operands are.
enum Shape : int {
  vvvv = 1,        // it has a second operand
  reg_only = 2,    // the last operand is a register
  mem_only = 4,    // the last operand is memory
  broadcasts = 8,  // one element for all lanes
  masks = 16,      // EVEX: lanes may stay
  zeroes = 32,     // EVEX: or become 0
  to_mask = 64,    // the first operand is a mask register
  half_reg = 128,  // the first operand has half the length
  half_rm = 256,   // the last one has; quarter, eighth
  quarter_rm = 512,
  eighth_rm = 1024,
  has_imm = 2048,
  k_regs = 4096,    // all operands are mask registers
  from_gpr = 8192,  // the last operand is a general register
  blends = 16384,   // the immediate is a register
  sized = 32768,    // Xbyak needs the size of memory
};
constexpr int all_masks = masks | zeroes;
enum Lengths : int { l16 = 1, l32 = 2, l64 = 4, each_length = 7, wide = 6 };

// One instruction's operands for Xbyak.
struct Operands {
  Xbyak::Xmm r, v, m;
  Xbyak::Opmask kr, kv, km;
  Xbyak::Reg32 g;
  Xbyak::Xmm fourth;
  const Xbyak::Address* address = nullptr;
  std::uint8_t imm = 0;
  const Xbyak::Operand& x() const { return address ? static_cast<const Xbyak::Operand&>(*address) : m; }
  const Xbyak::Operand& kx() const { return address ? static_cast<const Xbyak::Operand&>(*address) : km; }
  const Xbyak::Address& a() const { return *address; }
  Xbyak::Ymm yr() const { return Xbyak::Ymm(r.getIdx()); }
};
using Emit = void (*)(Xbyak::CodeGenerator& g, const Operands& o);
struct Case {
  const char* name;
  const Form* form;
  int shape, lengths;
  Emit vex, evex;
  const char *vex_name, *evex_name;
};

#define FX_LAMBDA(...) [](Xbyak::CodeGenerator& g, const Operands& o) { g.__VA_ARGS__; }
#define FX_BOTH(which, shape, lengths, mnemonic, ...)                                                               \
  {#which,    &code::form::which, shape, lengths, FX_LAMBDA(mnemonic __VA_ARGS__), FX_LAMBDA(mnemonic __VA_ARGS__), \
   #mnemonic, #mnemonic},
#define FX_TWO(which, shape, lengths, vex, evex, ...) \
  {#which, &code::form::which, shape, lengths, FX_LAMBDA(vex __VA_ARGS__), FX_LAMBDA(evex __VA_ARGS__), #vex, #evex},
#define FX_VEX(which, shape, lengths, mnemonic, ...) \
  {#which, &code::form::which, shape, lengths, FX_LAMBDA(mnemonic __VA_ARGS__), nullptr, #mnemonic, nullptr},
#define FX_EVEX(which, shape, lengths, mnemonic, ...) \
  {#which, &code::form::which, shape, lengths, nullptr, FX_LAMBDA(mnemonic __VA_ARGS__), nullptr, #mnemonic},
#define FX_BINARY(name) FX_BOTH(name, vvvv | broadcasts | all_masks, each_length, name, (o.r, o.v, o.x()))
#define FX_BINARY_E(name) FX_EVEX(name, vvvv | broadcasts | all_masks, each_length, name, (o.r, o.v, o.x()))
#define FX_BINARY_2(which, vex) FX_TWO(which, vvvv | broadcasts | all_masks, each_length, vex, which, (o.r, o.v, o.x()))
#define FX_UNARY(name, more) FX_BOTH(name, broadcasts | all_masks | (more), each_length, name, (o.r, o.x()))
#define FX_SHIFT(which, mnemonic) \
  FX_BOTH(which, reg_only | all_masks | has_imm, each_length, mnemonic, (o.r, o.m, o.imm))
#define FX_UNARY_E(name, more) FX_EVEX(name, broadcasts | all_masks | (more), each_length, name, (o.r, o.x()))

const Case cases[] = {
    // clang-format off
    FX_BOTH(vmovups, all_masks, each_length, vmovups, (o.r, o.x()))
    FX_BOTH(vmovups_to, mem_only | masks, each_length, vmovups, (o.a(), o.r))
    FX_BOTH(vmovupd, all_masks, each_length, vmovupd, (o.r, o.x()))
    FX_BOTH(vmovupd_to, mem_only | masks, each_length, vmovupd, (o.a(), o.r))
    FX_EVEX(vmovdqu8, all_masks, each_length, vmovdqu8, (o.r, o.x()))
    FX_EVEX(vmovdqu8_to, mem_only | masks, each_length, vmovdqu8, (o.a(), o.r))
    FX_VEX(vmovq, mem_only, l16, vmovq, (o.r, o.a()))
    FX_VEX(vmovq_to, mem_only, l16, vmovq, (o.a(), o.r))
    FX_BOTH(vmovd_to, mem_only, l16, vmovd, (o.a(), o.r))
    FX_VEX(vmaskmovps, vvvv | mem_only, l16 | l32, vmaskmovps, (o.r, o.v, o.a()))
    FX_VEX(vmaskmovps_to, vvvv | mem_only, l16 | l32, vmaskmovps, (o.a(), o.v, o.r))
    FX_VEX(vmaskmovpd, vvvv | mem_only, l16 | l32, vmaskmovpd, (o.r, o.v, o.a()))
    FX_VEX(vmaskmovpd_to, vvvv | mem_only, l16 | l32, vmaskmovpd, (o.a(), o.v, o.r))
    FX_BOTH(vbroadcastss, mem_only | all_masks, each_length, vbroadcastss, (o.r, o.a()))
    FX_BOTH(vbroadcastsd, mem_only | all_masks, wide, vbroadcastsd, (static_cast<const Xbyak::Ymm&>(o.r), o.a()))
    FX_BINARY(vaddps) FX_BINARY(vaddpd) FX_BINARY(vmulps) FX_BINARY(vmulpd) FX_BINARY(vsubps) FX_BINARY(vsubpd)
    FX_BINARY(vminps) FX_BINARY(vminpd) FX_BINARY(vmaxps) FX_BINARY(vmaxpd) FX_BINARY(vdivps) FX_BINARY(vdivpd)
    FX_UNARY(vsqrtps, 0) FX_UNARY(vsqrtpd, 0)
    FX_BINARY(vfmadd213ps) FX_BINARY(vfmadd213pd) FX_BINARY(vfmadd231ps) FX_BINARY(vfmadd231pd)
    FX_TWO(vroundps, broadcasts | all_masks | has_imm, each_length, vroundps, vrndscaleps, (o.r, o.x(), o.imm))
    FX_TWO(vroundpd, broadcasts | all_masks | has_imm, each_length, vroundpd, vrndscalepd, (o.r, o.x(), o.imm))
    FX_EVEX(vrangeps, vvvv | broadcasts | all_masks | has_imm, each_length, vrangeps, (o.r, o.v, o.x(), o.imm))
    FX_EVEX(vrangepd, vvvv | broadcasts | all_masks | has_imm, each_length, vrangepd, (o.r, o.v, o.x(), o.imm))
    FX_BINARY_E(vscalefps) FX_BINARY_E(vscalefpd)
    FX_VEX(vcmpps, vvvv | has_imm, l16 | l32, vcmpps, (o.r, o.v, o.x(), o.imm))
    FX_VEX(vcmppd, vvvv | has_imm, l16 | l32, vcmppd, (o.r, o.v, o.x(), o.imm))
    FX_EVEX(vcmpps_mask, vvvv | has_imm | broadcasts | masks | to_mask, each_length, vcmpps, (o.kr, o.v, o.x(), o.imm))
    FX_EVEX(vcmppd_mask, vvvv | has_imm | broadcasts | masks | to_mask, each_length, vcmppd, (o.kr, o.v, o.x(), o.imm))
    FX_VEX(vblendvps, vvvv | blends, l16 | l32, vblendvps, (o.r, o.v, o.x(), o.fourth))
    FX_VEX(vblendvpd, vvvv | blends, l16 | l32, vblendvpd, (o.r, o.v, o.x(), o.fourth))
    FX_BINARY_E(vblendmps) FX_BINARY_E(vblendmpd)
    FX_BINARY_2(vpandd, vpand) FX_BINARY_2(vpandq, vpand) FX_BINARY_2(vpord, vpor) FX_BINARY_2(vporq, vpor)
    FX_BINARY_2(vpxord, vpxor) FX_BINARY_2(vpxorq, vpxor) FX_BINARY_2(vpandnd, vpandn)
    FX_BINARY(vpsllvd) FX_BINARY(vpsllvq) FX_BINARY(vpsrlvd) FX_BINARY(vpsrlvq) FX_BINARY(vpsravd) FX_BINARY_E(vpsravq)
    FX_SHIFT(vpslld_fixed, vpslld) FX_SHIFT(vpsllq_fixed, vpsllq)
    FX_SHIFT(vpsrld_fixed, vpsrld) FX_SHIFT(vpsrlq_fixed, vpsrlq)
    FX_SHIFT(vpsrad_fixed, vpsrad)
    FX_EVEX(vpsraq_fixed, reg_only | all_masks | has_imm, each_length, vpsraq, (o.r, o.m, o.imm))
    FX_BINARY(vpaddd) FX_BINARY(vpaddq) FX_BINARY(vpsubd) FX_BINARY(vpsubq)
    FX_BINARY(vpmulld) FX_BINARY_E(vpmullq) FX_BINARY(vpmuludq)
    FX_UNARY(vpabsd, 0) FX_UNARY_E(vpabsq, 0)
    FX_BINARY(vpminsd) FX_BINARY(vpminud) FX_BINARY(vpmaxsd) FX_BINARY(vpmaxud)
    FX_BINARY_E(vpminsq) FX_BINARY_E(vpminuq) FX_BINARY_E(vpmaxsq)
    FX_VEX(vpcmpeqd, vvvv, l16 | l32, vpcmpeqd, (o.r, o.v, o.x()))
    FX_VEX(vpcmpeqq, vvvv, l16 | l32, vpcmpeqq, (o.r, o.v, o.x()))
    FX_VEX(vpcmpgtd, vvvv, l16 | l32, vpcmpgtd, (o.r, o.v, o.x()))
    FX_VEX(vpcmpgtq, vvvv, l16 | l32, vpcmpgtq, (o.r, o.v, o.x()))
    FX_EVEX(vpcmpd, vvvv | has_imm | broadcasts | masks | to_mask, each_length, vpcmpd, (o.kr, o.v, o.x(), o.imm))
    FX_EVEX(vpcmpq, vvvv | has_imm | broadcasts | masks | to_mask, each_length, vpcmpq, (o.kr, o.v, o.x(), o.imm))
    FX_EVEX(vpcmpud, vvvv | has_imm | broadcasts | masks | to_mask, each_length, vpcmpud, (o.kr, o.v, o.x(), o.imm))
    FX_EVEX(vpcmpuq, vvvv | has_imm | broadcasts | masks | to_mask, each_length, vpcmpuq, (o.kr, o.v, o.x(), o.imm))
    FX_UNARY(vcvtdq2ps, 0) FX_UNARY_E(vcvtudq2ps, 0)
    FX_UNARY(vcvtdq2pd, half_rm) FX_UNARY_E(vcvtudq2pd, half_rm)
    FX_UNARY_E(vcvtqq2pd, 0) FX_UNARY_E(vcvtuqq2pd, 0)
    FX_UNARY_E(vcvtqq2ps, half_reg | sized) FX_UNARY_E(vcvtuqq2ps, half_reg | sized)
    FX_UNARY(vcvtps2pd, half_rm) FX_UNARY(vcvtpd2ps, half_reg | sized)
    FX_UNARY(vcvttps2dq, 0) FX_UNARY_E(vcvttps2udq, 0)
    FX_UNARY(vcvttpd2dq, half_reg | sized) FX_UNARY_E(vcvttpd2udq, half_reg | sized)
    FX_UNARY_E(vcvttps2qq, half_rm) FX_UNARY_E(vcvttps2uqq, half_rm)
    FX_UNARY_E(vcvttpd2qq, 0) FX_UNARY_E(vcvttpd2uqq, 0)
    FX_BOTH(vpmovsxdq, half_rm | all_masks, each_length, vpmovsxdq, (o.r, o.x()))
    FX_BOTH(vpmovzxdq, half_rm | all_masks, each_length, vpmovzxdq, (o.r, o.x()))
    FX_BOTH(vpmovzxbd, quarter_rm | all_masks, each_length, vpmovzxbd, (o.r, o.x()))
    FX_BOTH(vpmovzxbq, eighth_rm | all_masks, each_length, vpmovzxbq, (o.r, o.x()))
    FX_EVEX(vpmovqd, half_rm, each_length, vpmovqd, (o.x(), o.r))
    FX_VEX(vextractf128, half_rm | has_imm, l32, vextractf128, (o.x(), o.yr(), o.imm))
    FX_BOTH(vpermps, vvvv | broadcasts | all_masks, wide, vpermps, (static_cast<const Xbyak::Ymm&>(o.r), static_cast<const Xbyak::Ymm&>(o.v), o.x()))
    FX_EVEX(vpermpd, vvvv | broadcasts | all_masks, l64, vpermpd, (static_cast<const Xbyak::Ymm&>(o.r), static_cast<const Xbyak::Ymm&>(o.v), o.x()))
    FX_BOTH(vpermpd_fixed, broadcasts | all_masks | has_imm, wide, vpermpd, (static_cast<const Xbyak::Ymm&>(o.r), o.x(), o.imm))
    FX_EVEX(vextractf32x4, half_rm | has_imm, l32, vextractf32x4, (o.x(), static_cast<const Xbyak::Ymm&>(o.r), o.imm))
    FX_EVEX(vextractf64x4, half_rm | has_imm, l64, vextractf64x4, (o.x(), static_cast<const Xbyak::Zmm&>(o.r), o.imm))
    FX_BOTH(vshufps, vvvv | broadcasts | all_masks | has_imm, each_length, vshufps, (o.r, o.v, o.x(), o.imm))
    FX_BINARY(vpackssdw)
    FX_BOTH(vpacksswb, vvvv | all_masks, each_length, vpacksswb, (o.r, o.v, o.x()))
    FX_BOTH(vmovss, mem_only, l16, vmovss, (o.r, o.a()))
    FX_BOTH(vmovss_to, mem_only, l16, vmovss, (o.a(), o.r))
    FX_BOTH(vmovsd, mem_only, l16, vmovsd, (o.r, o.a()))
    FX_BOTH(vmovsd_to, mem_only, l16, vmovsd, (o.a(), o.r))
    FX_BOTH(vfmadd231ss, vvvv, l16, vfmadd231ss, (o.r, o.v, o.x()))
    FX_BOTH(vfmadd231sd, vvvv, l16, vfmadd231sd, (o.r, o.v, o.x()))
    FX_VEX(kmovw, k_regs, l16, kmovw, (o.kr, o.kx()))
    FX_VEX(kmovw_to, k_regs | mem_only, l16, kmovw, (o.a(), o.kr))
    FX_VEX(kmovw_from_gpr, k_regs | reg_only | from_gpr, l16, kmovw, (o.kr, o.g))
    FX_VEX(kmovb_from_gpr, k_regs | reg_only | from_gpr, l16, kmovb, (o.kr, o.g))
    FX_VEX(kortestw, k_regs | reg_only, l16, kortestw, (o.kr, o.km))
    FX_VEX(kortestb, k_regs | reg_only, l16, kortestb, (o.kr, o.km))
    FX_VEX(vptest, 0, l16 | l32, vptest, (o.r, o.x()))
    FX_VEX(kandw, k_regs | reg_only | vvvv, l32, kandw, (o.kr, o.kv, o.km))
    FX_VEX(kandnw, k_regs | reg_only | vvvv, l32, kandnw, (o.kr, o.kv, o.km))
    FX_VEX(knotw, k_regs | reg_only, l16, knotw, (o.kr, o.km))
    FX_VEX(korw, k_regs | reg_only | vvvv, l32, korw, (o.kr, o.kv, o.km))
    FX_VEX(kxnorw, k_regs | reg_only | vvvv, l32, kxnorw, (o.kr, o.kv, o.km))
    FX_VEX(kxorw, k_regs | reg_only | vvvv, l32, kxorw, (o.kr, o.kv, o.km))
    FX_EVEX(vptestmb, vvvv | masks | to_mask, each_length, vptestmb, (o.kr, o.v, o.x()))
    // clang-format on
};
// Gathers: `reg` and `index` say which lengths the result and the index have, less the instruction's.
struct Gather {
  const char* name;
  const Form* form;
  int reg_divisor, index_divisor;
  void (*vex)(Xbyak::CodeGenerator& g, const Xbyak::Xmm& r, const Xbyak::Address& a, const Xbyak::Xmm& m);
  void (*evex)(Xbyak::CodeGenerator& g, const Xbyak::Xmm& r, const Xbyak::Address& a);
};
#define FX_GATHER(name, r, i)                                                                       \
  {#name,                                                                                           \
   &code::form::name,                                                                               \
   r,                                                                                               \
   i,                                                                                               \
   [](Xbyak::CodeGenerator& g, const Xbyak::Xmm& x, const Xbyak::Address& a, const Xbyak::Xmm& m) { \
     g.name(x, a, m);                                                                               \
   },                                                                                               \
   [](Xbyak::CodeGenerator& g, const Xbyak::Xmm& x, const Xbyak::Address& a) { g.name(x, a); }},
const Gather gathers[] = {FX_GATHER(vpgatherdd, 1, 1) FX_GATHER(vpgatherdq, 1, 2) FX_GATHER(vpgatherqd, 2, 1)
                              FX_GATHER(vpgatherqq, 1, 1)};

Xbyak::Xmm vector_register(int n, int length) {
  return Xbyak::Xmm(length == 64 ? Xbyak::Operand::ZMM : length == 32 ? Xbyak::Operand::YMM : Xbyak::Operand::XMM, n);
}
Xbyak::Address address_of(const Mem& m, int bits, const Xbyak::Label& label) {
  const Xbyak::AddressFrame frame(std::uint32_t(bits), m.broadcast);
  if (m.label.n >= 0) return frame[Xbyak::RegRip() + label + m.disp];
  Xbyak::RegExp e{Xbyak::Reg64(m.base)};
  if (m.index >= 0) e = e + Xbyak::Reg64(m.index) * m.scale;
  if (m.disp) e = e + std::size_t(std::int64_t(m.disp));
  return frame[e];
}

std::string hex(const std::uint8_t* p, int n) {
  std::string s;
  char two[4];
  for (int i = 0; i < n; ++i) std::snprintf(two, sizeof two, "%02x ", p[i]), s += two;
  return s;
}

// Bytes for the disassembler, and what it should say.
struct Listing {
  std::vector<std::uint8_t> bytes;
  struct Line {
    std::size_t at;
    std::string mnemonic;
  };
  std::vector<Line> lines;
  void add(const Encoder& e, const char* mnemonic) {
    lines.push_back({bytes.size(), mnemonic});
    bytes.insert(bytes.end(), e.bytes().begin(), e.bytes().end());
  }
};

struct Comparer {
  std::uint8_t buffer[512];
  Xbyak::CodeGenerator g{sizeof buffer, buffer};
  Listing listing;
  long compared = 0;
  int wrong = 0;
  std::string what;

  // Both write one instruction; a label lies some bytes after it.
  template <class F, class X>
  void compare(F&& ours, X&& theirs) {
    Encoder e;
    const code::Label l = e.label();
    ours(e, l);
    const int n = e.bytes().size();
    for (int i = 0; i < 3; ++i) e.ret();
    e.bind(l);
    e.finish();
    g.reset();
    try {
      Xbyak::Label x;
      theirs(g, x);
      const int m = int(g.getSize());
      for (int i = 0; i < 3; ++i) g.ret();
      g.L(x);
      ++compared;
      if (n == m && std::equal(buffer, buffer + m, e.bytes().begin())) return;
      if (++wrong < 20) FAIL_CHECK(what << ": " << hex(e.bytes().begin(), n) << "where Xbyak has " << hex(buffer, m));
    } catch (const Xbyak::Error& error) {
      if (++wrong < 20) FAIL_CHECK(what << ": Xbyak refuses: " << error.what());
    }
  }
};

std::vector<Mem> places(int unit) {
  std::vector<Mem> list;
  const int disps[] = {0,    1,    8,      64,   -64,        127,         128,        -128,
                       -129, 1000, -70000, unit, 127 * unit, -128 * unit, 128 * unit, -129 * unit};
  for (int base = 0; base < 16; ++base) {
    for (int disp : disps) {
      Mem m{Gpr(base)};
      m.disp = disp;
      list.push_back(m);
    }
    for (int index : {0, 5, 9, 12})
      for (int scale : {1, 2, 4, 8})
        for (int disp : {0, unit, 1000}) {
          Mem m{Gpr(base), index, scale};
          m.disp = disp;
          list.push_back(m);
        }
  }
  for (int disp : {0, 64, -8}) {
    Mem m;
    m.label.n = 0;
    m.disp = disp;
    list.push_back(m);
  }
  return list;
}

int divided(int length, int by) { return length / by < 16 ? 16 : length / by; }

void compare_form(const Case& c, Comparer& t) {
  const int shape = c.shape, highest = c.evex ? 32 : 16;
  const int rm_divisor = shape & half_rm ? 2 : shape & quarter_rm ? 4 : shape & eighth_rm ? 8 : 1;
  long vex = 0, evex = 0;
  bool listed[2] = {false, false};
  auto one = [&](int length, int r, int v, int m, const Mem* mem, int masking, int imm) {
    if (shape & (to_mask | k_regs)) r &= 7;
    if (shape & k_regs) v &= 7, m &= shape & from_gpr ? 15 : 7;
    if (!(shape & vvvv)) v = 0;
    const bool high = r > 15 || v > 15 || (!mem && m > 15);
    const bool as_vex = c.vex && length < 64 && !high && masking == 0 && !(mem && mem->broadcast);
    if (!as_vex && !c.evex) return;
    const Emit emit = as_vex ? c.vex : c.evex;
    const code::Masking masked{masking == 0 ? 0 : masking == 1 ? 3 : 7, masking == 2};
    const int fourth = imm & 15;
    const int immediate = shape & has_imm ? imm : shape & blends ? fourth << 4 : -1;
    Operands o;
    o.r = vector_register(r, shape & half_reg ? divided(length, 2) : length);
    o.v = vector_register(v, length);
    o.m = vector_register(m, divided(length, rm_divisor));
    o.kr = Xbyak::Opmask(r), o.kv = Xbyak::Opmask(v), o.km = Xbyak::Opmask(m), o.g = Xbyak::Reg32(m);
    o.fourth = vector_register(fourth, length);
    o.imm = std::uint8_t(imm);
    if (masked.mask) {
      o.r.setOpmaskIdx(masked.mask), o.kr.setOpmaskIdx(masked.mask);
      if (masked.zero) o.r.setZero(), o.kr.setZero();
    }
    Encoder first;
    t.compare(
        [&](Encoder& e, code::Label) {
          e.vector(*c.form, length, r, v, mem ? Rm(*mem) : Rm(m), immediate, masked);
          if (!listed[as_vex] && !(mem && mem->label.n >= 0)) first = e;
        },
        [&](Xbyak::CodeGenerator& g, const Xbyak::Label& label) {
          if (!mem) return emit(g, o);
          const Xbyak::Address a = address_of(*mem, shape & sized ? length * 8 : 0, label);
          o.address = &a;
          emit(g, o);
        });
    if (first.bytes().size()) {
      t.listing.add(first, as_vex ? c.vex_name : c.evex_name);
      listed[as_vex] = true;
    }
    ++(as_vex ? vex : evex);
  };
  const int registers[] = {0, 7, 8, 15, 16, 23, 24, 31};
  for (int length : {16, 32, 64}) {
    if (!(c.lengths & length / 16)) continue;
    const int most = !c.evex ? 0 : shape & zeroes ? 2 : shape & masks ? 1 : 0;
    for (int masking = 0; masking <= most; ++masking) {
      int k = 0;
      if (!(shape & mem_only))
        for (int r : registers)
          for (int v : registers)
            for (int m : registers)
              if (r < highest && v < highest && m < highest) one(length, r, v, m, nullptr, masking, 99 + 7 * k++ % 120);
      if (shape & reg_only) continue;
      for (int broadcast = 0; broadcast <= (shape & broadcasts && c.evex ? 1 : 0); ++broadcast)
        for (Mem m : places(broadcast ? (c.form->evex_w ? 8 : 4) : divided(length, rm_divisor))) {
          m.broadcast = broadcast;
          ++k;
          one(length, registers[k % 8] % highest, registers[k / 8 % 8] % highest, 0, &m, masking, 99 + k % 100);
        }
    }
  }
  CHECK_MESSAGE((vex > 0) == (c.vex != nullptr), c.name);
  CHECK_MESSAGE((evex > 0) == (c.evex != nullptr), c.name);
}

void compare_gather(const Gather& c, Comparer& t) {
  bool listed[2] = {false, false};
  for (int length : {16, 32, 64})
    for (int mask_register : {-1, 0, 8, 15})  // -1: EVEX
      for (int r : {1, 9, 17, 31})
        for (int index : {2, 10, 18, 30})
          for (int base = 0; base < 16; ++base)
            for (int scale : {4, 8})
              for (int disp : {0, 8, 1000}) {
                const bool evex = mask_register < 0;
                if (!evex && (length == 64 || r > 15 || index > 15)) continue;
                Mem m{Gpr(base), index, scale};
                m.disp = disp;
                auto rr = vector_register(r, divided(length, c.reg_divisor));
                const auto ii = vector_register(index, divided(length, c.index_divisor));
                Encoder first;
                t.compare(
                    [&](Encoder& e, code::Label) {
                      const code::Masking masked{evex ? 5 : 0, false};
                      e.vector(*c.form, length, r, evex ? 0 : mask_register, m, -1, masked);
                      if (!listed[evex]) first = e;
                    },
                    [&](Xbyak::CodeGenerator& g, const Xbyak::Label&) {
                      Xbyak::RegExp x = Xbyak::Reg64(base) + ii * scale;
                      if (disp) x = x + std::size_t(disp);
                      if (evex) {
                        rr.setOpmaskIdx(5);
                        return c.evex(g, rr, Xbyak::AddressFrame(0)[x]);
                      }
                      const auto mask = vector_register(mask_register, divided(length, c.reg_divisor));
                      c.vex(g, rr, Xbyak::AddressFrame(0)[x], mask);
                    });
                if (first.bytes().size()) {
                  t.listing.add(first, c.name);
                  listed[evex] = true;
                }
              }
}

// The instructions on general registers, on all registers and places.
void compare_general(Comparer& t) {
  using X = Xbyak::CodeGenerator;
  using L = Xbyak::Label;
  auto r64 = [](int n) { return Xbyak::Reg64(n); };
  auto r32 = [](int n) { return Xbyak::Reg32(n); };
  auto list = [&](const char* mnemonic, auto&& ours) {
    Encoder e;
    ours(e);
    t.listing.add(e, mnemonic);
  };
  auto both = [&](const char* name, auto&& ours, auto&& theirs) {
    t.what = name;
    t.compare([&](Encoder& e, code::Label) { ours(e); }, [&](X& g, const L&) { theirs(g); });
  };
  const int imms[] = {0, 1, -1, 8, 127, -128, 128, -129, 4096, -70000, 2147483647};
  for (int a = 0; a < 16; ++a) {
    const Gpr x = Gpr(a);
    const auto big = std::uint64_t(0x123456789abcdef0) + std::uint64_t(a);
    both(
        "mov imm", [&](Encoder& e) { e.mov(x, big); }, [&](X& g) { g.mov(r64(a), big); });
    both(
        "neg", [&](Encoder& e) { e.negate(x); }, [&](X& g) { g.neg(r64(a)); });
    both(
        "xor", [&](Encoder& e) { e.zero(x); }, [&](X& g) { g.xor_(r32(a), r32(a)); });
    both(
        "push", [&](Encoder& e) { e.push(x); }, [&](X& g) { g.push(r64(a)); });
    both(
        "pop", [&](Encoder& e) { e.pop(x); }, [&](X& g) { g.pop(r64(a)); });
    for (int imm : imms) {
      const auto as = std::uint32_t(imm);
      both(
          "add imm", [&](Encoder& e) { e.add(x, imm); }, [&](X& g) { g.add(r64(a), as); });
      both(
          "sub imm", [&](Encoder& e) { e.sub(x, imm); }, [&](X& g) { g.sub(r64(a), as); });
      both(
          "and imm", [&](Encoder& e) { e.logical_and(x, imm); }, [&](X& g) { g.and_(r64(a), as); });
      both(
          "cmp imm", [&](Encoder& e) { e.cmp(x, imm); }, [&](X& g) { g.cmp(r64(a), as); });
      // Always with 8 bytes, which Xbyak shortens.
      Encoder e;
      e.mov(x, std::uint64_t(std::int64_t(imm)));
      const std::int64_t value = imm;
      CHECK(e.bytes().size() == 10);
      CHECK(std::memcmp(e.bytes().begin() + 2, &value, 8) == 0);
    }
    for (int b = 0; b < 16; ++b) {
      const Gpr y = Gpr(b);
      both(
          "mov", [&](Encoder& e) { e.mov(x, y); }, [&](X& g) { g.mov(r64(a), r64(b)); });
      both(
          "add", [&](Encoder& e) { e.add(x, y); }, [&](X& g) { g.add(r64(a), r64(b)); });
      both(
          "sub", [&](Encoder& e) { e.sub(x, y); }, [&](X& g) { g.sub(r64(a), r64(b)); });
      both(
          "cmp", [&](Encoder& e) { e.cmp(x, y); }, [&](X& g) { g.cmp(r64(a), r64(b)); });
      for (int imm : imms)
        both(
            "imul", [&](Encoder& e) { e.multiply(x, y, imm); }, [&](X& g) { g.imul(r64(a), r64(b), imm); });
      for (int n = 0; n < 16; ++n)
        both(
            "bzhi", [&](Encoder& e) { e.low_bits(x, y, Gpr(n)); }, [&](X& g) { g.bzhi(r32(a), r32(b), r32(n)); });
    }
    for (const Mem& m : places(1)) {
      auto in_memory = [&](const char* name, int bits, auto&& ours, auto&& theirs) {
        t.what = name;
        t.compare([&](Encoder& e, code::Label) { ours(e); },
                  [&](X& g, const L& l) { theirs(g, address_of(m, bits, l)); });
      };
      using A = Xbyak::Address;
      in_memory(
          "load", 64, [&](Encoder& e) { e.mov(x, m); }, [&](X& g, const A& p) { g.mov(r64(a), p); });
      in_memory(
          "store", 64, [&](Encoder& e) { e.mov(m, x); }, [&](X& g, const A& p) { g.mov(p, r64(a)); });
      in_memory(
          "load_byte", 8, [&](Encoder& e) { e.load_byte(x, m); }, [&](X& g, const A& p) { g.movzx(r32(a), p); });
      in_memory(
          "load_signed", 32, [&](Encoder& e) { e.load_signed(x, m); },
          [&](X& g, const A& p) { g.movsxd(r64(a), p); });
      in_memory(
          "load_dword", 32, [&](Encoder& e) { e.load_dword(x, m); }, [&](X& g, const A& p) { g.mov(r32(a), p); });
      in_memory(
          "store_byte", 8, [&](Encoder& e) { e.store_byte(m, x); },
          [&](X& g, const A& p) { g.mov(p, Xbyak::Reg8(a, a >= 4 && a < 8)); });
      in_memory(
          "lea", 64, [&](Encoder& e) { e.lea(x, m); }, [&](X& g, const A& p) { g.lea(r64(a), p); });
      in_memory(
          "add from", 64, [&](Encoder& e) { e.add(x, m); }, [&](X& g, const A& p) { g.add(r64(a), p); });
      in_memory(
          "add to", 64, [&](Encoder& e) { e.add(m, x); }, [&](X& g, const A& p) { g.add(p, r64(a)); });
      in_memory(
          "cmp with", 64, [&](Encoder& e) { e.cmp(x, m); }, [&](X& g, const A& p) { g.cmp(r64(a), p); });
      if (a) continue;
      in_memory(
          "dec", 64, [&](Encoder& e) { e.decrement(m); }, [&](X& g, const A& p) { g.dec(p); });
      in_memory(
          "call", 64, [&](Encoder& e) { e.call(m); }, [&](X& g, const A& p) { g.call(p); });
    }
  }
  both(
      "ret", [](Encoder& e) { e.ret(); }, [](X& g) { g.ret(); });
  both(
      "vzeroupper", [](Encoder& e) { e.vzeroupper(); }, [](X& g) { g.vzeroupper(); });
  // Jumps forward and back.
  using Jump = void (*)(X&, const L&);
  const struct {
    const char* mnemonic;
    Encoder::Condition c;
    Jump jump;
  } jumps[] = {{"jb", Encoder::below, [](X& g, const L& l) { g.jb(l, X::T_NEAR); }},
               {"jae", Encoder::not_below, [](X& g, const L& l) { g.jae(l, X::T_NEAR); }},
               {"je", Encoder::equal, [](X& g, const L& l) { g.je(l, X::T_NEAR); }},
               {"jne", Encoder::not_equal, [](X& g, const L& l) { g.jne(l, X::T_NEAR); }},
               {"jl", Encoder::less, [](X& g, const L& l) { g.jl(l, X::T_NEAR); }},
               {"jge", Encoder::not_less, [](X& g, const L& l) { g.jge(l, X::T_NEAR); }},
               {"jle", Encoder::not_greater, [](X& g, const L& l) { g.jle(l, X::T_NEAR); }},
               {"jg", Encoder::greater, [](X& g, const L& l) { g.jg(l, X::T_NEAR); }}};
  for (const auto& j : jumps) {
    t.what = j.mnemonic;
    t.compare([&](Encoder& e, code::Label l) { e.jump_if(j.c, l); }, [&](X& g, const L& l) { j.jump(g, l); });
    t.compare(
        [&](Encoder& e, code::Label) {
          const code::Label back = e.label();
          e.ret(), e.bind(back), e.ret();
          e.jump_if(j.c, back);
        },
        [&](X& g, const L&) {
          L back;
          g.ret(), g.L(back), g.ret();
          j.jump(g, back);
        });
    list(j.mnemonic, [&](Encoder& e) { e.jump_if(j.c, e.label()); });
  }
  t.what = "jmp";
  t.compare([&](Encoder& e, code::Label l) { e.jump(l); }, [&](X& g, const L& l) { g.jmp(l, X::T_NEAR); });

  const Mem m{code::r13, code::r12, 4};
  list("jmp", [](Encoder& e) { e.jump(e.label()); });
  list("mov", [](Encoder& e) { e.mov(code::rcx, code::r9); });
  list("mov", [&](Encoder& e) { e.mov(code::rcx, m); });
  list("mov", [&](Encoder& e) { e.mov(m, code::rcx); });
  list("movabs", [](Encoder& e) { e.mov(code::r11, std::uint64_t(5)); });
  list("movzbl", [&](Encoder& e) { e.load_byte(code::rsi, m); });
  list("movslq", [&](Encoder& e) { e.load_signed(code::rsi, m); });
  list("mov", [&](Encoder& e) { e.load_dword(code::rsi, m); });
  list("imul", [](Encoder& e) { e.multiply(code::r8, code::rsi, 1000); });
  list("mov", [&](Encoder& e) { e.store_byte(m, code::rsi); });
  list("lea", [&](Encoder& e) { e.lea(code::rsi, m); });
  list("add", [](Encoder& e) { e.add(code::rsi, code::r15); });
  list("add", [&](Encoder& e) { e.add(code::rsi, m); });
  list("add", [&](Encoder& e) { e.add(m, code::rsi); });
  list("add", [](Encoder& e) { e.add(code::rax, 1000); });
  list("sub", [](Encoder& e) { e.sub(code::rsi, code::r15); });
  list("sub", [](Encoder& e) { e.sub(code::rsi, 9); });
  list("and", [](Encoder& e) { e.logical_and(code::rsi, 9); });
  list("cmp", [](Encoder& e) { e.cmp(code::rsi, code::r15); });
  list("cmp", [&](Encoder& e) { e.cmp(code::rsi, m); });
  list("cmp", [](Encoder& e) { e.cmp(code::rsi, 9); });
  list("decq", [&](Encoder& e) { e.decrement(m); });
  list("dec", [](Encoder& e) { e.decrement(code::r9); });
  list("shl", [](Encoder& e) { e.shift_left(code::r9, 3); });
  list("prefetcht0", [&](Encoder& e) { e.prefetch(m); });
  list("neg", [](Encoder& e) { e.negate(code::r8); });
  list("xor", [](Encoder& e) { e.zero(code::r8); });
  list("bzhi", [](Encoder& e) { e.low_bits(code::r8, code::rax, code::r11); });
  list("push", [](Encoder& e) { e.push(code::r8); });
  list("pop", [](Encoder& e) { e.pop(code::r8); });
  list("call", [&](Encoder& e) { e.call(m); });
  list("ret", [](Encoder& e) { e.ret(); });
  list("vzeroupper", [](Encoder& e) { e.vzeroupper(); });
}

// Names of the forms in the header: each must be in a table above.
std::vector<std::string> names_of_forms() {
  std::ifstream file("backends/tiled/code/forms.hpp");
  std::vector<std::string> names;
  for (std::string line; std::getline(file, line);) {
    const std::string start = "FX_FORM(";
    if (line.compare(0, start.size(), start) == 0)
      names.push_back(line.substr(start.size(), line.find(',') - start.size()));
  }
  return names;
}

}  // namespace

TEST_CASE("every instruction has Xbyak's bytes, and objdump reads it") {
  Comparer t;
  for (const Case& c : cases) t.what = c.name, compare_form(c, t);
  for (const Gather& c : gathers) t.what = c.name, compare_gather(c, t);
  compare_general(t);
  CHECK(t.wrong == 0);
  MESSAGE(t.compared << " instructions compared");

  if (std::system("objdump --version >/dev/null 2>&1") != 0) {
    MESSAGE("skipped: no objdump here");
    return;
  }
  char name[] = "/tmp/fx_encoder_XXXXXX";
  const int file = mkstemp(name);
  REQUIRE(file >= 0);
  const auto& bytes = t.listing.bytes;
  REQUIRE(write(file, bytes.data(), bytes.size()) == ssize_t(bytes.size()));
  close(file);
  const std::string command = "objdump -D -b binary -m i386:x86-64 --no-show-raw-insn " + std::string(name);
  std::FILE* out = popen(command.c_str(), "r");
  REQUIRE(out != nullptr);
  std::vector<std::string> at(bytes.size());
  for (char line[512]; std::fgets(line, sizeof line, out);) {
    unsigned long offset = 0;
    char mnemonic[64];
    if (std::sscanf(line, " %lx: %63s", &offset, mnemonic) == 2 && offset < at.size()) at[offset] = mnemonic;
  }
  pclose(out);
  std::remove(name);
  for (const auto& l : t.listing.lines) CHECK_MESSAGE(at[l.at] == l.mnemonic, "at ", l.at);
}

TEST_CASE("every form is in the tables of this file") {
  const auto names = names_of_forms();
  REQUIRE(names.size() > 100);
  for (const std::string& name : names) {
    int found = 0;
    for (const Case& c : cases) found += name == c.name;
    for (const Gather& c : gathers) found += name == c.name;
    CHECK_MESSAGE(found == 1, name);
  }
}

#else
TEST_CASE("every instruction has Xbyak's bytes, and objdump reads it") { MESSAGE("skipped: no Xbyak here"); }
#endif

// What needs no Xbyak: the pool and labels.
TEST_CASE("constants lie aligned after the code, equal ones once") {
  namespace code = fx::tiled::code;
  code::Encoder e;
  const std::uint64_t one = 1, two = 2;
  const code::Label a = e.constant(&one, 8, 8), b = e.constant(&two, 8, 32), c = e.constant(&one, 8, 8);
  CHECK(a.n == c.n);
  CHECK(a.n != b.n);
  code::Mem m;
  m.label = b;
  e.lea(code::rax, m);
  e.ret();
  e.finish();
  REQUIRE(e.bytes().size() == 64 + 32 + 8);
  CHECK(e.bytes()[64] == 1);
  CHECK(e.bytes()[96] == 2);
  CHECK(e.bytes()[3] == 96 - 7);  // from the end of lea
}
