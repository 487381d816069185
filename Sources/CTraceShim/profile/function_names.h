// Finds the names of functions in the files that are mapped, and makes them readable in a copy of the process.

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

/// An executable mapping.
struct lt_code_map {
  uint64_t start, end, offset;
  uint64_t base; ///< address where the file's beginning is mapped; 0 if it cannot be read
  uint64_t bias; ///< process address − file address; valid if `base` is not 0
  const char *path;
  uint8_t buildID[LT_BUILD_ID_LIMIT];
  uint32_t buildIDSize; ///< at most LT_BUILD_ID_LIMIT
};

struct lt_code_maps {
  struct lt_code_map *maps; ///< in order of address; LT_CODE_MAP_LIMIT at most
  uint32_t count;
  uint64_t hash; ///< two lists with equal hashes are considered equal
  // The memory that contains the paths.
  char *text;
  size_t textSize;
};

/// Reads the list. Must run in a task of lt_call_isolated or lt_call_isolated_async. False if there is no memory, or if
/// the kernel provides no list. lt_code_maps_free must follow in any case.
bool lt_code_maps_read(struct lt_code_maps *maps);
void lt_code_maps_free(struct lt_code_maps *maps);
/// The mapping that contains the address, or NULL. Logarithmic in the number of mappings.
const struct lt_code_map *lt_code_map_at(const struct lt_code_maps *maps, uint64_t address);

// --- the copy's allocator --------------------------------------------------------------------------------------------

// An allocator for a copy of the process that does nothing but find names. The allocator maps its own memory, and
// returns none to the kernel.

void *lt_copy_malloc(size_t size);
void *lt_copy_calloc(size_t count, size_t size);
void *lt_copy_realloc(void *block, size_t size);
void lt_copy_free(void *block);
void *lt_copy_aligned(size_t alignment, size_t size);
int lt_copy_posix_memalign(void **block, size_t alignment, size_t size);
/// Frees all blocks, if they take more than 1 MiB.
void lt_copy_allocator_rewind(void);

// --- names -----------------------------------------------------------------------------------------------------------

// Finds the functions that contain addresses, and their readable names, from the symbols of their files.
//
// The Swift runtime has a function that turns a mangled name into a readable one. That function allocates, so it is
// called where no other code allocates. This is a short-lived copy of the process, with a separate allocator. Names are
// kept, so a copy is made only for new functions. The number of names is bounded.

enum {
  LT_FUNCTION_LIMIT = 1 << 15,
  LT_FUNCTION_NONE = 0, ///< for an address without a symbol, or with a symbol that is not known yet
};

struct lt_function {
  uint64_t start;        ///< address of its code
  uint32_t name, symbol; ///< for lt_function_text: the readable name, and the file's symbol
};

/// Sets a function that the copy of the process calls. The function makes the program's calls of malloc in the copy use
/// the copy's allocator.
void lt_function_names_init(void (*useOwnAllocator)(void));
/// Finds names for the addresses. Changes the array: removes known addresses, and sorts the others. Waits for the copy.
/// Names that cannot be found stay unknown. Must run in a task of lt_call_isolated or lt_call_isolated_async, one at a
/// time.
void lt_function_names_find(const struct lt_code_maps *maps, uint64_t *addresses, uint32_t count);
/// The number of the function at an address; LT_FUNCTION_NONE if there is none.
uint32_t lt_function_at(uint64_t address);
const struct lt_function *lt_function(uint32_t number);
const char *lt_function_text(uint32_t offset);
/// True if the child is the current copy.
bool lt_function_names_is_helper(pid_t child);
/// Forgets all names in a child made by fork: the memory of the names is the parent's.
void lt_function_names_reset_after_fork(void);

#endif
