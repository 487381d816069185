#include "sampling/sampled_sites.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

#include <string.h>

enum { PROBE_LIMIT = 64 };

static struct lt_sampled_site *sites;
static uint64_t *keysOfAll;
static _Atomic uint32_t keysUsed; ///< at most LT_SAMPLED_KEY_LIMIT; grows only

bool lt_sampled_sites_begin(void) {
  if (!sites) sites = lt_map_private(LT_SAMPLED_SITE_LIMIT * sizeof *sites);
  if (!keysOfAll) keysOfAll = lt_map_private(LT_SAMPLED_KEY_LIMIT * sizeof *keysOfAll);
  if (!sites || !keysOfAll) return false;
  atomic_store(&sites[LT_SAMPLED_SITE_UNKNOWN].hash, 1);
  atomic_store(&sites[LT_SAMPLED_SITE_UNKNOWN].isReady, 1);
  return true;
}

/// True if the site is in the table and its keys are in the array of keys.
LT_INVARIANT bool is_site(const struct lt_sampled_site *site) {
  return site >= sites && site < sites + LT_SAMPLED_SITE_LIMIT && site->firstKey <= LT_SAMPLED_KEY_LIMIT &&
         site->keyCount <= LT_SAMPLED_KEY_LIMIT - site->firstKey;
}

void lt_sampled_sites_reset(void) {
  for (uint32_t i = 0; sites && i < LT_SAMPLED_SITE_LIMIT; i++) {
    struct lt_sampled_site *site = &sites[i];
    if (!atomic_load_explicit(&site->hash, memory_order_relaxed)) continue;
    atomic_store(&site->samples, 0);
    atomic_store(&site->allocatedObjects, 0);
    atomic_store(&site->allocatedBytes, 0);
    atomic_store(&site->allocatedVariance, 0);
    atomic_store(&site->freedSamples, 0);
    atomic_store(&site->freedObjects, 0);
    atomic_store(&site->freedBytes, 0);
    atomic_store(&site->freedVariance, 0);
  }
}

/// Stacks with one hash are taken for one: of 16,384 stacks, two have it by chance once in 10^11 recordings.
static uint64_t hash_of(const uint64_t *keys, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) {
    hash = (hash ^ keys[i]) * LT_HASH_MULTIPLIER;
    hash ^= hash >> 29;
  }
  return hash > 1 ? hash : 2;
}

/// Takes room for keys. UINT32_MAX if there is none.
static uint32_t take_keys(uint32_t count) {
  uint32_t used = atomic_load(&keysUsed);
  LT_CHECK(used <= LT_SAMPLED_KEY_LIMIT);
  do
    if (count > LT_SAMPLED_KEY_LIMIT - used) return UINT32_MAX;
  while (!atomic_compare_exchange_weak(&keysUsed, &used, used + count));
  return used;
}

bool lt_sampled_sites_have_spare_room(void) {
  enum { SHARE_OF_FIRST = 4 };
  return atomic_load_explicit(&keysUsed, memory_order_relaxed) < LT_SAMPLED_KEY_LIMIT / SHARE_OF_FIRST;
}

uint32_t lt_sampled_site_for(const uint64_t *keys, uint32_t count) {
  uint64_t hash = hash_of(keys, count);
  LT_CHECK(sites && keysOfAll && hash > 1);
  for (uint32_t i = 0; i < PROBE_LIMIT; i++) {
    uint32_t number = (uint32_t)((hash >> 40) + i) % LT_SAMPLED_SITE_LIMIT;
    if (number == LT_SAMPLED_SITE_UNKNOWN) continue;
    struct lt_sampled_site *site = &sites[number];
    uint64_t known = atomic_load_explicit(&site->hash, memory_order_acquire);
    if (known == hash) return number;
    if (known) continue;
    // Before the place is taken: a place stays taken.
    if (LT_SAMPLED_KEY_LIMIT - atomic_load(&keysUsed) < count) return LT_SAMPLED_SITE_UNKNOWN;
    if (!atomic_compare_exchange_strong(&site->hash, &known, hash)) {
      if (known == hash) return number;
      continue;
    }
    uint32_t first = take_keys(count);
    LT_CHECK(!atomic_load(&site->isReady) && site->keyCount == 0);
    if (first == UINT32_MAX) count = first = 0; // others took the last room: a site without frames
    LT_CHECK(first + count <= LT_SAMPLED_KEY_LIMIT);
    memcpy(keysOfAll + first, keys, count * sizeof *keys);
    site->firstKey = first;
    site->keyCount = count;
    atomic_store_explicit(&site->isReady, 1, memory_order_release);
    return number;
  }
  return LT_SAMPLED_SITE_UNKNOWN;
}

void lt_sampled_site_allocated(uint32_t number, struct lt_sample_weight weight) {
  LT_CHECK(number < LT_SAMPLED_SITE_LIMIT && atomic_load(&sites[number].hash));
  LT_CHECK(weight.objects >= LT_WEIGHT_ONE);
  struct lt_sampled_site *site = &sites[number];
  atomic_fetch_add_explicit(&site->samples, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->allocatedObjects, weight.objects, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->allocatedBytes, weight.bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->allocatedVariance, weight.variance, memory_order_relaxed);
}

void lt_sampled_site_freed(uint32_t number, struct lt_sample_weight weight) {
  LT_CHECK(number < LT_SAMPLED_SITE_LIMIT && atomic_load(&sites[number].hash));
  LT_CHECK(weight.objects >= LT_WEIGHT_ONE);
  struct lt_sampled_site *site = &sites[number];
  atomic_fetch_add_explicit(&site->freedObjects, weight.objects, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->freedBytes, weight.bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->freedVariance, weight.variance, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->freedSamples, 1, memory_order_relaxed);
}

void lt_sampled_site_freed_not(uint32_t number, struct lt_sample_weight weight) {
  LT_CHECK(number < LT_SAMPLED_SITE_LIMIT && weight.objects >= LT_WEIGHT_ONE);
  struct lt_sampled_site *site = &sites[number];
  atomic_fetch_sub_explicit(&site->freedObjects, weight.objects, memory_order_relaxed);
  atomic_fetch_sub_explicit(&site->freedBytes, weight.bytes, memory_order_relaxed);
  atomic_fetch_sub_explicit(&site->freedVariance, weight.variance, memory_order_relaxed);
  atomic_fetch_sub_explicit(&site->freedSamples, 1, memory_order_relaxed);
}

const struct lt_sampled_site *lt_sampled_site_at(uint32_t number) {
  if (!sites || number >= LT_SAMPLED_SITE_LIMIT) return NULL;
  return atomic_load_explicit(&sites[number].isReady, memory_order_acquire) ? &sites[number] : NULL;
}

const uint64_t *lt_sampled_site_keys(const struct lt_sampled_site *site) {
  LT_CHECK(is_site(site) && atomic_load(&site->isReady));
  return keysOfAll + site->firstKey;
}

struct lt_sample_totals lt_sample_totals(void) {
  struct lt_sample_totals totals = {0};
  for (uint32_t i = 0; i < LT_SAMPLED_SITE_LIMIT; i++) {
    const struct lt_sampled_site *site = lt_sampled_site_at(i);
    if (!site) continue;
    totals.samples += site->samples;
    totals.allocatedObjects += site->allocatedObjects / LT_WEIGHT_ONE;
    totals.allocatedBytes += site->allocatedBytes;
    totals.freedObjects += site->freedObjects / LT_WEIGHT_ONE;
    totals.freedBytes += site->freedBytes;
    if (i == LT_SAMPLED_SITE_UNKNOWN) totals.unknownStacks = site->samples;
  }
  return totals;
}
