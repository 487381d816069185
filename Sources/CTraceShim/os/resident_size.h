#ifndef LEAKTRACE_RESIDENT_SIZE_H
#define LEAKTRACE_RESIDENT_SIZE_H

#include <stdint.h>

/// Resident bytes of the process; 0 when unknown. Opens a file, apart.
uint64_t lt_resident_size(void);

#endif
