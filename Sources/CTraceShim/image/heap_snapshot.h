// Takes heap images: when the program or a signal asks for one, at an interval, and for a requester outside.

#ifndef LEAKTRACE_HEAP_SNAPSHOT_H
#define LEAKTRACE_HEAP_SNAPSHOT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>
#include <ucontext.h>

// --- images ----------------------------------------------------------------------------------------------------------

// Decides when heap images of the running process are taken, and on which thread. thread_freeze makes a copy of the
// process, and snapshot_writer writes the image of the copy's memory.

/// What a call waits for, in addition to the stop of all threads.
enum lt_snapshot_wait {
  LT_SNAPSHOT_RETURNS = 0, ///< nothing
  LT_SNAPSHOT_FOLLOWS = 1, ///< the end of a snapshot that is being taken
  LT_SNAPSHOT_WAITS = 2,   ///< that, and the writing of its own image
};

/// Takes a snapshot. May be called by any thread, in a hook or in a signal handler; never waits for a lock. `label` may
/// be NULL. `interrupted` is the calling thread's state when a signal interrupted it, else NULL. Returns its number, or
/// −errno: −EBUSY while another is being taken, −ENODEV when nothing is recorded. Every wait has a limit of some
/// minutes.
int lt_snapshot_take(uint32_t reason, const char *label, const ucontext_t *interrupted, enum lt_snapshot_wait wait);
/// Takes the snapshot when the process begins to end, once. Later calls return at once, unless the first is still
/// running.
void lt_snapshot_at_exit(void);
/// Does the same when a signal is about to end the process.
void lt_snapshot_at_signal(const ucontext_t *interrupted);
/// Takes the snapshot that the pause switch asks for. Called by a hook.
void lt_snapshot_at_switch(void);
/// Takes the last snapshot before sampling begins, and so the last with all of its events. Called by a hook. Returns as
/// lt_snapshot_take does.
int lt_snapshot_at_limit(void);
/// Takes the snapshot that was requested from outside. `interrupted`: the state that a signal's handler was given, or
/// NULL.
void lt_snapshot_answer(const ucontext_t *interrupted);
/// True if a snapshot was begun within the last second.
bool lt_snapshot_is_recent(void);
/// True if the snapshot at the end was begun.
bool lt_snapshot_is_ending(void);
/// Waits for a snapshot that is being written, with a limit.
void lt_snapshot_finish(void);
/// Takes no more images, after the one that is being written.
void lt_snapshot_end(void);
/// Cleans up after a finished snapshot. Costs a load when there is none.
void lt_snapshot_collect(void);

/// True if a child is one of the recorder's own: the copy that writes an image, or the tracer that stops threads for
/// it.
bool lt_snapshot_is_helper(pid_t child);

/// Forgets the images of a recording that has ended, so that another can begin.
void lt_snapshot_forget(void);
/// Makes images list the process's blocks from its allocator's books, since events do not show all of them. Called
/// before the first image.
void lt_snapshot_list_blocks(void);
/// Prepares snapshots. Called once for each trace, when it is open.
void lt_snapshot_init(bool isOn, uint32_t keptImages);
/// In a child made by fork.
void lt_snapshot_reset_after_fork(void);

// --- due images ------------------------------------------------------------------------------------------------------

// Heap images without a request: at an interval, and when the process has become large.

/// Starts the timers. `interval`: nanoseconds from one image to the next, 0 for none. `resident`: the resident bytes at
/// which an image is due, 0 for none. Called when the trace is open.
void lt_due_images_begin(uint64_t interval, uint64_t resident);
/// Takes an image if one is due at `now`, nanoseconds of CLOCK_MONOTONIC. May be called by any thread, in the hook of
/// an allocation of `size` bytes. If the block is large, the image waits a while for a smaller one. Usually costs a
/// comparison, and every few seconds reads a file of the kernel's.
void lt_due_images_take(uint64_t now, size_t size);

// --- requested images ------------------------------------------------------------------------------------------------

// A thread that takes one image for a requester outside, who has the process make it: no call of the host's is
// interrupted.

/// Says in the live file how such a thread is made. Nothing if there is no memory for one. Once for each trace.
void lt_serving_init(void);
/// Waits until no such thread runs.
void lt_serving_await_other(void);
/// Has no more such threads made, and waits for one that runs.
void lt_serving_end(void);

#endif
