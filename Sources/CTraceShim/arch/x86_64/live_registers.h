// Registers of x86-64 as they are at a place in the code.

#ifndef LEAKTRACE_X86_64_LIVE_REGISTERS_H
#define LEAKTRACE_X86_64_LIVE_REGISTERS_H

#include "CTraceFormat.h"
#include "arch/unwind_row.h"
#include "arch/x86_64/processor.h"

#include <string.h>

/// Places in lt_snapshot_thread.registers: rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15.
enum {
  LT_SNAPSHOT_RBX = 1,
  LT_SNAPSHOT_RBP = 6,
  LT_SNAPSHOT_R8 = 7,
  LT_SNAPSHOT_R12 = 11,
  LT_SNAPSHOT_R13 = 12,
  LT_SNAPSHOT_R14 = 13,
  LT_SNAPSHOT_R15 = 14
};

/// Reads the registers that calls preserve, to begin unwinding in the function that this is inlined into, whose frame
/// is found by rbp.
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
  registers->value[LT_REG_RA] = here;
}

/// Reads LT_REG_CONTEXT, and an address in the function that this is inlined into.
static LT_ALWAYS_INLINE void lt_read_context_register(uint64_t *value, uintptr_t *here) {
  __asm__ volatile("movq %%r14, %0\n\tleaq (%%rip), %1" : "=&r"(*value), "=&r"(*here));
}

/// The registers that calls preserve, and the stack pointer with what may be in use below it.
static LT_ALWAYS_INLINE void lt_describe_here(struct lt_snapshot_thread *thread) {
  uint64_t *r = thread->registers;
  __asm__("movq %%rbx, %0\n\tmovq %%rbp, %1\n\tmovq %%r12, %2\n\tmovq %%r13, %3\n\tmovq %%r14, %4\n\tmovq %%r15, "
          "%5\n\tmovq %%rsp, %6"
          : "=m"(r[LT_SNAPSHOT_RBX]), "=m"(r[LT_SNAPSHOT_RBP]), "=m"(r[LT_SNAPSHOT_R12]), "=m"(r[LT_SNAPSHOT_R13]),
            "=m"(r[LT_SNAPSHOT_R14]), "=m"(r[LT_SNAPSHOT_R15]), "=m"(thread->stackPointer));
  thread->stackPointer -= LT_RED_ZONE;
}

/// Registers that calls preserve: a function of the recorder's pushes them right below its frame's two words.
enum { LT_SAVED_REGISTERS = 5 };

#endif
