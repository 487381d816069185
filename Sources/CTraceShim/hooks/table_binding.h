// Hooks in a process that was started without them: no name leads to them, so the tables of each image do.
//
// The loader has put the address of each function that an image refers to into a word of that image. Such words are
// made to lead to this library's function of the name, if they lead to the one that this library's stands in front of.

#ifndef LEAKTRACE_TABLE_BINDING_H
#define LEAKTRACE_TABLE_BINDING_H

#include "elf/loaded_image.h"

#include <stdbool.h>

/// Finds the functions that the hooks stand in front of, and sets `lt_next`. False if the process has no allocator
/// that others can call. May be called again. The loader must not be at work.
bool lt_table_binding_prepare(void);
/// Finds the C++ operators if they are the allocator's own, so that neither their names nor those of the malloc family
/// lead to hooks. False if they are not: then nothing is to be bound. The loader must not be at work.
bool lt_table_binding_prepare_operators(void);
/// Has the image's references lead to the hooks. The image must be relocated. Once it is bound, nothing changes. One
/// thread at a time.
void lt_table_binding_bind(const struct lt_loaded_image *image);
/// Forgets what was changed in [start, end), which is gone.
void lt_table_binding_forget(uintptr_t start, uintptr_t end);
/// Puts back all words as they were.
void lt_table_binding_undo(void);

#endif
