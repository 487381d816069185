// Looks up whether a number is an address in a mapping of the process.

#ifndef LEAKTRACE_ADDRESS_INDEX_H
#define LEAKTRACE_ADDRESS_INDEX_H

#include "check.h"
#include "scanned_memory.h"

/// A process's addresses are below 1 << LT_SCANNED_ADDRESS_BITS, unless the process asks for higher addresses. arm64
/// has 48 bits, and x86-64 has 47. A core file may be from another processor than its reader, so the limit is the same
/// for both.
#define LT_SCANNED_ADDRESS_BITS 48

struct lt_address_range {
  uint64_t start, end;
};

/// An index of the mappings. A lookup takes about a nanosecond. `some` and `all` are bitmaps with a bit for each cell
/// of 2 MiB. A bit in `some` is set if at least a part of the cell is mapped. A bit in `all` is set if the whole cell
/// is mapped. The runs are searched only for cells that are partly mapped.
struct lt_address_index {
  uint64_t *some, *all;
  struct lt_address_range *runs; ///< mappings in order of address; adjacent mappings are merged, so no two runs touch
  uint32_t runCount, runLimit;   ///< `runCount` is below `runLimit`
  uint32_t last;                 ///< where the last search ended; below `runLimit`
};

enum { LT_CELL_SHIFT = 21 };

/// Builds the index of regions, which must be in order of address. Returns false if there is no memory. Call
/// lt_address_index_free in either case.
bool lt_address_index_build(struct lt_address_index *index, const struct lt_memory *memory,
                            const struct lt_snapshot_region *regions, uint32_t regionCount);
void lt_address_index_free(struct lt_address_index *index, const struct lt_memory *memory);
LT_NOINLINE bool lt_address_index_search(struct lt_address_index *index, uint64_t address);

static LT_ALWAYS_INLINE bool lt_address_index_has(struct lt_address_index *index, uint64_t address) {
  if (address >> LT_SCANNED_ADDRESS_BITS) return false;
  uint64_t cell = address >> LT_CELL_SHIFT, bit = 1ull << (cell & 63);
  LT_CHECK(index->last < index->runLimit);
  if (LT_LIKELY(!(index->some[cell >> 6] & bit))) return false;
  if (index->all[cell >> 6] & bit) return true;
  const struct lt_address_range *run = &index->runs[index->last];
  return (address >= run->start && address < run->end) || lt_address_index_search(index, address);
}

#endif
