// The bits that tell an enumeration's cases apart, found by asking the remote mirror library about made-up values.

#ifndef LEAKTRACE_ENUM_CASES_H
#define LEAKTRACE_ENUM_CASES_H

#include "MirrorLibrary.h"

#include <stdbool.h>

struct mirror_cases {
  struct lt_mirror_cases head;
  uint32_t bits[256];
  int16_t table[1 << 12];
};

/// Finds the answer to LT_MIRROR_CASES_OF_TYPE. Takes some microseconds for each bit of a value.
void mirror_find_cases(const struct lt_mirror_library *functions, void *mirror, uint64_t type,
                       struct mirror_cases *cases);

/// The made-up value that the library is being asked about, if these are its bytes; otherwise NULL.
const void *mirror_probe_bytes(uint64_t address, uint64_t size);

#endif
