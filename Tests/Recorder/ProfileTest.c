// Heap profiles: the parts that run without a recording.

#include "profile/code_maps.h"

#include "RecorderTest.h"

#include <sys/mman.h>

TEST(maps_without_memory,
     "A list of mappings that got no memory is freed, and the program's lowest pages stay mapped") {
  enum { PAGE = 4096 };
  char *low =
      mmap((void *)0x20000, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (low == MAP_FAILED) return; // the kernel, or the sanitizer, keeps these pages
  low[0] = 1;
  lt_code_maps_free(&(struct lt_code_maps){0});
  EXPECT(msync(low, PAGE, MS_ASYNC) == 0 && low[0] == 1);
}
