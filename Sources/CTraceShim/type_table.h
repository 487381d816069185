// Numbers for the Swift types of objects, with their names read from the runtime's metadata.

#ifndef LEAKTRACE_TYPE_TABLE_H
#define LEAKTRACE_TYPE_TABLE_H

#include "thread_state.h"

/// The number of the type whose metadata is at this address; defines it, and its superclasses, the first time. 0 when the table is full.
uint32_t lt_type_for(struct lt_thread *thread, uint64_t metadata);
void lt_type_table_reset(void);
/// Metadata in [start, end) is gone with its image; what comes to stand there is another type.
void lt_type_table_forget(uintptr_t start, uintptr_t end);

/// Objects of the standard library whose counts and occupancy bitmaps a snapshot has to know.
enum { LT_STORAGE_NONE = 0, LT_STORAGE_ARRAY = 1, LT_STORAGE_DICTIONARY = 2, LT_STORAGE_SET = 3 };
/// Whether the metadata is that of an object that was seen being allocated, and which storage it is. Takes no lock and defines nothing.
bool lt_type_storage(uint64_t metadata, uint32_t *storage);
/// The metadata of all types in turn; 0 at the end. `position` begins at 0.
uint64_t lt_type_next(uint32_t *position);

/// Writes the readable name of a type, such as `App.Outer.Box<Swift.Int>`, and ends it with a zero. Reads metadata only: takes no lock of the
/// runtime and calls nothing of it. Returns the length; 0 when there is no name to be had.
size_t lt_type_name(uint64_t metadata, char *buffer, size_t size);

#endif
