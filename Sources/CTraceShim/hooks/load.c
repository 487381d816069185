// The one constructor.

#define _GNU_SOURCE
#include "hooks/load.h"

#include "elf/loaded_image.h"
#include "elf/next_symbol.h"
#include "hooks/beginning.h"
#include "hooks/light_recording.h"
#include "hooks/next_functions.h"
#include "image/block_list.h"
#include "process/environment.h"
#include "record/message.h"

#include <gnu/libc-version.h>
#include <sys/auxv.h>

static int find_earlier(struct dl_phdr_info *info, size_t size, void *isLate) {
  (void)size;
  struct lt_loaded_image image;
  if (!lt_loaded_image_from_info(info, &image)) return 0;
  if (lt_loaded_image_covers(&image, (uintptr_t)&lt_next)) return 1;
  // The C library's image, by a function that no library interposes.
  *(bool *)isLate = lt_loaded_image_covers(&image, (uintptr_t)&gnu_get_libc_version);
  return *(bool *)isLate;
}

bool lt_process_was_running(void) {
  bool isLate = false;
  dl_iterate_phdr(find_earlier, &isLate);
  return isLate;
}

/// Sets everything up, unless there is a reason not to.
static void begin(char **environment) {
  lt_environment_read(environment);
  lt_message_init(lt_settings.messages, lt_settings.isQuiet);
  // The executable may contain an allocator, whose calls never reach this library.
  if (!lt_symbol_is_first_here("malloc")) {
    lt_message("not tracing: the program defines malloc itself (a statically linked allocator?), so the recorder "
               "cannot see its calls. "
               "Link the allocator as a shared library.",
               NULL, 0);
    return;
  }
  lt_begin_recording(false);
}

// The library is initialised before all others, since their constructors allocate. Tests call this function themselves.
#ifndef LT_UNIT_TESTS
__attribute__((constructor(101)))
#endif
void lt_process_load(int argumentCount, char **arguments, char **environment) {
  (void)argumentCount;
  (void)arguments;
  // A running program loads this library for its own reasons; attachment begins the recording.
  if (lt_process_was_running()) return;
  struct lt_next_functions next;
  lt_next_functions_find(&next);
  // A program with more rights than its user is not recorded.
  if (!getauxval(AT_SECURE)) begin(environment);
  lt_next = next;
  lt_block_list_init((uintptr_t)next.malloc);
  lt_light_open();
}
