// Makes a stopped thread of another process call functions, as the kernel makes a thread call a signal handler.

#ifndef LEAKTRACE_THREAD_CALL_H
#define LEAKTRACE_THREAD_CALL_H

#include "stopped_thread.h"

#if LT_CAN_STOP_THREADS

#include <sys/user.h>

enum {
  LT_MOST_STATE_BYTES = 16384, ///< of a thread's floating point and vector registers
  LT_CALL_TEXT_BYTES = 24576,  ///< for the data that is passed to the functions
};

/// Addresses in the process that called functions return to.
struct lt_return_code {
  uint64_t restorer;  ///< makes the kernel restore everything, as after a signal handler
  uint64_t call;      ///< an instruction `syscall`, after which the function around it returns; 0 if there is none
  uint64_t returning; ///< that `ret` instruction
};

/// A thread that makes calls for its tracer between its own work. Everything that the thread needs to resume by itself
/// is in its own memory, below its stack. A call returns to code that makes the kernel restore everything, without a
/// tracer.
struct lt_thread_visit {
  pid_t thread;
  struct lt_return_code code;
  uint64_t context; ///< the stack pointer at the call that restores everything
  uint64_t text;    ///< the address of the data that is passed to functions
  struct user_regs_struct before;
  uint64_t mask;
  bool isUnderWay;   ///< the registers have been changed
  bool isAtRestorer; ///< the functions are over
  size_t stateSize;
  unsigned char state[LT_MOST_STATE_BYTES];
};

enum lt_visit_error {
  LT_VISIT_DONE = 0,
  LT_VISIT_NOT_BEGUN, ///< the thread is as it was
  LT_VISIT_GONE,      ///< it has ended
  LT_VISIT_LATE,      ///< the call takes too long. It goes on without a tracer
  LT_VISIT_FAULT,     ///< a signal of the processor or the kernel ended the function. The thread goes on
};

/// Bytes below a stack pointer that a visit takes before anything is called.
size_t lt_visit_size(void);

/// Prepares calls: writes below the thread's stack, with `size` bytes of `text` in it. The thread does not change yet.
int lt_visit_begin(struct lt_thread_visit *visit, pid_t thread, const struct lt_return_code *code, const void *text,
                   size_t size);

/// Calls a function with two arguments, and waits for its end until `deadline`. Signals are blocked during the call,
/// except those that the processor and the kernel send for errors. The function's result is not read.
int lt_visit_call(struct lt_thread_visit *visit, uint64_t function, uint64_t first, uint64_t second, uint64_t deadline);

/// Calls a function without arguments, and gets the pointer that it returns. Not for a function that may return a small
/// number: without a tracer the kernel would make the system call of that number. LT_VISIT_NOT_BEGUN where the process
/// has no code for it.
int lt_visit_ask(struct lt_thread_visit *visit, uint64_t function, uint64_t deadline, uint64_t *pointer);

/// Restores everything, and resumes the thread. `outcome`: of the last call.
void lt_visit_end(struct lt_thread_visit *visit, int outcome);

#endif
#endif
