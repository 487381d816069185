// The trace format, defined once: the recorder in C writes these bytes and the analysis in Swift reads them.
//
// docs/trace-format.md explains the format in prose. This header decides: if the two disagree, correct the prose. It
// holds constants, fixed structs with asserted layouts, and the few index functions that an encoder and a decoder have
// to compute alike. Everything is little endian; a big-endian machine is refused when the header is compiled.

#ifndef LEAKTRACE_TRACE_FORMAT_H
#define LEAKTRACE_TRACE_FORMAT_H

#include <stddef.h>
#include <stdint.h>

#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "the trace format is little endian"
#endif

#ifdef __cplusplus
extern "C" {
#endif

// ---------------------------------------------------------------------------------------------------------------------
// The trace file: one header page, then chunks until the end of the file.

/// First eight bytes of a trace file.
#define LT_TRACE_MAGIC "\x89LKTRC\r\n"
/// First eight bytes of the live file that stands beside a trace while it is being written.
#define LT_LIVE_MAGIC "\x89LKLIV\r\n"
/// Raised by every change that an older reader cannot skip.
#define LT_FORMAT_VERSION 2u
/// The oldest that is still read. Version 1 had 1,024 keys in a payload's dictionary.
#define LT_FORMAT_OLDEST_VERSION 2u
/// Appended to the trace's path to get the live file's.
#define LT_LIVE_SUFFIX ".live"
/// Bytes before the first chunk of a trace file. The part after the two structs is zero.
#define LT_TRACE_HEADER_SIZE 4096u
/// Offset of the mutable status block in the header page.
#define LT_TRACE_STATUS_OFFSET 2048u

/// The clock that counts the unit of `time` fields.
enum {
  LT_CLOCK_TSC = 1,       ///< processor time stamp counter, `ticksPerSecond` of the header
  LT_CLOCK_MONOTONIC = 2, ///< CLOCK_MONOTONIC in nanoseconds
};

/// Ways to record retains and releases.
enum {
  LT_ARC_STACKS = 0, ///< every one with its stack
  LT_ARC_COUNTS = 1, ///< every one with its object, without a stack
  LT_ARC_OFF = 2,    ///< not at all
};

enum {
  LT_OPTION_FOLLOW_CHILDREN = 1u << 0,
  LT_OPTION_START_PAUSED = 1u << 1,
  LT_OPTION_VERIFY_STACKS = 1u << 2, ///< every stack was compared with a fresh unwind
};

/// Static part of the header page, at offset 0. Written once, before the first chunk.
struct lt_trace_header {
  uint8_t magic[8];
  uint32_t version;
  uint32_t headerSize; ///< LT_TRACE_HEADER_SIZE
  uint16_t machine;    ///< e_machine of the traced program: 62 is x86-64, 183 is AArch64
  uint8_t pointerSize;
  uint8_t clockKind;
  uint32_t pageSize;
  uint32_t processID;
  uint32_t parentProcessID;
  uint64_t traceID;        ///< random; equal in a trace and its live file
  uint64_t sessionID;      ///< random; equal in all traces of one `leaktrace record`; 0 when preloaded by hand
  uint64_t startRealtime;  ///< nanoseconds since 1970
  uint64_t startMonotonic; ///< nanoseconds, CLOCK_MONOTONIC
  uint64_t startTime;      ///< the trace's clock at the same moment
  uint64_t ticksPerSecond; ///< of the trace's clock; 0 when unknown (calibrate by LT_DEF_CLOCK records)
  uint32_t options;        ///< LT_OPTION_ bits
  uint8_t arcMode;         ///< LT_ARC_
  uint8_t reserved[3];
  uint32_t stackDepthLimit; ///< frames
  uint32_t liveSlotSize;    ///< bytes of a slot in the live file
  uint8_t reserved2[28];
  uint32_t headerChecksum; ///< CRC-32C of all preceding bytes of this struct
};
_Static_assert(sizeof(struct lt_trace_header) == 128, "layout");
_Static_assert(offsetof(struct lt_trace_header, traceID) == 32, "layout");
_Static_assert(offsetof(struct lt_trace_header, options) == 80, "layout");
_Static_assert(offsetof(struct lt_trace_header, headerChecksum) == 124, "layout");

/// State of the recorder. A hint, since the block is not checksummed; a closing record overrides it.
enum {
  LT_STATE_RECORDING = 1,
  LT_STATE_CLOSED = 2,  ///< a closing record was written
  LT_STATE_STOPPED = 3, ///< recording ended early: see stopErrno
};

/// Reasons for missing events, as indices of the drop counters.
enum {
  LT_DROP_NESTED = 0,           ///< calls made inside a hook, by a signal handler
  LT_DROP_STOPPED = 1,          ///< calls after recording had to stop (disk full, file gone)
  LT_DROP_NO_MEMORY = 2,        ///< no buffer could be had for a thread
  LT_DROP_STACK_TRUNCATED = 3,  ///< stacks cut at the depth limit (the event itself is there)
  LT_DROP_STACK_INCOMPLETE = 4, ///< stacks that end at a frame without unwind information (the event is there)
  /// expectations for which there was no room in the recorder's table (the mark is there)
  LT_DROP_EXPECTATION_UNWATCHED = 5,
  LT_DROP_PAUSED = 6,         ///< reserved: pauses are records, calls while paused are not counted
  LT_DROP_STACK_MISMATCH = 7, ///< LT_OPTION_VERIFY_STACKS: stacks that differed from a fresh unwind
  LT_DROP_COUNT = 12,
};

/// Mutable part of the header page, at LT_TRACE_STATUS_OFFSET. Updated in place by the recorder.
struct lt_trace_status {
  uint32_t state;      ///< LT_STATE_
  int32_t stopErrno;   ///< errno that stopped the recording, 0 if none
  uint64_t stopTime;   ///< trace clock
  uint64_t eventCount; ///< events in sealed chunks
  uint64_t drops[LT_DROP_COUNT];
  /// offset behind the last chunk that was begun; 0 in traces that end with their file. The file may go on, as a hole
  uint64_t dataEnd;
  uint64_t fileSize;  ///< the file's size as the recorder set it
  uint32_t isGrowing; ///< a process that records is making the file larger
  uint32_t reserved;
};
_Static_assert(offsetof(struct lt_trace_status, dataEnd) == 120, "layout");
_Static_assert(sizeof(struct lt_trace_status) == 144, "layout");

// ---------------------------------------------------------------------------------------------------------------------
// Chunks

#define LT_CHUNK_MAGIC 0x4B43544Cu ///< "LTCK"
/// Chunks begin at multiples of this many bytes; the gap after a payload is zero.
#define LT_CHUNK_ALIGNMENT 8u
/// No chunk decompresses to more than this.
#define LT_CHUNK_MAX_RAW (64u << 20)

enum {
  LT_CHUNK_DEFINITIONS = 1, ///< types, images, clocks: framed definition records
  LT_CHUNK_EVENTS = 2,      ///< the events of one thread, in order
  LT_CHUNK_CLOSING = 3,     ///< struct lt_closing; authoritative if it is the last chunk
  LT_CHUNK_SNAPSHOT = 4,    ///< struct lt_snapshot, its threads, its regions, its label: a heap image begins
  LT_CHUNK_MEMORY = 5,      ///< struct lt_memory_part, then pages of that image
  /// struct lt_snapshot_end: whether the image is whole. By itself: there is no image, and why
  LT_CHUNK_SNAPSHOT_END = 6,
};

enum {
  LT_COMPRESSION_NONE = 0,
  LT_COMPRESSION_ZSTD = 1, ///< one zstd frame
};

struct lt_chunk_header {
  uint32_t magic;
  uint16_t kind;       ///< LT_CHUNK_
  uint8_t compression; ///< LT_COMPRESSION_
  uint8_t reserved;
  uint32_t storedSize;      ///< payload bytes in the file
  uint32_t rawSize;         ///< payload bytes after decompression
  uint32_t thread;          ///< the writing thread's number, from 1; 0 for the process
  uint32_t sequence;        ///< counts the chunks of this kind and thread from 0
  uint64_t firstTime;       ///< events: time base of the first event
  uint64_t lastTime;        ///< events: time of the last event
  uint64_t eventCount;      ///< events: their number; otherwise 0
  uint32_t payloadChecksum; ///< CRC-32C of the stored payload
  uint32_t headerChecksum;  ///< CRC-32C of all preceding bytes of this struct
};
_Static_assert(sizeof(struct lt_chunk_header) == 56, "layout");
_Static_assert(offsetof(struct lt_chunk_header, headerChecksum) == 52, "layout");

// ---------------------------------------------------------------------------------------------------------------------
// The live file: what threads have recorded since their last sealed chunk. Mapped shared, so that it outlives the
// process. A header page, then slots of liveSlotSize bytes. Removed when the trace is closed.

struct lt_live_header {
  uint8_t magic[8];
  uint32_t version;
  uint32_t slotSize;
  uint64_t traceID;
  uint32_t slotCount;         ///< slots allocated so far
  uint32_t pauseSwitch;       ///< LT_SWITCH_; written by `leaktrace pause` and `resume`, read by the hooks
  uint32_t snapshotSignal;    ///< the signal that asks for a snapshot; 0: none can be asked for
  uint32_t snapshotsAsked;    ///< incremented by the requester, before the signal
  uint32_t snapshotsAnswered; ///< `snapshotsAsked` as it was when the last snapshot began, once that has ended
  int32_t snapshotError;      ///< errno of the last snapshot, 0 if it was written
  uint32_t snapshotNumber;    ///< of the last snapshot that has ended
  /// LT_SNAPSHOT_ROUND if the requested snapshot ends a round; otherwise it is one requested from outside. Written
  /// before `snapshotsAsked`
  uint32_t snapshotReason;
  // A requester has the process make a thread that takes the snapshot, by a call of clone(2) with these registers.
  // Addresses are the process's.
  /// 0: none. The requester claims it with its own process's number; the kernel stores the thread's there, and 0 when
  /// that has ended
  uint32_t servingThread;
  uint32_t servingMayBegin; ///< set to 0 with the claim, and to 1 once nobody traces the process any more
  uint64_t servingCall;     ///< the `syscall` instruction to be executed; 0: no thread can be made
  uint64_t servingFlags;
  uint64_t servingStack; ///< stack pointer of the new thread
  uint64_t servingThreadPointer;
  uint64_t servingWord; ///< where `servingThread` is
};
_Static_assert(offsetof(struct lt_live_header, snapshotSignal) == 32, "layout");
_Static_assert(offsetof(struct lt_live_header, servingThread) == 56, "layout");
_Static_assert(sizeof(struct lt_live_header) == 104, "layout");

#define LT_LIVE_HEADER_SIZE 4096u
/// LT_SWITCH_SNAPSHOT: the next hook of any thread is to take the snapshot that was asked for, and to set
/// LT_SWITCH_RECORD again.
enum { LT_SWITCH_RECORD = 0, LT_SWITCH_PAUSED = 1, LT_SWITCH_SNAPSHOT = 2 };

/// At the start of every slot. Payload bytes before the `used` offsets are complete records.
struct lt_live_slot {
  uint32_t thread; ///< 0: the slot is free and holds nothing
  uint32_t osThread;
  uint32_t definitionSequence; ///< chunk sequence numbers these payloads will be sealed under
  uint32_t eventSequence;
  uint32_t definitionStart; ///< offsets from the slot's start
  uint32_t definitionUsed;  ///< payload is [definitionStart, definitionUsed)
  uint32_t eventUsed;       ///< payload is [eventStart, eventUsed)
  uint32_t eventCount;      ///< events in it; stored together with eventUsed, in one word
  uint64_t firstTime;       ///< as in the chunk header
  uint32_t eventStart;
  uint32_t reserved[5];
};
_Static_assert(offsetof(struct lt_live_slot, eventUsed) == 24, "layout");
_Static_assert(sizeof(struct lt_live_slot) == 64, "layout");

// ---------------------------------------------------------------------------------------------------------------------
// Definition records: a byte of kind, a varint of payload length, the payload. Unknown kinds are skipped. Varints are
// little-endian base 128 (LEB128), at most 10 bytes; "zigzag" maps signed to unsigned as (n << 1) ^ (n >> 63). "string"
// is a varint length and that many bytes of UTF-8.

enum {
  /// varint type ID (from 1), varint metadata address, varint LT_TYPE_ kind, varint context descriptor address (or for
  /// a closure or box the capture descriptor address; 0 when unknown), string name ("" when unknown), varint superclass
  /// type ID or 0.
  LT_DEF_TYPE = 2,
  /// varint load bias, varint first address, varint end address, varint time, varint length and bytes of the build ID,
  /// string path. The time is that of noticing it: not after the first event with a frame in it.
  LT_DEF_IMAGE_LOADED = 3,
  /// varint first address, varint end address, varint time.
  LT_DEF_IMAGE_UNLOADED = 4,
  /// varint time, varint CLOCK_MONOTONIC nanoseconds: the two read together.
  LT_DEF_CLOCK = 5,
  /// varint time, varint resident bytes, varint bytes of it that are the recorder's own, varint peak resident bytes (0
  /// unknown).
  LT_DEF_MEMORY = 6,
  /// string executable path, varint flags (LT_PROCESS_).
  LT_DEF_PROCESS = 7,
  /// varint LT_PAUSE_ kind, varint time.
  LT_DEF_PAUSE = 8,
  /// varint thread number, varint OS thread ID, varint time of its first event.
  LT_DEF_THREAD = 9,
  /// string text: something the reader should show, such as why Swift calls could not be traced.
  LT_DEF_WARNING = 10,
};

enum {
  LT_PROCESS_SWIFT_HOOKS = 1u << 0, ///< allocObject, retain and release are seen
  /// a runtime is linked into the executable or a library, or in a namespace of its own: weak and unowned references
  /// are not seen
  LT_PROCESS_SWIFT_STATIC = 1u << 1,
  LT_PROCESS_FORKED = 1u << 2, ///< began as a fork: blocks of the parent are live unseen
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

/// A frame key is a run-time address with these flags. Addresses fit below them on every supported machine.
#define LT_FRAME_EXACT (1ull << 62) ///< the address itself was executing or will be; without it, it is a return address
#define LT_FRAME_ASYNC (1ull << 63) ///< a logical caller: the address at which it resumes; always exact
#define LT_FRAME_ADDRESS_MASK ((1ull << 57) - 1)

/// The address in a word of memory, without the top byte, in which Swift keeps other parts of a reference.
#define LT_WORD_ADDRESS_MASK 0x00FFFFFFFFFFFFFFull

// ---------------------------------------------------------------------------------------------------------------------
// Event records. See docs/trace-format.md for the grammar. Operations 1 … 47; 0 is never written.

enum lt_operation {
  // Allocations: operands size and (LT_OP_OBJECT) type.
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
  LT_OP_NEW = 11, ///< C++ operator new, where it does not reach malloc
  // Frees.
  LT_OP_FREE = 16,
  LT_OP_REALLOC_FREE = 17,   ///< the block that was given to realloc
  LT_OP_REALLOC_FAILED = 18, ///< that block again: realloc failed, it is still live. operand size (0 unknown)
  LT_OP_DELETE = 19,
  // Strong retains.
  LT_OP_RETAIN = 24,
  LT_OP_RETAIN_N = 25,         ///< operand size: the count
  LT_OP_TRY_RETAIN = 26,       ///< one that succeeded
  LT_OP_WEAK_LOAD_STRONG = 27, ///< one that found its object
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

/// Control records of the event stream: an explicit tag in 48 … 63, a varint length, the payload. Unknown ones are
/// skipped.
enum {
  LT_CONTROL_TIME = 48,       ///< varint: ticks since the last known time (divided as event times are)
  LT_CONTROL_EXACT_TIME = 49, ///< empty: from here on every event carries its time
  /// varint: the address of the running task's outermost async context, which tells it from all others that live; 0: no
  /// task
  LT_CONTROL_TASK = 50,
  LT_CONTROL_STACK = 51, ///< a stack change without an event: varint pops, varint pushes, tokens
  LT_CONTROL_MARK = 52,  ///< a mark of the program: varint LT_MARK_ kind, varint time (trace clock), then by kind
};

/// Marks that a program makes through the LeakTrace library, in the event stream of the calling thread. Strings are cut
/// at 255 bytes.
enum {
  /// varint scope number (unique in the process, not 0), string name, string file, varint line
  LT_MARK_SCOPE_BEGIN = 1,
  LT_MARK_SCOPE_END = 2,  ///< varint scope number, varint grace (ticks; UINT64_MAX: it only says whose objects are)
  LT_MARK_GENERATION = 3, ///< string name, string file, varint line
  /// varint expectation number (not 0), varint object's address, varint deadline (trace clock), string name, string
  /// file, varint line
  LT_MARK_EXPECTATION = 4,
  /// varint repetition number (not 0), varint round (from 1), varint number of the snapshot at its end, varint number
  /// of the only scope that counts (0: all work), string name, string file, varint line
  LT_MARK_ROUND = 5,
  /// nothing: the program asks to end the process, and control does not return to the frames of the stack before it
  LT_MARK_END = 6,
};

#define LT_TAG_PREDICTED 0x80u ///< operation and stack change are those that followed last time in this context
#define LT_TAG_OPERANDS 0x40u  ///< size (and type) follow: they differ from the last ones in this context
#define LT_TAG_LOW_MASK 0x3Fu  ///< predicted: address code; explicit: operation or control

/// Address codes, 0 … 63.
enum {
  LT_ADDRESS_RECENT = 0,    ///< 0 … 3: recent[code]
  LT_ADDRESS_SUCCESSOR = 4, ///< the address that came after recent[0] last time
  LT_ADDRESS_TABLE = 5,     ///< a byte follows: index into the table of hashed addresses
  LT_ADDRESS_DELTA16 = 6,   ///< zigzag varint follows: (address − recent[0]) / 16
  LT_ADDRESS_DELTA = 7,     ///< zigzag varint follows: address − recent[0]
  LT_ADDRESS_NEAR = 8,      ///< 8 … 35: recent[0] − 16 × (36 − code); 36 … 63: recent[0] + 16 × (code − 35)
};

/// Event times are counted in units of 2^LT_TIME_SHIFT ticks.
#define LT_TIME_SHIFT 3
#define LT_RECENT_COUNT 4u
#define LT_SUCCESSOR_COUNT 1024u
#define LT_ADDRESS_TABLE_COUNT 256u
#define LT_KEY_COUNT 4096u
#define LT_CONTEXT_COUNT 512u
/// A predicted stack change pushes at most this many frames.
#define LT_PREDICTED_PUSHES 6u
#define LT_HASH_MULTIPLIER 0x9E3779B97F4A7C15ull

/// Index into the successor table for the address that came before.
static inline uint32_t lt_successor_index(uint64_t address) {
  return (uint32_t)(((address >> 4) * LT_HASH_MULTIPLIER) >> 54);
}
/// Index into the table of hashed addresses.
static inline uint32_t lt_address_index(uint64_t address) {
  return (uint32_t)(((address >> 4) * LT_HASH_MULTIPLIER) >> 56);
}
/// Index into the dictionary of frame keys.
static inline uint32_t lt_key_index(uint64_t key) { return (uint32_t)((key * LT_HASH_MULTIPLIER) >> 52); }
/// Index into the prediction table and the site table: what an event did, and the two innermost frames of its stack (0
/// where there are none).
static inline uint32_t lt_context_index(uint32_t operation, uint64_t innermost, uint64_t next) {
  return (uint32_t)(((innermost + (next << 17) + ((uint64_t)operation << 48)) * LT_HASH_MULTIPLIER) >> 55);
}

/// Push tokens: 0 is a literal key, 1 … LT_KEY_COUNT a key of the dictionary, above that a copy of keys from further
/// out.
enum { LT_TOKEN_LITERAL = 0, LT_TOKEN_DICTIONARY = 1, LT_TOKEN_COPY = LT_KEY_COUNT + 1 };

// ---------------------------------------------------------------------------------------------------------------------
// Snapshots: what memory held at one moment, in three kinds of chunk (thread 0, sequence counts within each kind,
// firstTime and lastTime are lt_snapshot.time).
//
// An image holds words, not bytes: a word is in it if it looks like a pointer into the process's memory, or belongs to
// a Swift metadata record, or is an object's reference count, or a count or occupancy bitmap of the standard library's
// array, set and dictionary storage. Everything else, and so users' data, is left out, and reads as 0.

enum {
  LT_SNAPSHOT_EXIT = 1,        ///< the process began to exit
  LT_SNAPSHOT_SIGNAL = 2,      ///< a signal is about to end the process
  LT_SNAPSHOT_REQUEST = 3,     ///< asked for from outside
  LT_SNAPSHOT_CALL = 4,        ///< asked for by the program
  LT_SNAPSHOT_EXPECTATION = 5, ///< an object outlived its expectation. The label is "expectation NUMBER: NAME"
  /// a round of repeated work is over. The label is the repetition's name; empty if a request from outside ended it
  LT_SNAPSHOT_ROUND = 6,
};

enum {
  /// every other thread stood still, and its registers are known; otherwise whole stacks count as in use
  LT_SNAPSHOT_FROZEN = 1u << 0,
  /// words have their top byte, and some words are a top byte without an address
  LT_SNAPSHOT_REFERENCE_TAGS = 1u << 1,
  /// in objects and arrays, a word may have the byte of an enumeration's case and nothing else
  LT_SNAPSHOT_CASE_BYTES = 1u << 2,
};

struct lt_snapshot {
  uint32_t number;        ///< of the process's snapshots, from 1
  uint32_t reason;        ///< LT_SNAPSHOT_
  uint64_t time;          ///< trace clock; events up to and including this time come before the image
  uint64_t monotonic;     ///< CLOCK_MONOTONIC at the same moment, nanoseconds
  uint32_t flags;         ///< LT_SNAPSHOT_ bits
  uint32_t threadCount;   ///< struct lt_snapshot_thread, as many
  uint32_t regionCount;   ///< struct lt_snapshot_region, after the threads, in order of address
  uint32_t labelSize;     ///< bytes of UTF-8 after the regions
  uint64_t staticTLSSize; ///< bytes below a thread pointer that are thread-local variables
};
_Static_assert(sizeof(struct lt_snapshot) == 48, "layout");

enum {
  LT_SNAPSHOT_THREAD_REGISTERS = 1u << 0, ///< `stackPointer` and `registers` are known
  LT_SNAPSHOT_THREAD_SELF = 1u << 1,      ///< the thread that took the snapshot
  LT_SNAPSHOT_THREAD_WAITING = 1u << 2,   ///< it slept in a system call: it ran no code, its own or a library's
};

struct lt_snapshot_thread {
  uint32_t osThread;
  uint32_t flags; ///< LT_SNAPSHOT_THREAD_
  /// the stack is in use from here up; but for LT_SNAPSHOT_THREAD_SELF also the ABI's 128 bytes below
  uint64_t stackPointer;
  uint64_t threadPointer; ///< base of the thread's control block (fs)
  uint64_t instructionPointer;
  uint64_t registers[16]; ///< those that look like pointers; the others 0
};
_Static_assert(sizeof(struct lt_snapshot_thread) == 160, "layout");

enum {
  LT_REGION_ANONYMOUS = 1,
  LT_REGION_BREAK = 2, ///< the kernel's [heap]
  LT_REGION_MAIN_STACK = 3,
  LT_REGION_FILE = 4,     ///< private mapping of a file: images' segments
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
  uint32_t kind;  ///< LT_REGION_
  uint32_t flags; ///< LT_REGION_ bits
};
_Static_assert(sizeof(struct lt_snapshot_region) == 24, "layout");

/// Head of a LT_CHUNK_MEMORY. After it, pages until the end of the payload, in order of address, here and across parts.
/// A page: varint of the page's number (address / 4096) less that of the page before it (0 before the first of a part);
/// 64 bytes, a bit for each of its 512 words, the lowest first; and for each bit that is set a zigzag varint, the word
/// less the word before it (0 before the first of a part).
struct lt_memory_part {
  uint32_t snapshot; ///< lt_snapshot.number
  uint32_t part;     ///< from 0
};
_Static_assert(sizeof(struct lt_memory_part) == 8, "layout");
#define LT_MEMORY_PAGE 4096u
#define LT_MEMORY_PAGE_WORDS 512u

struct lt_snapshot_end {
  uint32_t number;
  int32_t error; ///< errno that ended it early, 0 if the image is whole
  uint32_t partCount;
  uint32_t reserved;
  uint64_t pageCount, wordCount; ///< in the image
  uint64_t capturedBytes;        ///< resident memory that was looked at
  uint64_t pauseNanoseconds;     ///< time for which threads other than the snapshot's stood still
  uint64_t totalNanoseconds;     ///< from the request until the image was written
};
_Static_assert(sizeof(struct lt_snapshot_end) == 56, "layout");

// ---------------------------------------------------------------------------------------------------------------------
// Closing record: the payload of an LT_CHUNK_CLOSING.

enum {
  LT_CLOSE_EXIT = 1,            ///< exit or return from main, by the recorder
  LT_CLOSE_EXEC = 2,            ///< about to replace its program
  LT_CLOSE_STOPPED = 3,         ///< recording ended before the process
  LT_CLOSE_RECOVERED = 4,       ///< the process died without closing; `record` finished the file
  LT_CLOSE_UNDERSCORE_EXIT = 5, ///< _exit, _Exit or quick_exit
};

struct lt_closing {
  uint32_t reason;    ///< LT_CLOSE_
  int32_t waitStatus; ///< as by waitpid, where known; −1 otherwise
  uint64_t time;
  uint64_t monotonic;     ///< CLOCK_MONOTONIC at the same moment; 0 unknown
  uint64_t eventCount;    ///< events of all chunks
  uint64_t residentBytes; ///< of the process, at the end; 0 unknown
  uint64_t peakResidentBytes;
  uint64_t recorderBytes;    ///< resident bytes that are the recorder's own
  uint32_t threadCount;      ///< threads that recorded at least one event
  uint32_t untracedChildren; ///< children started while children were not followed
  uint64_t drops[LT_DROP_COUNT];
};
_Static_assert(sizeof(struct lt_closing) == 160, "layout");

/// CRC-32C (Castagnoli) of `size` bytes, continuing from `seed` (0 to begin). Thread-safe; no allocation. Linear.
uint32_t lt_crc32c(uint32_t seed, const void *bytes, size_t size);

#ifdef __cplusplus
}
#endif
#endif
