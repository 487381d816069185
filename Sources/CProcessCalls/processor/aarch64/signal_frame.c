// The frame of a signal handler that a thread's calls return to, on arm64. It is the kernel's struct rt_sigframe
// (arch/arm64/kernel/signal.c, arch/arm64/include/uapi/asm/sigcontext.h).

#if defined(__linux__) && defined(__aarch64__)

#define _GNU_SOURCE
#include "thread_call.h"

#include <elf.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/uio.h>

enum {
  STACK_ALIGNMENT = 16,
  RETURN_ADDRESS = 30,
  GENERAL_REGISTERS = 31,
  VECTOR_BYTES = 512,
  RESERVED_BYTES = 4096,
  UNUSED_MASK_WORDS = 15,
  // Kinds of register sets that <elf.h> of older releases lacks.
  STREAMING_VECTORS = 0x40b, // NT_ARM_SSVE
  MATRIX = 0x40c,            // NT_ARM_ZA
  CONTROL_STACK = 0x410,     // NT_ARM_GCS
};
/// An invalid mode of the alternate signal stack. With it, the kernel leaves the thread's alternate stack unchanged.
enum { NO_STACK_MODE = 7 };

struct record {
  uint32_t magic, size;
};
enum : uint32_t { VECTORS_MAGIC = 0x46508001, SCALABLE_MAGIC = 0x53564501 };

/// The vector registers. Every frame has this record.
struct vectors_record {
  struct record head;
  uint32_t status, control;
  unsigned char values[VECTOR_BYTES];
};

/// The set NT_PRFPREG.
struct vectors {
  unsigned char values[VECTOR_BYTES];
  uint32_t status, control, reserved[2];
};

/// The start of the set NT_ARM_SVE, and of similar sets. The registers follow it in the order that a frame has, too.
struct scalable {
  uint32_t size, maxSize;
  uint16_t length, maxLength, flags, reserved;
};
enum { IS_SCALABLE = 1 };

/// The record of the scalable vector registers. The registers follow it.
struct scalable_record {
  struct record head;
  uint16_t length, flags, reserved[2];
};

struct frame {
  uint8_t information[128]; ///< the kernel does not read it
  uint64_t flags, link;
  uint64_t stack;
  int32_t stackMode, stackPadding;
  uint64_t stackSize;
  uint64_t mask, unusedMask[UNUSED_MASK_WORDS], padding;
  uint64_t faultAddress, general[GENERAL_REGISTERS], stackPointer, programCounter, processorState;
  _Alignas(STACK_ALIGNMENT) unsigned char records[RESERVED_BYTES];
};
_Static_assert(offsetof(struct frame, mask) == 168, "the kernel's layout");
_Static_assert(offsetof(struct frame, general) == 312, "the kernel's layout");
_Static_assert(offsetof(struct frame, records) == 592, "the kernel's layout");

/// Reads the start of a set of registers. Returns false if the processor does not have the set.
static bool read_start(pid_t thread, unsigned set, void *start, size_t size) {
  struct iovec room = {start, size};
  return ptrace(PTRACE_GETREGSET, thread, set, &room) == 0 && room.iov_len == size;
}

/// True if the thread has state that functions cannot be called in, or that a frame here does not restore: a control
/// stack, which has no entry for the return, or matrix registers.
static bool has_other_state(pid_t thread) {
  uint64_t control[3];
  struct scalable start;
  if (read_start(thread, CONTROL_STACK, control, sizeof control) && control[0] & 1) return true;
  if (read_start(thread, STREAMING_VECTORS, &start, sizeof start) && start.flags & IS_SCALABLE) return true;
  return read_start(thread, MATRIX, &start, sizeof start) && start.size > sizeof start;
}

/// Adds the scalable vector registers, if the thread uses them. Returns false if there is no room for them.
static bool add_scalable(struct lt_thread_visit *visit, unsigned char *records, size_t used) {
  struct scalable start;
  struct iovec all = {visit->state, sizeof visit->state};
  if (ptrace(PTRACE_GETREGSET, visit->thread, NT_ARM_SVE, &all) != 0) return true; // the processor has none
  visit->stateSet = NT_ARM_SVE;
  visit->stateSize = all.iov_len;
  memcpy(&start, visit->state, sizeof start);
  if (!(start.flags & IS_SCALABLE)) return true;
  // 32 vectors, then 16 predicates and one more, each with a bit for each byte of a vector.
  size_t registers = 32 * (size_t)start.length + 17 * (size_t)start.length / 8;
  size_t size = (sizeof(struct scalable_record) + registers + STACK_ALIGNMENT - 1) & ~(size_t)(STACK_ALIGNMENT - 1);
  if (sizeof start + registers > visit->stateSize || used + size + sizeof(struct record) > RESERVED_BYTES) return false;
  struct scalable_record record = {.head = {SCALABLE_MAGIC, (uint32_t)size}, .length = start.length};
  memcpy(records + used, &record, sizeof record);
  memcpy(records + used + sizeof record, visit->state + sizeof start, registers);
  return true; // the rest is zeros, which end the records
}

size_t lt_visit_size(void) { return LT_CALL_TEXT_BYTES + sizeof(struct frame) + 2 * STACK_ALIGNMENT; }

bool lt_frame_write(struct lt_thread_visit *visit, const void *text, size_t size) {
  struct vectors vectors;
  if (has_other_state(visit->thread) ||
      !lt_transfer_registers(PTRACE_GETREGSET, visit->thread, NT_PRFPREG, &vectors, sizeof vectors))
    return false;
  visit->stateSet = NT_PRFPREG;
  visit->stateSize = sizeof vectors;
  memcpy(visit->state, &vectors, sizeof vectors);

  // Without the tracer, an interrupted wait starts over.
  struct user_regs_struct own = visit->before.kernel;
  lt_rewind_own_call(visit->thread, &own);
  struct frame frame = {.stackMode = NO_STACK_MODE,
                        .mask = visit->mask,
                        .stackPointer = own.sp,
                        .programCounter = own.pc,
                        .processorState = own.pstate};
  memcpy(frame.general, own.regs, sizeof frame.general);
  struct vectors_record record = {
      .head = {VECTORS_MAGIC, sizeof record}, .status = vectors.status, .control = vectors.control};
  memcpy(record.values, vectors.values, sizeof record.values);
  memcpy(frame.records, &record, sizeof record);
  if (!add_scalable(visit, frame.records, sizeof record)) return false;

  visit->text = (own.sp - size) & ~(uint64_t)(STACK_ALIGNMENT - 1);
  visit->context = visit->text - sizeof frame;
  return lt_visit_write_memory(visit->thread, visit->text, text, size) &&
         lt_visit_write_memory(visit->thread, visit->context, &frame, sizeof frame);
}

// --- a call ----------------------------------------------------------------------------------------------------------

int lt_frame_begin_function(struct lt_thread_visit *visit, uint64_t function, const uint64_t arguments[2]) {
  // After an earlier function, the thread is at the entry of the restorer's call, which would restore the thread.
  if (visit->isAtRestorer && !lt_frame_leave_restorer(visit)) return LT_VISIT_GONE;
  visit->isAtRestorer = false;
  struct lt_thread_registers registers = visit->before;
  struct user_regs_struct *r = &registers.kernel;
  r->pc = function;
  r->sp = visit->context;
  r->regs[0] = arguments[0];
  r->regs[1] = arguments[1];
  r->regs[RETURN_ADDRESS] = visit->code.restorer;
  r->pstate &= ~LT_UNEXPECTED_STATE;
  if (lt_registers_write(visit->thread, &registers) != 0) return LT_VISIT_GONE;
  visit->isUnderWay = true;
  struct vectors vectors;
  if (lt_transfer_registers(PTRACE_GETREGSET, visit->thread, NT_PRFPREG, &vectors, sizeof vectors)) {
    vectors.status = vectors.control = 0;
    lt_transfer_registers(PTRACE_SETREGSET, visit->thread, NT_PRFPREG, &vectors, sizeof vectors);
  }
  lt_visit_block_signals(visit);
  return LT_VISIT_DONE;
}

/// The restorer does not change the register with the function's result.
int lt_visit_ask(struct lt_thread_visit *visit, uint64_t function, uint64_t deadline, uint64_t *pointer) {
  int result = lt_visit_call(visit, function, 0, 0, deadline);
  struct lt_thread_registers registers;
  if (result != LT_VISIT_DONE) return result;
  if (lt_registers_read(visit->thread, &registers) != 0) return LT_VISIT_GONE;
  *pointer = registers.kernel.regs[0];
  return LT_VISIT_DONE;
}

/// The thread first returns to the start of the restorer. If the tracer ends at any point, the thread makes the system
/// call after all, and the kernel restores the thread. The tracer restores the registers instead, because the kernel
/// would forget how long an interrupted wait has already lasted.
bool lt_frame_leave_restorer(struct lt_thread_visit *visit) {
  pid_t thread = visit->thread;
  struct lt_thread_registers again;
  if (lt_registers_read(thread, &again) != 0) return false;
  again.kernel.pc = visit->code.restorer;
  if (lt_registers_write(thread, &again) != 0) return false;
  lt_entered_call_skip(thread);
  if (ptrace(PTRACE_SYSCALL, thread, 0, 0) != 0 || !lt_visit_await_any_stop(thread)) return false;
  // At the exit of a call, the kernel ignores changes of x7. So the registers are restored at another stop.
  return ptrace(PTRACE_INTERRUPT, thread, 0, 0) == 0 && ptrace(PTRACE_CONT, thread, 0, 0) == 0 &&
         lt_visit_await_any_stop(thread);
}

#endif
