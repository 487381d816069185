#include "sampling/sampler.h"

#include "RecorderTest.h"

/// Compares squares, because no mathematical library is linked.
static bool is_within(double value, double truth, double deviations, double variance) {
  double difference = value - truth;
  return difference * difference <= deviations * deviations * variance;
}

TEST(mean_distance,
     "From one sample to the next it is the period on average, and as far as an exponential distribution has it") {
  const uint64_t periods[] = {1, 2, 100, 512 << 10, LT_SAMPLE_PERIOD_LIMIT};
  enum { COUNT = 400000 };
  for (size_t i = 0; i < sizeof periods / sizeof *periods; i++) {
    double period = (double)periods[i], sum = 0, far = 0;
    uint64_t random = 7 + i;
    for (int n = 0; n < COUNT; n++) {
      uint64_t distance = lt_sample_distance(&random, periods[i]);
      EXPECT(distance >= 1);
      sum += (double)distance;
      far += distance > periods[i];
    }
    // A distance is a whole number of bytes. The mean of such distances is 1 / (1 − exp(−1 / period)).
    double mean = periods[i] == 1 ? 1.5819767 : periods[i] == 2 ? 2.5414941 : period + 0.5;
    EXPECT(is_within(sum / COUNT, mean, 5, period * period / COUNT));
    EXPECT(is_within(far / COUNT, 0.36787944, 5, 0.37 * 0.63 / COUNT));
  }
}

TEST(known_weights, "A sample stands for 1 / (1 − exp(−size / period)) allocations of its size") {
  EXPECT(lt_sample_weight(1000, 1000).objects == 103676); // 1.5819767 in units of 1 / 65,536
  EXPECT(lt_sample_weight(1000, 1000).bytes == 1581);
  EXPECT(lt_sample_weight(2000, 1000).objects == 75793); // 1.1565176
  EXPECT(lt_sample_weight(500, 1000).objects == 166559); // 2.5414941
  EXPECT(lt_sample_weight(1 << 30, 1000).objects == LT_WEIGHT_ONE);
  EXPECT(lt_sample_weight(1 << 30, 1000).bytes == 1 << 30);
  // The variance is (1 − p) / p² times the square of the size, in units of the square of the period / 65,536. So it is
  // 0.36787944 × 1.5819767² × 65,536.
  uint64_t one = lt_sample_weight(1000, 1000).variance, none = lt_sample_weight(1 << 30, 1000).variance;
  EXPECT(one >= 60240 && one <= 60360 && none == 0);
  uint64_t small = lt_sample_weight(1, LT_SAMPLE_PERIOD_LIMIT).variance;
  EXPECT(small >= 65530 && small <= 65536);
  // For one byte, sampled once in 2^40: 2^40 + 1/2, within the precision of the type.
  uint64_t rare = lt_sample_weight(1, LT_SAMPLE_PERIOD_LIMIT).objects;
  EXPECT(rare >> 16 == LT_SAMPLE_PERIOD_LIMIT || rare >> 16 == LT_SAMPLE_PERIOD_LIMIT + 1);
}

/// Estimates for a program's allocations, calculated from the weights of their samples.
struct estimate {
  double bytes, objects, variance; ///< `variance` is the variance of `bytes`, estimated from the samples
};

enum { ALLOCATIONS = 40000 };

static uint64_t size_of(int n, uint64_t period) {
  // Most sizes are small, some are an eighth of a period, and few are larger than a period.
  uint64_t size = n % 1000 == 0 ? 200000 : n % 50 == 0 ? 8000 : 16 + (uint64_t)(n % 17) * 16;
  return size * (period >> 16);
}

static struct estimate allocate(uint64_t seed, uint64_t period) {
  struct estimate estimate = {0};
  uint64_t random = seed, until = lt_sample_distance(&random, lt_sampling_check_period(period));
  for (int n = 0; n < ALLOCATIONS; n++) {
    uint64_t size = size_of(n, period);
    if (!lt_sample_meets(&random, &until, size, period)) continue;
    struct lt_sample_weight weight = lt_sample_weight(size, period);
    double w = (double)weight.objects / LT_WEIGHT_ONE;
    estimate.objects += w;
    estimate.bytes += (double)weight.bytes;
    // This is the Horvitz-Thompson estimator: the sum of (1 − p) / p² times the squares.
    estimate.variance += (w * w - w) * (double)size * (double)size;
  }
  return estimate;
}

static void test_sums(uint64_t period) {
  double bytes = 0, objects = ALLOCATIONS;
  for (int n = 0; n < ALLOCATIONS; n++) bytes += (double)size_of(n, period);
  enum { RUNS = 400 };
  double byteSum = 0, objectSum = 0, objectSquares = 0, variances = 0;
  int covered = 0;
  for (int run = 0; run < RUNS; run++) {
    struct estimate e = allocate(1000003ull * (uint64_t)run + 1, period);
    byteSum += e.bytes;
    objectSum += e.objects;
    objectSquares += e.objects * e.objects;
    variances += e.variance;
    covered += is_within(e.bytes, bytes, 1.96, e.variance);
  }
  EXPECT(is_within(byteSum / RUNS, bytes, 4, variances / RUNS / RUNS));
  double objectMean = objectSum / RUNS, objectVariance = objectSquares / RUNS - objectMean * objectMean;
  EXPECT(is_within(objectMean, objects, 4, objectVariance / RUNS));
  // 95 in 100 intervals contain the true value: of 400, 380 ± 4 × 4.4.
  EXPECT(covered >= 362 && covered <= 398);
}

TEST(unbiased_sums, "Sums of weights are right on average, and as far from the truth as their variance says") {
  test_sums(64 << 10);
}

TEST(thinned_sums, "So are they where a thread looks more often than it takes a sample") {
  EXPECT(lt_sampling_check_period(64 << 10) == 64 << 10 && lt_sampling_check_period(4 << 10) == 4 << 10);
  EXPECT(lt_sampling_check_period(128 << 10) == 64 << 10 && lt_sampling_check_period(512 << 10) == 64 << 10);
  EXPECT(lt_sampling_check_period(LT_SAMPLE_PERIOD_LIMIT) == LT_SAMPLE_PERIOD_LIMIT / 8);
  test_sums(128 << 10);
  test_sums(512 << 10);
}
