// The trace and its live file: create, append chunks, close, stop when the disk is full.

#ifndef LEAKTRACE_TRACE_FILE_H
#define LEAKTRACE_TRACE_FILE_H

#include "thread_state.h"

#include <limits.h>

enum { LT_SLOT_SIZE = 128 << 10, LT_SLOT_DEFINITIONS = 16 << 10 };

struct lt_trace {
  uint32_t slotSize;
  _Atomic uint32_t isOpen; ///< chunks may be appended
  char path[PATH_MAX];
  uint64_t device, inode;         ///< of the trace
  uint64_t liveDevice, liveInode; ///< of the live file
  _Atomic int descriptor;         ///< of the trace; may be closed or reused by the host at any time
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
/// A slot of the live file, or NULL. Caller holds no lock.
struct lt_live_slot *lt_trace_new_slot(void);
struct lt_compressor;
/// Compresses and appends a chunk. Fills in the header's sizes and checksums. False when recording has stopped, now or before. `begun`: has compressed the
/// beginning of the payload, and stays the caller's; NULL if nothing has.
bool lt_trace_append(struct lt_chunk_header *header, const void *payload, uint32_t size, struct lt_compressor *begun);
/// Appends the chunk that has room for its header and its padding around `header->storedSize` bytes of payload. Fills in checksums. Returns 0
/// or −errno, and leaves it to the caller what that means.
int lt_trace_write_chunk(struct lt_chunk_header *header, uint8_t *chunk);
/// In a copy of this process: opens the trace and its live file for it alone. Returns the trace's descriptor; it and `live` may be −errno.
int lt_trace_open_apart(int *live);
/// Adds the thread's drop counters to the trace's, and clears them.
void lt_trace_add_drops(struct lt_thread *thread);
/// Counts one call that was lost, for which there is no thread to count it.
void lt_trace_add_drop(uint32_t reason);
/// What is done now and then, when a thread has sealed a chunk: images, memory samples.
void lt_trace_after_seal(struct lt_thread *thread);
/// Appends the closing record. The live file is removed unless `keepLive`.
void lt_trace_close(uint32_t reason, bool keepLive);
/// After the trace was closed: lets its descriptor go.
void lt_trace_release(void);
/// Removes both files: nothing worth keeping was recorded.
void lt_trace_discard(void);
/// Forgets the parent's trace, in a child made by fork.
void lt_trace_reset_after_fork(void);
/// Bytes of memory that are the recorder's own.
uint64_t lt_recorder_bytes(void);

#endif
