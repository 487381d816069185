// A frame's registers, and the rules that find its caller's registers.

#ifndef LEAKTRACE_UNWIND_ROW_H
#define LEAKTRACE_UNWIND_ROW_H

#if defined(__x86_64__)
#include "arch/x86_64/instructions.h"
#elif defined(__aarch64__)
#include "arch/aarch64/instructions.h"
#endif

#include <stdbool.h>
#include <stdint.h>

enum lt_register_rule {
  LT_REGISTER_SAME = 0, ///< unchanged, or without a rule
  LT_REGISTER_UNDEFINED,
  LT_REGISTER_AT_OFFSET,     ///< saved at CFA + offset
  LT_REGISTER_IS_OFFSET,     ///< is CFA + offset
  LT_REGISTER_IN_REGISTER,   ///< in the register whose number is `offset`
  LT_REGISTER_AT_EXPRESSION, ///< saved at the address that the expression computes
  LT_REGISTER_IS_EXPRESSION,
};

/// Says where to find the caller's value of a register.
struct lt_saved_register {
  uint8_t rule;   ///< enum lt_register_rule
  int64_t offset; ///< length of the expression, if the rule has one
  const uint8_t *expression;
};

struct lt_unwind_row {
  uint8_t cfaRegister;
  bool cfaIsExpression;
  bool isSignalFrame;
  bool isAfterCode;  ///< the eight bytes before the code address can be read
  int64_t cfaOffset; ///< length of the expression, if the CFA is one
  const uint8_t *cfaExpression;
  struct lt_saved_register registers[LT_REG_COUNT];
};

/// Registers of a frame that is being unwound.
struct lt_registers {
  uint64_t value[LT_REG_COUNT]; ///< at LT_REG_PC: the address that the frame executes
};

#endif
