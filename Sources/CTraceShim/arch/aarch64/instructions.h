// arm64 register numbers, and operations of a few instructions.

#ifndef LEAKTRACE_AARCH64_INSTRUCTIONS_H
#define LEAKTRACE_AARCH64_INSTRUCTIONS_H

#include "trace_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- register numbers ------------------------------------------------------------------------------------------------

// The DWARF numbers of the arm64 registers that unwinding follows. Source: DWARF for the Arm 64-bit Architecture.

/// LT_REG_PC: the address where a frame goes on. DWARF's number 32 belongs to the program counter.
enum {
  LT_REG_X0 = 0,
  LT_REG_X19 = 19,
  LT_REG_X22 = 22,
  LT_REG_X29 = 29,
  LT_REG_X30 = 30,
  LT_REG_SP = 31,
  LT_REG_PC = 32,
  LT_REG_COUNT = 33,
  LT_REG_NAMED = 32, ///< registers that expressions may name: those below this number
};

/// Roles of the registers. Swift async functions get the address of their context in LT_REG_CONTEXT. Unwind tables
/// describe the return address as LT_REG_RETURN.
enum { LT_REG_FRAME = LT_REG_X29, LT_REG_STACK = LT_REG_SP, LT_REG_CONTEXT = LT_REG_X22, LT_REG_RETURN = LT_REG_X30 };

// --- frames ----------------------------------------------------------------------------------------------------------

/// Offset from the CFA of the first register that a function may save.
enum { LT_FIRST_SAVED = -8 };

/// The addresses of a process are below 1 << LT_ADDRESS_BITS, unless the process asks for higher ones.
#define LT_ADDRESS_BITS 48

/// Whether the word below each return address on the stack is the caller's frame pointer.
enum { LT_RECORDS_FRAMES = true };

/// Returns the slot of the return address, in bytes below the CFA. `frameSlot` is the slot of the saved frame pointer:
/// the two are neighbours, and other saved registers may lie above them.
static LT_ALWAYS_INLINE uint64_t lt_return_slot(uint64_t frameSlot) { return frameSlot - 8; }

/// Returns the address in a word that is a return address or a pointer to code. The processor may have signed it in the
/// bits above the address (Arm Architecture Reference Manual, "Pointer authentication").
static LT_ALWAYS_INLINE uint64_t lt_code_address(uint64_t word) { return word & ((1ull << LT_ADDRESS_BITS) - 1); }

/// Returns the word in a return slot whose address is known. The word may be signed.
static LT_ALWAYS_INLINE uint64_t lt_return_word(const uint64_t *slot, uint64_t address) {
  (void)address;
  return *slot;
}

/// The frame of a function that has a frame pointer.
struct lt_hook_frame {
  const uintptr_t *record; ///< two words: the caller's frame pointer and the return address
  uintptr_t stackPointer;  ///< at the function's start
};

/// The frame of the function that uses this macro.
#define LT_OWN_FRAME ((struct lt_hook_frame){__builtin_frame_address(0), (uintptr_t)__builtin_sponentry()})

/// Returns the caller's stack pointer after the call.
static LT_ALWAYS_INLINE uintptr_t lt_stack_pointer_outside(struct lt_hook_frame frame) { return frame.stackPointer; }

// --- operations ------------------------------------------------------------------------------------------------------

// Operations of a few arm64 instructions.

/// Bytes of the kernel's pages: 4, 16 or 64 KiB. 0 before the first look-up. Relaxed: each thread finds the same value.
extern _Atomic size_t lt_known_page_size __attribute__((visibility("hidden")));
/// Asks the kernel for the page size, and notes it.
size_t lt_find_page_size(void) __attribute__((visibility("hidden")));
static LT_ALWAYS_INLINE size_t lt_page_size(void) {
  size_t size = __atomic_load_n((const size_t *)&lt_known_page_size, __ATOMIC_RELAXED);
  return size ? size : lt_find_page_size();
}
#define LT_PAGE_LIMIT 65536

/// Bytes below the stack pointer that the ABI lets a function use.
#define LT_RED_ZONE 0
/// EM_AARCH64 of <elf.h>, as used in traces and ELF files.
#define LT_ELF_MACHINE 183
/// The symbol version of the first glibc on this processor.
#define LT_FIRST_GLIBC "GLIBC_2.17"
/// AUDIT_ARCH_AARCH64 of <linux/audit.h>, as used in filters of system calls.
#define LT_AUDIT_ARCHITECTURE 0xC00000B7u
/// Relocation types of <elf.h>. RELATIVE: an address in the image itself. GLOBAL: a symbol's address in the global
/// offset table. CALL: the same, for a call. ABSOLUTE: a symbol's address anywhere.
enum {
  LT_RELOCATION_RELATIVE = 1027,
  LT_RELOCATION_GLOBAL = 1025,
  LT_RELOCATION_CALL = 1026,
  LT_RELOCATION_ABSOLUTE = 257
};

static LT_ALWAYS_INLINE long lt_syscall6(long number, long a, long b, long c, long d, long e, long f) {
  register long x8 __asm__("x8") = number;
  register long x0 __asm__("x0") = a;
  register long x1 __asm__("x1") = b;
  register long x2 __asm__("x2") = c;
  register long x3 __asm__("x3") = d;
  register long x4 __asm__("x4") = e;
  register long x5 __asm__("x5") = f;
  __asm__ volatile("svc #0" : "+r"(x0) : "r"(x8), "r"(x1), "r"(x2), "r"(x3), "r"(x4), "r"(x5) : "memory");
  return x0;
}

static LT_ALWAYS_INLINE int lt_is_zero_byte(const _Atomic uint8_t *byte) {
  return __atomic_load_n((const uint8_t *)byte, __ATOMIC_RELAXED) == 0;
}

static LT_ALWAYS_INLINE uintptr_t lt_load_first(const uintptr_t *word) {
  return __atomic_load_n(word, __ATOMIC_ACQUIRE);
}

/// A load may return an older value than an earlier load.
enum { LT_KEEPS_LOAD_ORDER = false };
/// The architecture lets a branch replace only a few instructions while other threads may execute them. A return is not
/// among them (Arm Architecture Reference Manual, B2.2.5).
enum { LT_MAY_PATCH_RUNNING_CODE = false };

/// A signal handler that subtracts in between clears the monitor, so the loop begins again.
static LT_ALWAYS_INLINE int lt_subtract(uint64_t *from, uint64_t value) {
  uint64_t before, after, isLost;
  __asm__("1: ldxr %0, %3\n\tsub %1, %0, %4\n\tstxr %w2, %1, %3\n\tcbnz %w2, 1b"
          : "=&r"(before), "=&r"(after), "=&r"(isLost), "+Q"(*from)
          : "r"(value));
  return before > value;
}

/// The counter of the generic timer has 1 to 1,000 MHz. Shifted, it is as fine as the counters of other processors.
enum { LT_TICK_SHIFT = 5 };

static LT_ALWAYS_INLINE uint64_t lt_ticks_unordered(void) {
  uint64_t ticks;
  __asm__ volatile("mrs %0, cntvct_el0" : "=r"(ticks));
  return ticks << LT_TICK_SHIFT;
}

static LT_ALWAYS_INLINE uint64_t lt_ticks_ordered(void) {
  // The first instruction waits for all earlier loads. After the second one, nothing was executed ahead of time.
  uint64_t ticks;
  __asm__ volatile("dsb ishld\n\tisb\n\tmrs %0, cntvct_el0" : "=r"(ticks)::"memory");
  return ticks << LT_TICK_SHIFT;
}

static LT_ALWAYS_INLINE uintptr_t lt_thread_pointer(void) {
  uintptr_t threadPointer;
  __asm__("mrs %0, tpidr_el0" : "=r"(threadPointer));
  return threadPointer;
}

static LT_ALWAYS_INLINE uint64_t lt_static_tls_distance(uintptr_t variables, uint64_t size) {
  uintptr_t threadPointer = lt_thread_pointer();
  return variables > threadPointer ? variables + size - threadPointer : 0;
}

static LT_ALWAYS_INLINE void lt_clear_memory(void *memory, size_t size) {
  uint8_t *p = memory, *end = p + size;
  for (; p < end; p++) {
    *p = 0;
    __asm__ volatile("" ::: "memory"); // otherwise the compiler calls memset
  }
}

/// True if Valgrind simulates this processor. On a real processor these instructions change nothing: the rotations add
/// up to 128 bits. Source: the Valgrind manual, "The Client Request mechanism"; Valgrind 3.19.
static LT_ALWAYS_INLINE int lt_is_simulated(void) {
  enum { RUNNING_ON_VALGRIND = 0x1001 };
  volatile uint64_t request[6] = {RUNNING_ON_VALGRIND};
  register uint64_t answer __asm__("x3") = 0;
  register volatile uint64_t *question __asm__("x4") = request;
  __asm__ volatile("ror x12, x12, #3\n"
                   "ror x12, x12, #13\n"
                   "ror x12, x12, #51\n"
                   "ror x12, x12, #61\n"
                   "orr x10, x10, x10\n"
                   : "+r"(answer)
                   : "r"(question)
                   : "cc", "memory", "x10", "x12");
  return answer != 0;
}

#endif
