#include "swift/own_memory.h"

#include "check.h"
#include "os/os.h"

#include <string.h>
#if __has_feature(address_sanitizer)
#include <sanitizer/asan_interface.h>
#endif

static bool read_own(const struct lt_memory *memory, uint64_t address, void *to, size_t size) {
  (void)memory;
  LT_CHECK(size > 0 && size <= 4096);
  // A probe reads eight bytes from an aligned address, which never cross the end of a page. No more than two pages are
  // read.
  uint64_t first = address & ~7ull, last = (address + size - 1) & ~7ull;
  if (!lt_is_readable(first) || (last != first && !lt_is_readable(last))) return false;
#if __has_feature(address_sanitizer)
  // The sanitizer's own memory is mapped, and its checks end a program that reads it.
  if (__asan_region_is_poisoned((void *)address, size)) return false;
#endif
  memcpy(to, (const void *)address, size);
  return true;
}

const struct lt_memory lt_own_memory = {.read = read_own, .allocate = lt_map_private, .release = lt_unmap};
