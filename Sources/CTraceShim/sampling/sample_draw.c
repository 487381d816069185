#include "sampling/sample_draw.h"

#include "check.h"

typedef unsigned __int128 wide;

/// A step of the generator. Source: Steele, Lea and Flood, Fast splittable pseudorandom number generators, 2014
/// (SplitMix64).
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
  // A number from 1 to 2, in units of 2^−63. Squared, it is above 2 if its logarithm is above one half. There is no
  // branch, since a processor could not predict it.
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
static uint64_t looks(uint64_t period) {
  enum { LOOK_DISTANCE = 64 << 10, LOOK_LIMIT = 8 };
  uint64_t count = period / LOOK_DISTANCE;
  LT_CHECK(period > 0);
  return count < 1 ? 1 : count > LOOK_LIMIT ? LOOK_LIMIT : count;
}

uint64_t lt_look_period(uint64_t period) { return period / looks(period); }

bool lt_sample_meets(uint64_t *random, uint64_t *until, uint64_t size, uint64_t period) {
  uint64_t count = looks(period), rest = size;
  LT_CHECK(*until > 0 && *random);
  while (*until <= rest) {
    rest -= *until;
    bool isSample = count == 1 || draw(random) % count == 0;
    *until = lt_sample_distance(random, period / count);
    if (isSample) return true; // the distance has no memory: it may as well begin at the block's end
  }
  LT_CHECK(*until > rest);
  *until -= rest;
  return false;
}

/// 1 − exp(−x), for x from 0 to 1, in units of 2^−64.
static uint64_t hit_within_period(uint64_t x) {
  // x − x²/2! + x³/3! − …; the terms become smaller from the first on.
  uint64_t sum = 0, term = x;
  for (uint64_t n = 1; term; n++) {
    sum = n % 2 ? sum + term : sum - term;
    term = (uint64_t)((wide)term * x >> 64) / (n + 1);
  }
  return sum;
}

/// The probability that one of `size` bytes is hit, in units of 2^−64; UINT64_MAX for 1.
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
