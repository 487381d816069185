// Stops the process, chooses a thread, and makes the thread call a function. This code runs after a fork of a process
// that may have other threads. It uses the C library's allocator, which works after such a fork.

#define _GNU_SOURCE
#include "call_guardian.h"

#if LT_CAN_STOP_THREADS

#include "code_places.h"
#include "guardian.h"
#include "process_memory.h"
#include "thread_call.h"
#include "thread_choice.h"
#include "thread_filters.h"

#include <dlfcn.h>
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

enum {
  // The longest time that stopped threads wait for the last thread to stop. It grows with each try, since threads that
  // wait for a processor get one in turn.
  FIRST_STANDSTILL_MILLISECONDS = 25,
  MORE_STANDSTILL_MILLISECONDS = 5,
  LONGEST_STANDSTILL_MILLISECONDS = 100,
  FIRST_PAUSE_MILLISECONDS = 1, // between two tries, growing
  LONGEST_PAUSE_MILLISECONDS = 50,
  /// Stack space for the called functions. In a program with few libraries, the functions and the visit took 9,168
  /// bytes (glibc 2.36). The recorder runs on its own stacks.
  CALL_ROOM = 96 << 10,
  MILLISECOND = 1000000,
  FUNCTION_BYTES = 32,
};

static uint64_t in_milliseconds(uint64_t milliseconds) { return lt_nanoseconds() + milliseconds * MILLISECOND; }

static void answer(int result) { (void)!write(LT_GUARDIAN_ANSWER, &result, sizeof result); }

/// The bytes that are written below the visited thread's stack, and the offsets of the strings in these bytes.
struct passed {
  char bytes[LT_CALL_TEXT_BYTES];
  size_t size;
  size_t libraries[LT_MAX_LIBRARIES], libraryCount, argument;
};
enum { RESULT_BYTES = 16, NO_RESULT = -1 };

static bool pass(struct passed *passed, const char *text, size_t *place) {
  size_t length = strlen(text) + 1;
  if (length > sizeof passed->bytes - passed->size) return false;
  *place = passed->size;
  memcpy(passed->bytes + passed->size, text, length);
  passed->size += length;
  return true;
}

static bool gather(const struct lt_library_call *call, struct passed *passed) {
  const int none = NO_RESULT;
  memcpy(passed->bytes, &none, sizeof none);
  passed->size = RESULT_BYTES;
  while (passed->libraryCount < LT_MAX_LIBRARIES && call->libraries[passed->libraryCount]) {
    if (!pass(passed, call->libraries[passed->libraryCount], &passed->libraries[passed->libraryCount])) return false;
    passed->libraryCount++;
  }
  return pass(passed, call->argument, &passed->argument);
}

// --- the thread's errno ----------------------------------------------------------------------------------------------

/// Returns the address of a thread's errno; 0 if it is unknown.
static uint64_t error_place(const struct lt_code_places *places, const struct lt_copied_thread *thread) {
  unsigned char code[FUNCTION_BYTES];
  pid_t process = places->images.process;
  if (lt_read_process(process, places->errorPlace, code, sizeof code) != sizeof code) return 0;
  uint64_t fromThread, slot = lt_error_offset_slot(code, sizeof code, places->errorPlace);
  if (slot == 0 || lt_read_process(process, slot, &fromThread, sizeof fromThread) != sizeof fromThread) return 0;
  return thread->threadPointer + fromThread;
}

static void write_word(pid_t process, uint64_t address, int value) {
  struct iovec local = {&value, sizeof value}, remote = {(void *)address, sizeof value};
  (void)!process_vm_writev(process, &local, 1, &remote, 1, 0);
}

// --- the calls -------------------------------------------------------------------------------------------------------

/// The thread that makes the call, and the code addresses of its process.
struct caller {
  struct lt_call_exchange *exchange;
  struct lt_code_places *places;
  struct lt_thread_visit visit;
  int visited; ///< the outcome of the last call
};

static int reason_of(int visited) {
  switch (visited) {
    case LT_VISIT_GONE: return LT_COPY_GONE;
    case LT_VISIT_LATE: return LT_CALL_LATE;
    case LT_VISIT_FAULT: return LT_CALL_FAULT;
    default: return LT_COPY_NO_CALL;
  }
}

/// Asks the loader why it has not loaded the library.
static void ask_why(struct caller *caller, uint64_t deadline) {
  char *text = caller->exchange->outcome.text;
  uint64_t place = 0;
  text[0] = 0;
  // If this tracer is killed during the call, the thread makes a system call whose number is the returned pointer. A
  // filter may end the process because of that.
  if (caller->places->lastError == 0 || caller->exchange->isFiltered) return;
  int visited = lt_visit_ask(&caller->visit, caller->places->lastError, deadline, &place);
  if (visited == LT_VISIT_NOT_BEGUN) return;
  caller->visited = visited;
  if (visited != LT_VISIT_DONE || place == 0) return;
  size_t size = lt_read_process(caller->places->images.process, place, text, LT_LIBRARY_CALL_TEXT - 1);
  text[size] = 0;
}

/// Makes the thread load the library, if it is not loaded yet.
static int load(struct caller *caller, const struct passed *passed, uint64_t deadline) {
  pid_t process = caller->places->images.process;
  for (size_t i = 0; i < passed->libraryCount && caller->places->recorder == NULL; i++) {
    uint64_t path = caller->visit.text + passed->libraries[i], function = caller->places->openLibrary;
    caller->visited = lt_visit_call(&caller->visit, function, path, RTLD_NOW | caller->places->openMode, deadline);
    if (caller->visited != LT_VISIT_DONE) return reason_of(caller->visited);
    struct lt_code_places *now = calloc(1, sizeof *now);
    if (now == NULL) return LT_CALL_NO_FUNCTIONS;
    if (lt_code_places_find(process, now) == LT_PLACES_FOUND && now->recorder) {
      lt_code_places_free(caller->places);
      *caller->places = *now;
    } else {
      lt_code_places_free(now);
      ask_why(caller, deadline);
      if (caller->visited != LT_VISIT_DONE) return reason_of(caller->visited);
    }
    free(now);
  }
  if (caller->places->recorder) return LT_CALL_DONE;
  return passed->libraryCount > 0 ? LT_CALL_NOT_LOADED : LT_CALL_NOT_THERE;
}

static int make_calls(struct caller *caller, const struct passed *passed, uint64_t deadline) {
  int result = load(caller, passed, deadline);
  if (result != LT_CALL_DONE) return result;
  struct lt_remote_function function;
  const struct lt_library_call *call = &caller->exchange->call;
  if (!lt_remote_function(&caller->places->images, caller->places->recorder, call->function, &function))
    return LT_CALL_OTHER_LIBRARY;
  caller->visited = lt_visit_call(&caller->visit, function.start, caller->visit.text + passed->argument,
                                  caller->visit.text, deadline);
  if (caller->visited != LT_VISIT_DONE) return reason_of(caller->visited);
  struct lt_library_call_outcome *outcome = &caller->exchange->outcome;
  lt_read_process(caller->places->images.process, caller->visit.text, &outcome->result, sizeof outcome->result);
  return LT_CALL_DONE;
}

static void note_pause(struct lt_call_exchange *exchange) {
  // In a single-threaded process, no other thread is resumed, so `end` is not set. The pause ends now, when the call
  // begins.
  uint64_t end = exchange->stopped.end ? exchange->stopped.end : lt_nanoseconds();
  uint64_t pause = end - exchange->stopped.begin;
  if (pause > exchange->outcome.pauseNanoseconds) exchange->outcome.pauseNanoseconds = pause;
}

/// Makes the call on thread `chosen`. All threads are stopped; the others resume before the call begins.
static int call_on(struct lt_call_exchange *exchange, size_t chosen, struct lt_code_places *places,
                   const struct passed *passed) {
  const struct lt_copied_thread *thread = &exchange->stopped.threads[chosen];
  const struct lt_return_code code = {places->restorer, places->systemCall, places->returning};
  struct caller *caller = calloc(1, sizeof *caller);
  int result = LT_CALL_BUSY; // another thread, or the same thread later, may be able to call
  if (caller == NULL) {
    lt_release_process(&exchange->stopped);
    return result;
  }
  caller->exchange = exchange;
  caller->places = places;
  caller->visited = lt_visit_begin(&caller->visit, thread->thread, &code, passed->bytes, passed->size);
  uint64_t place = error_place(places, thread);
  int error = 0;
  bool knowsError =
      place != 0 && lt_read_process(exchange->stopped.process, place, &error, sizeof error) == sizeof error;
  lt_release_others(&exchange->stopped, chosen);
  note_pause(exchange);
  if (caller->visited == LT_VISIT_DONE) {
    exchange->outcome.thread = thread->thread;
    result = make_calls(caller, passed, in_milliseconds(exchange->call.callMilliseconds));
    if (knowsError && caller->visited == LT_VISIT_DONE) write_word(exchange->stopped.process, place, error);
  }
  lt_visit_end(&caller->visit, caller->visited);
  free(caller);
  return result;
}

// --- tries -----------------------------------------------------------------------------------------------------------

static uint32_t standstill(uint32_t tries) {
  uint32_t grown = FIRST_STANDSTILL_MILLISECONDS + tries * MORE_STANDSTILL_MILLISECONDS;
  return grown < LONGEST_STANDSTILL_MILLISECONDS ? grown : LONGEST_STANDSTILL_MILLISECONDS;
}

/// Returns 0 if the process's seccomp filters allow recording, otherwise the reason why it cannot be recorded.
static int check_filters(struct lt_call_exchange *exchange) {
  const char *call = "";
  switch (lt_judge_filters(&exchange->stopped, &call)) {
    case LT_FILTERS_NONE: return 0;
    case LT_FILTERS_ALLOW: exchange->isFiltered = true; return 0;
    case LT_FILTERS_FORBID:
      strncpy(exchange->outcome.text, call, sizeof exchange->outcome.text - 1);
      return LT_CALL_FORBIDDEN;
    default: return LT_CALL_FILTER_UNSEEN;
  }
}

static int try_once(struct lt_call_exchange *exchange, struct lt_code_places *places, struct lt_unwinding *unwinding,
                    const struct passed *passed) {
  struct lt_library_call_outcome *outcome = &exchange->outcome;
  outcome->tries++;
  int result = lt_stop_process(&exchange->stopped, standstill(outcome->tries - 1));
  if (result != 0) return result;
  lt_unwinding_forget(unwinding);
  ssize_t chosen =
      lt_choose_thread(&exchange->stopped, places, unwinding, lt_visit_size() + CALL_ROOM, &outcome->obstacles);
  result = chosen >= 0 ? check_filters(exchange) : LT_CALL_BUSY;
  if (result == 0) return call_on(exchange, (size_t)chosen, places, passed);
  lt_release_process(&exchange->stopped);
  note_pause(exchange);
  return result;
}

/// Pauses before the next try. Returns false if `deadline` has passed or the owner has ended.
static bool wait_for_next(struct lt_call_exchange *exchange, uint64_t deadline) {
  uint64_t pause = FIRST_PAUSE_MILLISECONDS + exchange->outcome.tries;
  if (pause > LONGEST_PAUSE_MILLISECONDS) pause = LONGEST_PAUSE_MILLISECONDS;
  do {
    struct pollfd owner = {.fd = LT_GUARDIAN_PARENT, .events = POLLIN};
    if (poll(&owner, 1, (int)pause) > 0 || lt_nanoseconds() >= deadline) return false;
    // Wait until the late threads have stopped. A thread that is still traced cannot be asked again: it would look like
    // the thread of another tracer.
  } while (lt_release_late_threads(&exchange->stopped) > 0);
  return true;
}

static int reason_for(enum lt_places_result result) {
  switch (result) {
    case LT_PLACES_STATIC: return LT_CALL_STATIC;
    case LT_PLACES_OTHER_LIBC: return LT_CALL_OTHER_LIBC;
    case LT_PLACES_NO_FUNCTIONS: return LT_CALL_NO_FUNCTIONS;
    default: return LT_COPY_NOT_ALLOWED;
  }
}

static int call_in_library(struct lt_call_exchange *exchange) {
  uint64_t deadline = in_milliseconds(exchange->call.waitMilliseconds);
  static struct passed passed;
  static struct lt_code_places places;
  if (!gather(&exchange->call, &passed)) return -E2BIG;
  enum lt_places_result found = lt_code_places_find(exchange->stopped.process, &places);
  if (found != LT_PLACES_FOUND) return reason_for(found);
  if (!places.recorder && passed.libraryCount == 0) return LT_CALL_NOT_THERE;
  struct lt_unwinding *unwinding = lt_unwinding_begin(&places.images);
  if (unwinding == NULL) return -ENOMEM;
  int result;
  do result = try_once(exchange, &places, unwinding, &passed);
  while (result == LT_CALL_BUSY && wait_for_next(exchange, deadline));
  lt_unwinding_end(unwinding);
  return result;
}

void lt_guard_call(void *shared) {
  answer(call_in_library(shared));
  _exit(0);
}

#endif
