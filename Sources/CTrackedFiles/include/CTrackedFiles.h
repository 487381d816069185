// Mappings of files that note which of their parts are read.

#ifndef LEAKTRACE_CTRACKEDFILES_H
#define LEAKTRACE_CTRACKEDFILES_H

#include <stdbool.h>
#include <stddef.h>

/// Bytes of a file that are noted together; a multiple of the page size.
enum { LT_TRACKED_PART = 16 << 10 };

/// Maps a file privately, for reading and writing. Each part is noted when it is first touched, by this process or by a
/// child that was forked later and that handles faults.
///
/// Returns NULL with errno set if the file cannot be mapped, ENFILE if too many are mapped already. For one thread at a
/// time. The first call takes over SIGSEGV; faults elsewhere end the process, as before.
void *lt_tracked_map(int descriptor, size_t size);

/// Handles faults in a child that has reset its signals.
void lt_tracked_continue_in_child(void);

/// Tells whether a part was touched, by its number from the beginning of the file.
bool lt_tracked_is_read(const void *mapping, size_t part);

/// Ends a mapping and forgets its parts.
void lt_tracked_unmap(void *mapping);

#endif
