#include "os/resident_size.h"

#include "os/apart_task.h"
#include "os/os.h"

#include <fcntl.h>

static uint64_t take_pages(const char **p) {
  uint64_t pages = 0;
  while (**p == ' ') ++*p;
  for (; **p >= '0' && **p <= '9'; ++*p) pages = pages * 10 + (uint64_t)(**p - '0');
  return pages * 4096;
}

bool lt_read_resident_size(const char *path, uint64_t *resident, uint64_t *other) {
  char text[128];
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return false;
  long n = lt_read(descriptor, text, sizeof text - 1);
  lt_close(descriptor);
  if (n <= 0) return false;
  text[n] = 0;
  // All addresses, those that are there, and of these the ones of files and shared memory.
  const char *p = text;
  take_pages(&p);
  *resident = take_pages(&p);
  *other = take_pages(&p);
  return true;
}

static void read_size(void *result) {
  uint64_t other;
  lt_read_resident_size("/proc/self/statm", result, &other);
}

uint64_t lt_resident_size(void) {
  uint64_t size = 0;
  lt_call_apart(read_size, &size);
  return size;
}
