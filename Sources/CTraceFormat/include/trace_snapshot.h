// Snapshots: the contents of memory at one moment, in four kinds of chunk. In the headers of these chunks, `thread` is
// 0, and `sequence` counts within each kind. `firstTime` and `lastTime` are lt_snapshot.time.
//
// An image contains words, not bytes. It includes words that look like pointers into the process's memory, words of
// Swift metadata records, and objects' reference counts. It also includes the counts and occupancy bitmaps of arrays,
// sets, dictionaries and deques. Tags and cases of enumerations are included if the snapshot's flags say so. All other
// words, including users' data, are left out; readers see 0.

#ifndef LEAKTRACE_TRACE_SNAPSHOT_H
#define LEAKTRACE_TRACE_SNAPSHOT_H

#include <stdint.h>

enum {
  LT_SNAPSHOT_EXIT = 1,        ///< the process began to exit
  LT_SNAPSHOT_SIGNAL = 2,      ///< a signal is about to end the process
  LT_SNAPSHOT_REQUEST = 3,     ///< requested from outside
  LT_SNAPSHOT_CALL = 4,        ///< requested by the program
  LT_SNAPSHOT_EXPECTATION = 5, ///< an object outlived its expectation. The label is "expectation NUMBER: NAME"
  /// a round of repeated work is over. The label is the repetition's name; it is empty if a request from outside ended
  /// the round
  LT_SNAPSHOT_ROUND = 6,
  LT_SNAPSHOT_INSPECTION = 7, ///< the process was not recorded; its memory was read from outside
  LT_SNAPSHOT_INTERVAL = 8,   ///< taken at regular intervals
  LT_SNAPSHOT_SIZE = 9,       ///< the process has more resident memory than a configured limit
  LT_SNAPSHOT_LIMIT = 10,     ///< the trace has reached its limit; this is the last image with all of its events
};

/// The greatest limit for the number of LT_SNAPSHOT_INTERVAL and LT_SNAPSHOT_SIZE images that a recorder keeps.
#define LT_KEPT_IMAGES_MAX 4096u

enum {
  /// all other threads were stopped, and their registers are known. Without this flag, whole stacks count as in use
  LT_SNAPSHOT_FROZEN = 1u << 0,
  /// words include their top byte, and some words consist of only a top byte
  LT_SNAPSHOT_REFERENCE_TAGS = 1u << 1,
  /// in objects and arrays, a word may consist of only the byte of an enumeration's case
  LT_SNAPSHOT_CASE_BYTES = 1u << 2,
  /// some of the allocator's blocks are missing from the image's list of blocks
  LT_SNAPSHOT_BLOCKS_MISSING = 1u << 3,
  /// the recorder samples, so the image's blocks come from a list, not from events
  LT_SNAPSHOT_LISTED = 1u << 4,
  /// in values of dictionaries, too, a word may consist of only the byte of an enumeration's case
  LT_SNAPSHOT_VALUE_CASE_BYTES = 1u << 5,
  /// the process ran on arm64: threads have 32 registers, and thread-local variables lie above the thread pointer
  LT_SNAPSHOT_ARM64 = 1u << 6,
};

struct lt_snapshot {
  uint32_t number;        ///< the snapshot's number in the process, from 1
  uint32_t reason;        ///< LT_SNAPSHOT_…
  uint64_t time;          ///< trace clock; events up to and including this time come before the image
  uint64_t monotonic;     ///< CLOCK_MONOTONIC at the same moment, in nanoseconds
  uint32_t flags;         ///< LT_SNAPSHOT_… bits
  uint32_t threadCount;   ///< number of struct lt_snapshot_thread after this struct
  uint32_t regionCount;   ///< number of struct lt_snapshot_region after the threads, in order of address
  uint32_t labelSize;     ///< bytes of UTF-8 after the regions
  uint64_t staticTLSSize; ///< bytes next to a thread pointer, below it or above it, that are thread-local variables
};
_Static_assert(sizeof(struct lt_snapshot) == 48, "layout");

enum {
  LT_SNAPSHOT_THREAD_REGISTERS = 1u << 0, ///< `stackPointer` and `registers` are known
  LT_SNAPSHOT_THREAD_SELF = 1u << 1,      ///< the thread that took the snapshot
  LT_SNAPSHOT_THREAD_WAITING = 1u << 2,   ///< it slept in a system call, so it ran no code of the program or a library
};

/// The number of a thread's registers. x86-64: rax, rbx, rcx, rdx, rsi, rdi, rbp, r8 to r15. arm64, with
/// LT_SNAPSHOT_ARM64: x0 to x30.
#define LT_SNAPSHOT_REGISTERS_X86_64 16u
#define LT_SNAPSHOT_REGISTERS_ARM64 32u
#if defined(__aarch64__)
#define LT_SNAPSHOT_REGISTERS LT_SNAPSHOT_REGISTERS_ARM64
#else
#define LT_SNAPSHOT_REGISTERS LT_SNAPSHOT_REGISTERS_X86_64
#endif

/// The index of the register with the first argument of a system call: rdi, or x0.
#define LT_SNAPSHOT_ARGUMENT_X86_64 5u
#define LT_SNAPSHOT_ARGUMENT_ARM64 0u
#if defined(__aarch64__)
#define LT_SNAPSHOT_ARGUMENT LT_SNAPSHOT_ARGUMENT_ARM64
#else
#define LT_SNAPSHOT_ARGUMENT LT_SNAPSHOT_ARGUMENT_X86_64
#endif

/// The fields of a thread before its registers.
/// - flags: LT_SNAPSHOT_THREAD_…;
/// - stackPointer: the stack is in use from this address up. With the ABI of x86-64, also the 128 bytes below it (not
///   for LT_SNAPSHOT_THREAD_SELF);
/// - threadPointer: the address of the thread's control block (fs, or tpidr_el0).
#define LT_SNAPSHOT_THREAD_FIELDS \
  uint32_t osThread;              \
  uint32_t flags;                 \
  uint64_t stackPointer;          \
  uint64_t threadPointer;         \
  uint64_t instructionPointer;

struct lt_snapshot_thread_state {
  LT_SNAPSHOT_THREAD_FIELDS
};
_Static_assert(sizeof(struct lt_snapshot_thread_state) == 32, "layout");

/// A thread on the processor that this header is compiled for.
struct lt_snapshot_thread {
  LT_SNAPSHOT_THREAD_FIELDS
  uint64_t registers[LT_SNAPSHOT_REGISTERS]; ///< those that look like pointers; the others are 0
};
_Static_assert(sizeof(struct lt_snapshot_thread) == 32 + 8 * LT_SNAPSHOT_REGISTERS, "layout");

enum {
  LT_REGION_ANONYMOUS = 1,
  LT_REGION_BREAK = 2, ///< the kernel's [heap]
  LT_REGION_MAIN_STACK = 3,
  LT_REGION_FILE = 4,     ///< private mapping of a file, such as an image's segment
  LT_REGION_SHARED = 5,   ///< shared with other processes
  LT_REGION_RECORDER = 6, ///< the recorder's own; its words are not in the image
};
enum {
  LT_REGION_READABLE = 1u << 0,
  LT_REGION_WRITABLE = 1u << 1,
  LT_REGION_EXECUTABLE = 1u << 2,
  LT_REGION_CAPTURED = 1u << 3, ///< its words are in the image
};

struct lt_snapshot_region {
  uint64_t start, end;
  uint32_t kind;  ///< LT_REGION_…
  uint32_t flags; ///< LT_REGION_… bits
};
_Static_assert(sizeof(struct lt_snapshot_region) == 24, "layout");

/// The header of an LT_CHUNK_MEMORY. Pages follow it until the end of the payload. Pages are in order of address,
/// within a part and from part to part. A page is encoded as:
/// - a varint: its number (address / 4096) minus the previous page's number (0 before the first page of a part);
/// - 64 bytes with a bit for each of its 512 words, the lowest bit first;
/// - for each bit that is set, a zigzag varint: the word minus the previous word (0 before the first word of a part).
struct lt_memory_part {
  uint32_t snapshot; ///< lt_snapshot.number
  uint32_t part;     ///< from 0
};
_Static_assert(sizeof(struct lt_memory_part) == 8, "layout");
/// Bytes of an image's page, whatever the kernel's page size is. A page of the kernel with 16 or 64 KiB is several
/// pages of the image.
#define LT_MEMORY_PAGE 4096u
#define LT_MEMORY_PAGE_WORDS 512u

/// The header of an LT_CHUNK_BLOCKS. Blocks follow it until the end of the payload. Blocks are in order of address,
/// within a part and from part to part. A block is encoded as three varints. The first is its address minus the
/// previous block's address (0 before the first block of a part). The second is its size. The third is its type, or 0
/// if the block is not a Swift object.
struct lt_block_part {
  uint32_t snapshot; ///< lt_snapshot.number
  uint32_t part;     ///< from 0
  uint32_t isLast;   ///< 1 if the list ends with this part; otherwise 0
  uint32_t reserved;
};
_Static_assert(sizeof(struct lt_block_part) == 16, "layout");

struct lt_snapshot_end {
  uint32_t number;
  int32_t error; ///< the errno or LT_METADATA_… that ended it early; 0 if the image is whole
  uint32_t partCount;
  uint32_t unreadablePages;      ///< pages of readable mappings that could not be read, including guard pages; 0 in
                                 ///< older traces
  uint64_t pageCount, wordCount; ///< in the image
  uint64_t capturedBytes;        ///< resident memory that was scanned
  uint64_t pauseNanoseconds;     ///< the time that threads other than the snapshot's thread were stopped
  uint64_t totalNanoseconds;     ///< from the request until the image was written
};
_Static_assert(sizeof(struct lt_snapshot_end) == 56, "layout");

/// The first assumption about the allocator's metadata that does not hold in a process. No errno has these numbers.
enum {
  LT_METADATA_NO_LIBC = 4097,
  LT_METADATA_NO_BINS,
  LT_METADATA_NO_RING,
  LT_METADATA_NO_ROOT,
  LT_METADATA_OTHER_ROOT,
  LT_METADATA_NO_IMAGE,
};

/// Returns a sentence about a failure, without a full stop; NULL for other errors.
static inline const char *lt_metadata_failure_text(int32_t error) {
  switch (error) {
    case LT_METADATA_NO_LIBC: return "the process has no writable data of a C library named libc.so";
    case LT_METADATA_NO_BINS:
      return "the C library has no arena: its data has no 127 bins in a row that link to themselves";
    case LT_METADATA_NO_RING: return "the ring of the C library's arenas fits no layout of glibc 2.31 to 2.43";
    case LT_METADATA_NO_ROOT:
      return "the allocator is not glibc's, and it has no tree of extents as jemalloc 5.1 to 5.3 do";
    case LT_METADATA_OTHER_ROOT: return "the tree of extents belongs to another jemalloc than the program calls";
    case LT_METADATA_NO_IMAGE: return "the program's allocator is in no mapped file";
    default: return NULL;
  }
}

#endif
