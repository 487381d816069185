// A stopped thread's registers and system calls, on arm64.

#if defined(__linux__) && defined(__aarch64__)

#define _GNU_SOURCE
#include "interrupted_calls.h"
#include "processor/processor.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <linux/futex.h>
#include <stdio.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { CALL_NUMBER = 8, TIMER_ABSOLUTE = 1, STATUS_SIZE = 4096, LINE_SIZE = 256, PATH_SIZE = 64 };
enum : uint32_t {
  CALL_INSTRUCTION = 0xD4000001, // svc #0
  RETURN_INSTRUCTION = 0xD65F03C0,
  LANDING_PAD = 0xD503245F,  // bti c
  READ_POINTER = 0xD53BD041, // mrs x1, tpidr_el0
  ADD_POINTER = 0x8B000020,  // add x0, x1, x0
  PAGE_OF = 0x90000000,      // adrp x0, …
  PAGE_OF_MASK = 0x9F00001F,
  LOAD = 0xF9400000, // ldr x0, [x0, #…]
  LOAD_MASK = 0xFFC003FF,
};
// --- registers -------------------------------------------------------------------------------------------------------

bool lt_transfer_registers(long request, pid_t thread, unsigned set, void *data, size_t size) {
  struct iovec room = {data, size};
  return ptrace(request, thread, set, &room) == 0 && room.iov_len == size;
}

int lt_registers_read(pid_t thread, struct lt_thread_registers *registers) {
  struct iovec room = {&registers->kernel, sizeof registers->kernel};
  if (ptrace(PTRACE_GETREGSET, thread, NT_PRSTATUS, &room) != 0) return -errno;
  // The set of 32-bit code is smaller.
  return room.iov_len == sizeof registers->kernel ? 0 : LT_COPY_OTHER_MACHINE;
}

int lt_registers_write(pid_t thread, const struct lt_thread_registers *registers) {
  struct lt_thread_registers copy = *registers;
  return lt_transfer_registers(PTRACE_SETREGSET, thread, NT_PRSTATUS, &copy.kernel, sizeof copy.kernel) ? 0 : -errno;
}

uint64_t lt_registers_program_counter(const struct lt_thread_registers *registers) { return registers->kernel.pc; }

uint64_t lt_registers_stack_pointer(const struct lt_thread_registers *registers) { return registers->kernel.sp; }

// --- a thread's own system call --------------------------------------------------------------------------------------

// Before a tracer sees a stop, the kernel has prepared the restart of an interrupted call. It has restored x0, and
// moved pc back to the call's instruction. The result is not visible. A call that ended with EINTR is not restarted: pc
// is after the instruction, and the result has replaced the first argument. The number stays in x8 (Linux 6.12,
// arch/arm64/kernel/signal.c, do_signal).
//
// A thread can have the same registers without such a call. It may be about to make the call, or it may just have
// returned from a handler. So a call counts as interrupted only if the thread slept in it before it was asked to stop.

/// A call that a thread slept in before it was asked to stop.
struct own_call {
  pid_t thread; ///< 0 if nothing is noted
  long number;
  uint64_t firstArgument;
  uint64_t stackPointer, programCounter; ///< the program counter is after the instruction
};

/// The notes of threads, by number. If two threads have the same place, only the last note is kept.
static struct own_call notes[1 << 16];

static struct own_call *place_of(pid_t thread) { return &notes[(size_t)thread % (sizeof notes / sizeof *notes)]; }

void lt_own_call_note(pid_t thread) {
  char path[PATH_SIZE], text[LINE_SIZE];
  struct own_call *note = place_of(thread);
  *note = (struct own_call){0};
  snprintf(path, sizeof path, "/proc/%d/syscall", thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return;
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  // The number, six arguments, the stack pointer and the program counter; or only "running".
  struct own_call seen = {.thread = thread};
  if (sscanf(text, "%ld %" SCNx64 " %*x %*x %*x %*x %*x %" SCNx64 " %" SCNx64, &seen.number, &seen.firstArgument,
             &seen.stackPointer, &seen.programCounter) == 4 &&
      seen.number >= 0)
    *note = seen;
}

void lt_own_call_forget(pid_t thread) { *place_of(thread) = (struct own_call){0}; }

/// Returns the note of a thread whose registers are `r`, if the thread is still in the noted call, or at its end.
static const struct own_call *interrupted_call(pid_t thread, const struct user_regs_struct *r) {
  const struct own_call *note = place_of(thread);
  bool isSame = note->thread == thread && note->stackPointer == r->sp &&
                (note->programCounter == r->pc || note->programCounter == r->pc + LT_CALL_SIZE);
  return isSame && note->number == (long)r->regs[CALL_NUMBER] ? note : NULL;
}

/// True if the kernel keeps the remaining time of an interrupted call, and continues it by another call
/// (ERESTART_RESTARTBLOCK).
static bool keeps_time(const struct user_regs_struct *r) {
  switch (r->regs[CALL_NUMBER]) {
    case SYS_restart_syscall:
    case SYS_nanosleep: return true;
    case SYS_clock_nanosleep: return !(r->regs[1] & TIMER_ABSOLUTE);
    case SYS_futex: {
      uint64_t command = r->regs[1] & FUTEX_CMD_MASK;
      return (command == FUTEX_WAIT || command == FUTEX_WAIT_BITSET) && r->regs[3] != 0;
    }
    default: return false;
  }
}

/// True if a signal is pending that the thread does not block. Also true if that is unknown.
static bool has_signal(pid_t thread) {
  char path[PATH_SIZE], text[STATUS_SIZE];
  snprintf(path, sizeof path, "/proc/%d/status", thread);
  int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return true;
  ssize_t size = read(file, text, sizeof text - 1);
  close(file);
  text[size > 0 ? size : 0] = 0;
  uint64_t own, shared, blocked;
  const char *line = strstr(text, "\nSigPnd:");
  if (line == NULL ||
      sscanf(line, " SigPnd: %" SCNx64 " ShdPnd: %" SCNx64 " SigBlk: %" SCNx64, &own, &shared, &blocked) != 3)
    return true;
  return ((own | shared) & ~blocked) != 0;
}

bool lt_rewind_own_call(pid_t thread, struct user_regs_struct *r) {
  const struct own_call *note = interrupted_call(thread, r);
  if (note == NULL || note->programCounter != r->pc || (int64_t)r->regs[0] != -EINTR ||
      !lt_call_is_repeatable(note->number))
    return false;
  r->pc -= LT_CALL_SIZE;
  r->regs[0] = note->firstArgument;
  return true;
}

void lt_own_call_repeat(pid_t thread) {
  struct lt_thread_registers registers;
  if (lt_registers_read(thread, &registers) != 0) return;
  const struct lt_thread_registers before = registers;
  if (!lt_rewind_own_call(thread, &registers.kernel) || lt_registers_write(thread, &registers) != 0) return;
  // A handler would run before the repeated call, which would then wait again. The program may rely on EINTR here.
  if (has_signal(thread)) lt_registers_write(thread, &before);
}

void lt_registers_resume_own_call(pid_t thread, struct lt_thread_registers *registers) {
  struct user_regs_struct *r = &registers->kernel;
  const struct own_call *note = interrupted_call(thread, r);
  if (note == NULL || note->programCounter != r->pc + LT_CALL_SIZE || !keeps_time(r)) return;
  r->regs[CALL_NUMBER] = SYS_restart_syscall; // as the kernel would do
}

void lt_registers_describe(pid_t thread, const struct lt_thread_registers *registers, struct lt_copied_thread *note) {
  const struct user_regs_struct *r = &registers->kernel;
  const struct own_call *seen = interrupted_call(thread, r);
  uint64_t threadPointer = 0;
  lt_transfer_registers(PTRACE_GETREGSET, thread, NT_ARM_TLS, &threadPointer, sizeof threadPointer);
  _Static_assert(sizeof note->general == sizeof r->regs + sizeof r->sp, "the registers of this processor");
  memcpy(note->general, r->regs, sizeof r->regs);
  note->general[LT_GENERAL_REGISTERS - 1] = r->sp;
  note->programCounter = r->pc;
  note->stackPointer = r->sp;
  note->threadPointer = threadPointer;
  note->call = -1;
  note->callInstruction = 0;
  note->result = (int64_t)r->regs[0];
  note->firstArgument = r->regs[0];
  note->state = LT_THREAD_COMPUTING;
  if (lt_is_call_instruction(thread, r->pc)) {
    // The kernel will restart the call.
    note->callInstruction = r->pc;
    note->result = seen && keeps_time(r) ? -LT_RESTART_BLOCK : -LT_RESTART_NO_HANDLER;
  } else if (lt_is_call_instruction(thread, r->pc - LT_CALL_SIZE)) {
    note->callInstruction = r->pc - LT_CALL_SIZE;
    note->firstArgument = seen ? seen->firstArgument : LT_UNKNOWN_ARGUMENT;
  }
  if (note->callInstruction == 0) return;
  note->call = (int64_t)r->regs[CALL_NUMBER];
  note->state = LT_THREAD_IN_CALL;
}

// --- calls for the tracer --------------------------------------------------------------------------------------------

static bool set_call_number(pid_t thread, int number) {
  return lt_transfer_registers(PTRACE_SETREGSET, thread, NT_ARM_SYSTEM_CALL, &number, sizeof number);
}

void lt_registers_set_call(struct lt_thread_registers *registers, uint64_t instruction, long number,
                           const uint64_t arguments[LT_CALL_ARGUMENTS]) {
  struct user_regs_struct *r = &registers->kernel;
  r->pc = instruction;
  r->pstate &= ~LT_UNEXPECTED_STATE;
  r->regs[CALL_NUMBER] = (uint64_t)number;
  memcpy(r->regs, arguments, LT_CALL_ARGUMENTS * sizeof *arguments);
}

/// If the instruction is the one of the thread's own call, the kernel may have replaced the number to continue a wait.
void lt_entered_call_confirm(pid_t thread, long number) { set_call_number(thread, (int)number); }

void lt_entered_call_skip(pid_t thread) { set_call_number(thread, -1); }

int64_t lt_registers_result(const struct lt_thread_registers *registers) { return (int64_t)registers->kernel.regs[0]; }

void lt_arrange_clone(uint64_t arguments[LT_CALL_ARGUMENTS], uint64_t flags, uint64_t stack, uint64_t threadWord,
                      uint64_t threadPointer) {
  const uint64_t arranged[LT_CALL_ARGUMENTS] = {flags, stack, threadWord, threadPointer, threadWord};
  memcpy(arguments, arranged, sizeof arranged);
}

// --- code ------------------------------------------------------------------------------------------------------------

static uint32_t instruction_at(const unsigned char *code) {
  uint32_t instruction;
  memcpy(&instruction, code, sizeof instruction);
  return instruction;
}

bool lt_is_call_instruction(pid_t thread, uint64_t address) {
  if (address % LT_CALL_SIZE != 0) return false;
  // A word of this size never extends into the next page.
  uint64_t word = address & ~(sizeof(long) - 1);
  errno = 0;
  long found = ptrace(PTRACE_PEEKTEXT, thread, word, 0);
  return errno == 0 && instruction_at((const unsigned char *)&found + (address - word)) == CALL_INSTRUCTION;
}

static size_t first_in(const unsigned char *code, size_t size, uint32_t instruction) {
  for (size_t at = 0; at + sizeof instruction <= size; at += sizeof instruction)
    if (instruction_at(code + at) == instruction) return at;
  return size;
}

size_t lt_first_call_in(const unsigned char *code, size_t size) { return first_in(code, size, CALL_INSTRUCTION); }

size_t lt_last_call_in(const unsigned char *code, size_t size) {
  for (size_t end = size & ~(size_t)(LT_CALL_SIZE - 1); end > 0; end -= LT_CALL_SIZE)
    if (instruction_at(code + end - LT_CALL_SIZE) == CALL_INSTRUCTION) return end - LT_CALL_SIZE;
  return size;
}

size_t lt_first_return_in(const unsigned char *code, size_t size) { return first_in(code, size, RETURN_INSTRUCTION); }

/// The code is `adrp x0, page; ldr x0, [x0, #offset]; mrs x1, tpidr_el0; add x0, x1, x0; ret`, in some builds after
/// `bti c`.
uint64_t lt_error_offset_slot(const unsigned char *code, size_t size, uint64_t address) {
  enum { INSTRUCTIONS = 5, PAGE_BITS = 12 };
  size_t at = size >= sizeof(uint32_t) && instruction_at(code) == LANDING_PAD ? sizeof(uint32_t) : 0;
  if (size < at + INSTRUCTIONS * sizeof(uint32_t)) return 0;
  uint32_t words[INSTRUCTIONS];
  memcpy(words, code + at, sizeof words);
  if ((words[0] & PAGE_OF_MASK) != PAGE_OF || (words[1] & LOAD_MASK) != LOAD || words[2] != READ_POINTER ||
      words[3] != ADD_POINTER || words[4] != RETURN_INSTRUCTION)
    return 0;
  // 19 high bits and 2 low bits make a signed distance in pages of 4 KiB.
  int64_t pages = (int32_t)((words[0] >> 5 & 0x7FFFF) << 13) >> 11 | (words[0] >> 29 & 3);
  uint64_t page = (address + at) >> PAGE_BITS << PAGE_BITS;
  return page + ((uint64_t)pages << PAGE_BITS) + (words[1] >> 10 & 0xFFF) * sizeof(uint64_t);
}

#endif
