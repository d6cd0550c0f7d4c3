// tile/target.hpp -- the machines that tile programs are made or costed for.
#pragma once
#include "../backend.hpp"

namespace fx::inline v0::tile {

// TPUs, by chip: Google's published peak rates (docs.cloud.google.com/tpu/docs: v5e, v5p, v6e). Memory and matrix unit
// are those of one TensorCore, as in JAX's pltpu.get_tpu_info. No f32 rate is published: a product of full precision
// takes six passes of bf16.
inline constexpr Target tpu_v5e{.name = "tpu_v5e",
                                .on_chip = std::int64_t(128) << 20,
                                .matrix = 128,
                                .flops_f32 = 197e12 / 6,
                                .flops_bf16 = 197e12,
                                .bandwidth = 819e9,
                                .source = "Cloud TPU v5e documentation"};
inline constexpr Target tpu_v5p{.name = "tpu_v5p",
                                .on_chip = std::int64_t(64) << 20,
                                .matrix = 128,
                                .flops_f32 = 459e12 / 6,
                                .flops_bf16 = 459e12,
                                .bandwidth = 2765e9,
                                .source = "Cloud TPU v5p documentation"};
inline constexpr Target tpu_v6e{.name = "tpu_v6e",
                                .on_chip = std::int64_t(128) << 20,
                                .matrix = 256,
                                .flops_f32 = 918e12 / 6,
                                .flops_bf16 = 918e12,
                                .bandwidth = 1640e9,
                                .source = "Cloud TPU v6e documentation"};
// NVIDIA's H200 SXM: a block's shared memory, f32 outside the tensor cores, dense bf16 on them.
inline constexpr Target h200{.name = "h200",
                             .on_chip = 227 << 10,
                             .sublanes = 8,
                             .lanes = 32,
                             .matrix = 64,
                             .flops_f32 = 67e12,
                             .flops_bf16 = 989e12,
                             .bandwidth = 4.8e12,
                             .source = "NVIDIA H200 data sheet"};

// This processor, without rates: a core's second-level cache is the on-chip memory. What shapes code comes from here.
const Target& host();
// The same with the rates that one core reaches in a short measurement, made at the first call. For reports only.
const Target& measured_host();

// A target by its name ("cpu" is host()), or null.
const Target* target_named(std::string_view name);

}  // namespace fx::inline v0::tile

#if FX_BODIES
#include "measure.hpp"
#endif
