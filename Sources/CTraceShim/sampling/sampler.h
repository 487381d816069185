// Samples allocations: decides which ones, captures their stacks, and keeps estimates for each site.

#ifndef LEAKTRACE_SAMPLER_H
#define LEAKTRACE_SAMPLER_H

#include "arch/arch.h"
#include "check.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// --- state -----------------------------------------------------------------------------------------------------------

// Whether samples are taken.

/// True if samples are taken instead of events: from the beginning, or since the trace has reached its limit. Set
/// before the first event is skipped. So if this is false in a copy of the process, the trace has all events up to the
/// copy.
/// Sequentially consistent: no event is skipped before this is true.
extern _Atomic bool lt_is_sampling __attribute__((visibility("hidden")));

// --- draws -----------------------------------------------------------------------------------------------------------

// Decides at random which allocations to sample, and computes the weight of a sample.
//
// Samples are the points of a Poisson process over all bytes that a program allocates. Each byte is hit with the same
// probability, independently of earlier hits. An allocation is sampled if one of its bytes is hit. So an allocation of
// `size` bytes is sampled with the probability p = 1 − exp(−size / period). A sample represents 1 / p allocations of
// its size. Sums of these weights are right on average, for blocks of any size. Source: the estimator of Horvitz and
// Thompson.
//
// Uses only integers: a program may enable signals for floating-point operations.

/// The weight of one allocation.
#define LT_WEIGHT_ONE (1ull << 16)

/// The allocations that a sample represents.
struct lt_sample_weight {
  uint64_t objects; ///< in units of 1 / LT_WEIGHT_ONE
  uint64_t bytes;
  /// The sample's contribution to the variance of a sum of `bytes`, in units of (period / 256)². It is (1 − p) / p²
  /// times the allocation's size squared, and at most one period squared. It depends only on the size and the period.
  /// So it can be subtracted from a sum when the block is freed.
  uint64_t variance;
};

enum { LT_SAMPLE_PERIOD_BITS = 40 };
/// The largest average number of bytes from one sample to the next.
#define LT_SAMPLE_PERIOD_LIMIT (1ull << LT_SAMPLE_PERIOD_BITS)

/// Draws the distance in bytes to the next sample, at least 1. The last byte of that distance is sampled. `random` is
/// the state of a generator, and is advanced. Any number can begin a sequence.
uint64_t lt_sample_distance(uint64_t *random, uint64_t period);
/// Advances by an allocation of `size` bytes. True if one of its bytes is sampled. `until`: bytes left until the
/// thread's next sampling check, drawn by lt_sample_distance with lt_sampling_check_period. If samples are far apart,
/// there are more checks than samples, because periodic work runs at the checks. A random part of the checks are then
/// samples: a thinned Poisson process is a Poisson process, too. Takes time linear in the number of checks up to the
/// first sample.
bool lt_sample_meets(uint64_t *random, uint64_t *until, uint64_t size, uint64_t period);
/// Average bytes from one sampling check to the next.
uint64_t lt_sampling_check_period(uint64_t period);
/// The weight of a sampled allocation of `size` bytes. `size` must be at least 1.
struct lt_sample_weight lt_sample_weight(uint64_t size, uint64_t period);
/// The weight of an allocation that was certain to be sampled. Such a sample represents only itself.
static inline struct lt_sample_weight lt_certain_weight(uint64_t size) {
  return (struct lt_sample_weight){.objects = LT_WEIGHT_ONE, .bytes = size};
}

// --- sites -----------------------------------------------------------------------------------------------------------

// The sites: the stacks of sampled allocations, each with estimates of the allocations and frees. Bounded; lock-free;
// entries are never removed.

enum {
  LT_SAMPLED_SITE_LIMIT = 1 << 14,
  LT_SAMPLED_KEY_LIMIT = 1 << 20, ///< frame keys of all sites together: 8 MiB, touched only as they are used
  LT_SAMPLED_SITE_UNKNOWN = 0,    ///< for samples whose stack is unknown or found no room in the table
};

/// Estimates since the beginning of the recording.
struct lt_sampled_site {
  _Atomic uint64_t hash;    ///< of the stack; 0 if the place is free. The exchange elects the thread that fills it in
  _Atomic uint32_t isReady; ///< not 0 if the two members below are set and final: they are stored first
  uint32_t keyCount, firstKey; ///< this site's range in the keys of all sites
  uint32_t reserved;
  _Atomic uint64_t samples, freedSamples;
  /// In the units of lt_sample_weight.
  _Atomic uint64_t allocatedObjects, allocatedBytes, allocatedVariance, freedObjects, freedBytes, freedVariance;
};

/// Maps the memory. A child made by fork inherits a copy of it. False if there is no memory.
bool lt_sampled_sites_begin(void);
/// Sets all figures to 0, for a new trace.
void lt_sampled_sites_reset(void);
/// Finds or makes the site of a stack; LT_SAMPLED_SITE_UNKNOWN if there is no room. `keys`: the stack's frame keys,
/// outermost first.
uint32_t lt_sampled_site_for(const uint64_t *keys, uint32_t count);
/// True while the stacks use less than a quarter of the room. Only then are all of the first allocations sampled.
bool lt_sampled_sites_have_spare_room(void);
void lt_sampled_site_allocated(uint32_t site, struct lt_sample_weight weight);
void lt_sampled_site_freed(uint32_t site, struct lt_sample_weight weight);
/// Undoes lt_sampled_site_freed.
void lt_sampled_site_undo_free(uint32_t site, struct lt_sample_weight weight);
/// The site with a number below LT_SAMPLED_SITE_LIMIT; NULL if there is none.
const struct lt_sampled_site *lt_sampled_site_at(uint32_t number);
/// The frame keys of the site's stack, outermost first.
const uint64_t *lt_sampled_site_keys(const struct lt_sampled_site *site);

/// Sums of all sites.
struct lt_sample_totals {
  uint64_t samples, unknownStacks;
  uint64_t allocatedObjects, allocatedBytes, freedObjects, freedBytes; ///< objects in units of 1
};
struct lt_sample_totals lt_sample_totals(void);

// --- stacks ----------------------------------------------------------------------------------------------------------

// Captures the stacks of samples. Each stack is captured from scratch, in memory that all threads share. Samples are
// rare, and memory for each thread would be large.

/// Captures the stack of a hook's caller, and returns its site. `frame` is the hook's. Returns LT_SAMPLED_SITE_UNKNOWN
/// if too many threads are capturing at the same time, or if there is no memory. Calls nothing that allocates or locks.
uint32_t lt_sampled_stack_site(struct lt_hook_frame frame);
/// In a child made by fork: gives up the memory that other threads of the parent were using.
void lt_sampled_stacks_reset_after_fork(void);

#endif
