// Reads /proc/thread-self/maps. /proc/self/maps is the main thread's file, and that thread may have ended.

#include "profile/code_maps.h"

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"
#include "swift/own_memory.h"

#include <elf.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <string.h>

enum {
  TEXT_SIZE = 1 << 20,
  LINE_SIZE = PATH_MAX + 128,
  READ_SIZE = 4096,
};

static const char *read_number(const char *p, uint64_t *value) {
  *value = 0;
  for (;; p++) {
    unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0') : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10u : 16u;
    if (digit == 16) return p;
    *value = *value << 4 | digit;
  }
}

static const char *after_spaces(const char *p) {
  while (*p == ' ') p++;
  return p;
}

static const char *after_word(const char *p) {
  while (*p && *p != ' ') p++;
  return after_spaces(p);
}

// --- an image's header -----------------------------------------------------------------------------------------------

static void read_build_id(struct lt_code_map *map, uint64_t address, uint64_t size) {
  enum { NOTES_SIZE = 4096 };
  static uint8_t notes[NOTES_SIZE]; // one list is read at a time
  if (size > NOTES_SIZE || size < 16 || !lt_read_bytes(&lt_own_memory, address, notes, size)) return;
  for (uint64_t at = 0; at + 12 <= size;) {
    uint32_t head[3]; // bytes of the name and of the contents, kind
    memcpy(head, notes + at, sizeof head);
    uint64_t name = at + 12, contents = name + ((head[0] + 3ull) & ~3ull), next = contents + ((head[1] + 3ull) & ~3ull);
    if (next > size) return;
    if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
        head[1] <= LT_BUILD_ID_LIMIT) {
      LT_CHECK(contents + head[1] <= size);
      memcpy(map->buildID, notes + contents, head[1]);
      map->buildIDSize = head[1];
      return;
    }
    at = next;
  }
}

/// Finds the bias and the build ID in the mapped beginning of the file.
static void read_header(struct lt_code_map *map) {
  ElfW(Ehdr) header;
  if (!map->base || !lt_read_bytes(&lt_own_memory, map->base, &header, sizeof header) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
      header.e_phoff + (uint64_t)header.e_phnum * sizeof(ElfW(Phdr)) > 4096) {
    map->base = 0;
    return;
  }
  bool hasBias = false;
  for (int pass = 0; pass < 2; pass++) {
    for (unsigned i = 0; i < header.e_phnum; i++) {
      ElfW(Phdr) part;
      if (!lt_read_bytes(&lt_own_memory, map->base + header.e_phoff + i * sizeof part, &part, sizeof part)) return;
      if (pass == 0 && part.p_type == PT_LOAD && part.p_offset == 0 && !hasBias) {
        map->bias = map->base - part.p_vaddr;
        hasBias = true;
      }
      if (pass == 1 && part.p_type == PT_NOTE && !map->buildIDSize)
        read_build_id(map, map->bias + part.p_vaddr, part.p_filesz);
    }
    if (!hasBias) {
      map->base = 0;
      return;
    }
  }
}

// --- the list --------------------------------------------------------------------------------------------------------

struct reading {
  struct lt_code_maps *maps;
  const char *lastPath; ///< of the last line with a path, in the text
  uint64_t lastBase;
};

static void take_line(struct reading *reading, const char *line) {
  struct lt_code_maps *maps = reading->maps;
  uint64_t start, end, offset;
  const char *p = read_number(line, &start);
  if (*p != '-') return;
  p = read_number(p + 1, &end);
  const char *rights = after_spaces(p);
  if (strlen(rights) < 5) return;
  p = read_number(after_word(rights), &offset);
  const char *path = after_word(after_word(after_spaces(p)));
  if (*path != '/') return;
  if (!reading->lastPath || strcmp(reading->lastPath, path) != 0) {
    size_t size = strlen(path) + 1;
    if (size > TEXT_SIZE - maps->textSize) return;
    LT_CHECK(maps->textSize + size <= TEXT_SIZE);
    memcpy(maps->text + maps->textSize, path, size);
    reading->lastPath = maps->text + maps->textSize;
    reading->lastBase = 0;
    maps->textSize += size;
  }
  if (offset == 0 && rights[0] == 'r') reading->lastBase = start;
  if (rights[2] != 'x' || maps->count == LT_CODE_MAP_LIMIT) return;
  struct lt_code_map *map = &maps->maps[maps->count++];
  LT_CHECK(maps->count <= LT_CODE_MAP_LIMIT && reading->lastPath);
  *map = (struct lt_code_map){
      .start = start, .end = end, .offset = offset, .base = reading->lastBase, .path = reading->lastPath};
  read_header(map);
  LT_CHECK(map->buildIDSize <= LT_BUILD_ID_LIMIT);
  maps->hash = (maps->hash ^ start ^ end << 1) * LT_HASH_MULTIPLIER;
  for (const char *c = map->path; *c; c++) maps->hash = (maps->hash ^ (uint8_t)*c) * LT_HASH_MULTIPLIER;
  for (uint32_t i = 0; i < map->buildIDSize; i++) maps->hash = (maps->hash ^ map->buildID[i]) * LT_HASH_MULTIPLIER;
}

bool lt_code_maps_read(struct lt_code_maps *maps) {
  *maps = (struct lt_code_maps){.maps = lt_map_private(LT_CODE_MAP_LIMIT * sizeof *maps->maps),
                                .text = lt_map_private(TEXT_SIZE)};
  char *line = lt_map_private(LINE_SIZE), *read = lt_map_private(READ_SIZE);
  int file = maps->maps && maps->text && line && read ? lt_open("/proc/thread-self/maps", O_RDONLY, 0) : -1;
  struct reading reading = {.maps = maps};
  size_t length = 0;
  for (long n; file >= 0 && (n = lt_read(file, read, READ_SIZE)) > 0;) {
    for (long i = 0; i < n; i++) {
      if (read[i] != '\n') {
        if (length + 1 < LINE_SIZE) line[length++] = read[i];
        continue;
      }
      line[length] = 0;
      LT_CHECK(length < LINE_SIZE);
      take_line(&reading, line);
      length = 0;
    }
  }
  if (file >= 0) lt_close(file);
  if (line) lt_unmap(line, LINE_SIZE);
  if (read) lt_unmap(read, READ_SIZE);
  return file >= 0 && maps->count > 0;
}

void lt_code_maps_free(struct lt_code_maps *maps) {
  if (maps->maps) lt_unmap(maps->maps, LT_CODE_MAP_LIMIT * sizeof *maps->maps);
  if (maps->text) lt_unmap(maps->text, TEXT_SIZE);
}

const struct lt_code_map *lt_code_map_at(const struct lt_code_maps *maps, uint64_t address) {
  uint32_t low = 0, high = maps->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (maps->maps[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  return low < maps->count && maps->maps[low].start <= address ? &maps->maps[low] : NULL;
}
