// Numbers for the Swift types of objects.

#ifndef LEAKTRACE_TYPE_TABLE_H
#define LEAKTRACE_TYPE_TABLE_H

#include "thread/thread_state.h"
#include "type_set.h"

/// The number of the type whose metadata is at this address; defines it, and its superclasses, the first time. 0 when
/// the table is full.
uint32_t lt_type_for(struct lt_thread *thread, uint64_t metadata);
void lt_type_table_reset(void);
/// Forgets metadata in [start, end), which is gone with its image: a later record there is another type.
void lt_type_table_forget(uintptr_t start, uintptr_t end);

/// Copies at most `limit` of the types that objects were seen being allocated of, in no order. Returns how many. Takes
/// no lock and defines nothing.
uint32_t lt_types(struct lt_scanned_type *types, uint32_t limit);
/// Types that there are at most.
enum { LT_TYPE_PLACES = 1 << 16 };

#endif
