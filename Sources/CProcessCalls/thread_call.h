// Makes a stopped thread of another process call functions, as the kernel makes a thread call a signal handler.

#ifndef LEAKTRACE_THREAD_CALL_H
#define LEAKTRACE_THREAD_CALL_H

#include "stopped_thread.h"

#if LT_CAN_STOP_THREADS

enum {
  LT_MAX_STATE_BYTES = 16384, ///< the most bytes of a thread's floating point and vector registers
  LT_CALL_TEXT_BYTES = 24576, ///< the most bytes of data that is passed to the functions
};

/// Addresses in the process that called functions return to.
struct lt_return_code {
  uint64_t restorer;  ///< code that makes the kernel restore everything, as after a signal handler
  uint64_t call;      ///< a system call instruction in a function that returns after it; 0 if there is none
  uint64_t returning; ///< the instruction of that function that returns
};

/// A thread that interrupts its own work to make calls for its tracer. Everything that the thread needs to resume
/// without the tracer is in its own memory, below its stack pointer. A called function returns to code that makes the
/// kernel restore everything, even without the tracer.
struct lt_thread_visit {
  pid_t thread;
  struct lt_return_code code;
  uint64_t context; ///< the stack pointer for the system call that restores everything
  uint64_t text;    ///< the address of the data that is passed to functions
  struct lt_thread_registers before;
  uint64_t mask;
  bool isUnderWay;   ///< the registers have been changed
  bool isAtRestorer; ///< the function has returned to the restorer
  unsigned stateSet; ///< the kernel's number of the register set in `state`
  size_t stateSize;
  unsigned char state[LT_MAX_STATE_BYTES];
};

enum lt_visit_error {
  LT_VISIT_DONE = 0,
  LT_VISIT_NOT_BEGUN, ///< the thread is unchanged
  LT_VISIT_GONE,      ///< the thread has ended
  LT_VISIT_LATE,      ///< the call takes too long; it continues without a tracer
  LT_VISIT_FAULT,     ///< a signal of the processor or the kernel ended the function; the thread continues its work
};

/// Returns the bytes below the stack pointer that a visit takes, without the stack of the called functions.
size_t lt_visit_size(void);

/// Prepares calls: writes the data for them, including `size` bytes of `text`, below the thread's stack pointer. The
/// thread's registers do not change yet.
int lt_visit_begin(struct lt_thread_visit *visit, pid_t thread, const struct lt_return_code *code, const void *text,
                   size_t size);

/// Calls a function with two arguments, and waits until it returns or until `deadline`. Signals are blocked during the
/// call, except those that the processor and the kernel send for errors. The function's result is not read.
int lt_visit_call(struct lt_thread_visit *visit, uint64_t function, uint64_t first, uint64_t second, uint64_t deadline);

/// Calls a function without arguments, and stores the pointer that it returns. Must not be used for a function that may
/// return a small number. On some processors, if the tracer ends during the call, the thread makes the system call with
/// that number. Returns LT_VISIT_NOT_BEGUN if the process does not have the code that the processor needs.
int lt_visit_ask(struct lt_thread_visit *visit, uint64_t function, uint64_t deadline, uint64_t *pointer);

/// Restores everything, and resumes the thread. `outcome` is the outcome of the last call.
void lt_visit_end(struct lt_thread_visit *visit, int outcome);

// --- parts that depend on the processor, in processor/…/signal_frame.c -----------------------------------------------

/// Writes the frame of a signal handler, the data for the functions and the vector registers below the thread's stack
/// pointer. `visit` has `before`, `mask` and `code`. Fills in the other addresses and the state. Returns false if the
/// thread cannot make calls.
bool lt_frame_write(struct lt_thread_visit *visit, const void *text, size_t size);
/// Makes the stopped thread begin a function that returns to the restorer. All general registers change in one step.
/// Sets the control words of floating point numbers as functions expect them. Returns an lt_visit_error.
int lt_frame_begin_function(struct lt_thread_visit *visit, uint64_t function, const uint64_t arguments[2]);
/// Leaves the system call of the restorer, at whose entry the thread is stopped, without making it. Returns false if
/// the thread has ended.
bool lt_frame_leave_restorer(struct lt_thread_visit *visit);

// --- parts that do not
// ------------------------------------------------------------------------------------------------

/// Blocks the signals that a function must not see.
void lt_visit_block_signals(const struct lt_thread_visit *visit);
/// Runs the thread until it makes a system call whose instruction ends at `end`, with the stack pointer at `stack`.
/// Returns an lt_visit_error.
int lt_visit_await_call(const struct lt_thread_visit *visit, uint64_t end, uint64_t stack, uint64_t deadline,
                        struct lt_thread_registers *registers);
/// Runs the thread until it makes the system call of the restorer. Returns an lt_visit_error.
int lt_visit_await_restorer(struct lt_thread_visit *visit, uint64_t deadline);
/// Waits for the next stop of any kind. Returns false if there is none.
bool lt_visit_await_any_stop(pid_t thread);
/// Writes to the thread's memory. Grows a main thread's stack if needed.
bool lt_visit_write_memory(pid_t thread, uint64_t address, const void *bytes, size_t size);

#endif
#endif
