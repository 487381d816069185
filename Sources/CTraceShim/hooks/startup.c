// Begins recordings: when the library is loaded, and when it is attached to a running process.

#define _GNU_SOURCE
#include "hooks/startup.h"

#include "CTraceFormat.h"
#include "attach_results.h"
#include "check.h"
#include "elf/elf_image.h"
#include "hooks/hook.h"
#include "hooks/loader_watch.h"
#include "hooks/process_hooks.h"
#include "hooks/program_calls.h"
#include "hooks/signal_hooks.h"
#include "hooks/table_binding.h"
#include "image/block_list.h"
#include "image/heap_snapshot.h"
#include "process/environment.h"
#include "process/lifecycle.h"
#include "process/recording.h"
#include "record/event_buffer.h"
#include "record/trace_file.h"
#include "thread/thread_state.h"

#include <errno.h>
#include <gnu/libc-version.h>
#include <pthread.h>
#include <stdbool.h>
#include <string.h>
#include <sys/auxv.h>

// --- beginning -------------------------------------------------------------------------------------------------------

// Sets up all parts of the recorder for a recording. This code knows all parts, and no part depends on this code.

static void finish_at_exit(void *unused) {
  (void)unused;
  lt_process_finish(LT_CLOSE_EXIT);
}

static void handle_signals(void) { lt_snapshot_signals_init(lt_settings.snapshotSignal, lt_settings.roundSignal); }

static void give_back(void) {
  lt_snapshot_signals_end();
  lt_loader_watch_end();
}

/// Makes the C library call the recorder when the process forks and when it ends.
static void register_handlers(bool isJoined) {
  static bool isDone;
  if (isDone) return;
  isDone = true;
  pthread_atfork(NULL, NULL, lt_process_after_fork);
  // The exit handler belongs to no library, and is registered before main registers its handlers. So it runs after all
  // other handlers and destructors. In a joined process, it would run before them. There, this library's destructor
  // ends the recording, because the destructor runs later.
  lt_exit_hooks_init(isJoined ? NULL : finish_at_exit);
}

/// Begins the recording with `lt_settings`, and installs the hooks that are not interposed by name. `isJoined`: the
/// program was running before the recorder was loaded. If the recording cannot begin, reports the reason and returns
/// false.
static bool lt_begin_recording(bool isJoined) {
  lt_arc_mode = lt_settings.arcMode;
  if (!lt_light_begin()) return false;
  lt_heap_profiles_init();
  lt_recording_observe((struct lt_recording_observer){
      .takesSnapshots = handle_signals, .stopped = give_back, .forked = lt_light_after_fork});
  if (!lt_recording_begin()) return false;
  lt_loader_watch_begin(isJoined || lt_table_binding_prepare_operators());
  register_handlers(isJoined);
  lt_hooks_set(LT_HOOKS_ON);
  return true;
}

// --- load ------------------------------------------------------------------------------------------------------------

// The library's only constructor.

static int find_earlier(struct dl_phdr_info *info, size_t size, void *isLate) {
  (void)size;
  struct lt_loaded_image image;
  if (!lt_loaded_image_from_info(info, &image)) return 0;
  if (lt_loaded_image_covers(&image, (uintptr_t)&lt_next)) return 1;
  // Recognise the C library's image by a function that no library interposes.
  *(bool *)isLate = lt_loaded_image_covers(&image, (uintptr_t)&gnu_get_libc_version);
  return *(bool *)isLate;
}

bool lt_process_was_running(void) {
  bool isLate = false;
  dl_iterate_phdr(find_earlier, &isLate);
  return isLate;
}

/// Reads the settings and begins the recording, unless the recorder cannot see the program's calls of malloc.
static void begin(char **environment) {
  lt_environment_read(environment);
  lt_message_init(lt_settings.messages, lt_settings.isQuiet);
  // The executable may contain an allocator. Calls of that allocator never reach this library.
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
  // If a running program loads this library, do not record yet: leaktrace_attach begins the recording.
  if (lt_process_was_running()) return;
  struct lt_next_functions next;
  lt_next_functions_find(&next);
  // Do not record a program that has more rights than its user (setuid).
  if (!getauxval(AT_SECURE)) begin(environment);
  lt_next = next;
  lt_block_list_init((uintptr_t)next.malloc);
  lt_light_open();
}

// --- attachment ------------------------------------------------------------------------------------------------------

// Records a running process between two calls. `leaktrace attach` makes a thread of the process call leaktrace_attach,
// and `leaktrace detach` makes a thread call leaktrace_detach.
//
// The caller ensures that no other thread is in the loader or holds a lock of the allocator. Apart from that, all
// threads may keep running.

/// Begins a recording. `settings`: the settings that `leaktrace record` passes in the environment, as lines of
/// `NAME=value`. Children are never followed. Returns one of the LT_ATTACH_ constants. Keeps errno.
LT_EXPORT int leaktrace_attach(const char *settings);
/// Ends the recording. The library then does nothing until the next recording begins.
LT_EXPORT int leaktrace_detach(void);

/// Variants that store the result in memory. `leaktrace` makes a thread of the process call them, and cannot see the
/// thread's return value.
LT_EXPORT void leaktrace_attach_visited(const char *settings, int *result);
LT_EXPORT void leaktrace_detach_visited(const char *unused, int *result);

enum { SETTING_LIMIT = 32, TEXT_SIZE = 16 << 10 };
static struct {
  _Atomic bool isAtWork; ///< the exchange to true pairs with the store of false
  bool isAttached;       ///< hooks are in place. Changes only while `isAtWork`
} attachment;

/// Reads the settings from lines of `NAME=value`. False if there are too many lines.
static bool read_settings(const char *lines) {
  static char text[TEXT_SIZE];
  char *variables[SETTING_LIMIT + 1];
  size_t count = 0, length = strlen(lines);
  if (length >= sizeof text) return false;
  memcpy(text, lines, length + 1);
  for (char *line = text; *line;) {
    char *end = strchr(line, '\n');
    if (*line != '\n') {
      if (count == SETTING_LIMIT) return false;
      variables[count++] = line;
    }
    if (!end) break;
    *end = 0;
    line = end + 1;
  }
  variables[count] = NULL;
  LT_CHECK(count <= SETTING_LIMIT);
  lt_environment_read(variables);
  lt_settings.followsChildren = false;
  // Do not sample: a thread in the middle of a free would not see the marks change.
  lt_settings.mode = LT_MODE_FULL;
  lt_settings.samplePeriod = lt_settings.traceLimit = lt_settings.profileInterval = 0;
  return true;
}

static int attach(const char *settings) {
  LT_CHECK(atomic_load(&attachment.isAtWork));
  if (!lt_process_was_running()) return LT_ATTACH_PRELOADED;
  if (lt_recording_is_on()) return LT_ATTACH_RECORDS;
  if (!lt_may_ask_processor()) return LT_ATTACH_PROCESSOR;
  if (!lt_process_forget_recording()) return LT_ATTACH_BUSY;
  if (!read_settings(settings)) return LT_ATTACH_REFUSED;
  lt_message_init(lt_settings.messages, lt_settings.isQuiet);
  if (!lt_table_binding_prepare()) return LT_ATTACH_NO_ALLOCATOR;
  lt_description_join();
  lt_snapshot_list_blocks();
  // There may be other threads that have not called a hook yet.
  lt_exact_time_require();
  // Requests for images may arrive as soon as the trace's file exists.
  lt_snapshot_hold(true);
  attachment.isAttached = lt_begin_recording(true);
  // Write the descriptions now: an image may be taken even if the process calls no hook from now on.
  if (attachment.isAttached) lt_process_introduce();
  lt_snapshot_hold(false);
  return attachment.isAttached ? LT_ATTACH_DONE : LT_ATTACH_REFUSED;
}

static int detach(void) {
  LT_CHECK(atomic_load(&attachment.isAtWork));
  if (!attachment.isAttached) return LT_ATTACH_RECORDS_NOTHING;
  attachment.isAttached = false;
  // A full disk, or a process that gave up its rights, may have ended the recording before.
  if (!lt_process_detach()) lt_hooks_set(LT_HOOKS_OFF), lt_recording_set_stopped();
  lt_loader_watch_undo();
  lt_process_forget_recording(); // if a thread stays in its hook, the next attachment repeats this
  return LT_ATTACH_DONE;
}

/// Runs attach or detach with signals blocked: signal handlers may take long, or never return.
static int run(int (*function)(const char *), const char *settings) {
  if (atomic_exchange(&attachment.isAtWork, true)) return LT_ATTACH_BUSY;
  int error = errno;
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  int result = function(settings);
  lt_restore_signals(before);
  errno = error;
  atomic_store(&attachment.isAtWork, false);
  return result;
}

static int detach_without_settings(const char *unused) {
  (void)unused;
  return detach();
}

int leaktrace_attach(const char *settings) { return run(attach, settings); }
int leaktrace_detach(void) { return run(detach_without_settings, NULL); }

void leaktrace_attach_visited(const char *settings, int *result) { *result = leaktrace_attach(settings); }
void leaktrace_detach_visited(const char *unused, int *result) {
  (void)unused;
  *result = leaktrace_detach();
}

__attribute__((destructor)) static void end(void) {
  if (attachment.isAttached) lt_process_finish(LT_CLOSE_EXIT);
}
