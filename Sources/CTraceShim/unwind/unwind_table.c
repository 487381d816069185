// Reads .eh_frame, the rules for stepping from a frame to its caller. Source: DWARF 5, section 6.4; System V ABI for
// x86-64, section 3.7; Linux Standard Base, "Exception Frames".

#define _GNU_SOURCE
#include "unwind/unwind_table.h"

#include "check.h"
#include "unwind/dwarf_reading.h"

#include <string.h>

// --- pointers --------------------------------------------------------------------------------------------------------

/// A pointer in one of the DW_EH_PE encodings. `dataBase` serves datarel. False for encodings that do not occur here,
/// and beyond the end.
static bool read_encoded(const struct lt_unwind_image *image, struct lt_dwarf_reader *r, uint8_t encoding,
                         uintptr_t dataBase, uintptr_t *result) {
  uintptr_t place = (uintptr_t)r->next, value;
  LT_CHECK(r->next <= r->end);
  *result = 0;
  if (encoding == 0xff) return true; // omitted
  switch (encoding & 0x0f) {
    case 0x00: value = read_fixed(r, 8); break;
    case 0x01: value = read_uleb(r); break;
    case 0x02: value = read_fixed(r, 2); break;
    case 0x03: value = read_fixed(r, 4); break;
    case 0x04: value = read_fixed(r, 8); break;
    case 0x09: value = (uintptr_t)read_sleb(r); break;
    case 0x0a: value = (uintptr_t)(int64_t)(int16_t)read_fixed(r, 2); break;
    case 0x0b: value = (uintptr_t)(int64_t)(int32_t)read_fixed(r, 4); break;
    case 0x0c: value = read_fixed(r, 8); break;
    default: return false;
  }
  if (value) {
    switch (encoding & 0x70) {
      case 0x00: break;
      case 0x10: value += place; break;
      case 0x30: value += dataBase; break;
      default: return false;
    }
    if (encoding & 0x80) {
      struct lt_dwarf_reader indirect = lt_unwind_reader(image, value);
      value = read_fixed(&indirect, sizeof value);
      if (indirect.isShort) return false;
    }
  }
  *result = value;
  return !r->isShort;
}

// --- frame description entries ---------------------------------------------------------------------------------------

struct frame_description {
  uintptr_t start, end;
  struct lt_dwarf_reader program, initial;
  uint64_t codeAlignment;
  int64_t dataAlignment;
  uint64_t returnRegister;
  bool isSignalFrame;
  bool hasAugmentationData;
};

/// The contents of the entry at an address. False if it has none, or is longer than the readable bytes.
static bool open_entry(const struct lt_unwind_image *image, uintptr_t address, struct lt_dwarf_reader *entry) {
  struct lt_dwarf_reader r = lt_unwind_reader(image, address);
  uint32_t length = (uint32_t)read_fixed(&r, 4);
  if (length == 0 || length == 0xffffffffu) return false;
  *entry = read_part(&r, length);
  LT_CHECK(r.isShort || entry->next + length == entry->end);
  return !r.isShort;
}

static bool parse_common_entry(const struct lt_unwind_image *image, uintptr_t address, struct frame_description *d,
                               uint8_t *pointerEncoding) {
  struct lt_dwarf_reader r;
  if (!open_entry(image, address, &r) || read_fixed(&r, 4) != 0) return false;
  uint8_t version = read_byte(&r);
  const char *augmentation = (const char *)r.next, *augmentationEnd = memchr(augmentation, 0, (size_t)(r.end - r.next));
  if (!augmentationEnd || (version != 1 && version != 3)) return false;
  r.next = (const uint8_t *)augmentationEnd + 1;
  LT_CHECK(r.next <= r.end);
  d->codeAlignment = read_uleb(&r);
  d->dataAlignment = read_sleb(&r);
  d->returnRegister = version == 1 ? read_byte(&r) : read_uleb(&r);
  *pointerEncoding = 0;
  d->isSignalFrame = false;
  d->hasAugmentationData = augmentation[0] == 'z';
  if (augmentation[0] == 'z') {
    struct lt_dwarf_reader data = read_part(&r, read_uleb(&r));
    for (const char *a = augmentation + 1; *a; a++) {
      uintptr_t ignored;
      if (*a == 'R') *pointerEncoding = read_byte(&data);
      else if (*a == 'L') read_byte(&data);
      else if (*a == 'S') d->isSignalFrame = true;
      else if (*a == 'P') {
        uint8_t encoding = read_byte(&data);
        if (!read_encoded(image, &data, encoding & 0x7f, 0, &ignored)) return false;
      } else break;
    }
    if (data.isShort) return false;
  } else if (augmentation[0]) {
    return false;
  }
  d->initial = r;
  return !r.isShort;
}

static bool parse_frame_entry(const struct lt_unwind_image *image, uintptr_t address, struct frame_description *d) {
  struct lt_dwarf_reader r;
  if (!open_entry(image, address, &r)) return false;
  uintptr_t idField = (uintptr_t)r.next;
  uint32_t commonOffset = (uint32_t)read_fixed(&r, 4);
  if (commonOffset == 0) return false;
  uint8_t encoding;
  if (!parse_common_entry(image, idField - commonOffset, d, &encoding)) return false;
  uintptr_t size;
  if (!read_encoded(image, &r, encoding, 0, &d->start)) return false;
  if (!read_encoded(image, &r, encoding & 0x0f, 0, &size)) return false;
  d->end = d->start + size;
  if (d->hasAugmentationData) read_part(&r, read_uleb(&r));
  d->program = r;
  return !r.isShort;
}

/// `*gap` is set to the end of the last described function before the address, when none covers it.
static bool find_frame_description(const struct lt_unwind_image *image, uintptr_t address, struct frame_description *d,
                                   uintptr_t *gap) {
  *gap = 0;
  struct lt_dwarf_reader r = lt_unwind_reader(image, image->searchTable);
  if (!image->searchTable || read_byte(&r) != 1) return false;
  uint8_t frameEncoding = read_byte(&r), countEncoding = read_byte(&r), tableEncoding = read_byte(&r);
  uintptr_t frames, count;
  if (!read_encoded(image, &r, frameEncoding, image->searchTable, &frames)) return false;
  if (!read_encoded(image, &r, countEncoding, image->searchTable, &count)) return false;
  struct entry {
    int32_t location, description;
  };
  if (tableEncoding != 0x3b || count == 0) return false; // datarel sdata4, sorted: what every linker writes
  if (count > (size_t)(r.end - r.next) / sizeof(struct entry)) return false;
  int64_t target = (int64_t)(address - image->searchTable);
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    struct entry e;
    memcpy(&e, r.next + middle * sizeof e, sizeof e);
    if (e.location <= target) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return false;
  struct entry e;
  memcpy(&e, r.next + (low - 1) * sizeof e, sizeof e);
  if (!parse_frame_entry(image, image->searchTable + (uintptr_t)(intptr_t)e.description, d)) return false;
  if (address >= d->start && address < d->end) return true;
  if (address >= d->end) *gap = d->end;
  return false;
}

// --- call frame programs ---------------------------------------------------------------------------------------------

enum { STATE_STACK_DEPTH = 8 };

/// Executes the instructions up to those for `address`. False at an unknown instruction, or one that extends beyond its
/// entry.
static bool run_program(struct lt_dwarf_reader program, const struct frame_description *d, uintptr_t address,
                        const struct lt_unwind_row *initialRow, struct lt_unwind_row *row) {
  struct lt_dwarf_reader *p = &program;
  struct lt_unwind_row remembered[STATE_STACK_DEPTH];
  unsigned depth = 0;
  uintptr_t location = d->start;
  // Products wrap: an invalid factor gives an invalid address, and addresses are checked before they are read.
#define SCALED(number) ((int64_t)((uint64_t)(number) * (uint64_t)d->dataAlignment))
#define SET(register_, rule_, offset_, expression_)  \
  do {                                               \
    uint64_t r_ = (register_);                       \
    if (r_ < LT_REG_COUNT) {                         \
      row->registers[r_].rule = (rule_);             \
      row->registers[r_].offset = (offset_);         \
      row->registers[r_].expression = (expression_); \
    }                                                \
  } while (0)
#define SET_FRAME_REGISTER(register_)                                  \
  do {                                                                 \
    uint64_t r_ = (register_);                                         \
    row->cfaRegister = r_ < LT_REG_COUNT ? (uint8_t)r_ : LT_REG_COUNT; \
    row->cfaIsExpression = false;                                      \
  } while (0)
#define ADVANCE(steps)                               \
  do {                                               \
    location += (uintptr_t)(steps)*d->codeAlignment; \
    if (location > address) return !p->isShort;      \
  } while (0)
  while (p->next < p->end) {
    LT_CHECK(depth <= STATE_STACK_DEPTH && row->cfaRegister <= LT_REG_COUNT);
    uint8_t instruction = read_byte(p), low = instruction & 0x3f;
    uint64_t reg;
    int64_t offset;
    struct lt_dwarf_reader expression;
    switch (instruction & 0xc0) {
      case 0x40: ADVANCE(low); continue; // advance_loc
      case 0x80:                         // offset
        offset = SCALED(read_uleb(p));
        SET(low, LT_REGISTER_AT_OFFSET, offset, NULL);
        continue;
      case 0xc0: // restore
        if (low < LT_REG_COUNT) row->registers[low] = initialRow->registers[low];
        continue;
    }
    switch (instruction) {
      case 0x00: break; // nop
      case 0x01:        // set_loc
        location = read_fixed(p, 8);
        if (location > address) return !p->isShort;
        break;
      case 0x02: ADVANCE(read_byte(p)); break;
      case 0x03: ADVANCE(read_fixed(p, 2)); break;
      case 0x04: ADVANCE(read_fixed(p, 4)); break;
      case 0x05:
        reg = read_uleb(p);
        offset = SCALED(read_uleb(p));
        SET(reg, LT_REGISTER_AT_OFFSET, offset, NULL);
        break;
      case 0x06:
        reg = read_uleb(p);
        if (reg < LT_REG_COUNT) row->registers[reg] = initialRow->registers[reg];
        break;
      case 0x07:
        reg = read_uleb(p);
        SET(reg, LT_REGISTER_UNDEFINED, 0, NULL);
        break;
      case 0x08:
        reg = read_uleb(p);
        SET(reg, LT_REGISTER_SAME, 0, NULL);
        break;
      case 0x09:
        reg = read_uleb(p);
        offset = (int64_t)read_uleb(p);
        SET(reg, LT_REGISTER_IN_REGISTER, offset, NULL);
        break;
      case 0x0a: // remember_state
        if (depth == STATE_STACK_DEPTH) return false;
        remembered[depth++] = *row;
        break;
      case 0x0b: // restore_state
        if (depth == 0) return false;
        *row = remembered[--depth];
        break;
      case 0x0c: // def_cfa
        SET_FRAME_REGISTER(read_uleb(p));
        row->cfaOffset = (int64_t)read_uleb(p);
        break;
      case 0x0d: SET_FRAME_REGISTER(read_uleb(p)); break;
      case 0x0e: row->cfaOffset = (int64_t)read_uleb(p); break;
      case 0x0f: // def_cfa_expression
        expression = read_part(p, read_uleb(p));
        row->cfaIsExpression = true;
        row->cfaExpression = expression.next;
        row->cfaOffset = expression.end - expression.next;
        break;
      case 0x10:
      case 0x16:
        reg = read_uleb(p);
        expression = read_part(p, read_uleb(p));
        SET(reg, instruction == 0x10 ? LT_REGISTER_AT_EXPRESSION : LT_REGISTER_IS_EXPRESSION,
            expression.end - expression.next, expression.next);
        break;
      case 0x11:
        reg = read_uleb(p);
        offset = SCALED(read_sleb(p));
        SET(reg, LT_REGISTER_AT_OFFSET, offset, NULL);
        break;
      case 0x12:
        SET_FRAME_REGISTER(read_uleb(p));
        row->cfaOffset = SCALED(read_sleb(p));
        break;
      case 0x13: row->cfaOffset = SCALED(read_sleb(p)); break;
      case 0x14:
        reg = read_uleb(p);
        offset = SCALED(read_uleb(p));
        SET(reg, LT_REGISTER_IS_OFFSET, offset, NULL);
        break;
      case 0x15:
        reg = read_uleb(p);
        offset = SCALED(read_sleb(p));
        SET(reg, LT_REGISTER_IS_OFFSET, offset, NULL);
        break;
      case 0x2e: read_uleb(p); break; // GNU_args_size
      default: return false;
    }
  }
#undef SCALED
#undef SET
#undef SET_FRAME_REGISTER
#undef ADVANCE
  return !p->isShort;
}

/// True if a described function begins at the address, and no call precedes it. Code that makes stacks, such as
/// makecontext, puts such an address there, as the function to run when the outermost one returns.
static bool is_planted(const struct lt_unwind_image *image, uintptr_t address) {
  struct frame_description d;
  uintptr_t gap;
  if (!find_frame_description(image, address, &d, &gap) || d.start != address || d.isSignalFrame) return false;
  return !lt_follows_call(address);
}

bool lt_unwind_row_in(const struct lt_unwind_image *image, uintptr_t address, bool isExact, struct lt_unwind_row *row) {
  enum { LOOK_BACK = 8 };
  uintptr_t lookup = isExact ? address : address - 1;
  struct frame_description d;
  memset(row, 0, sizeof *row);
  uintptr_t gap;
  const ElfW(Phdr) *code = lt_unwind_segment(image, lookup, PF_R);
  row->isAfterCode = code && lookup - (image->bias + code->p_vaddr) >= LOOK_BACK;
  if (!find_frame_description(image, lookup, &d, &gap)) {
    if (image->endsUndescribed) {
      row->registers[LT_REG_RA].rule = LT_REGISTER_UNDEFINED;
      return true;
    }
    if (!gap || isExact || !code) return false;
    // A description may give a wrong end of its function, and one may end in another segment.
    uintptr_t first = image->bias + code->p_vaddr;
    if (lt_prologue_row(address, gap > first ? gap : first, row)) return true;
    if (!row->isAfterCode || !is_planted(image, address)) return false;
    memset(row, 0, sizeof *row);
    row->registers[LT_REG_RA].rule = LT_REGISTER_UNDEFINED;
    return true;
  }
  if (d.returnRegister != LT_REG_RA) return false;
  struct lt_unwind_row initial = *row;
  if (!run_program(d.initial, &d, UINTPTR_MAX, row, &initial)) return false;
  *row = initial;
  if (!run_program(d.program, &d, lookup, &initial, row)) return false;
  row->isSignalFrame = d.isSignalFrame;
  LT_CHECK(lt_unwind_row_is_valid(row));
  return true;
}

bool lt_unwind_row(uintptr_t address, bool isExact, struct lt_unwind_row *row) {
  struct lt_unwind_image image = {.segmentCount = 0};
  bool isFound = lt_unwind_find_image(isExact ? address : address - 1, &image);
  image.endsUndescribed = lt_unwind_is_in_loader(address);
  if (isFound || image.endsUndescribed) return lt_unwind_row_in(&image, address, isExact, row);
  memset(row, 0, sizeof *row);
  return false;
}
