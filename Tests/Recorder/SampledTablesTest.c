#include "sampling/live_blocks.h"
#include "sampling/sampler.h"

#include "RecorderTest.h"

#include <pthread.h>

TEST(sampled_blocks, "A sampled block is found until it is freed, and its mark goes with it") {
  EXPECT(lt_is_marked((void *)0x1000)); // before sampling, all blocks are marked
  EXPECT(lt_sampled_blocks_begin());
  lt_sampled_marks_use();
  struct lt_sampled_block block = {.size = 10, .time = 1, .site = 3}, found;
  EXPECT(!lt_is_marked((void *)0x7f0000001010) && !lt_sampled_blocks_find(0x7f0000001010, &found));
  EXPECT(lt_sampled_blocks_add(0x7f0000001010, &block) && lt_is_marked((void *)0x7f0000001010));
  EXPECT(lt_sampled_blocks_find(0x7f0000001010, &found) && found.size == 10 && found.site == 3);
  // This is another block with the same mark.
  uintptr_t other = 0x7f0000001010 + ((uintptr_t)LT_SAMPLED_MARK_COUNT << 4);
  EXPECT(lt_is_marked((void *)other) && !lt_sampled_blocks_remove(other, &found));
  EXPECT(lt_sampled_blocks_add(other, &block) && lt_sampled_blocks_remove(0x7f0000001010, &found));
  EXPECT(lt_is_marked((void *)other) && lt_sampled_blocks_remove(other, &found) && !lt_is_marked((void *)other));
}

TEST(held_marks, "While marks are held every free is looked at, and those that are added stay when they are released") {
  EXPECT(lt_sampled_blocks_begin());
  lt_sampled_marks_hold();
  lt_sampled_marks_use();
  lt_sampled_marks_add(0x7f0000001010);
  for (uintptr_t i = 0; i < LT_SAMPLED_MARK_COUNT; i++) EXPECT(lt_is_marked((void *)(i << 4)));
  lt_sampled_marks_release();
  for (uintptr_t i = 0; i < LT_SAMPLED_MARK_COUNT; i++)
    EXPECT(lt_is_marked((void *)(i << 4)) == ((0x7f0000001010 >> 4 & (LT_SAMPLED_MARK_COUNT - 1)) == i));
  struct lt_sampled_block block = {.size = 10}, found;
  EXPECT(lt_sampled_blocks_add(0x1000, &block) && lt_is_marked((void *)0x1000));
  EXPECT(lt_sampled_blocks_remove(0x1000, &found) && !lt_is_marked((void *)0x1000));
}

TEST(full_blocks, "Blocks beyond the table's room are left out, and room comes back with frees") {
  enum { COUNT = 1 << 17 };
  EXPECT(lt_sampled_blocks_begin());
  lt_sampled_marks_use();
  struct lt_sampled_block block = {.size = 1}, found;
  int added = 0, removed = 0;
  for (int round = 0; round < 3; round++) {
    added = removed = 0;
    for (uintptr_t i = 1; i <= COUNT; i++) added += lt_sampled_blocks_add(i << 12, &block);
    for (uintptr_t i = 1; i <= COUNT; i++) removed += lt_sampled_blocks_remove(i << 12, &found);
    EXPECT(added == removed && added > 1 << 15 && added <= 1 << 16);
  }
}

static void *add_and_remove(void *first) {
  struct lt_sampled_block block = {.size = (uintptr_t)first}, found;
  for (uintptr_t i = 0; i < 20000; i++) {
    uintptr_t address = (uintptr_t)first + (i % 64 << 8);
    if (!lt_sampled_blocks_add(address, &block)) continue;
    EXPECT(lt_is_marked((void *)address));
    EXPECT(lt_sampled_blocks_remove(address, &found) && found.size == (uintptr_t)first);
  }
  return NULL;
}

TEST(threads_of_blocks, "Threads that sample at once do not see each other's blocks") {
  EXPECT(lt_sampled_blocks_begin());
  lt_sampled_marks_use();
  pthread_t threads[4];
  for (uintptr_t i = 0; i < 4; i++)
    EXPECT(pthread_create(&threads[i], NULL, add_and_remove, (void *)((i + 1) << 4)) == 0);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
}

TEST(sampled_sites, "A stack is one site, whoever samples it, and sums are those of its samples") {
  EXPECT(lt_sampled_sites_begin());
  const uint64_t first[] = {1, 2, 3}, second[] = {1, 2, 4};
  uint32_t site = lt_sampled_site_for(first, 3);
  EXPECT(site != LT_SAMPLED_SITE_UNKNOWN && lt_sampled_site_for(first, 3) == site);
  EXPECT(lt_sampled_site_for(second, 3) != site && lt_sampled_site_for(first, 2) != site);
  lt_sampled_site_allocated(site, (struct lt_sample_weight){.objects = 3 * LT_WEIGHT_ONE, .bytes = 48, .variance = 7});
  lt_sampled_site_freed(site, (struct lt_sample_weight){.objects = LT_WEIGHT_ONE, .bytes = 16, .variance = 2});
  struct lt_sample_totals totals = lt_sample_totals();
  EXPECT(totals.samples == 1 && totals.allocatedObjects == 3 && totals.allocatedBytes == 48);
  EXPECT(totals.freedObjects == 1 && totals.freedBytes == 16 && totals.unknownStacks == 0);
  const struct lt_sampled_site *known = lt_sampled_site_at(site);
  EXPECT(known->allocatedVariance == 7 && known->freedVariance == 2 && known->freedSamples == 1);
  EXPECT(lt_sampled_site_at(site)->keyCount == 3 && lt_sampled_site_keys(lt_sampled_site_at(site))[2] == 3);
}

TEST(full_sites, "Stacks beyond the room for sites are samples of an unknown place") {
  EXPECT(lt_sampled_sites_begin());
  uint64_t keys[256];
  for (int i = 0; i < 256; i++) keys[i] = (uint64_t)i;
  uint32_t known = 0;
  for (uint64_t n = 0; n < 3 * LT_SAMPLED_SITE_LIMIT; n++) {
    keys[0] = n;
    known += lt_sampled_site_for(keys, 256) != LT_SAMPLED_SITE_UNKNOWN;
  }
  // 1,048,576 keys have room for 4,096 such stacks.
  EXPECT(known == LT_SAMPLED_KEY_LIMIT / 256);
}
