// The generic timer, faults, and the registers of a thread as the kernel or the unwinder reports them.

#ifdef __aarch64__

#define _GNU_SOURCE
#include "arch/arch.h"
#include "interrupted_calls.h"

#include <elf.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <sys/user.h>

// --- clock -----------------------------------------------------------------------------------------------------------

// The generic timer, whose counter every arm64 processor has. All cores read the same count (Arm Architecture Reference
// Manual, "The Generic Timer").

bool lt_may_ask_processor(void) {
  int counter = PR_TSC_ENABLE;
  lt_syscall(SYS_prctl, PR_GET_TSC, &counter, 0); // fails before Linux 6.12, where no program can forbid the counter
  return counter == PR_TSC_ENABLE;
}

bool lt_makes_identification_fail(long number, long option, long argument) {
  (void)number, (void)option, (void)argument;
  return false;
}

bool lt_ticks_are_invariant(void) { return true; }

bool lt_is_tick_clock(const char *clockSource) { return strncmp(clockSource, "arch_sys_counter", 16) == 0; }

uint64_t lt_nominal_tick_rate(void) {
  uint64_t rate;
  __asm__("mrs %0, cntfrq_el0" : "=r"(rate));
  return rate << LT_TICK_SHIFT;
}

// --- pages -----------------------------------------------------------------------------------------------------------

// The size of a page is a setting of the kernel's build (Linux, Documentation/arch/arm64/memory.rst).

_Atomic size_t lt_known_page_size;

/// True if the kernel accepts `size` as the address of a page. The call does nothing: it protects no bytes of memory.
static bool is_page_address(size_t size) { return lt_syscall(SYS_mprotect, size, 0, PROT_NONE) == 0; }

size_t lt_find_page_size(void) {
  enum { SMALL = 4 << 10, MIDDLE = 16 << 10 };
  size_t size = getauxval(AT_PAGESZ);
  // The program may define getauxval itself, with a wrong result.
  if (size != SMALL && size != MIDDLE && size != LT_PAGE_LIMIT)
    size = is_page_address(SMALL) ? SMALL : is_page_address(MIDDLE) ? MIDDLE : LT_PAGE_LIMIT;
  __atomic_store_n((size_t *)&lt_known_page_size, size, __ATOMIC_RELAXED);
  return size;
}

// --- faults ----------------------------------------------------------------------------------------------------------

// Lets a copy of the process read pages whose access raises signals.

__attribute__((naked)) void lt_signal_return(void) {
  __asm__("mov x8, %[number]\n"
          "svc #0\n"
          "brk #1\n" ::[number] "i"(SYS_rt_sigreturn));
}

void lt_allow_protected_memory(void) {
  // A word's address here has no tag, though its memory may have one (Linux, arch/arm64/memory-tagging-extension).
  enum { SET_TAGGED = 55, GET_TAGGED = 56, CHECKS = 3 << 1 };
  long setting = lt_syscall(SYS_prctl, GET_TAGGED, 0, 0);
  if (setting > 0 && setting & CHECKS) lt_syscall(SYS_prctl, SET_TAGGED, setting & ~(long)CHECKS, 0);
}

// --- registers -------------------------------------------------------------------------------------------------------

// The registers of a thread as the kernel or the unwinder reports them.

const uint8_t lt_context_refuges[LT_CONTEXT_REFUGES] = {20, 19, 21, 23, 24, 25, 26, 27, 28, 29};

enum { GENERAL_REGISTERS = 31 };

void lt_describe_interrupted(struct lt_snapshot_thread *thread, const ucontext_t *interrupted) {
  for (unsigned i = 0; i < GENERAL_REGISTERS; i++) thread->registers[i] = interrupted->uc_mcontext.regs[i];
  thread->stackPointer = interrupted->uc_mcontext.sp - LT_RED_ZONE;
  thread->instructionPointer = interrupted->uc_mcontext.pc;
}

void lt_describe_frame(struct lt_snapshot_thread *thread, const struct lt_registers *registers) {
  for (int i = LT_REG_X19; i <= LT_REG_X29; i++) thread->registers[i] = registers->value[i];
  thread->stackPointer = registers->value[LT_REG_SP];
  thread->instructionPointer = registers->value[LT_REG_PC];
}

/// Reads or writes one of the kernel's sets of a stopped thread's registers. False if the kernel refuses.
static bool transfer(long request, pid_t thread, unsigned set, void *data, size_t size) {
  struct iovec room = {data, size};
  return lt_syscall6(SYS_ptrace, request, thread, set, (long)&room, 0, 0) == 0 && room.iov_len == size;
}

// Before a tracer sees a stop, the kernel has already prepared the restart of an interrupted call: it has restored x0,
// and moved pc back to the call's instruction. A call that ended with EINTR is not restarted. Its result has replaced
// the first argument (Linux 6.12, arch/arm64/kernel/signal.c, do_signal). The number of a call stays in x8. The
// thread's code is in this process, so it can be read in place.

enum { CALL_SIZE = 4 };

/// True if the instruction at an address is SVC #0. Threads execute code near the address.
static bool is_call(uint64_t address) {
  enum : uint32_t { SUPERVISOR_CALL = 0xD4000001 };
  uint32_t instruction;
  if (address < CALL_SIZE || address % CALL_SIZE) return false;
  memcpy(&instruction, (const void *)address, sizeof instruction);
  return instruction == SUPERVISOR_CALL;
}

static bool read_registers(pid_t thread, struct user_regs_struct *r) {
  return transfer(PTRACE_GETREGSET, thread, NT_PRSTATUS, r, sizeof *r);
}

static bool write_registers(pid_t thread, struct user_regs_struct *r) {
  return transfer(PTRACE_SETREGSET, thread, NT_PRSTATUS, r, sizeof *r);
}

bool lt_stopped_thread_read(pid_t thread, struct lt_stopped_thread *stopped) {
  struct user_regs_struct r;
  uint64_t threadPointer = 0;
  if (!read_registers(thread, &r) ||
      !transfer(PTRACE_GETREGSET, thread, NT_ARM_TLS, &threadPointer, sizeof threadPointer))
    return false;
  *stopped = (struct lt_stopped_thread){
      .stackPointer = r.sp, .threadPointer = threadPointer, .instructionPointer = r.pc, .call = -1};
  for (unsigned i = 0; i < GENERAL_REGISTERS; i++) stopped->registers[i] = r.regs[i];
  if (is_call(r.pc)) {
    stopped->call = (long)r.regs[8];
    stopped->result = -LT_RESTART_NO_HANDLER;
  } else if (is_call(r.pc - CALL_SIZE)) {
    stopped->call = (long)r.regs[8];
    stopped->result = (long)r.regs[0];
  }
  return true;
}

bool lt_stopped_thread_argument(pid_t thread, unsigned number, uint64_t *value) {
  struct user_regs_struct r;
  if (!read_registers(thread, &r)) return false;
  *value = r.regs[number];
  return true;
}

bool lt_stopped_thread_set_argument(pid_t thread, unsigned number, uint64_t value) {
  struct user_regs_struct r;
  if (!read_registers(thread, &r)) return false;
  r.regs[number] = value;
  return write_registers(thread, &r);
}

void lt_stopped_thread_set_result(pid_t thread, long result) {
  struct user_regs_struct r;
  if (!read_registers(thread, &r)) return;
  if (is_call(r.pc)) r.pc += CALL_SIZE;
  r.regs[0] = (uint64_t)result;
  write_registers(thread, &r);
}

void lt_stopped_thread_repeat(pid_t thread, uint64_t firstArgument) {
  struct user_regs_struct r;
  if (!read_registers(thread, &r) || !is_call(r.pc - CALL_SIZE)) return;
  r.pc -= CALL_SIZE;
  r.regs[0] = firstArgument;
  write_registers(thread, &r);
}

#endif
