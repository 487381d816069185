// Writes a heap image in a copy of the process, and removes older images from the trace.

#ifndef LEAKTRACE_SNAPSHOT_WRITER_H
#define LEAKTRACE_SNAPSHOT_WRITER_H

#include "CTraceFormat.h"
#include "check.h"
#include "image/thread_freeze.h"
#include "os/os.h"

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

// --- kept images -----------------------------------------------------------------------------------------------------

// Decides which heap images stay in the trace. The copy that writes an image removes older images, and reuses their
// space.

/// The images that were taken because of time or size, in order of time. Shared by the process and its copies.
struct lt_kept_images {
  uint32_t limit;       ///< at least 2
  uint32_t count;       ///< above `limit` while a reader uses the trace. An image that does not fit into `times` stays
                        ///< for good
  uint64_t firstOffset; ///< offset in the trace before which no image begins; 0 if no image was begun
  uint64_t times[2 * LT_KEPT_IMAGES_MAX]; ///< in ticks
};

/// True if an image taken for this reason counts towards the limit. Other images were requested by the program or its
/// users.
bool lt_kept_images_counts(uint32_t reason);
/// Returns the index of the image to remove first. The remaining images are close together in recent time, and further
/// apart the older they are. `count` is at least 3.
uint32_t lt_kept_images_choose(const uint64_t *times, uint32_t count);

/// Notes that this copy begins to write an image. `images` is NULL if all images stay. `descriptor` is the trace,
/// opened for reading and writing. It is negative if the trace's path no longer leads to the trace; then no image is
/// removed.
void lt_kept_images_begin(struct lt_kept_images *images, int descriptor, uint32_t reason, uint64_t time);
/// Appends a chunk of the image, or writes it into a void that has room. Returns the same values as
/// lt_trace_append_chunk.
int lt_kept_images_put(struct lt_chunk_header *header, uint8_t *chunk);
/// Removes images until no more than `limit` are left. Does nothing while a reader uses the trace, or if all images
/// stay.
void lt_kept_images_thin(struct lt_kept_images *images);

// --- writer ----------------------------------------------------------------------------------------------------------

// Writes a heap image from a copy of the process that was made for this purpose.

enum { LT_SNAPSHOT_LABEL_LIMIT = 1024 };

/// The image to be written. Filled in before the copy is made.
struct lt_snapshot_job {
  struct lt_snapshot snapshot; ///< the copy fills in its counts
  uint64_t startNanoseconds;   ///< CLOCK_MONOTONIC when the image was requested
  uint32_t asked;              ///< lt_live_header.snapshotsAsked when the image was requested
  pid_t process;               ///< the process that owns the memory
  uint64_t recorderBytes, peakResident;
  /// all threads if the process is frozen, otherwise the thread that takes the snapshot. The registers are from the
  /// time of the image
  struct lt_snapshot_thread *threads;
  uint32_t threadCount;        ///< at least one
  bool listsBlocks;            ///< the image lists the blocks in addition to the events, which do not show all blocks
  struct lt_kept_images *kept; ///< NULL if all images stay
  char label[LT_SNAPSHOT_LABEL_LIMIT];
};

enum { LT_SNAPSHOT_IDLE = 0, LT_SNAPSHOT_WRITING = 1, LT_SNAPSHOT_DONE = 2 };

#define LT_SNAPSHOT_PAUSE_UNKNOWN UINT64_MAX

/// Shared by the process and its copies.
struct lt_snapshot_progress {
  _Atomic uint32_t state;                  ///< a futex. The copy's last store; pairs with the loads in collect
  _Atomic int32_t error;                   ///< errno; 0 if the image is complete
  _Atomic uint64_t pauseNanoseconds;       ///< LT_SNAPSHOT_PAUSE_UNKNOWN until the other threads continue
  uint32_t sequences[LT_CHUNK_BLOCKS + 1]; ///< next sequence number of each kind of chunk
  uint32_t typeCount;                      ///< number of types that images have defined
  struct lt_copy_claim claim;
};

/// Appends the end of an image, uncompressed, even if the image has no other part. `time` is the time of the image.
/// Returns 0 or −errno. Called by the process, or by a copy that has begun to write.
int lt_snapshot_append_end(const struct lt_snapshot_end *end, uint64_t time, struct lt_snapshot_progress *progress);

/// Must be called in a copy of the process. If memory is short, makes the kernel end this copy rather than the host.
/// Prevents core dumps of the copy.
void lt_snapshot_set_expendable(void);

/// Writes the image, reports the result in `progress` and in the live file, and ends this process. Must be called in a
/// copy of the process where nothing else runs and all signals are blocked. Closes all descriptors.
_Noreturn void lt_snapshot_write(struct lt_snapshot_job *job, struct lt_snapshot_progress *progress);

#endif
