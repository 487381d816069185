// What unwinding needs to know about the processor.

#ifndef LEAKTRACE_UNWINDER_PROCESSOR_H
#define LEAKTRACE_UNWINDER_PROCESSOR_H

#include <stdbool.h>
#include <stdint.h>

// - LT_OWN_MACHINE: the processor's number in ELF files (e_machine); 0 if stacks cannot be unwound on it;
// - LT_OWN_REGISTERS: the number of registers that libunwind may read, which it numbers as DWARF does;
// - LT_FRAME_POINTER: the register that points to the frame record of a function, or −1 if functions have no such
//   record. A record has two words: the caller's frame pointer and the return address;
// - LT_STACK_POINTER, LT_PROGRAM_COUNTER: numbers of these registers;
// - LT_LEAST_LEAF: the fewest bytes of stack that a function has which calls no other one;
// - LT_TELLS_SIGNAL_FRAMES_AHEAD: libunwind finds signal frames by the code that handlers return to, so it answers for
//   that code's own frame. Otherwise it answers after a step, for the frame before it;
// - LT_SIGNATURE_BITS: the bits of a return address that may hold a signature of the processor;
// - LT_RESTORER_CODE: the first word of the code that signal handlers return to.
#if defined(__linux__) && defined(__x86_64__)
enum {
  LT_OWN_MACHINE = 62,
  LT_OWN_REGISTERS = 17,
  LT_FRAME_POINTER = -1,
  LT_STACK_POINTER = 7,
  LT_PROGRAM_COUNTER = 16,
  LT_LEAST_LEAF = 8, // the return address
  LT_TELLS_SIGNAL_FRAMES_AHEAD = false
};
#define LT_SIGNATURE_BITS 0ull
#define LT_RESTORER_CODE 0x0F0000000FC0C748ull
#elif defined(__linux__) && defined(__aarch64__)
enum {
  LT_OWN_MACHINE = 183,
  LT_OWN_REGISTERS = 33,
  LT_FRAME_POINTER = 29,
  LT_STACK_POINTER = 31,
  LT_PROGRAM_COUNTER = 32,
  LT_LEAST_LEAF = 0, // the return address is in a register
  LT_TELLS_SIGNAL_FRAMES_AHEAD = true
};
/// Bit 55 distinguishes addresses of the kernel. Addresses of processes have 48 bits, unless they ask for more.
#define LT_SIGNATURE_BITS (~((1ull << 48) - 1) & ~(1ull << 55))
#define LT_RESTORER_CODE 0xD4000001D2801168ull
#else
enum { LT_OWN_MACHINE = 0 };
#endif

#endif
