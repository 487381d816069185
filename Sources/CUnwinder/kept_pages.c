#include "kept_pages.h"

#include <string.h>

bool lt_kept_pages_read(struct lt_kept_pages *kept, size_t (*read)(void *, uint64_t, void *, size_t), void *context,
                        uint64_t address, void *into, size_t size) {
  for (size_t done = 0; done < size;) {
    uint64_t at = address + done, offset = at % LT_PAGE_SIZE, first = at - offset;
    struct lt_kept_page *page = &kept->pages[first / LT_PAGE_SIZE % LT_KEPT_PAGES];
    if (page->key != first + 1) {
      page->size = (uint32_t)read(context, first, page->bytes, LT_PAGE_SIZE);
      page->key = first + 1;
    }
    size_t count = page->size > offset ? page->size - offset : 0;
    if (count > size - done) count = size - done;
    if (count == 0) return false;
    memcpy((uint8_t *)into + done, page->bytes + offset, count);
    done += count;
  }
  return true;
}

void lt_kept_pages_forget(struct lt_kept_pages *kept) {
  for (size_t i = 0; i < LT_KEPT_PAGES; i++) kept->pages[i].key = 0;
}
