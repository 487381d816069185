// Definition records: a byte of kind, a varint of payload length, the payload. Unknown kinds are skipped. Varints are
// little-endian base 128 (LEB128), at most 10 bytes; "zigzag" maps signed to unsigned as (n << 1) ^ (n >> 63). "string"
// is a varint length and that many bytes of UTF-8.

#ifndef LEAKTRACE_TRACE_DEFINITIONS_H
#define LEAKTRACE_TRACE_DEFINITIONS_H

enum {
  /// varint type ID (from 1), varint metadata address, varint LT_TYPE_ kind, varint context descriptor address (or for
  /// a closure or box the capture descriptor address; 0 when unknown), string name ("" when unknown), varint superclass
  /// type ID or 0.
  LT_DEF_TYPE = 2,
  /// varint load bias, varint first address, varint end address, varint time, varint length and bytes of the build ID,
  /// string path. The time is when the recorder noticed the image: not after the first event with a frame in it.
  LT_DEF_IMAGE_LOADED = 3,
  /// varint first address, varint end address, varint time.
  LT_DEF_IMAGE_UNLOADED = 4,
  /// varint time, varint CLOCK_MONOTONIC nanoseconds: the two read together.
  LT_DEF_CLOCK = 5,
  /// varint time, varint resident bytes, varint the recorder's own part of those bytes, varint peak resident bytes (0
  /// unknown).
  LT_DEF_MEMORY = 6,
  /// string executable path, varint flags (LT_PROCESS_).
  LT_DEF_PROCESS = 7,
  /// varint LT_PAUSE_ kind, varint time.
  LT_DEF_PAUSE = 8,
  /// varint thread number, varint OS thread ID, varint time of its first event.
  LT_DEF_THREAD = 9,
  /// string text: a message for the reader to show, such as why Swift calls could not be traced.
  LT_DEF_WARNING = 10,
  /// The stack of a thread in an inspection: varint OS thread ID, varint its number in the process's own PID namespace
  /// (0 unknown), string name ("" unknown), varint LT_ACTIVITY_, varint LT_STACK_ end, varint number of frames. For
  /// each frame, the innermost first: varint frame key, zigzag difference of its stack pointer from the frame before, 0
  /// before the first. A frame's memory begins at its stack pointer and ends at its caller's.
  LT_DEF_THREAD_STACK = 11,
  /// An allocator's memory, by its own books: varint time of the image, varint LT_ALLOCATOR_ kind, varint number of
  /// figures, then the figures as varints in the order of LT_ALLOCATOR_FIGURES, then varint number of pins. For each
  /// pin: varint free bytes below it, varint free bytes above it, varint address of the block, varint its bytes.
  LT_DEF_ALLOCATOR = 12,
  /// The kernel's division of resident memory (smaps_rollup): varint time, varint anonymous bytes, varint other bytes
  /// (files and shared memory), varint bytes in huge pages, varint swapped bytes.
  LT_DEF_RESIDENCE = 13,
  /// LT_OPTION_LIGHT: varint time; estimates since the start: varint objects allocated, bytes allocated, objects freed,
  /// bytes freed; counts since the start: varint samples, samples without a stack, samples that no table had room for.
  LT_DEF_SAMPLE_TOTALS = 14,
  /// LT_OPTION_LIGHT: a sampled stack and its figures at an image: varint time of the image, varint number of the site.
  /// Counts since the start: varint samples, varint samples that were freed. Estimates: varint objects allocated,
  /// varint bytes allocated, varint the variance of those bytes, varint objects freed, varint bytes freed, varint the
  /// variance of those bytes. Then varint number of frames and their frame keys, the outermost first, each as the
  /// zigzag difference from the one before, and from 0 for the first. Variances are in units of (samplePeriod / 256)².
  /// The variance of live bytes is the difference of the two. No frames: samples whose stack is not known.
  LT_DEF_SAMPLED_SITE = 15,
  /// LT_OPTION_LIMITED: the trace has reached its limit, and samples are taken from now on. varint time until which
  /// every event is recorded; varint the limit in bytes; varint bytes of allocation from one sample to the next.
  LT_DEF_LIMIT = 16,
};

enum {
  LT_ACTIVITY_UNKNOWN = 0,
  LT_ACTIVITY_COMPUTING = 1,
  LT_ACTIVITY_FIRST_CALL = 2, ///< from here on: the number of the system call it was in, plus this
};

enum {
  LT_STACK_COMPLETE = 0, ///< the thread began at the last frame
  LT_STACK_CUT = 1,      ///< there are more frames than are kept
  LT_STACK_NO_RULES = 2, ///< the last frame is of code without rules for unwinding
  LT_STACK_UNSOUND = 3,  ///< the next frame's memory is missing, or is no stack
  LT_STACK_UNKNOWN = 4,  ///< it was not unwound
};

enum { LT_ALLOCATOR_GLIBC = 1, LT_ALLOCATOR_JEMALLOC = 2, LT_ALLOCATOR_MIMALLOC = 3, LT_ALLOCATOR_TCMALLOC = 4 };

/// Figures of LT_DEF_ALLOCATOR, in bytes except the two counts of arenas. More may be added after them.
enum {
  LT_ALLOCATOR_IN_USE = 0,       ///< given out, with the rounding of block sizes
  LT_ALLOCATOR_FREE = 1,         ///< freed, between blocks in use
  LT_ALLOCATOR_CACHED = 2,       ///< freed, in threads' caches and fast bins
  LT_ALLOCATOR_TOP = 3,          ///< free at arenas' ends
  LT_ALLOCATOR_MAPPED = 4,       ///< the part of IN_USE in blocks with mappings of their own
  LT_ALLOCATOR_FREE_PAGES = 5,   ///< whole free pages that are resident
  LT_ALLOCATOR_SYSTEM = 6,       ///< obtained from the kernel, without mapped blocks
  LT_ALLOCATOR_ARENAS = 7,       ///< number of arenas
  LT_ALLOCATOR_ARENA_LIMIT = 8,  ///< the number allowed by the program or its environment, plus 1; 0 if unknown
  LT_ALLOCATOR_OTHER_ARENAS = 9, ///< free bytes in arenas other than the main one
  LT_ALLOCATOR_FIGURES = 10,
};

enum {
  LT_PROCESS_SWIFT_HOOKS = 1u << 0, ///< allocObject, retain and release are seen
  /// a runtime is linked into the executable or a library, or in a namespace of its own: weak and unowned references
  /// are not seen
  LT_PROCESS_SWIFT_STATIC = 1u << 1,
  LT_PROCESS_FORKED = 1u << 2, ///< began as a fork: blocks of the parent are live, without events
  /// the process had run for a while when the recording began: earlier blocks are live, without events
  LT_PROCESS_ATTACHED = 1u << 3,
  LT_PROCESS_BLOCKS_MISSING = 1u << 4, ///< LT_OPTION_INSPECTED: not all of the allocator's blocks were found
  /// LT_PROCESS_FORKED, by one of several threads: the stacks and registers of the others, which held blocks, are
  /// missing
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
