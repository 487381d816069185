// Attributes and hints for the compiler.

#ifndef LEAKTRACE_COMPILER_H
#define LEAKTRACE_COMPILER_H

#include "trace_numbers.h"

/// Marks variables that hooks read at each call. They stand side by side, whichever file defines them, and so take few
/// cache lines.
#define LT_HOOK_DATA __attribute__((section("lt_hook_data")))

#endif
