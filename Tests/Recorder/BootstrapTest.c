#include "hooks/hook.h"
#include "os/os.h"

#include "RecorderTest.h"

#include <errno.h>
#include <string.h>

// The hooks, by their names in a program that links them.
void *lt_hook_calloc(size_t count, size_t size);
void *lt_hook_malloc(size_t size);
void *lt_hook_pvalloc(size_t size);

TEST(overflowing_calloc,
     "Before the next allocator is known, calloc refuses a product that is more than a number can say") {
  EXPECT(!lt_next.malloc);
  errno = 0;
  EXPECT(!lt_hook_calloc(SIZE_MAX / 16 + 2, 16) && errno == ENOMEM);
  EXPECT(!lt_hook_calloc(SIZE_MAX, SIZE_MAX));
  EXPECT(!lt_hook_pvalloc(SIZE_MAX));
  EXPECT(lt_hook_calloc(0, SIZE_MAX));
}

TEST(large_request, "What does not fit into the first arena leaves it to those that do") {
  for (int i = 0; i < 100; i++) EXPECT(!lt_hook_malloc(LT_BOOTSTRAP_SIZE));
  char *small = lt_hook_malloc(100);
  EXPECT(small && lt_bootstrap_owns(small) && lt_bootstrap_size(small) == 100);
  memset(small, 1, 100);
}
