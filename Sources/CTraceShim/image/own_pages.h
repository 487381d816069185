// The pages of this process, for the scan that makes a heap image.

#ifndef LEAKTRACE_OWN_PAGES_H
#define LEAKTRACE_OWN_PAGES_H

#include "memory_scan.h"

/// From now on, unreadable pages read as empty, and pages behind a protection key are readable. Only for a copy of the
/// host: it changes handlers and mappings.
void lt_catch_unreadable_pages(void);

/// Makes a scan read this process's own memory, which must not change during the scan. One scan a process: it keeps a
/// descriptor.
void lt_scan_own_pages(struct lt_memory_scan *scan);

#endif
