// Heap profiles: the parts that work without a recording.

#include "profile/function_names.h"

#include "RecorderTest.h"

#include <sys/mman.h>

TEST(maps_without_memory,
     "A list of mappings that got no memory is freed, and the program's lowest pages stay mapped") {
  enum { PAGE = 4096 };
  char *low =
      mmap((void *)0x20000, PAGE, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  if (low == MAP_FAILED) return; // the kernel or the sanitizer reserves these pages
  low[0] = 1;
  lt_code_maps_free(&(struct lt_code_maps){0});
  EXPECT(msync(low, PAGE, MS_ASYNC) == 0 && low[0] == 1);
}

static void use_own_allocator(void) {}

TEST(address_of_cut_stacks,
     "The address 0, with which a stack that was cut begins, has no function and takes no place") {
  uint64_t addresses[] = {0, 0};
  lt_function_names_init(use_own_allocator);
  lt_function_names_find(&(struct lt_code_maps){.hash = 1}, addresses, 2);
  EXPECT(lt_function_at(0) == LT_FUNCTION_NONE);
}
