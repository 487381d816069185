// The one constructor. It knows all parts of the recorder that have to be set up, and no part knows it.

#define _GNU_SOURCE
#include "hooks/load.h"

#include "hooks/exit_hooks.h"
#include "hooks/loader_watch.h"
#include "hooks/next_functions.h"
#include "hooks/snapshot_signals.h"
#include "hooks/swift_recording.h"
#include "process/environment.h"
#include "process/lifecycle.h"
#include "process/recording.h"
#include "record/message.h"

#include <dlfcn.h>
#include <pthread.h>
#include <sys/auxv.h>

static void finish_at_exit(void *unused) {
  (void)unused;
  lt_process_finish(LT_CLOSE_EXIT);
}

/// Tells whether calls of malloc reach this library: they do not when the executable has an allocator of its own
/// inside.
static bool is_malloc_ours(void) {
  Dl_info found, own;
  // Looked up from the program: a library linked symbolically finds itself first.
  void *program = dlopen(NULL, RTLD_LAZY);
  void *first = program ? dlsym(program, "malloc") : NULL;
  return !first || !dladdr(first, &found) || !dladdr(&lt_next, &own) || found.dli_fbase == own.dli_fbase;
}

static void handle_signals(void) { lt_snapshot_signals_init(lt_settings.snapshotSignal, lt_settings.roundSignal); }

static void give_back(void) {
  lt_snapshot_signals_end();
  lt_loader_watch_end();
}

/// Sets everything up, unless there is a reason not to.
static void begin(char **environment) {
  lt_environment_read(environment);
  lt_message_init(lt_settings.messages, lt_settings.isQuiet);
  if (!is_malloc_ours()) {
    lt_message("not tracing: the program defines malloc itself (a statically linked allocator?), so that its calls "
               "cannot be seen. "
               "Link the allocator as a shared library.",
               NULL, 0);
    return;
  }
  lt_arc_mode = lt_settings.arcMode;
  lt_recording_observe((struct lt_recording_observer){.takesSnapshots = handle_signals, .stopped = give_back});
  if (!lt_recording_begin()) return;
  lt_loader_watch_begin();
  pthread_atfork(NULL, NULL, lt_process_after_fork);
  // Registered for no library, and before main's own: it runs after all other handlers and destructors.
  lt_exit_hooks_init(finish_at_exit);
  lt_hooks_set(LT_HOOKS_ON);
}

// The library is marked to be initialised before all others, since their constructors allocate. Tests call it
// themselves.
#ifndef LT_UNIT_TESTS
__attribute__((constructor(101)))
#endif
void lt_process_load(int argumentCount, char **arguments, char **environment) {
  (void)argumentCount;
  (void)arguments;
  struct lt_next_functions next;
  lt_next_functions_find(&next);
  // A program with more rights than its user is left alone.
  if (!getauxval(AT_SECURE)) begin(environment);
  lt_next = next;
}
