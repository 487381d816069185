// Reads .eh_frame: how to get from one frame to its caller.
// Calls nothing that allocates or locks where the loader offers _dl_find_object (glibc 2.35); else dl_iterate_phdr.
// Source: DWARF 5, section 6.4; System V ABI for x86-64, section 3.7; Linux Standard Base, "Exception Frames".

#define _GNU_SOURCE
#include "unwind_table.h"

#include "dwarf_reading.h"
#include "prologue.h"

#include <dlfcn.h>
#include <elf.h>
#include <link.h>
#include <string.h>
#include <sys/auxv.h>

// --- finding the image's search table -------------------------------------------------------------------------------

struct found_object { // struct dl_find_object of <dlfcn.h>, spelled out so that older headers do
  unsigned long long flags;
  void *mapStart, *mapEnd;
  struct link_map *linkMap;
  void *ehFrame;
  unsigned long long reserved[7];
};
static int (*findObject)(void *, struct found_object *);

static uintptr_t loaderStart, loaderEnd;

void lt_unwind_table_init(void) {
  *(void **)&findObject = dlsym(RTLD_DEFAULT, "_dl_find_object");
  // The loader's first instructions, from which constructors are called, have no description, and no caller.
  uintptr_t base = getauxval(AT_BASE);
  if (!base) return;
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)base;
  const ElfW(Phdr) *program = (const ElfW(Phdr) *)(base + header->e_phoff);
  loaderStart = loaderEnd = base;
  for (int i = 0; i < header->e_phnum; i++)
    if (program[i].p_type == PT_LOAD && base + program[i].p_vaddr + program[i].p_memsz > loaderEnd) loaderEnd = base + program[i].p_vaddr + program[i].p_memsz;
}

struct phdr_query {
  uintptr_t address;
  const uint8_t *header;
  bool isCode;
};

static int find_by_program_headers(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct phdr_query *query = context;
  const uint8_t *header = NULL;
  bool covers = false;
  for (int i = 0; i < info->dlpi_phnum; i++) {
    const ElfW(Phdr) *p = &info->dlpi_phdr[i];
    uintptr_t start = info->dlpi_addr + p->p_vaddr;
    if (p->p_type == PT_LOAD && query->address - start < p->p_memsz) {
      covers = true;
      query->isCode = p->p_flags & PF_X;
    }
    if (p->p_type == PT_GNU_EH_FRAME) header = (const uint8_t *)start;
  }
  if (covers) query->header = header;
  return covers;
}

static const uint8_t *search_table_for(uintptr_t address) {
  if (findObject) {
    struct found_object object;
    if (findObject((void *)address, &object) != 0) return NULL;
    return object.ehFrame;
  }
  struct phdr_query query = {.address = address};
  dl_iterate_phdr(find_by_program_headers, &query);
  return query.header;
}

bool lt_unwind_is_code(uintptr_t address) {
  if (!findObject) {
    struct phdr_query query = {.address = address};
    dl_iterate_phdr(find_by_program_headers, &query);
    return query.isCode;
  }
  struct found_object object;
  if (findObject((void *)address, &object) != 0) return false;
  const ElfW(Ehdr) *header = object.mapStart;
  if (memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
  const ElfW(Phdr) *program = (const ElfW(Phdr) *)((uintptr_t)header + header->e_phoff);
  for (int i = 0; i < header->e_phnum; i++)
    if (program[i].p_type == PT_LOAD && program[i].p_flags & PF_X && address - (object.linkMap->l_addr + program[i].p_vaddr) < program[i].p_memsz) return true;
  return false;
}

// --- primitive readers -----------------------------------------------------------------------------------------------

/// A pointer in one of the DW_EH_PE encodings. `dataBase` serves datarel. False for encodings that do not occur here.
static bool read_encoded(const uint8_t **p, uint8_t encoding, uintptr_t dataBase, uintptr_t *result) {
  uintptr_t place = (uintptr_t)*p, value;
  if (encoding == 0xff) { // omitted
    *result = 0;
    return true;
  }
  switch (encoding & 0x0f) {
    case 0x00: value = READ(uint64_t, p); break;
    case 0x01: value = read_uleb(p); break;
    case 0x02: value = READ(uint16_t, p); break;
    case 0x03: value = READ(uint32_t, p); break;
    case 0x04: value = READ(uint64_t, p); break;
    case 0x09: value = (uintptr_t)read_sleb(p); break;
    case 0x0a: value = (uintptr_t)(int64_t)READ(int16_t, p); break;
    case 0x0b: value = (uintptr_t)(int64_t)READ(int32_t, p); break;
    case 0x0c: value = READ(uint64_t, p); break;
    default: return false;
  }
  if (value) {
    switch (encoding & 0x70) {
      case 0x00: break;
      case 0x10: value += place; break;
      case 0x30: value += dataBase; break;
      default: return false;
    }
    if (encoding & 0x80) memcpy(&value, (const void *)value, sizeof value);
  }
  *result = value;
  return true;
}

// --- frame description entries ------------------------------------------------------------------------------------------

struct frame_description {
  uintptr_t start, end;
  const uint8_t *program, *programEnd;
  const uint8_t *initial, *initialEnd;
  uint64_t codeAlignment;
  int64_t dataAlignment;
  uint64_t returnRegister;
  bool isSignalFrame;
  bool hasAugmentationData;
};

static bool parse_common_entry(const uint8_t *p, struct frame_description *d, uint8_t *pointerEncoding) {
  uint32_t length = READ(uint32_t, &p);
  if (length == 0 || length == 0xffffffffu) return false;
  const uint8_t *end = p + length;
  if (READ(uint32_t, &p) != 0) return false;
  uint8_t version = *p++;
  const char *augmentation = (const char *)p;
  p += strlen(augmentation) + 1;
  if (version != 1 && version != 3) return false;
  d->codeAlignment = read_uleb(&p);
  d->dataAlignment = read_sleb(&p);
  d->returnRegister = version == 1 ? *p++ : read_uleb(&p);
  *pointerEncoding = 0;
  d->isSignalFrame = false;
  d->hasAugmentationData = augmentation[0] == 'z';
  if (augmentation[0] == 'z') {
    uint64_t size = read_uleb(&p);
    const uint8_t *instructions = p + size;
    for (const char *a = augmentation + 1; *a; a++) {
      uintptr_t ignored;
      if (*a == 'R') *pointerEncoding = *p++;
      else if (*a == 'L') p++;
      else if (*a == 'S') d->isSignalFrame = true;
      else if (*a == 'P') {
        uint8_t encoding = *p++;
        if (!read_encoded(&p, encoding & 0x7f, 0, &ignored)) return false;
      } else break;
    }
    p = instructions;
  } else if (augmentation[0]) {
    return false;
  }
  d->initial = p;
  d->initialEnd = end;
  return true;
}

static bool parse_frame_entry(const uint8_t *p, struct frame_description *d) {
  uint32_t length = READ(uint32_t, &p);
  if (length == 0 || length == 0xffffffffu) return false;
  const uint8_t *end = p + length, *idField = p;
  uint32_t commonOffset = READ(uint32_t, &p);
  if (commonOffset == 0) return false;
  uint8_t encoding;
  const uint8_t *common = idField - commonOffset;
  if (!parse_common_entry(common, d, &encoding)) return false;
  uintptr_t size;
  if (!read_encoded(&p, encoding, 0, &d->start)) return false;
  if (!read_encoded(&p, encoding & 0x0f, 0, &size)) return false;
  d->end = d->start + size;
  if (d->hasAugmentationData) {
    uint64_t augmentationSize = read_uleb(&p);
    p += augmentationSize;
  }
  d->program = p;
  d->programEnd = end;
  return true;
}

/// `*gap` is set to the end of the last described function before the address, when none covers it.
static bool find_frame_description(uintptr_t address, struct frame_description *d, uintptr_t *gap) {
  *gap = 0;
  const uint8_t *header = search_table_for(address);
  if (!header || header[0] != 1) return false;
  uint8_t frameEncoding = header[1], countEncoding = header[2], tableEncoding = header[3];
  const uint8_t *p = header + 4;
  uintptr_t frames, count;
  if (!read_encoded(&p, frameEncoding, (uintptr_t)header, &frames)) return false;
  if (!read_encoded(&p, countEncoding, (uintptr_t)header, &count)) return false;
  if (tableEncoding != 0x3b || count == 0) return false; // datarel sdata4, sorted: what every linker writes
  struct entry { int32_t location, description; };
  int64_t target = (int64_t)(address - (uintptr_t)header);
  uint64_t low = 0, high = count;
  while (low < high) {
    uint64_t middle = (low + high) / 2;
    struct entry e;
    memcpy(&e, p + middle * sizeof e, sizeof e);
    if (e.location <= target) low = middle + 1;
    else high = middle;
  }
  if (low == 0) return false;
  struct entry e;
  memcpy(&e, p + (low - 1) * sizeof e, sizeof e);
  if (!parse_frame_entry(header + e.description, d)) return false;
  if (address >= d->start && address < d->end) return true;
  if (address >= d->end) *gap = d->end;
  return false;
}

// --- call frame programs --------------------------------------------------------------------------------------------------

enum { STATE_STACK_DEPTH = 8 };

static bool run_program(const uint8_t *p, const uint8_t *end, const struct frame_description *d, uintptr_t address,
                        const struct lt_unwind_row *initialRow, struct lt_unwind_row *row) {
  struct lt_unwind_row remembered[STATE_STACK_DEPTH];
  unsigned depth = 0;
  uintptr_t location = d->start;
#define SET(register_, rule_, offset_, expression_)                        \
  do {                                                                    \
    uint64_t r_ = (register_);                                            \
    if (r_ < LT_REG_COUNT) {                                              \
      row->registers[r_].rule = (rule_);                                  \
      row->registers[r_].offset = (offset_);                              \
      row->registers[r_].expression = (expression_);                      \
    }                                                                     \
  } while (0)
  while (p < end) {
    uint8_t instruction = *p++, low = instruction & 0x3f;
    uint64_t reg, length;
    int64_t offset;
    switch (instruction & 0xc0) {
      case 0x40: // advance_loc
        location += low * d->codeAlignment;
        if (location > address) return true;
        continue;
      case 0x80: // offset
        offset = (int64_t)read_uleb(&p) * d->dataAlignment;
        SET(low, LT_RULE_OFFSET, offset, NULL);
        continue;
      case 0xc0: // restore
        if (low < LT_REG_COUNT) row->registers[low] = initialRow->registers[low];
        continue;
    }
    switch (instruction) {
      case 0x00: break; // nop
      case 0x01: // set_loc
        location = READ(uint64_t, &p);
        if (location > address) return true;
        break;
      case 0x02: location += (uintptr_t)*p++ * d->codeAlignment; if (location > address) return true; break;
      case 0x03: location += READ(uint16_t, &p) * d->codeAlignment; if (location > address) return true; break;
      case 0x04: location += READ(uint32_t, &p) * d->codeAlignment; if (location > address) return true; break;
      case 0x05: reg = read_uleb(&p); offset = (int64_t)read_uleb(&p) * d->dataAlignment; SET(reg, LT_RULE_OFFSET, offset, NULL); break;
      case 0x06: reg = read_uleb(&p); if (reg < LT_REG_COUNT) row->registers[reg] = initialRow->registers[reg]; break;
      case 0x07: reg = read_uleb(&p); SET(reg, LT_RULE_UNDEFINED, 0, NULL); break;
      case 0x08: reg = read_uleb(&p); SET(reg, LT_RULE_SAME, 0, NULL); break;
      case 0x09: reg = read_uleb(&p); offset = (int64_t)read_uleb(&p); SET(reg, LT_RULE_REGISTER, offset, NULL); break;
      case 0x0a: // remember_state
        if (depth == STATE_STACK_DEPTH) return false;
        remembered[depth++] = *row;
        break;
      case 0x0b: // restore_state
        if (depth == 0) return false;
        *row = remembered[--depth];
        break;
      case 0x0c: // def_cfa
        row->cfaRegister = (uint8_t)read_uleb(&p);
        row->cfaOffset = (int64_t)read_uleb(&p);
        row->cfaIsExpression = false;
        break;
      case 0x0d: row->cfaRegister = (uint8_t)read_uleb(&p); row->cfaIsExpression = false; break;
      case 0x0e: row->cfaOffset = (int64_t)read_uleb(&p); break;
      case 0x0f: // def_cfa_expression
        row->cfaIsExpression = true;
        row->cfaExpression = p;
        length = read_uleb(&p);
        p += length;
        break;
      case 0x10:
      case 0x16: {
        reg = read_uleb(&p);
        const uint8_t *expression = p;
        length = read_uleb(&p);
        p += length;
        SET(reg, instruction == 0x10 ? LT_RULE_EXPRESSION : LT_RULE_VALUE_EXPRESSION, 0, expression);
        break;
      }
      case 0x11: reg = read_uleb(&p); offset = read_sleb(&p) * d->dataAlignment; SET(reg, LT_RULE_OFFSET, offset, NULL); break;
      case 0x12: row->cfaRegister = (uint8_t)read_uleb(&p); row->cfaOffset = read_sleb(&p) * d->dataAlignment; row->cfaIsExpression = false; break;
      case 0x13: row->cfaOffset = read_sleb(&p) * d->dataAlignment; break;
      case 0x14: reg = read_uleb(&p); offset = (int64_t)read_uleb(&p) * d->dataAlignment; SET(reg, LT_RULE_VALUE_OFFSET, offset, NULL); break;
      case 0x15: reg = read_uleb(&p); offset = read_sleb(&p) * d->dataAlignment; SET(reg, LT_RULE_VALUE_OFFSET, offset, NULL); break;
      case 0x2e: read_uleb(&p); break; // GNU_args_size
      default: return false;
    }
  }
#undef SET
  return true;
}

/// Whether nothing can have been called from just before the address, where a described function begins: code that makes stacks put it there
/// to say what runs when the outermost function returns, as makecontext does.
static bool is_planted(uintptr_t address) {
  struct frame_description d;
  uintptr_t gap;
  if (!find_frame_description(address, &d, &gap) || d.start != address || d.isSignalFrame) return false;
  const uint8_t *p = (const uint8_t *)address;
  return p[-5] != 0xe8 && !(p[-2] == 0xff && (p[-1] & 0x38) == 0x10) && !(p[-3] == 0xff && (p[-2] & 0x38) == 0x10);
}

bool lt_unwind_row(uintptr_t address, bool isExact, struct lt_unwind_row *row) {
  uintptr_t lookup = isExact ? address : address - 1;
  struct frame_description d;
  memset(row, 0, sizeof *row);
  uintptr_t gap;
  if (!find_frame_description(lookup, &d, &gap)) {
    if (address >= loaderStart && address < loaderEnd) {
      row->registers[LT_REG_RA].rule = LT_RULE_UNDEFINED;
      return true;
    }
    if (!gap || isExact) return false;
    if (lt_prologue_row(address, gap, row)) return true;
    if (!is_planted(address)) return false;
    memset(row, 0, sizeof *row);
    row->registers[LT_REG_RA].rule = LT_RULE_UNDEFINED;
    return true;
  }
  if (d.returnRegister != LT_REG_RA) return false;
  static const struct lt_unwind_row empty;
  if (!run_program(d.initial, d.initialEnd, &d, UINTPTR_MAX, &empty, row)) return false;
  struct lt_unwind_row initial = *row;
  if (!run_program(d.program, d.programEnd, &d, lookup, &initial, row)) return false;
  row->isSignalFrame = d.isSignalFrame;
  return true;
}
