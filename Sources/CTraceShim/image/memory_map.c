// The mappings of the process. Calls nothing that allocates.

#include "image/memory_map.h"

#include "check.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

enum { REGION_LIMIT = 1 << 20, READ_SIZE = 64 << 10 };

/// True if the regions are in order of address and none overlap.
LT_INVARIANT bool is_in_order(const struct lt_memory_map *map) {
  for (uint32_t i = 0; i < map->count; i++)
    if (map->regions[i].start >= map->regions[i].end || (i && map->regions[i].start < map->regions[i - 1].end))
      return false;
  return map->count <= map->limit;
}

LT_INVARIANT bool are_ranges_sorted(const struct lt_own_range *ranges, uint32_t count) {
  for (uint32_t i = 1; i < count; i++)
    if (ranges[i - 1].start > ranges[i].start) return false;
  return true;
}

static bool parse_hexadecimal(const char **p, const char *end, uint64_t *value) {
  const char *start = *p;
  uint64_t v = 0;
  for (; *p < end; (*p)++) {
    char c = **p;
    unsigned digit = c >= '0' && c <= '9' ? (unsigned)(c - '0') : c >= 'a' && c <= 'f' ? (unsigned)(c - 'a' + 10) : 16;
    if (digit == 16) break;
    v = v << 4 | digit;
  }
  *value = v;
  return *p > start && *p - start <= 16;
}

static bool begins(const char *text, const char *end, const char *prefix) {
  size_t n = strlen(prefix);
  return (size_t)(end - text) >= n && memcmp(text, prefix, n) == 0;
}

bool lt_memory_map_parse_line(const char *line, size_t length, struct lt_snapshot_region *region) {
  // start-end permissions offset major:minor inode path
  const char *p = line, *end = line + length;
  uint64_t ignored;
  memset(region, 0, sizeof *region);
  if (!parse_hexadecimal(&p, end, &region->start) || p == end || *p++ != '-') return false;
  if (!parse_hexadecimal(&p, end, &region->end) || region->end <= region->start) return false;
  if (end - p < 6 || p[0] != ' ' || p[5] != ' ') return false;
  const char *permissions = p + 1;
  p += 6;
  if (!parse_hexadecimal(&p, end, &ignored) || p == end || *p++ != ' ') return false;
  if (!parse_hexadecimal(&p, end, &ignored) || p == end || *p++ != ':') return false;
  if (!parse_hexadecimal(&p, end, &ignored) || p == end || *p++ != ' ') return false;
  const char *inode = p;
  while (p < end && *p >= '0' && *p <= '9') p++;
  if (p == inode) return false;
  bool hasFile = !(p - inode == 1 && *inode == '0');
  while (p < end && *p == ' ') p++;
  if (permissions[0] == 'r') region->flags |= LT_REGION_READABLE;
  if (permissions[1] == 'w') region->flags |= LT_REGION_WRITABLE;
  if (permissions[2] == 'x') region->flags |= LT_REGION_EXECUTABLE;
  bool isReadable = permissions[0] == 'r', isWritable = permissions[1] == 'w';
  if (permissions[3] == 's') {
    region->kind = LT_REGION_SHARED;
    // Anonymous memory that mmap has shared with children.
    if (isReadable && begins(p, end, "/dev/zero (deleted)")) region->flags |= LT_REGION_CAPTURED;
    return true;
  }
  region->kind = begins(p, end, "[heap]")    ? LT_REGION_BREAK
                 : begins(p, end, "[stack]") ? LT_REGION_MAIN_STACK
                 : hasFile                   ? LT_REGION_FILE
                                             : LT_REGION_ANONYMOUS;
  // The kernel's own: [vvar], [vdso], [vsyscall].
  if (isReadable && (isWritable || !hasFile) && !begins(p, end, "[v")) region->flags |= LT_REGION_CAPTURED;
  return true;
}

int lt_memory_map_read(struct lt_memory_map *map) {
  memset(map, 0, sizeof *map);
  map->limit = REGION_LIMIT;
  map->regions = lt_map_private(REGION_LIMIT * sizeof *map->regions);
  // The buffer stays mapped until the map is freed. It is in the list, where it must be recognised as the recorder's
  // own. If it were unmapped, a later mapping in its place would count as the program's.
  char *text = map->text = lt_map_private(READ_SIZE);
  int descriptor = lt_open("/proc/self/maps", O_RDONLY, 0), error = 0;
  if (!map->regions || !text) error = -ENOMEM;
  else if (descriptor < 0) error = descriptor;
  size_t used = 0;
  while (!error) {
    LT_CHECK(used < READ_SIZE);
    long n = lt_read(descriptor, text + used, READ_SIZE - used);
    if (n <= 0) {
      error = (int)n;
      break;
    }
    used += (size_t)n;
    size_t start = 0;
    for (const char *newline; (newline = memchr(text + start, '\n', used - start));
         start = (size_t)(newline - text) + 1) {
      struct lt_snapshot_region *region = &map->regions[map->count];
      LT_CHECK(map->count < map->limit);
      if (!lt_memory_map_parse_line(text + start, (size_t)(newline - text) - start, region)) continue;
      // The list is read in pieces, but must be in order.
      if (map->count && region->start < region[-1].end) continue;
      if (++map->count == map->limit) {
        error = -E2BIG;
        break;
      }
    }
    LT_CHECK(start <= used);
    memmove(text, text + start, used - start);
    used -= start;
    if (used == READ_SIZE) error = -EINVAL; // no line is that long
  }
  if (descriptor >= 0) lt_close(descriptor);
  LT_CHECK(error || is_in_order(map));
  return error ? error : map->count ? 0 : -EINVAL;
}

void lt_memory_map_free(struct lt_memory_map *map) {
  if (map->regions) lt_unmap(map->regions, map->limit * sizeof *map->regions);
  if (map->text) lt_unmap(map->text, READ_SIZE);
  memset(map, 0, sizeof *map);
}

static void sort_ranges(struct lt_own_range *ranges, uint32_t count) {
  // Heap sort: in place, and never slow.
  for (uint32_t pass = 0; pass < 2; pass++) {
    for (uint32_t k = pass == 0 ? count / 2 : count; k > 0; k--) {
      uint32_t end = count, hole = k - 1;
      if (pass == 1) {
        struct lt_own_range last = ranges[k - 1];
        ranges[k - 1] = ranges[0];
        ranges[0] = last;
        end = k - 1;
        hole = 0;
      }
      if (hole >= end) continue;
      struct lt_own_range moving = ranges[hole];
      for (uint32_t child; (child = 2 * hole + 1) < end; hole = child) {
        if (child + 1 < end && ranges[child + 1].start > ranges[child].start) child++;
        if (ranges[child].start <= moving.start) break;
        ranges[hole] = ranges[child];
      }
      ranges[hole] = moving;
    }
  }
}

bool lt_memory_map_mark_own(struct lt_memory_map *map, struct lt_own_range *ranges, uint32_t count) {
  sort_ranges(ranges, count);
  LT_CHECK(are_ranges_sorted(ranges, count) && is_in_order(map));
  // Every range adds two regions at most. The old list is moved to the end, and the new one grows towards it from the
  // start.
  if (map->count + 2ull * count > map->limit) return false;
  uint32_t from = map->limit - map->count, to = 0, range = 0;
  memmove(&map->regions[from], map->regions, map->count * sizeof *map->regions);
  while (from < map->limit) {
    struct lt_snapshot_region region = map->regions[from++];
    LT_CHECK(to < from);
    while (range < count && ranges[range].end <= region.start) range++;
    uint64_t at = region.start;
    for (uint32_t r = range; at < region.end; r++) {
      bool isInside = r < count && ranges[r].start < region.end;
      uint64_t ownStart = isInside ? (ranges[r].start > at ? ranges[r].start : at) : region.end;
      uint64_t ownEnd = isInside ? (ranges[r].end < region.end ? ranges[r].end : region.end) : region.end;
      if (ownStart > at) {
        map->regions[to] = region;
        map->regions[to].start = at;
        map->regions[to++].end = ownStart;
      }
      if (ownEnd > ownStart) {
        map->regions[to] = region;
        map->regions[to].kind = LT_REGION_RECORDER;
        map->regions[to].flags &= ~(uint32_t)LT_REGION_CAPTURED;
        map->regions[to].start = ownStart;
        map->regions[to++].end = ownEnd;
      }
      if (ownEnd > at) at = ownEnd;
      LT_CHECK(to <= from);
    }
  }
  map->count = to;
  LT_CHECK(is_in_order(map));
  return true;
}

const struct lt_snapshot_region *lt_memory_map_find(const struct lt_memory_map *map, uint64_t address) {
  LT_CHECK(map->count <= map->limit);
  uint32_t low = 0, high = map->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (map->regions[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  return low < map->count && map->regions[low].start <= address ? &map->regions[low] : NULL;
}
