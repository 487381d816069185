// Samples allocations: decides which ones, captures their stacks, and keeps estimates for each site.

#include "sampling/sampler.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"
#include "unwind/stack_capture.h"

#include <string.h>

// --- state -----------------------------------------------------------------------------------------------------------

_Atomic bool lt_is_sampling;

// --- draws -----------------------------------------------------------------------------------------------------------

typedef unsigned __int128 wide;

/// Draws a random number from the generator SplitMix64. Source: Steele, Lea and Flood, Fast splittable pseudorandom
/// number generators, 2014.
static uint64_t draw(uint64_t *random) {
  uint64_t z = *random += 0x9E3779B97F4A7C15ull;
  z = (z ^ z >> 30) * 0xBF58476D1CE4E5B9ull;
  z = (z ^ z >> 27) * 0x94D049BB133111EBull;
  return z ^ z >> 31;
}

/// −log2(x / 2^64) for x > 0, in units of 2^−32, rounded up.
static uint64_t negative_logarithm(uint64_t x) {
  LT_CHECK(x > 0);
  int zeros = __builtin_clzll(x);
  // `m` is a number from 1 to 2, in units of 2^−63. If its square is at least 2, the next bit of its logarithm is 1.
  // The loop has no branch on that bit, since a processor could not predict it.
  uint64_t m = x << zeros, logarithm = 0;
  for (int bit = 31; bit >= 0; bit--) {
    wide square = (wide)m * m;
    uint64_t above = (uint64_t)(square >> 127);
    LT_CHECK(above <= 1 && m >> 63);
    logarithm = logarithm << 1 | above;
    m = (uint64_t)(square >> (63 + above));
  }
  return ((uint64_t)(zeros + 1) << 32) - logarithm;
}

uint64_t lt_sample_distance(uint64_t *random, uint64_t period) {
  const uint64_t naturalLogarithmOf2 = 0xB17217F8ull; // in units of 2^−32
  LT_CHECK(period > 0 && period <= LT_SAMPLE_PERIOD_LIMIT);
  uint64_t x;
  do x = draw(random);
  while (!x);
  wide logarithm = (wide)negative_logarithm(x) * naturalLogarithmOf2 >> 32; // to the base e
  return (uint64_t)(logarithm * period >> 32) + 1;
}

/// The number of sampling checks per sample: enough for a check every 64 KiB or so, at most 8.
static uint64_t checks_per_sample(uint64_t period) {
  enum { CHECK_DISTANCE = 64 << 10, CHECK_LIMIT = 8 };
  uint64_t count = period / CHECK_DISTANCE;
  LT_CHECK(period > 0);
  return count < 1 ? 1 : count > CHECK_LIMIT ? CHECK_LIMIT : count;
}

uint64_t lt_sampling_check_period(uint64_t period) { return period / checks_per_sample(period); }

bool lt_sample_meets(uint64_t *random, uint64_t *until, uint64_t size, uint64_t period) {
  uint64_t count = checks_per_sample(period), rest = size;
  LT_CHECK(*until > 0 && *random);
  while (*until <= rest) {
    rest -= *until;
    bool isSample = count == 1 || draw(random) % count == 0;
    *until = lt_sample_distance(random, period / count);
    if (isSample) return true; // distances are memoryless: the next may begin at the block's end
  }
  LT_CHECK(*until > rest);
  *until -= rest;
  return false;
}

/// 1 − exp(−x), for x from 0 to 1, in units of 2^−64.
static uint64_t hit_within_period(uint64_t x) {
  // x − x²/2! + x³/3! − …; each term is smaller than the one before.
  uint64_t sum = 0, term = x;
  for (uint64_t n = 1; term; n++) {
    sum = n % 2 ? sum + term : sum - term;
    term = (uint64_t)((wide)term * x >> 64) / (n + 1);
  }
  return sum;
}

/// The probability that at least one of `size` bytes is hit, in units of 2^−64; UINT64_MAX for certainty.
static uint64_t hit_probability(uint64_t size, uint64_t period) {
  const uint64_t inverseOfE = 0x5E2D58D8B3BCDF1Aull; // in units of 2^−64
  enum { CERTAIN_PERIODS = 44 };                     // exp(−44) is less than 2^−63
  uint64_t whole = size / period, rest = size % period;
  LT_CHECK(period > 0 && rest < period);
  if (whole >= CERTAIN_PERIODS) return UINT64_MAX;
  uint64_t missed = ~hit_within_period((uint64_t)(((wide)rest << 64) / period));
  if (!whole) return ~missed;
  for (; whole; whole--) missed = (uint64_t)((wide)missed * inverseOfE >> 64);
  return ~missed;
}

struct lt_sample_weight lt_sample_weight(uint64_t size, uint64_t period) {
  LT_CHECK(size > 0 && period > 0);
  uint64_t hit = hit_probability(size, period);
  if (!hit) hit = 1;
  wide objects = ((wide)LT_WEIGHT_ONE << 64) / hit;
  uint64_t bytes = (uint64_t)(objects * size / LT_WEIGHT_ONE), missed = ~hit >> 32;
  LT_CHECK(objects >= LT_WEIGHT_ONE && bytes >= size);
  // If `missed` is not 0, `bytes` is less than 45 periods, and the square cannot overflow.
  wide periods = missed ? ((wide)bytes << 16) / period : 0;
  uint64_t variance = (uint64_t)(periods * periods * missed >> 48);
  return (struct lt_sample_weight){.objects = (uint64_t)objects, .bytes = bytes, .variance = variance};
}

// --- sites -----------------------------------------------------------------------------------------------------------

enum { PROBE_LIMIT = 64 };

static struct {
  struct lt_sampled_site *sites;
  uint64_t *keys;            ///< of all sites
  _Atomic uint32_t keysUsed; ///< at most LT_SAMPLED_KEY_LIMIT; grows only
} siteTable;

bool lt_sampled_sites_begin(void) {
  if (!siteTable.sites) siteTable.sites = lt_map_private(LT_SAMPLED_SITE_LIMIT * sizeof *siteTable.sites);
  if (!siteTable.keys) siteTable.keys = lt_map_private(LT_SAMPLED_KEY_LIMIT * sizeof *siteTable.keys);
  if (!siteTable.sites || !siteTable.keys) return false;
  atomic_store(&siteTable.sites[LT_SAMPLED_SITE_UNKNOWN].hash, 1);
  atomic_store(&siteTable.sites[LT_SAMPLED_SITE_UNKNOWN].isReady, 1);
  return true;
}

/// True if the site is in the table and its keys are in the array of keys.
LT_INVARIANT bool is_site(const struct lt_sampled_site *site) {
  return site >= siteTable.sites && site < siteTable.sites + LT_SAMPLED_SITE_LIMIT &&
         site->firstKey <= LT_SAMPLED_KEY_LIMIT && site->keyCount <= LT_SAMPLED_KEY_LIMIT - site->firstKey;
}

void lt_sampled_sites_reset(void) {
  struct lt_sampled_site *sites = siteTable.sites;
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

/// Stacks with equal hashes count as the same stack. Among 16,384 stacks, two different ones have the same hash by
/// chance in one of 10^11 recordings.
static uint64_t hash_of(const uint64_t *keys, uint32_t count) {
  uint64_t hash = count;
  for (uint32_t i = 0; i < count; i++) {
    hash = (hash ^ keys[i]) * LT_HASH_MULTIPLIER;
    hash ^= hash >> 29;
  }
  return hash > 1 ? hash : 2;
}

/// Takes room for `count` keys, and returns the index of the first. UINT32_MAX if there is no room.
static uint32_t take_keys(uint32_t count) {
  uint32_t used = atomic_load(&siteTable.keysUsed);
  LT_CHECK(used <= LT_SAMPLED_KEY_LIMIT);
  do
    if (count > LT_SAMPLED_KEY_LIMIT - used) return UINT32_MAX;
  while (!atomic_compare_exchange_weak(&siteTable.keysUsed, &used, used + count));
  return used;
}

bool lt_sampled_sites_have_spare_room(void) {
  enum { SHARE_OF_FIRST = 4 };
  return atomic_load_explicit(&siteTable.keysUsed, memory_order_relaxed) < LT_SAMPLED_KEY_LIMIT / SHARE_OF_FIRST;
}

uint32_t lt_sampled_site_for(const uint64_t *keys, uint32_t count) {
  uint64_t hash = hash_of(keys, count);
  LT_CHECK(siteTable.sites && siteTable.keys && hash > 1);
  for (uint32_t i = 0; i < PROBE_LIMIT; i++) {
    uint32_t number = (uint32_t)((hash >> 40) + i) % LT_SAMPLED_SITE_LIMIT;
    if (number == LT_SAMPLED_SITE_UNKNOWN) continue;
    struct lt_sampled_site *site = &siteTable.sites[number];
    uint64_t known = atomic_load_explicit(&site->hash, memory_order_acquire);
    if (known == hash) return number;
    if (known) continue;
    // Check the room before a place is taken, since a place is never given back.
    if (LT_SAMPLED_KEY_LIMIT - atomic_load(&siteTable.keysUsed) < count) return LT_SAMPLED_SITE_UNKNOWN;
    if (!atomic_compare_exchange_strong(&site->hash, &known, hash)) {
      if (known == hash) return number;
      continue;
    }
    uint32_t first = take_keys(count);
    LT_CHECK(!atomic_load(&site->isReady) && site->keyCount == 0);
    if (first == UINT32_MAX) count = first = 0; // other threads took the last room: make a site without frames
    LT_CHECK(first + count <= LT_SAMPLED_KEY_LIMIT);
    memcpy(siteTable.keys + first, keys, count * sizeof *keys);
    site->firstKey = first;
    site->keyCount = count;
    // Release: pairs with the acquire in lt_sampled_site_at.
    atomic_store_explicit(&site->isReady, 1, memory_order_release);
    return number;
  }
  return LT_SAMPLED_SITE_UNKNOWN;
}

void lt_sampled_site_allocated(uint32_t number, struct lt_sample_weight weight) {
  LT_CHECK(number < LT_SAMPLED_SITE_LIMIT && atomic_load(&siteTable.sites[number].hash));
  LT_CHECK(weight.objects >= LT_WEIGHT_ONE);
  struct lt_sampled_site *site = &siteTable.sites[number];
  // Relaxed: sums. A reader may see some of them without the others.
  atomic_fetch_add_explicit(&site->samples, 1, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->allocatedObjects, weight.objects, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->allocatedBytes, weight.bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->allocatedVariance, weight.variance, memory_order_relaxed);
}

void lt_sampled_site_freed(uint32_t number, struct lt_sample_weight weight) {
  LT_CHECK(number < LT_SAMPLED_SITE_LIMIT && atomic_load(&siteTable.sites[number].hash));
  LT_CHECK(weight.objects >= LT_WEIGHT_ONE);
  struct lt_sampled_site *site = &siteTable.sites[number];
  atomic_fetch_add_explicit(&site->freedObjects, weight.objects, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->freedBytes, weight.bytes, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->freedVariance, weight.variance, memory_order_relaxed);
  atomic_fetch_add_explicit(&site->freedSamples, 1, memory_order_relaxed);
}

void lt_sampled_site_undo_free(uint32_t number, struct lt_sample_weight weight) {
  LT_CHECK(number < LT_SAMPLED_SITE_LIMIT && weight.objects >= LT_WEIGHT_ONE);
  struct lt_sampled_site *site = &siteTable.sites[number];
  atomic_fetch_sub_explicit(&site->freedObjects, weight.objects, memory_order_relaxed);
  atomic_fetch_sub_explicit(&site->freedBytes, weight.bytes, memory_order_relaxed);
  atomic_fetch_sub_explicit(&site->freedVariance, weight.variance, memory_order_relaxed);
  atomic_fetch_sub_explicit(&site->freedSamples, 1, memory_order_relaxed);
}

const struct lt_sampled_site *lt_sampled_site_at(uint32_t number) {
  if (!siteTable.sites || number >= LT_SAMPLED_SITE_LIMIT) return NULL;
  return atomic_load_explicit(&siteTable.sites[number].isReady, memory_order_acquire) ? &siteTable.sites[number] : NULL;
}

const uint64_t *lt_sampled_site_keys(const struct lt_sampled_site *site) {
  LT_CHECK(is_site(site) && atomic_load(&site->isReady));
  return siteTable.keys + site->firstKey;
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

// --- stacks ----------------------------------------------------------------------------------------------------------

/// Threads that can capture at the same time; each capture takes some microseconds.
enum { CAPTURE_LIMIT = 32 };

static struct capture {
  _Atomic uint32_t isTaken;          ///< held by the thread that captures. The exchange pairs with the release of 0
  _Atomic(struct lt_thread *) state; ///< NULL until it is first needed
} captures[CAPTURE_LIMIT];

static struct lt_thread *make_state(void) {
  struct lt_thread *t = lt_map_wiped_on_fork(sizeof *t);
  if (!t) return NULL;
  LT_CHECK(t->number == 0 && !t->slot);
  if (lt_stack_room_make(t, lt_stack_depth_limit())) return t;
  lt_unmap(t, sizeof *t);
  return NULL;
}

static struct capture *take(void) {
  for (uint32_t i = 0; i < CAPTURE_LIMIT; i++) {
    uint32_t no = 0;
    if (atomic_load_explicit(&captures[i].isTaken, memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&captures[i].isTaken, &no, 1))
      continue;
    if (atomic_load_explicit(&captures[i].state, memory_order_relaxed)) return &captures[i];
    struct lt_thread *made = make_state();
    atomic_store(&captures[i].state, made);
    if (made) return &captures[i];
    atomic_store(&captures[i].isTaken, 0);
    return NULL;
  }
  return NULL;
}

uint32_t lt_sampled_stack_site(struct lt_hook_frame frame) {
  struct capture *capture = take();
  if (!capture) return LT_SAMPLED_SITE_UNKNOWN;
  struct lt_thread *t = atomic_load_explicit(&capture->state, memory_order_relaxed);
  LT_CHECK(atomic_load(&capture->isTaken) == 1 && !t->slot && lt_stack_room_is_valid(t));
  // Reset all state of the previous stack, which was another thread's.
  lt_stack_capture_renew(t);
  t->depth = t->recordedDepth = 0;
  t->asyncDepth = t->recordedAsync = t->endsInTask = 0;
  t->task = 0;
  t->mappedLow = t->mappedHigh = 0;
  lt_stack_memory_begin(t, (uintptr_t)frame.record);
  struct lt_stack_change change = {0};
  lt_capture_slowly(t, frame, lt_walk_changed(t, frame, t->freshLimit), &change);
  LT_CHECK(change.pops == 0 && change.pushes == t->recordedDepth);
  uint32_t site = lt_sampled_site_for(change.keys, change.pushes);
  atomic_store_explicit(&capture->isTaken, 0, memory_order_release);
  return site;
}

void lt_sampled_stacks_reset_after_fork(void) {
  for (uint32_t i = 0; i < CAPTURE_LIMIT; i++) {
    // Fork has wiped the states. New states are made when they are needed.
    atomic_store(&captures[i].state, NULL);
    atomic_store(&captures[i].isTaken, 0);
  }
}
