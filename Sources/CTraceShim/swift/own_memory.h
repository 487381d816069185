// The memory of this process, for what reads Swift's metadata (CHeapScan).

#ifndef LEAKTRACE_OWN_MEMORY_H
#define LEAKTRACE_OWN_MEMORY_H

#include "scanned_memory.h"

/// Every address is probed before it is read. May be used by any thread.
extern const struct lt_memory lt_own_memory;

#endif
