// Scans the memory of a process and encodes the words that belong in a heap image.
//
// Only some kinds of words may be in an image. They are addresses in mapped memory, known numbers of the Swift runtime
// or the standard library, the numbers of threads that own locks, the times of timers, and words of metadata records.
// Tags and cases of enumerations may be there, too. Everything else may be users' data. Names of tasks are included
// only on request. Memory is scanned in two passes. Some counts of an object are in other pages. So the first pass
// finds them before the second pass encodes the pages.

#include "memory_scan.h"

#include "check.h"
#include "known_words.h"
#include "metadata_copy.h"
#include "metadata_reading.h"
#include "object_layout.h"
#include "object_words.h"

#include <errno.h>
#include <string.h>

enum { PAGE = LT_MEMORY_PAGE, EXACT_LIMIT = 64 << 20, EXACT_LIMIT_IN_NEED = 1 << 20 };

// --- residence -------------------------------------------------------------------------------------------------------

/// If the kernel's page flags cannot be read, mappings up to this size count as written to.
enum { UNKNOWN_RELRO_LIMIT = 16 << 20 };

/// True if a read-only private mapping of a file was written to. The loader does so before it makes the mapping
/// read-only.
static bool was_written(struct lt_memory_scan *s, const struct lt_snapshot_region *region) {
  if ((region->end - 1) >> LT_SCANNED_ADDRESS_BITS) return false;
  if (!s->knowsWrittenPages) return region->end - region->start <= UNKNOWN_RELRO_LIMIT;
  for (uint64_t at = region->start; (at = lt_first_present(s, region, at)) < region->end;
       at += (uint64_t)LT_SCAN_BLOCK_PAGES * PAGE) {
    uint64_t left = (region->end - at) / PAGE;
    uint32_t pages = left < LT_SCAN_BLOCK_PAGES ? (uint32_t)left : LT_SCAN_BLOCK_PAGES;
    s->lookUpResidence(s, region, at, pages, s->residence);
    LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES);
    if (memchr(s->residence, LT_PAGE_PRESENT, pages)) return true;
  }
  return false;
}

// --- objects ---------------------------------------------------------------------------------------------------------

/// Finds the ranges of an object in the current region. See lt_object_ranges.
static unsigned object_ranges(struct lt_memory_scan *s, uint64_t address, const struct lt_known_type *type,
                              uint64_t count, struct lt_verbatim_range ranges[LT_OBJECT_RANGES], unsigned *aside) {
  LT_CHECK(address >= s->region->start && address < s->region->end);
  return lt_object_ranges(s->memory, &s->index, s->region->end, address, type->storage, count, ranges, aside);
}

/// True if the `count` words at an address are all in the current region.
static bool is_in_region(const struct lt_memory_scan *s, uint64_t address, uint64_t count) {
  LT_CHECK(s->region && s->region->start < s->region->end);
  return address >= s->region->start && address <= s->region->end && (s->region->end - address) / 8 >= count;
}

/// Adds the counts at `address` if they belong to the side table of a freed object. No object refers to such a table.
static LT_NOINLINE void find_freed_side_table(struct lt_memory_scan *s, uint64_t address) {
  uint64_t table = address - SWIFT_SIDE_TABLE_COUNTS;
  uint64_t words[4];
  if (address < SWIFT_SIDE_TABLE_COUNTS || !is_in_region(s, table, 4) ||
      !lt_read_bytes(s->memory, table, words, sizeof words) || !lt_is_freed_side_table(words))
    return;
  if (lt_address_index_has(&s->index, words[0])) lt_verbatim_words_add(&s->exact, address, 1, 8);
}

/// Adds the used size of a task's slab, if a slab begins at `address`. A slab's first word refers to a metadata record
/// of kind 0 that no object has. Its second word is 0 or refers to the next slab, which has the same metadata. An
/// object has its counts in the second word, and counts are not an address.
static LT_NOINLINE void find_task_slab(struct lt_memory_scan *s, uint64_t address) {
  uint64_t slab[6];
  if (!is_in_region(s, address, 6) || !lt_read_bytes(s->memory, address, slab, sizeof slab) ||
      !lt_is_task_slab(address, slab))
    return;
  uint64_t metadata = slab[0], next = slab[1], kind = 1, nextMetadata = 0;
  if (!lt_address_index_has(&s->index, metadata) || !lt_read_bytes(s->memory, metadata, &kind, 8) || kind != 0 ||
      lt_type_set_find(&s->typeSet, metadata))
    return;
  if (next && (!lt_address_index_has(&s->index, next) || !lt_read_bytes(s->memory, next, &nextMetadata, 8) ||
               nextMetadata != metadata))
    return;
  lt_verbatim_words_add(&s->exact, address + SWIFT_SLAB_COUNTS, 1, 8);
}

/// Adds the name that starts at an address, if it is text that ends soon. The bytes after its end are left out.
static void add_name(struct lt_memory_scan *s, uint64_t name) {
  char text[SWIFT_TASK_NAME_LIMIT];
  if (name & 7 || !lt_address_index_has(&s->index, name) || !lt_address_index_has(&s->index, name + sizeof text - 1) ||
      !lt_read_bytes(s->memory, name, text, sizeof text))
    return;
  unsigned length = 0;
  while (length < sizeof text && (uint8_t)text[length] >= ' ' && text[length] != 0x7F) length++;
  if (length < sizeof text && text[length]) return;
  if (length / 8) lt_verbatim_words_add(&s->exact, name, length / 8, 8);
  if (length % 8) lt_verbatim_words_add(&s->exact, name + (length & ~7u), 1, length % 8);
}

/// Adds the name of the task at an address. The program gives tasks names for tools to show.
static LT_NOINLINE void find_task_name(struct lt_memory_scan *s, uint64_t task) {
  if (!(lt_half_at(s->memory, task + SWIFT_TASK_FLAGS) & SWIFT_TASK_IS_NAMED)) return;
  uint64_t record = lt_word_at(s->memory, task + SWIFT_TASK_RECORDS);
  for (int i = 0; i < SWIFT_RECORD_LIMIT && record && record % 8 == 0 && lt_address_index_has(&s->index, record); i++) {
    if (lt_word_at(s->memory, record) == SWIFT_RECORD_OF_NAME) {
      lt_verbatim_words_add(&s->exact, record, 1, 1);
      add_name(s, lt_word_at(s->memory, record + SWIFT_RECORD_NAME));
      return;
    }
    record = lt_word_at(s->memory, record + SWIFT_RECORD_OUTER);
  }
}

/// True if a word may be the complement of an address that is a multiple of 16. The first page has no such address.
static LT_ALWAYS_INLINE bool may_be_complement(uint64_t word) {
  return (word & 15) == 15 && word >= ~LT_WORD_ADDRESS_MASK && word < ~0xFFFull;
}

/// Adds the time of a timer of libdispatch, and the flags that name its clock, if such a timer is at `address`. A timer
/// and its source refer to each other.
static LT_NOINLINE void find_timer(struct lt_memory_scan *s, uint64_t address) {
  uint64_t timer[SWIFT_TIMER_SIZE / 8];
  if (!is_in_region(s, address, SWIFT_TIMER_SIZE / 8) || !lt_read_bytes(s->memory, address, timer, sizeof timer))
    return;
  uint64_t source = ~timer[SWIFT_TIMER_SOURCE / 8];
  if (timer[SWIFT_TIMER_FLAGS / 8] >> 40 & SWIFT_TIMER_IS_TIMER && lt_address_index_has(&s->index, timer[0]) &&
      lt_address_index_has(&s->index, timer[SWIFT_TIMER_HANDLER / 8]) && lt_address_index_has(&s->index, source) &&
      lt_word_at(s->memory, source + SWIFT_SOURCE_TIMER) == address) {
    lt_verbatim_words_add(&s->exact, address + SWIFT_TIMER_FLAGS, 1, 8);
    lt_verbatim_words_add(&s->exact, address + SWIFT_TIMER_TARGET, 1, 8);
  }
}

/// First pass: finds counts that are not in the page where their object begins, and counts that no object refers to.
static void find_apart(struct lt_memory_scan *s, uint64_t page, unsigned firstWord) {
  const uint64_t *words = s->content;
  LT_CHECK(words && page % PAGE == 0 && firstWord < LT_MEMORY_PAGE_WORDS);
  for (unsigned i = (firstWord + 1) & ~1u; i < LT_MEMORY_PAGE_WORDS; i += 2) {
    uint64_t word = words[i], slab = page + 8 * i - SWIFT_SLAB_HEADER;
    // The first allocation follows the slab's header. Its second word is the slab's address.
    if (LT_UNLIKELY(words[i + 1] == slab)) find_task_slab(s, slab);
    if (LT_UNLIKELY(may_be_complement(words[i + 1]))) find_timer(s, page + 8 * i);
    if (LT_UNLIKELY(word == LT_FREED_OBJECT_COUNTS)) find_freed_side_table(s, page + 8 * i);
    if (LT_LIKELY(word == 0 || !lt_type_set_may_have(&s->typeSet, word))) continue;
    const struct lt_known_type *type = lt_type_set_find(&s->typeSet, word);
    if (!type) continue;
    struct lt_verbatim_range ranges[LT_OBJECT_RANGES];
    unsigned aside, n = object_ranges(s, page + 8 * i, type, words[i + 1], ranges, &aside);
    LT_CHECK(n <= LT_OBJECT_RANGES && aside <= n);
    if (s->keepsTaskNames && n && type->storage == LT_STORAGE_TASK) find_task_name(s, page + 8 * i);
    for (unsigned k = 0; k < n; k++) {
      if (k < aside || ranges[k].address + 8ull * ranges[k].count > page + PAGE)
        lt_verbatim_words_add(&s->exact, ranges[k].address, ranges[k].count, ranges[k].keptBytes);
    }
  }
}

// --- words -----------------------------------------------------------------------------------------------------------

/// Writes the words of the range that are in the page, with the bytes that the range keeps.
static void put_exact(struct lt_memory_scan *s, uint64_t page, unsigned firstWord, const struct lt_verbatim_range *r) {
  const uint64_t *words = s->content;
  LT_CHECK(r->address + 8ull * r->count >= page && r->keptBytes >= 1 && r->keptBytes <= 8);
  uint64_t start = r->address > page ? (r->address - page) / 8 : 0, end = (r->address + 8ull * r->count - page) / 8;
  if (start < firstWord) start = firstWord;
  if (end > LT_MEMORY_PAGE_WORDS) end = LT_MEMORY_PAGE_WORDS;
  uint64_t mask = r->keptBytes >= 8 ? ~0ull : (1ull << 8 * r->keptBytes) - 1;
  // A count of 0 differs from an unknown count, so zeros of counts are kept. Zeros in a bitmap are not needed. An
  // object's reference counts and element counts may be merged into one range: in a deque, four words.
  enum { COUNT_LIMIT = 4 };
  bool keepsZero = r->count <= COUNT_LIMIT && r->keptBytes >= 8;
  for (uint64_t i = start; i < end; i++) {
    uint64_t word = words[i] & mask, bit = 1ull << (i & 63);
    s->words[i] = word;
    if (word || keepsZero) s->bits[i >> 6] |= bit;
    else s->bits[i >> 6] &= ~bit;
  }
}

static inline bool has_word(const struct lt_memory_scan *s, unsigned i) { return s->bits[i >> 6] >> (i & 63) & 1; }

static inline void put_word(struct lt_memory_scan *s, unsigned i, uint64_t word) {
  LT_CHECK(i < LT_MEMORY_PAGE_WORDS);
  s->words[i] = word;
  s->bits[i >> 6] |= 1ull << (i & 63);
}

/// True if the lowest byte of the word at `address` may be a case. `address` must be in the span or after it.
static inline bool is_case_place(const struct lt_case_span *span, uint64_t address) {
  uint64_t offset = address - span->origin - span->words.start;
  if (span->words.stride) offset %= span->words.stride;
  return address < span->end && offset / 8 < LT_ENUM_TAG_LIMIT && span->words.mask >> offset / 8 & 1;
}

/// Writes the lowest byte of each of the span's words in the page. Writes it only if the byte may be an enumeration's
/// case, and if the word is not an address. If an unaligned address already occupies the word's place, the address
/// moves to the next place. If the next place is taken or may hold a case, the address stays, and the byte is not
/// written. An example is a sequence of bytes, where each word looks like a case.
static void put_cases(struct lt_memory_scan *s, uint64_t page, unsigned firstWord, const struct lt_case_span *span) {
  const uint64_t *words = s->content;
  LT_CHECK(span->words.stride % 8 == 0 && page % PAGE == 0);
  uint64_t at = span->origin + span->words.start, stride = span->words.stride,
           last = page + PAGE < span->end ? page + PAGE : span->end;
  uint64_t first = page + 8ull * firstWord;
  if (stride && first > at) at += (first - at) / stride * stride;
  for (; at < last; at += stride) {
    for (uint64_t mask = span->words.mask; mask; mask &= mask - 1) {
      uint64_t address = at + 8ull * (unsigned)__builtin_ctzll(mask);
      if (address >= last) break;
      if (address < first) continue;
      unsigned i = (unsigned)(address - page) / 8;
      uint8_t byte = (uint8_t)words[i];
      if (has_word(s, i)) {
        // `isOther`: an address that begins in another byte occupies the place, and ends in the next word.
        bool isOther = (uint8_t)s->words[i] != byte && (byte == 0 || lt_is_case(byte));
        if (!isOther || i + 1 == LT_MEMORY_PAGE_WORDS || has_word(s, i + 1) || is_case_place(span, address + 8))
          continue;
        put_word(s, i + 1, s->words[i]);
      } else if (!lt_is_case(byte)) {
        continue;
      }
      put_word(s, i, byte);
    }
    if (!stride) break;
  }
}

/// Returns the part of the object at `address` that may contain cases. Returns an empty span if there is no such part.
/// `counts` is the object's last exact range. In a collection, it must be the range that locates the elements.
static struct lt_case_span case_span(const struct lt_memory_scan *s, uint64_t address, const struct lt_known_type *type,
                                     const struct lt_verbatim_range *counts) {
  struct lt_case_span none = {0}, span = {.words = type->cases, .origin = address};
  uint64_t end = s->region->end, stride = span.words.stride;
  if (!stride) {
    span.end = address + span.words.start + 8ull * (64 - (unsigned)__builtin_clzll(span.words.mask));
  } else if (type->storage == LT_STORAGE_ARRAY) {
    if (counts->address != address + SWIFT_ARRAY_COUNT) return none;
    span.end = address + span.words.start + lt_word_at(s->memory, address + SWIFT_ARRAY_COUNT) * stride;
  } else {
    // An empty bucket has memory for a value, too.
    if (counts->address != address + SWIFT_DICTIONARY_BITMAP) return none;
    uint64_t scale = lt_word_at(s->memory, address + SWIFT_TABLE_SCALE) & 0xFF;
    span.origin = lt_word_at(s->memory, address + SWIFT_DICTIONARY_VALUES);
    if (span.origin < counts->address || span.origin >= end || stride > (end - span.origin) >> scale) return none;
    span.end = span.origin + (stride << scale);
  }
  if (span.end > end || span.end < span.origin) span.end = end;
  return span;
}

static LT_NOINLINE void put_object(struct lt_memory_scan *s, uint64_t page, unsigned firstWord, unsigned i,
                                   const struct lt_known_type *type) {
  const uint64_t *words = s->content;
  struct lt_verbatim_range ranges[LT_OBJECT_RANGES];
  unsigned aside, n = object_ranges(s, page + 8 * i, type, words[i + 1], ranges, &aside);
  LT_CHECK(n <= LT_OBJECT_RANGES && aside <= n && i >= firstWord);
  for (unsigned k = aside; k < n; k++)
    if (ranges[k].address < page + PAGE) put_exact(s, page, firstWord, &ranges[k]);
  if (n == 0 || !type->cases.mask) return;
  struct lt_case_span span = case_span(s, page + 8 * i, type, &ranges[n - 1]);
  put_cases(s, page, firstWord, &span);
  if (span.end > page + PAGE) s->openCases = span;
}

static int flush(struct lt_memory_scan *s) {
  LT_CHECK(s->encoder.used <= s->encoder.size && s->encoder.size == s->partSize);
  if (s->encoder.used <= sizeof(struct lt_memory_part)) return 0;
  int error = s->writePart(s, s->encoder.buffer, s->encoder.used);
  if (error) return error;
  s->partCount++;
  struct lt_memory_part part = {.snapshot = s->snapshotNumber, .part = s->partCount};
  lt_page_encoder_begin(&s->encoder, s->partBuffer, s->partSize, &part);
  return 0;
}

/// True if a word has only bits that no reference uses. An enumeration keeps its case in these bits if the case's
/// payload is shorter. The last word of a short string looks the same: its highest byte is 0xE and the number of bytes.
/// Such a word must stay out of the image.
static LT_ALWAYS_INLINE bool is_tag(uint64_t word) {
  enum { SHORT_STRING = 0xE };
  return LT_UNLIKELY((word & LT_WORD_ADDRESS_MASK & ~7ull) == 0) && word >> 56 && word >> 60 != SHORT_STRING;
}

/// Returns the address in a word whose highest 16 bits hold a mark of the program. Clears the mark. Returns 0 if there
/// is no such address. In a Swift reference, only the highest byte may hold bits that are not part of the address.
static LT_ALWAYS_INLINE uint64_t marked_address(struct lt_memory_scan *s, uint64_t word) {
  const uint64_t lowest48 = (1ull << 48) - 1;
  if (LT_LIKELY((word & LT_WORD_ADDRESS_MASK) <= lowest48)) return 0;
  return lt_address_index_has(&s->index, word & lowest48) ? word & lowest48 : 0;
}

/// Returns 0x80 in each byte that is zero in the word, and zero in the others.
static LT_ALWAYS_INLINE uint64_t zero_bytes(uint64_t word) {
  const uint64_t low = 0x7F7F7F7F7F7F7F7Full;
  return ~(((word & low) + low) | word | low);
}

/// Returns the address that begins after the first byte of a word; 0 if there is none. The two highest bytes of an
/// address are zero. Either both are in the next word, or the lower byte is the last byte of this word.
static LT_ALWAYS_INLINE uint64_t unaligned_address(struct lt_memory_scan *s, uint64_t word, uint64_t next) {
  // If the two highest bytes of the next word are zero, they end an aligned address, which fills that word.
  const uint64_t secondHighest = 0x80ull << 48;
  if (LT_LIKELY(!(word | next))) return 0;
  uint64_t zeros = zero_bytes(next), pairs = (zeros & zeros >> 8 & ~secondHighest) << 8;
  if (!(word >> 56)) pairs |= zeros & 0x80;
  for (; LT_UNLIKELY(pairs); pairs &= pairs - 1) {
    // Bit 7 belongs to the address that begins in byte 1, bit 15 to the address that begins in byte 2.
    unsigned bits = ((unsigned)__builtin_ctzll(pairs) & ~7u) + 8;
    LT_CHECK(bits < 64);
    uint64_t address = word >> bits | next << (64 - bits);
    if (address >> 16 && lt_address_index_has(&s->index, address)) return address;
  }
  return 0;
}

/// Encodes the page whose words are in `words` and `bits`.
static int end_page(struct lt_memory_scan *s) {
  unsigned count = 0;
  for (int k = 0; k < 8; k++) count += (unsigned)__builtin_popcountll(s->bits[k]);
  LT_CHECK(count <= LT_MEMORY_PAGE_WORDS);
  if (!count) return 0;
  if (!lt_page_encoder_has_room(&s->encoder)) {
    int error = flush(s);
    if (error) return error;
  }
  lt_page_encoder_put(&s->encoder, s->pageBefore / PAGE, s->bits, s->words);
  s->pageCount++;
  s->wordCount += count;
  memset(s->bits, 0, sizeof s->bits);
  return 0;
}

/// Writes the address that begins in the last word of the previous page and ends in this page. If the place of that
/// last word is taken, returns the address instead. Otherwise returns 0.
static uint64_t put_begun(struct lt_memory_scan *s, uint64_t page) {
  if (page + PAGE > s->bytesEnd || s->pageBefore + PAGE != page) return 0;
  uint64_t begun = unaligned_address(s, s->wordBefore, s->content[0]);
  if (!begun || has_word(s, LT_MEMORY_PAGE_WORDS - 1)) return begun;
  put_word(s, LT_MEMORY_PAGE_WORDS - 1, begun);
  return 0;
}

/// Second pass: writes the words of a page, and encodes the previous page.
///
/// An unaligned address takes the place of the word that it begins in. If that word is a tag, a marked number or
/// another address, the unaligned address takes the next free place. A reader looks for addresses at the places of
/// bytes, and at places with unknown contents.
static int put_page(struct lt_memory_scan *s, uint64_t page, unsigned firstWord) {
  const uint64_t *words = s->content;
  uint16_t objects[LT_MEMORY_PAGE_WORDS / 2];
  unsigned objectCount = 0;
  bool hasBytes = page + PAGE <= s->bytesEnd;
  LT_CHECK(words && page % PAGE == 0 && firstWord < LT_MEMORY_PAGE_WORDS);
  uint64_t begun = put_begun(s, page);
  int error = end_page(s);
  if (error) return error;
  for (unsigned i = firstWord; i < LT_MEMORY_PAGE_WORDS; i++) {
    if ((i & 7) == 0) {
      while (i < LT_MEMORY_PAGE_WORDS &&
             !(words[i] | words[i + 1] | words[i + 2] | words[i + 3] | words[i + 4] | words[i + 5] | words[i + 6] |
               words[i + 7]) &&
             // The lowest bytes of an unaligned address may be zero, and are in the word before the other bytes.
             !begun && (i + 8 == LT_MEMORY_PAGE_WORDS || !words[i + 8]))
        i += 8;
      if (i >= LT_MEMORY_PAGE_WORDS) break;
    }
    uint64_t word = words[i], address = word & LT_WORD_ADDRESS_MASK;
    bool isAddress = lt_address_index_has(&s->index, address), isTag = !isAddress && is_tag(word);
    // A tag or a marked number may also be the lowest bytes of an unaligned address. The tag or number keeps its place,
    // and the unaligned address goes elsewhere. An aligned address keeps its place, too, but may be stale: bytes may
    // have overwritten the words after it.
    uint64_t marked = isAddress || isTag ? 0 : marked_address(s, word), unaligned = 0;
    if (hasBytes && i + 1 < LT_MEMORY_PAGE_WORDS) unaligned = unaligned_address(s, word, words[i + 1]);
    if (marked) word = marked;
    if (isAddress || isTag || marked) {
      if (!begun) begun = unaligned;
    } else {
      word = unaligned;
      if (!word) word = begun, begun = 0;
      if (!word) continue;
    }
    put_word(s, i, word);
    if (!(i & 1) && LT_UNLIKELY(lt_type_set_may_have(&s->typeSet, word))) objects[objectCount++] = (uint16_t)i;
  }
  if (s->openCases.end > page) put_cases(s, page, firstWord, &s->openCases);
  for (unsigned k = 0; k < objectCount; k++) {
    const struct lt_known_type *type = lt_type_set_find(&s->typeSet, words[objects[k]]);
    if (type) put_object(s, page, firstWord, objects[k], type);
  }
  if (s->openExact.address + 8ull * s->openExact.count > page) put_exact(s, page, firstWord, &s->openExact);
  while (s->nextExact < s->exact.count && s->exact.ranges[s->nextExact].address < page + PAGE) {
    struct lt_verbatim_range r = s->exact.ranges[s->nextExact++];
    uint64_t end = r.address + 8ull * r.count;
    if (end <= page) continue;
    put_exact(s, page, firstWord, &r);
    if (end > page + PAGE) s->openExact = r;
  }
  LT_CHECK(objectCount <= LT_MEMORY_PAGE_WORDS / 2);
  s->pageBefore = page;
  s->wordBefore = words[LT_MEMORY_PAGE_WORDS - 1];
  return 0;
}

// --- regions ---------------------------------------------------------------------------------------------------------

/// Returns the start of the part of a region that is in use. In a region that is surely a thread's stack, no memory
/// below the stack pointer is in use.
static uint64_t first_in_use(const struct lt_memory_scan *s, const struct lt_snapshot_region *region) {
  uint64_t lowest = UINT64_MAX, threadPointer = 0;
  for (uint32_t i = 0; i < s->threadCount; i++) {
    const struct lt_snapshot_thread *t = &s->threads[i];
    if (!(t->flags & LT_SNAPSHOT_THREAD_REGISTERS) || t->stackPointer < region->start || t->stackPointer >= region->end)
      continue;
    if (t->stackPointer < lowest) lowest = t->stackPointer, threadPointer = t->threadPointer;
  }
  if (lowest == UINT64_MAX) return region->start;
  if (region->kind != LT_REGION_MAIN_STACK) {
    // A stack that the C library mapped ends with the thread's control block, and has a guard below it. The mapping of
    // another stack may also hold other data.
    const struct lt_snapshot_region *guard = region > s->regions ? region - 1 : NULL;
    enum { ACCESSIBLE = LT_REGION_READABLE | LT_REGION_WRITABLE | LT_REGION_EXECUTABLE };
    bool hasGuard = guard && guard->end == region->start && !(guard->flags & ACCESSIBLE);
    if (!hasGuard || threadPointer <= lowest || threadPointer >= region->end) return region->start;
  }
  uint64_t first = (lowest - s->redZone) & ~7ull;
  LT_CHECK(lowest >= region->start && lowest < region->end);
  return first > region->start ? first : region->start;
}

/// Returns the end of the part of a region where an address may begin at any byte. Stacks are not in this part, since
/// they hold stale bytes of many functions.
static uint64_t bytes_end(const struct lt_memory_scan *s, const struct lt_snapshot_region *region) {
  uint64_t end = region->kind == LT_REGION_MAIN_STACK ? region->start : region->end;
  for (uint32_t i = 0; i < s->threadCount; i++) {
    uint64_t pointer = s->threads[i].stackPointer;
    if (s->threads[i].flags & LT_SNAPSHOT_THREAD_REGISTERS && pointer >= region->start && pointer < end) end = pointer;
  }
  return end;
}

/// Runs the first or the second pass over the resident pages of all captured regions.
static int go_through(struct lt_memory_scan *s, bool isSecond) {
  s->isFirstPass = !isSecond;
  for (uint32_t r = 0; r < s->regionCount; r++) {
    const struct lt_snapshot_region *region = &s->regions[r];
    // The kernel's memory is at the highest addresses, and belongs to no program.
    if (!(region->flags & LT_REGION_CAPTURED) || (region->end - 1) >> LT_SCANNED_ADDRESS_BITS) continue;
    s->region = region;
    uint64_t inUse = first_in_use(s, region);
    s->bytesEnd = bytes_end(s, region);
    LT_CHECK(inUse >= region->start && inUse < region->end);
    for (uint64_t at = inUse & ~(uint64_t)(PAGE - 1); (at = lt_first_present(s, region, at)) < region->end;
         at += (uint64_t)LT_SCAN_BLOCK_PAGES * PAGE) {
      uint64_t left = (region->end - at) / PAGE;
      uint32_t pages = left < LT_SCAN_BLOCK_PAGES ? (uint32_t)left : LT_SCAN_BLOCK_PAGES;
      LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES);
      s->lookUpResidence(s, region, at, pages, s->residence);
      for (uint32_t i = 0; i < pages; i++) {
        if (!(s->residence[i] & LT_PAGE_PRESENT)) continue;
        uint64_t page = at + (uint64_t)i * PAGE;
        unsigned firstWord = page < inUse ? (unsigned)(inUse - page) / 8 : 0;
        s->content = s->page(s, page);
        if (!s->content) continue;
        if (!isSecond) {
          find_apart(s, page, firstWord);
          continue;
        }
        s->capturedBytes += PAGE;
        int error = put_page(s, page, firstWord);
        if (error) return error;
      }
    }
  }
  return 0;
}

int lt_memory_scan_prepare(struct lt_memory_scan *s) {
  s->residence = s->memory->allocate(LT_SCAN_BLOCK_PAGES);
  if (!s->residence || !lt_address_index_build(&s->index, s->memory, s->regions, s->regionCount)) return -ENOMEM;
  if (!lt_verbatim_words_init(&s->exact, s->memory, EXACT_LIMIT) &&
      !lt_verbatim_words_init(&s->exact, s->memory, EXACT_LIMIT_IN_NEED))
    return -ENOMEM;
  for (uint32_t i = 0; i < s->regionCount; i++) {
    struct lt_snapshot_region *region = &s->regions[i];
    if (region->kind == LT_REGION_FILE && region->flags == LT_REGION_READABLE && was_written(s, region))
      region->flags |= LT_REGION_CAPTURED;
  }
  if (!lt_type_set_build(&s->typeSet, s->memory, s->types, s->typeCount)) return -ENOMEM;
  lt_add_task_types(s);
  return lt_metadata_copy(&s->exact, s->types, s->typeCount) ? 0 : -ENOMEM;
}

void lt_memory_scan_free(struct lt_memory_scan *s) {
  if (s->residence) s->memory->release(s->residence, LT_SCAN_BLOCK_PAGES);
  s->residence = NULL;
  lt_address_index_free(&s->index, s->memory);
  if (s->exact.memory) lt_verbatim_words_free(&s->exact);
  lt_type_set_free(&s->typeSet, s->memory);
}

int lt_memory_scan_run(struct lt_memory_scan *s) {
  lt_add_lock_owners(s);
  lt_add_job_queues(s);
  int error = go_through(s, false);
  if (error) return error;
  if (!lt_verbatim_words_sort(&s->exact)) return -ENOMEM;
  struct lt_memory_part part = {.snapshot = s->snapshotNumber};
  lt_page_encoder_begin(&s->encoder, s->partBuffer, s->partSize, &part);
  error = go_through(s, true);
  if (!error) error = end_page(s);
  return error ? error : flush(s);
}
