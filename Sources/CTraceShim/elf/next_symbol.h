// Functions of other images by name, with any glibc from 2.31 on.
//
// The library must load into processes with an older glibc than the build machine's. Until 2.33, glibc
// has dlsym in a library of its own, libdl.so.2, which few C programs load.

#ifndef LEAKTRACE_NEXT_SYMBOL_H
#define LEAKTRACE_NEXT_SYMBOL_H

#include "check.h"

#include <stdbool.h>
#include <stdint.h>

/// Returns the definition of `name` that follows this library's in the loader's order, else one before it. NULL if
/// there is none.
void *lt_next_symbol(const char *name);

/// Tells whether this library has the first definition of `name`, or no image has one.
bool lt_symbol_is_first_here(const char *name);

/// Tells whether one image has both addresses.
bool lt_are_in_one_image(uintptr_t one, uintptr_t other);

#endif
