// Names of the functions that addresses are in, from the symbols of their files, as people read them.
//
// The Swift runtime's own function turns a mangled name into a readable one. It allocates, so it is called where nobody
// else allocates: in a copy of the process, made for a moment, with an allocator of the copy's own. Names stay known,
// so that there is a copy only when new functions came. Bounded.

#ifndef LEAKTRACE_FUNCTION_NAMES_H
#define LEAKTRACE_FUNCTION_NAMES_H

#include "profile/code_maps.h"

#include <sys/types.h>

enum {
  LT_FUNCTION_LIMIT = 1 << 15,
  LT_FUNCTION_NONE = 0, ///< of an address without a symbol, or whose symbol is not known yet
};

struct lt_function {
  uint64_t start;        ///< address of its code
  uint32_t name, symbol; ///< offsets of texts: as people read it, and as the file has it
};

/// Has the allocator of this process, a copy in which nothing else runs, take memory of its own and give none back.
void lt_function_names_init(void (*useOwnAllocator)(void));
/// Finds names for the addresses, which are changed: sorted, and those that are known taken out. Waits for the copy; a
/// name that cannot be had stays unknown. To be called apart, by one thread at a time.
void lt_function_names_find(const struct lt_code_maps *maps, uint64_t *addresses, uint32_t count);
/// The function of an address, by number; LT_FUNCTION_NONE if it has none.
uint32_t lt_function_at(uint64_t address);
const struct lt_function *lt_function(uint32_t number);
const char *lt_function_text(uint32_t offset);
/// The copy, while there is one.
bool lt_function_names_is_helper(pid_t child);
/// Forgets all names: in a child made by fork, where they are the parent's.
void lt_function_names_reset_after_fork(void);

#endif
