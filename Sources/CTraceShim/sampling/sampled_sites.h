// The stacks at which allocations were sampled, with what was allocated and freed there. Bounded; lock-free; entries
// stay.

#ifndef LEAKTRACE_SAMPLED_SITES_H
#define LEAKTRACE_SAMPLED_SITES_H

#include "check.h"
#include "sampling/sample_draw.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
  LT_SAMPLED_SITE_LIMIT = 1 << 14,
  LT_SAMPLED_KEY_LIMIT = 1 << 20, ///< frame keys of all sites together: 8 MiB, of which those in use are touched
  LT_SAMPLED_SITE_UNKNOWN = 0,    ///< of samples whose stack could not be had, or had no room
};

/// Estimates since the beginning of the recording.
struct lt_sampled_site {
  _Atomic uint64_t hash;       ///< of the stack; 0 if the place is free
  _Atomic uint32_t isReady;    ///< the two below are set, and stay
  uint32_t keyCount, firstKey; ///< a range of the keys of all sites, which no other site has
  uint32_t reserved;
  _Atomic uint64_t samples, freedSamples;
  /// As lt_sample_weight has them.
  _Atomic uint64_t allocatedObjects, allocatedBytes, allocatedVariance, freedObjects, freedBytes, freedVariance;
};

/// Maps the memory, which a child made by fork has a copy of. False without any.
bool lt_sampled_sites_begin(void);
/// Sets all figures to 0: for another trace.
void lt_sampled_sites_reset(void);
/// Finds the site of a stack, or makes it; LT_SAMPLED_SITE_UNKNOWN if there is no room. `keys`: the outermost first.
uint32_t lt_sampled_site_for(const uint64_t *keys, uint32_t count);
/// Tells whether stacks have taken so little room that those of the first allocations may take more.
bool lt_sampled_sites_have_spare_room(void);
void lt_sampled_site_allocated(uint32_t site, struct lt_sample_weight weight);
void lt_sampled_site_freed(uint32_t site, struct lt_sample_weight weight);
/// Takes that back.
void lt_sampled_site_freed_not(uint32_t site, struct lt_sample_weight weight);
/// The site of a number below LT_SAMPLED_SITE_LIMIT; NULL if there is none.
const struct lt_sampled_site *lt_sampled_site_at(uint32_t number);
/// Its stack's frame keys, the outermost first.
const uint64_t *lt_sampled_site_keys(const struct lt_sampled_site *site);

/// Sums of all sites.
struct lt_sample_totals {
  uint64_t samples, unknownStacks;
  uint64_t allocatedObjects, allocatedBytes, freedObjects, freedBytes; ///< objects are whole ones here
};
struct lt_sample_totals lt_sample_totals(void);

#endif
