// The pages of this process, for the scan that makes a heap image.

#ifndef LEAKTRACE_OWN_PAGES_H
#define LEAKTRACE_OWN_PAGES_H

#include "memory_scan.h"

/// Has pages that cannot be read read as empty ones from now on, and pages behind a protection key as they are. For a
/// copy of the host alone: handlers and mappings change.
void lt_catch_unreadable_pages(void);

/// Has a scan read this process's own memory, which must not change meanwhile. One scan a process: it keeps a
/// descriptor.
void lt_scan_own_pages(struct lt_memory_scan *scan);

#endif
