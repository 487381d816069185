// Lists that a heap image contains if events do not show everything: blocks, and sites of sampled allocations.

#define _GNU_SOURCE
#include "image/block_list.h"

#include "CTraceFormat.h"
#include "allocator_metadata/allocator_figures.h"
#include "check.h"
#include "elf/elf_image.h"
#include "object_types.h"
#include "os/os.h"
#include "record/event_buffer.h"
#include "sampling/live_blocks.h"
#include "sampling/sampler.h"
#include "swift/swift_runtime.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <gnu/libc-version.h>
#include <string.h>

// === blocks ==========================================================================================================

// Lists the blocks of the process from the allocator's metadata. Recognises objects by their first words.

enum {
  CHUNK_SIZE = 1 << 20,
  STACK_LIMIT = 1024, ///< the most frames of a sample's stack; for a site, the outermost frames are kept
  /// The most bytes of a block's record, including the stack that precedes it.
  RECORD_SIZE = 64 + STACK_LIMIT * 11,
  DEFINITION_SIZE = LT_TYPE_NAME_SIZE + 128,
  DATA_LIMIT = 16,
  WINDOW_SIZE = 256 << 10,
};

static uintptr_t allocateFunction;

void lt_block_list_init(uintptr_t allocate) { allocateFunction = allocate; }

/// The type of jemalloc's function mallctl, which reads jemalloc's settings and state.
typedef int (*control_function)(const char *name, void *old, size_t *oldSize, void *new, size_t newSize);

/// True for the versions whose layouts lt_jemalloc_heap reads: 5.1 to 5.3.
static bool is_known_jemalloc(control_function control) {
  const char *version = NULL;
  size_t size = sizeof version;
  return control("version", &version, &size, NULL, 0) == 0 && version && version[0] == '5' && version[1] == '.' &&
         version[2] >= '1' && version[2] <= '3' && version[3] == '.';
}

/// Returns the minor version of glibc, such as 36 for 2.36. Returns 0 if the release is not known.
static uint32_t libc_release(void) {
  const char *version = gnu_get_libc_version();
  uint32_t release = 0;
  if (version[0] != '2' || version[1] != '.') return 0;
  for (const char *c = version + 2; *c >= '0' && *c <= '9' && release < 1000; c++)
    release = release * 10 + (uint32_t)(*c - '0');
  return release;
}

bool lt_block_list_may_read_metadata(void) {
  // A later release of glibc may have other layouts. jemalloc is recognised by a function that only jemalloc defines. A
  // library that wraps glibc's malloc is neither glibc nor jemalloc, so the recorder keeps a set of its blocks.
  if (!lt_are_in_one_image(allocateFunction, allocateFunction)) return true;
  if (lt_are_in_one_image(allocateFunction, (uintptr_t)&gnu_get_libc_version))
    return libc_release() <= GLIBC_LAST_KNOWN;
  void *control = lt_next_symbol("mallctl");
  return control && lt_are_in_one_image(allocateFunction, (uintptr_t)control) &&
         is_known_jemalloc((control_function)control);
}

// --- memory ----------------------------------------------------------------------------------------------------------

/// The state of the list being written. Each copy writes one list.
static struct writer {
  struct lt_block_list *list;
  struct lt_memory_scan *scan;
  struct lt_object_types types;
  struct lt_word_window window;                ///< buffer for the first words of blocks
  int memory;                                  ///< descriptor of /proc/self/mem; −errno if it cannot be opened
  uint64_t (*roundingOf)(uint64_t usableSize); ///< the most bytes that rounding adds to a requested size
  uint8_t *events, *definitions;               ///< CHUNK_SIZE bytes each
  size_t eventSize, definitionSize;            ///< bytes that are used in these buffers
  uint64_t eventCount, lastAddress;
  uint32_t partCount;  ///< number of parts written, if events are recorded, too
  uint64_t literal;    ///< the last key that was written in full
  uint32_t stackDepth; ///< number of frames of the stack that a reader knows; at most STACK_LIMIT
  int error;
} writer;

/// Returns the region that contains an address, or the next region; NULL after the last one.
static const struct lt_snapshot_region *region_from(uint64_t address) {
  const struct lt_block_list *list = writer.list;
  uint32_t low = 0, high = list->regionCount;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (list->regions[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  LT_CHECK(low == 0 || list->regions[low - 1].end <= address);
  return low < list->regionCount ? &list->regions[low] : NULL;
}

/// Reads through the kernel, which stops at unreadable memory. A mapping may have pages that fault.
static size_t read_on(const struct lt_allocator_memory *metadata, uint64_t address, void *to, size_t size) {
  (void)metadata;
  size_t done = 0;
  while (done < size) {
    uint64_t at = address + done;
    long n = writer.memory < 0 ? -1
                               : lt_syscall6(SYS_pread64, writer.memory, (long)((uint8_t *)to + done),
                                             (long)(size - done), (long)at, 0, 0);
    if (n <= 0) {
      // If that file is not available, read page by page. lt_read_bytes probes the aligned words at both ends first.
      n = (long)(LT_ALLOCATOR_PAGE - at % LT_ALLOCATOR_PAGE);
      if (n > (long)(size - done)) n = (long)(size - done);
      if (!lt_read_bytes(&lt_own_memory, at, (uint8_t *)to + done, (size_t)n)) break;
    }
    done += (size_t)n;
  }
  return done;
}

/// Pages of a region that were looked up, with a flag for each page that is present.
static struct {
  uint64_t start, end;
  uint8_t pages[LT_SCAN_BLOCK_PAGES];
} known;

/// Looks up the pages that begin at a page's address, or at the next mapped page. Returns false if no page before `end`
/// is mapped.
static bool look_up_from(uint64_t address, uint64_t end) {
  struct lt_memory_scan *scan = writer.scan;
  const struct lt_snapshot_region *region;
  uint64_t first;
  for (;; address = region->end) {
    region = region_from(address);
    if (!region || region->start >= end) return false;
    first = address > region->start ? address : region->start;
    if (scan->firstPresent) first = scan->firstPresent(scan, region, first);
    if (first < region->end) break;
  }
  if (first >= end) return false;
  uint64_t pages = (region->end - first) / LT_ALLOCATOR_PAGE;
  if (pages > LT_SCAN_BLOCK_PAGES) pages = LT_SCAN_BLOCK_PAGES;
  LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES && first % LT_ALLOCATOR_PAGE == 0);
  known.start = first;
  known.end = first + pages * LT_ALLOCATOR_PAGE;
  scan->lookUpResidence(scan, region, first, (uint32_t)pages, known.pages);
  return true;
}

static bool next_present(const struct lt_allocator_memory *metadata, uint64_t start, uint64_t end,
                         struct lt_address_range *run) {
  (void)metadata;
  bool isOpen = false;
  for (uint64_t at = start & ~(uint64_t)(LT_ALLOCATOR_PAGE - 1); at < end; at += LT_ALLOCATOR_PAGE) {
    if (at < known.start || at >= known.end) {
      if (!look_up_from(at, end)) break;
      if (known.start > at) {
        if (isOpen) break;
        at = known.start;
      }
    }
    bool isPresent = known.pages[(at - known.start) / LT_ALLOCATOR_PAGE] & LT_PAGE_PRESENT;
    LT_CHECK(at >= known.start && at < known.end);
    if (isPresent && !isOpen) run->start = at > start ? at : start;
    if (!isPresent && isOpen) break;
    isOpen = isPresent;
    run->end = at + LT_ALLOCATOR_PAGE < end ? at + LT_ALLOCATOR_PAGE : end;
  }
  return isOpen;
}

// --- records ---------------------------------------------------------------------------------------------------------

static void append(uint16_t kind, const uint8_t *payload, size_t size, uint64_t count) {
  LT_CHECK(size <= CHUNK_SIZE && kind > 0 && kind <= LT_CHUNK_BLOCKS);
  if (!writer.error && size) writer.error = writer.list->append(kind, payload, size, count);
}

static void end_definitions(void) {
  append(LT_CHUNK_DEFINITIONS, writer.definitions, writer.definitionSize, 0);
  writer.definitionSize = 0;
}

/// Writes the events so far, and begins the next chunk. A type's definition is written before events that use it.
static void end_events(void) {
  end_definitions();
  append(LT_CHUNK_EVENTS, writer.events, writer.eventSize, writer.eventCount);
  writer.eventSize = 0;
  writer.eventCount = 0;
  writer.lastAddress = writer.literal = 0;
  writer.stackDepth = 0;
}

static void define_type(struct lt_object_types *types, const struct lt_met_type *type) {
  (void)types;
  if (writer.definitionSize + DEFINITION_SIZE > CHUNK_SIZE) end_definitions();
  LT_CHECK(type->number >= writer.list->firstType && type->number != type->superclass);
  uint8_t payload[DEFINITION_SIZE], *p = payload;
  p = lt_put_varint(p, type->number);
  p = lt_put_varint(p, type->metadata);
  p = lt_put_varint(p, type->description->kind);
  p = lt_put_varint(p, type->description->descriptor);
  p = lt_put_string(p, payload + sizeof payload - 16, type->description->name);
  p = lt_put_varint(p, type->superclass);
  size_t size = (size_t)(p - payload);
  LT_CHECK(size <= sizeof payload);
  uint8_t *to = writer.definitions + writer.definitionSize;
  *to++ = LT_DEF_TYPE;
  to = lt_put_varint(to, size);
  memcpy(to, payload, size);
  writer.definitionSize = (size_t)(to - writer.definitions) + size;
  LT_CHECK(writer.definitionSize <= CHUNK_SIZE);
}

/// Writes a change from the stack that the reader knows to another stack.
static uint8_t *put_stack(uint8_t *p, const uint64_t *keys, uint32_t count) {
  LT_CHECK(count <= STACK_LIMIT && writer.stackDepth <= STACK_LIMIT);
  static uint8_t change[RECORD_SIZE];
  uint8_t *q = lt_put_varint(lt_put_varint(change, writer.stackDepth), count);
  for (uint32_t i = 0; i < count; i++) {
    *q++ = LT_TOKEN_LITERAL;
    q = lt_put_varint(q, lt_zigzag((int64_t)(keys[i] - writer.literal)));
    writer.literal = keys[i];
  }
  LT_CHECK(q <= change + sizeof change);
  writer.stackDepth = count;
  *p++ = LT_CONTROL_STACK;
  p = lt_put_varint(p, (uint64_t)(q - change));
  memcpy(p, change, (size_t)(q - change));
  return p + (q - change);
}

/// Reserves room for the head of the next part, in a list that adds to events.
static void begin_part(void) {
  writer.eventSize = sizeof(struct lt_block_part);
  writer.lastAddress = 0;
}

/// Writes the blocks so far. A type's definition is written before blocks that use it.
static void end_part(bool isLast) {
  const struct lt_block_part head = {.snapshot = writer.list->number, .part = writer.partCount++, .isLast = isLast};
  end_definitions();
  memcpy(writer.events, &head, sizeof head);
  append(LT_CHUNK_BLOCKS, writer.events, writer.eventSize, 0);
  begin_part();
}

static void put_block_in_part(uint64_t address, uint64_t size, uint32_t type) {
  if (writer.eventSize + RECORD_SIZE > CHUNK_SIZE) end_part(false);
  LT_CHECK(address >= writer.lastAddress);
  uint8_t *p = writer.events + writer.eventSize;
  p = lt_put_varint(p, address - writer.lastAddress);
  p = lt_put_varint(p, size);
  p = lt_put_varint(p, type);
  writer.lastAddress = address;
  writer.eventSize = (size_t)(p - writer.events);
  LT_CHECK(writer.eventSize <= CHUNK_SIZE);
}

static void begin_heap(void) {
  uint8_t *p = writer.events;
  *p++ = LT_OP_HEAP_LISTED;
  *p++ = LT_ADDRESS_RECENT; // the most recent address, which is 0 at the beginning
  *p++ = 0;
  *p++ = 0;
  writer.eventSize = (size_t)(p - writer.events);
  writer.eventCount = 1;
}

/// Writes a block's allocation. `sample` is the block's sample, or NULL.
static void put_block(uint64_t address, uint64_t size, uint32_t type, const struct lt_sampled_block *sample) {
  if (writer.eventSize + RECORD_SIZE > CHUNK_SIZE) end_events();
  uint8_t *p = writer.events + writer.eventSize;
  LT_CHECK(writer.eventCount > 0 || writer.lastAddress == 0);
  const struct lt_sampled_site *site = sample ? lt_sampled_site_at(sample->site) : NULL;
  uint32_t depth = site ? site->keyCount : 0;
  if (depth > STACK_LIMIT) depth = STACK_LIMIT;
  if (depth || writer.stackDepth) p = put_stack(p, site ? lt_sampled_site_keys(site) : NULL, depth);
  int64_t difference = (int64_t)(address - writer.lastAddress);
  bool isEven = difference % 16 == 0;
  *p++ = (uint8_t)(LT_TAG_OPERANDS | (type ? LT_OP_OBJECT : LT_OP_MALLOC));
  *p++ = isEven ? LT_ADDRESS_DELTA16 : LT_ADDRESS_DELTA;
  *p++ = 0;
  *p++ = 0;
  p = lt_put_varint(p, lt_zigzag(isEven ? difference / 16 : difference));
  p = lt_put_varint(p, size);
  if (type) p = lt_put_varint(p, type);
  writer.lastAddress = address;
  writer.eventSize = (size_t)(p - writer.events);
  LT_CHECK(writer.eventSize <= CHUNK_SIZE);
  writer.eventCount++;
}

/// True if a block can be the sampled block. If the recorder missed the sampled block's free, a later block may have
/// the same address.
static bool is_plausible(const struct lt_sampled_block *sample, uint64_t usableSize) {
  return sample->size <= usableSize && usableSize - sample->size <= writer.roundingOf(usableSize);
}

static void list_block(void *context, uint64_t address, uint64_t usableSize) {
  (void)context;
  if (writer.error) return;
  uint64_t first, second;
  uint32_t type = 0;
  if (lt_window_word(&writer.window, address, &first) && lt_window_word(&writer.window, address + 8, &second))
    type = lt_object_type(&writer.types, first, second, usableSize);
  writer.list->blockCount++;
  if (writer.list->isBesideEvents) {
    put_block_in_part(address, lt_object_size(&writer.types, type, usableSize), type);
    return;
  }
  struct lt_sampled_block sample;
  bool isSampled = lt_sampled_blocks_find(address, &sample) && is_plausible(&sample, usableSize);
  put_block(address, isSampled ? sample.size : lt_object_size(&writer.types, type, usableSize), type,
            isSampled ? &sample : NULL);
}

// --- the allocator ---------------------------------------------------------------------------------------------------

/// The mappings of an image's file, which are adjacent.
struct image {
  const struct lt_snapshot_region *first, *last;
};

/// True if a region has the beginning of an image. Images may be adjacent, above all if the kernel has large pages.
static bool begins_image(const struct lt_snapshot_region *region) {
  uint64_t word = 0;
  return (region->flags & LT_REGION_READABLE) && lt_read_bytes(&lt_own_memory, region->start, &word, sizeof word) &&
         memcmp(&word, ELFMAG, SELFMAG) == 0;
}

/// Finds the image that contains a function. Returns false if the address is not in a mapped file.
static bool find_image(uintptr_t function, struct image *image) {
  const struct lt_block_list *list = writer.list;
  const struct lt_snapshot_region *code = region_from(function);
  if (!code || function < code->start || code->kind != LT_REGION_FILE) return false;
  image->first = image->last = code;
  while (!begins_image(image->first) && image->first > list->regions && image->first[-1].end == image->first->start &&
         image->first[-1].kind == LT_REGION_FILE)
    image->first--;
  while (image->last + 1 < list->regions + list->regionCount && image->last[1].start == image->last->end &&
         image->last[1].kind == LT_REGION_FILE && !begins_image(&image->last[1]))
    image->last++;
  LT_CHECK(image->first <= code && code <= image->last);
  return true;
}

/// Stores the ranges of the image's writable mappings in `data`. Returns their number.
static uint32_t data_of(const struct image *image, struct lt_address_range data[DATA_LIMIT]) {
  uint32_t count = 0;
  for (const struct lt_snapshot_region *r = image->first; r <= image->last && count < DATA_LIMIT; r++)
    if (r->flags & LT_REGION_WRITABLE) data[count++] = (struct lt_address_range){r->start, r->end};
  return count;
}

/// True if an address is in the image's data. Uninitialised data is in the mapping that follows the file's.
static bool has_variable(const struct image *image, uint64_t address) {
  const struct lt_block_list *list = writer.list;
  const struct lt_snapshot_region *behind = image->last + 1;
  uint64_t end = image->last->end;
  if (behind < list->regions + list->regionCount && behind->start == end) end = behind->end;
  return address >= image->first->start && address < end;
}

// In glibc, a mapped block takes whole pages, and an aligned block keeps the rest of its chunk.
static uint64_t glibc_rounding(uint64_t usableSize) {
  (void)usableSize;
  return lt_page_size() + 64;
}

// jemalloc 5.1 to 5.3 has four size classes between one power of two and the next.
static uint64_t jemalloc_rounding(uint64_t usableSize) { return usableSize / 4 + 16; }

// The recorder's set has the requested size, rounded up to a multiple of 8.
static uint64_t kept_rounding(uint64_t usableSize) {
  (void)usableSize;
  return 8;
}

/// Where the blocks come from: the metadata of the allocator whose malloc the program calls, or the recorder's own set.
enum heap_kind { GLIBC, JEMALLOC, KEPT };

/// The allocator's heap. Each copy reads one heap.
static struct {
  struct lt_allocator_memory metadata;
  struct lt_address_range data[DATA_LIMIT];
  enum heap_kind kind;
  struct lt_glibc_heap glibc;
  struct lt_jemalloc_heap jemalloc;
} heap;

static int find_heap(void) {
  const struct lt_block_list *list = writer.list;
  struct image libc, allocator;
  writer.memory = lt_open("/proc/self/mem", O_RDONLY, 0);
  heap.metadata = (struct lt_allocator_memory){.memory = &lt_own_memory,
                                               .regions = list->regions,
                                               .regionCount = list->regionCount,
                                               .threads = list->threads,
                                               .threadCount = list->threadCount,
                                               .libcRelease = libc_release(),
                                               .pageSize = (uint32_t)lt_page_size(),
                                               .data = heap.data,
                                               .readOn = read_on,
                                               .nextPresent = next_present};
  if (!lt_word_window_init(&writer.window, &heap.metadata, WINDOW_SIZE)) return -ENOMEM;
  if (lt_keeps_blocks) {
    heap.kind = KEPT;
    writer.roundingOf = kept_rounding;
    return 0;
  }
  // Find the C library's image by a function that no library interposes.
  if (!find_image((uintptr_t)&gnu_get_libc_version, &libc) || !find_image(allocateFunction, &allocator))
    return -LT_METADATA_NO_IMAGE;
  heap.metadata.dataCount = data_of(&libc, heap.data);
  heap.kind = allocator.first != libc.first ? JEMALLOC : GLIBC;
  if (heap.kind == JEMALLOC) {
    writer.roundingOf = jemalloc_rounding;
    if (!lt_jemalloc_heap_find(&heap.jemalloc, &heap.metadata))
      return heap.jemalloc.isShort ? -ENOMEM : -LT_METADATA_NO_ROOT;
    // A process may contain a second jemalloc.
    return has_variable(&allocator, heap.jemalloc.root) ? 0 : -LT_METADATA_OTHER_ROOT;
  }
  writer.roundingOf = glibc_rounding;
  return lt_glibc_heap_find(&heap.glibc, &heap.metadata) ? 0 : -heap.glibc.failure;
}

/// Calls `block` for each block; `block` may be NULL. Returns true if all of the allocator's memory was found.
static bool walk_heap(void (*block)(void *context, uint64_t address, uint64_t size)) {
  if (heap.kind == KEPT) return !block || lt_live_set_walk(block, NULL);
  if (heap.kind == JEMALLOC) {
    lt_jemalloc_heap_walk(&heap.jemalloc, block, NULL);
    return !heap.jemalloc.oddExtents && !heap.jemalloc.isShort;
  }
  lt_glibc_heap_walk(&heap.glibc, block, NULL);
  return !heap.glibc.isIncomplete && !heap.glibc.isShort;
}

/// Writes the allocator's figures. Must be called after walk_heap.
static void put_figures(void) {
  if (heap.kind == KEPT) return;
  const struct lt_allocator_figures figures =
      heap.kind == JEMALLOC ? lt_jemalloc_heap_figures(&heap.jemalloc) : lt_glibc_heap_figures(&heap.glibc);
  if (!figures.kind) return;
  uint8_t payload[LT_ALLOCATOR_PAYLOAD], definition[16 + LT_ALLOCATOR_PAYLOAD], *p = definition;
  size_t size = lt_allocator_figures_put(&figures, writer.list->time, payload);
  LT_CHECK(size <= sizeof payload);
  *p++ = LT_DEF_ALLOCATOR;
  p = lt_put_varint(p, size);
  memcpy(p, payload, size);
  append(LT_CHUNK_DEFINITIONS, definition, (size_t)(p - definition) + size, 0);
}

int lt_block_list_write(struct lt_block_list *list, struct lt_memory_scan *scan) {
  writer = (struct writer){.list = list, .scan = scan};
  LT_CHECK(list->append && list->firstType > 0 && list->regionCount > 0);
  writer.events = lt_map_private(CHUNK_SIZE);
  writer.definitions = lt_map_private(CHUNK_SIZE);
  if (!writer.events || !writer.definitions) return -ENOMEM;
  writer.types = (struct lt_object_types){.memory = &lt_own_memory,
                                          .regions = list->regions,
                                          .regionCount = list->regionCount,
                                          .firstNumber = list->firstType,
                                          .met = define_type};
  if (!lt_object_types_init(&writer.types)) return -ENOMEM;
  int error = find_heap();
  if (error) return error;
  if (list->isBesideEvents) begin_part();
  else begin_heap();
  list->isIncomplete = !walk_heap(list_block);
  if (list->isBesideEvents) end_part(true);
  else end_events();
  put_figures();
  LT_CHECK(writer.definitionSize == 0);
  list->types = writer.types.scanned;
  list->typeCount = writer.types.count;
  return writer.error;
}

int lt_block_list_account(struct lt_block_list *list, struct lt_memory_scan *scan) {
  writer = (struct writer){.list = list, .scan = scan};
  int error = find_heap();
  if (error) return error;
  walk_heap(NULL);
  put_figures();
  if (heap.kind == JEMALLOC) lt_jemalloc_heap_free(&heap.jemalloc);
  else if (heap.kind == GLIBC) lt_glibc_heap_free(&heap.glibc);
  lt_word_window_free(&writer.window);
  return writer.error;
}

// === sites ===========================================================================================================

// Writes the sites of sampled allocations, with their estimates.

enum {
  VARINT_SIZE = 10,
  FIELD_COUNT = 11,
  PAYLOAD_SIZE = (FIELD_COUNT + STACK_LIMIT) * VARINT_SIZE,
};

/// Encodes a site to `payload`, and returns the encoded size in bytes.
static size_t put_site(uint8_t *payload, uint64_t time, uint32_t number, const struct lt_sampled_site *site) {
  uint32_t count = site->keyCount < STACK_LIMIT ? site->keyCount : STACK_LIMIT;
  const uint64_t fields[FIELD_COUNT] = {time,
                                        number,
                                        site->samples,
                                        site->freedSamples,
                                        site->allocatedObjects / LT_WEIGHT_ONE,
                                        site->allocatedBytes,
                                        site->allocatedVariance,
                                        site->freedObjects / LT_WEIGHT_ONE,
                                        site->freedBytes,
                                        site->freedVariance,
                                        count};
  uint8_t *p = payload;
  for (size_t i = 0; i < FIELD_COUNT; i++) p = lt_put_varint(p, fields[i]);
  const uint64_t *keys = lt_sampled_site_keys(site);
  uint64_t before = 0;
  for (uint32_t i = 0; i < count; i++) {
    p = lt_put_varint(p, lt_zigzag((int64_t)(keys[i] - before)));
    before = keys[i];
  }
  LT_CHECK(p <= payload + PAYLOAD_SIZE);
  return (size_t)(p - payload);
}

int lt_site_list_write(uint64_t time,
                       int (*append)(uint16_t kind, const uint8_t *payload, size_t size, uint64_t eventCount)) {
  static uint8_t payload[PAYLOAD_SIZE];
  uint8_t *chunk = lt_map_private(CHUNK_SIZE), *to = chunk;
  if (!chunk) return -ENOMEM;
  int error = 0;
  for (uint32_t i = 0; !error && i < LT_SAMPLED_SITE_LIMIT; i++) {
    const struct lt_sampled_site *site = lt_sampled_site_at(i);
    if (!site || !site->samples) continue;
    size_t size = put_site(payload, time, i, site);
    if ((size_t)(chunk + CHUNK_SIZE - to) < 1 + VARINT_SIZE + size) {
      error = append(LT_CHUNK_DEFINITIONS, chunk, (size_t)(to - chunk), 0);
      to = chunk;
    }
    *to++ = LT_DEF_SAMPLED_SITE;
    to = lt_put_varint(to, size);
    memcpy(to, payload, size);
    to += size;
    LT_CHECK(to <= chunk + CHUNK_SIZE);
  }
  if (!error && to > chunk) error = append(LT_CHUNK_DEFINITIONS, chunk, (size_t)(to - chunk), 0);
  lt_unmap(chunk, CHUNK_SIZE);
  return error;
}
