// The layouts of Swift objects and of the runtime's blocks, for C and Swift.

#ifndef LEAKTRACE_OBJECT_LAYOUT_H
#define LEAKTRACE_OBJECT_LAYOUT_H

#include <stdbool.h>
#include <stdint.h>

/// Offsets and sizes in bytes. A field has 8 bytes unless stated otherwise.
enum {
  // every object: the address of its metadata, then its counts
  SWIFT_OBJECT_COUNTS = 8,
  SWIFT_OBJECT_HEADER = 16,

  // the box of an error. Source: swiftlang/swift, stdlib/public/runtime/ErrorObject.h.
  SWIFT_ERROR_TYPE = 16,
  SWIFT_ERROR_VALUE = 32, ///< the value begins at the next multiple of its alignment

  // Storage of collections. Source: swiftlang/swift, stdlib/public/core (ContiguousArrayBuffer.swift,
  // SetStorage.swift, DictionaryStorage.swift). AsyncStream and swift-collections 1.0 to 1.6 have the same deque.
  SWIFT_ARRAY_COUNT = 16,
  SWIFT_ARRAY_CAPACITY = 24, ///< twice the capacity, plus a flag
  SWIFT_ARRAY_ELEMENTS = 32, ///< the elements begin at the next multiple of their alignment

  SWIFT_DEQUE_CAPACITY = 16,
  SWIFT_DEQUE_COUNT = 24,
  SWIFT_DEQUE_FIRST = 32,    ///< index of the first slot
  SWIFT_DEQUE_ELEMENTS = 40, ///< the elements begin at the next multiple of their alignment

  SWIFT_TABLE_COUNT = 16, ///< set or dictionary
  SWIFT_TABLE_CAPACITY = 24,
  SWIFT_TABLE_SCALE = 32,       ///< 1 byte: the table has 2^scale buckets
  SWIFT_TABLE_KEYS = 48,        ///< address of the keys
  SWIFT_SET_BITMAP = 56,        ///< a bit for each bucket
  SWIFT_DICTIONARY_VALUES = 56, ///< address of the values
  SWIFT_DICTIONARY_BITMAP = 64, ///< a bit for each bucket

  // A side table: the object's address, its counts and its weak references. Source: swiftlang/swift,
  // stdlib/public/SwiftShims/swift/shims/RefCount.h; seen with Swift 6.1.2 and 6.3.1.
  SWIFT_SIDE_TABLE_COUNTS = 16,
  SWIFT_SIDE_TABLE_WEAK_COUNT = 24, ///< 4 bytes
  SWIFT_SIDE_TABLE_SIZE = 32,

  // A task: the start of the header, and its state. Source: swiftlang/swift, include/swift/ABI/Task.h and
  // stdlib/public/Concurrency/TaskPrivate.h; seen with Swift 6.0.3, 6.1.2 and 6.3.1.
  SWIFT_TASK_FLAGS = 32,    ///< 4 bytes: the job's flags. The lower half of the task's number follows
  SWIFT_TASK_STATUS = 96,   ///< 4 bytes: the state's flags. 4 bytes of zeros follow
  SWIFT_TASK_RECORDS = 104, ///< the innermost status record
  SWIFT_TASK_LOCALS = 136,  ///< the innermost task-local value
  SWIFT_TASK_SIZE = 192,    ///< the header's smallest size

  // A status record of a task, and the record with a task's name. Source: swiftlang/swift, include/swift/ABI/
  // TaskStatus.h and MetadataValues.h; seen with Swift 6.3.1. Tasks have names since 6.2.
  SWIFT_RECORD_OUTER = 8,
  SWIFT_RECORD_NAME = 16,        ///< the address of the name, which ends with a zero byte
  SWIFT_RECORD_OF_NAME = 6,      ///< the first word of a record with a name
  SWIFT_TASK_IS_NAMED = 1 << 30, ///< bit of the job's flags
  SWIFT_TASK_NAME_LIMIT = 128,   ///< the most bytes of a name that an image keeps
  SWIFT_RECORD_LIMIT = 64,       ///< the most records that are searched for a name

  // A task-local value. Source: swiftlang/swift, include/swift/ABI/TaskLocal.h; seen with Swift 6.3.1.
  SWIFT_LOCAL_NEXT = 0,  ///< the next value, or the first one of a parent. The lowest bits say which
  SWIFT_LOCAL_KEY = 8,   ///< the object of the key
  SWIFT_LOCAL_TYPE = 16, ///< the metadata of the value; 0 if there is no value

  // A dispatch queue. Source: swiftlang/swift-corelibs-libdispatch, src/queue_internal.h; seen with Swift 6.3.1.
  SWIFT_QUEUE_STATE = 56, ///< the low 30 bits name the thread that runs the queue's work
  SWIFT_QUEUE_LABEL = 72, ///< the address of the queue's name
  SWIFT_QUEUE_WIDTH = 80, ///< 2 bytes: the most jobs of a concurrent queue that run at a time

  // The number of running jobs in the state of a concurrent queue: bits 41 to 53. A queue that runs as many jobs as its
  // width has SWIFT_QUEUE_FULL there. A queue without jobs has its width less.
  SWIFT_QUEUE_JOBS_SHIFT = 41,
  SWIFT_QUEUE_JOBS_MASK = 0x1FFF,
  SWIFT_QUEUE_FULL = 0x1000,

  // A dispatch source has the address of its timer. The timer begins with the address of the source's type. Source:
  // swiftlang/swift-corelibs-libdispatch, src/event/event_internal.h (dispatch_timer_source_refs_s), src/source.c and
  // src/source_internal.h of 6.0.3 to 6.3.1; seen with Swift 6.3.1.
  SWIFT_SOURCE_TIMER = 88,
  SWIFT_TIMER_SOURCE = 8,   ///< the complement of the source's address
  SWIFT_TIMER_FLAGS = 24,   ///< byte 5 has the bit SWIFT_TIMER_IS_TIMER, bits 2 and 3 of byte 6 the clock
  SWIFT_TIMER_HANDLER = 40, ///< the continuation that the timer runs
  SWIFT_TIMER_TARGET = 80,  ///< the time when the timer fires, in nanoseconds of its clock
  SWIFT_TIMER_SIZE = 120,
  SWIFT_TIMER_IS_TIMER = 2,
  SWIFT_CLOCK_UPTIME = 0, ///< CLOCK_MONOTONIC of Linux
  SWIFT_CLOCK_BOOT = 1,   ///< CLOCK_BOOTTIME
  SWIFT_CLOCK_WALL = 2,   ///< CLOCK_REALTIME

  // The context of a thread that waits for a queue's work. The same source and version.
  SWIFT_SYNC_SELF = 40, ///< the context's own address
  SWIFT_SYNC_QUEUE = 56,
  SWIFT_SYNC_EVENT = 96, ///< 4 bytes

  // A slab, which holds frames of a task's functions. It begins with the address of a metadata record that no object
  // has. Source: swiftlang/swift, stdlib/public/runtime/StackAllocator.h; seen with Swift 6.1.2 and 6.3.1.
  SWIFT_SLAB_NEXT = 8,
  SWIFT_SLAB_COUNTS = 16, ///< capacity, then used size: 4 bytes each, without the header
  SWIFT_SLAB_HEADER = 32,
  SWIFT_SLAB_ALLOCATION_SLAB = 8, ///< offset in an allocation's header: the address of the slab
  SWIFT_SLAB_ALLOCATION_HEADER = 16,
};

// The counts of an object, or special values in their place. Source: swiftlang/swift,
// stdlib/public/SwiftShims/swift/shims/RefCount.h; seen with Swift 6.1.2 and 6.3.1.

/// True for an object whose references are not counted.
static inline bool lt_counts_are_immortal(uint64_t counts) { return (uint32_t)counts == UINT32_MAX; }
/// True if the word is the address of a side table, unless the object is immortal.
static inline bool lt_counts_are_in_side_table(uint64_t counts) { return counts >> 62 == 3; }
/// Returns the address of the side table.
static inline uint64_t lt_side_table_of(uint64_t counts) { return (counts & ~(3ull << 62)) << 3; }
/// Returns the number of strong references, less one.
static inline uint32_t lt_strong_extra_count(uint64_t counts) { return counts >> 33 & 0x3FFFFFFF; }
static inline uint32_t lt_unowned_count(uint64_t counts) { return counts >> 1 & 0x7FFFFFFF; }
/// True if the object is being deinitialised, or was deinitialised.
static inline bool lt_counts_are_deiniting(uint64_t counts) { return counts >> 32 & 1; }

/// The counts in the side table of an object that was deinitialised and freed, and has no strong or unowned references.
#define LT_FREED_OBJECT_COUNTS 0x100000001ull

#endif
