// Recognises objects, side tables and task slabs by their words, and finds the words of an object that are counts.

#ifndef LEAKTRACE_OBJECT_WORDS_H
#define LEAKTRACE_OBJECT_WORDS_H

#include "address_index.h"
#include "scanned_memory.h"
#include "verbatim_words.h"

#include <stdbool.h>
#include <stdint.h>

/// True if a word may be the reference counts of a Swift object: of an immortal object, of a live object with plausible
/// counts, or a reference to a side table.
bool lt_is_reference_count(uint64_t word);

/// The counts in the side table of an object that was deinitialised and freed, and has no strong or unowned references.
/// Source: swiftlang/swift, stdlib/public/SwiftShims/swift/shims/RefCount.h; seen with Swift 6.1.2 and 6.3.1.
#define LT_FREED_OBJECT_COUNTS 0x100000001ull
/// True if four words look like the side table of a freed object. Offset 0 holds the object's address, 16 its counts,
/// and 24 the number of weak references in 4 bytes.
bool lt_is_freed_side_table(const uint64_t *table);
/// True if six words at an address look like a slab, which holds frames of a task's functions. At offset 16 are the
/// slab's capacity and its used size, 4 bytes each; both exclude the first 32 bytes. At 32 begins the first allocation,
/// whose second word is the slab's address.
/// Source: swiftlang/swift, stdlib/public/runtime/StackAllocator.h; seen with Swift 6.1.2 and 6.3.1.
bool lt_is_task_slab(uint64_t address, const uint64_t *slab);

/// The most ranges of one object.
enum { LT_OBJECT_RANGES = 7 };
/// Finds the words of an object at `address` that must be kept unchanged. Its first word is known to be its metadata,
/// and its second word is `count`. `end` is the end of the memory that holds the object. For `storage`, see
/// storage_kind.h. Returns the number of ranges; 0 if there is no object. The first `aside` ranges are outside of the
/// object, in its side table. Constant time.
unsigned lt_object_ranges(const struct lt_memory *memory, struct lt_address_index *index, uint64_t end,
                          uint64_t address, uint32_t storage, uint64_t count,
                          struct lt_exact_range ranges[LT_OBJECT_RANGES], unsigned *aside);

#endif
