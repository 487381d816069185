// Hooks in a process that was started without them. No name leads to them, so each image's tables are changed.
//
// The loader stores the address of each function that an image refers to in a word of that image. If the word holds the
// interposed function's address, it is changed to the hook's.

#ifndef LEAKTRACE_TABLE_BINDING_H
#define LEAKTRACE_TABLE_BINDING_H

#include "elf/elf_image.h"

#include <stdbool.h>

/// Finds the functions that the hooks interpose, and sets `lt_next`. False if the process has no allocator that others
/// can call. May be called again. The loader must not be running.
bool lt_table_binding_prepare(void);
/// Finds the C++ operators if they are the allocator's own. No name leads from a call of them to a hook then, neither
/// their own nor the malloc family's. False if they are not, and no table needs binding. The loader must not be
/// running.
bool lt_table_binding_prepare_operators(void);
/// Makes the image's references lead to the hooks. The image must be relocated. Binding it again changes nothing.
/// Called by one thread at a time.
void lt_table_binding_bind(const struct lt_loaded_image *image);
/// Forgets changed words in [start, end), which was unloaded.
void lt_table_binding_forget(uintptr_t start, uintptr_t end);
/// Restores all changed words.
void lt_table_binding_undo(void);

#endif
