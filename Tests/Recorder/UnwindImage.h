// An image that is made from bytes. It begins with .eh_frame_hdr, and has one segment that ends where the bytes end.

#ifndef RECORDER_UNWIND_IMAGE_H
#define RECORDER_UNWIND_IMAGE_H

#include "unwind/unwind_table.h"

#include <stdlib.h>
#include <string.h>

struct unwind_image {
  struct lt_unwind_image image;
  ElfW(Phdr) segment;
  uint8_t *bytes;
};

static inline bool unwind_image_make(struct unwind_image *made, const uint8_t *bytes, size_t size) {
  made->bytes = malloc(size);
  if (!made->bytes) return false;
  memcpy(made->bytes, bytes, size);
  made->segment =
      (ElfW(Phdr)){.p_type = PT_LOAD, .p_flags = PF_R | PF_X, .p_vaddr = (uintptr_t)made->bytes, .p_memsz = size};
  made->image =
      (struct lt_unwind_image){.segments = &made->segment, .segmentCount = 1, .searchTable = (uintptr_t)made->bytes};
  return true;
}

static inline void unwind_image_free(struct unwind_image *made) { free(made->bytes); }

/// The memory that expressions can read: these words, and nothing else.
struct unwind_words {
  uint64_t words[16];
};

static inline bool unwind_words_have(void *context, uintptr_t address) {
  return address >= (uintptr_t)context && address - (uintptr_t)context <= sizeof(struct unwind_words) - 16;
}

/// Looks up every address in the image, and applies each row that is found.
static inline void unwind_image_try(const uint8_t *bytes, size_t size) {
  struct unwind_image made;
  if (!unwind_image_make(&made, bytes, size)) return;
  for (size_t at = 0; at <= size; at += size > 256 ? 7 : 1) {
    for (int isExact = 0; isExact < 2; isExact++) {
      struct lt_unwind_row row;
      uintptr_t address = (uintptr_t)made.bytes + at;
      if (!lt_unwind_row_in(&made.image, address, isExact, &row)) continue;
      struct unwind_words memory = {{0}};
      struct lt_registers registers = {{0}};
      for (int i = 0; i < LT_REG_COUNT; i++)
        registers.value[i] = (uintptr_t)&memory + 8 * (unsigned)i % sizeof memory.words;
      registers.value[LT_REG_PC] = address;
      lt_unwind_apply(&row, &registers, unwind_words_have, &memory);
    }
  }
  unwind_image_free(&made);
}

#endif
