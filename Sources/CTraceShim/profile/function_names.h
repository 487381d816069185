// Finds the functions that contain addresses, and their readable names, from the symbols of their files.
//
// The Swift runtime's own function turns a mangled name into a readable one. It allocates, so it is called where no
// other code allocates: in a copy of the process, made for a moment, with an allocator of the copy's own. Names are
// kept, so a copy is made only for new functions. Bounded.

#ifndef LEAKTRACE_FUNCTION_NAMES_H
#define LEAKTRACE_FUNCTION_NAMES_H

#include "profile/code_maps.h"

#include <sys/types.h>

enum {
  LT_FUNCTION_LIMIT = 1 << 15,
  LT_FUNCTION_NONE = 0, ///< for an address without a symbol, or whose symbol is not known yet
};

struct lt_function {
  uint64_t start;        ///< address of its code
  uint32_t name, symbol; ///< offsets of texts: the readable name, and the file's symbol
};

/// Sets the function that makes this process, a copy that runs nothing else, use an allocator with its own memory that
/// returns none.
void lt_function_names_init(void (*useOwnAllocator)(void));
/// Finds names for the addresses. Changes the array: removes known addresses, and sorts the others. Waits for the copy;
/// a name that cannot be found stays unknown. Must be called apart, by one thread at a time.
void lt_function_names_find(const struct lt_code_maps *maps, uint64_t *addresses, uint32_t count);
/// The number of the function at an address; LT_FUNCTION_NONE if it has none.
uint32_t lt_function_at(uint64_t address);
const struct lt_function *lt_function(uint32_t number);
const char *lt_function_text(uint32_t offset);
/// True if a child is the copy, while there is one.
bool lt_function_names_is_helper(pid_t child);
/// Forgets all names: in a child made by fork, where they are the parent's.
void lt_function_names_reset_after_fork(void);

#endif
