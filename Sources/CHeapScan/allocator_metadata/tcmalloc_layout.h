// Layouts of gperftools tcmalloc.

#ifndef LEAKTRACE_TCMALLOC_LAYOUT_H
#define LEAKTRACE_TCMALLOC_LAYOUT_H

#include <stdint.h>

/// Offsets and sizes of gperftools tcmalloc on 64-bit machines, with tcmalloc pages of 8 KiB and addresses of 48 bits.
/// Source: src/span.h, pagemap.h, page_heap.h, common.h, central_freelist.h, thread_cache.h. Seen with 2.8.1, 2.10,
/// 2.16 and 2.18.1 on x86-64.
enum {
  TCMALLOC_PAGE_SHIFT = 13,

  // TCMalloc_PageMap2: the root's words are addresses of leaves; a leaf has the address of a Span for each page
  TCMALLOC_ROOT_BITS = 17,
  TCMALLOC_LEAF_BITS = 18,
  TCMALLOC_ROOT_BYTES = 8 << TCMALLOC_ROOT_BITS,
  TCMALLOC_LEAF_BYTES = 8 << TCMALLOC_LEAF_BITS,

  // Span
  TCMALLOC_SPAN_START = 0, ///< page number
  TCMALLOC_SPAN_LENGTH = 8,
  TCMALLOC_SPAN_NEXT = 16,
  TCMALLOC_SPAN_PREVIOUS = 24,
  TCMALLOC_SPAN_OBJECTS = 32, ///< the first free object; for a sampled block, its StackTrace
  TCMALLOC_SPAN_BITS = 40,
  TCMALLOC_SPAN_BYTES = 48,
  TCMALLOC_REFERENCES_MASK = 0xFFFF,
  TCMALLOC_SPAN_OBJECT_LIMIT = TCMALLOC_REFERENCES_MASK, ///< the number of references has 16 bits
  TCMALLOC_CLASS_SHIFT = 16,
  TCMALLOC_CLASS_MASK = 0xFF,
  TCMALLOC_LOCATION_SHIFT = 24,
  TCMALLOC_LOCATION_MASK = 3,
  TCMALLOC_SAMPLED_SHIFT = 26,

  TCMALLOC_IN_USE = 0,
  TCMALLOC_FREE = 1,
  TCMALLOC_RETURNED = 2, ///< free, and returned to the kernel

  // SizeMap
  TCMALLOC_CLASSES = 128,
  TCMALLOC_MAP_INDEXES = 2169, ///< bytes of the table from size to class
  TCMALLOC_MAP_BATCHES = 2172,
  TCMALLOC_MAP_SIZES = 2684,
  TCMALLOC_MAP_PAGES = 3200,
  TCMALLOC_MAP_COUNT = 4224, ///< 8 bytes later since 2.16
  TCMALLOC_LARGEST = 256 << 10,
  TCMALLOC_BATCH_BYTES = 64 << 10, ///< the most bytes of a batch of more than two objects

  // CentralFreeList, one for each class
  TCMALLOC_CENTRAL_CLASS = 8,
  TCMALLOC_CENTRAL_EMPTY = 16,    ///< head of the list of spans that have no free object
  TCMALLOC_CENTRAL_NONEMPTY = 64, ///< head of the list of spans that have free objects
  TCMALLOC_CENTRAL_SPANS = 112,
  TCMALLOC_CENTRAL_SLOTS = 128, ///< transfer cache: the first and last object of a batch
  TCMALLOC_CENTRAL_USED = 1152, ///< slots in use
  TCMALLOC_CENTRAL_SLOT_LIMIT = 1160,
  TCMALLOC_CENTRAL_BYTES = 1216,
  TCMALLOC_SLOTS = 64,

  // ThreadCache: a free list for each class, then other fields and the links to other caches
  TCMALLOC_LIST_BYTES = 32,
  TCMALLOC_LIST_LENGTH = 8,
  TCMALLOC_LIST_SIZE = 24, ///< bytes of an object
  TCMALLOC_CACHE_BYTES = 4160,

  // PageHeap, after the root: a function's address, two sets, and two lists of spans for each length
  TCMALLOC_HEAP_SETS = TCMALLOC_ROOT_BYTES + 8,
  TCMALLOC_HEAP_LENGTHS = 128,

  // MallocBlock of libtcmalloc_debug: a header before each block
  TCMALLOC_DEBUG_MAGIC = 16,
  TCMALLOC_DEBUG_TYPE = 24, ///< how the block was allocated
  TCMALLOC_DEBUG_BYTES = 32,
};

/// The offset of next_ in a ThreadCache: since 2.16, and in earlier releases. prev_ is in the word after next_.
static const uint64_t lt_tcmalloc_cache_links[] = {4128, 4144};
/// The bytes of PageHeap's two sets together: with libstdc++, and with libc++.
static const uint64_t lt_tcmalloc_set_bytes[] = {96, 48};

/// True if two words may be in the header of a debug block. `magic` says whether the block is in the heap or is a
/// mapping. `type` says whether it was allocated with malloc, new or new[].
static inline int lt_tcmalloc_is_debug_header(uint64_t magic, uint64_t type) {
  uint32_t half = (uint32_t)type;
  return (magic == 0xDEADBEEF || magic == 0xABCDEFAB) &&
         (half == 0xEFCDAB90 || half == 0xFEBADC81 || half == 0xBCEADF72);
}

/// Size classes, from 1 to `count` - 1.
struct lt_tcmalloc_classes {
  unsigned count;
  uint32_t bytes[TCMALLOC_CLASSES]; ///< bytes of an object
  uint32_t batch[TCMALLOC_CLASSES]; ///< number of objects that move between caches together
  uint64_t pages[TCMALLOC_CLASSES]; ///< pages of a span
};

/// Returns the smallest class whose objects have at least `size` bytes; 0 if there is none. Logarithmic.
static inline unsigned lt_tcmalloc_class_of(const struct lt_tcmalloc_classes *classes, uint64_t size) {
  unsigned low = 1, high = classes->count;
  while (low < high) {
    unsigned middle = low + (high - low) / 2;
    if (classes->bytes[middle] < size) low = middle + 1;
    else high = middle;
  }
  return low < classes->count ? low : 0;
}

#endif
