// Chooses a thread by the frames of all threads.
//
// The thread that calls the loader waits for locks of the loader and of the allocator, while all other threads run. So
// it must hold none of these locks itself. No other thread may hold such a lock while it waits for something unknown. A
// thread inside the loader may run a library's initialiser, which may wait for anything. So the call must wait until no
// thread is inside the loader. A thread inside the allocator waits only for other threads inside it, so it does not
// prevent the call.

#define _GNU_SOURCE
#include "thread_choice.h"

#if LT_CAN_STOP_THREADS

#include "interrupted_calls.h"
#include "process_memory.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

enum {
  SCANNED_WORDS = 1 << 15, // the most words that are searched in a stack that cannot be unwound
  PATH_SIZE = 64,
  LIMIT_LINE_SIZE = 128,
  STACK_GAP = 1 << 20, // bytes that the kernel keeps free below a main thread's stack
};

enum fitness { FIT, IN_LOADER, IN_FORK, AT_EXIT, NOT_STOPPED, IN_ALLOCATOR, IN_HANDLER, IN_LIBRARY, NO_ROOM, UNKNOWN };

// --- the stack's room ------------------------------------------------------------------------------------------------

/// Returns the size limit of the process's stack, or `otherwise` if it cannot be read. Reads /proc/PID/limits, which
/// requires no right to change limits.
static uint64_t stack_limit(pid_t process, uint64_t otherwise) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "/proc/%d/limits", process);
  FILE *limits = fopen(path, "re");
  if (limits == NULL) return otherwise;
  char line[LIMIT_LINE_SIZE], value[LIMIT_LINE_SIZE];
  uint64_t limit = otherwise;
  while (fgets(line, sizeof line, limits)) {
    if (sscanf(line, "Max stack size %127s", value) != 1) continue;
    char *end;
    unsigned long long bytes = strtoull(value, &end, 10);
    limit = strcmp(value, "unlimited") == 0 ? RLIM_INFINITY : end != value ? bytes : otherwise;
    break;
  }
  fclose(limits);
  return limit;
}

/// Returns the free bytes of the thread's stack, below its stack pointer. Only two kinds of stack count: the main
/// thread's stack, and stacks that the C library made. Such a stack has the thread's own data at its top. Returns 0 for
/// a coroutine's stack in the heap, and for signal stacks.
static uint64_t room_below(pid_t process, const struct lt_copied_thread *thread) {
  char path[PATH_SIZE];
  snprintf(path, sizeof path, "/proc/%d/maps", process);
  FILE *maps = fopen(path, "re");
  if (maps == NULL) return 0;
  char *line = NULL;
  size_t size = 0;
  uint64_t room = 0, previousEnd = 0;
  while (getline(&line, &size, maps) > 0) {
    unsigned long begin, end;
    if (sscanf(line, "%lx-%lx", &begin, &end) != 2) continue;
    if (thread->stackPointer >= begin && thread->stackPointer < end) {
      if (strstr(line, "[stack]")) {
        uint64_t limit = stack_limit(process, end - begin);
        uint64_t lowest = limit < end ? end - limit : 0;
        if (lowest < previousEnd + STACK_GAP) lowest = previousEnd + STACK_GAP;
        if (lowest > begin) lowest = begin;
        room = thread->stackPointer - lowest;
      } else if (thread->threadPointer > thread->stackPointer && thread->threadPointer < end) {
        room = thread->stackPointer - begin;
      }
      break;
    }
    previousEnd = end;
  }
  free(line);
  fclose(maps);
  return room;
}

// --- where a thread is -----------------------------------------------------------------------------------------------

/// True if a word of a stack that cannot be unwound is an address in the loader's code.
static bool has_loader_word(const struct lt_code_places *places, uint64_t stack) {
  static uint64_t words[SCANNED_WORDS];
  size_t count = lt_read_process(places->images.process, stack & ~7ull, words, sizeof words) / sizeof *words;
  for (size_t i = 0; i < count; i++)
    if (lt_code_place_of(places, words[i]) == LT_CODE_LOADER) return true;
  return false;
}

static bool is_in(const enum lt_code_place *found, size_t count, enum lt_code_place place) {
  for (size_t i = 0; i < count; i++)
    if (found[i] == place) return true;
  return false;
}

/// Returns the number of frames without the outermost frames, which start a thread. These are the program's entry
/// function and the C library's functions.
static size_t without_beginning(const struct lt_code_places *places, const struct lt_thread_frames *frames,
                                const enum lt_code_place *found) {
  size_t count = frames->count;
  const struct lt_remote_image *last = lt_remote_image_at(&places->images, frames->addresses[count - 1]);
  if (count > 1 && last && last->isExecutable && found[count - 2] == LT_CODE_LIBC) count--;
  while (count > 0 && found[count - 1] == LT_CODE_LIBC) count--;
  return count;
}

static enum fitness fitness_of(const struct lt_copied_thread *thread, const struct lt_code_places *places,
                               struct lt_unwinding *unwinding) {
  static struct lt_thread_frames frames;
  static enum lt_code_place found[LT_MAX_FRAMES];
  if (thread->state == LT_THREAD_NOT_MET) return NOT_STOPPED;
  lt_thread_frames(unwinding, thread, &frames);
  for (size_t i = 0; i < frames.count; i++) {
    found[i] = lt_code_place_of(places, frames.addresses[i]);
    frames.hasSignalFrame |= frames.addresses[i] == places->restorer;
  }
  if (is_in(found, frames.count, LT_CODE_LOADER)) return IN_LOADER;
  if (is_in(found, frames.count, LT_CODE_FORK)) return IN_FORK;
  if (is_in(found, frames.count, LT_CODE_EXIT)) return AT_EXIT;
  if (!frames.isComplete || frames.count == 0) return has_loader_word(places, frames.lastStack) ? IN_LOADER : UNKNOWN;
  if (frames.hasSignalFrame) return IN_HANDLER;
  if (is_in(found, frames.count, LT_CODE_ALLOCATOR)) return IN_ALLOCATOR;
  size_t count = without_beginning(places, &frames, found), inner = 0;
  while (inner < count && found[inner] == LT_CODE_LIBC) inner++;
  // If the C library has called back into the program, it may hold a lock during that call. A thread that begins or
  // ends has no frames of the program.
  if (count == inner || is_in(found + inner, count - inner, LT_CODE_LIBC)) return IN_LIBRARY;
  if (is_in(found, count, LT_CODE_THREADS)) return IN_LIBRARY;
  bool isInCall = thread->state == LT_THREAD_IN_CALL;
  if (isInCall ? !lt_call_has(thread->call, LT_NO_LOCK) : inner > 0) return IN_LIBRARY;
  return FIT;
}

/// Ranks threads that wait first, and computing threads last. Threads whose wait the kernel restarts from saved
/// arguments are in between.
static int rank_of(const struct lt_copied_thread *thread) {
  if (thread->state != LT_THREAD_IN_CALL) return 2;
  return thread->result == -LT_RESTART_BLOCK ? 1 : 0;
}

ssize_t lt_choose_thread(const struct lt_stopped_process *stopped, const struct lt_code_places *places,
                         struct lt_unwinding *unwinding, size_t room, struct lt_call_obstacles *obstacles) {
  uint32_t counts[UNKNOWN + 1] = {0};
  ssize_t chosen = LT_NO_THREAD;
  for (size_t i = 0; i < stopped->count; i++) {
    const struct lt_copied_thread *thread = &stopped->threads[i];
    enum fitness fitness = fitness_of(thread, places, unwinding);
    if (fitness == FIT && (chosen < 0 || rank_of(thread) < rank_of(&stopped->threads[chosen]))) {
      if (!lt_thread_can_call(thread->thread, thread)) fitness = IN_LIBRARY;
      else if (room_below(stopped->process, thread) < room) fitness = NO_ROOM;
      else chosen = (ssize_t)i;
    }
    counts[fitness]++;
  }
  *obstacles = (struct lt_call_obstacles){.inLoader = counts[IN_LOADER],
                                          .inFork = counts[IN_FORK],
                                          .atExit = counts[AT_EXIT],
                                          .notStopped = counts[NOT_STOPPED],
                                          .inAllocator = counts[IN_ALLOCATOR],
                                          .inHandler = counts[IN_HANDLER],
                                          .inLibrary = counts[IN_LIBRARY],
                                          .withoutRoom = counts[NO_ROOM],
                                          .unknown = counts[UNKNOWN]};
  bool mustWait = counts[IN_LOADER] || counts[IN_FORK] || counts[AT_EXIT] || counts[NOT_STOPPED];
  return mustWait ? LT_NO_THREAD : chosen;
}

#endif
