// Reads .eh_frame: the way from one frame to its caller. Pure reads of mapped memory; no locks, no allocation.

#ifndef LEAKTRACE_UNWIND_TABLE_H
#define LEAKTRACE_UNWIND_TABLE_H

#include "arch/arch.h"
#include "unwind/unwind_image.h"

/// Finds the row for a code address. `isExact`: the address itself, not the call before it.
/// False when no image covers it or the image has no rule for it.
bool lt_unwind_row(uintptr_t address, bool isExact, struct lt_unwind_row *row);
/// The same in one image, whatever stands in it.
bool lt_unwind_row_in(const struct lt_unwind_image *image, uintptr_t address, bool isExact, struct lt_unwind_row *row);

/// Moves `registers` to the caller by `row`. False at a rule that cannot be followed or at unreadable memory.
/// `isReadable` is asked before any address outside what the caller vouches for is read.
bool lt_unwind_apply(const struct lt_unwind_row *row, struct lt_registers *registers,
                     bool (*isReadable)(void *context, uintptr_t address), void *context);

#endif
