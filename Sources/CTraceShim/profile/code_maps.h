// The files whose code is mapped in the process, as the kernel lists them.

#ifndef LEAKTRACE_CODE_MAPS_H
#define LEAKTRACE_CODE_MAPS_H

#include "check.h"

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

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

#endif
