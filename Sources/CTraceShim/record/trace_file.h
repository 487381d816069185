// The trace and its live file: opening, appending, and reuse of space. Messages tell the user why nothing is recorded.

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

/// Shows a message to the user. Writes a line to the file of `record`, which shows equal lines once. If the library was
/// preloaded by hand, writes the line to standard error, or nothing in quiet mode.
void lt_message(const char *text, const char *detail, int error);
/// Like lt_message, but must be called in a separate task (lt_call_isolated).
void lt_message_isolated(const char *text, const char *detail, int error);
void lt_message_init(const char *messagesPath, bool quiet);

// --- voids -----------------------------------------------------------------------------------------------------------

// Voids: the space of chunks that were removed from a trace. Later chunks may reuse the space. All these functions need
// a descriptor of the trace that can be read and written.

/// A chunk of the trace.
struct lt_placed_chunk {
  uint64_t offset;
  uint64_t size; ///< includes the header and the padding
  struct lt_chunk_header header;
};

/// Reads the first chunk at or after `offset` that has a valid header and ends before `end`. Does not check payloads.
/// Returns false if there is none.
bool lt_trace_find_chunk(int descriptor, uint64_t offset, uint64_t end, struct lt_placed_chunk *chunk);
/// Turns the chunk at an offset into a void, and subtracts its events from the trace's count. The payload stays
/// unchanged. Returns 0 or −errno.
int lt_trace_void_chunk(int descriptor, uint64_t offset, _Atomic uint64_t *eventCount);
/// Joins adjacent chunks of `size` bytes in all into one void. `size` is at most LT_VOID_LIMIT.
int lt_trace_join_void(int descriptor, uint64_t offset, uint64_t size);
#define LT_VOID_LIMIT (1ull << 31)
/// Writes a chunk of `size` bytes into a void that has room for it. lt_trace_finish_chunk must have finished the chunk.
/// A reader finds either the void or the chunk. Writes the rest of the void to `left`; its size is 0 if nothing
/// remains. Returns 0 or −errno.
int lt_trace_fill_void(int descriptor, const struct lt_placed_chunk *space, const uint8_t *chunk, uint64_t size,
                       struct lt_placed_chunk *left);

// --- files -----------------------------------------------------------------------------------------------------------

// Appends chunks to the trace, closes it, and stops when the disk is full.

struct lt_trace {
  uint32_t slotSize; ///< LT_SLOT_SIZE
  /// chunks may be appended; the three pointers below are then not NULL. The store of 1 pairs with the acquire in
  /// lt_trace_is_writable
  _Atomic uint32_t isOpen;
  struct lt_mapped_file file, liveFile;
  struct lt_trace_header *header; ///< the header page, in a shared mapping
  struct lt_trace_status *status; ///< lies in the header page. `dataEnd` never decreases, and is a multiple of
                                  ///< LT_CHUNK_ALIGNMENT
  struct lt_live_header *live;    ///< the first page of the live file
  pid_t process;
  _Atomic uint32_t untracedChildren; ///< a counter, which needs no order
};
extern struct lt_trace lt_trace __attribute__((visibility("hidden")));

/// Returns the counter of events in sealed chunks, which lies in the trace's status.
static inline _Atomic uint64_t *lt_trace_event_count(void) { return (_Atomic uint64_t *)&lt_trace.status->eventCount; }
/// True if chunks may be appended.
bool lt_trace_is_writable(void);
/// Must be called before the process may give up rights that it needs to open the files by their paths.
void lt_trace_before_losing_reach(void);
/// Returns a slot of the live file, or NULL. The caller must hold no lock.
struct lt_live_slot *lt_trace_new_slot(void);
struct lt_compressor;
/// Compresses and appends a chunk, and fills in the header's sizes and checksums. `begun` is a compressor that has
/// compressed the beginning of the payload, or NULL; the caller keeps it. Returns the chunk's offset in the trace, or 0
/// if recording has stopped or stops during this call.
uint64_t lt_trace_append(struct lt_chunk_header *header, const void *payload, uint32_t size,
                         struct lt_compressor *begun);
/// Appends a chunk of `header->storedSize` payload bytes. `chunk` must have room for the header before the payload, and
/// for padding after it. Fills in checksums. Returns 0 or −errno; the caller must handle the error.
int lt_trace_append_chunk(struct lt_chunk_header *header, uint8_t *chunk);
/// Returns the chunk's size in the trace with its padding, a multiple of LT_CHUNK_ALIGNMENT.
size_t lt_trace_chunk_size(const struct lt_chunk_header *header);
/// Fills in the chunk's checksums and padding. Returns the chunk's size.
size_t lt_trace_finish_chunk(struct lt_chunk_header *header, uint8_t *chunk);
/// Makes the chunks of this trace at these offsets voids, so that readers skip them.
void lt_trace_void_chunks(const uint64_t *offsets, size_t count);
/// A copy of this process that is made between these two calls can write to the trace.
void lt_trace_begin_copy(void);
void lt_trace_end_copy(void);
/// Prepares the trace in the copy, which alone uses it. Called in the copy.
void lt_trace_set_copy(void);
/// Adds the thread's drop counters to the trace's counters, and clears them in the thread.
void lt_trace_add_drops(struct lt_thread *thread);
/// Counts a lost call that no thread's state can count.
void lt_trace_add_drop(uint32_t reason);
/// Appends the closing record. Removes the live file unless `keepLive`. Returns the record's offset, or 0 if it was not
/// written.
uint64_t lt_trace_close(uint32_t reason, bool keepLive);
/// Removes the live file of a closed trace, and the unused space at the trace's end. If the process continues after
/// all, it continues to record, but a kill would lose its last events.
void lt_trace_leave_behind(void);
/// Removes both files, if nothing worth keeping was recorded.
void lt_trace_discard(void);
/// Frees the memory of a closed trace, so that another trace can be opened. No thread may be inside a hook that
/// records, and no thread may have a slot.
void lt_trace_forget(void);
/// Forgets the parent's trace, in a child made by fork.
void lt_trace_reset_after_fork(void);
/// Returns the bytes of memory that the recorder itself uses.
uint64_t lt_recorder_bytes(void);

// --- opening ---------------------------------------------------------------------------------------------------------

// Creates the trace and its live file.

struct lt_trace_options {
  const char *pattern; ///< absolute path with %p, %n, %%
  uint64_t session;
  uint32_t flags; ///< LT_OPTION_…
  uint8_t arcMode;
  uint32_t depthLimit;
  uint32_t firstSamples; ///< used only with LT_OPTION_LIGHT
  uint64_t samplePeriod; ///< used only with LT_OPTION_LIGHT or LT_OPTION_LIMITED
  bool takesImagesBack;
};

/// Creates the trace and its live file. On failure, tells the user why, and returns false.
bool lt_trace_open(const struct lt_trace_options *options, const char *programName);
/// Removes the live file of the program that this one has replaced. Also removes the reserve at the end of that
/// program's trace. Must be called before anything is recorded.
void lt_trace_finish_replaced(const char *path);

#endif
