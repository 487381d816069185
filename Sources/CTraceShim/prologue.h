// Frames of functions that have no unwind information, from the instructions at their start.

#ifndef LEAKTRACE_PROLOGUE_H
#define LEAKTRACE_PROLOGUE_H

#include "unwind_table.h"

/// Works out the row for a call that returns to `address`, in a function that begins at or after `low`, the end of the last function before it
/// that has unwind information. False when no beginning can be made out. Reads [low, address).
bool lt_prologue_row(uintptr_t address, uintptr_t low, struct lt_unwind_row *row);

#endif
