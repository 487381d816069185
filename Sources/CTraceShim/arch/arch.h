// Everything that depends on the processor. A port to another processor provides all of this in a folder next to
// x86_64. This file selects the folder.
//
// Functions that are not static are defined in the folder's .c files. They call only memory and string primitives, and
// need no other part of the recorder.

#ifndef LEAKTRACE_ARCH_H
#define LEAKTRACE_ARCH_H

#include "CTraceFormat.h"
#include "arch/unwind_row.h"

// The folder defines these static functions and constants:
// - lt_page_size: returns the bytes of the kernel's pages. LT_PAGE_LIMIT: the largest page size of any kernel. Files
// and
//   mappings whose layout must suit all kernels use multiples of the limit;
// - LT_ADDRESS_BITS, LT_RED_ZONE, LT_ELF_MACHINE, LT_FIRST_GLIBC, LT_AUDIT_ARCHITECTURE, LT_RELOCATION_*;
// - lt_syscall6: makes a system call, and returns the kernel's result unchanged;
// - lt_ticks_ordered: reads the processor's ticks after all earlier loads are done. So after a thread has seen another
//   thread's write, its next event is not earlier than the writer's event;
// - lt_ticks_unordered: reads the ticks without this order, and does not wait for loads;
// - lt_is_zero_byte: returns true if a byte is 0, with one instruction that acts as a relaxed load;
// - lt_load_first: loads a word that another thread may store, before the processor makes later loads. The compiler
//   must be kept from moving them;
// - LT_KEEPS_LOAD_ORDER: true if a load never returns an older value than an earlier load of the same thread allows;
// - LT_MAY_PATCH_RUNNING_CODE: true if a jump may replace an empty function while other threads may call it;
// - lt_is_simulated: returns true if Valgrind runs the program. Valgrind ends a program at a kind of clone that
//   Valgrind does not know;
// - lt_subtract: subtracts in memory, with one instruction. Returns true if the result is above 0. A negative result
//   wraps;
// - lt_thread_pointer: returns the thread pointer. lt_static_tls_distance: returns the bytes between that pointer and
//   the far end of an image's thread-local variables, which have `size` bytes. Returns 0 if there are no variables, or
//   if they do not lie on the side where the ABI has them;
// - lt_clear_memory: clears memory without a call. A compiler might replace a loop by a call of memset, and the program
//   may define memset;
// - lt_read_registers, lt_read_context_register, lt_describe_here: read registers at the place where they are used;
// - lt_forget_scratch: clears registers that no call preserves, and that pass no argument or result;
// - LT_REG_…: the registers that unwinding follows, and their roles. lt_return_slot, lt_return_word, lt_code_address,
//   LT_RECORDS_FRAMES: where a frame has its return address, and the address in such a word;
// - struct lt_hook_frame, LT_OWN_FRAME, lt_stack_pointer_outside: the frame of a function with a frame pointer, and the
//   stack pointer of its caller;
// - LT_LOSES_FIRST_ARGUMENT: true if the result of a system call replaces its first argument;
// - LT_CONTEXT_REFUGES: the number of registers in lt_context_refuges;
// - macros that define functions in assembly. These call functions of the recorder in ways that C cannot express. A
//   macro is used next to the function that the assembly calls:
//   - LT_DEFINE_INITIALIZER_ENTRIES(entries, count, reached): defines `count` adjacent entries that begin at `entries`,
//     LT_INITIALIZER_ENTRY_SIZE bytes apart. The loader may call an entry as an image's initialiser. An entry calls
//     `reached` with an address inside the entry. `reached` returns an initialiser or NULL. The entry then jumps to
//     that initialiser, with the loader's arguments, as if the loader had called it;
//   - LT_DEFINE_UNNOTICED_CALL(name, function): defines `name`, which calls `function` and preserves all registers. Its
//     caller may rely on a callee that changes no register;
//   - LT_DEFINE_RETAIN_FROM_ADAPTER(name, counted): defines `name`, which replaces a retain function that the Swift
//     runtime's adapter calls. `name` calls `counted` for references that are pointers.
#if defined(__linux__) && defined(__x86_64__)
#include "arch/x86_64/assembly.h"
#include "arch/x86_64/instructions.h"
#elif defined(__linux__) && defined(__aarch64__)
#include "arch/aarch64/assembly.h"
#include "arch/aarch64/instructions.h"
#else
#error "the recorder knows Linux on x86-64 and arm64 only"
#endif

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

/// Marks variables that hooks read at each call. The linker puts them side by side, whichever file defines them, so
/// they take few cache lines.
#define LT_HOOK_DATA __attribute__((section("lt_hook_data")))

#define lt_syscall(n, a, b, c) lt_syscall6((n), (long)(a), (long)(b), (long)(c), 0, 0, 0)

// --- clock -----------------------------------------------------------------------------------------------------------

/// True if the processor reports that its tick counter runs at a constant rate in every power state.
bool lt_ticks_are_invariant(void);
/// True if the calling thread may read the counter and query the processor's features. A program can make the
/// instructions for that raise SIGSEGV, for each thread separately.
bool lt_may_ask_processor(void);
/// True if this system call makes the instruction that queries the processor raise SIGSEGV.
bool lt_makes_identification_fail(long number, long option, long argument);
/// True if this clock source of the kernel uses the tick counter, so the counter runs evenly on all cores. The name is
/// one from /sys/devices/system/clocksource.
bool lt_is_tick_clock(const char *clockSource);
/// Returns the nominal ticks per second of the processor's counter, or 0 if the processor does not report them.
uint64_t lt_nominal_tick_rate(void);

// --- tasks and stacks ------------------------------------------------------------------------------------------------

/// Starts a task that calls `run` on the stack that ends at `top`. The task ends when `run` returns. Returns the task's
/// ID, or −errno.
///
/// `flags`, `childThread` and `threadPointer` are arguments of clone(2). Without CLONE_SETTLS the task shares the
/// calling thread's thread-local memory, so no function that the task calls may use thread-local memory.
long lt_clone_call(long flags, void *top, void (*run)(void *), void *argument, void *childThread,
                   uintptr_t threadPointer);

/// The registers that a tracer sets to make this process start such a task.
struct lt_clone_registers {
  uintptr_t call;  ///< address of the system call instruction
  uintptr_t stack; ///< stack pointer
};

/// Writes the task's first words to the stack, and fills in the registers.
void lt_clone_prepare(struct lt_clone_registers *registers, void *top, void (*run)(void *), void *argument);

/// Calls `function(argument)` on the stack that ends at `top`. Before the switch, pushes all registers that calls
/// preserve to the caller's stack. The highest word of the new stack then holds the stack pointer of the caller's
/// stack. During the call, unwinders find the caller's frame by the frame pointer.
void lt_call_on_stack(void (*function)(void *), void *argument, void *top) __attribute__((visibility("hidden")));

/// Returns the size of the thread-local memory for one of the recorder's own threads. Such a thread uses only one
/// thread-local variable. The size is in bytes, and a multiple of the page size. Returns 0 if the variable is too far
/// from the thread pointer.
size_t lt_thread_local_size(const void *variable);
/// Prepares that memory in `memory`, which has lt_thread_local_size zeroed bytes. The variable stays zero there. Copies
/// the parts of the control block that compilers use from the calling thread. Returns the thread pointer.
uintptr_t lt_thread_local_make(uint8_t *memory, const void *variable);

// --- faults ----------------------------------------------------------------------------------------------------------

/// The return address of a signal handler that was installed without the C library.
void lt_signal_return(void) __attribute__((visibility("hidden")));
/// Lets this thread read memory that protection keys deny to it. Does nothing if the processor has no such keys in use.
void lt_allow_protected_memory(void);

// --- registers -------------------------------------------------------------------------------------------------------

/// DWARF numbers of registers where a function may keep its async context, in addition to LT_REG_CONTEXT. Calls
/// preserve these registers.
extern const uint8_t lt_context_refuges[LT_CONTEXT_REFUGES] __attribute__((visibility("hidden")));

/// Fills in a thread's registers, stack pointer and instruction pointer at the time of the signal. The stack pointer
/// includes the memory below the stack that the interrupted function may use.
void lt_describe_interrupted(struct lt_snapshot_thread *thread, const ucontext_t *interrupted);
/// Fills in an unwound frame's stack pointer, instruction pointer and the registers that calls preserve.
void lt_describe_frame(struct lt_snapshot_thread *thread, const struct lt_registers *registers);

/// The state of a thread that a tracer has stopped.
struct lt_stopped_thread {
  uint64_t registers[LT_SNAPSHOT_REGISTERS]; ///< in the order of struct lt_snapshot_thread
  uint64_t stackPointer, threadPointer, instructionPointer;
  long call;   ///< number of the system call that the thread is in; negative if it is in none
  long result; ///< result of that system call, so far
};

/// Reads a thread's state. Only the thread's tracer may call this. False if the kernel refuses.
bool lt_stopped_thread_read(pid_t thread, struct lt_stopped_thread *stopped);
/// Reads or changes an argument of the system call that a stopped thread is in. A changed argument takes effect when
/// the kernel restarts the call. `number` is below 6. Only the thread's tracer may call these functions. False if the
/// kernel refuses.
bool lt_stopped_thread_argument(pid_t thread, unsigned number, uint64_t *value);
bool lt_stopped_thread_set_argument(pid_t thread, unsigned number, uint64_t value);
/// Ends the system call that a stopped thread is in, with a result. Only the thread's tracer may call this.
void lt_stopped_thread_set_result(pid_t thread, long result);
/// Makes the kernel restart a system call that ended with EINTR. If a handler runs first, the call returns EINTR. Only
/// the thread's tracer may call this. `firstArgument` counts only if LT_LOSES_FIRST_ARGUMENT.
void lt_stopped_thread_repeat(pid_t thread, uint64_t firstArgument);

// --- code ------------------------------------------------------------------------------------------------------------

/// Derives the frame of a function without unwind information from the instructions at the function's start. Fills in
/// the row for a call that returns to `address`. The function begins at or after `low`, where the nearest earlier
/// function with unwind information ends. False if no start is found. Reads [low, address).
bool lt_prologue_row(uintptr_t address, uintptr_t low, struct lt_unwind_row *row);
/// If the code at `address`, which ends at `end`, is where a signal handler returns to: fills in the row that restores
/// the interrupted code's registers. Otherwise returns false. Processors whose unwind tables describe that code need
/// nothing here.
bool lt_signal_return_row(uintptr_t address, uintptr_t end, struct lt_unwind_row *row);
/// True if the concurrency runtime used the call that returns to `address` to enter a task's code. The eight bytes
/// before `address` must be readable.
bool lt_is_task_entry_call(uintptr_t address);
/// True if the instruction before `address` is a call. The eight bytes before `address` must be readable.
bool lt_follows_call(uintptr_t address);
/// True if `size` bytes of code may contain an instruction that accesses the word at `address` by a relative address.
/// Takes linear time in `size`.
bool lt_code_refers_to(uintptr_t code, uint64_t size, uint64_t address);

/// A jump instruction that replaces the code of an empty function.
enum { LT_JUMP_LIMIT = 16 };
struct lt_jump {
  uint8_t bytes[LT_JUMP_LIMIT];
  size_t size;
};

/// Makes a jump from `function` to `target`. False if `function` is not empty, has no room for the jump, or is too far
/// from `target`.
bool lt_jump_over_empty(uintptr_t function, uintptr_t target, struct lt_jump *jump);

#endif
