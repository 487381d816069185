// Functions in assembly, and reads of live x86-64 registers.

#ifndef LEAKTRACE_X86_64_ASSEMBLY_H
#define LEAKTRACE_X86_64_ASSEMBLY_H

#include "CTraceFormat.h"
#include "arch/unwind_row.h"
#include "arch/x86_64/instructions.h"

#include <string.h>

// --- functions -------------------------------------------------------------------------------------------------------

// The macros that arch.h describes.

enum { LT_INITIALIZER_ENTRY_SIZE = 16 };

#define LT_DEFINE_INITIALIZER_ENTRIES(entries, count, reached)           \
  extern const uint8_t entries[] __attribute__((visibility("hidden")));  \
  __asm__(".text\n"                                                      \
          ".p2align 4\n"                                                 \
          ".hidden " #entries "\n"                                       \
          ".globl " #entries "\n" #entries ":\n"                         \
          ".rept " #count "\n"                                           \
          "  .p2align 4\n"                                               \
          "  leaq (%rip), %rax\n"                                        \
          "  jmp " #entries "_common\n"                                  \
          ".endr\n"                                                      \
          ".p2align 4\n"                                                 \
          ".type " #entries "_common, @function\n" #entries "_common:\n" \
          "  .cfi_startproc\n"                                           \
          "  pushq %rdi\n"                                               \
          "  .cfi_adjust_cfa_offset 8\n"                                 \
          "  pushq %rsi\n"                                               \
          "  .cfi_adjust_cfa_offset 8\n"                                 \
          "  pushq %rdx\n"                                               \
          "  .cfi_adjust_cfa_offset 8\n"                                 \
          "  movq %rax, %rdi\n"                                          \
          "  call " #reached "\n"                                        \
          "  popq %rdx\n"                                                \
          "  .cfi_adjust_cfa_offset -8\n"                                \
          "  popq %rsi\n"                                                \
          "  .cfi_adjust_cfa_offset -8\n"                                \
          "  popq %rdi\n"                                                \
          "  .cfi_adjust_cfa_offset -8\n"                                \
          "  testq %rax, %rax\n"                                         \
          "  jz 1f\n"                                                    \
          "  jmp *%rax\n"                                                \
          "1: ret\n"                                                     \
          "  .cfi_endproc\n"                                             \
          ".size " #entries "_common, .-" #entries "_common\n")

#define LT_DEFINE_UNNOTICED_CALL(name, function)                                                                     \
  void name(void) __attribute__((visibility("hidden")));                                                             \
  __asm__(".text\n"                                                                                                  \
          ".p2align 4\n"                                                                                             \
          ".hidden " #name "\n"                                                                                      \
          ".globl " #name "\n"                                                                                       \
          ".type " #name ", @function\n" #name ":\n"                                                                 \
          "  .cfi_startproc\n"                                                                                       \
          "  pushq %rbp\n"                                                                                           \
          "  .cfi_def_cfa_offset 16\n"                                                                               \
          "  .cfi_offset 6, -16\n"                                                                                   \
          "  movq %rsp, %rbp\n"                                                                                      \
          "  .cfi_def_cfa_register 6\n"                                                                              \
          "  pushq %rax\n  pushq %rcx\n  pushq %rdx\n  pushq %rsi\n  pushq %rdi\n  pushq %r8\n  pushq %r9\n  pushq " \
          "%r10\n  pushq %r11\n"                                                                                     \
          "  andq $-16, %rsp\n"                                                                                      \
          "  call " #function "\n"                                                                                   \
          "  leaq -72(%rbp), %rsp\n"                                                                                 \
          "  popq %r11\n  popq %r10\n  popq %r9\n  popq %r8\n  popq %rdi\n  popq %rsi\n  popq %rdx\n  popq %rcx\n  " \
          "popq %rax\n"                                                                                              \
          "  popq %rbp\n"                                                                                            \
          "  .cfi_def_cfa 7, 8\n"                                                                                    \
          "  ret\n"                                                                                                  \
          "  .cfi_endproc\n"                                                                                         \
          ".size " #name ", .-" #name "\n")

/// Defines `name`, which replaces a retain function that the runtime's adapter calls. The adapter clears the marks of
/// the reference in rdi, and keeps the unchanged reference in rbx. `name` calls `counted` if the unchanged reference is
/// positive, so it is a pointer.
#define LT_DEFINE_RETAIN_FROM_ADAPTER(name, counted) \
  void *name(void *object);                          \
  __asm__(".text\n"                                  \
          ".hidden " #name "\n"                      \
          ".globl " #name "\n"                       \
          ".type " #name ", @function\n" #name ":\n" \
          "  .cfi_startproc\n"                       \
          "  movq %rdi, %rax\n"                      \
          "  testq %rbx, %rbx\n"                     \
          "  jg " #counted "\n"                      \
          "  ret\n"                                  \
          "  .cfi_endproc\n"                         \
          ".size " #name ", .-" #name "\n")

// --- live registers --------------------------------------------------------------------------------------------------

// Reads of live x86-64 registers.

/// Indices in lt_snapshot_thread.registers: rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15.
enum {
  LT_SNAPSHOT_RBX = 1,
  LT_SNAPSHOT_RBP = 6,
  LT_SNAPSHOT_R8 = 7,
  LT_SNAPSHOT_R12 = 11,
  LT_SNAPSHOT_R13 = 12,
  LT_SNAPSHOT_R14 = 13,
  LT_SNAPSHOT_R15 = 14
};

/// Reads the registers that calls preserve, as the start of an unwind. The unwind starts in the function that this is
/// inlined into. rbp must point to that function's frame.
static LT_ALWAYS_INLINE void lt_read_registers(struct lt_registers *registers) {
  memset(registers, 0, sizeof *registers);
  uint64_t rbx, r12, r13, r14, r15, here;
  __asm__ volatile(
      "movq %%rbx, %0\n\tmovq %%r12, %1\n\tmovq %%r13, %2\n\tmovq %%r14, %3\n\tmovq %%r15, %4\n\tleaq (%%rip), %5"
      : "=m"(rbx), "=m"(r12), "=m"(r13), "=m"(r14), "=m"(r15), "=r"(here));
  registers->value[LT_REG_RBX] = rbx;
  registers->value[LT_REG_R12] = r12;
  registers->value[LT_REG_R13] = r13;
  registers->value[LT_REG_R14] = r14;
  registers->value[LT_REG_R15] = r15;
  registers->value[LT_REG_RBP] = (uint64_t)__builtin_frame_address(0);
  registers->value[LT_REG_RSP] = (uint64_t)__builtin_frame_address(0);
  registers->value[LT_REG_PC] = here;
}

/// Reads LT_REG_CONTEXT, and returns in `here` an address in the function that this is inlined into.
static LT_ALWAYS_INLINE void lt_read_context_register(uint64_t *value, uintptr_t *here) {
  __asm__ volatile("movq %%r14, %0\n\tleaq (%%rip), %1" : "=&r"(*value), "=&r"(*here));
}

/// Reads the registers that calls preserve, and the stack pointer minus the red zone, which may be in use.
static LT_ALWAYS_INLINE void lt_describe_here(struct lt_snapshot_thread *thread) {
  uint64_t *r = thread->registers;
  __asm__("movq %%rbx, %0\n\tmovq %%rbp, %1\n\tmovq %%r12, %2\n\tmovq %%r13, %3\n\tmovq %%r14, %4\n\tmovq %%r15, "
          "%5\n\tmovq %%rsp, %6"
          : "=m"(r[LT_SNAPSHOT_RBX]), "=m"(r[LT_SNAPSHOT_RBP]), "=m"(r[LT_SNAPSHOT_R12]), "=m"(r[LT_SNAPSHOT_R13]),
            "=m"(r[LT_SNAPSHOT_R14]), "=m"(r[LT_SNAPSHOT_R15]), "=m"(thread->stackPointer));
  thread->stackPointer -= LT_RED_ZONE;
}

static LT_ALWAYS_INLINE void lt_forget_scratch(void) {
  __asm__ volatile("xorl %%r10d, %%r10d\n\txorl %%r11d, %%r11d" ::: "r10", "r11", "cc");
}

enum { LT_CONTEXT_REFUGES = 5 };
enum { LT_LOSES_FIRST_ARGUMENT = false };

/// Number of registers that calls preserve. The recorder's functions push them right below the two words of their
/// frame.
enum { LT_SAVED_REGISTERS = 5 };

#endif
