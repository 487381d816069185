// Everything that depends on the processor. A port to another processor provides all of this in its own folder next to
// x86_64, and this file selects the folder.
//
// Functions that are not static are in the folder's .c files. They call only memory and string primitives, and need
// nothing else of the recorder.

#ifndef LEAKTRACE_ARCH_H
#define LEAKTRACE_ARCH_H

#include "CTraceFormat.h"
#include "arch/unwind_row.h"

// As static functions and constants:
// - LT_ADDRESS_BITS, LT_RED_ZONE, LT_ELF_MACHINE, LT_FIRST_GLIBC, LT_AUDIT_ARCHITECTURE, LT_RELOCATION_*;
// - lt_syscall6: a system call, with its result as the kernel gives it;
// - lt_ticks_ordered: processor ticks, read after all earlier loads are done: so that an event seen through memory
//   written by another thread never gets an earlier time than that thread's;
// - lt_ticks_unordered: the same without an order: waits for nothing;
// - lt_is_zero_byte: a byte is 0, read at once as a relaxed load reads it, in one instruction;
// - lt_is_simulated: Valgrind runs the program, and ends it at a kind of clone that it does not know;
// - lt_subtract: subtracts in memory, in one instruction; false if nothing is left, or less: the difference wraps;
// - lt_thread_pointer; lt_static_tls_distance: bytes from an image's thread-local variables to the thread pointer, 0 if
//   they are not in one block with it;
// - lt_clear_memory: clears without a call: a compiler may emit one of memset, which may lead into the program;
// - lt_read_registers, lt_read_context_register, lt_describe_here: registers as they are at the place of use;
// - LT_DEFINE_…: functions in assembly, defined beside those that they call.
#if defined(__linux__) && defined(__x86_64__)
#include "arch/x86_64/assembly.h"
#include "arch/x86_64/instructions.h"
#else
#error "the recorder knows Linux on x86-64 only"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

/// Marks variables that hooks read at each call. They stand side by side, whichever file defines them, and so take few
/// cache lines.
#define LT_HOOK_DATA __attribute__((section("lt_hook_data")))

#define lt_syscall(n, a, b, c) lt_syscall6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)

// --- clock -----------------------------------------------------------------------------------------------------------

/// True if the processor reports that its counter runs evenly in every state.
bool lt_ticks_are_invariant(void);
/// True if the calling thread may execute the instructions with which the recorder reads the counter and queries the
/// processor's features. A program can make them raise SIGSEGV, thread by thread.
bool lt_may_ask_processor(void);
/// True if the call makes the instruction that queries the processor raise SIGSEGV.
bool lt_makes_identification_fail(long number, long option, long argument);
/// True if a clock source of the kernel's is based on that counter, so that it runs evenly on all cores. The name is as
/// in /sys/devices/system/clocksource.
bool lt_is_tick_clock(const char *clockSource);
/// Nominal ticks per second of the processor's counter, or 0.
uint64_t lt_nominal_tick_rate(void);

// --- tasks and stacks ------------------------------------------------------------------------------------------------

/// Starts a task that calls `run` on the stack that ends at `top`, and ends when that returns. Returns its number, or
/// −errno.
///
/// `flags`, `childThread` and `threadPointer` are clone(2)'s. Without CLONE_SETTLS the task shares the calling thread's
/// thread-local memory: no function it calls may use any.
long lt_clone_call(long flags, void *top, void (*run)(void *), void *argument, void *childThread,
                   uintptr_t threadPointer);

/// The registers with which a tracer starts such a task for this process.
struct lt_clone_registers {
  uintptr_t call;  ///< of the instruction
  uintptr_t stack; ///< the stack's pointer
};

/// Writes the task's first words to the stack.
void lt_clone_prepare(struct lt_clone_registers *registers, void *top, void (*run)(void *), void *argument);

/// Calls `function(argument)` on the stack that ends at `top`. The stack's highest word holds the stack pointer at
/// which the caller's stack was left, below all registers that calls preserve. The frame is found by the frame pointer,
/// from either side.
void lt_call_on_stack(void (*function)(void *), void *argument, void *top) __attribute__((visibility("hidden")));

/// Bytes of thread-local memory, a multiple of the page size, for a thread of the recorder's own that uses one
/// thread-local variable. 0 if the variable is too far from the thread pointer.
size_t lt_thread_local_size(const void *variable);
/// Makes that memory from as many zeroed bytes. The variable is zero in it. The parts of the control block that
/// compilers use are copied from the calling thread. Returns the thread pointer.
uintptr_t lt_thread_local_make(uint8_t *memory, const void *variable);

// --- faults ----------------------------------------------------------------------------------------------------------

/// The return address of a handler that was set without the C library.
void lt_signal_return(void) __attribute__((visibility("hidden")));
/// Lets this thread read memory that a protection key denies it. Does nothing without such keys.
void lt_allow_protected_memory(void);

// --- registers -------------------------------------------------------------------------------------------------------

/// Numbers of the registers that calls preserve and in which a function may keep its async context, in addition to
/// LT_REG_CONTEXT.
enum { LT_CONTEXT_REFUGES = 5 };
extern const uint8_t lt_context_refuges[LT_CONTEXT_REFUGES] __attribute__((visibility("hidden")));

/// Fills in a thread's registers, stack pointer and instruction pointer as a signal found them. Includes the stack that
/// an interrupted function may use.
void lt_describe_interrupted(struct lt_snapshot_thread *thread, const ucontext_t *interrupted);
/// Fills in an unwound frame's registers: the ones that calls preserve.
void lt_describe_frame(struct lt_snapshot_thread *thread, const struct lt_registers *registers);

/// A thread that a tracer has stopped.
struct lt_stopped_thread {
  uint64_t registers[16]; ///< in the order of struct lt_snapshot_thread
  uint64_t stackPointer, threadPointer, instructionPointer;
  long call;   ///< the system call that it is in; negative if in none
  long result; ///< of that call, so far
};

/// Reads a thread's state, by its tracer. False if the kernel refuses.
bool lt_stopped_thread_read(pid_t thread, struct lt_stopped_thread *stopped);
/// Reads or changes an argument of the call that a stopped thread is in. The change counts when the kernel restarts the
/// call. `number` is below 6. Only the thread's tracer may call these. False if the kernel refuses.
bool lt_stopped_thread_argument(pid_t thread, unsigned number, uint64_t *value);
bool lt_stopped_thread_set_argument(pid_t thread, unsigned number, uint64_t value);
/// Changes the result of the call. Only for the thread's tracer.
void lt_stopped_thread_set_result(pid_t thread, long result);

// --- code ------------------------------------------------------------------------------------------------------------

/// Derives the frame of a function without unwind information from the instructions at its start. Gives the row for a
/// call that returns to `address`. The function begins at or after `low`, the end of the last earlier function with
/// unwind information. False if no beginning is found. Reads [low, address).
bool lt_prologue_row(uintptr_t address, uintptr_t low, struct lt_unwind_row *row);
/// True if the concurrency runtime enters a task's code with the call that returns to `address`. The eight bytes before
/// `address` must be readable.
bool lt_is_task_entry_call(uintptr_t address);
/// True if the instruction before `address` is a call. The eight bytes before `address` must be readable.
bool lt_follows_call(uintptr_t address);
/// True if `size` bytes of code may read or write the word at `address` by a relative address. Linear in the size.
bool lt_code_refers_to(uintptr_t code, uint64_t size, uint64_t address);

/// A jump that replaces a function that does nothing.
enum { LT_JUMP_LIMIT = 16 };
struct lt_jump {
  uint8_t bytes[LT_JUMP_LIMIT];
  size_t size;
};

/// Makes a jump to `target`. False if the function at `function` is not empty, has no room for the jump, or is too far
/// away.
bool lt_jump_over_empty(uintptr_t function, uintptr_t target, struct lt_jump *jump);

#endif
