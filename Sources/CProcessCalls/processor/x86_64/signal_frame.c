// The frame of a signal handler that a thread's calls return to, on x86-64. It is the kernel's struct rt_sigframe,
// which has not changed since Linux 3.9 (arch/x86/include/asm/sigframe.h, kernel/signal_64.c, kernel/fpu/signal.c).

#if defined(__linux__) && defined(__x86_64__)

#define _GNU_SOURCE
#include "interrupted_calls.h"
#include "thread_call.h"

#include <cpuid.h>
#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum {
  RED_ZONE = 128,
  STATE_ALIGNMENT = 64,
  STACK_ALIGNMENT = 16,
  DIRECTION_TRAP_ALIGNMENT = 0x400 | 0x100 | 0x40000, // flags that a function does not expect
  INITIAL_CONTROL = 0x37F,                            // of the x87 unit
  INITIAL_VECTOR_CONTROL = 0x1F80,
};

// --- the frame -------------------------------------------------------------------------------------------------------

/// Flags of the kernel's ucontext, for the parts that are present.
enum { HAS_STATE = 1, HAS_STACK_SEGMENT = 2, STRICT_STACK_SEGMENT = 4 };
/// An invalid mode of the alternate signal stack. With it, the kernel leaves the thread's alternate stack unchanged.
enum { NO_STACK_MODE = 7 };

struct saved_registers {
  uint64_t r8, r9, r10, r11, r12, r13, r14, r15, di, si, bp, bx, dx, ax, cx, sp, ip, flags;
  uint16_t cs, gs, fs, ss;
  uint64_t error, trap, oldMask, faultAddress, state, reserved[8];
};

struct frame {
  /// Return addresses. A function whose result is needed returns to the first address, other functions to the third.
  uint64_t toAskingCall, toReturn, toRestorer;
  // In the restorer, the stack pointer is the address of the next field.
  uint64_t parts, link;
  uint64_t stack;
  int32_t stackMode, stackPadding;
  uint64_t stackSize;
  struct saved_registers registers;
  uint64_t mask;
  uint64_t information[16]; ///< the kernel does not read it
};
enum { RETURN_SLOT = sizeof(uint64_t), RETURN_SLOTS = offsetof(struct frame, parts) };
_Static_assert(offsetof(struct frame, registers) - RETURN_SLOTS == 40, "the kernel's layout");
_Static_assert(sizeof(struct saved_registers) == 256, "the kernel's layout");
_Static_assert(offsetof(struct frame, mask) - RETURN_SLOTS == 296, "the kernel's layout");

/// The kernel's description of a saved state. It is in the bytes of the legacy part that are reserved for software.
struct state_note {
  uint32_t magic, size;
  uint64_t features;
  uint32_t stateSize, padding[7];
};
enum { NOTE_OFFSET = 464, FEATURES_OFFSET = 464, LEGACY_SIZE = 512, STATE_HEADER_SIZE = 64 };
enum { STATE_MAGIC = 0x46505853, STATE_END_MAGIC = 0x46505845 };
/// The matrix registers. They make the state larger only if a process has requested them.
static const uint64_t matrixFeatures = 3ull << 17;

/// Returns the size of a state with the given features.
static size_t size_of(uint64_t features) {
  size_t size = LEGACY_SIZE + STATE_HEADER_SIZE;
  for (unsigned i = 2; i < 63; i++) {
    unsigned bytes, offset, flags, unused;
    if (!(features >> i & 1)) continue;
    __cpuid_count(0xD, i, bytes, offset, flags, unused);
    if (offset + bytes > size) size = offset + bytes;
  }
  return size;
}

/// Turns a state from ptrace into a state that the kernel can restore. Returns its size; 0 if that is not possible.
static size_t note_state(unsigned char *state, size_t given) {
  uint64_t features, used;
  if (given < LEGACY_SIZE + STATE_HEADER_SIZE) return 0;
  memcpy(&features, state + FEATURES_OFFSET, sizeof features);
  memcpy(&used, state + LEGACY_SIZE, sizeof used);
  if (used & matrixFeatures) return 0;
  features &= ~matrixFeatures;
  size_t size = size_of(features);
  if (size > given) return 0;
  struct state_note note = {.magic = STATE_MAGIC,
                            .size = (uint32_t)size + sizeof(uint32_t),
                            .features = features,
                            .stateSize = (uint32_t)size};
  memcpy(state + NOTE_OFFSET, &note, sizeof note);
  const uint32_t end = STATE_END_MAGIC;
  memcpy(state + size, &end, sizeof end);
  return size + sizeof end;
}

static bool is_interrupted(const struct user_regs_struct *registers) {
  if ((long)registers->orig_rax < 0) return false;
  long result = (long)registers->rax;
  return lt_result_is_restart(result) || (result == -EINTR && lt_call_is_repeatable((long)registers->orig_rax));
}

/// Returns the registers for resuming the thread without a tracer: an interrupted system call starts over.
static struct user_regs_struct on_its_own(const struct user_regs_struct *before) {
  struct user_regs_struct registers = *before;
  if (is_interrupted(before)) {
    registers.rip -= LT_CALL_SIZE;
    registers.rax = before->orig_rax;
  }
  registers.orig_rax = ~0ull;
  return registers;
}

static void fill(struct frame *frame, const struct lt_thread_visit *visit, uint64_t state) {
  const struct user_regs_struct own = on_its_own(&visit->before.kernel);
  *frame = (struct frame){
      .toAskingCall = visit->code.call,
      .toReturn = visit->code.returning,
      .toRestorer = visit->code.restorer,
      .parts = HAS_STATE | HAS_STACK_SEGMENT | STRICT_STACK_SEGMENT,
      .stackMode = NO_STACK_MODE,
      .mask = visit->mask,
      .registers = {.r8 = own.r8,
                    .r9 = own.r9,
                    .r10 = own.r10,
                    .r11 = own.r11,
                    .r12 = own.r12,
                    .r13 = own.r13,
                    .r14 = own.r14,
                    .r15 = own.r15,
                    .di = own.rdi,
                    .si = own.rsi,
                    .bp = own.rbp,
                    .bx = own.rbx,
                    .dx = own.rdx,
                    .ax = own.rax,
                    .cx = own.rcx,
                    .sp = own.rsp,
                    .ip = own.rip,
                    .flags = own.eflags,
                    .cs = (uint16_t)own.cs,
                    .ss = (uint16_t)own.ss,
                    .state = state},
  };
}

size_t lt_visit_size(void) {
  return RED_ZONE + LT_MAX_STATE_BYTES + LT_CALL_TEXT_BYTES + sizeof(struct frame) + 2 * STATE_ALIGNMENT;
}

bool lt_frame_write(struct lt_thread_visit *visit, const void *text, size_t size) {
  struct iovec all = {visit->state, sizeof visit->state - sizeof(uint64_t)}; // leaves room for the mark at the end
  visit->stateSet = NT_X86_XSTATE;
  if (ptrace(PTRACE_GETREGSET, visit->thread, visit->stateSet, &all) != 0) return false;
  visit->stateSize = all.iov_len;
  unsigned char *piece = calloc(1, lt_visit_size());
  if (piece == NULL) return false;
  memcpy(piece, visit->state, visit->stateSize);
  size_t stateSize = note_state(piece, visit->stateSize);
  uint64_t state = (visit->before.kernel.rsp - RED_ZONE - stateSize) & ~(uint64_t)(STATE_ALIGNMENT - 1);
  visit->text = (state - size) & ~(uint64_t)(STACK_ALIGNMENT - 1);
  visit->context = (visit->text - sizeof(struct frame) + RETURN_SLOTS) & ~(uint64_t)(STACK_ALIGNMENT - 1);
  struct frame frame;
  fill(&frame, visit, state);
  bool isWritten = stateSize > 0 && lt_visit_write_memory(visit->thread, state, piece, stateSize) &&
                   lt_visit_write_memory(visit->thread, visit->text, text, size) &&
                   lt_visit_write_memory(visit->thread, visit->context - RETURN_SLOTS, &frame, sizeof frame);
  free(piece);
  return isWritten;
}

// --- a call ----------------------------------------------------------------------------------------------------------

static int begin_function(struct lt_thread_visit *visit, uint64_t stack, uint64_t function, const uint64_t *arguments) {
  struct lt_thread_registers registers = visit->before;
  struct user_regs_struct *r = &registers.kernel;
  r->orig_rax = ~0ull;
  r->rax = 0;
  r->rip = function;
  r->rsp = stack;
  r->rdi = arguments[0];
  r->rsi = arguments[1];
  r->eflags &= ~(unsigned long long)DIRECTION_TRAP_ALIGNMENT;
  if (lt_registers_write(visit->thread, &registers) != 0) return LT_VISIT_GONE;
  visit->isUnderWay = true;
  struct user_fpregs_struct floating;
  if (ptrace(PTRACE_GETFPREGS, visit->thread, 0, &floating) == 0) {
    floating.cwd = INITIAL_CONTROL;
    floating.swd = floating.ftw = 0;
    floating.mxcsr = INITIAL_VECTOR_CONTROL;
    ptrace(PTRACE_SETFPREGS, visit->thread, 0, &floating);
  }
  lt_visit_block_signals(visit);
  return LT_VISIT_DONE;
}

int lt_frame_begin_function(struct lt_thread_visit *visit, uint64_t function, const uint64_t arguments[2]) {
  return begin_function(visit, visit->context - RETURN_SLOT, function, arguments);
}

/// Writes the return addresses again, since an earlier function may have used the two words below its return address.
static bool write_return_addresses(const struct lt_thread_visit *visit) {
  const uint64_t addresses[] = {visit->code.call, visit->code.returning, visit->code.restorer};
  _Static_assert(sizeof addresses == RETURN_SLOTS, "the first words of a frame");
  return lt_visit_write_memory(visit->thread, visit->context - RETURN_SLOTS, addresses, sizeof addresses);
}

/// The function returns to a `syscall` instruction, so its result becomes the number of a call that is not made.
int lt_visit_ask(struct lt_thread_visit *visit, uint64_t function, uint64_t deadline, uint64_t *pointer) {
  if (visit->code.call == 0 || visit->code.returning == 0 || !write_return_addresses(visit)) return LT_VISIT_NOT_BEGUN;
  struct lt_thread_registers registers;
  int result = begin_function(visit, visit->context - RETURN_SLOTS, function, (uint64_t[]){0, 0});
  if (result != LT_VISIT_DONE) return result;
  visit->isAtRestorer = false;
  uint64_t stack = visit->context - RETURN_SLOTS + RETURN_SLOT;
  result = lt_visit_await_call(visit, visit->code.call + LT_CALL_SIZE, stack, deadline, &registers);
  if (result != LT_VISIT_DONE) return result;
  *pointer = registers.kernel.orig_rax;
  registers.kernel.orig_rax = ~0ull; // no call is made
  registers.kernel.rip = visit->code.restorer;
  registers.kernel.rsp = visit->context;
  if (lt_registers_write(visit->thread, &registers) != 0) return LT_VISIT_GONE;
  return lt_visit_await_restorer(visit, deadline);
}

/// If the tracer had ended before this point, the kernel would have restored the thread. The tracer restores the
/// registers instead, because the kernel would forget how long an interrupted wait has already lasted.
bool lt_frame_leave_restorer(struct lt_thread_visit *visit) {
  struct lt_thread_registers own = {on_its_own(&visit->before.kernel)};
  return lt_registers_write(visit->thread, &own) == 0 && ptrace(PTRACE_SYSCALL, visit->thread, 0, 0) == 0 &&
         lt_visit_await_any_stop(visit->thread);
}

#endif
