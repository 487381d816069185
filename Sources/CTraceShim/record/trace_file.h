// The trace and its live file: how they begin, grow and reuse space. A message tells the user why there is none.

#ifndef LEAKTRACE_TRACE_FILE_H
#define LEAKTRACE_TRACE_FILE_H

#include "CTraceFormat.h"
#include "check.h"
#include "os/mapped_file.h"
#include "record/chunk_compressor.h"
#include "thread/thread_state.h"

#include <stdbool.h>
#include <stdint.h>

// --- messages --------------------------------------------------------------------------------------------------------

// Tells the user why something is not traced.

/// Tells the user something, once a reason: a line for `record`, or on standard error when preloaded by hand.
void lt_message(const char *text, const char *detail, int error);
/// The same, called apart.
void lt_message_apart(const char *text, const char *detail, int error);
void lt_message_init(const char *messagesPath, bool quiet);

// --- voids -----------------------------------------------------------------------------------------------------------

// Voids: space of a trace whose chunks were taken back. Later chunks may take it. All calls need a descriptor of the
// trace that can be read and written.

/// A chunk of the trace.
struct lt_placed_chunk {
  uint64_t offset;
  uint64_t size; ///< with its header and padding
  struct lt_chunk_header header;
};

/// Reads the first chunk with a sound header from `offset` on that ends before `end`. Payloads are not looked at.
/// False if there is none.
bool lt_trace_find_chunk(int descriptor, uint64_t offset, uint64_t end, struct lt_placed_chunk *chunk);
/// Turns the chunk at an offset into a void, and takes its events off the trace's count. Its payload stays as it is.
/// Returns 0 or −errno.
int lt_trace_void_chunk(int descriptor, uint64_t offset, _Atomic uint64_t *eventCount);
/// Joins `size` bytes of chunks that follow each other to one void. `size`: LT_VOID_LIMIT at most.
int lt_trace_join_void(int descriptor, uint64_t offset, uint64_t size);
#define LT_VOID_LIMIT (1ull << 31)
/// Puts a chunk of `size` bytes, as lt_trace_finish_chunk leaves it, into a void that has room for it. A reader finds
/// either the void or the chunk. `left` gets what remains of the void, of size 0 if nothing does. Returns 0 or −errno.
int lt_trace_fill_void(int descriptor, const struct lt_placed_chunk *space, const uint8_t *chunk, uint64_t size,
                       struct lt_placed_chunk *left);

// --- files -----------------------------------------------------------------------------------------------------------

// The trace and its live file: append chunks, close, stop when the disk is full.

struct lt_trace {
  uint32_t slotSize;       ///< LT_SLOT_SIZE
  _Atomic uint32_t isOpen; ///< chunks may be appended; the three pointers below are not NULL then
  struct lt_mapped_file file, liveFile;
  struct lt_trace_header *header; ///< the header page, mapped shared
  struct lt_trace_status *status; ///< in the header page. `dataEnd` grows only, by multiples of LT_CHUNK_ALIGNMENT
  struct lt_live_header *live;    ///< the first page of the live file
  pid_t process;
  _Atomic uint32_t untracedChildren;
};
extern struct lt_trace lt_trace __attribute__((visibility("hidden")));

/// Returns the number of events in sealed chunks, which the status page holds.
static inline _Atomic uint64_t *lt_trace_event_count(void) { return (_Atomic uint64_t *)&lt_trace.status->eventCount; }
/// True if chunks may be appended.
bool lt_trace_is_writable(void);
/// Must be called before the process may give up rights that it needs to reach the files' paths.
void lt_trace_before_losing_reach(void);
/// Returns a slot of the live file, or NULL. The caller must hold no lock.
struct lt_live_slot *lt_trace_new_slot(void);
struct lt_compressor;
/// Compresses and appends a chunk. Fills in the header's sizes and checksums. `begun`: a compressor with the beginning
/// of the payload, which stays the caller's; NULL if there is none. Returns the chunk's offset in the trace; 0 when
/// recording has stopped, now or before.
uint64_t lt_trace_append(struct lt_chunk_header *header, const void *payload, uint32_t size,
                         struct lt_compressor *begun);
/// Appends a chunk that has room for its header and its padding around `header->storedSize` bytes of payload. Fills in
/// checksums. Returns 0 or −errno, which the caller handles.
int lt_trace_append_chunk(struct lt_chunk_header *header, uint8_t *chunk);
/// Returns the size of such a chunk in the trace, with its padding: a multiple of LT_CHUNK_ALIGNMENT.
size_t lt_trace_chunk_size(const struct lt_chunk_header *header);
/// Fills in checksums and padding of such a chunk. Returns its size.
size_t lt_trace_finish_chunk(struct lt_chunk_header *header, uint8_t *chunk);
/// Makes chunks of this trace voids, by their offsets: readers skip them.
void lt_trace_void_chunks(const uint64_t *offsets, size_t count);
/// Between these two calls, a new copy of this process can write to the trace.
void lt_trace_begin_copy(void);
void lt_trace_end_copy(void);
/// Prepares the trace for use by that copy alone. Called in the copy.
void lt_trace_be_copy(void);
/// Adds the thread's drop counters to the trace's, and clears them.
void lt_trace_add_drops(struct lt_thread *thread);
/// Counts a lost call that no thread can count.
void lt_trace_add_drop(uint32_t reason);
/// Appends the closing record. The live file is removed unless `keepLive`. Returns the record's offset; 0 if there is
/// none.
uint64_t lt_trace_close(uint32_t reason, bool keepLive);
/// Removes the live file of a closed trace, and the room after its end. If the process goes on after all, it keeps
/// recording, and a kill loses its last events.
void lt_trace_leave_behind(void);
/// Removes both files, when nothing worth keeping was recorded.
void lt_trace_discard(void);
/// Frees the memory of a closed trace, so that another can be opened. No thread may be inside a hook that records, and
/// none may have a slot.
void lt_trace_forget(void);
/// Forgets the parent's trace, in a child made by fork.
void lt_trace_reset_after_fork(void);
/// Bytes of memory that are the recorder's own.
uint64_t lt_recorder_bytes(void);

// --- opening ---------------------------------------------------------------------------------------------------------

// Creates the trace and its live file.

struct lt_trace_options {
  const char *pattern; ///< absolute path with %p, %n, %%
  uint64_t session;
  uint32_t flags; ///< LT_OPTION_
  uint8_t arcMode;
  uint32_t depthLimit;
  uint32_t firstSamples; ///< with LT_OPTION_LIGHT
  uint64_t samplePeriod; ///< with LT_OPTION_LIGHT or LT_OPTION_LIMITED
  bool takesImagesBack;
};

/// Creates the trace and its live file. False, after saying why, when that cannot be.
bool lt_trace_open(const struct lt_trace_options *options, const char *programName);
/// Removes the live file of the program that this one has replaced, and the room that its trace had ahead. Before
/// anything is recorded.
void lt_trace_finish_replaced(const char *path);

#endif
