// x86-64 register numbers, and operations of one or two instructions.

#ifndef LEAKTRACE_X86_64_INSTRUCTIONS_H
#define LEAKTRACE_X86_64_INSTRUCTIONS_H

#include "trace_numbers.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- register numbers ------------------------------------------------------------------------------------------------

// The DWARF numbers of the x86-64 registers that unwinding follows.

/// LT_REG_PC: the address where a frame goes on. Its number is DWARF's for the return address, which is no register.
enum {
  LT_REG_RBX = 3,
  LT_REG_RBP = 6,
  LT_REG_RSP = 7,
  LT_REG_R12 = 12,
  LT_REG_R13 = 13,
  LT_REG_R14 = 14,
  LT_REG_R15 = 15,
  LT_REG_PC = 16,
  LT_REG_COUNT = 17,
  LT_REG_NAMED = 17, ///< registers that expressions may name: those below this number
};

/// Roles of the registers. Swift async functions get the address of their context in LT_REG_CONTEXT. Unwind tables
/// describe the return address as LT_REG_RETURN.
enum { LT_REG_FRAME = LT_REG_RBP, LT_REG_STACK = LT_REG_RSP, LT_REG_CONTEXT = LT_REG_R14, LT_REG_RETURN = LT_REG_PC };

// --- frames ----------------------------------------------------------------------------------------------------------

/// Offset from the CFA of the first register that a function may save. The return address lies above it.
enum { LT_FIRST_SAVED = -16 };

/// Whether the word below each return address on the stack is the caller's frame pointer.
enum { LT_RECORDS_FRAMES = false };

/// Returns the slot of the return address, in bytes below the CFA. `frameSlot` is the slot of the saved frame pointer.
static LT_ALWAYS_INLINE uint64_t lt_return_slot(uint64_t frameSlot) {
  (void)frameSlot;
  return 8;
}

/// Returns the address in a word that is a return address or a pointer to code.
static LT_ALWAYS_INLINE uint64_t lt_code_address(uint64_t word) { return word; }

/// Returns the word in a return slot whose address is known.
static LT_ALWAYS_INLINE uint64_t lt_return_word(const uint64_t *slot, uint64_t address) {
  (void)slot;
  return address;
}

/// The frame of a function that has a frame pointer.
struct lt_hook_frame {
  const uintptr_t *record; ///< two words: the caller's frame pointer and the return address
};

/// The frame of the function that uses this macro.
#define LT_OWN_FRAME ((struct lt_hook_frame){__builtin_frame_address(0)})

/// Returns the caller's stack pointer after the call.
static LT_ALWAYS_INLINE uintptr_t lt_stack_pointer_outside(struct lt_hook_frame frame) {
  return (uintptr_t)(frame.record + 2);
}

// --- operations ------------------------------------------------------------------------------------------------------

// Operations of one or two x86-64 instructions.

/// Bytes of the kernel's pages. Every kernel for this processor has the same.
static LT_ALWAYS_INLINE size_t lt_page_size(void) { return 4096; }
#define LT_PAGE_LIMIT 4096

/// Bytes below the stack pointer that the ABI lets a function use.
#define LT_RED_ZONE 128
/// The addresses of a process are below 1 << LT_ADDRESS_BITS, unless the process asks for higher ones.
#define LT_ADDRESS_BITS 47
/// EM_X86_64 of <elf.h>, as used in traces and ELF files.
#define LT_ELF_MACHINE 62
/// The symbol version of the first glibc on this processor.
#define LT_FIRST_GLIBC "GLIBC_2.2.5"
/// AUDIT_ARCH_X86_64 of <linux/audit.h>, as used in filters of system calls.
#define LT_AUDIT_ARCHITECTURE 0xC000003Eu
/// Relocation types of <elf.h>. RELATIVE: an address in the image itself. GLOBAL: a symbol's address in the global
/// offset table. CALL: the same, for a call. ABSOLUTE: a symbol's address anywhere.
enum { LT_RELOCATION_RELATIVE = 8, LT_RELOCATION_GLOBAL = 6, LT_RELOCATION_CALL = 7, LT_RELOCATION_ABSOLUTE = 1 };

static LT_ALWAYS_INLINE long lt_syscall6(long number, long a, long b, long c, long d, long e, long f) {
  long result;
  register long r10 __asm__("r10") = d;
  register long r8 __asm__("r8") = e;
  register long r9 __asm__("r9") = f;
  __asm__ volatile("syscall"
                   : "=a"(result)
                   : "a"(number), "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
                   : "rcx", "r11", "memory");
  return result;
}

static LT_ALWAYS_INLINE int lt_is_zero_byte(const _Atomic uint8_t *byte) {
  int isZero;
  __asm__("cmpb $0, %1" : "=@ccz"(isZero) : "m"(*byte));
  return isZero;
}

/// The processor keeps the order of loads.
static LT_ALWAYS_INLINE uintptr_t lt_load_first(const uintptr_t *word) { return *word; }

/// This processor keeps the order of loads, and of stores.
enum { LT_KEEPS_LOAD_ORDER = true };
/// A jump may replace other code while threads may execute that code.
enum { LT_MAY_PATCH_RUNNING_CODE = true };

static LT_ALWAYS_INLINE int lt_subtract(uint64_t *from, uint64_t value) {
  int isUsedUp;
  __asm__("subq %2, %1" : "=@ccbe"(isUsedUp), "+m"(*from) : "r"(value));
  return !isUsedUp;
}

static LT_ALWAYS_INLINE uint64_t lt_ticks_ordered(void) {
  unsigned processor;
  return __builtin_ia32_rdtscp(&processor);
}

static LT_ALWAYS_INLINE uint64_t lt_ticks_unordered(void) { return __builtin_ia32_rdtsc(); }

static LT_ALWAYS_INLINE uintptr_t lt_thread_pointer(void) {
  uintptr_t threadPointer;
  __asm__("movq %%fs:0, %0" : "=r"(threadPointer));
  return threadPointer;
}

static LT_ALWAYS_INLINE uint64_t lt_static_tls_distance(uintptr_t variables, uint64_t size) {
  uintptr_t threadPointer = lt_thread_pointer();
  (void)size;
  return variables && variables < threadPointer ? threadPointer - variables : 0;
}

static LT_ALWAYS_INLINE void lt_clear_memory(void *memory, size_t size) {
  __asm__ volatile("rep stosb" : "+D"(memory), "+c"(size) : "a"(0) : "memory");
}

/// True if Valgrind simulates this processor. On a real processor these instructions change nothing: the rotations add
/// up to 128 bits. Source: the Valgrind manual, "The Client Request mechanism"; Valgrind 3.19.
static LT_ALWAYS_INLINE int lt_is_simulated(void) {
  enum { RUNNING_ON_VALGRIND = 0x1001 };
  volatile uint64_t request[6] = {RUNNING_ON_VALGRIND};
  uint64_t answer;
  __asm__ volatile("rolq $3, %%rdi\n"
                   "rolq $13, %%rdi\n"
                   "rolq $61, %%rdi\n"
                   "rolq $51, %%rdi\n"
                   "xchgq %%rbx, %%rbx\n"
                   : "=d"(answer)
                   : "a"(request), "0"(0)
                   : "cc", "memory");
  return answer != 0;
}

#endif
