// Maps files, and notes which of their parts are read.

#ifndef LEAKTRACE_CTRACKEDFILES_H
#define LEAKTRACE_CTRACKEDFILES_H

#include <stdbool.h>
#include <stddef.h>

/// The bytes of a part, which is noted as a whole; a multiple of the page size.
enum { LT_TRACKED_PART = 16 << 10 };

/// Maps a file privately, for reading and writing. Each part is noted when it is first accessed by this process, or by
/// a child that was forked later and has called lt_tracked_continue_in_child.
///
/// Returns NULL with errno set if the file cannot be mapped: ENFILE if too many files are mapped. For one thread at a
/// time. The first call installs a handler for SIGSEGV; faults elsewhere still end the process.
void *lt_tracked_map(int descriptor, size_t size);

/// Installs the handler for faults again, in a child that has reset its signals.
void lt_tracked_continue_in_child(void);

/// True if a part was accessed. `part` is its number from the start of the file, from 0.
bool lt_tracked_is_read(const void *mapping, size_t part);

/// Ends a mapping, and forgets which parts were accessed.
void lt_tracked_unmap(void *mapping);

#endif
