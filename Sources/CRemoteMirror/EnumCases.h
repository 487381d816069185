// Finds the bits that distinguish an enumeration's cases, by asking the remote mirror library about made-up values.

#ifndef LEAKTRACE_ENUM_CASES_H
#define LEAKTRACE_ENUM_CASES_H

#include "MirrorLibrary.h"

#include <stdbool.h>

struct mirror_cases {
  struct lt_mirror_cases head;
  uint32_t bits[256];
  int16_t table[1 << 12];
};

/// Finds the answer to LT_MIRROR_CASES_OF_TYPE. Takes several microseconds for each bit of a value.
void mirror_find_cases(const struct lt_mirror_library *functions, void *mirror, uint64_t type,
                       struct mirror_cases *cases);

/// Returns the bytes at an address, if they are part of the made-up value about which the library is asked; otherwise
/// NULL.
const void *mirror_probe_bytes(uint64_t address, uint64_t size);

#endif
