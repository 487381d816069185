#include "FuzzInput.h"

#include "arch/arch.h"
#include "image/memory_map.h"
#include "swift/swift_runtime.h"
#include "type_name.h"

#include "RecorderTest.h"
#include "UnwindImage.h"

#include <sys/mman.h>

static void read_prologues(const uint8_t *bytes, size_t size) {
  uint8_t *code = malloc(size);
  memcpy(code, bytes, size);
  struct lt_unwind_row row;
  for (size_t end = 1; end <= size; end += size > 256 ? 7 : 1)
    for (size_t low = 0; low < end; low += 16) lt_prologue_row((uintptr_t)code + end, (uintptr_t)code + low, &row);
  free(code);
}

static void read_maps(const uint8_t *bytes, size_t size) {
  char *line = malloc(size);
  memcpy(line, bytes, size);
  struct lt_snapshot_region region;
  if (lt_memory_map_parse_line(line, size, &region)) EXPECT(region.end > region.start);
  free(line);
}

static void name_types(const uint8_t *bytes, size_t size) {
  static uint8_t *memory;
  if (!memory)
    memory = mmap((void *)FUZZ_METADATA_BASE, FUZZ_METADATA_SIZE, PROT_READ | PROT_WRITE,
                  MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED_NOREPLACE, -1, 0);
  EXPECT(memory != MAP_FAILED);
  if (size > FUZZ_METADATA_SIZE) size = FUZZ_METADATA_SIZE;
  memset(memory, 0, FUZZ_METADATA_SIZE);
  memcpy(memory, bytes, size);
  for (size_t at = 0; at + 8 <= size; at += 8) {
    uint64_t word;
    memcpy(&word, memory + at, 8);
    if (word >> 16 == FUZZ_ADDRESS_MARK >> 16) word = FUZZ_METADATA_BASE + (word & 0xFFFF);
    memcpy(memory + at, &word, 8);
  }
  char name[1024];
  size_t length = lt_type_name(&lt_own_memory, FUZZ_METADATA_BASE, name, sizeof name);
  EXPECT(length < sizeof name && name[length] == 0);
}

void recorder_fuzz_input(const uint8_t *bytes, size_t size) {
  if (size < 2) return;
  switch (bytes[0]) {
    case FUZZ_TABLES: unwind_image_try(bytes + 1, size - 1); break;
    case FUZZ_PROLOGUE: read_prologues(bytes + 1, size - 1); break;
    case FUZZ_MAPS: read_maps(bytes + 1, size - 1); break;
    case FUZZ_METADATA: name_types(bytes + 1, size - 1); break;
  }
}
