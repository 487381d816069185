// Event records. See docs/engineering/trace-format.md for the grammar. Operations are 1 … 47; 0 is never written.

#ifndef LEAKTRACE_TRACE_EVENTS_H
#define LEAKTRACE_TRACE_EVENTS_H

enum lt_operation {
  // Allocations. The operands are the size and, for LT_OP_OBJECT, the type.
  LT_OP_OBJECT = 1, ///< swift_allocObject
  LT_OP_MALLOC = 2,
  LT_OP_CALLOC = 3,
  LT_OP_REALLOC = 4, ///< the block that realloc returned
  LT_OP_REALLOCARRAY = 5,
  LT_OP_POSIX_MEMALIGN = 6,
  LT_OP_ALIGNED_ALLOC = 7,
  LT_OP_MEMALIGN = 8,
  LT_OP_VALLOC = 9,
  LT_OP_PVALLOC = 10,
  LT_OP_NEW = 11, ///< reserved: C++ operator new is recorded as LT_OP_MALLOC
  // Frees.
  LT_OP_FREE = 16,
  LT_OP_REALLOC_FREE = 17,   ///< the block that was passed to realloc
  LT_OP_REALLOC_FAILED = 18, ///< realloc failed, so the block is still live; operand size (0 if unknown)
  LT_OP_DELETE = 19,
  LT_OP_HEAP_LISTED = 20, ///< with address 0: a list of all live blocks follows, and replaces all earlier blocks
  // Strong retains.
  LT_OP_RETAIN = 24,
  LT_OP_RETAIN_N = 25,         ///< the operand size is the count
  LT_OP_TRY_RETAIN = 26,       ///< a try that succeeded
  LT_OP_WEAK_LOAD_STRONG = 27, ///< a load that found its object
  LT_OP_WEAK_TAKE_STRONG = 28,
  LT_OP_UNOWNED_RETAIN_STRONG = 29,
  LT_OP_UNOWNED_RETAIN_STRONG_AND_RELEASE = 30,
  LT_OP_NONATOMIC_RETAIN = 31,
  LT_OP_NONATOMIC_RETAIN_N = 32,
  // Strong releases.
  LT_OP_RELEASE = 36,
  LT_OP_RELEASE_N = 37,
  LT_OP_NONATOMIC_RELEASE = 38,
  LT_OP_NONATOMIC_RELEASE_N = 39,
  // Weak and unowned counting.
  LT_OP_UNOWNED_RETAIN = 42,
  LT_OP_UNOWNED_RELEASE = 43,
  LT_OP_LIMIT = 48,
};

/// Control records of the event stream: an explicit tag in 48 … 63, a varint length, the payload. Readers skip unknown
/// records.
enum {
  LT_CONTROL_TIME = 48,       ///< varint: time since the last known time, in units of 2^LT_TIME_SHIFT ticks
  LT_CONTROL_EXACT_TIME = 49, ///< empty; from here on, every event has its time
  /// varint: the address of the running task's outermost async context, or 0 if no task runs. No two live tasks have
  /// the same address
  LT_CONTROL_TASK = 50,
  LT_CONTROL_STACK = 51, ///< a stack change without an event: varint pops, varint pushes, tokens
  LT_CONTROL_MARK = 52,  ///< a mark of the program: varint LT_MARK_ kind, varint time (trace clock), then by kind
};

#endif
