// A stopped thread's registers and system calls, on x86-64.

#if defined(__linux__) && defined(__x86_64__)

#define _GNU_SOURCE
#include "interrupted_calls.h"
#include "processor/processor.h"

#include <errno.h>
#include <string.h>
#include <sys/ptrace.h>

enum {
  CODE_SEGMENT_32_BIT = 0x23, // __USER32_CS
  CALL_INSTRUCTION = 0x050F,
  RETURN_INSTRUCTION = 0xC3,
};

// --- registers -------------------------------------------------------------------------------------------------------

int lt_registers_read(pid_t thread, struct lt_thread_registers *registers) {
  if (ptrace(PTRACE_GETREGS, thread, 0, &registers->kernel) != 0) return -errno;
  return registers->kernel.cs == CODE_SEGMENT_32_BIT ? LT_COPY_OTHER_MACHINE : 0;
}

int lt_registers_write(pid_t thread, const struct lt_thread_registers *registers) {
  return ptrace(PTRACE_SETREGS, thread, 0, &registers->kernel) != 0 ? -errno : 0;
}

uint64_t lt_registers_program_counter(const struct lt_thread_registers *registers) { return registers->kernel.rip; }

uint64_t lt_registers_stack_pointer(const struct lt_thread_registers *registers) { return registers->kernel.rsp; }

void lt_registers_describe(pid_t thread, const struct lt_thread_registers *registers, struct lt_copied_thread *note) {
  (void)thread;
  const struct user_regs_struct *r = &registers->kernel;
  const uint64_t general[] = {r->rax, r->rdx, r->rcx, r->rbx, r->rsi, r->rdi, r->rbp, r->rsp,
                              r->r8,  r->r9,  r->r10, r->r11, r->r12, r->r13, r->r14, r->r15};
  _Static_assert(sizeof general == sizeof note->general, "the registers of this processor");
  memcpy(note->general, general, sizeof general);
  note->programCounter = r->rip;
  note->stackPointer = r->rsp;
  note->threadPointer = r->fs_base;
  note->call = (int64_t)r->orig_rax < 0 ? -1 : (int64_t)r->orig_rax;
  note->callInstruction = note->call < 0 ? 0 : r->rip - LT_CALL_SIZE;
  note->result = (int64_t)r->rax;
  note->firstArgument = r->rdi;
  note->state = note->call < 0 ? LT_THREAD_COMPUTING : LT_THREAD_IN_CALL;
}

// --- a thread's own system call --------------------------------------------------------------------------------------

// The kernel keeps the number of an interrupted call and all of its arguments. It prepares the restart only after the
// stop.

void lt_own_call_note(pid_t thread) { (void)thread; }

void lt_own_call_forget(pid_t thread) { (void)thread; }

void lt_own_call_repeat(pid_t thread) {
  struct lt_thread_registers registers;
  if (lt_registers_read(thread, &registers) != 0 || (long)registers.kernel.rax != -EINTR ||
      !lt_call_is_repeatable((long)registers.kernel.orig_rax))
    return;
  registers.kernel.rax = (unsigned long)-(long)LT_RESTART_NO_HANDLER;
  lt_registers_write(thread, &registers);
}

void lt_registers_resume_own_call(pid_t thread, struct lt_thread_registers *registers) {
  (void)thread, (void)registers;
}

// --- calls for the tracer --------------------------------------------------------------------------------------------

void lt_registers_set_call(struct lt_thread_registers *registers, uint64_t instruction, long number,
                           const uint64_t arguments[LT_CALL_ARGUMENTS]) {
  struct user_regs_struct *r = &registers->kernel;
  r->rip = instruction;
  r->rax = (unsigned long)number;
  r->orig_rax = ~0ull; // the kernel restarts no call
  r->rdi = arguments[0];
  r->rsi = arguments[1];
  r->rdx = arguments[2];
  r->r10 = arguments[3];
  r->r8 = arguments[4];
}

void lt_entered_call_confirm(pid_t thread, long number) { (void)thread, (void)number; }

void lt_entered_call_skip(pid_t thread) {
  struct lt_thread_registers registers;
  if (lt_registers_read(thread, &registers) != 0) return;
  registers.kernel.orig_rax = ~0ull; // without a number, the kernel makes no call
  lt_registers_write(thread, &registers);
}

int64_t lt_registers_result(const struct lt_thread_registers *registers) { return (int64_t)registers->kernel.rax; }

void lt_arrange_clone(uint64_t arguments[LT_CALL_ARGUMENTS], uint64_t flags, uint64_t stack, uint64_t threadWord,
                      uint64_t threadPointer) {
  const uint64_t arranged[LT_CALL_ARGUMENTS] = {flags, stack, threadWord, threadWord, threadPointer};
  memcpy(arguments, arranged, sizeof arranged);
}

// --- code ------------------------------------------------------------------------------------------------------------

bool lt_is_call_instruction(pid_t thread, uint64_t address) {
  errno = 0;
  long instruction = ptrace(PTRACE_PEEKTEXT, thread, address, 0);
  return errno == 0 && (instruction & 0xFFFF) == CALL_INSTRUCTION;
}

static bool is_call(const unsigned char *code) { return code[0] == 0x0F && code[1] == 0x05; }

size_t lt_first_call_in(const unsigned char *code, size_t size) {
  for (size_t at = 0; at + LT_CALL_SIZE <= size; at++)
    if (is_call(code + at)) return at;
  return size;
}

size_t lt_last_call_in(const unsigned char *code, size_t size) {
  for (size_t end = size; end >= LT_CALL_SIZE; end--)
    if (is_call(code + end - LT_CALL_SIZE)) return end - LT_CALL_SIZE;
  return size;
}

size_t lt_first_return_in(const unsigned char *code, size_t size) {
  const unsigned char *found = memchr(code, RETURN_INSTRUCTION, size);
  return found ? (size_t)(found - code) : size;
}

/// The code is `mov offset(%rip), %rax; add %fs:0, %rax; ret`, in some builds after `endbr64`.
uint64_t lt_error_offset_slot(const unsigned char *code, size_t size, uint64_t address) {
  static const unsigned char mark[] = {0xF3, 0x0F, 0x1E, 0xFA}, load[] = {0x48, 0x8B, 0x05},
                             add[] = {0x64, 0x48, 0x03, 0x04, 0x25, 0, 0, 0, 0, 0xC3};
  int32_t offset;
  if (size < sizeof mark + sizeof load + sizeof offset + sizeof add) return 0;
  size_t at = memcmp(code, mark, sizeof mark) == 0 ? sizeof mark : 0;
  size_t loaded = at + sizeof load + sizeof offset;
  if (memcmp(code + at, load, sizeof load) != 0 || memcmp(code + loaded, add, sizeof add) != 0) return 0;
  memcpy(&offset, code + at + sizeof load, sizeof offset);
  return address + loaded + (uint64_t)(int64_t)offset;
}

#endif
