// The processor's tick counter, faults, and the registers of a thread as the kernel or the unwinder reports them.

#ifdef __x86_64__

#define _GNU_SOURCE
#include "arch/arch.h"
#include "interrupted_calls.h"

#include <cpuid.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/user.h>

// --- clock -----------------------------------------------------------------------------------------------------------

// The time stamp counter.

/// Options of arch_prctl. Source: Linux, arch/x86/include/uapi/asm/prctl.h.
enum { GET_CPUID = 0x1011, SET_CPUID = 0x1012 };

bool lt_may_ask_processor(void) {
  int counter = PR_TSC_ENABLE;
  lt_syscall(SYS_prctl, PR_GET_TSC, &counter, 0);
  return counter == PR_TSC_ENABLE && lt_syscall(SYS_arch_prctl, GET_CPUID, 0, 0) != 0;
}

bool lt_makes_identification_fail(long number, long option, long argument) {
  return number == SYS_arch_prctl && option == SET_CPUID && argument == 0;
}

bool lt_ticks_are_invariant(void) {
  uint32_t eax = 0x80000007, ebx, ecx = 0, edx;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  return (edx >> 8) & 1;
}

bool lt_is_tick_clock(const char *clockSource) {
  return strncmp(clockSource, "tsc", 3) == 0 || strncmp(clockSource, "kvm-clock", 9) == 0 ||
         strncmp(clockSource, "hyperv", 6) == 0;
}

uint64_t lt_nominal_tick_rate(void) {
  uint32_t eax = 0x15, ebx, ecx = 0, edx;
  __asm__("cpuid" : "+a"(eax), "=b"(ebx), "+c"(ecx), "=d"(edx));
  if (eax == 0 || ebx == 0 || ecx == 0) return 0;
  return (uint64_t)ecx * ebx / eax;
}

// --- faults ----------------------------------------------------------------------------------------------------------

// Lets a copy of the process read pages whose access raises signals.

__attribute__((naked)) void lt_signal_return(void) {
  __asm__("movl %[number], %%eax\n"
          "syscall\n"
          "hlt\n" ::[number] "i"(SYS_rt_sigreturn));
}

void lt_allow_protected_memory(void) {
  // True if the kernel has enabled protection keys: OSPKE (Intel SDM, CPUID leaf 7).
  enum { FEATURES = 7, KEYS_ARE_ON = 1 << 4 };
  unsigned a, b, c, d;
  if (!__get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) || !(c & KEYS_ARE_ON)) return;
  // WRPKRU with 0 makes every key allow every access.
  __asm__ volatile(".byte 0x0f, 0x01, 0xef" ::"a"(0), "c"(0), "d"(0) : "memory");
}

// --- registers -------------------------------------------------------------------------------------------------------

// The registers of a thread as the kernel or the unwinder reports them.

const uint8_t lt_context_refuges[LT_CONTEXT_REFUGES] = {LT_REG_R12, LT_REG_R13, LT_REG_R15, LT_REG_RBX, LT_REG_RBP};

void lt_describe_interrupted(struct lt_snapshot_thread *thread, const ucontext_t *interrupted) {
  static const uint8_t order[] = {REG_RAX, REG_RBX, REG_RCX, REG_RDX, REG_RSI, REG_RDI, REG_RBP, REG_R8,
                                  REG_R9,  REG_R10, REG_R11, REG_R12, REG_R13, REG_R14, REG_R15};
  const greg_t *registers = interrupted->uc_mcontext.gregs;
  for (unsigned i = 0; i < sizeof order; i++) thread->registers[i] = (uint64_t)registers[order[i]];
  thread->stackPointer = (uint64_t)registers[REG_RSP] - LT_RED_ZONE;
  thread->instructionPointer = (uint64_t)registers[REG_RIP];
}

void lt_describe_frame(struct lt_snapshot_thread *thread, const struct lt_registers *registers) {
  thread->registers[LT_SNAPSHOT_RBX] = registers->value[LT_REG_RBX];
  thread->registers[LT_SNAPSHOT_RBP] = registers->value[LT_REG_RBP];
  for (int i = 0; i < 4; i++) thread->registers[LT_SNAPSHOT_R12 + i] = registers->value[LT_REG_R12 + i];
  thread->stackPointer = registers->value[LT_REG_RSP];
  thread->instructionPointer = registers->value[LT_REG_PC];
}

bool lt_stopped_thread_read(pid_t thread, struct lt_stopped_thread *stopped) {
  struct user_regs_struct r;
  if (lt_syscall6(SYS_ptrace, PTRACE_GETREGS, thread, 0, (long)&r, 0, 0) != 0) return false;
  *stopped = (struct lt_stopped_thread){.registers = {r.rax, r.rbx, r.rcx, r.rdx, r.rsi, r.rdi, r.rbp, r.r8, r.r9,
                                                      r.r10, r.r11, r.r12, r.r13, r.r14, r.r15},
                                        .stackPointer = r.rsp,
                                        .threadPointer = r.fs_base,
                                        .instructionPointer = r.rip,
                                        .call = (long)r.orig_rax,
                                        .result = (long)r.rax};
  return true;
}

/// Offsets of a system call's arguments in user_regs_struct.
static const size_t arguments[] = {offsetof(struct user_regs_struct, rdi), offsetof(struct user_regs_struct, rsi),
                                   offsetof(struct user_regs_struct, rdx), offsetof(struct user_regs_struct, r10),
                                   offsetof(struct user_regs_struct, r8),  offsetof(struct user_regs_struct, r9)};

bool lt_stopped_thread_argument(pid_t thread, unsigned number, uint64_t *value) {
  // This raw system call writes the word to `value`. The C library's ptrace would return the word instead.
  return lt_syscall6(SYS_ptrace, PTRACE_PEEKUSER, thread, (long)arguments[number], (long)value, 0, 0) == 0;
}

bool lt_stopped_thread_set_argument(pid_t thread, unsigned number, uint64_t value) {
  return lt_syscall6(SYS_ptrace, PTRACE_POKEUSER, thread, (long)arguments[number], (long)value, 0, 0) == 0;
}

void lt_stopped_thread_set_result(pid_t thread, long result) {
  lt_syscall6(SYS_ptrace, PTRACE_POKEUSER, thread, offsetof(struct user_regs_struct, rax), result, 0, 0);
}

void lt_stopped_thread_repeat(pid_t thread, uint64_t firstArgument) {
  (void)firstArgument;
  lt_stopped_thread_set_result(thread, -LT_RESTART_NO_HANDLER);
}

#endif
