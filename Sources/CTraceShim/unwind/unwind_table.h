// Reads the unwind tables of loaded images, and applies their rows to frames.

#ifndef LEAKTRACE_UNWIND_TABLE_H
#define LEAKTRACE_UNWIND_TABLE_H

#include "arch/arch.h"
#include "check.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

// --- reading DWARF ---------------------------------------------------------------------------------------------------

// Reads the number formats of DWARF within bounds. Only reads memory.

/// Bytes that are still to be read. A number that the end cuts off is read as 0, and ends the input.
struct lt_dwarf_reader {
  const uint8_t *next, *end; ///< `next` is at most `end`
  bool isShort;              ///< more bytes were requested than there were
};

static inline void read_too_far(struct lt_dwarf_reader *r) {
  LT_CHECK(r->next <= r->end);
  r->next = r->end;
  r->isShort = true;
}

static inline uint64_t read_fixed(struct lt_dwarf_reader *r, size_t size) {
  uint64_t value = 0;
  LT_CHECK(size <= sizeof value && r->next <= r->end);
  if ((size_t)(r->end - r->next) < size) {
    read_too_far(r);
    return 0;
  }
  memcpy(&value, r->next, size);
  r->next += size;
  return value;
}

static inline uint8_t read_byte(struct lt_dwarf_reader *r) { return (uint8_t)read_fixed(r, 1); }

static inline uint64_t read_leb(struct lt_dwarf_reader *r, bool isSigned) {
  uint64_t value = 0;
  unsigned shift = 0;
  LT_CHECK(r->next <= r->end);
  while (r->next < r->end) {
    uint8_t byte = *r->next++;
    if (shift < 64) value |= (uint64_t)(byte & 0x7f) << shift;
    if (shift < 64) shift += 7;
    if (byte & 0x80) continue;
    if (isSigned && shift < 64 && byte & 0x40) value |= ~0ull << shift;
    return value;
  }
  read_too_far(r);
  return 0;
}

static inline uint64_t read_uleb(struct lt_dwarf_reader *r) { return read_leb(r, false); }
static inline int64_t read_sleb(struct lt_dwarf_reader *r) { return (int64_t)read_leb(r, true); }

/// Returns a reader of the next `size` bytes, and continues after them.
static inline struct lt_dwarf_reader read_part(struct lt_dwarf_reader *r, uint64_t size) {
  struct lt_dwarf_reader part = {.next = r->next, .end = r->next};
  if (size > (uint64_t)(r->end - r->next)) {
    read_too_far(r);
    part.isShort = true;
    return part;
  }
  part.end = r->next += size;
  LT_CHECK(part.next <= part.end && part.end <= r->end);
  return part;
}

// --- images ----------------------------------------------------------------------------------------------------------

// The images that unwinding reads, and their readable parts.

/// A mapped image. Memory outside its segments is never read.
struct lt_unwind_image {
  uintptr_t bias;
  const ElfW(Phdr) *segments; ///< program headers of all types
  uint32_t segmentCount;
  uintptr_t searchTable; ///< address of .eh_frame_hdr; 0 if there is none
  bool endsUndescribed;  ///< code of this image without unwind information is the outermost frame of a stack, as in the
                         ///< loader
};

/// Prepares the lookup of images. Called once, before any other function here.
void lt_unwind_images_init(void);
/// Finds the image that covers an address. False if there is none, or if its readable parts are unknown.
bool lt_unwind_find_image(uintptr_t address, struct lt_unwind_image *image);
/// True if the address is in the loader. The loader calls constructors from its startup code, which has no unwind
/// information and no caller.
bool lt_unwind_is_in_loader(uintptr_t address);
/// True if the address is in an executable part of an image.
bool lt_unwind_is_code(uintptr_t address);

/// Returns the segment that covers an address, if the segment has all the given flags. Otherwise returns NULL.
static inline const ElfW(Phdr) *lt_unwind_segment(const struct lt_unwind_image *image, uintptr_t address,
                                                  ElfW(Word) flags) {
  for (uint32_t i = 0; i < image->segmentCount; i++) {
    const ElfW(Phdr) *p = &image->segments[i];
    if (p->p_type == PT_LOAD && address - (image->bias + p->p_vaddr) < p->p_memsz)
      return (p->p_flags & flags) == flags ? p : NULL;
  }
  return NULL;
}

/// Returns a reader of the bytes from an address to the end of its segment. The reader is empty if no readable segment
/// has the address.
static inline struct lt_dwarf_reader lt_unwind_reader(const struct lt_unwind_image *image, uintptr_t address) {
  const ElfW(Phdr) *segment = lt_unwind_segment(image, address, PF_R);
  struct lt_dwarf_reader none = {.isShort = true};
  if (!segment) return none;
  LT_CHECK(address < image->bias + segment->p_vaddr + segment->p_memsz);
  return (struct lt_dwarf_reader){.next = (const uint8_t *)address,
                                  .end = (const uint8_t *)(image->bias + segment->p_vaddr + segment->p_memsz)};
}

// --- rows ------------------------------------------------------------------------------------------------------------

// Reads .eh_frame, which contains the rules for the step from a frame to its caller. Only reads mapped memory. Takes no
// locks and allocates nothing.

/// True if each rule of the row is complete: a rule that needs an expression has one.
LT_INVARIANT bool lt_unwind_row_is_valid(const struct lt_unwind_row *row) {
  if (row->cfaRegister > LT_REG_COUNT || (row->cfaIsExpression && (!row->cfaExpression || row->cfaOffset < 0)))
    return false;
  for (int r = 0; r < LT_REG_COUNT; r++) {
    const struct lt_saved_register *saved = &row->registers[r];
    bool isExpression = saved->rule == LT_REGISTER_AT_EXPRESSION || saved->rule == LT_REGISTER_IS_EXPRESSION;
    if (saved->rule > LT_REGISTER_IS_EXPRESSION || (isExpression && (!saved->expression || saved->offset < 0)))
      return false;
  }
  return true;
}

/// Finds the row for a code address. If `isExact` is true, the row is for the address itself, otherwise for the call
/// before it. False if no image covers the address, or if the image has no row for it.
bool lt_unwind_row(uintptr_t address, bool isExact, struct lt_unwind_row *row);
/// Finds the row in the given image, whose contents may be invalid.
bool lt_unwind_row_in(const struct lt_unwind_image *image, uintptr_t address, bool isExact, struct lt_unwind_row *row);

/// Steps to the caller: replaces `registers` by the caller's registers, as `row` describes. False if a rule cannot be
/// applied, or if memory is unreadable. Calls `isReadable` before it reads an address that the caller does not
/// guarantee.
bool lt_unwind_apply(const struct lt_unwind_row *row, struct lt_registers *registers,
                     bool (*isReadable)(void *context, uintptr_t address), void *context);

#endif
