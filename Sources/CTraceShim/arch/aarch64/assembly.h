// Functions in assembly, and reads of live arm64 registers.

#ifndef LEAKTRACE_AARCH64_ASSEMBLY_H
#define LEAKTRACE_AARCH64_ASSEMBLY_H

#include "CTraceFormat.h"
#include "arch/aarch64/instructions.h"
#include "arch/unwind_row.h"

#include <string.h>

// --- functions -------------------------------------------------------------------------------------------------------

// The macros that arch.h describes.

// The instructions `bti c` are hints, which older processors pass over.

enum { LT_INITIALIZER_ENTRY_SIZE = 16 };

#define LT_DEFINE_INITIALIZER_ENTRIES(entries, count, reached)           \
  extern const uint8_t entries[] __attribute__((visibility("hidden")));  \
  __asm__(".text\n"                                                      \
          ".p2align 4\n"                                                 \
          ".hidden " #entries "\n"                                       \
          ".globl " #entries "\n" #entries ":\n"                         \
          ".rept " #count "\n"                                           \
          "  .p2align 4\n"                                               \
          "  hint #34\n" /* bti c */                                     \
          "  adr x16, .\n"                                               \
          "  b " #entries "_common\n"                                    \
          ".endr\n"                                                      \
          ".p2align 4\n"                                                 \
          ".type " #entries "_common, %function\n" #entries "_common:\n" \
          "  .cfi_startproc\n"                                           \
          "  stp x29, x30, [sp, #-48]!\n"                                \
          "  .cfi_def_cfa_offset 48\n"                                   \
          "  .cfi_offset 29, -48\n"                                      \
          "  .cfi_offset 30, -40\n"                                      \
          "  mov x29, sp\n"                                              \
          "  stp x0, x1, [sp, #16]\n"                                    \
          "  str x2, [sp, #32]\n"                                        \
          "  mov x0, x16\n"                                              \
          "  bl " #reached "\n"                                          \
          "  mov x16, x0\n"                                              \
          "  ldp x0, x1, [sp, #16]\n"                                    \
          "  ldr x2, [sp, #32]\n"                                        \
          "  ldp x29, x30, [sp], #48\n"                                  \
          "  .cfi_def_cfa_offset 0\n"                                    \
          "  .cfi_restore 29\n"                                          \
          "  .cfi_restore 30\n"                                          \
          "  cbz x16, 1f\n"                                              \
          "  br x16\n"                                                   \
          "1: ret\n"                                                     \
          "  .cfi_endproc\n"                                             \
          ".size " #entries "_common, .-" #entries "_common\n")

#define LT_DEFINE_UNNOTICED_CALL(name, function)                     \
  void name(void) __attribute__((visibility("hidden")));             \
  __asm__(".text\n"                                                  \
          ".p2align 4\n"                                             \
          ".hidden " #name "\n"                                      \
          ".globl " #name "\n"                                       \
          ".type " #name ", %function\n" #name ":\n"                 \
          "  .cfi_startproc\n"                                       \
          "  hint #34\n" /* bti c */                                 \
          "  stp x29, x30, [sp, #-176]!\n"                           \
          "  .cfi_def_cfa_offset 176\n"                              \
          "  .cfi_offset 29, -176\n"                                 \
          "  .cfi_offset 30, -168\n"                                 \
          "  mov x29, sp\n"                                          \
          "  .cfi_def_cfa 29, 176\n"                                 \
          "  stp x0, x1, [sp, #16]\n"                                \
          "  stp x2, x3, [sp, #32]\n"                                \
          "  stp x4, x5, [sp, #48]\n"                                \
          "  stp x6, x7, [sp, #64]\n"                                \
          "  stp x8, x9, [sp, #80]\n"                                \
          "  stp x10, x11, [sp, #96]\n"                              \
          "  stp x12, x13, [sp, #112]\n"                             \
          "  stp x14, x15, [sp, #128]\n"                             \
          "  stp x16, x17, [sp, #144]\n"                             \
          "  str x18, [sp, #160]\n"                                  \
          "  sub sp, sp, #384\n"                                     \
          "  stp q0, q1, [sp]\n  stp q2, q3, [sp, #32]\n"            \
          "  stp q4, q5, [sp, #64]\n  stp q6, q7, [sp, #96]\n"       \
          "  stp q16, q17, [sp, #128]\n  stp q18, q19, [sp, #160]\n" \
          "  stp q20, q21, [sp, #192]\n  stp q22, q23, [sp, #224]\n" \
          "  stp q24, q25, [sp, #256]\n  stp q26, q27, [sp, #288]\n" \
          "  stp q28, q29, [sp, #320]\n  stp q30, q31, [sp, #352]\n" \
          "  bl " #function "\n"                                     \
          "  ldp q0, q1, [sp]\n  ldp q2, q3, [sp, #32]\n"            \
          "  ldp q4, q5, [sp, #64]\n  ldp q6, q7, [sp, #96]\n"       \
          "  ldp q16, q17, [sp, #128]\n  ldp q18, q19, [sp, #160]\n" \
          "  ldp q20, q21, [sp, #192]\n  ldp q22, q23, [sp, #224]\n" \
          "  ldp q24, q25, [sp, #256]\n  ldp q26, q27, [sp, #288]\n" \
          "  ldp q28, q29, [sp, #320]\n  ldp q30, q31, [sp, #352]\n" \
          "  add sp, sp, #384\n"                                     \
          "  ldp x0, x1, [sp, #16]\n"                                \
          "  ldp x2, x3, [sp, #32]\n"                                \
          "  ldp x4, x5, [sp, #48]\n"                                \
          "  ldp x6, x7, [sp, #64]\n"                                \
          "  ldp x8, x9, [sp, #80]\n"                                \
          "  ldp x10, x11, [sp, #96]\n"                              \
          "  ldp x12, x13, [sp, #112]\n"                             \
          "  ldp x14, x15, [sp, #128]\n"                             \
          "  ldp x16, x17, [sp, #144]\n"                             \
          "  ldr x18, [sp, #160]\n"                                  \
          "  ldp x29, x30, [sp], #176\n"                             \
          "  .cfi_def_cfa 31, 0\n"                                   \
          "  ret\n"                                                  \
          "  .cfi_endproc\n"                                         \
          ".size " #name ", .-" #name "\n")

/// Defines `name`, which replaces a retain function that the runtime's adapter calls. The adapter clears the marks of
/// the reference in x0. Which register has the unchanged reference is not known on this processor.
#define LT_DEFINE_RETAIN_FROM_ADAPTER(name, counted) \
  void *name(void *object);                          \
  __asm__(".text\n"                                  \
          ".hidden " #name "\n"                      \
          ".globl " #name "\n"                       \
          ".type " #name ", %function\n" #name ":\n" \
          "  .cfi_startproc\n"                       \
          "  hint #34\n" /* bti c */                 \
          "  cmp x0, #0\n"                           \
          "  b.gt " #counted "\n"                    \
          "  ret\n"                                  \
          "  .cfi_endproc\n"                         \
          ".size " #name ", .-" #name "\n")

// --- live registers --------------------------------------------------------------------------------------------------

// Reads of live arm64 registers.

/// Indices in lt_snapshot_thread.registers are the numbers of x0 to x30.

/// Reads the registers that calls preserve, as the start of an unwind. The unwind starts in the function that this is
/// inlined into. x29 must point to that function's frame.
static LT_ALWAYS_INLINE void lt_read_registers(struct lt_registers *registers) {
  memset(registers, 0, sizeof *registers);
  uint64_t here, stack;
  __asm__ volatile("stp x19, x20, [%2]\n\t"
                   "stp x21, x22, [%2, #16]\n\t"
                   "stp x23, x24, [%2, #32]\n\t"
                   "stp x25, x26, [%2, #48]\n\t"
                   "stp x27, x28, [%2, #64]\n\t"
                   "mov %0, sp\n\t"
                   "adr %1, ."
                   : "=&r"(stack), "=&r"(here)
                   : "r"(&registers->value[LT_REG_X19])
                   : "memory");
  registers->value[LT_REG_X29] = (uint64_t)__builtin_frame_address(0);
  registers->value[LT_REG_SP] = stack;
  registers->value[LT_REG_PC] = here;
}

/// Reads LT_REG_CONTEXT, and returns in `here` an address in the function that this is inlined into.
static LT_ALWAYS_INLINE void lt_read_context_register(uint64_t *value, uintptr_t *here) {
  __asm__ volatile("mov %0, x22\n\tadr %1, ." : "=&r"(*value), "=&r"(*here));
}

/// Reads the registers that calls preserve, and the stack pointer.
static LT_ALWAYS_INLINE void lt_describe_here(struct lt_snapshot_thread *thread) {
  uint64_t stack;
  __asm__ volatile("stp x19, x20, [%1]\n\t"
                   "stp x21, x22, [%1, #16]\n\t"
                   "stp x23, x24, [%1, #32]\n\t"
                   "stp x25, x26, [%1, #48]\n\t"
                   "stp x27, x28, [%1, #64]\n\t"
                   "str x29, [%1, #80]\n\t"
                   "mov %0, sp"
                   : "=&r"(stack)
                   : "r"(&thread->registers[LT_REG_X19])
                   : "memory");
  thread->stackPointer = stack;
}

static LT_ALWAYS_INLINE void lt_forget_scratch(void) {
  __asm__ volatile("mov x9, xzr\n\tmov x10, xzr\n\tmov x11, xzr\n\tmov x12, xzr\n\tmov x13, xzr\n\tmov x14, xzr\n\t"
                   "mov x15, xzr" ::
                       : "x9", "x10", "x11", "x12", "x13", "x14", "x15");
}

enum { LT_CONTEXT_REFUGES = 10 };
enum { LT_LOSES_FIRST_ARGUMENT = true };

/// Number of registers that calls preserve which the recorder's functions push right below the two words of their
/// frame. On this processor they lie above these words.
enum { LT_SAVED_REGISTERS = 0 };

#endif
