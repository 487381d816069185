// Draws the allocations to sample, and computes the weight of a sample.
//
// Samples are points of a Poisson process over all bytes that a program asks for: each byte is equally likely to be
// hit, whatever was hit before. An allocation is sampled if one of its bytes is hit. So an allocation of `size` bytes
// is sampled with the probability p = 1 − exp(−size / period), and a sample represents 1 / p allocations of its size.
// Sums of these weights are right on average, for blocks of any size. Source: the estimator of Horvitz and Thompson.
//
// Uses only integers: a program may enable signals for floating-point operations.

#ifndef LEAKTRACE_SAMPLE_DRAW_H
#define LEAKTRACE_SAMPLE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/// The weight of one allocation.
#define LT_WEIGHT_ONE (1ull << 16)

/// The allocations that a sample represents.
struct lt_sample_weight {
  uint64_t objects; ///< in units of 1 / LT_WEIGHT_ONE
  uint64_t bytes;
  /// Its contribution to the variance of a sum of `bytes`: (1 − p) / p² times its size squared, in units of (period /
  /// 256)². At most one period squared. It is exact, not another estimate, so it can be subtracted from a sum.
  uint64_t variance;
};

enum { LT_SAMPLE_PERIOD_BITS = 40 };
/// The largest average number of bytes from one sample to the next.
#define LT_SAMPLE_PERIOD_LIMIT (1ull << LT_SAMPLE_PERIOD_BITS)

/// Draws the distance in bytes to the next sample, at least 1; the last of them is sampled. `random` is the state of a
/// generator, and is advanced; any number begins a sequence.
uint64_t lt_sample_distance(uint64_t *random, uint64_t period);
/// Advances by an allocation of `size` bytes. True if one of its bytes is sampled. `until`: bytes left until the
/// thread's next sampling check, drawn by lt_sample_distance with lt_look_period. Where samples are far apart, only a
/// random part of these checks are samples: a thinned Poisson process is one, too. So periodic work, which runs at the
/// checks, is done more often than samples are taken. Linear in the checks up to the first sample.
bool lt_sample_meets(uint64_t *random, uint64_t *until, uint64_t size, uint64_t period);
/// Average bytes from one sampling check to the next.
uint64_t lt_look_period(uint64_t period);
/// The weight of a sampled allocation of `size` bytes, 1 at least.
struct lt_sample_weight lt_sample_weight(uint64_t size, uint64_t period);
/// The weight of an allocation that was certain to be sampled: it represents only itself.
static inline struct lt_sample_weight lt_certain_weight(uint64_t size) {
  return (struct lt_sample_weight){.objects = LT_WEIGHT_ONE, .bytes = size};
}

#endif
