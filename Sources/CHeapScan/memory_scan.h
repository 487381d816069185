// Scans a process's memory, which must not change during the scan, and encodes the words that belong in a heap image.

#ifndef LEAKTRACE_MEMORY_SCAN_H
#define LEAKTRACE_MEMORY_SCAN_H

#include "address_index.h"
#include "check.h"
#include "page_encoder.h"
#include "type_set.h"
#include "verbatim_words.h"

/// Part of an object that may contain cases of enumerations.
struct lt_case_span {
  struct lt_enum_tags words;
  uint64_t origin, end; ///< `words.start` counts from `origin`
};

/// The flag of a page that can be read without loading it from a file or filling it with zeros. In a file's mapping,
/// the flag means that the page was written to.
enum { LT_PAGE_PRESENT = 1 };

/// The state of a scan, with the caller's input and the results.
struct lt_memory_scan {
  const struct lt_memory *memory;
  /// In order of address, none overlapping. Regions marked LT_REGION_CAPTURED are scanned.
  struct lt_snapshot_region *regions;
  uint32_t regionCount;
  const struct lt_scanned_type *types; ///< of all objects
  uint32_t typeCount;
  const struct lt_snapshot_thread *threads; ///< their stacks are in use from their stack pointers up
  uint32_t threadCount;
  uint64_t redZone;          ///< bytes below a stack pointer that are in use
  uint32_t argumentRegister; ///< the index of the register with the first argument of a system call
  uint32_t snapshotNumber;
  /// Returns the words of a present page, valid until the next call. Returns NULL if the page cannot be read after all.
  const uint64_t *(*page)(struct lt_memory_scan *scan, uint64_t address);
  /// Fills in `residence` for pages of a region: one byte per page, 0 or LT_PAGE_PRESENT.
  void (*lookUpResidence)(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address,
                          uint32_t pages, uint8_t *residence);
  /// Returns the first page in [address, end of the region) that may be present, or the region's end. This function
  /// pointer is NULL if the caller cannot know; then no pages are skipped.
  uint64_t (*firstPresent)(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address);
  bool knowsWrittenPages; ///< `lookUpResidence` reports whether files' pages were written to
  bool keepsTaskNames;    ///< the image has the names of tasks, which are text of the program. False in the recorder
  /// Called with each part of the image. Returns 0, or −errno to end the scan.
  int (*writePart)(struct lt_memory_scan *scan, const uint8_t *part, size_t size);
  void *context;       ///< for the caller's use
  uint8_t *partBuffer; ///< `partSize` bytes, owned by the caller
  size_t partSize;

  // Results.
  uint32_t partCount;
  uint64_t pageCount, wordCount, capturedBytes;
  uint32_t unreadablePages; ///< pages that could not be read; only the caller counts them

  // The scan's own state.
  struct lt_address_index index;
  struct lt_verbatim_words exact;
  struct lt_type_set typeSet;
  uint8_t *residence; ///< one byte per page of the current block
  bool hasTaskType;   ///< true if the process has a concurrency runtime
  bool isFirstPass;   ///< true during the first of the two passes
  struct lt_page_encoder encoder;
  const struct lt_snapshot_region *region;
  const uint64_t *content;            ///< the words of the current page: LT_MEMORY_PAGE_WORDS of them
  uint64_t nextExact;                 ///< index of the first range after the current page; only grows
  struct lt_verbatim_range openExact; ///< a range that continues in the next page
  struct lt_case_span openCases;      ///< the span of an object that continues in the next page
  uint64_t bytesEnd;                  ///< the end of the region's part where an address may begin at any byte
  uint64_t pageBefore, wordBefore;    ///< the previous page, and its last word
  uint64_t words[LT_MEMORY_PAGE_WORDS], bits[8];
};

/// The most pages for one call of `lookUpResidence`.
enum { LT_SCAN_BLOCK_PAGES = 4096 };

/// Returns the first page from `at` on that may be present, or the region's end. `at` may be beyond that end.
static inline uint64_t lt_first_present(struct lt_memory_scan *s, const struct lt_snapshot_region *region,
                                        uint64_t at) {
  if (at >= region->end) return region->end;
  uint64_t first = s->firstPresent ? s->firstPresent(s, region, at) : at;
  LT_CHECK(first >= at && first <= region->end && (first % LT_MEMORY_PAGE == 0 || first == region->end));
  return first;
}

/// Indexes the regions and finds the metadata. Also marks as captured the read-only file mappings that the loader wrote
/// to. Returns 0 or −errno. Call lt_memory_scan_free in either case, unless the process ends.
int lt_memory_scan_prepare(struct lt_memory_scan *scan);
/// Encodes and writes the image: all captured regions except unused parts of stacks. Returns 0 or −errno. Takes time
/// linear in the resident memory.
int lt_memory_scan_run(struct lt_memory_scan *scan);
void lt_memory_scan_free(struct lt_memory_scan *scan);

#endif
