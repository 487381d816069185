// The life of the traced process as the recorder sees it: load, fork, exec, exit. The one constructor is here.

#define _GNU_SOURCE
#include "process_state.h"

#include "environment.h"
#include "environment_block.h"
#include "event_buffer.h"
#include "exit_hooks.h"
#include "expectation_watcher.h"
#include "expectations.h"
#include "heap_snapshot.h"
#include "image_list.h"
#include "loader_watch.h"
#include "message.h"
#include "next_functions.h"
#include "own_stack.h"
#include "process_identity.h"
#include "serving_thread.h"
#include "snapshot_signals.h"
#include "stack_capture.h"
#include "swift_recording.h"
#include "trace_file.h"
#include "trace_ticks.h"
#include "type_table.h"

#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <pthread.h>
#include <string.h>
#include <sys/auxv.h>

/// Forked children that go on to exec leave no trace of their own unless they did more than this.
enum { WORTH_KEEPING = 1000 };
/// For threads that have seen hooks switched on to show that they are inside one, or for the first time to have a state.
enum { WAY_IN_NANOSECONDS = 20000000 };

static struct {
  _Atomic uint32_t isDescribed; ///< the process's own definitions are written
  _Atomic uint32_t isForkPending; ///< a followed child: its trace begins with its first event
  _Atomic uint32_t isDescriptionOld; ///< what is below has changed since
  bool isForked, hasSwiftHooks, isSwiftStatic;
  char warnings[4][512];
  int warningCount, writtenWarnings;
  char programName[256], programPath[PATH_MAX];
} process;

// --- beginning ---------------------------------------------------------------------------------------------------------

static bool open_trace(void) {
  if (!lt_identity_claim()) return false;
  if (lt_settings.outputError) {
    lt_message("not tracing: no path for the trace, neither as it was given nor from the working directory", NULL, -lt_settings.outputError);
    return false;
  }
  struct lt_trace_options options = {
      .pattern = lt_settings.output, .session = lt_settings.session, .arcMode = lt_settings.arcMode, .depthLimit = lt_settings.depthLimit};
  if (lt_settings.followsChildren) options.flags |= LT_OPTION_FOLLOW_CHILDREN;
  if (lt_settings.startsPaused) options.flags |= LT_OPTION_START_PAUSED;
  if (lt_settings.verifiesStacks) options.flags |= LT_OPTION_VERIFY_STACKS;
  if (!lt_trace_open(&options, process.programName)) return false;
  lt_snapshot_init(lt_settings.takesSnapshots);
  lt_trace_ticks_init();
  lt_expectations_init(lt_settings.takesSnapshots);
  if (lt_settings.takesSnapshots) {
    lt_snapshot_signals_init(lt_settings.snapshotSignal, lt_settings.roundSignal);
    lt_serving_init();
  }
  return true;
}

static void open_trace_of_child(void *isOpen) { *(bool *)isOpen = open_trace(); }

static void define_clock(struct lt_thread *t) {
  uint8_t payload[32], *p = payload;
  uint64_t now = lt_now();
  p = lt_put_varint(p, now);
  p = lt_put_varint(p, lt_clock_nanoseconds(CLOCK_MONOTONIC));
  lt_define(t, LT_DEF_CLOCK, payload, (size_t)(p - payload));
}

/// What of the process is known by now, and was not yet said. Called by one thread at a time.
static void describe(void *thread) {
  struct lt_thread *t = thread;
  uint8_t payload[4096], *p = payload;
  p = lt_put_string(p, payload + sizeof payload - 16, process.programPath);
  p = lt_put_varint(p, (process.hasSwiftHooks ? LT_PROCESS_SWIFT_HOOKS : 0u) | (process.isSwiftStatic ? LT_PROCESS_SWIFT_STATIC : 0u) |
                           (process.isForked ? LT_PROCESS_FORKED : 0u));
  lt_define(t, LT_DEF_PROCESS, payload, (size_t)(p - payload));
  while (process.writtenWarnings < process.warningCount) {
    p = lt_put_string(payload, payload + sizeof payload, process.warnings[process.writtenWarnings++]);
    lt_define(t, LT_DEF_WARNING, payload, (size_t)(p - payload));
  }
}

void lt_process_first_event(struct lt_thread *t) {
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&process.isDescribed, &no, 1)) return;
  process.writtenWarnings = 0;
  describe(t);
  define_clock(t);
  lt_image_list_refresh(t);
}

void lt_process_describe_again(struct lt_thread *t) {
  uint32_t yes = 1;
  if (atomic_load(&process.isDescribed) && atomic_compare_exchange_strong(&process.isDescriptionOld, &yes, 0)) lt_on_own_stack(describe, t);
}

/// By the calling thread if it records, or by the next that comes by lt_thread_prepare.
static void say_news(void) {
  if (!atomic_load(&process.isDescribed)) return;
  atomic_store(&process.isDescriptionOld, 1);
  lt_thread_send_to_prepare();
  struct lt_thread *t = lt_enter();
  if (t) lt_leave();
}

void lt_process_warn(const char *text, const char *detail) {
  char whole[sizeof *process.warnings] = "";
  size_t length = 0;
  for (const char *part = text; part; part = part == text ? detail : NULL)
    for (const char *c = part; *c && length + 1 < sizeof whole; c++) whole[length++] = *c;
  for (int i = 0; i < process.warningCount; i++)
    if (strcmp(process.warnings[i], whole) == 0) return;
  if (process.warningCount < (int)(sizeof process.warnings / sizeof *process.warnings)) memcpy(process.warnings[process.warningCount++], whole, sizeof whole);
  lt_message(whole, NULL, 0);
  say_news();
}

void lt_process_has_swift(bool isPartly) {
  if (process.hasSwiftHooks && (process.isSwiftStatic || !isPartly)) return;
  process.hasSwiftHooks = true;
  process.isSwiftStatic |= isPartly;
  say_news();
}

static void name_program(void) {
  long n = lt_syscall(SYS_readlink, "/proc/self/exe", process.programPath, sizeof process.programPath - 1);
  process.programPath[n > 0 ? n : 0] = 0;
  const char *slash = strrchr(process.programPath, '/');
  strncpy(process.programName, slash ? slash + 1 : "program", sizeof process.programName - 1);
}

static void finish_at_exit(void *unused) {
  (void)unused;
  lt_process_finish(LT_CLOSE_EXIT);
}

/// Whether calls of malloc reach this library: they do not when the executable has an allocator of its own inside.
static bool is_malloc_ours(void) {
  Dl_info found, own;
  // Asked of the program: a library linked symbolically finds itself first.
  void *program = dlopen(NULL, RTLD_LAZY);
  void *first = program ? dlsym(program, "malloc") : NULL;
  return !first || !dladdr(first, &found) || !dladdr(&process, &own) || found.dli_fbase == own.dli_fbase;
}

/// Sets everything up, unless something stands against it.
static void begin(char **environment) {
  lt_environment_read(environment);
  lt_message_init(lt_settings.messages, lt_settings.isQuiet);
  if (!is_malloc_ours()) {
    lt_message("not tracing: the program defines malloc itself (a statically linked allocator?), so that its calls cannot be seen. "
               "Link the allocator as a shared library.", NULL, 0);
    return;
  }
  lt_arc_mode = lt_settings.arcMode;
  name_program();
  if (!lt_stack_capture_init(lt_settings.depthLimit, lt_settings.verifiesStacks) || !open_trace()) return;
  lt_loader_watch_begin();
  pthread_atfork(NULL, NULL, lt_process_after_fork);
  // Registered for no library, and before main's own: it runs after all other handlers and destructors.
  lt_exit_hooks_init(finish_at_exit);
  lt_hooks_set(LT_HOOKS_ON);
}

// The library is marked to be initialised before all others, since their constructors allocate. Tests call it themselves.
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

// --- ending -------------------------------------------------------------------------------------------------------------

/// Seals everything that all threads have recorded so far. Their hooks may still run: what they add after is not in the trace if it ends here.
static void seal_all(struct lt_thread *self, bool continues) {
  lt_thread_reap();
  if (self) {
    define_clock(self);
    lt_trace_after_seal(self);
  }
  for (struct lt_thread *t = lt_thread_first(); t; t = atomic_load(&t->next)) {
    if (continues && t != self) continue;
    lt_buffer_seal_payloads(t);
  }
  if (continues && self) lt_buffer_begin(self);
}

/// The end of a recording, or of a part of it.
struct ending {
  struct lt_thread *self; ///< NULL: a record of the thread's may be incomplete
  uint32_t reason;
  bool continues; ///< the process may go on recording
};

static void end(void *ending) {
  const struct ending *e = ending;
  seal_all(e->self, e->continues);
  lt_trace_close(e->reason, e->continues);
}

/// Where there is no stack to do it on, the live file still has it all.
static void end_recording(struct ending ending) { lt_on_own_stack(end, &ending); }

void lt_process_finish(uint32_t reason) {
  if (!lt_trace_is_writable() || !lt_identity_is_claimants()) return;
  static _Atomic pid_t finishing;
  pid_t no = 0;
  if (!atomic_compare_exchange_strong(&finishing, &no, lt_trace.process) && no == lt_trace.process) return;
  // Inside a hook, by a signal handler that ends the process: the interrupted record is not complete and is left out.
  uint32_t depth = lt_tls.hookDepth;
  lt_tls.hookDepth = 1;
  struct lt_thread *self = lt_thread_self();
  if (!self && depth == 0) {
    // Nothing was recorded by this thread, perhaps by none: the process is described all the same.
    self = lt_thread_prepare();
  }
  lt_hooks_set(LT_HOOKS_OFF);
  end_recording((struct ending){.self = depth == 0 ? self : NULL, .reason = reason});
  lt_tls.hookDepth = depth;
}

bool lt_process_has_own_memory(void) { return lt_identity_is_claimants() || !lt_identity_shares_memory(); }

void lt_process_stop(const char *why) {
  if (!lt_identity_shares_memory()) {
    // A followed child whose trace has not begun.
    lt_hooks_set(LT_HOOKS_OFF);
    atomic_store(&process.isForkPending, 0);
    return;
  }
  lt_process_warn(why, NULL);
  lt_snapshot_end();
  lt_snapshot_signals_end();
  lt_serving_end();
  lt_watcher_end();
  lt_loader_watch_end();
  lt_environment_follow_no_more();
  if (lt_trace_is_writable()) lt_trace.status->stopErrno = EPERM;
  lt_process_finish(LT_CLOSE_STOPPED);
  // Others may be on their way out of a hook, or have asked just before whether hooks are on.
  struct timespec moment = {.tv_nsec = WAY_IN_NANOSECONDS};
  if (lt_thread_count() > 1) lt_syscall(SYS_nanosleep, &moment, 0, 0);
  lt_thread_await_others();
}

void lt_process_before_exec(void) {
  if (!lt_trace_is_writable() || !lt_identity_is_claimants() || lt_tls.hookDepth) return;
  struct lt_thread *t = lt_enter();
  if (!t) return;
  if (process.isForked && lt_trace.status->eventCount == 0 && t->eventCount < WORTH_KEEPING && lt_thread_count() == 1) {
    // A child that only came to be another program.
    lt_hooks_set(LT_HOOKS_OFF);
    lt_trace_discard();
  } else {
    end_recording((struct ending){.self = t, .reason = LT_CLOSE_EXEC, .continues = true});
  }
  lt_leave();
}

// --- fork ------------------------------------------------------------------------------------------------------------------

void lt_process_after_fork(void) {
  lt_hooks_set(LT_HOOKS_OFF);
  lt_environment_block_reset_after_fork();
  lt_snapshot_reset_after_fork();
  lt_expectations_reset_after_fork();
  lt_trace_reset_after_fork();
  lt_own_stack_reset_after_fork();
  lt_thread_reset_after_fork();
  if (!lt_settings.followsChildren) return;
  lt_type_table_reset();
  lt_image_list_reset();
  lt_stack_capture_invalidate();
  atomic_store(&process.isDescribed, 0);
  process.isForked = true;
  atomic_store(&process.isForkPending, 1);
  lt_hooks_set(LT_HOOKS_ON);
}

bool lt_process_is_ours(void) {
  if (LT_UNLIKELY(atomic_load(&process.isForkPending))) {
    uint32_t yes = 1;
    if (!atomic_compare_exchange_strong(&process.isForkPending, &yes, 0)) return false;
    bool isOpen = false;
    lt_on_own_stack(open_trace_of_child, &isOpen);
    if (!isOpen) {
      lt_hooks_set(LT_HOOKS_OFF);
      return false;
    }
    return true;
  }
  if (LT_LIKELY(lt_identity_is_claimants())) return true;
  // A child that shares our memory for a moment (vfork): it must not write to our trace, and what it changes here it changes for us.
  if (lt_identity_shares_memory()) return false;
  // A child whose fork went past the C library.
  uint32_t depth = lt_tls.hookDepth;
  lt_process_after_fork();
  lt_tls.hookDepth = depth;
  return lt_settings.followsChildren && lt_process_is_ours();
}

void lt_process_count_untraced_child(void) {
  if (!lt_settings.followsChildren) atomic_fetch_add(&lt_trace.untracedChildren, 1);
}
