// Numbers for the Swift types of objects.

#ifndef LEAKTRACE_TYPE_TABLE_H
#define LEAKTRACE_TYPE_TABLE_H

#include "swift/storage_kind.h"
#include "thread/thread_state.h"

/// The number of the type whose metadata is at this address; defines it, and its superclasses, the first time. 0 when
/// the table is full.
uint32_t lt_type_for(struct lt_thread *thread, uint64_t metadata);
void lt_type_table_reset(void);
/// Forgets metadata in [start, end), which is gone with its image: a later record there is another type.
void lt_type_table_forget(uintptr_t start, uintptr_t end);

/// Tells whether the metadata is that of an object that was seen being allocated, which storage it is, and its place in
/// the table. Takes no lock and defines nothing.
bool lt_type_storage(uint64_t metadata, uint32_t *storage, uint32_t *place);
/// The metadata of all types in turn; 0 at the end. `position` begins at 0; afterwards it is one more than the type's
/// place.
uint64_t lt_type_next(uint32_t *position);
/// Places in the table.
enum { LT_TYPE_PLACES = 1 << 16 };

#endif
