// The only code that calls libunwind.

#define _GNU_SOURCE
#include "stack_unwinding.h"

#include "processor.h"

#if defined(__linux__) && (defined(__x86_64__) || defined(__aarch64__))

#include "kept_pages.h"

#include <libunwind.h>
#include <stdlib.h>

enum {
  MAX_READS = 1 << 24,         // for one thread; a frame takes a few hundred reads
  MAX_READS_OF_STEP = 1 << 16, // ends an expression that loops
  // .eh_frame_hdr (Linux Standard Base, 10.6.2): version, three encodings, then the values.
  TABLE_VERSION = 1,
  TABLE_HEAD = 4,
  TABLE_ENTRY = 8,
  ENCODING_SIZE = 0x0F,
  FOUR_BYTES_UNSIGNED = 0x03,
  EIGHT_BYTES_UNSIGNED = 0x04,
  FOUR_BYTES = 0x0B,
  EIGHT_BYTES = 0x0C,
  SEARCH_TABLE = 0x3B, // pairs of 4 bytes, relative to the header
};

/// libunwind's own table search, for custom accessors. No header declares it; Linux's perf uses it, too.
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int,
                                              void *);

struct lt_stack_unwinder {
  struct lt_unwind_source source;
  unw_addr_space_t space;
  const struct lt_unwind_registers *thread; ///< the registers of the thread that is unwound
  uint64_t reads, readsOfStep;
  bool lacksRules; ///< the last step found no rules
  struct lt_kept_pages *kept;
};

static bool read_bytes(struct lt_stack_unwinder *unwinder, uint64_t address, void *into, size_t size) {
  const struct lt_unwind_source *source = &unwinder->source;
  if (++unwinder->reads > MAX_READS || ++unwinder->readsOfStep > MAX_READS_OF_STEP) return false;
  if (address > UINT64_MAX - LT_PAGE_SIZE) return false;
  return lt_kept_pages_read(unwinder->kept, source->read, source->context, address, into, size);
}

// --- the functions that libunwind calls ------------------------------------------------------------------------------

/// Returns the bytes of a value in a table's header; 0 if linkers do not use this encoding there.
static uint32_t size_of(uint8_t encoding) {
  switch (encoding & ENCODING_SIZE) {
    case FOUR_BYTES_UNSIGNED:
    case FOUR_BYTES: return 4;
    case EIGHT_BYTES_UNSIGNED:
    case EIGHT_BYTES: return 8;
    default: return 0;
  }
}

static int find_rules(unw_addr_space_t space, unw_word_t address, unw_proc_info_t *found, int needsRules,
                      void *context) {
  struct lt_stack_unwinder *unwinder = context;
  struct lt_unwind_code code;
  int result = -UNW_ENOINFO;
  uint8_t head[TABLE_HEAD];
  if (unwinder->source.find(unwinder->source.context, address, &code) &&
      read_bytes(unwinder, code.table, head, sizeof head) && head[0] == TABLE_VERSION && head[3] == SEARCH_TABLE) {
    uint32_t pointerSize = size_of(head[1]), countSize = size_of(head[2]);
    uint64_t count = 0, place = code.table + TABLE_HEAD + pointerSize;
    if (pointerSize && countSize && read_bytes(unwinder, place, &count, countSize) &&
        count <= UINT32_MAX / TABLE_ENTRY) {
      unw_dyn_info_t table = {.start_ip = code.start,
                              .end_ip = code.end,
                              .format = UNW_INFO_FORMAT_REMOTE_TABLE,
                              .u.rti = {.segbase = code.table,
                                        .table_len = count * TABLE_ENTRY / sizeof(unw_word_t),
                                        .table_data = place + countSize}};
      result = UNW_OBJ(dwarf_search_unwind_table)(space, address, &table, found, needsRules, context);
    }
  }
  // Without rules, libunwind guesses the frame's caller. The guess is not used.
  if (result < 0) unwinder->lacksRules = true;
  return result;
}

static void put_rules(unw_addr_space_t space, unw_proc_info_t *found, void *context) {
  (void)space, (void)found, (void)context;
}

static int list_of_generated_code(unw_addr_space_t space, unw_word_t *address, void *context) {
  (void)space, (void)address, (void)context;
  return -UNW_ENOINFO;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int writes, void *context) {
  (void)space;
  return !writes && read_bytes(context, address, value, sizeof *value) ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int writes, void *context) {
  (void)space;
  const struct lt_unwind_registers *thread = ((struct lt_stack_unwinder *)context)->thread;
  if (writes) return -UNW_EREADONLYREG;
  // libunwind numbers these registers as DWARF does.
  if (number < 0 || number >= LT_OWN_REGISTERS || !(thread->known >> number & 1)) return -UNW_EBADREG;
  *value = thread->values[number];
  return 0;
}

static int access_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int writes, void *context) {
  (void)space, (void)number, (void)value, (void)writes, (void)context;
  return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context) {
  (void)space, (void)cursor, (void)context;
  return -UNW_EINVAL;
}

static int name_of(unw_addr_space_t space, unw_word_t address, char *name, size_t size, unw_word_t *offset,
                   void *context) {
  (void)space, (void)address, (void)name, (void)size, (void)offset, (void)context;
  return -UNW_ENOINFO;
}

#if defined(__aarch64__) && UNW_VERSION >= UNW_VERSION_CODE(1, 8)
static unw_word_t signature_bits(unw_addr_space_t space, void *context) {
  (void)space, (void)context;
  return LT_SIGNATURE_BITS;
}
#endif

// --- frames without rules --------------------------------------------------------------------------------------------

/// Continues at a frame's caller by the frame record, since the frame's code has no rules. Some compilers omit the
/// rules of functions that cannot throw. Only for frames that have called another one, as their record is complete.
/// `next` gets the registers that are known in the caller. `frame` gets the caller. Returns false if there is no such
/// record.
static bool follow_record(struct lt_stack_unwinder *unwinder, unw_cursor_t *cursor, struct lt_unwind_registers *next,
                          struct lt_unwound_frame *frame) {
  unw_word_t record = 0;
  uint64_t words[2];
  if (LT_FRAME_POINTER < 0 || unw_get_reg(cursor, LT_FRAME_POINTER, &record) != 0 || record == 0) return false;
  if (record % sizeof words != 0 || !read_bytes(unwinder, record, words, sizeof words)) return false;
  uint64_t address = words[1] & ~LT_SIGNATURE_BITS, code;
  // A handler's record does not lead to the frame that the signal interrupted.
  if (read_bytes(unwinder, address, &code, sizeof code) && code == LT_RESTORER_CODE) return false;
  // The caller's record is at the caller's stack pointer, or its rules do not use the stack pointer.
  next->values[LT_FRAME_POINTER] = words[0];
  next->values[LT_STACK_POINTER] = words[0];
  // A return address has the rules of the call before it.
  next->values[LT_PROGRAM_COUNTER] = address - 1;
  next->known = 1ull << LT_FRAME_POINTER | 1ull << LT_STACK_POINTER | 1ull << LT_PROGRAM_COUNTER;
  *frame = (struct lt_unwound_frame){.address = address, .stackPointer = record + sizeof words};
  return true;
}

// --- use -------------------------------------------------------------------------------------------------------------

struct lt_stack_unwinder *lt_stack_unwinder_make(const struct lt_unwind_source *source) {
  struct lt_stack_unwinder *unwinder = calloc(1, sizeof *unwinder);
  if (unwinder == NULL) return NULL;
  unwinder->source = *source;
  unw_accessors_t accessors = {.find_proc_info = find_rules,
                               .put_unwind_info = put_rules,
                               .get_dyn_info_list_addr = list_of_generated_code,
                               .access_mem = access_memory,
                               .access_reg = access_register,
                               .access_fpreg = access_float,
                               .resume = resume,
                               .get_proc_name = name_of};
  unwinder->space = unw_create_addr_space(&accessors, 0);
  unwinder->kept = calloc(1, sizeof *unwinder->kept);
  if (unwinder->space == NULL || unwinder->kept == NULL) {
    lt_stack_unwinder_free(unwinder);
    return NULL;
  }
  unw_set_caching_policy(unwinder->space, UNW_CACHE_GLOBAL);
#if defined(__aarch64__) && UNW_VERSION >= UNW_VERSION_CODE(1, 8)
  unw_get_accessors(unwinder->space)->ptrauth_insn_mask = signature_bits;
#endif
  return unwinder;
}

void lt_stack_unwinder_forget(struct lt_stack_unwinder *unwinder) { lt_kept_pages_forget(unwinder->kept); }

void lt_stack_unwinder_free(struct lt_stack_unwinder *unwinder) {
  if (unwinder == NULL) return;
  if (unwinder->space) unw_destroy_addr_space(unwinder->space);
  free(unwinder->kept);
  free(unwinder);
}

enum lt_unwind_end lt_unwind_stack(struct lt_stack_unwinder *unwinder, const struct lt_unwind_registers *registers,
                                   struct lt_unwound_frame *frames, size_t most, size_t *count) {
  unw_cursor_t cursor;
  struct lt_unwind_registers next;
  struct lt_unwound_frame frame = {0};
  bool isFollowed = false, isInterrupted = false;
  *count = 0;
  unwinder->thread = registers;
  unwinder->reads = unwinder->readsOfStep = 0;
  if (unw_init_remote(&cursor, unwinder->space, unwinder) != 0) return LT_UNWIND_UNSOUND;
  for (;;) {
    unw_word_t address = frame.address, stackPointer = frame.stackPointer;
    if (!isFollowed &&
        (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || unw_get_reg(&cursor, UNW_REG_SP, &stackPointer) != 0))
      return LT_UNWIND_UNSOUND;
    isFollowed = false;
    if (*count > 0 && address == 0) return LT_UNWIND_COMPLETE;
    if (*count == most) return LT_UNWIND_CUT;
    bool isSignalFrame = (LT_TELLS_SIGNAL_FRAMES_AHEAD || *count > 0) && unw_is_signal_frame(&cursor) > 0;
    bool isExact = *count == 0 || (LT_TELLS_SIGNAL_FRAMES_AHEAD ? isInterrupted : isSignalFrame);
    if (unwinder->source.isOneStack && !isExact) {
      const struct lt_unwound_frame *callee = &frames[*count - 1];
      if (stackPointer < callee->stackPointer + (callee->isExact ? LT_LEAST_LEAF : 1)) return LT_UNWIND_UNSOUND;
    }
    frames[(*count)++] =
        (struct lt_unwound_frame){.address = address, .stackPointer = stackPointer, .isExact = isExact};
    isInterrupted = isSignalFrame;
    unwinder->lacksRules = false;
    unwinder->readsOfStep = 0;
    unw_cursor_t before = cursor;
    int result = unw_step(&cursor);
    if (unwinder->lacksRules) {
      if (isExact || !follow_record(unwinder, &before, &next, &frame)) return LT_UNWIND_NO_RULES;
      if (next.values[LT_STACK_POINTER] == 0) return LT_UNWIND_COMPLETE;
      unwinder->thread = &next;
      if (unw_init_remote(&cursor, unwinder->space, unwinder) != 0) return LT_UNWIND_UNSOUND;
      isFollowed = true;
      continue;
    }
    if (result == 0) return LT_UNWIND_COMPLETE;
    if (result < 0) return LT_UNWIND_UNSOUND;
  }
}

#else

struct lt_stack_unwinder *lt_stack_unwinder_make(const struct lt_unwind_source *source) {
  (void)source;
  return NULL;
}

void lt_stack_unwinder_forget(struct lt_stack_unwinder *unwinder) { (void)unwinder; }

void lt_stack_unwinder_free(struct lt_stack_unwinder *unwinder) { (void)unwinder; }

enum lt_unwind_end lt_unwind_stack(struct lt_stack_unwinder *unwinder, const struct lt_unwind_registers *registers,
                                   struct lt_unwound_frame *frames, size_t most, size_t *count) {
  (void)unwinder, (void)registers, (void)frames, (void)most;
  *count = 0;
  return LT_UNWIND_NO_RULES;
}

#endif
