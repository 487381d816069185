#include "image/memory_account.h"

#include "check.h"
#include "os/number_text.h"
#include "os/os.h"
#include "os/resident_size.h"

#include <fcntl.h>
#include <string.h>

enum { TEXT_SIZE = 4096 };

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

/// The bytes of a line such as "AnonHugePages:  2048 kB"; 0 without the line.
static uint64_t bytes_of(const char *text, const char *name) {
  const char *line = strstr(text, name);
  if (!line || (line != text && line[-1] != '\n')) return 0;
  line += strlen(name);
  while (*line == ' ') line++;
  uint64_t kibibytes = 0;
  for (; *line >= '0' && *line <= '9'; line++) kibibytes = kibibytes * 10 + (uint64_t)(*line - '0');
  return kibibytes << 10;
}

static uint8_t *put_definition(uint8_t *to, uint8_t kind, const uint64_t *values, int count) {
  uint8_t payload[64], *p = payload;
  for (int i = 0; i < count; i++) p = lt_put_varint(p, values[i]);
  size_t size = (size_t)(p - payload);
  LT_CHECK(size <= sizeof payload);
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
  uint64_t resident, other;
  if (!lt_read_resident_size(path, &resident, &other) || !resident || other > resident) return 0;
  uint8_t *start = to;
  const uint64_t memory[] = {account->time, resident, account->recorderBytes, account->peakResident};
  to = put_definition(to, LT_DEF_MEMORY, memory, 4);
  // Read the copy's file: reading the process's own would delay its calls of mmap.
  read_text("/proc/self/smaps_rollup", text);
  const uint64_t residence[] = {account->time, resident - other, other,
                                bytes_of(text, "AnonHugePages:") + bytes_of(text, "Private_Hugetlb:"),
                                bytes_of(text, "Swap:")};
  if (*text) to = put_definition(to, LT_DEF_RESIDENCE, residence, 5);
  LT_CHECK(to - start <= LT_MEMORY_ACCOUNT_SIZE);
  return (size_t)(to - start);
}
