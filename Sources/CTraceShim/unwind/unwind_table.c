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
static int (*findObject)(void *, struct found_object *);

static uintptr_t loaderStart, loaderEnd; ///< [start, end); both 0 in a program without a loader
/// The program as the kernel has mapped it. Has no segments if the program headers are unknown.
static struct lt_unwind_image program;

static void find_program(void) {
  const ElfW(Phdr) *segments = (const ElfW(Phdr) *)getauxval(AT_PHDR);
  uint32_t count = segments ? (uint32_t)getauxval(AT_PHNUM) : 0;
  LT_CHECK(segments || count == 0);
  for (uint32_t i = 0; i < count; i++)
    if (segments[i].p_type == PT_PHDR)
      program = (struct lt_unwind_image){
          .bias = (uintptr_t)segments - segments[i].p_vaddr, .segments = segments, .segmentCount = count};
}

void lt_unwind_images_init(void) {
  *(void **)&findObject = lt_next_symbol("_dl_find_object");
  find_program();
  uintptr_t base = getauxval(AT_BASE);
  if (!base) return;
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
  const ElfW(Phdr) *program = (const ElfW(Phdr) *)(base + header->e_phoff);
  loaderStart = loaderEnd = base;
  for (int i = 0; i < header->e_phnum; i++)
    if (program[i].p_type == PT_LOAD && base + program[i].p_vaddr + program[i].p_memsz > loaderEnd)
      loaderEnd = base + program[i].p_vaddr + program[i].p_memsz;
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
  if (!findObject) return dl_iterate_phdr(find_by_program_headers, &query) == 1;
  if (findObject((void *)address, &object) != 0) return false;
  *image = (struct lt_unwind_image){.bias = object.linkMap->l_addr, .searchTable = (uintptr_t)object.ehFrame};
  if (image->bias == program.bias && program.segmentCount) {
    // The kernel maps the program's segments one by one. If there is a gap between two segments, the loader treats them
    // as separate maps, and the start of such a map may have no headers (glibc 2.36, elf/dl-find_object.c).
    image->segments = program.segments;
    image->segmentCount = program.segmentCount;
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
  LT_CHECK(loaderStart <= loaderEnd);
  return address >= loaderStart && address < loaderEnd;
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

/// True if a described function begins at the address, and no call instruction precedes the address. Code that makes
/// stacks, such as makecontext, writes such an address to a new stack. It is the function to run when the outermost one
/// returns.
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
    // A description may give a wrong end for its function, and the function's end may lie in another segment.
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

// === applying a row ==================================================================================================

// Applies a row of the unwind tables: replaces a frame's registers with its caller's. Reads only memory that
// `isReadable` allows.
// Source: DWARF 5, sections 2.5 and 6.4.

enum { EXPRESSION_STACK = 32 };

static bool load(uintptr_t address, unsigned size, bool (*isReadable)(void *, uintptr_t), void *context,
                 uint64_t *value) {
  LT_CHECK(size <= sizeof *value);
  if (!isReadable(context, address)) return false;
  *value = 0;
  memcpy(value, (const void *)address, size);
  return true;
}

static bool evaluate(const uint8_t *expression, int64_t length, const struct lt_registers *registers, bool hasInitial,
                     uint64_t initial, bool (*isReadable)(void *, uintptr_t), void *context, uint64_t *result) {
  uint64_t stack[EXPRESSION_STACK];
  int top = 0;
  LT_CHECK(expression && length >= 0);
  struct lt_dwarf_reader reader = {.next = expression, .end = expression + length}, *p = &reader;
  if (hasInitial) stack[top++] = initial;
#define NEED(n)                  \
  do {                           \
    if (top < (n)) return false; \
  } while (0)
#define ROOM()                                 \
  do {                                         \
    if (top >= EXPRESSION_STACK) return false; \
  } while (0)
  while (p->next < p->end) {
    LT_CHECK(top >= 0 && top <= EXPRESSION_STACK);
    uint8_t op = read_byte(p);
    if (op >= 0x30 && op <= 0x4f) {
      ROOM();
      stack[top++] = op - 0x30u;
      continue;
    }                               // lit0…31
    if (op >= 0x50 && op <= 0x6f) { // reg0…31
      if (op - 0x50 >= LT_REG_COUNT) return false;
      ROOM();
      stack[top++] = registers->value[op - 0x50];
      continue;
    }
    if (op >= 0x70 && op <= 0x8f) { // breg0…31
      if (op - 0x70 >= LT_REG_COUNT) return false;
      ROOM();
      stack[top++] = registers->value[op - 0x70] + (uint64_t)read_sleb(p);
      continue;
    }
    switch (op) {
      case 0x03:
        ROOM();
        stack[top++] = read_fixed(p, 8);
        break; // addr
      // deref
      case 0x06:
        NEED(1);
        if (!load(stack[top - 1], 8, isReadable, context, &stack[top - 1])) return false;
        break;
      case 0x94: { // deref_size
        NEED(1);
        uint8_t size = read_byte(p);
        if (size > 8 || !load(stack[top - 1], size, isReadable, context, &stack[top - 1])) return false;
        break;
      }
      case 0x08:
        ROOM();
        stack[top++] = read_byte(p);
        break;
      case 0x09:
        ROOM();
        stack[top++] = (uint64_t)(int64_t)(int8_t)read_byte(p);
        break;
      case 0x0a:
        ROOM();
        stack[top++] = read_fixed(p, 2);
        break;
      case 0x0b:
        ROOM();
        stack[top++] = (uint64_t)(int64_t)(int16_t)read_fixed(p, 2);
        break;
      case 0x0c:
        ROOM();
        stack[top++] = read_fixed(p, 4);
        break;
      case 0x0d:
        ROOM();
        stack[top++] = (uint64_t)(int64_t)(int32_t)read_fixed(p, 4);
        break;
      case 0x0e:
      case 0x0f:
        ROOM();
        stack[top++] = read_fixed(p, 8);
        break;
      case 0x10:
        ROOM();
        stack[top++] = read_uleb(p);
        break;
      case 0x11:
        ROOM();
        stack[top++] = (uint64_t)read_sleb(p);
        break;
      case 0x12:
        NEED(1);
        ROOM();
        stack[top] = stack[top - 1];
        top++;
        break; // dup
      case 0x13:
        NEED(1);
        top--;
        break; // drop
      case 0x14:
        NEED(2);
        ROOM();
        stack[top] = stack[top - 2];
        top++;
        break; // over
      case 0x16: {
        NEED(2);
        uint64_t t = stack[top - 1];
        stack[top - 1] = stack[top - 2];
        stack[top - 2] = t;
        break;
      } // swap
      case 0x1a:
        NEED(2);
        top--;
        stack[top - 1] &= stack[top];
        break;
      case 0x1c:
        NEED(2);
        top--;
        stack[top - 1] -= stack[top];
        break;
      case 0x1e:
        NEED(2);
        top--;
        stack[top - 1] *= stack[top];
        break;
      case 0x1f:
        NEED(1);
        stack[top - 1] = 0 - stack[top - 1];
        break;
      case 0x20:
        NEED(1);
        stack[top - 1] = ~stack[top - 1];
        break;
      case 0x21:
        NEED(2);
        top--;
        stack[top - 1] |= stack[top];
        break;
      case 0x22:
        NEED(2);
        top--;
        stack[top - 1] += stack[top];
        break;
      case 0x23:
        NEED(1);
        stack[top - 1] += read_uleb(p);
        break; // plus_uconst
      case 0x24:
        NEED(2);
        top--;
        stack[top - 1] = stack[top] < 64 ? stack[top - 1] << stack[top] : 0;
        break;
      case 0x25:
        NEED(2);
        top--;
        stack[top - 1] = stack[top] < 64 ? stack[top - 1] >> stack[top] : 0;
        break;
      case 0x26:
        NEED(2);
        top--;
        stack[top - 1] = (uint64_t)((int64_t)stack[top - 1] >> (stack[top] < 63 ? stack[top] : 63));
        break;
      case 0x27:
        NEED(2);
        top--;
        stack[top - 1] ^= stack[top];
        break;
      case 0x29:
        NEED(2);
        top--;
        stack[top - 1] = stack[top - 1] == stack[top];
        break;
      case 0x2a:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] >= (int64_t)stack[top];
        break;
      case 0x2b:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] > (int64_t)stack[top];
        break;
      case 0x2c:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] <= (int64_t)stack[top];
        break;
      case 0x2d:
        NEED(2);
        top--;
        stack[top - 1] = (int64_t)stack[top - 1] < (int64_t)stack[top];
        break;
      case 0x2e:
        NEED(2);
        top--;
        stack[top - 1] = stack[top - 1] != stack[top];
        break;
      case 0x96: break; // nop
      default: return false;
    }
  }
#undef NEED
#undef ROOM
  if (top < 1 || p->isShort) return false;
  *result = stack[top - 1];
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
  if (row->registers[LT_REG_RA].rule == LT_REGISTER_UNDEFINED) next.value[LT_REG_RA] = 0;
  else if (row->registers[LT_REG_RA].rule == LT_REGISTER_SAME) return false;
  *registers = next;
  return true;
}
