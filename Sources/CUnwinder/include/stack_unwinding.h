// Unwinds stacks with libunwind. The caller provides a function that reads the memory, and a function that finds the
// unwind tables.
//
// libunwind trusts the tables. A damaged table may end the process, for example by a division of the smallest number by
// −1. The number of reads is limited, so unwinding always ends.

#ifndef LEAKTRACE_STACK_UNWINDING_H
#define LEAKTRACE_STACK_UNWINDING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { LT_UNWIND_REGISTERS = 33 };

/// A thread's registers by their DWARF numbers. x86-64 has 17: rax, rdx, rcx, rbx, rsi, rdi, rbp, rsp, r8 to r15, and
/// the program counter (System V ABI, AMD64). arm64 has 33: x0 to x30, sp, and the program counter (DWARF for the Arm
/// 64-bit Architecture).
struct lt_unwind_registers {
  uint64_t values[LT_UNWIND_REGISTERS];
  uint64_t known; ///< a bit for each register, by number
};

/// The bits of all registers.
#define LT_UNWIND_ALL_KNOWN ((1ull << LT_UNWIND_REGISTERS) - 1)

/// Code that has unwind information.
struct lt_unwind_code {
  uint64_t start, end; ///< addresses in the process
  uint64_t table;      ///< address of its `.eh_frame_hdr` (PT_GNU_EH_FRAME)
};

/// The memory and the code of a process.
struct lt_unwind_source {
  /// Copies memory of the process. Returns the number of bytes before the first unknown byte. Called for whole pages,
  /// which the unwinder keeps until lt_stack_unwinder_forget.
  size_t (*read)(void *context, uint64_t address, void *into, size_t size);
  /// Finds the code at an address. Returns false if there is none with unwind information.
  bool (*find)(void *context, uint64_t address, struct lt_unwind_code *code);
  void *context; ///< the first argument of both functions
  /// Report a stack as unsound if a caller's frame is not at a higher address. The frame that a signal interrupted is
  /// exempt, because the handler may be on another stack.
  bool isOneStack;
};

struct lt_unwound_frame {
  uint64_t address;      ///< the executing address, or the return address
  uint64_t stackPointer; ///< the frame's memory is from here up to the next frame's stack pointer
  /// 1 if `address` is the executing address, as in the innermost frame and in a frame that a signal interrupted.
  /// Otherwise 0: `address` is the return address.
  uint64_t isExact;
};

enum lt_unwind_end {
  LT_UNWIND_COMPLETE, ///< the thread began in the last frame
  LT_UNWIND_CUT,      ///< there are more frames than the caller allows
  LT_UNWIND_NO_RULES, ///< the last frame's code has no unwind information
  LT_UNWIND_UNSOUND,  ///< a register or memory is unknown, or the memory is not a stack
};

/// Unwinds stacks of one process. For one thread at a time.
struct lt_stack_unwinder;

/// Returns NULL if there is no memory, or if the machine is not supported. Linux on x86-64 and on arm64 is. Free the
/// result with lt_stack_unwinder_free.
struct lt_stack_unwinder *lt_stack_unwinder_make(const struct lt_unwind_source *source);
/// Drops the kept pages. Call this before unwinding again if the process has run.
void lt_stack_unwinder_forget(struct lt_stack_unwinder *unwinder);
void lt_stack_unwinder_free(struct lt_stack_unwinder *unwinder);

/// Unwinds the stack of a stopped thread. Writes up to `most` frames, the innermost first, and their number to
/// `*count`. Returns why the stack ends. A frame without known registers is not written.
enum lt_unwind_end lt_unwind_stack(struct lt_stack_unwinder *unwinder, const struct lt_unwind_registers *registers,
                                   struct lt_unwound_frame *frames, size_t most, size_t *count);

#endif
