// Numbers for the Swift types of objects, with their names read from the runtime's metadata.

#ifndef LEAKTRACE_TYPE_TABLE_H
#define LEAKTRACE_TYPE_TABLE_H

#include "storage_kind.h"
#include "thread_state.h"

/// The number of the type whose metadata is at this address; defines it, and its superclasses, the first time. 0 when the table is full.
uint32_t lt_type_for(struct lt_thread *thread, uint64_t metadata);
void lt_type_table_reset(void);
/// Metadata in [start, end) is gone with its image; what comes to stand there is another type.
void lt_type_table_forget(uintptr_t start, uintptr_t end);

/// Whether the metadata is that of an object that was seen being allocated, which storage it is, and its place in the table. Takes no lock and
/// defines nothing.
bool lt_type_storage(uint64_t metadata, uint32_t *storage, uint32_t *place);
/// The metadata of all types in turn; 0 at the end. `position` begins at 0; afterwards it is one more than the type's place.
uint64_t lt_type_next(uint32_t *position);
/// Places in the table.
enum { LT_TYPE_PLACES = 1 << 16 };

/// Writes the readable name of a type, such as `App.Outer.Box<Swift.Int>`, and ends it with a zero. Reads metadata only: takes no lock of the
/// runtime and calls nothing of it. Returns the length; 0 when there is no name to be had.
size_t lt_type_name(uint64_t metadata, char *buffer, size_t size);

#endif
