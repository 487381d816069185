// The images that unwinding reads, and the parts of them that can be read.

#ifndef LEAKTRACE_UNWIND_IMAGE_H
#define LEAKTRACE_UNWIND_IMAGE_H

#include "check.h"
#include "unwind/dwarf_reading.h"

#include <link.h>
#include <stdbool.h>
#include <stdint.h>

/// An image as it is mapped. Memory outside its segments is never read.
struct lt_unwind_image {
  uintptr_t bias;
  const ElfW(Phdr) *segments; ///< program headers, of any kind
  uint32_t segmentCount;
  uintptr_t searchTable; ///< .eh_frame_hdr; 0 if there is none
  bool endsUndescribed;  ///< a stack begins in code without a description, as in the loader
};

/// Prepares the lookup of images. Called once, before any other function here.
void lt_unwind_images_init(void);
/// The image that covers an address. False if there is none, or its readable parts are unknown.
bool lt_unwind_find_image(uintptr_t address, struct lt_unwind_image *image);
/// True if the address is the loader's. The loader calls constructors from its first instructions, which have no
/// description, and no caller.
bool lt_unwind_is_in_loader(uintptr_t address);
/// True if the address is in an executable part of an image.
bool lt_unwind_is_code(uintptr_t address);

/// The segment that covers an address, if all the given flags are set on it. NULL otherwise.
static inline const ElfW(Phdr) *lt_unwind_segment(const struct lt_unwind_image *image, uintptr_t address,
                                                  ElfW(Word) flags) {
  for (uint32_t i = 0; i < image->segmentCount; i++) {
    const ElfW(Phdr) *p = &image->segments[i];
    if (p->p_type == PT_LOAD && address - (image->bias + p->p_vaddr) < p->p_memsz)
      return (p->p_flags & flags) == flags ? p : NULL;
  }
  return NULL;
}

/// Returns a reader of the bytes from an address to the end of its segment. The reader is empty outside the image.
static inline struct lt_dwarf_reader lt_unwind_reader(const struct lt_unwind_image *image, uintptr_t address) {
  const ElfW(Phdr) *segment = lt_unwind_segment(image, address, PF_R);
  struct lt_dwarf_reader none = {.isShort = true};
  if (!segment) return none;
  LT_CHECK(address < image->bias + segment->p_vaddr + segment->p_memsz);
  return (struct lt_dwarf_reader){.next = (const uint8_t *)address,
                                  .end = (const uint8_t *)(image->bias + segment->p_vaddr + segment->p_memsz)};
}

#endif
