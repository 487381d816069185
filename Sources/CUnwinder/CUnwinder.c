// The child process that unwinds stacks. It uses libunwind with accessors that read another process's memory, or the
// bytes of a core file.

#define _GNU_SOURCE
#include "CUnwinder.h"

#include <errno.h>

#if defined __x86_64__

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>

enum {
  PAGE = 4096,
  CACHED_PAGES = 256,           // enough for a stack and the unwind rules of several dozen functions
  MOST_READS = 1 << 24,         // for one thread; a frame takes a few hundred reads
  MOST_READS_OF_STEP = 1 << 16, // ends an expression that loops
  ANSWER_MILLISECONDS = 120000, // for a child that hangs; otherwise the number of reads is the limit
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

#define MEMORY_LIMIT ((size_t)256 << 20)
#define STACK_LIMIT ((size_t)8 << 20)

/// libunwind's own table search, for custom accessors. No header declares it; Linux's perf uses it, too.
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int,
                                              void *);

struct cached_page {
  uint64_t address; // 0 if there is no page
  uint32_t size;
  uint8_t bytes[PAGE];
};

struct unwinder {
  struct lt_unwinder_input input;
  unw_addr_space_t space;
  const struct lt_unwinder_question *thread;
  uint64_t reads, readsOfStep;
  bool lacksRules;
  struct cached_page pages[CACHED_PAGES];
};

// ---------------------------------------------------------------------------------------------------------------------
// Memory.

static size_t read_kept(const struct lt_unwinder_input *input, uint64_t address, uint8_t *into, size_t size) {
  size_t low = 0, high = input->memoryCount;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (input->memory[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  size_t done = 0;
  for (; low < input->memoryCount && done < size; low++) {
    const struct lt_unwinder_memory *piece = &input->memory[low];
    if (piece->start > address + done) break;
    uint64_t offset = address + done - piece->start;
    uint64_t count = piece->end - piece->start - offset;
    if (count > size - done) count = size - done;
    memcpy(into + done, piece->bytes + offset, count);
    done += count;
  }
  return done;
}

static size_t read_process(pid_t process, uint64_t address, void *into, size_t size) {
  struct iovec local = {into, size}, remote = {(void *)address, size};
  ssize_t count = process_vm_readv(process, &local, 1, &remote, 1, 0);
  return count > 0 ? (size_t)count : 0;
}

static const struct cached_page *page_at(struct unwinder *unwinder, uint64_t address) {
  struct cached_page *page = &unwinder->pages[address / PAGE % CACHED_PAGES];
  if (page->address == address && address != 0) return page;
  const struct lt_unwinder_input *input = &unwinder->input;
  size_t size = input->process ? read_process(input->process, address, page->bytes, PAGE)
                               : read_kept(input, address, page->bytes, PAGE);
  page->address = address;
  page->size = (uint32_t)size;
  return page;
}

static bool read_bytes(struct unwinder *unwinder, uint64_t address, void *into, size_t size) {
  if (++unwinder->reads > MOST_READS || ++unwinder->readsOfStep > MOST_READS_OF_STEP) return false;
  if (address > UINT64_MAX - PAGE) return false;
  for (size_t done = 0; done < size;) {
    uint64_t at = address + done, offset = at % PAGE;
    const struct cached_page *page = page_at(unwinder, at - offset);
    size_t count = page->size > offset ? page->size - offset : 0;
    if (count > size - done) count = size - done;
    if (count == 0) return false;
    memcpy((uint8_t *)into + done, page->bytes + offset, count);
    done += count;
  }
  return true;
}

// ---------------------------------------------------------------------------------------------------------------------
// The functions that libunwind calls.

static const struct lt_unwinder_image *image_at(const struct lt_unwinder_input *input, uint64_t address) {
  size_t low = 0, high = input->imageCount;
  while (low < high) {
    size_t middle = low + (high - low) / 2;
    if (input->images[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  return low < input->imageCount && input->images[low].start <= address ? &input->images[low] : NULL;
}

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
  struct unwinder *unwinder = context;
  const struct lt_unwinder_image *image = image_at(&unwinder->input, address);
  int result = -UNW_ENOINFO;
  uint8_t head[TABLE_HEAD];
  if (image && read_bytes(unwinder, image->table, head, sizeof head) && head[0] == TABLE_VERSION &&
      head[3] == SEARCH_TABLE) {
    uint32_t pointerSize = size_of(head[1]), countSize = size_of(head[2]);
    uint64_t count = 0, place = image->table + TABLE_HEAD + pointerSize;
    if (pointerSize && countSize && read_bytes(unwinder, place, &count, countSize) &&
        count <= UINT32_MAX / TABLE_ENTRY) {
      unw_dyn_info_t table = {.start_ip = image->start,
                              .end_ip = image->end,
                              .format = UNW_INFO_FORMAT_REMOTE_TABLE,
                              .u.rti = {.segbase = image->table,
                                        .table_len = count * TABLE_ENTRY / sizeof(unw_word_t),
                                        .table_data = place + countSize}};
      result = UNW_OBJ(dwarf_search_unwind_table)(space, address, &table, found, needsRules, context);
    }
  }
  // Without rules, libunwind guesses the frame's caller. The guess is not used.
  if (result < 0) unwinder->lacksRules = true;
  return result;
}

static void put_rules(unw_addr_space_t space, unw_proc_info_t *found, void *context) {}

static int list_of_generated_code(unw_addr_space_t space, unw_word_t *address, void *context) { return -UNW_ENOINFO; }

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int writes, void *context) {
  return !writes && read_bytes(context, address, value, sizeof *value) ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int writes, void *context) {
  const struct unwinder *unwinder = context;
  if (writes || number < 0 || number >= LT_UNWINDER_REGISTERS) return -UNW_EBADREG;
  *value = unwinder->thread->registers[number];
  return 0;
}

static int access_float(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int writes, void *context) {
  return -UNW_EBADREG;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context) { return -UNW_EINVAL; }

static int name_of(unw_addr_space_t space, unw_word_t address, char *name, size_t size, unw_word_t *offset,
                   void *context) {
  return -UNW_ENOINFO;
}

// ---------------------------------------------------------------------------------------------------------------------
// The child.

static void *begin(void *context) {
  struct unwinder *unwinder = calloc(1, sizeof *unwinder);
  if (!unwinder) return NULL;
  unwinder->input = *(const struct lt_unwinder_input *)context;
  unw_accessors_t accessors = {.find_proc_info = find_rules,
                               .put_unwind_info = put_rules,
                               .get_dyn_info_list_addr = list_of_generated_code,
                               .access_mem = access_memory,
                               .access_reg = access_register,
                               .access_fpreg = access_float,
                               .resume = resume,
                               .get_proc_name = name_of};
  unwinder->space = unw_create_addr_space(&accessors, 0);
  if (!unwinder->space) return NULL;
  unw_set_caching_policy(unwinder->space, UNW_CACHE_GLOBAL);
  return unwinder;
}

/// Unwinds frame by frame. Returns why the stack ends.
static enum lt_unwinder_end unwind(struct unwinder *unwinder, struct lt_unwinder_frame *frames, uint32_t *count) {
  unw_cursor_t cursor;
  bool isExact = true;
  if (unw_init_remote(&cursor, unwinder->space, unwinder) != 0) return LT_UNWINDER_UNSOUND;
  for (;;) {
    unw_word_t address = 0, stackPointer = 0;
    if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || unw_get_reg(&cursor, UNW_REG_SP, &stackPointer) != 0)
      return LT_UNWINDER_UNSOUND;
    if (*count > 0 && address == 0) return LT_UNWINDER_COMPLETE;
    if (*count == LT_UNWINDER_MOST_FRAMES) return LT_UNWINDER_CUT;
    // The caller of a signal frame may be on another stack. All other callers are at higher addresses.
    if (*count > 0 && !isExact && stackPointer <= frames[*count - 1].stackPointer) return LT_UNWINDER_UNSOUND;
    frames[(*count)++] =
        (struct lt_unwinder_frame){.address = address, .stackPointer = stackPointer, .isExact = isExact};
    unwinder->lacksRules = false;
    unwinder->readsOfStep = 0;
    // The caller of a signal frame was interrupted at exactly this address.
    isExact = unw_is_signal_frame(&cursor) > 0;
    int result = unw_step(&cursor);
    if (unwinder->lacksRules) return LT_UNWINDER_NO_RULES;
    if (result == 0) return LT_UNWINDER_COMPLETE;
    if (result < 0) return LT_UNWINDER_UNSOUND;
  }
}

static bool answer(void *context, const char *question, size_t size, struct lt_child_answer *answer) {
  struct unwinder *unwinder = context;
  struct lt_unwinder_question thread;
  if (size != sizeof thread) return false;
  memcpy(&thread, question, sizeof thread);
  unwinder->thread = &thread;
  unwinder->reads = unwinder->readsOfStep = 0;
  static struct lt_unwinder_frame frames[LT_UNWINDER_MOST_FRAMES];
  struct lt_unwinder_answer head = {0};
  head.end = unwind(unwinder, frames, &head.count);
  lt_child_append(answer, &head, sizeof head);
  lt_child_append(answer, frames, head.count * sizeof *frames);
  return true;
}

int lt_unwinder_start(struct lt_child *child, const struct lt_unwinder_input *input) {
  static const struct lt_child_service service = {
      .questionLimit = sizeof(struct lt_unwinder_question),
      .answerLimit = sizeof(struct lt_unwinder_answer) + LT_UNWINDER_MOST_FRAMES * sizeof(struct lt_unwinder_frame),
      .memoryLimit = MEMORY_LIMIT,
      .stackLimit = STACK_LIMIT,
      .answerMilliseconds = ANSWER_MILLISECONDS,
      .begin = begin,
      .answer = answer,
  };
  return lt_child_start(child, &service, (void *)input);
}

#else

int lt_unwinder_start(struct lt_child *child, const struct lt_unwinder_input *input) { return ENOSYS; }

#endif
