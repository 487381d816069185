// Scans a process's memory, which must not change during the scan, and encodes the words that belong in a heap image.

#ifndef LEAKTRACE_MEMORY_SCAN_H
#define LEAKTRACE_MEMORY_SCAN_H

#include "address_index.h"
#include "check.h"
#include "exact_words.h"
#include "page_encoder.h"
#include "type_set.h"

/// Part of an object that may contain cases of enumerations.
struct lt_case_span {
  struct lt_case_words words;
  uint64_t origin, end; ///< `words.start` counts from `origin`
};

/// A page is readable without reading a file or making zeros. For a file's mapping: the page was written to.
enum { LT_PAGE_PRESENT = 1 };

/// A scan, and its caller's input.
struct lt_memory_scan {
  const struct lt_memory *memory;
  /// In order of address, none overlapping. Regions marked LT_REGION_CAPTURED are scanned.
  struct lt_snapshot_region *regions;
  uint32_t regionCount;
  const struct lt_scanned_type *types; ///< of all objects
  uint32_t typeCount;
  const struct lt_snapshot_thread *threads; ///< their stacks are in use from their stack pointers up
  uint32_t threadCount;
  uint64_t redZone; ///< bytes below a stack pointer that are in use
  uint32_t snapshotNumber;
  /// The words of a present page, valid until the next call. NULL if it cannot be read after all.
  const uint64_t *(*page)(struct lt_memory_scan *scan, uint64_t address);
  /// Fills in `residence`, one byte per page, for pages of a region.
  void (*lookUpResidence)(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address,
                          uint32_t pages, uint8_t *residence);
  /// The first page in [address, end of the region) that may be present, or the region's end. NULL: unknown.
  uint64_t (*firstPresent)(struct lt_memory_scan *scan, const struct lt_snapshot_region *region, uint64_t address);
  bool knowsWrittenPages; ///< `lookUpResidence` reports whether files' pages were written to
  /// Takes a part. Returns 0, or −errno to end the scan.
  int (*writePart)(struct lt_memory_scan *scan, const uint8_t *part, size_t size);
  void *context;       ///< the caller's
  uint8_t *partBuffer; ///< `partSize` bytes, owned by the caller
  size_t partSize;

  // Results.
  uint32_t partCount;
  uint64_t pageCount, wordCount, capturedBytes;
  uint32_t unreadablePages; ///< unreadable pages, as far as the caller counts them

  // The scan's own state.
  struct lt_address_index index;
  struct lt_exact_words exact;
  struct lt_type_set typeSet;
  uint8_t *residence; ///< one byte per page of the current block
  bool isFirstPass;   ///< the pages are seen for the first time
  struct lt_page_encoder encoder;
  const struct lt_snapshot_region *region;
  const uint64_t *content;         ///< of the current page: LT_MEMORY_PAGE_WORDS words
  uint64_t nextExact;              ///< index of the first range that no page has reached; grows only
  struct lt_exact_range openExact; ///< a range that goes on in the next page
  struct lt_case_span openCases;   ///< of the object that goes on in the next page
  uint64_t bytesEnd;               ///< the end of the region's part whose bytes may be addresses
  uint64_t pageBefore, wordBefore; ///< the page that was encoded last, and its last word
  uint64_t words[LT_MEMORY_PAGE_WORDS], bits[8];
};

/// The most pages for one call of `lookUpResidence`.
enum { LT_SCAN_BLOCK_PAGES = 4096 };

/// Indexes the regions and finds the metadata. Marks read-only mappings of files that the loader wrote to as captured.
/// Returns 0 or −errno; lt_memory_scan_free must be called in any case, unless the process ends.
int lt_memory_scan_prepare(struct lt_memory_scan *scan);
/// Encodes and writes the image: all captured regions except unused stack. Returns 0 or −errno. Linear in the resident
/// memory.
int lt_memory_scan_run(struct lt_memory_scan *scan);
void lt_memory_scan_free(struct lt_memory_scan *scan);

#endif
