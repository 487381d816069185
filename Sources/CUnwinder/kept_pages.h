// Keeps pages of another process's memory, so that each page is read once.

#ifndef LEAKTRACE_KEPT_PAGES_H
#define LEAKTRACE_KEPT_PAGES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LT_PAGE_SIZE = 4096, LT_KEPT_PAGES = 1024 };

struct lt_kept_page {
  uint64_t key;  ///< the address of its first byte, plus 1; 0 if no page is kept here
  uint32_t size; ///< the number of known bytes from its start
  uint8_t bytes[LT_PAGE_SIZE];
};

/// All zeros if no page is kept.
struct lt_kept_pages {
  struct lt_kept_page pages[LT_KEPT_PAGES];
};

/// Copies memory. `read` reads the pages that are not kept: see struct lt_unwind_source. Returns false if a byte is
/// unknown.
bool lt_kept_pages_read(struct lt_kept_pages *kept, size_t (*read)(void *, uint64_t, void *, size_t), void *context,
                        uint64_t address, void *into, size_t size);

/// Drops all pages.
void lt_kept_pages_forget(struct lt_kept_pages *kept);

#endif
