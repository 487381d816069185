// Sets up all parts of the recorder for a recording. It knows them all, and no part knows it.

#define _GNU_SOURCE
#include "hooks/beginning.h"

#include "hooks/exit_hooks.h"
#include "hooks/heap_profiles.h"
#include "hooks/light_recording.h"
#include "hooks/loader_watch.h"
#include "hooks/snapshot_signals.h"
#include "hooks/swift_recording.h"
#include "hooks/table_binding.h"
#include "process/environment.h"
#include "process/lifecycle.h"
#include "process/recording.h"

#include <pthread.h>

static void finish_at_exit(void *unused) {
  (void)unused;
  lt_process_finish(LT_CLOSE_EXIT);
}

static void handle_signals(void) { lt_snapshot_signals_init(lt_settings.snapshotSignal, lt_settings.roundSignal); }

static void give_back(void) {
  lt_snapshot_signals_end();
  lt_loader_watch_end();
}

/// Has the C library call the recorder when the process forks and when it ends.
static void register_handlers(bool isJoined) {
  static bool isDone;
  if (isDone) return;
  isDone = true;
  pthread_atfork(NULL, NULL, lt_process_after_fork);
  // Registered for no library, and before main's own: it runs after all other handlers and destructors. In a process
  // that was joined it would run before them: this library's destructor runs later.
  lt_exit_hooks_init(isJoined ? NULL : finish_at_exit);
}

bool lt_begin_recording(bool isJoined) {
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
