// Which allocations are sampled, and what a sample stands for.
//
// Samples are points that are strewn over all bytes that a program asks for, as a Poisson process: each byte is as
// likely to be hit as any other, whatever was hit before. An allocation is sampled if one of its bytes is, so that an
// allocation of `size` bytes is with the probability p = 1 − exp(−size / period), and a sample stands for 1 / p
// allocations of its size: sums of that are right on average, for blocks of any size. Source: the estimator of Horvitz
// and Thompson.
//
// Integers alone: a program may have floating-point operations raise signals.

#ifndef LEAKTRACE_SAMPLE_DRAW_H
#define LEAKTRACE_SAMPLE_DRAW_H

#include <stdbool.h>
#include <stdint.h>

/// One allocation, as sums of weights count it.
#define LT_WEIGHT_ONE (1ull << 16)

/// What a sampled allocation stands for.
struct lt_sample_weight {
  uint64_t objects; ///< in units of 1 / LT_WEIGHT_ONE
  uint64_t bytes;
  /// What it adds to the variance of a sum of `bytes`, (1 − p) / p² of its size's square, in units of (period / 256)²:
  /// at most one period's square. It is exact, and not estimated once more, so that it can be taken out of a sum.
  uint64_t variance;
};

enum { LT_SAMPLE_PERIOD_BITS = 40 };
/// Bytes from one sample to the next on average, at most.
#define LT_SAMPLE_PERIOD_LIMIT (1ull << LT_SAMPLE_PERIOD_BITS)

/// Draws how many bytes it is to the next sample, which is the last of them: at least 1. `random` is the state of a
/// generator, and moves on; any number begins one.
uint64_t lt_sample_distance(uint64_t *random, uint64_t period);
/// Goes on by an allocation of `size` bytes; tells whether one of them is a sample. `until`: bytes to the next point at
/// which a thread looks up, as lt_sample_distance draws it with lt_look_period. Where samples are far apart, only some
/// of these points are samples, at random: what is left of a Poisson process is one. So what is due now and then is met
/// with sooner than samples are. Linear in the points, of which the first sample is the last.
bool lt_sample_meets(uint64_t *random, uint64_t *until, uint64_t size, uint64_t period);
/// Bytes from one such point to the next on average.
uint64_t lt_look_period(uint64_t period);
/// The weight of a sampled allocation of `size` bytes, 1 at least.
struct lt_sample_weight lt_sample_weight(uint64_t size, uint64_t period);
/// The weight of one that was certain to be sampled: it stands for itself.
static inline struct lt_sample_weight lt_certain_weight(uint64_t size) {
  return (struct lt_sample_weight){.objects = LT_WEIGHT_ONE, .bytes = size};
}

#endif
