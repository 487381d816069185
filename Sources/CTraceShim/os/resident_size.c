#include "os/resident_size.h"

#include "os/apart_task.h"
#include "os/os.h"

#include <fcntl.h>
#include <string.h>

static void read_size(void *result) {
  char text[128];
  int descriptor = lt_open("/proc/self/statm", O_RDONLY, 0);
  if (descriptor < 0) return;
  long n = lt_read(descriptor, text, sizeof text - 1);
  lt_close(descriptor);
  if (n <= 0) return;
  text[n] = 0;
  const char *p = strchr(text, ' ');
  uint64_t pages = 0;
  for (p = p ? p + 1 : text; *p >= '0' && *p <= '9'; p++) pages = pages * 10 + (uint64_t)(*p - '0');
  *(uint64_t *)result = pages * 4096;
}

uint64_t lt_resident_size(void) {
  uint64_t size = 0;
  lt_call_apart(read_size, &size);
  return size;
}
