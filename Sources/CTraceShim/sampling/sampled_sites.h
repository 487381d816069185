// The stacks of sampled allocations, with estimates of the allocations and frees. Bounded; lock-free; entries are never
// removed.

#ifndef LEAKTRACE_SAMPLED_SITES_H
#define LEAKTRACE_SAMPLED_SITES_H

#include "check.h"
#include "sampling/sample_draw.h"

#include <stdatomic.h>
#include <stdbool.h>

enum {
  LT_SAMPLED_SITE_LIMIT = 1 << 14,
  LT_SAMPLED_KEY_LIMIT = 1 << 20, ///< frame keys of all sites together: 8 MiB, touched only as they are used
  LT_SAMPLED_SITE_UNKNOWN = 0,    ///< for samples whose stack is unknown or found no room
};

/// Estimates since the beginning of the recording.
struct lt_sampled_site {
  _Atomic uint64_t hash;       ///< of the stack; 0 if the place is free
  _Atomic uint32_t isReady;    ///< the two members below are set, and final
  uint32_t keyCount, firstKey; ///< this site's range in the keys of all sites
  uint32_t reserved;
  _Atomic uint64_t samples, freedSamples;
  /// In the units of lt_sample_weight.
  _Atomic uint64_t allocatedObjects, allocatedBytes, allocatedVariance, freedObjects, freedBytes, freedVariance;
};

/// Maps the memory, which a child made by fork inherits as a copy. False without memory.
bool lt_sampled_sites_begin(void);
/// Sets all figures to 0, for another trace.
void lt_sampled_sites_reset(void);
/// Finds the site of a stack, or makes it; LT_SAMPLED_SITE_UNKNOWN if there is no room. `keys`: the outermost first.
uint32_t lt_sampled_site_for(const uint64_t *keys, uint32_t count);
/// True while stacks use less than a quarter of the room: the first allocations, which are all sampled, may use more.
bool lt_sampled_sites_have_spare_room(void);
void lt_sampled_site_allocated(uint32_t site, struct lt_sample_weight weight);
void lt_sampled_site_freed(uint32_t site, struct lt_sample_weight weight);
/// Undoes lt_sampled_site_freed.
void lt_sampled_site_freed_not(uint32_t site, struct lt_sample_weight weight);
/// The site with a number below LT_SAMPLED_SITE_LIMIT; NULL if there is none.
const struct lt_sampled_site *lt_sampled_site_at(uint32_t number);
/// The frame keys of its stack, the outermost first.
const uint64_t *lt_sampled_site_keys(const struct lt_sampled_site *site);

/// Sums of all sites.
struct lt_sample_totals {
  uint64_t samples, unknownStacks;
  uint64_t allocatedObjects, allocatedBytes, freedObjects, freedBytes; ///< objects are in units of 1 here
};
struct lt_sample_totals lt_sample_totals(void);

#endif
