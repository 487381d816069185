// Names of functions: the mapped files that contain them, and a copy of the process that makes them readable.

#ifndef LEAKTRACE_FUNCTION_NAMES_H
#define LEAKTRACE_FUNCTION_NAMES_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

// --- mapped code -----------------------------------------------------------------------------------------------------

// The files whose code is mapped in the process, as the kernel lists them.

enum {
  LT_BUILD_ID_LIMIT = 64,
  LT_CODE_MAP_LIMIT = 2048, ///< more than the libraries of any program; further mappings are left out
};

/// A mapping that may be executed.
struct lt_code_map {
  uint64_t start, end, offset;
  uint64_t base; ///< of the mapping with the beginning of the file; 0 if none can be read
  uint64_t bias; ///< from addresses in the file to those in the process; where `base` is known
  const char *path;
  uint8_t buildID[LT_BUILD_ID_LIMIT];
  uint32_t buildIDSize; ///< at most LT_BUILD_ID_LIMIT
};

struct lt_code_maps {
  struct lt_code_map *maps; ///< in order of address; LT_CODE_MAP_LIMIT at most
  uint32_t count;
  uint64_t hash; ///< two lists with equal hashes are considered equal
  // The memory of the paths.
  char *text;
  size_t textSize;
};

/// Reads the list. Must be called apart. False without memory, or where the kernel provides no list. lt_code_maps_free
/// must follow in any case.
bool lt_code_maps_read(struct lt_code_maps *maps);
void lt_code_maps_free(struct lt_code_maps *maps);
/// The mapping with an address, or NULL. Logarithmic.
const struct lt_code_map *lt_code_map_at(const struct lt_code_maps *maps, uint64_t address);

// --- the copy's allocator --------------------------------------------------------------------------------------------

// An allocator for a copy of the process that runs nothing else: it maps its own memory, and returns none to the
// kernel.

void *lt_copy_malloc(size_t size);
void *lt_copy_calloc(size_t count, size_t size);
void *lt_copy_realloc(void *block, size_t size);
void lt_copy_free(void *block);
void *lt_copy_aligned(size_t alignment, size_t size);
int lt_copy_posix_memalign(void **block, size_t alignment, size_t size);
/// Frees all blocks, if there are many.
void lt_copy_allocator_rewind(void);

// --- names -----------------------------------------------------------------------------------------------------------

// Finds the functions that contain addresses, and their readable names, from the symbols of their files.
//
// The Swift runtime's own function turns a mangled name into a readable one. It allocates, so it is called where no
// other code allocates: in a copy of the process, made for a moment, with an allocator of the copy's own. Names are
// kept, so a copy is made only for new functions. Bounded.

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
