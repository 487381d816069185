// Definition records. A record is a byte for its kind, a varint for the length of its payload, and the payload. Readers
// skip unknown kinds. Varints are little-endian base 128 (LEB128), with at most 10 bytes. "zigzag" maps a signed to an
// unsigned number, as (n << 1) ^ (n >> 63). "string" is a varint length and that many bytes of UTF-8.

#ifndef LEAKTRACE_TRACE_DEFINITIONS_H
#define LEAKTRACE_TRACE_DEFINITIONS_H

enum {
  /// varint type ID (from 1), varint metadata address, varint LT_TYPE_… kind, varint context descriptor address (for a
  /// closure or box, the capture descriptor address; 0 if unknown), string name ("" if unknown), varint superclass type
  /// ID or 0.
  LT_DEF_TYPE = 2,
  /// varint load bias, varint first address, varint end address, varint time, varint length and bytes of the build ID,
  /// string path. The time is when the recorder noticed the image. No earlier event has a frame in the image.
  LT_DEF_IMAGE_LOADED = 3,
  /// varint first address, varint end address, varint time.
  LT_DEF_IMAGE_UNLOADED = 4,
  /// varint time, varint CLOCK_MONOTONIC nanoseconds, varint CLOCK_BOOTTIME nanoseconds. All are of the same moment.
  /// Older traces lack the last one, and have a sample at the start alone. Newer traces have one for each heap image.
  LT_DEF_CLOCK = 5,
  /// varint time, varint resident bytes, varint the recorder's own part of those bytes, varint peak resident bytes (0
  /// if unknown).
  LT_DEF_MEMORY = 6,
  /// string executable path, varint flags (LT_PROCESS_…).
  LT_DEF_PROCESS = 7,
  /// varint LT_PAUSE_… kind, varint time.
  LT_DEF_PAUSE = 8,
  /// varint thread number, varint OS thread ID, varint time of the thread's first event.
  LT_DEF_THREAD = 9,
  /// string text: a message for the reader to show, such as why Swift calls could not be traced.
  LT_DEF_WARNING = 10,
  /// The stack of a thread in an inspection: varint OS thread ID, varint thread ID in the process's own PID namespace
  /// (0 if unknown), string name ("" if unknown), varint LT_ACTIVITY_…, varint LT_STACK_…, varint number of frames. For
  /// each frame, the innermost first: varint frame key, zigzag difference of its stack pointer from the previous
  /// frame's (for the first frame, from 0). A frame's memory begins at its stack pointer and ends at its caller's stack
  /// pointer.
  LT_DEF_THREAD_STACK = 11,
  /// An allocator's memory, according to its own metadata: varint time of the image, varint LT_ALLOCATOR_… kind, varint
  /// number of figures, then the figures as varints in the order listed before LT_ALLOCATOR_FIGURES, then varint number
  /// of pins. A pin is a block that keeps an arena from shrinking. For each pin: varint free bytes below it, varint
  /// free bytes above it, varint address of the block, varint bytes of the block.
  LT_DEF_ALLOCATOR = 12,
  /// The kernel's division of resident memory (smaps_rollup): varint time, varint anonymous bytes, varint other bytes
  /// (files and shared memory), varint bytes in huge pages, varint swapped bytes.
  LT_DEF_RESIDENCE = 13,
  /// With LT_OPTION_LIGHT. varint time. Estimates since the start: varints objects allocated, bytes allocated, objects
  /// freed, bytes freed. Counts since the start: varints samples, samples without a stack, samples that did not fit
  /// into a table.
  LT_DEF_SAMPLE_TOTALS = 14,
  /// With LT_OPTION_LIGHT. A sampled stack, and its figures at the time of an image: varint time of the image, varint
  /// number of the site. Counts since the start: varint samples, varint samples that were freed. Estimates: varint
  /// objects allocated, varint bytes allocated, varint variance of the bytes allocated, varint objects freed, varint
  /// bytes freed, varint variance of the bytes freed. Then varint number of frames and their frame keys, the outermost
  /// first, each as the zigzag difference from the previous key (for the first key, from 0). Variances are in units of
  /// (samplePeriod / 256)². The variance of live bytes is the difference of the two variances. If there are no frames,
  /// the stack of the samples is unknown.
  LT_DEF_SAMPLED_SITE = 15,
  /// With LT_OPTION_LIMITED. The trace has reached its limit, and samples are taken from now on. varint time until
  /// which every event is recorded, varint the limit in bytes, varint bytes of allocation from one sample to the next.
  LT_DEF_LIMIT = 16,
};

enum {
  LT_ACTIVITY_UNKNOWN = 0,
  LT_ACTIVITY_COMPUTING = 1,
  LT_ACTIVITY_FIRST_CALL = 2, ///< from this value on: this value plus the number of the thread's system call
};

enum {
  LT_STACK_COMPLETE = 0, ///< the thread began at the last frame
  LT_STACK_CUT = 1,      ///< there are more frames than are recorded
  LT_STACK_NO_RULES = 2, ///< the code of the last frame has no unwind information
  LT_STACK_UNSOUND = 3,  ///< the next frame's memory is missing, or is not a stack
  LT_STACK_UNKNOWN = 4,  ///< the stack was not unwound
};

enum { LT_ALLOCATOR_GLIBC = 1, LT_ALLOCATOR_JEMALLOC = 2, LT_ALLOCATOR_MIMALLOC = 3, LT_ALLOCATOR_TCMALLOC = 4 };

/// Figures of LT_DEF_ALLOCATOR. All are in bytes, except the two counts of arenas. Later versions may append figures.
enum {
  LT_ALLOCATOR_IN_USE = 0,       ///< allocated blocks, with their sizes rounded up
  LT_ALLOCATOR_FREE = 1,         ///< freed, between blocks in use
  LT_ALLOCATOR_CACHED = 2,       ///< freed, in threads' caches and fast bins
  LT_ALLOCATOR_TOP = 3,          ///< free memory at the ends of arenas
  LT_ALLOCATOR_MAPPED = 4,       ///< the part of IN_USE in blocks with separate mappings
  LT_ALLOCATOR_FREE_PAGES = 5,   ///< whole free pages that are resident
  LT_ALLOCATOR_SYSTEM = 6,       ///< obtained from the kernel, without mapped blocks
  LT_ALLOCATOR_ARENAS = 7,       ///< number of arenas
  LT_ALLOCATOR_ARENA_LIMIT = 8,  ///< the most arenas that the program or its environment allows, plus 1; 0 if unknown
  LT_ALLOCATOR_OTHER_ARENAS = 9, ///< free bytes in arenas other than the main arena
  LT_ALLOCATOR_FIGURES = 10,
};

enum {
  LT_PROCESS_SWIFT_HOOKS = 1u << 0, ///< allocObject, retain and release are recorded
  /// a Swift runtime is linked into the executable or a library, or is in a separate loader namespace. The weak and
  /// unowned references of that runtime are not recorded
  LT_PROCESS_SWIFT_STATIC = 1u << 1,
  LT_PROCESS_FORKED = 1u << 2, ///< began as a fork: the parent's blocks are live, but have no events
  /// the process was already running when the recording began: earlier blocks are live, but have no events
  LT_PROCESS_ATTACHED = 1u << 3,
  LT_PROCESS_BLOCKS_MISSING = 1u << 4, ///< with LT_OPTION_INSPECTED: some of the allocator's blocks were not found
  /// with LT_PROCESS_FORKED: the parent had other threads. They held blocks, but their stacks and registers are missing
  LT_PROCESS_THREADS_MISSING = 1u << 5,
};

enum { LT_PAUSE_BEGIN = 1, LT_PAUSE_END = 2 };

enum {
  LT_TYPE_OTHER = 0,
  LT_TYPE_CLASS = 1,
  LT_TYPE_CONTEXT = 2, ///< metadata kind 0x400: closure context or a variable's box
  LT_TYPE_BOX = 3,     ///< metadata kind 0x500: generic box
  LT_TYPE_ERROR = 4,   ///< metadata kind 0x501
  LT_TYPE_TASK = 5,    ///< metadata kind 0x502
};

#endif
