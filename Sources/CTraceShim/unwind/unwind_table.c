// Reads the unwind tables of loaded images, and applies their rows to frames.

#define _GNU_SOURCE
#include "unwind/unwind_table.h"

#include "check.h"
#include "elf/elf_image.h"

#include <string.h>
#include <sys/auxv.h>

// === images ==========================================================================================================

// If the loader offers _dl_find_object (glibc 2.35), calls nothing that allocates or locks. Otherwise calls
// dl_iterate_phdr.

struct found_object { // struct dl_find_object of <dlfcn.h>, defined here since older headers lack it
  unsigned long long flags;
  void *mapStart, *mapEnd;
  struct link_map *linkMap;
  void *ehFrame;
  unsigned long long reserved[7];
};
static struct {
  int (*findObject)(void *, struct found_object *);
  uintptr_t loaderStart, loaderEnd; ///< [start, end); both 0 in a program without a loader
  /// The program as the kernel has mapped it. Has no segments if the program headers are unknown.
  struct lt_unwind_image program;
} imageSearch;

static void find_program(void) {
  const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  uint32_t count = segments ? (uint32_t)getauxval(AT_PHNUM) : 0;
  LT_CHECK(segments || count == 0);
  for (uint32_t i = 0; i < count; i++)
    if (segments[i].p_type == PT_PHDR)
      imageSearch.program = (struct lt_unwind_image){
          .bias = (uintptr_t)segments - segments[i].p_vaddr, .segments = segments, .segmentCount = count};
}

void lt_unwind_images_init(void) {
  *(void **)&imageSearch.findObject = lt_next_symbol("_dl_find_object");
  find_program();
  uintptr_t base = getauxval(AT_BASE);
  if (!base) return;
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
  const ElfW(Phdr) *program = (const ElfW(Phdr) *)(base + header->e_phoff);
  imageSearch.loaderStart = imageSearch.loaderEnd = base;
  for (int i = 0; i < header->e_phnum; i++)
    if (program[i].p_type == PT_LOAD && base + program[i].p_vaddr + program[i].p_memsz > imageSearch.loaderEnd)
      imageSearch.loaderEnd = base + program[i].p_vaddr + program[i].p_memsz;
}

struct image_query {
  uintptr_t address;
  struct lt_unwind_image *image;
};

static int find_by_program_headers(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct image_query *query = context;
  struct lt_unwind_image image = {
      .bias = info->dlpi_addr, .segments = info->dlpi_phdr, .segmentCount = info->dlpi_phnum};
  if (!lt_unwind_segment(&image, query->address, 0)) return 0;
  for (int i = 0; i < info->dlpi_phnum; i++)
    if (info->dlpi_phdr[i].p_type == PT_GNU_EH_FRAME) image.searchTable = info->dlpi_addr + info->dlpi_phdr[i].p_vaddr;
  *query->image = image;
  return 1;
}

bool lt_unwind_find_image(uintptr_t address, struct lt_unwind_image *image) {
  struct found_object object;
  struct image_query query = {address, image};
  if (!imageSearch.findObject) return dl_iterate_phdr(find_by_program_headers, &query) == 1;
  if (imageSearch.findObject((void *)address, &object) != 0) return false;
  *image = (struct lt_unwind_image){.bias = object.linkMap->l_addr, .searchTable = (uintptr_t)object.ehFrame};
  if (image->bias == imageSearch.program.bias && imageSearch.program.segmentCount) {
    // The kernel maps the program's segments one by one. If there is a gap between two segments, the loader treats them
    // as separate maps. The start of such a map may have no headers (glibc 2.36, elf/dl-find_object.c).
    image->segments = imageSearch.program.segments;
    image->segmentCount = imageSearch.program.segmentCount;
    return true;
  }
  const ElfW(Ehdr) *header = object.mapStart;
  // If an image's headers are not at its start, its readable parts are unknown.
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0 || header->e_phentsize != sizeof(ElfW(Phdr))) return false;
  image->segments = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
  image->segmentCount = header->e_phnum;
  return true;
}

bool lt_unwind_is_in_loader(uintptr_t address) {
  LT_CHECK(imageSearch.loaderStart <= imageSearch.loaderEnd);
  return address >= imageSearch.loaderStart && address < imageSearch.loaderEnd;
}

bool lt_unwind_is_code(uintptr_t address) {
  struct lt_unwind_image image;
  if (!lt_unwind_find_image(address, &image)) return false;
  LT_CHECK(image.segments && image.segmentCount > 0);
  return lt_unwind_segment(&image, address, PF_X);
}

// === rows ============================================================================================================

// Reads .eh_frame, which contains the rules for the step from a frame to its caller. Source: DWARF 5, section 6.4;
// System V ABI for x86-64, section 3.7; Linux Standard Base, "Exception Frames".

// --- pointers --------------------------------------------------------------------------------------------------------

/// Reads a pointer in one of the DW_EH_PE encodings. `dataBase` is the base of datarel pointers. False for an encoding
/// that does not occur here, or if the pointer extends beyond the end.
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

/// Opens the contents of the entry at an address. False if the entry is empty, or longer than the readable bytes.
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
      else if (*a == 'B' || *a == 'G') continue; // keys and tags of pointers on arm64, which no rule depends on
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

/// Finds the description of the function that covers the address. If none covers it, `*gap` is set to the end of the
/// last described function before the address.
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
  if (tableEncoding != 0x3b || count == 0) return false; // datarel sdata4, sorted: every linker writes this encoding
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

/// The instructions, by the standard's names. Source: DWARF 5, section 7.24.
enum {
  // These three fill the byte's two highest bits. The other bits are an operand.
  DW_CFA_advance_loc = 0x40,
  DW_CFA_offset = 0x80,
  DW_CFA_restore = 0xc0,
  INLINE_OPERAND = 0x3f,

  DW_CFA_nop = 0x00,
  DW_CFA_set_loc = 0x01,
  DW_CFA_advance_loc1 = 0x02,
  DW_CFA_advance_loc2 = 0x03,
  DW_CFA_advance_loc4 = 0x04,
  DW_CFA_offset_extended = 0x05,
  DW_CFA_restore_extended = 0x06,
  DW_CFA_undefined = 0x07,
  DW_CFA_same_value = 0x08,
  DW_CFA_register = 0x09,
  DW_CFA_remember_state = 0x0a,
  DW_CFA_restore_state = 0x0b,
  DW_CFA_def_cfa = 0x0c,
  DW_CFA_def_cfa_register = 0x0d,
  DW_CFA_def_cfa_offset = 0x0e,
  DW_CFA_def_cfa_expression = 0x0f,
  DW_CFA_expression = 0x10,
  DW_CFA_offset_extended_sf = 0x11,
  DW_CFA_def_cfa_sf = 0x12,
  DW_CFA_def_cfa_offset_sf = 0x13,
  DW_CFA_val_offset = 0x14,
  DW_CFA_val_offset_sf = 0x15,
  DW_CFA_val_expression = 0x16,
  DW_CFA_GNU_args_size = 0x2e, // GCC's extension
  // Extensions for arm64: from here on, return addresses are signed, or are not. lt_code_address reads both.
  DW_CFA_AARCH64_negate_ra_state_with_pc = 0x2c,
  DW_CFA_AARCH64_negate_ra_state = 0x2d,
};

/// Executes the instructions that apply to `address`. False if an instruction is unknown, or extends beyond its entry.
static bool run_program(struct lt_dwarf_reader program, const struct frame_description *d, uintptr_t address,
                        const struct lt_unwind_row *initialRow, struct lt_unwind_row *row) {
  struct lt_dwarf_reader *p = &program;
  struct lt_unwind_row remembered[STATE_STACK_DEPTH];
  unsigned depth = 0;
  uintptr_t location = d->start;
  // Products may wrap. An invalid factor then gives an invalid address, but every address is checked before it is read.
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
// The register's number is the instruction's first operand. `offset_` reads the second one, if there is one.
#define SET_NEXT(rule_, offset_)     \
  do {                               \
    reg = read_uleb(p);              \
    offset = (offset_);              \
    SET(reg, (rule_), offset, NULL); \
  } while (0)
#define RESTORE(register_)                                                    \
  do {                                                                        \
    reg = (register_);                                                        \
    if (reg < LT_REG_COUNT) row->registers[reg] = initialRow->registers[reg]; \
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
    uint8_t instruction = read_byte(p), low = instruction & INLINE_OPERAND;
    uint64_t reg;
    int64_t offset;
    struct lt_dwarf_reader expression;
    switch (instruction & ~INLINE_OPERAND) {
      case DW_CFA_advance_loc: ADVANCE(low); continue;
      case DW_CFA_offset:
        offset = SCALED(read_uleb(p));
        SET(low, LT_REGISTER_AT_OFFSET, offset, NULL);
        continue;
      case DW_CFA_restore: RESTORE(low); continue;
    }
    switch (instruction) {
      case DW_CFA_nop: break;
      case DW_CFA_GNU_args_size: read_uleb(p); break;
      case DW_CFA_AARCH64_negate_ra_state_with_pc:
      case DW_CFA_AARCH64_negate_ra_state: break;

      case DW_CFA_set_loc:
        location = read_fixed(p, 8);
        if (location > address) return !p->isShort;
        break;
      case DW_CFA_advance_loc1: ADVANCE(read_byte(p)); break;
      case DW_CFA_advance_loc2: ADVANCE(read_fixed(p, 2)); break;
      case DW_CFA_advance_loc4: ADVANCE(read_fixed(p, 4)); break;

      case DW_CFA_undefined: SET_NEXT(LT_REGISTER_UNDEFINED, 0); break;
      case DW_CFA_same_value: SET_NEXT(LT_REGISTER_SAME, 0); break;
      case DW_CFA_register: SET_NEXT(LT_REGISTER_IN_REGISTER, (int64_t)read_uleb(p)); break;
      case DW_CFA_offset_extended: SET_NEXT(LT_REGISTER_AT_OFFSET, SCALED(read_uleb(p))); break;
      case DW_CFA_offset_extended_sf: SET_NEXT(LT_REGISTER_AT_OFFSET, SCALED(read_sleb(p))); break;
      case DW_CFA_val_offset: SET_NEXT(LT_REGISTER_IS_OFFSET, SCALED(read_uleb(p))); break;
      case DW_CFA_val_offset_sf: SET_NEXT(LT_REGISTER_IS_OFFSET, SCALED(read_sleb(p))); break;
      case DW_CFA_expression:
      case DW_CFA_val_expression:
        reg = read_uleb(p);
        expression = read_part(p, read_uleb(p));
        SET(reg, instruction == DW_CFA_expression ? LT_REGISTER_AT_EXPRESSION : LT_REGISTER_IS_EXPRESSION,
            expression.end - expression.next, expression.next);
        break;
      case DW_CFA_restore_extended: RESTORE(read_uleb(p)); break;

      case DW_CFA_remember_state:
        if (depth == STATE_STACK_DEPTH) return false;
        remembered[depth++] = *row;
        break;
      case DW_CFA_restore_state:
        if (depth == 0) return false;
        *row = remembered[--depth];
        break;

      case DW_CFA_def_cfa:
        SET_FRAME_REGISTER(read_uleb(p));
        row->cfaOffset = (int64_t)read_uleb(p);
        break;
      case DW_CFA_def_cfa_sf:
        SET_FRAME_REGISTER(read_uleb(p));
        row->cfaOffset = SCALED(read_sleb(p));
        break;
      case DW_CFA_def_cfa_register: SET_FRAME_REGISTER(read_uleb(p)); break;
      case DW_CFA_def_cfa_offset: row->cfaOffset = (int64_t)read_uleb(p); break;
      case DW_CFA_def_cfa_offset_sf: row->cfaOffset = SCALED(read_sleb(p)); break;
      case DW_CFA_def_cfa_expression:
        expression = read_part(p, read_uleb(p));
        row->cfaIsExpression = true;
        row->cfaExpression = expression.next;
        row->cfaOffset = expression.end - expression.next;
        break;
      default: return false;
    }
  }
#undef SCALED
#undef SET
#undef SET_NEXT
#undef RESTORE
#undef SET_FRAME_REGISTER
#undef ADVANCE
  return !p->isShort;
}

/// True if a described function begins at the address, and no call instruction precedes the address. Code that makes
/// stacks, such as makecontext, writes such an address to a new stack. The function at the address runs when the
/// outermost function returns.
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
  if (code && lt_signal_return_row(address, image->bias + code->p_vaddr + code->p_memsz, row)) return true;
  if (!find_frame_description(image, lookup, &d, &gap)) {
    if (image->endsUndescribed) {
      row->registers[LT_REG_RETURN].rule = LT_REGISTER_UNDEFINED;
      return true;
    }
    if (!gap || isExact || !code) return false;
    // A description may give a wrong end for its function, and the function's end may lie in another segment.
    uintptr_t first = image->bias + code->p_vaddr;
    if (lt_prologue_row(address, gap > first ? gap : first, row)) return true;
    if (!row->isAfterCode || !is_planted(image, address)) return false;
    memset(row, 0, sizeof *row);
    row->registers[LT_REG_RETURN].rule = LT_REGISTER_UNDEFINED;
    return true;
  }
  if (d.returnRegister != LT_REG_RETURN) return false;
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

// === applying a row ==================================================================================================

// Applies a row of the unwind tables: replaces a frame's registers with its caller's. Reads only memory that
// `isReadable` allows.
// Source: DWARF 5, sections 2.5 and 6.4.

static bool load(uintptr_t address, unsigned size, bool (*isReadable)(void *, uintptr_t), void *context,
                 uint64_t *value) {
  LT_CHECK(size <= sizeof *value);
  if (!isReadable(context, address)) return false;
  *value = 0;
  memcpy(value, (const void *)address, size);
  return true;
}

enum { EXPRESSION_STACK = 32 };

/// The kinds of operations, by the number of values that an operation takes from the stack.
enum { NULLARY = 0, UNARY = 1, BINARY = 2 };

// One row an operation: the standard's name, its number, its kind, and the values that it leaves on the stack.
// `top` is the value on top of the stack, and `second` is the value below it. `p` reads the operation's operands.
// A row of RANGE defines several operations, and has their count after the first one's number. `op` is the number of
// the operation that is executed. Source: DWARF 5, sections 2.5.1 and 7.7.1.
#define EACH_OPERATION(ONE, RANGE)                                                                             \
  ONE(DW_OP_nop, 0x96, NULLARY)                                                                                \
  ONE(DW_OP_addr, 0x03, NULLARY, FIXED(uint64_t))                                                              \
  ONE(DW_OP_const1u, 0x08, NULLARY, FIXED(uint8_t))                                                            \
  ONE(DW_OP_const1s, 0x09, NULLARY, FIXED(int8_t))                                                             \
  ONE(DW_OP_const2u, 0x0a, NULLARY, FIXED(uint16_t))                                                           \
  ONE(DW_OP_const2s, 0x0b, NULLARY, FIXED(int16_t))                                                            \
  ONE(DW_OP_const4u, 0x0c, NULLARY, FIXED(uint32_t))                                                           \
  ONE(DW_OP_const4s, 0x0d, NULLARY, FIXED(int32_t))                                                            \
  ONE(DW_OP_const8u, 0x0e, NULLARY, FIXED(uint64_t))                                                           \
  ONE(DW_OP_const8s, 0x0f, NULLARY, FIXED(int64_t))                                                            \
  ONE(DW_OP_constu, 0x10, NULLARY, read_uleb(p))                                                               \
  ONE(DW_OP_consts, 0x11, NULLARY, (uint64_t)read_sleb(p))                                                     \
  RANGE(DW_OP_lit0, 0x30, 32, NULLARY, op - DW_OP_lit0)                                                        \
  RANGE(DW_OP_reg0, 0x50, LT_REG_NAMED, NULLARY, registers->value[op - DW_OP_reg0])                            \
  RANGE(DW_OP_breg0, 0x70, LT_REG_NAMED, NULLARY, registers->value[op - DW_OP_breg0] + (uint64_t)read_sleb(p)) \
  ONE(DW_OP_deref, 0x06, UNARY, LOADED(top, 8))                                                                \
  ONE(DW_OP_deref_size, 0x94, UNARY, LOADED(top, read_byte(p)))                                                \
  ONE(DW_OP_dup, 0x12, UNARY, top, top)                                                                        \
  ONE(DW_OP_drop, 0x13, UNARY)                                                                                 \
  ONE(DW_OP_over, 0x14, BINARY, second, top, second)                                                           \
  ONE(DW_OP_swap, 0x16, BINARY, top, second)                                                                   \
  ONE(DW_OP_neg, 0x1f, UNARY, 0 - top)                                                                         \
  ONE(DW_OP_not, 0x20, UNARY, ~top)                                                                            \
  ONE(DW_OP_plus_uconst, 0x23, UNARY, top + read_uleb(p))                                                      \
  ONE(DW_OP_and, 0x1a, BINARY, (second & top))                                                                 \
  ONE(DW_OP_or, 0x21, BINARY, second | top)                                                                    \
  ONE(DW_OP_xor, 0x27, BINARY, second ^ top)                                                                   \
  ONE(DW_OP_plus, 0x22, BINARY, second + top)                                                                  \
  ONE(DW_OP_minus, 0x1c, BINARY, second - top)                                                                 \
  ONE(DW_OP_mul, 0x1e, BINARY, (second * top))                                                                 \
  ONE(DW_OP_shl, 0x24, BINARY, top < 64 ? second << top : 0)                                                   \
  ONE(DW_OP_shr, 0x25, BINARY, top < 64 ? second >> top : 0)                                                   \
  ONE(DW_OP_shra, 0x26, BINARY, (uint64_t)((int64_t)second >> (top < 63 ? top : 63)))                          \
  ONE(DW_OP_eq, 0x29, BINARY, second == top)                                                                   \
  ONE(DW_OP_ne, 0x2e, BINARY, second != top)                                                                   \
  ONE(DW_OP_ge, 0x2a, BINARY, (int64_t)second >= (int64_t)top)                                                 \
  ONE(DW_OP_gt, 0x2b, BINARY, (int64_t)second > (int64_t)top)                                                  \
  ONE(DW_OP_le, 0x2c, BINARY, (int64_t)second <= (int64_t)top)                                                 \
  ONE(DW_OP_lt, 0x2d, BINARY, (int64_t)second < (int64_t)top)

#define NAME(name, number, ...) name = (number),
enum { EACH_OPERATION(NAME, NAME) };
#undef NAME

/// Reads a value of at most eight bytes. Sets `isRefused` if its size is larger, or its address is unreadable.
static uint64_t load_sized(uintptr_t address, uint8_t size, bool (*isReadable)(void *, uintptr_t), void *context,
                           bool *isRefused) {
  uint64_t value = 0;
  if (size > sizeof value || !load(address, size, isReadable, context, &value)) *isRefused = true;
  return value;
}

/// Evaluates an expression. Its stack begins with `initial` if `hasInitial`, and is empty otherwise. False at an
/// unknown operation, too few or too many values, unreadable memory, or a cut operand. Executes each operation once at
/// most, because no known operation branches.
static bool evaluate(const uint8_t *expression, int64_t length, const struct lt_registers *registers, bool hasInitial,
                     uint64_t initial, bool (*isReadable)(void *, uintptr_t), void *context, uint64_t *result) {
  uint64_t stack[EXPRESSION_STACK];
  int depth = 0;
  bool isRefused = false;
  LT_CHECK(expression && length >= 0);
  struct lt_dwarf_reader reader = {.next = expression, .end = expression + length}, *p = &reader;
  if (hasInitial) stack[depth++] = initial;
#define FIXED(type) (uint64_t)(type) read_fixed(p, sizeof(type))
#define LOADED(address, size) load_sized((address), (size), isReadable, context, &isRefused)
#define EXECUTE_ONE(name, number, ...) EXECUTE_RANGE(name, number, 1, __VA_ARGS__)
#define EXECUTE_RANGE(name, number, count, taken, ...)      \
  case name ... name + count - 1: {                         \
    if (depth < taken) return false;                        \
    depth -= taken;                                         \
    const uint64_t left[] = {__VA_ARGS__};                  \
    const int leftCount = sizeof left / sizeof *left;       \
    if (depth + leftCount > EXPRESSION_STACK) return false; \
    memcpy(&stack[depth], left, sizeof left);               \
    depth += leftCount;                                     \
    break;                                                  \
  }
  while (p->next < p->end && !isRefused) {
    LT_CHECK(depth >= 0 && depth <= EXPRESSION_STACK);
    uint8_t op = read_byte(p);
    uint64_t top = depth > 0 ? stack[depth - 1] : 0, second = depth > 1 ? stack[depth - 2] : 0;
    switch (op) {
      EACH_OPERATION(EXECUTE_ONE, EXECUTE_RANGE)
      default: return false;
    }
  }
#undef FIXED
#undef LOADED
#undef EXECUTE_ONE
#undef EXECUTE_RANGE
  if (depth < 1 || isRefused || p->isShort) return false;
  *result = stack[depth - 1];
  return true;
}

bool lt_unwind_apply(const struct lt_unwind_row *row, struct lt_registers *registers,
                     bool (*isReadable)(void *context, uintptr_t address), void *context) {
  uint64_t cfa;
  if (row->cfaIsExpression) {
    if (!evaluate(row->cfaExpression, row->cfaOffset, registers, false, 0, isReadable, context, &cfa)) return false;
  } else {
    if (row->cfaRegister >= LT_REG_COUNT) return false;
    cfa = registers->value[row->cfaRegister] + (uint64_t)row->cfaOffset;
  }
  struct lt_registers next = *registers;
  next.value[LT_REG_STACK] = cfa;
  LT_CHECK(lt_unwind_row_is_valid(row));
  for (int r = 0; r < LT_REG_COUNT; r++) {
    uint64_t address;
    switch (row->registers[r].rule) {
      case LT_REGISTER_SAME: break;
      case LT_REGISTER_UNDEFINED: next.value[r] = 0; break;
      case LT_REGISTER_AT_OFFSET:
        if (!load(cfa + (uint64_t)row->registers[r].offset, 8, isReadable, context, &next.value[r])) return false;
        break;
      case LT_REGISTER_IS_OFFSET: next.value[r] = cfa + (uint64_t)row->registers[r].offset; break;
      case LT_REGISTER_IN_REGISTER:
        if (row->registers[r].offset < 0 || row->registers[r].offset >= LT_REG_COUNT) return false;
        next.value[r] = registers->value[row->registers[r].offset];
        break;
      case LT_REGISTER_AT_EXPRESSION:
        if (!evaluate(row->registers[r].expression, row->registers[r].offset, registers, true, cfa, isReadable, context,
                      &address))
          return false;
        if (!load(address, 8, isReadable, context, &next.value[r])) return false;
        break;
      case LT_REGISTER_IS_EXPRESSION:
        if (!evaluate(row->registers[r].expression, row->registers[r].offset, registers, true, cfa, isReadable, context,
                      &next.value[r]))
          return false;
        break;
    }
  }
  if (row->registers[LT_REG_RETURN].rule == LT_REGISTER_UNDEFINED) {
    next.value[LT_REG_PC] = 0;
  } else if (row->registers[LT_REG_PC].rule == LT_REGISTER_SAME) {
    if (LT_REG_RETURN == LT_REG_PC) return false;
    next.value[LT_REG_PC] = lt_code_address(next.value[LT_REG_RETURN]);
  }
  *registers = next;
  return true;
}
