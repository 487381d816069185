// Unwinds with libunwind. Reads only the other process's memory, since its files may not be accessible.

#define _GNU_SOURCE
#include "thread_frames.h"

#include "process_memory.h"

#include <libunwind.h>
#include <stdlib.h>
#include <string.h>

enum { PAGE = 4096, PAGES = 1024 }; // PAGES is the number of pages that are kept, a power of two

struct kept_page {
  uint64_t address; ///< the address of its first byte, plus 1; 0 if no page is kept here
  unsigned char bytes[PAGE];
};

struct lt_unwinding {
  const struct lt_remote_images *images;
  unw_addr_space_t space;
  const struct lt_copied_thread *thread; ///< the thread that is unwound
  bool isLost;                           ///< a frame's code has no unwind information
  struct kept_page pages[PAGES];
};

/// A function of libunwind that its headers do not declare. perf(1) uses it, too.
extern int UNW_OBJ(dwarf_search_unwind_table)(unw_addr_space_t, unw_word_t, unw_dyn_info_t *, unw_proc_info_t *, int,
                                              void *);

// --- what libunwind asks for -----------------------------------------------------------------------------------------

static const unsigned char *page_at(struct lt_unwinding *unwinding, uint64_t address) {
  uint64_t first = address & ~(uint64_t)(PAGE - 1);
  struct kept_page *page = &unwinding->pages[address / PAGE % PAGES];
  if (page->address == first + 1) return page->bytes;
  page->address = 0;
  if (lt_read_process(unwinding->images->process, first, page->bytes, PAGE) != PAGE) return NULL;
  page->address = first + 1;
  return page->bytes;
}

static bool read_bytes(struct lt_unwinding *unwinding, uint64_t address, void *into, size_t size) {
  for (size_t done = 0; done < size;) {
    const unsigned char *page = page_at(unwinding, address + done);
    if (page == NULL) return false;
    size_t offset = (address + done) % PAGE, count = PAGE - offset < size - done ? PAGE - offset : size - done;
    memcpy((char *)into + done, page + offset, count);
    done += count;
  }
  return true;
}

static int access_memory(unw_addr_space_t space, unw_word_t address, unw_word_t *value, int isWrite, void *context) {
  (void)space;
  return !isWrite && read_bytes(context, address, value, sizeof *value) ? 0 : -UNW_EINVAL;
}

static int access_register(unw_addr_space_t space, unw_regnum_t number, unw_word_t *value, int isWrite, void *context) {
  (void)space;
  const struct lt_copied_thread *thread = ((struct lt_unwinding *)context)->thread;
  if (isWrite) return -UNW_EREADONLYREG;
  if (number == UNW_REG_IP) *value = thread->programCounter;
  // libunwind numbers the general registers as DWARF does, like `general`.
  else if (number >= 0 && number < LT_GENERAL_REGISTERS) *value = thread->general[number];
  else return -UNW_EBADREG;
  return 0;
}

static int access_floating_point(unw_addr_space_t space, unw_regnum_t number, unw_fpreg_t *value, int isWrite,
                                 void *context) {
  (void)space, (void)number, (void)value, (void)isWrite, (void)context;
  return -UNW_EBADREG;
}

/// The header of .eh_frame_hdr, as linkers write it. Pointers have 4 bytes, and a sorted table follows.
struct unwind_header {
  uint8_t version, frameEncoding, countEncoding, tableEncoding;
  int32_t frames;
  uint32_t count;
};
enum { RELATIVE_TO_PLACE_4 = 0x1b, UNSIGNED_4 = 0x03, RELATIVE_TO_DATA_4 = 0x3b, MOST_FUNCTIONS = 1 << 24 };

static int find_function(unw_addr_space_t space, unw_word_t address, unw_proc_info_t *found, int needsUnwindInfo,
                         void *context) {
  struct lt_unwinding *unwinding = context;
  const struct lt_remote_image *image = lt_remote_image_at(unwinding->images, address);
  struct unwind_header header;
  int result = -UNW_ENOINFO;
  if (image && image->unwindHeader && read_bytes(unwinding, image->unwindHeader, &header, sizeof header) &&
      header.version == 1 && header.frameEncoding == RELATIVE_TO_PLACE_4 && header.countEncoding == UNSIGNED_4 &&
      header.tableEncoding == RELATIVE_TO_DATA_4 && header.count < MOST_FUNCTIONS) {
    unw_dyn_info_t table = {.format = UNW_INFO_FORMAT_REMOTE_TABLE, .start_ip = image->start, .end_ip = image->end};
    table.u.rti.segbase = image->unwindHeader;
    table.u.rti.table_data = image->unwindHeader + sizeof header;
    table.u.rti.table_len = header.count * 2 * sizeof(int32_t) / sizeof(unw_word_t);
    result = UNW_OBJ(dwarf_search_unwind_table)(space, address, &table, found, needsUnwindInfo, context);
  }
  // libunwind would continue by guessing, so the caller stops.
  if (result != 0) unwinding->isLost = true;
  return result;
}

static void forget_function(unw_addr_space_t space, unw_proc_info_t *found, void *context) {
  (void)space, (void)found, (void)context;
}

static int find_dynamic(unw_addr_space_t space, unw_word_t *list, void *context) {
  (void)space, (void)list, (void)context;
  return -UNW_ENOINFO;
}

static int resume(unw_addr_space_t space, unw_cursor_t *cursor, void *context) {
  (void)space, (void)cursor, (void)context;
  return -UNW_EINVAL;
}

static int name_function(unw_addr_space_t space, unw_word_t address, char *name, size_t size, unw_word_t *offset,
                         void *context) {
  (void)space, (void)address, (void)name, (void)size, (void)offset, (void)context;
  return -UNW_ENOINFO;
}

// --- use -------------------------------------------------------------------------------------------------------------

struct lt_unwinding *lt_unwinding_begin(const struct lt_remote_images *images) {
  static unw_accessors_t accessors = {find_function,   forget_function,       find_dynamic, access_memory,
                                      access_register, access_floating_point, resume,       name_function};
  struct lt_unwinding *unwinding = calloc(1, sizeof *unwinding);
  if (unwinding == NULL) return NULL;
  unwinding->images = images;
  unwinding->space = unw_create_addr_space(&accessors, 0);
  if (unwinding->space == NULL) {
    free(unwinding);
    return NULL;
  }
  unw_set_caching_policy(unwinding->space, UNW_CACHE_GLOBAL);
  return unwinding;
}

void lt_unwinding_forget(struct lt_unwinding *unwinding) {
  for (size_t i = 0; i < PAGES; i++) unwinding->pages[i].address = 0;
}

void lt_unwinding_end(struct lt_unwinding *unwinding) {
  if (unwinding == NULL) return;
  unw_destroy_addr_space(unwinding->space);
  free(unwinding);
}

void lt_thread_frames(struct lt_unwinding *unwinding, const struct lt_copied_thread *thread,
                      struct lt_thread_frames *frames) {
  frames->count = 0;
  frames->isComplete = frames->hasSignalFrame = false;
  frames->lastStack = thread->stackPointer;
  unwinding->thread = thread;
  unwinding->isLost = false;
  unw_cursor_t cursor;
  if (unw_init_remote(&cursor, unwinding->space, unwinding) != 0) return;
  for (bool isCaller = false; frames->count < LT_MOST_FRAMES; isCaller = true) {
    unw_word_t address, stack;
    if (unw_get_reg(&cursor, UNW_REG_IP, &address) != 0 || unw_get_reg(&cursor, UNW_REG_SP, &stack) != 0) return;
    if (address == 0) {
      frames->isComplete = true;
      return;
    }
    bool isSignalFrame = unw_is_signal_frame(&cursor) > 0;
    frames->hasSignalFrame |= isSignalFrame;
    frames->lastStack = stack;
    frames->addresses[frames->count++] = address - (isCaller && !isSignalFrame ? 1 : 0);
    int result = unw_step(&cursor);
    if (unwinding->isLost) return;
    if (result == 0) frames->isComplete = true;
    if (result <= 0) return;
  }
}
