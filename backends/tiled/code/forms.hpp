// code/forms.hpp -- the vector instructions that the generator uses, one Form each. A form is added here and to its
// test (tests/backends/test_encoder.cpp).
#pragma once
#include "encoder.hpp"

namespace fx::inline v0::tiled::code::form {

#define FX_FORM(name, prefix, map, opcode, ...) \
  inline constexpr Form name{Form::prefix, Form::map, opcode, __VA_ARGS__};
inline constexpr std::int8_t only = Form::none;  // in the place of W: not in that encoding

// Moves. vmovups loads and vmovups_to stores any data; with_mask: lanes of 4 (ups) or 8 (upd) bytes.
FX_FORM(vmovups, np, m0f, 0x10, 0, 0)
FX_FORM(vmovups_to, np, m0f, 0x11, 0, 0)
FX_FORM(vmovupd, p66, m0f, 0x10, 0, 1)
FX_FORM(vmovupd_to, p66, m0f, 0x11, 0, 1)
FX_FORM(vmovdqu8, pf2, m0f, 0x6f, only, 0)
FX_FORM(vmovdqu8_to, pf2, m0f, 0x7f, only, 0)
FX_FORM(vmovq, pf3, m0f, 0x7e, 0, 1, Tuple::eight)     // 8 bytes into xmm
FX_FORM(vmovq_to, p66, m0f, 0xd6, 0, 1, Tuple::eight)  // 8 bytes out
FX_FORM(vmovd_to, p66, m0f, 0x7e, 0, 0, Tuple::four)
FX_FORM(vmaskmovps, p66, m38, 0x2c, 0, only)
FX_FORM(vmaskmovps_to, p66, m38, 0x2e, 0, only)
FX_FORM(vmaskmovpd, p66, m38, 0x2d, 0, only)
FX_FORM(vmaskmovpd_to, p66, m38, 0x2f, 0, only)
FX_FORM(vbroadcastss, p66, m38, 0x18, 0, 0, Tuple::four)
FX_FORM(vbroadcastsd, p66, m38, 0x19, 0, 1, Tuple::eight)

// Floating point.
FX_FORM(vaddps, np, m0f, 0x58, 0, 0)
FX_FORM(vaddpd, p66, m0f, 0x58, 0, 1)
FX_FORM(vmulps, np, m0f, 0x59, 0, 0)
FX_FORM(vmulpd, p66, m0f, 0x59, 0, 1)
FX_FORM(vsubps, np, m0f, 0x5c, 0, 0)
FX_FORM(vsubpd, p66, m0f, 0x5c, 0, 1)
FX_FORM(vminps, np, m0f, 0x5d, 0, 0)
FX_FORM(vminpd, p66, m0f, 0x5d, 0, 1)
FX_FORM(vmaxps, np, m0f, 0x5f, 0, 0)
FX_FORM(vmaxpd, p66, m0f, 0x5f, 0, 1)
FX_FORM(vdivps, np, m0f, 0x5e, 0, 0)
FX_FORM(vdivpd, p66, m0f, 0x5e, 0, 1)
FX_FORM(vsqrtps, np, m0f, 0x51, 0, 0)
FX_FORM(vsqrtpd, p66, m0f, 0x51, 0, 1)
FX_FORM(vfmadd213ps, p66, m38, 0xa8, 0, 0)
FX_FORM(vfmadd213pd, p66, m38, 0xa8, 1, 1)
FX_FORM(vfmadd231ps, p66, m38, 0xb8, 0, 0)
FX_FORM(vfmadd231pd, p66, m38, 0xb8, 1, 1)
FX_FORM(vmovss, pf3, m0f, 0x10, 0, 0, Tuple::four)  // one element: length 16
FX_FORM(vmovss_to, pf3, m0f, 0x11, 0, 0, Tuple::four)
FX_FORM(vmovsd, pf2, m0f, 0x10, 0, 1, Tuple::eight)
FX_FORM(vmovsd_to, pf2, m0f, 0x11, 0, 1, Tuple::eight)
FX_FORM(vfmadd231ss, p66, m38, 0xb9, 0, 0, Tuple::four)
FX_FORM(vfmadd231sd, p66, m38, 0xb9, 1, 1, Tuple::eight)
FX_FORM(vroundps, p66, m3a, 0x08, 0, 0)  // EVEX: vrndscale
FX_FORM(vroundpd, p66, m3a, 0x09, 0, 1)
FX_FORM(vrangeps, p66, m3a, 0x50, only, 0)
FX_FORM(vrangepd, p66, m3a, 0x50, only, 1)
FX_FORM(vscalefps, p66, m38, 0x2c, only, 0)
FX_FORM(vscalefpd, p66, m38, 0x2c, only, 1)
FX_FORM(vcmpps, np, m0f, 0xc2, 0, only)
FX_FORM(vcmppd, p66, m0f, 0xc2, 0, only)
FX_FORM(vcmpps_mask, np, m0f, 0xc2, only, 0)  // to a mask register
FX_FORM(vcmppd_mask, p66, m0f, 0xc2, only, 1)
FX_FORM(vblendvps, p66, m3a, 0x4a, 0, only)
FX_FORM(vblendvpd, p66, m3a, 0x4b, 0, only)
FX_FORM(vblendmps, p66, m38, 0x65, only, 0)
FX_FORM(vblendmpd, p66, m38, 0x65, only, 1)

// Bits.
FX_FORM(vpandd, p66, m0f, 0xdb, 0, 0)
FX_FORM(vpandq, p66, m0f, 0xdb, 0, 1)
FX_FORM(vpord, p66, m0f, 0xeb, 0, 0)
FX_FORM(vporq, p66, m0f, 0xeb, 0, 1)
FX_FORM(vpxord, p66, m0f, 0xef, 0, 0)
FX_FORM(vpxorq, p66, m0f, 0xef, 0, 1)
FX_FORM(vpandnd, p66, m0f, 0xdf, 0, 0)
FX_FORM(vpsllvd, p66, m38, 0x47, 0, 0)
FX_FORM(vpsllvq, p66, m38, 0x47, 1, 1)
FX_FORM(vpsrlvd, p66, m38, 0x45, 0, 0)
FX_FORM(vpsrlvq, p66, m38, 0x45, 1, 1)
FX_FORM(vpsravd, p66, m38, 0x46, 0, 0)
FX_FORM(vpsravq, p66, m38, 0x46, only, 1)
FX_FORM(vpslld_fixed, p66, m0f, 0x72, 0, 0, Tuple::full, false, 6)  // all lanes by the immediate
FX_FORM(vpsllq_fixed, p66, m0f, 0x73, 0, 1, Tuple::full, false, 6)
FX_FORM(vpsrld_fixed, p66, m0f, 0x72, 0, 0, Tuple::full, false, 2)
FX_FORM(vpsrlq_fixed, p66, m0f, 0x73, 0, 1, Tuple::full, false, 2)
FX_FORM(vpsrad_fixed, p66, m0f, 0x72, 0, 0, Tuple::full, false, 4)
FX_FORM(vpsraq_fixed, p66, m0f, 0x72, only, 1, Tuple::full, false, 4)

// Integers.
FX_FORM(vpaddd, p66, m0f, 0xfe, 0, 0)
FX_FORM(vpaddq, p66, m0f, 0xd4, 0, 1)
FX_FORM(vpsubd, p66, m0f, 0xfa, 0, 0)
FX_FORM(vpsubq, p66, m0f, 0xfb, 0, 1)
FX_FORM(vpmulld, p66, m38, 0x40, 0, 0)
FX_FORM(vpmullq, p66, m38, 0x40, only, 1)
FX_FORM(vpmuludq, p66, m0f, 0xf4, 0, 1)
FX_FORM(vpabsd, p66, m38, 0x1e, 0, 0)
FX_FORM(vpabsq, p66, m38, 0x1f, only, 1)
FX_FORM(vpminsd, p66, m38, 0x39, 0, 0)
FX_FORM(vpminud, p66, m38, 0x3b, 0, 0)
FX_FORM(vpmaxsd, p66, m38, 0x3d, 0, 0)
FX_FORM(vpmaxud, p66, m38, 0x3f, 0, 0)
FX_FORM(vpminsq, p66, m38, 0x39, only, 1)
FX_FORM(vpminuq, p66, m38, 0x3b, only, 1)
FX_FORM(vpmaxsq, p66, m38, 0x3d, only, 1)
FX_FORM(vpcmpeqd, p66, m0f, 0x76, 0, only)
FX_FORM(vpcmpeqq, p66, m38, 0x29, 0, only)
FX_FORM(vpcmpgtd, p66, m0f, 0x66, 0, only)
FX_FORM(vpcmpgtq, p66, m38, 0x37, 0, only)
FX_FORM(vpcmpd, p66, m3a, 0x1f, only, 0)
FX_FORM(vpcmpq, p66, m3a, 0x1f, only, 1)
FX_FORM(vpcmpud, p66, m3a, 0x1e, only, 0)
FX_FORM(vpcmpuq, p66, m3a, 0x1e, only, 1)

// Conversions. The length is that of the wider side.
FX_FORM(vcvtdq2ps, np, m0f, 0x5b, 0, 0)
FX_FORM(vcvtudq2ps, pf2, m0f, 0x7a, only, 0)
FX_FORM(vcvtdq2pd, pf3, m0f, 0xe6, 0, 0, Tuple::half)
FX_FORM(vcvtudq2pd, pf3, m0f, 0x7a, only, 0, Tuple::half)
FX_FORM(vcvtqq2pd, pf3, m0f, 0xe6, only, 1)
FX_FORM(vcvtuqq2pd, pf3, m0f, 0x7a, only, 1)
FX_FORM(vcvtqq2ps, np, m0f, 0x5b, only, 1)
FX_FORM(vcvtuqq2ps, pf2, m0f, 0x7a, only, 1)
FX_FORM(vcvtps2pd, np, m0f, 0x5a, 0, 0, Tuple::half)
FX_FORM(vcvtpd2ps, p66, m0f, 0x5a, 0, 1)
FX_FORM(vcvttps2dq, pf3, m0f, 0x5b, 0, 0)
FX_FORM(vcvttps2udq, np, m0f, 0x78, only, 0)
FX_FORM(vcvttpd2dq, p66, m0f, 0xe6, 0, 1)
FX_FORM(vcvttpd2udq, np, m0f, 0x78, only, 1)
FX_FORM(vcvttps2qq, p66, m0f, 0x7a, only, 0, Tuple::half)
FX_FORM(vcvttps2uqq, p66, m0f, 0x78, only, 0, Tuple::half)
FX_FORM(vcvttpd2qq, p66, m0f, 0x7a, only, 1)
FX_FORM(vcvttpd2uqq, p66, m0f, 0x78, only, 1)
FX_FORM(vpmovsxdq, p66, m38, 0x25, 0, 0, Tuple::half)
FX_FORM(vpmovzxdq, p66, m38, 0x35, 0, 0, Tuple::half)
FX_FORM(vpmovzxbd, p66, m38, 0x31, 0, 0, Tuple::quarter)
FX_FORM(vpmovzxbq, p66, m38, 0x32, 0, 0, Tuple::eighth)
FX_FORM(vpmovqd, pf3, m38, 0x35, only, 0, Tuple::half)        // from reg to rm
FX_FORM(vextractf128, p66, m3a, 0x19, 0, only)                // from reg to rm
FX_FORM(vextractf32x4, p66, m3a, 0x19, only, 0, Tuple::half)  // the same of 32 bytes, for all registers
FX_FORM(vextractf64x4, p66, m3a, 0x1b, only, 1, Tuple::half)  // from reg to rm
FX_FORM(vshufps, np, m0f, 0xc6, 0, 0)
FX_FORM(vpermps, p66, m38, 0x16, 0, 0)        // lanes of rm at the numbers in vvvv
FX_FORM(vpermpd, p66, m38, 0x16, only, 1)     // 64 bytes
FX_FORM(vpermpd_fixed, p66, m3a, 0x01, 1, 1)  // of each 32 bytes, by the immediate
FX_FORM(vpackssdw, p66, m0f, 0x6b, 0, 0)
FX_FORM(vpacksswb, p66, m0f, 0x63, 0, 0)

// Gathers: memory's index is a vector; lanes whose mask is set are read (VEX: the mask is vvvv; both clear it).
FX_FORM(vpgatherdd, p66, m38, 0x90, 0, 0, Tuple::four, true)
FX_FORM(vpgatherdq, p66, m38, 0x90, 1, 1, Tuple::eight, true)
FX_FORM(vpgatherqd, p66, m38, 0x91, 0, 0, Tuple::four, true)
FX_FORM(vpgatherqq, p66, m38, 0x91, 1, 1, Tuple::eight, true)

// Masks.
FX_FORM(kmovw, np, m0f, 0x90, 0, only)
FX_FORM(kmovw_to, np, m0f, 0x91, 0, only)
FX_FORM(kmovw_from_gpr, np, m0f, 0x92, 0, only)
FX_FORM(kmovb_from_gpr, p66, m0f, 0x92, 0, only)
FX_FORM(kandw, np, m0f, 0x41, 0, only)  // with length 32
FX_FORM(kandnw, np, m0f, 0x42, 0, only)
FX_FORM(knotw, np, m0f, 0x44, 0, only)  // with length 16
FX_FORM(korw, np, m0f, 0x45, 0, only)
FX_FORM(kxnorw, np, m0f, 0x46, 0, only)
FX_FORM(kxorw, np, m0f, 0x47, 0, only)
FX_FORM(kortestw, np, m0f, 0x98, 0, only)  // with length 16; carry: all ones
FX_FORM(kortestb, p66, m0f, 0x98, 0, only)
FX_FORM(vptest, p66, m38, 0x17, 0, only)  // zero flag: no bit in common
FX_FORM(vptestmb, p66, m38, 0x26, only, 0)
#undef FX_FORM

}  // namespace fx::inline v0::tiled::code::form
