// The registers of x86-64 that unwinding follows, by their numbers in DWARF.

#ifndef LEAKTRACE_X86_64_REGISTER_NUMBERS_H
#define LEAKTRACE_X86_64_REGISTER_NUMBERS_H

/// LT_REG_RA: the return address, which has a number and no register.
enum {
  LT_REG_RBX = 3,
  LT_REG_RBP = 6,
  LT_REG_RSP = 7,
  LT_REG_R12 = 12,
  LT_REG_R13 = 13,
  LT_REG_R14 = 14,
  LT_REG_R15 = 15,
  LT_REG_RA = 16,
  LT_REG_COUNT = 17,
};

/// Roles of the registers. Swift async functions get the address of their context in LT_REG_CONTEXT.
enum { LT_REG_FRAME = LT_REG_RBP, LT_REG_STACK = LT_REG_RSP, LT_REG_CONTEXT = LT_REG_R14 };

#endif
