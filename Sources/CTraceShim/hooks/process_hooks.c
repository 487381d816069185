// Hooks of the functions that begin and end processes, threads and images. They record no events: they keep the trace
// correct.

#define _GNU_SOURCE
#include "hooks/filter_watch.h"
#include "hooks/hook.h"
#include "hooks/loader_watch.h"
#include "hooks/swift_relatives.h"
#include "image/heap_snapshot.h"
#include "image/own_threads.h"
#include "os/apart_task.h"
#include "os/process_identity.h"
#include "process/description.h"
#include "process/environment.h"
#include "process/lifecycle.h"
#include "process/program_kind.h"
#include "process/recording.h"
#include "process/thread_entry.h"
#include "record/event_buffer.h"
#include "record/image_list.h"
#include "record/trace_file.h"

#include <alloca.h>
#include <dlfcn.h>
#include <pthread.h>
#include <spawn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

// --- replacing the program -------------------------------------------------------------------------------------------

static bool preloads(enum lt_program_kind kind) { return kind == LT_PROGRAM_PRELOADS || kind == LT_PROGRAM_MISSING; }

/// True if the program that replaces this one exists, and will not remove the live file at its start.
static bool is_last(enum lt_program_kind kind) {
  if (kind == LT_PROGRAM_MISSING) return false;
  return kind != LT_PROGRAM_PRELOADS || !lt_settings.preload[0] || !lt_filter_allows_beginning();
}

/// Returns the environment for a program that this process, or its child, is about to execute; `environment` itself if
/// no change is needed. A program that replaces the traced one is traced. A program that replaces a child is traced if
/// children are. A program that cannot be traced gets no variables, unless its children may be traced.
static char **environment_for(enum lt_program_kind kind, char *const environment[], bool isOurs) {
  bool follows = lt_settings.followsChildren;
  bool isTraced = (preloads(kind) || (kind == LT_PROGRAM_STATIC && follows)) && lt_filter_allows_beginning();
  if (!isTraced && !follows) return (char **)environment;
  return lt_environment_for_child(environment, isTraced, isTraced && isOurs ? lt_trace.file.path : NULL);
}

/// `call` replaces the program; `kind` is the new program's kind.
#define REPLACE(kind, environment, call)                                                                           \
  do {                                                                                                             \
    bool isOurs = lt_recording_is_on();                                                                            \
    bool mayTrace = isOurs || lt_settings.followsChildren;                                                         \
    enum lt_program_kind its = mayTrace ? (kind) : LT_PROGRAM_MISSING;                                             \
    char **made = mayTrace ? environment_for(its, (environment), isOurs) : (char **)(environment);                 \
    struct lt_exec_copies copies = {0};                                                                            \
    if (isOurs) lt_apart_await_other(), lt_snapshot_finish(), lt_process_before_exec(is_last(its), &copies);       \
    else if (lt_trace_is_writable()) lt_process_count_untraced_child(); /* of vfork: it has the parent's memory */ \
    int result = (call);                                                                                           \
    lt_process_after_failed_exec(&copies);                                                                         \
    lt_environment_free(made, (environment));                                                                      \
    return result;                                                                                                 \
  } while (0)

LT_EXPORT int LT_HOOK(execve)(const char *path, char *const arguments[], char *const environment[]) {
  REPLACE(lt_program_kind_at(path), environment, NEXT(execve)(path, arguments, made));
}
LT_EXPORT int LT_HOOK(execvpe)(const char *file, char *const arguments[], char *const environment[]) {
  REPLACE(lt_program_kind_named(file), environment, NEXT(execvpe)(file, arguments, made));
}
LT_EXPORT int LT_HOOK(fexecve)(int descriptor, char *const arguments[], char *const environment[]) {
  REPLACE(lt_program_kind_of_descriptor(descriptor), environment, NEXT(fexecve)(descriptor, arguments, made));
}
LT_EXPORT int LT_HOOK(execv)(const char *path, char *const arguments[]) {
  return LT_HOOK(execve)(path, arguments, environ);
}
LT_EXPORT int LT_HOOK(execvp)(const char *file, char *const arguments[]) {
  return LT_HOOK(execvpe)(file, arguments, environ);
}

/// The variable arguments from `first` to the null that ends them, as an array on the stack.
#define COLLECT(arguments, first, last)                                    \
  va_list list;                                                            \
  size_t count = 1;                                                        \
  va_start(list, first);                                                   \
  while (va_arg(list, char *)) count++;                                    \
  va_end(list);                                                            \
  char **arguments = alloca((count + 1) * sizeof(char *));                 \
  va_start(list, first);                                                   \
  arguments[0] = (char *)first;                                            \
  for (size_t i = 1; i <= count; i++) arguments[i] = va_arg(list, char *); \
  last;                                                                    \
  va_end(list)

LT_EXPORT int LT_HOOK(execl)(const char *path, const char *first, ...) {
  COLLECT(arguments, first, (void)0);
  return LT_HOOK(execve)(path, arguments, environ);
}
LT_EXPORT int LT_HOOK(execlp)(const char *file, const char *first, ...) {
  COLLECT(arguments, first, (void)0);
  return LT_HOOK(execvpe)(file, arguments, environ);
}
LT_EXPORT int LT_HOOK(execle)(const char *path, const char *first, ...) {
  COLLECT(arguments, first, char **environment = va_arg(list, char **));
  return LT_HOOK(execve)(path, arguments, environment);
}

// --- children --------------------------------------------------------------------------------------------------------

#define SPAWN(kind, environment, call)                                                               \
  do {                                                                                               \
    bool isTraced = lt_settings.followsChildren && lt_settings.preload[0];                           \
    char **made = isTraced ? environment_for((kind), (environment), false) : (char **)(environment); \
    int result = (call);                                                                             \
    lt_environment_free(made, (environment));                                                        \
    if (result == 0 && lt_recording_is_on()) lt_process_count_untraced_child();                      \
    return result;                                                                                   \
  } while (0)

LT_EXPORT int LT_HOOK(posix_spawn)(pid_t *pid, const char *path, const posix_spawn_file_actions_t *actions,
                                   const posix_spawnattr_t *attributes, char *const arguments[],
                                   char *const environment[]) {
  SPAWN(lt_program_kind_at(path), environment, NEXT(posix_spawn)(pid, path, actions, attributes, arguments, made));
}
LT_EXPORT int LT_HOOK(posix_spawnp)(pid_t *pid, const char *file, const posix_spawn_file_actions_t *actions,
                                    const posix_spawnattr_t *attributes, char *const arguments[],
                                    char *const environment[]) {
  SPAWN(lt_program_kind_named(file), environment, NEXT(posix_spawnp)(pid, file, actions, attributes, arguments, made));
}
LT_EXPORT int LT_HOOK(system)(const char *command) {
  if (command && lt_recording_is_on()) lt_process_count_untraced_child();
  return NEXT(system)(command);
}
LT_EXPORT FILE *LT_HOOK(popen)(const char *command, const char *mode) {
  if (lt_recording_is_on()) lt_process_count_untraced_child();
  return NEXT(popen)(command, mode);
}
LT_EXPORT pid_t LT_HOOK(fork)(void) {
  if (lt_settings.followsChildren && lt_recording_is_on()) lt_description_note_threads(lt_own_threads_has_others());
  pid_t child = NEXT(fork)();
  if (child > 0 && lt_recording_is_on()) lt_process_count_untraced_child();
  return child;
}

// --- threads and images ----------------------------------------------------------------------------------------------

LT_EXPORT int LT_HOOK(pthread_create)(pthread_t *thread, const pthread_attr_t *attributes, void *(*start)(void *),
                                      void *argument) {
  // From the second thread's first event on, the times of all threads' events must be comparable.
  if (atomic_load_explicit(&lt_hook_mode, memory_order_relaxed)) lt_exact_time_require();
  return NEXT(pthread_create)(thread, attributes, start, argument);
}

LT_EXPORT int LT_HOOK(dlclose)(void *handle) {
  lt_tls.isClosingImage++;
  int result = NEXT(dlclose)(handle);
  lt_tls.isClosingImage--;
  if (!lt_loader_watch_is_on()) lt_swift_relatives_unsettle();
  struct lt_thread *t = lt_enter();
  if (t) {
    lt_image_list_refresh(t);
    lt_leave();
  }
  return result;
}
