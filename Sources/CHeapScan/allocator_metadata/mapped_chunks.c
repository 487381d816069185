// Finds blocks with a separate mapping, by the contents of their headers.

#include "allocator_metadata/mapped_chunks.h"

#include "check.h"

enum {
  WINDOW = 64 << 10,
  /// The number of the kernel's pages, from the start of a mapping, that are searched for an aligned block that was
  /// moved.
  NEAR_PAGES = 16,
};
/// The most bytes of memory that are searched.
static const uint64_t SEARCH_LIMIT = 1ull << 36;

struct search {
  const struct lt_allocator_memory *metadata;
  const struct lt_glibc_arena_layout *layout;
  struct lt_word_window window, near, far;
  struct lt_growing_list *chunks;
  uint64_t page; ///< bytes of the kernel's pages: mappings begin and end at multiples of this
  uint64_t left;
};

/// Returns a mapped chunk's offset from the start of its mapping. `before` is the chunk's first word.
static uint64_t offset_of(const struct search *s, uint64_t before) {
  return s->layout->mappedTrailer ? before & ~(uint64_t)GLIBC_IS_HUGE_MAPPED : before;
}

/// Returns a mapped chunk, with its usable bytes (malloc_usable_size).
static struct lt_mapped_chunk chunk_of(const struct search *s, uint64_t address, uint64_t size) {
  return (struct lt_mapped_chunk){address, size, size - s->layout->mappedLost};
}

/// True if a chunk's mapping begins and ends where a mapping may, and does not end after `end`.
static bool is_mapping(const struct search *s, uint64_t address, uint64_t size, uint64_t offset, uint64_t end) {
  return size >= GLIBC_MIN_CHUNK && address < end && size <= end - address &&
         ((address - offset) & (s->page - 1)) == 0 && ((offset + size + s->layout->mappedTrailer) & (s->page - 1)) == 0;
}

/// Replaces `chunk` by the chunk at an offset in the mapping that begins at `start`, if there is one.
static void move_to(struct search *s, struct lt_word_window *window, uint64_t start, uint64_t offset, uint64_t end,
                    struct lt_mapped_chunk *chunk) {
  uint64_t address = start + offset, before, head;
  if (address <= chunk->address || address >= end || !lt_window_word(window, address, &before) ||
      !lt_window_word(window, address + GLIBC_CHUNK_SIZE, &head))
    return;
  uint64_t size = head & ~(uint64_t)GLIBC_CHUNK_FLAGS;
  if (offset_of(s, before) == offset && (head & GLIBC_CHUNK_FLAGS) == GLIBC_IS_MAPPED &&
      is_mapping(s, address, size, offset, end))
    *chunk = chunk_of(s, address, size);
}

/// Replaces `chunk`, which begins a mapping, by the chunk of an aligned block, if there is one. An aligned block's
/// chunk begins later in the mapping, and the header of the first chunk stays in memory. The two chunks may have
/// different ends, since realloc changes only the later chunk. If realloc has moved the mapping, the block is aligned
/// only to a page.
static void move_to_aligned(struct search *s, uint64_t end, struct lt_mapped_chunk *chunk) {
  uint64_t start = chunk->address, size = chunk->size, block = start + GLIBC_CHUNK_MEMORY;
  for (uint64_t place = 2 * GLIBC_ALIGNMENT; place < s->page; place *= 2)
    move_to(s, &s->near, start, place - GLIBC_CHUNK_MEMORY, end, chunk);
  for (uint64_t place = s->page; place <= NEAR_PAGES * s->page; place += s->page)
    move_to(s, &s->near, start, place - GLIBC_CHUNK_MEMORY, end, chunk);
  // The mapping was made with room for the alignment, so it is larger.
  for (uint64_t alignment = NEAR_PAGES * s->page; alignment < size; alignment *= 2)
    move_to(s, &s->far, start, lt_round_up(block, alignment) - GLIBC_CHUNK_MEMORY - start, end, chunk);
}

/// Finds the mapped chunk whose header is in LT_ALLOCATOR_PAGE bytes from `page` on. Few places are possible, since the
/// block is aligned to a power of two.
static bool chunk_in_page(struct search *s, uint64_t page, struct lt_address_range range,
                          struct lt_mapped_chunk *chunk) {
  static const uint16_t OFFSETS[] = {0, 16, 48, 112, 240, 496, 1008, 2032, 4080};
  for (unsigned i = 0; i < sizeof OFFSETS / sizeof *OFFSETS; i++) {
    uint64_t address = page + OFFSETS[i], before, head;
    if (!lt_window_word(&s->window, address, &before) || !lt_window_word(&s->window, address + GLIBC_CHUNK_SIZE, &head))
      return false;
    uint64_t size = head & ~(uint64_t)GLIBC_CHUNK_FLAGS;
    before = offset_of(s, before);
    if ((head & GLIBC_CHUNK_FLAGS) != GLIBC_IS_MAPPED || (before & 15)) continue;
    // `before` is the offset from the start of the mapping. It is less than 4,096, except with alignments above
    // that.
    if (before != OFFSETS[i] && !(OFFSETS[i] == 4080 && (before & 4095) == 4080 && before <= address - range.start))
      continue;
    if (!is_mapping(s, address, size, before, range.end)) continue;
    *chunk = chunk_of(s, address, size);
    if (before == 0) move_to_aligned(s, range.end, chunk);
    return true;
  }
  return false;
}

static void search_range(struct search *s, struct lt_address_range range) {
  LT_CHECK(range.start < range.end);
  struct lt_address_range run = {0, range.start};
  uint64_t next = range.start; // a chunk may extend over pages that are not present
  while (s->left >= LT_ALLOCATOR_PAGE && lt_allocator_memory_next_present(s->metadata, run.end, range.end, &run)) {
    uint64_t page = lt_round_up(run.start > next ? run.start : next, LT_ALLOCATOR_PAGE);
    while (page < run.end && s->left >= LT_ALLOCATOR_PAGE) {
      struct lt_mapped_chunk chunk;
      s->left -= LT_ALLOCATOR_PAGE;
      LT_CHECK(page % LT_ALLOCATOR_PAGE == 0 && page >= next);
      if (chunk_in_page(s, page, range, &chunk) && lt_list_append(s->chunks, &chunk)) {
        next = lt_round_up(chunk.address + chunk.size + s->layout->mappedTrailer, LT_ALLOCATOR_PAGE);
        page = next;
      } else {
        page += LT_ALLOCATOR_PAGE;
      }
    }
  }
}

bool lt_glibc_find_mapped_chunks(const struct lt_allocator_memory *metadata, const struct lt_glibc_arena_layout *layout,
                                 const struct lt_growing_list *taken, struct lt_growing_list *chunks) {
  struct search s = {.metadata = metadata, .layout = layout, .chunks = chunks, .left = SEARCH_LIMIT};
  s.page = lt_allocator_page_size(metadata);
  bool hasRoom = lt_word_window_init(&s.window, metadata, WINDOW) &&
                 lt_word_window_init(&s.near, metadata, (NEAR_PAGES + 1) * s.page) &&
                 lt_word_window_init(&s.far, metadata, LT_ALLOCATOR_PAGE);
  size_t index = 0;
  for (uint32_t i = 0; hasRoom && i < metadata->regionCount; i++) {
    const struct lt_snapshot_region *region = &metadata->regions[i];
    // The regions of the program break and of the main stack have other kinds.
    if (region->kind != LT_REGION_ANONYMOUS || !(region->flags & LT_REGION_CAPTURED) ||
        region->end > LT_ALLOCATOR_ADDRESS_LIMIT)
      continue;
    uint64_t at = region->start;
    for (; at < region->end && index < taken->count; index++) {
      const struct lt_address_range *range = lt_list_item(taken, index);
      if (range->start >= region->end) break;
      if (range->end <= at) continue;
      if (range->start > at) search_range(&s, (struct lt_address_range){at, range->start});
      at = range->end;
      if (at >= region->end) break;
    }
    if (at < region->end) search_range(&s, (struct lt_address_range){at, region->end});
  }
  lt_word_window_free(&s.window);
  lt_word_window_free(&s.near);
  lt_word_window_free(&s.far);
  return hasRoom && s.left >= LT_ALLOCATOR_PAGE && !chunks->isShort;
}
