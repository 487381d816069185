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

// Which heap images stay in the trace: the copy that writes an image takes back older ones, and uses their space.

/// The images that were taken because of time or size, in order. Shared by the process and its copies.
struct lt_kept_images {
  uint32_t limit;       ///< 2 at least
  uint32_t count;       ///< above the limit while a reader has the trace. An image without room here stays for good
  uint64_t firstOffset; ///< in the trace: no image begins before it. 0: none was begun
  uint64_t times[2 * LT_KEPT_IMAGES_MAX]; ///< ticks
};

/// Tells whether an image of a reason counts: the program and its users have asked for all others.
bool lt_kept_images_counts(uint32_t reason);
/// Returns the index of the image to be taken back first. The newer ones stay close together, and the distance between
/// older ones grows with their age. `count`: 3 at least.
uint32_t lt_kept_images_choose(const uint64_t *times, uint32_t count);

/// Notes that this copy begins to write an image. `images`: NULL if all stay. `descriptor`: of the trace, to be read
/// and written; negative if its path leads elsewhere, and then nothing is taken back.
void lt_kept_images_begin(struct lt_kept_images *images, int descriptor, uint32_t reason, uint64_t time);
/// Appends a chunk of the image, where older ones were if there is room. As lt_trace_append_chunk.
int lt_kept_images_put(struct lt_chunk_header *header, uint8_t *chunk);
/// Takes back images until no more than the limit are left. Does nothing while a reader has the trace, or if all
/// stay.
void lt_kept_images_thin(struct lt_kept_images *images);

// --- writer ----------------------------------------------------------------------------------------------------------

// Writes a heap image, from a copy of the process that was made for that.

enum { LT_SNAPSHOT_LABEL_LIMIT = 1024 };

/// The image to be written. Filled in before the copy is made.
struct lt_snapshot_job {
  struct lt_snapshot snapshot; ///< without the counts
  uint64_t startNanoseconds;   ///< CLOCK_MONOTONIC when it was asked for
  uint32_t asked;              ///< lt_live_header.snapshotsAsked at that time
  pid_t process;               ///< the owner of the memory
  uint64_t recorderBytes, peakResident;
  /// if frozen, all threads; otherwise the one that takes the snapshot. Registers at the moment of the image
  struct lt_snapshot_thread *threads;
  uint32_t threadCount;        ///< at least one
  bool listsBlocks;            ///< in addition to the events, which do not show all blocks
  struct lt_kept_images *kept; ///< NULL: all images stay
  char label[LT_SNAPSHOT_LABEL_LIMIT];
};

enum { LT_SNAPSHOT_IDLE = 0, LT_SNAPSHOT_WRITING = 1, LT_SNAPSHOT_DONE = 2 };

#define LT_SNAPSHOT_PAUSE_UNKNOWN UINT64_MAX

/// Shared by the process and its copies.
struct lt_snapshot_progress {
  _Atomic uint32_t state;                  ///< a futex
  _Atomic int32_t error;                   ///< errno; 0 if the image is whole
  _Atomic uint64_t pauseNanoseconds;       ///< LT_SNAPSHOT_PAUSE_UNKNOWN until the others go on
  uint32_t sequences[LT_CHUNK_BLOCKS + 1]; ///< the next of each kind of chunk
  uint32_t typeCount;                      ///< types that images have defined
  struct lt_copy_claim claim;
};

/// Appends the end of an image, uncompressed, even if the image has nothing else. `time`: the image's. Returns 0 or
/// −errno. Called by a copy that has begun to write, or by the process.
int lt_snapshot_append_end(const struct lt_snapshot_end *end, uint64_t time, struct lt_snapshot_progress *progress);

/// Called in a copy of the process. Makes the kernel end it rather than the host when memory is short, and dump no core
/// of it.
void lt_snapshot_be_expendable(void);

/// Writes the image, reports the result in `progress` and in the live file, and ends this process. Must be called in a
/// copy of the process that runs nothing else and has all signals blocked. Closes all descriptors.
_Noreturn void lt_snapshot_write(struct lt_snapshot_job *job, struct lt_snapshot_progress *progress);

#endif
