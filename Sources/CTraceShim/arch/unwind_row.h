// A frame's registers, and the places of its caller's.

#ifndef LEAKTRACE_UNWIND_ROW_H
#define LEAKTRACE_UNWIND_ROW_H

#if defined(__x86_64__)
#include "arch/x86_64/instructions.h"
#endif

#include <stdbool.h>
#include <stdint.h>

enum lt_register_rule {
  LT_REGISTER_SAME = 0, ///< unchanged, or nothing said
  LT_REGISTER_UNDEFINED,
  LT_REGISTER_AT_OFFSET,     ///< saved at CFA + offset
  LT_REGISTER_IS_OFFSET,     ///< is CFA + offset
  LT_REGISTER_IN_REGISTER,   ///< in the register of the number `offset`
  LT_REGISTER_AT_EXPRESSION, ///< saved at the address an expression gives
  LT_REGISTER_IS_EXPRESSION,
};

/// The place of the caller's value of a register.
struct lt_saved_register {
  uint8_t rule;   ///< lt_register_rule
  int64_t offset; ///< of an expression: its length
  const uint8_t *expression;
};

struct lt_unwind_row {
  uint8_t cfaRegister;
  bool cfaIsExpression;
  bool isSignalFrame;
  bool isAfterCode;  ///< the eight bytes before the address can be read
  int64_t cfaOffset; ///< of an expression: its length
  const uint8_t *cfaExpression;
  struct lt_saved_register registers[LT_REG_COUNT];
};

/// Registers of a frame that is being unwound.
struct lt_registers {
  uint64_t value[LT_REG_COUNT]; ///< LT_REG_RA: the address being executed
};

#endif
