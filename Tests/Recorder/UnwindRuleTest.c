#include "unwind/unwind_step.h"

#include "RecorderTest.h"

#include <string.h>

TEST(old_generations, "A rule is found in the generation of images that it was made in, and in no later one") {
  EXPECT(lt_unwind_rules_init());
  uintptr_t address = (uintptr_t)__builtin_return_address(0);
  uint64_t rule = lt_rule_for(address, 1);
  // Simulate another image that was mapped at this address: the cache entry has the rule of that image.
  enum { OLD = LT_RULE_STEP | 12345ull << 32 };
  struct lt_cached_rule *entry = lt_rule_cache;
  while (entry->rule != rule || !entry->check) entry++;
  entry->check ^= entry->rule ^ OLD;
  entry->rule = OLD;
  struct lt_cached_rule old = *entry;
  EXPECT(lt_rule_for(address, 1) == OLD);
  for (uint32_t generation = 2; generation < 300000; generation++) {
    *entry = old;
    EXPECT(lt_rule_for(address, generation) == rule);
  }
}
