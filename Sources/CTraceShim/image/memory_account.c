#include "image/memory_account.h"

#include "os/number_text.h"
#include "os/os.h"

#include <fcntl.h>
#include <string.h>

enum { PAGE = 4096, TEXT_SIZE = 4096 };

/// Reads a file of /proc; "" if it cannot be read.
static void read_text(const char *path, char text[TEXT_SIZE]) {
  text[0] = 0;
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return;
  size_t size = 0;
  long n;
  while (size < TEXT_SIZE - 1 && (n = lt_read(descriptor, text + size, TEXT_SIZE - 1 - size)) > 0) size += (size_t)n;
  text[size] = 0;
  lt_close(descriptor);
}

static uint64_t take_number(const char **p) {
  uint64_t value = 0;
  while (**p == ' ') ++*p;
  for (; **p >= '0' && **p <= '9'; ++*p) value = value * 10 + (uint64_t)(**p - '0');
  return value;
}

/// The bytes of a line such as "AnonHugePages:  2048 kB"; 0 without the line.
static uint64_t bytes_of(const char *text, const char *name) {
  const char *line = strstr(text, name);
  if (!line || (line != text && line[-1] != '\n')) return 0;
  line += strlen(name);
  return take_number(&line) << 10;
}

static uint8_t *put_definition(uint8_t *to, uint8_t kind, const uint64_t *values, int count) {
  uint8_t payload[64], *p = payload;
  for (int i = 0; i < count; i++) p = lt_put_varint(p, values[i]);
  size_t size = (size_t)(p - payload);
  *to++ = kind;
  to = lt_put_varint(to, size);
  memcpy(to, payload, size);
  return to + size;
}

size_t lt_memory_account_put(const struct lt_memory_account *account, uint8_t *to) {
  char path[64], text[TEXT_SIZE], *end = path;
  memcpy(path, "/proc/", 6);
  end = lt_put_decimal(path + 6, (uint64_t)account->process);
  memcpy(end, "/statm", sizeof "/statm");
  read_text(path, text);
  // Pages: all addresses, those that are there, and of these the ones of files and shared memory.
  const char *p = text;
  take_number(&p);
  uint64_t resident = take_number(&p) * PAGE, other = take_number(&p) * PAGE;
  if (!resident || other > resident) return 0;
  uint8_t *start = to;
  const uint64_t memory[] = {account->time, resident, account->recorderBytes, account->peakResident};
  to = put_definition(to, LT_DEF_MEMORY, memory, 4);
  // Of the copy: a look at the process's own would hold up its calls of mmap.
  read_text("/proc/self/smaps_rollup", text);
  const uint64_t residence[] = {account->time, resident - other, other,
                                bytes_of(text, "AnonHugePages:") + bytes_of(text, "Private_Hugetlb:"),
                                bytes_of(text, "Swap:")};
  if (*text) to = put_definition(to, LT_DEF_RESIDENCE, residence, 5);
  return (size_t)(to - start);
}
