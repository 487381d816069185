// The trace and its live file: create, append chunks, close, stop when the disk is full.

#ifndef LEAKTRACE_TRACE_FILE_H
#define LEAKTRACE_TRACE_FILE_H

#include "mapped_file.h"
#include "thread_state.h"

enum { LT_SLOT_SIZE = 128 << 10, LT_SLOT_DEFINITIONS = 16 << 10 };

struct lt_trace {
  uint32_t slotSize;
  _Atomic uint32_t isOpen; ///< chunks may be appended
  struct lt_mapped_file file, liveFile;
  struct lt_trace_header *header; ///< the header page, mapped shared
  struct lt_trace_status *status;
  struct lt_live_header *live;
  pid_t process;
  _Atomic uint32_t untracedChildren;
};
extern struct lt_trace lt_trace __attribute__((visibility("hidden")));

struct lt_trace_options {
  const char *pattern; ///< absolute path with %p, %n, %%
  uint64_t session;
  uint32_t flags; ///< LT_OPTION_
  uint8_t arcMode;
  uint32_t depthLimit;
};

/// Creates the trace and its live file. False, after saying why, when that cannot be.
bool lt_trace_open(const struct lt_trace_options *options, const char *programName);
bool lt_trace_is_writable(void);
/// Before the process may give up rights by which it reaches the files' paths.
void lt_trace_before_losing_reach(void);
/// A slot of the live file, or NULL. Caller holds no lock.
struct lt_live_slot *lt_trace_new_slot(void);
struct lt_compressor;
/// Compresses and appends a chunk. Fills in the header's sizes and checksums. False when recording has stopped, now or before. `begun`: has compressed the
/// beginning of the payload, and stays the caller's; NULL if nothing has.
bool lt_trace_append(struct lt_chunk_header *header, const void *payload, uint32_t size, struct lt_compressor *begun);
/// Appends the chunk that has room for its header and its padding around `header->storedSize` bytes of payload. Fills in checksums. Returns 0
/// or −errno, and leaves it to the caller what that means.
int lt_trace_append_chunk(struct lt_chunk_header *header, uint8_t *chunk);
/// Lets a copy of this process that is made now write to the trace; and ends that.
void lt_trace_begin_copy(void);
void lt_trace_end_copy(void);
/// In that copy: takes the trace for it alone.
void lt_trace_be_copy(void);
/// Adds the thread's drop counters to the trace's, and clears them.
void lt_trace_add_drops(struct lt_thread *thread);
/// Counts one call that was lost, for which there is no thread to count it.
void lt_trace_add_drop(uint32_t reason);
/// What is done now and then, when a thread has sealed a chunk: images, memory samples.
void lt_trace_after_seal(struct lt_thread *thread);
/// Appends the closing record. The live file is removed unless `keepLive`.
void lt_trace_close(uint32_t reason, bool keepLive);
/// Removes the live file of the program that this one has replaced, and the room that its trace had ahead. Before anything is recorded.
void lt_trace_finish_replaced(const char *path);
/// Removes both files: nothing worth keeping was recorded.
void lt_trace_discard(void);
/// Forgets the parent's trace, in a child made by fork.
void lt_trace_reset_after_fork(void);
/// Bytes of memory that are the recorder's own.
uint64_t lt_recorder_bytes(void);

#endif
