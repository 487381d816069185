// Everything in this module that depends on the processor. A port provides all of this in a folder next to x86_64. This
// file selects the folder.
//
// The functions here use ptrace, so only the tracer of a stopped thread may call them. They use no allocator.

#ifndef LEAKTRACE_PROCESSOR_H
#define LEAKTRACE_PROCESSOR_H

#include "process_copy.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// The folder's registers.h defines:
// - struct lt_thread_registers: all general registers of a stopped thread, and the state of its system call;
// - LT_CALL_SIZE: the bytes of the instruction for a system call;
// - LT_ELF_MACHINE and LT_AUDIT_ARCHITECTURE: the processor's numbers in ELF files and in filters of system calls;
// - LT_RESTORER_CODE: the bytes of the code that signal handlers return to, and LT_RESTORER_CALL_OFFSET: the offset of
//   its system call. LT_RESTORER_IS_KERNELS: true if the kernel's vDSO has this code, false if the C library has it.
#if defined(__linux__) && defined(__x86_64__)
#define LT_CAN_STOP_THREADS 1
#include "processor/x86_64/registers.h"
#elif defined(__linux__) && defined(__aarch64__)
#define LT_CAN_STOP_THREADS 1
#include "processor/aarch64/registers.h"
#else
#define LT_CAN_STOP_THREADS 0
#endif

#if LT_CAN_STOP_THREADS

// --- registers -------------------------------------------------------------------------------------------------------

/// Reads the registers of a stopped thread. Returns 0, −errno, or LT_COPY_OTHER_MACHINE if the thread runs 32-bit code.
int lt_registers_read(pid_t thread, struct lt_thread_registers *registers);
/// Sets all registers of a stopped thread in one step. Returns 0 or −errno.
int lt_registers_write(pid_t thread, const struct lt_thread_registers *registers);
uint64_t lt_registers_program_counter(const struct lt_thread_registers *registers);
uint64_t lt_registers_stack_pointer(const struct lt_thread_registers *registers);
/// Fills in the registers, the system call and the state of a note.
void lt_registers_describe(pid_t thread, const struct lt_thread_registers *registers, struct lt_copied_thread *note);

// --- a thread's own system call --------------------------------------------------------------------------------------

/// Notes the system call that a thread sleeps in. Call this when the thread is traced, and before it is asked to stop.
void lt_own_call_note(pid_t thread);
/// Drops that note. Call this when a signal is delivered to the thread before its stop.
void lt_own_call_forget(pid_t thread);
/// If only the stop has interrupted a wait of the thread with EINTR, makes the thread repeat the call when it resumes.
/// Some handlers of the program run before the repeated call. Then the call returns EINTR, where the kernel allows it.
void lt_own_call_repeat(pid_t thread);
/// Changes registers that were read after the thread's stop. With the new ones, the thread goes on with its own call
/// even if it has made other calls for its tracer in between.
void lt_registers_resume_own_call(pid_t thread, struct lt_thread_registers *registers);

// --- calls for the tracer --------------------------------------------------------------------------------------------

/// The most arguments of a call for the tracer.
enum { LT_CALL_ARGUMENTS = 5 };

/// Changes registers so that the thread makes a system call with the instruction at an address. The kernel does not
/// restart the thread's own call.
void lt_registers_set_call(struct lt_thread_registers *registers, uint64_t instruction, long number,
                           const uint64_t arguments[LT_CALL_ARGUMENTS]);
/// Makes sure that a thread makes the call with this number. The thread is stopped at the entry of that call.
void lt_entered_call_confirm(pid_t thread, long number);
/// Cancels the call at whose entry the thread is stopped.
void lt_entered_call_skip(pid_t thread);
/// Returns the result of the call at whose exit the thread is stopped.
int64_t lt_registers_result(const struct lt_thread_registers *registers);
/// Arranges the arguments of clone. `threadWord` gets the number of the new thread, and 0 when that thread has ended.
void lt_arrange_clone(uint64_t arguments[LT_CALL_ARGUMENTS], uint64_t flags, uint64_t stack, uint64_t threadWord,
                      uint64_t threadPointer);

// --- code ------------------------------------------------------------------------------------------------------------

/// True if the thread's memory has the instruction for a system call at an address.
bool lt_is_call_instruction(pid_t thread, uint64_t address);
/// Returns the offset of the first or last such instruction in `size` bytes of code; `size` if there is none.
size_t lt_first_call_in(const unsigned char *code, size_t size);
size_t lt_last_call_in(const unsigned char *code, size_t size);
/// Returns the offset of the first instruction that returns from a function; `size` if there is none.
size_t lt_first_return_in(const unsigned char *code, size_t size);
/// Finds the word that holds the distance from the thread pointer to errno. `code` is the start of __errno_location,
/// which is at `address` in the process. Returns 0 if the code is not known.
uint64_t lt_error_offset_slot(const unsigned char *code, size_t size, uint64_t address);

#endif

#endif
