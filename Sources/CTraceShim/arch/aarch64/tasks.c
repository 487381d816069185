// The recorder's own tasks, calls on another stack, and thread-local memory.

#ifdef __aarch64__

#include "arch/arch.h"
#include "check.h"

#include <sys/syscall.h>

// --- clone -----------------------------------------------------------------------------------------------------------

// Starts the recorder's own tasks, without the C library.

/// The new task finds the function and its argument on its stack.
__attribute__((naked)) long lt_clone_call(long flags, void *top, void (*run)(void *), void *argument, void *childThread,
                                          uintptr_t threadPointer) {
  __asm__("stp x2, x3, [x1, #-16]!\n"
          "mov x2, #0\n"
          "mov x3, x5\n"
          "mov x8, %[clone]\n"
          ".globl lt_clone_instruction\n"
          ".hidden lt_clone_instruction\n"
          "lt_clone_instruction:\n"
          "svc #0\n"
          "cbnz x0, 1f\n"
          "mov x29, #0\n"
          "mov x30, #0\n"
          "ldp x9, x0, [sp]\n" // leave both words there for the next task
          "blr x9\n"
          "mov x8, %[exit]\n"
          "mov x0, #0\n"
          "svc #0\n"
          "brk #1\n"
          "1:\n"
          "ret\n" ::[clone] "i"(SYS_clone),
          [exit] "i"(SYS_exit));
}

extern const char lt_clone_instruction[] __attribute__((visibility("hidden")));

void lt_clone_prepare(struct lt_clone_registers *registers, void *top, void (*run)(void *), void *argument) {
  uintptr_t *words = (uintptr_t *)top - 2;
  words[0] = (uintptr_t)run;
  words[1] = (uintptr_t)argument;
  registers->call = (uintptr_t)lt_clone_instruction;
  registers->stack = (uintptr_t)words;
}

// --- stack switch ----------------------------------------------------------------------------------------------------

// Calls a function on another stack.

__asm__(".text\n"
        ".p2align 4\n"
        ".globl lt_call_on_stack\n"
        ".hidden lt_call_on_stack\n"
        ".type lt_call_on_stack, %function\n"
        "lt_call_on_stack:\n"
        "  .cfi_startproc\n"
        "  stp x29, x30, [sp, #-96]!\n"
        "  .cfi_def_cfa_offset 96\n"
        "  .cfi_offset 29, -96\n"
        "  .cfi_offset 30, -88\n"
        "  mov x29, sp\n"
        "  .cfi_def_cfa 29, 96\n"
        "  stp x19, x20, [sp, #16]\n"
        "  stp x21, x22, [sp, #32]\n"
        "  stp x23, x24, [sp, #48]\n"
        "  stp x25, x26, [sp, #64]\n"
        "  stp x27, x28, [sp, #80]\n"
        "  .cfi_offset 19, -80\n"
        "  .cfi_offset 20, -72\n"
        "  .cfi_offset 21, -64\n"
        "  .cfi_offset 22, -56\n"
        "  .cfi_offset 23, -48\n"
        "  .cfi_offset 24, -40\n"
        "  .cfi_offset 25, -32\n"
        "  .cfi_offset 26, -24\n"
        "  .cfi_offset 27, -16\n"
        "  .cfi_offset 28, -8\n"
        "  mov x9, sp\n"
        "  str x9, [x2, #-8]\n"
        "  sub x9, x2, #16\n"
        "  mov sp, x9\n"
        "  mov x9, x0\n"
        "  mov x0, x1\n"
        "  blr x9\n"
        "  mov sp, x29\n"
        "  ldp x19, x20, [sp, #16]\n"
        "  ldp x21, x22, [sp, #32]\n"
        "  ldp x23, x24, [sp, #48]\n"
        "  ldp x25, x26, [sp, #64]\n"
        "  ldp x27, x28, [sp, #80]\n"
        "  ldp x29, x30, [sp], #96\n"
        "  .cfi_def_cfa 31, 0\n"
        "  ret\n"
        "  .cfi_endproc\n"
        ".size lt_call_on_stack, .-lt_call_on_stack\n");

// --- thread-local memory ---------------------------------------------------------------------------------------------

// Thread-local variables lie above the two words at the thread pointer. glibc's description of the thread lies below
// the thread pointer. The stack guard is an ordinary variable. Source: ELF for the Arm 64-bit Architecture,
// "Thread Local Storage"; glibc, sysdeps/aarch64/nptl/tls.h.

enum { CONTROL_BLOCK_SIZE = LT_PAGE_LIMIT, LIMIT = 1 << 20 };

/// Returns the bytes from the thread pointer to the end of the page after the variable's start.
static size_t size_above(const void *variable) {
  return ((uintptr_t)variable - lt_thread_pointer() + 2 * LT_PAGE_LIMIT - 1) & ~(uintptr_t)(LT_PAGE_LIMIT - 1);
}

size_t lt_thread_local_size(const void *variable) {
  return (uintptr_t)variable - lt_thread_pointer() > LIMIT ? 0 : CONTROL_BLOCK_SIZE + size_above(variable);
}

uintptr_t lt_thread_local_make(uint8_t *memory, const void *variable) {
  (void)variable;
  uintptr_t made = (uintptr_t)memory + CONTROL_BLOCK_SIZE;
  LT_CHECK(made % 16 == 0);
  return made;
}

#endif
