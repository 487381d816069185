// Reads .eh_frame, the rules for stepping from a frame to its caller. Only reads mapped memory; no locks, no
// allocation.

#ifndef LEAKTRACE_UNWIND_TABLE_H
#define LEAKTRACE_UNWIND_TABLE_H

#include "arch/arch.h"
#include "check.h"
#include "unwind/unwind_image.h"

/// True if each rule of the row is complete: a rule with an expression has one.
LT_INVARIANT bool lt_unwind_row_is_valid(const struct lt_unwind_row *row) {
  if (row->cfaRegister > LT_REG_COUNT || (row->cfaIsExpression && (!row->cfaExpression || row->cfaOffset < 0)))
    return false;
  for (int r = 0; r < LT_REG_COUNT; r++) {
    const struct lt_saved_register *saved = &row->registers[r];
    bool isExpression = saved->rule == LT_REGISTER_AT_EXPRESSION || saved->rule == LT_REGISTER_IS_EXPRESSION;
    if (saved->rule > LT_REGISTER_IS_EXPRESSION || (isExpression && (!saved->expression || saved->offset < 0)))
      return false;
  }
  return true;
}

/// Finds the row for a code address. `isExact`: the address itself, not the call before it.
/// False when no image covers it or the image has no rule for it.
bool lt_unwind_row(uintptr_t address, bool isExact, struct lt_unwind_row *row);
/// The same in one image, whose contents may be invalid.
bool lt_unwind_row_in(const struct lt_unwind_image *image, uintptr_t address, bool isExact, struct lt_unwind_row *row);

/// Moves `registers` to the caller by `row`. False at a rule that cannot be applied, or at unreadable memory.
/// `isReadable` is called before any address is read that the caller does not guarantee.
bool lt_unwind_apply(const struct lt_unwind_row *row, struct lt_registers *registers,
                     bool (*isReadable)(void *context, uintptr_t address), void *context);

#endif
