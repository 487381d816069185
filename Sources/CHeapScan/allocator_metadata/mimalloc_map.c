// Finds mimalloc's map of pages. An entry of the map leads to a page, and the page's address must match the entry's
// position.

#include "allocator_metadata/mimalloc_map.h"

#include "allocator_metadata/image_data.h"

#include <string.h>

enum {
  WINDOW = 64 << 10,
  /// The number of entries of any map that may contradict their pages. Threads may have been stopped while they wrote
  /// these entries.
  ODD_ENTRIES = 1,
  /// One odd entry among this many is tolerated in a map.
  ENTRIES_TO_AN_ODD_ONE = 16,
  /// The most walks over a map: one for each layout that is tried, and the final walk.
  WALKS = MIMALLOC_PAGE_LAYOUTS + 1,
};

/// The windows on a map, and the state of a walk over it.
struct reader {
  const struct lt_allocator_memory *metadata;
  const struct lt_growing_list *mapped;
  const struct lt_mimalloc_map *map;
  struct lt_word_window table, part, page, arena;
  struct lt_growing_list parts; ///< uint64_t: addresses of the map's parts, in order
  uint64_t partsLeft;           ///< parts that may still be walked; memory has no room for more
  bool isShort;
  uint64_t partStart, firstSlice;  ///< of the part that is walked
  uint64_t last;                   ///< the page of the previous entry
  uint64_t end;                    ///< the end of the blocks of the previous page in use
  uint64_t odd;                    ///< entries that contradict their pages
  uint64_t inUse;                  ///< pages with blocks
  struct lt_mimalloc_pages *pages; ///< NULL while a map is tried
};

static bool reader_init(struct reader *reader, const struct lt_allocator_memory *metadata,
                        const struct lt_growing_list *mapped) {
  memset(reader, 0, sizeof *reader);
  reader->metadata = metadata;
  reader->mapped = mapped;
  for (uint32_t i = 0; i < metadata->regionCount; i++)
    if (metadata->regions[i].kind == LT_REGION_ANONYMOUS)
      reader->partsLeft += (metadata->regions[i].end - metadata->regions[i].start) / MIMALLOC_PART_BYTES * WALKS;
  return lt_word_window_init(&reader->table, metadata, WINDOW) &&
         lt_word_window_init(&reader->part, metadata, WINDOW) && lt_word_window_init(&reader->page, metadata, WINDOW) &&
         lt_word_window_init(&reader->arena, metadata, LT_ALLOCATOR_PAGE);
}

static void reader_free(struct reader *reader) {
  if (reader->table.metadata) lt_word_window_free(&reader->table);
  if (reader->part.metadata) lt_word_window_free(&reader->part);
  if (reader->page.metadata) lt_word_window_free(&reader->page);
  if (reader->arena.metadata) lt_word_window_free(&reader->arena);
}

/// True if all bytes of a range are in one mapping that mimalloc may have made.
static bool has_room(const struct lt_allocator_memory *metadata, uint64_t start, uint64_t bytes) {
  if ((start & 7) || start < LT_ALLOCATOR_PAGE || start >= LT_ALLOCATOR_ADDRESS_LIMIT - bytes) return false;
  const struct lt_snapshot_region *region = lt_allocator_memory_region(metadata, start);
  return region && region->kind == LT_REGION_ANONYMOUS && (region->flags & LT_REGION_CAPTURED) &&
         region->end - start >= bytes;
}

// --- pages -----------------------------------------------------------------------------------------------------------

static bool read_count(struct reader *reader, uint64_t address, uint32_t *count) {
  uint64_t word;
  if (!lt_window_word(&reader->page, address & ~7ull, &word)) return false;
  *count = (uint16_t)(word >> 8 * (address & 7));
  return true;
}

/// Reads a page's metadata. Returns false if it cannot be read.
static bool read_page(struct reader *reader, uint64_t address, struct lt_mimalloc_page *page) {
  const struct lt_mimalloc_page_layout *layout = reader->map->layout;
  struct lt_word_window *window = &reader->page;
  uint64_t owner;
  memset(page, 0, sizeof *page);
  if (!lt_window_word(window, address + layout->owner, &owner) ||
      !lt_window_word(window, address + layout->free, &page->free) ||
      !lt_window_word(window, address + layout->localFree, &page->localFree) ||
      !lt_window_word(window, address + layout->threadFree, &page->threadFree) ||
      !lt_window_word(window, address + layout->blockBytes, &page->blockBytes) ||
      !lt_window_word(window, address + layout->start, &page->start) ||
      !read_count(reader, address + layout->used, &page->used) ||
      !read_count(reader, address + layout->capacity, &page->capacity) ||
      !read_count(reader, address + layout->reserved, &page->reserved))
    return false;
  if (layout->startKind == MIMALLOC_START_WORDS) page->start = address + (page->start & UINT32_MAX) * 8;
  if (layout->startKind == MIMALLOC_START_BYTES) page->start += address;
  page->threadFree &= ~1ull; // the bit says whether a thread owns the page
  page->hasInteriorLinks = layout->hasInteriorLinks;
  page->hasInterior = layout->hasInteriorLinks || (owner & MIMALLOC_PAGE_HAS_INTERIOR) != 0;
  page->mayBeInternal =
      layout->hasInternalPages && (owner & ~(uint64_t)MIMALLOC_PAGE_OWNER_BITS) == MIMALLOC_PAGE_INTERNAL;
  page->isAbandoned = (owner & ~(uint64_t)MIMALLOC_PAGE_OWNER_BITS) == 0;
  return true;
}

/// True if the bitmap of a page's arena says that the page exists. The map alone does not prove that, since 3.0.1
/// leaves the entries of freed pages in it.
static bool is_in_arena(struct reader *reader, uint64_t page, uint64_t arena, uint64_t index) {
  uint64_t slices, bitmap, chunks, bits;
  struct lt_word_window *window = &reader->arena;
  if (!lt_window_word(window, arena + MIMALLOC_ARENA_SLICES, &slices) ||
      !lt_window_word(window, arena + MIMALLOC_ARENA_PAGES, &bitmap) || index >= slices ||
      arena + (index << MIMALLOC_SLICE_SHIFT) != page || !lt_window_word(window, bitmap, &chunks) ||
      index / MIMALLOC_BITMAP_CHUNK_BITS >= chunks ||
      !lt_window_word(window, bitmap + MIMALLOC_BITMAP_CHUNKS + index / 64 * sizeof(uint64_t), &bits))
    return false;
  return bits >> index % 64 & 1;
}

/// True if the page's mi_memid_t, which describes its memory, agrees with the page.
static bool has_memory(struct reader *reader, uint64_t address) {
  const struct lt_mimalloc_page_layout *layout = reader->map->layout;
  uint64_t base, figure, kind, heap;
  if (!lt_window_word(&reader->page, address + layout->memory, &base) ||
      !lt_window_word(&reader->page, address + layout->memory + 8, &figure) ||
      !lt_window_word(&reader->page, address + layout->memory + 16, &kind) ||
      !lt_window_word(&reader->page, address + layout->heap, &heap))
    return false;
  if (!lt_mimalloc_is_memory_kind(kind)) return false;
  if (!base || (base & (LT_ALLOCATOR_PAGE - 1)) || !lt_allocator_memory_region(reader->metadata, base) || (heap & 7))
    return false;
  return (uint32_t)kind != layout->arenaKind || is_in_arena(reader, address, base, (uint32_t)figure);
}

/// True if the map's first entry for a page belongs at a slice.
static bool is_registered_at(const struct reader *reader, uint64_t slice, uint64_t address,
                             const struct lt_mimalloc_page *page) {
  uint64_t first = reader->map->layout->isBehindMetadata ? address : page->start;
  return first >> MIMALLOC_SLICE_SHIFT == slice >> MIMALLOC_SLICE_SHIFT;
}

/// Returns true if an entry leads to a valid page. Sets `odd` if the entry and its page contradict each other.
static bool read_entry(struct reader *reader, uint64_t slice, uint64_t address, struct lt_mimalloc_page *page,
                       bool *odd) {
  const struct lt_mimalloc_page_layout *layout = reader->map->layout;
  bool isRead =
      !(address & 7) && has_room(reader->metadata, address, layout->bytes) && read_page(reader, address, page);
  // If the map keeps the entries of freed pages, such an entry may lead to any memory.
  bool keepsFreed = layout->arenaKind != 0;
  if (keepsFreed && (!isRead || !page->used)) return false;
  bool isSound = isRead && is_registered_at(reader, slice, address, page) && page->start >= reader->end &&
                 lt_mimalloc_page_is_sound(reader->mapped, page);
  *odd = isSound ? !has_memory(reader, address) : !keepsFreed;
  return isSound && !*odd;
}

/// Reads the page of an entry, and adds the page.
static void visit_entry(struct reader *reader, uint64_t slice, uint64_t address) {
  const struct lt_mimalloc_page_layout *layout = reader->map->layout;
  struct lt_mimalloc_page page;
  bool odd = false;
  // A page has an entry for each of its slices. Only the first entry is used.
  if (address == reader->last) return;
  if (layout->isBehindMetadata) {
    if (address & ((1ull << MIMALLOC_SLICE_SHIFT) - 1)) reader->odd++;
    if (address != slice || slice < reader->end) return;
  }
  reader->last = address;
  if (read_entry(reader, slice, address, &page, &odd)) {
    reader->end = page.start + page.reserved * page.blockBytes;
    reader->inUse += page.used > 0;
    if (reader->pages) lt_mimalloc_pages_add(reader->pages, &page);
  }
  reader->odd += odd;
}

static bool visit_word(void *context, uint64_t at, uint64_t address) {
  struct reader *reader = context;
  uint64_t slice = reader->firstSlice + ((at - reader->partStart) / 8 << MIMALLOC_SLICE_SHIFT);
  // The entry of the first slice is for null pointers.
  if (slice) visit_entry(reader, slice, address);
  return true;
}

/// Visits the parts that a map has.
static void each_part(struct reader *reader, bool (*visit)(void *context, uint64_t at, uint64_t part)) {
  uint64_t start = reader->map->parts;
  lt_window_each_word(&reader->table, start, start + reader->map->partCount * 8, visit, reader);
}

static bool note_part(void *context, uint64_t at, uint64_t part) {
  struct reader *reader = context;
  (void)at;
  lt_list_append(&reader->parts, &part);
  return true;
}

static bool walk_part(void *context, uint64_t at, uint64_t part) {
  struct reader *reader = context;
  if (!reader->partsLeft || !has_room(reader->metadata, part, MIMALLOC_PART_BYTES)) {
    reader->odd++;
    return true;
  }
  reader->partsLeft--;
  reader->partStart = part;
  reader->firstSlice = (at - reader->map->parts) / 8 << MIMALLOC_PART_SHIFT;
  return lt_window_each_word(&reader->part, part, part + MIMALLOC_PART_BYTES, visit_word, reader);
}

static void walk_map(struct reader *reader, const struct lt_mimalloc_map *map) {
  reader->map = map;
  reader->last = reader->end = reader->odd = reader->inUse = 0;
  lt_list_init(&reader->parts, reader->metadata->memory, sizeof(uint64_t));
  each_part(reader, note_part);
  lt_list_sort(&reader->parts);
  // Parts must not overlap, so that the size of the memory limits the time of a walk.
  for (size_t i = 1; i < reader->parts.count; i++)
    if (lt_list_number(&reader->parts, i) - lt_list_number(&reader->parts, i - 1) < MIMALLOC_PART_BYTES) reader->odd++;
  if (reader->parts.isShort) reader->isShort = true;
  if (!reader->odd && !reader->parts.isShort) each_part(reader, walk_part);
  lt_list_free(&reader->parts);
}

// --- the map ---------------------------------------------------------------------------------------------------------

struct search {
  struct reader reader;
  struct lt_mimalloc_map *map;
  uint64_t found;
  struct lt_growing_list candidates; ///< struct candidate
};

/// The address of a possible map, and of a variable that refers to the map.
struct candidate {
  uint64_t address, variable;
};

/// True if a map may begin at an address. Fills in the map, except for the layout of its pages.
static bool is_map(struct search *search, uint64_t address, struct lt_mimalloc_map *map, bool *hasHeader) {
  struct lt_word_window *window = &search->reader.table;
  uint64_t first, reserved, self, committed, part;
  if ((address & (LT_ALLOCATOR_PAGE - 1)) || !has_room(search->reader.metadata, address, LT_ALLOCATOR_PAGE))
    return false;
  if (!lt_window_word(window, address, &first)) return false;
  uint64_t offset = first - address;
  // Without a header, the part for the lowest addresses directly follows the table.
  *hasHeader = false;
  if (first > address && !(offset & (offset - 1)) && offset >= MIMALLOC_MAP_LEAST * 8 &&
      offset <= MIMALLOC_MAP_LIMIT * 8) {
    *map = (struct lt_mimalloc_map){.parts = address, .partCount = offset / 8};
    return has_room(search->reader.metadata, address, offset);
  }
  if (!lt_window_word(window, address + MIMALLOC_MAP_RESERVED, &reserved) ||
      !lt_window_word(window, address + MIMALLOC_MAP_MEMORY, &self) ||
      !lt_window_word(window, address + MIMALLOC_MAP_COMMITTED, &committed) ||
      !lt_window_word(window, address + MIMALLOC_MAP_PARTS, &part) || self != address || part != address + reserved ||
      reserved < MIMALLOC_MAP_PARTS || committed > (reserved - MIMALLOC_MAP_PARTS) / 8 || !committed ||
      committed > MIMALLOC_MAP_LIMIT + LT_ALLOCATOR_PAGE / 8)
    return false;
  *hasHeader = true;
  *map = (struct lt_mimalloc_map){.parts = address + MIMALLOC_MAP_PARTS, .partCount = committed};
  return has_room(search->reader.metadata, address, MIMALLOC_MAP_PARTS + committed * 8);
}

static bool note_candidate(void *context, uint64_t address, uint64_t word) {
  struct search *search = context;
  struct lt_mimalloc_map map;
  bool hasHeader;
  struct candidate candidate = {word, address};
  if (is_map(search, word, &map, &hasHeader)) lt_list_append(&search->candidates, &candidate);
  return true;
}

static void try_candidate(struct search *search, const struct candidate *candidate) {
  struct lt_mimalloc_map map;
  bool hasHeader;
  if (!is_map(search, candidate->address, &map, &hasHeader)) return;
  for (unsigned i = 0; i < MIMALLOC_PAGE_LAYOUTS; i++) {
    map.layout = &lt_mimalloc_page_layouts[i];
    if (map.layout->hasHeader != hasHeader) continue;
    walk_map(&search->reader, &map);
    const struct reader *reader = &search->reader;
    if (!reader->inUse || reader->odd > ODD_ENTRIES + reader->inUse / ENTRIES_TO_AN_ODD_ONE) continue;
    map.variable = candidate->variable;
    if (search->found++ == 0) *search->map = map;
    return;
  }
}

uint64_t lt_mimalloc_map_find(const struct lt_allocator_memory *metadata, const struct lt_growing_list *mapped,
                              struct lt_mimalloc_map *map, bool *isShort) {
  struct search search = {.map = map};
  struct lt_word_window data = {0};
  memset(map, 0, sizeof *map);
  lt_list_init(&search.candidates, metadata->memory, sizeof(struct candidate));
  bool hasRoom = reader_init(&search.reader, metadata, mapped) && lt_word_window_init(&data, metadata, WINDOW);
  if (hasRoom) lt_image_data_each(metadata, &data, note_candidate, &search);
  lt_list_sort(&search.candidates);
  for (size_t i = 0; i < search.candidates.count; i++) {
    const struct candidate *candidate = lt_list_item(&search.candidates, i);
    if (i == 0 || candidate->address != lt_list_number(&search.candidates, i - 1)) try_candidate(&search, candidate);
  }
  if (!hasRoom || search.candidates.isShort || search.reader.isShort) *isShort = true;
  lt_list_free(&search.candidates);
  if (data.metadata) lt_word_window_free(&data);
  reader_free(&search.reader);
  return search.found;
}

uint64_t lt_mimalloc_map_walk(const struct lt_mimalloc_map *map, struct lt_mimalloc_pages *pages, bool *isShort) {
  struct reader reader;
  LT_CHECK(map->variable && map->layout);
  bool hasRoom = reader_init(&reader, pages->metadata, pages->mapped);
  reader.pages = pages;
  if (hasRoom) walk_map(&reader, map);
  if (!hasRoom || reader.isShort) *isShort = true;
  reader_free(&reader);
  return reader.odd;
}
