// Installs hooks in a process that was started without this library. The loader does not resolve names to these hooks,
// so each image's tables are changed.
//
// The loader stores the address of each function that an image refers to in a word of that image. If that word holds
// the address of an interposed function, it is changed to the address of the hook.

#ifndef LEAKTRACE_TABLE_BINDING_H
#define LEAKTRACE_TABLE_BINDING_H

#include "elf/elf_image.h"

#include <stdbool.h>

/// Finds the functions that the hooks interpose, and sets `lt_next`. False if the process has no allocator that other
/// images can call. May be called again. The loader must not be running.
bool lt_table_binding_prepare(void);
/// Finds the C++ operators if the allocator defines them. Such operators are not interposed by name. So no hook sees
/// their calls until the tables are bound. False if the allocator does not define operators: then no table needs
/// binding. The loader must not be running.
bool lt_table_binding_prepare_operators(void);
/// Makes the image's references lead to the hooks. The image must be relocated. Binding it again changes nothing.
/// Called by one thread at a time.
void lt_table_binding_bind(const struct lt_loaded_image *image);
/// Forgets changed words in [start, end), because the image there was unloaded.
void lt_table_binding_forget(uintptr_t start, uintptr_t end);
/// Restores all changed words.
void lt_table_binding_undo(void);

#endif
