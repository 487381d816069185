// Takes heap images: at a request of the program or a signal, at an interval, and for a requester outside.

#ifndef LEAKTRACE_HEAP_SNAPSHOT_H
#define LEAKTRACE_HEAP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

// --- images ----------------------------------------------------------------------------------------------------------

// Decides when to take a heap image of the running process, and on what thread. For an image, thread_freeze makes a
// copy of the process. Then snapshot_writer writes the image from the copy's memory.

/// What a call waits for. Every call also waits while all threads are stopped.
enum lt_snapshot_wait {
  LT_SNAPSHOT_RETURNS = 0, ///< waits for nothing else
  LT_SNAPSHOT_FOLLOWS = 1, ///< waits for the end of an earlier snapshot
  LT_SNAPSHOT_WAITS = 2,   ///< waits for the end of an earlier snapshot, and until its own image is written
};

/// Takes a snapshot. Any thread may call this, in a hook or in a signal handler; it never waits for a lock. `label` may
/// be NULL. `interrupted` is the calling thread's state if a signal interrupted the thread, else NULL. Returns the
/// snapshot's number, or −errno: −EBUSY while another snapshot is being taken, −ENODEV if nothing is recorded. Every
/// wait has a limit of some minutes.
int lt_snapshot_take(uint32_t reason, const char *label, const ucontext_t *interrupted, enum lt_snapshot_wait wait);
/// Takes the last snapshot, when the process begins to end. Only the first call takes it. Later calls wait for it if it
/// is still being written.
void lt_snapshot_at_exit(void);
/// Like lt_snapshot_at_exit, but called when a signal is about to end the process.
void lt_snapshot_at_signal(const ucontext_t *interrupted);
/// Takes the snapshot that was requested through the pause switch. Called by a hook.
void lt_snapshot_at_switch(void);
/// Takes the last snapshot before sampling begins. It is the last one with all events. Called by a hook. Returns the
/// same values as lt_snapshot_take.
int lt_snapshot_at_limit(void);
/// Takes the snapshot that was requested from outside. `interrupted` is the state that a signal handler received, or
/// NULL.
void lt_snapshot_answer(const ucontext_t *interrupted);
/// True if a snapshot was begun within the last second.
bool lt_snapshot_is_recent(void);
/// True if the snapshot at the process's end was begun.
bool lt_snapshot_is_ending(void);
/// Waits for a snapshot that is being written, for a limited time.
void lt_snapshot_finish(void);
/// Waits for the snapshot that is being written, and then prevents further ones.
void lt_snapshot_end(void);
/// Cleans up after a finished snapshot. Needs only a load if there is none.
void lt_snapshot_collect(void);

/// True if a child belongs to the recorder. It is the copy that writes an image, or the tracer that stops threads for
/// the copy.
bool lt_snapshot_is_helper(pid_t child);

/// Forgets the snapshots of a recording that has ended, so that another recording can begin.
void lt_snapshot_forget(void);
/// Makes images list the process's blocks from the allocator's metadata, because events do not show all blocks. Must be
/// called before the first image.
void lt_snapshot_list_blocks(void);
/// Takes no image from now on, or allows images again. While a recording of a running process begins, an image would
/// lack the descriptions that its readers need.
void lt_snapshot_hold(bool isHeld);
/// Prepares snapshots. Must be called once for each trace, when it is open.
void lt_snapshot_init(bool isOn, uint32_t keptImages);
/// Resets snapshots in a child made by fork.
void lt_snapshot_reset_after_fork(void);

// --- due images ------------------------------------------------------------------------------------------------------

// Heap images without a request: at an interval, and when the process has become large.

/// Starts the timers. `interval` is the number of nanoseconds between images, or 0 for no such images. `resident` is
/// the resident size in bytes that makes an image due, or 0 for no such images. Must be called when the trace is open.
void lt_due_images_begin(uint64_t interval, uint64_t resident);
/// Takes an image if one is due at `now`, in nanoseconds of CLOCK_MONOTONIC. Any thread may call this, in the hook of
/// an allocation of `size` bytes. If `size` is large, the image is postponed for a while, until a smaller block is
/// allocated. Usually needs a comparison. Every few seconds, reads one of the kernel's files.
void lt_due_images_take(uint64_t now, size_t size);

// --- requested images ------------------------------------------------------------------------------------------------

// A thread of the process that takes one image for a requester outside. The requester makes the process start this
// thread, so that none of the host's system calls is interrupted.

/// Describes in the live file how to start such a thread. Describes nothing if there is no memory for a thread. Must be
/// called once for each trace.
void lt_serving_init(void);
/// Waits until no such thread runs, for a limited time.
void lt_serving_await_other(void);
/// Prevents further such threads, and waits for one that runs.
void lt_serving_end(void);

#endif
