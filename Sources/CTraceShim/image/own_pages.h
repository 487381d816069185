// The pages of this process, for the scan that makes a heap image.

#ifndef LEAKTRACE_OWN_PAGES_H
#define LEAKTRACE_OWN_PAGES_H

#include "memory_scan.h"

/// Has a scan read this process's own memory, which must not change meanwhile. One scan a process: it keeps a
/// descriptor.
void lt_scan_own_pages(struct lt_memory_scan *scan);

#endif
