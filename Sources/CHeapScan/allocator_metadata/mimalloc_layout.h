// Layouts of mimalloc.

#ifndef LEAKTRACE_MIMALLOC_LAYOUT_H
#define LEAKTRACE_MIMALLOC_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/// Offsets, bits and sizes of mimalloc 2.0.9 on x86-64 (include/mimalloc-types.h). Builds with encoded free lists have
/// other offsets.
enum {
  // mi_segment_t
  MIMALLOC_SEGMENT_SHIFT = 25,   ///< segments begin at multiples of 32 MiB
  MIMALLOC_SEGMENT_USED = 208,   ///< number of pages in use
  MIMALLOC_SEGMENT_COOKIE = 216, ///< the segment's address, XORed with a number that all segments share
  MIMALLOC_SEGMENT_COUNT = 224,  ///< number of slices
  MIMALLOC_SEGMENT_INFO = 232,   ///< number of slices that the segment's own data occupies
  MIMALLOC_SEGMENT_KIND = 240,
  MIMALLOC_SEGMENT_ENTRIES = 248, ///< number of entries in the table of slices
  MIMALLOC_SEGMENT_THREAD = 256,  ///< 0 if the segment is abandoned
  MIMALLOC_SEGMENT_SLICES = 264,
  MIMALLOC_SEGMENT_SLICE_LIMIT = 512,
  MIMALLOC_SEGMENT_NORMAL = 0,
  MIMALLOC_SEGMENT_HUGE = 1, ///< with a single page

  // mi_slice_t, which is mi_page_t
  MIMALLOC_SLICE_SHIFT = 16,
  MIMALLOC_SLICE_BYTES = 80,
  MIMALLOC_SLICE_COUNTS = 0, ///< number of slices of the page or free span; the first slice's upper half is 0
  MIMALLOC_SLICE_BITS = 8,   ///< capacity, reserved and flags
  MIMALLOC_SLICE_CAPACITY_SHIFT = 16,
  MIMALLOC_SLICE_RESERVED_SHIFT = 32,
  MIMALLOC_SLICE_FLAGS_SHIFT = 48,
  MIMALLOC_SLICE_FREE = 16,
  MIMALLOC_SLICE_USED = 24, ///< number of used blocks; the upper half is the block size
  MIMALLOC_SLICE_LOCAL_FREE = 32,
  MIMALLOC_SLICE_THREAD_FREE = 40,
  MIMALLOC_SLICE_HEAP = 48,
  MIMALLOC_SLICE_IS_FREE = 0,    ///< the block size of a free slice
  MIMALLOC_SLICE_IS_CLEARED = 1, ///< the block size of a cleared slice
  MIMALLOC_HAS_ALIGNED = 2,      ///< flag: an allocation may begin inside its block
  MIMALLOC_THREAD_FREE_BITS = 3,
  MIMALLOC_SMALL_OFFSET_LIMIT = 1024, ///< in pages with blocks up to this size, the first block is at the next offset
  MIMALLOC_SMALL_OFFSET = 384,

  // mi_heap_t
  MIMALLOC_HEAP_DELAYED = 2840, ///< list of blocks that other threads freed
  MIMALLOC_HEAP_THREAD = 2848,
  MIMALLOC_HEAP_COOKIE = 2864,
};
/// The recorded block size of a page with one huge block. The block's real size is the size of the page.
static const uint64_t MIMALLOC_HUGE_BLOCK = 0x80000000;

/// mimalloc 3 has a map that leads from addresses to pages, in two levels. A part of the map has an entry for each
/// slice of 64 KiB.
enum {
  MIMALLOC_PART_SHIFT = 29, ///< log2 of the bytes that a part covers
  MIMALLOC_PART_BYTES = 1 << 16,
  MIMALLOC_MAP_LIMIT = 1 << 19, ///< the most parts, for addresses of 48 bits
  MIMALLOC_MAP_LEAST = 1 << 10,

  // mi_page_map_t of 3.6
  MIMALLOC_MAP_COMMITTED = 0,
  MIMALLOC_MAP_RESERVED = 8,
  MIMALLOC_MAP_MEMORY = 16, ///< the map's own address and size
  MIMALLOC_MAP_PARTS = 80,

  // mi_memid_t: an address, a number, and a word that contains the kind
  MIMALLOC_MEMORY_KINDS = 9,

  // mi_arena_t and mi_bitmap_t of 3.0.1
  MIMALLOC_ARENA_SLICES = 32,
  MIMALLOC_ARENA_PAGES = 96, ///< bitmap of the slices where pages begin
  MIMALLOC_BITMAP_CHUNKS = 128,
  MIMALLOC_BITMAP_CHUNK_BITS = 512,

  MIMALLOC_PAGE_BLOCK_LIMIT = 1 << 16,
  MIMALLOC_PAGE_FULL = 1, ///< flags in the low bits of the owner's number
  MIMALLOC_PAGE_HAS_INTERIOR = 2,
  MIMALLOC_PAGE_OWNER_BITS = 7,
  /// The owner's number, without flags, of a page with blocks of the allocator's own data. Such a page may also
  /// hold the program's blocks, if it belonged to a thread before. Other owners' numbers are addresses or 0.
  MIMALLOC_PAGE_INTERNAL = 8,
  MIMALLOC_INTERNAL_LIMIT = 1 << 16, ///< the most bytes of a block of the allocator's own data: a slice
};

/// How mi_page_t of mimalloc 3 stores where its blocks begin.
enum lt_mimalloc_start { MIMALLOC_START_ADDRESS, MIMALLOC_START_WORDS, MIMALLOC_START_BYTES };

/// Offsets in mi_page_t of mimalloc 3 (include/mimalloc/types.h). Counts are 16 bits wide.
struct lt_mimalloc_page_layout {
  uint8_t owner, free, localFree, threadFree, blockBytes, start, used, capacity, reserved, heap, memory, bytes;
  uint8_t startKind;     ///< enum lt_mimalloc_start
  bool hasHeader;        ///< the map is a mi_page_map_t, whose parts follow its header
  bool isBehindMetadata; ///< a page's entries in the map begin at its metadata, not at its first block
  bool hasInteriorLinks; ///< links may lead inside blocks, because a page loses its flag for such blocks when its owner
                         ///< changes
  bool hasInternalPages; ///< the allocator's own data may be blocks
  uint8_t arenaKind;     ///< memory kind whose pages the arena's bitmap must confirm; 0: the map has no freed pages
};
/// True if a word may be the last word of a mi_memid_t: the kind, and three Booleans.
static inline bool lt_mimalloc_is_memory_kind(uint64_t word) {
  return (uint32_t)word && (uint32_t)word < MIMALLOC_MEMORY_KINDS && !(word >> 32 & 0xFEFEFE);
}

enum { MIMALLOC_PAGE_LAYOUTS = 3 };
/// The layouts of 3.0.1, 3.4 and 3.6.
static const struct lt_mimalloc_page_layout lt_mimalloc_page_layouts[MIMALLOC_PAGE_LAYOUTS] = {
    {.owner = 0,
     .free = 8,
     .used = 16,
     .capacity = 18,
     .reserved = 20,
     .localFree = 24,
     .threadFree = 32,
     .blockBytes = 40,
     .start = 48,
     .heap = 64,
     .memory = 96,
     .bytes = 120,
     .startKind = MIMALLOC_START_ADDRESS,
     .isBehindMetadata = true,
     .hasInteriorLinks = true,
     .arenaKind = 7},
    {.owner = 0,
     .free = 8,
     .used = 16,
     .capacity = 18,
     .reserved = 20,
     .localFree = 24,
     .threadFree = 32,
     .blockBytes = 40,
     .start = 48,
     .heap = 64,
     .memory = 88,
     .bytes = 112,
     .startKind = MIMALLOC_START_WORDS},
    {.owner = 8,
     .free = 16,
     .localFree = 24,
     .blockBytes = 32,
     .used = 40,
     .start = 48,
     .capacity = 56,
     .reserved = 58,
     .threadFree = 64,
     .heap = 80,
     .memory = 104,
     .bytes = 128,
     .startKind = MIMALLOC_START_BYTES,
     .hasHeader = true,
     .hasInternalPages = true},
};

#endif
