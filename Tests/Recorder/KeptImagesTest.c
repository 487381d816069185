// Heap images that are deleted again, and the space that they leave in the trace.

#include "image/snapshot_writer.h"
#include "record/trace_file.h"

#include "RecorderTest.h"
#include "TestRecording.h"

#include <fcntl.h>
#include <string.h>
#include <sys/file.h>
#include <unistd.h>

TEST(kept_distances, "The distance between images that stay grows with their age, and the first stays") {
  enum { LIMIT = 20, IMAGES = 20000 };
  uint64_t times[LIMIT + 1];
  uint32_t count = 0;
  for (uint64_t time = 1; time <= IMAGES; time++) {
    times[count++] = time;
    if (count <= LIMIT) continue;
    uint32_t index = lt_kept_images_choose(times, count);
    EXPECT(index > 0 && index < count - 1);
    memmove(&times[index], &times[index + 1], (--count - index) * sizeof *times);
  }
  EXPECT(count == LIMIT && times[0] == 1 && times[count - 1] == IMAGES);
  // On a logarithmic axis of age, all images have about the same distance: the logarithm of the total time, divided by
  // their number.
  double share = 9.9 / LIMIT;
  for (uint32_t i = 0; i + 2 < count; i++) {
    double age = (double)(IMAGES - times[i]), distance = (double)(times[i + 1] - times[i]);
    EXPECT(distance <= 1 || distance / age <= 2 * share);
  }
}

static void put(uint16_t kind, uint32_t thread, uint64_t time, uint32_t size) {
  uint8_t *chunk = calloc(1, sizeof(struct lt_chunk_header) + size + LT_CHUNK_ALIGNMENT);
  struct lt_chunk_header header = {.kind = kind,
                                   .compression = LT_COMPRESSION_NONE,
                                   .thread = thread,
                                   .storedSize = size,
                                   .rawSize = size,
                                   .firstTime = time,
                                   .lastTime = time};
  EXPECT(lt_kept_images_put(&header, chunk) == 0);
  free(chunk);
}

/// Returns the number of images in the trace. `chunks`: the number of all their chunks.
static uint32_t count_images(int descriptor, uint32_t *chunks, uint64_t *voidBytes) {
  struct lt_placed_chunk chunk;
  uint64_t end = lt_trace.status->dataEnd;
  uint32_t ends = 0;
  *chunks = 0;
  *voidBytes = 0;
  for (uint64_t at = LT_TRACE_HEADER_SIZE; lt_trace_find_chunk(descriptor, at, end, &chunk);
       at = chunk.offset + chunk.size) {
    // The rest of a void may be too small for a chunk header.
    EXPECT(chunk.offset - at < sizeof(struct lt_chunk_header));
    if (chunk.header.kind == LT_CHUNK_VOID) *voidBytes += chunk.size;
    else if (chunk.header.kind != LT_CHUNK_DEFINITIONS || chunk.header.thread == LT_THREAD_OF_LISTS) ++*chunks;
    ends += chunk.header.kind == LT_CHUNK_SNAPSHOT_END;
  }
  return ends;
}

static struct lt_kept_images kept;

static void write_image(int descriptor, uint32_t reason, uint64_t time, uint32_t size) {
  lt_kept_images_begin(&kept, descriptor, reason, time);
  put(LT_CHUNK_DEFINITIONS, LT_THREAD_OF_LISTS, time & ~7ull, 40);
  put(LT_CHUNK_SNAPSHOT, 0, time, 500);
  put(LT_CHUNK_MEMORY, 0, time, size);
  put(LT_CHUNK_MEMORY, 0, time, size / 3);
  put(LT_CHUNK_SNAPSHOT_END, 0, time, 56);
  lt_kept_images_thin(&kept);
}

TEST(kept_space, "Images take the space of those that were taken back, and images that were asked for stay") {
  struct recording recording;
  begin_recording(&recording, NULL);
  kept.limit = 3;
  int descriptor = lt_mapped_file_open(&lt_trace.file, O_RDWR);
  EXPECT(descriptor >= 0);
  uint32_t chunks;
  uint64_t voidBytes, end = 0;
  for (uint64_t i = 1; i <= 3000; i++) {
    if (i == 10) end = lt_trace.status->dataEnd;
    write_image(descriptor, i % 1500 ? LT_SNAPSHOT_INTERVAL : LT_SNAPSHOT_REQUEST, i * 1000 + 5,
                (uint32_t)(9000 + i * 7919 % 1000));
    uint32_t asked = (uint32_t)(i / 1500), due = (uint32_t)i - asked;
    EXPECT(kept.count == (due < 3 ? due : 3));
    EXPECT(count_images(descriptor, &chunks, &voidBytes) == asked + kept.count);
    EXPECT(chunks == 5 * (asked + kept.count));
  }
  EXPECT(kept.times[0] == 1005 && kept.times[kept.count - 1] == 2999005);
  // Two images were requested since, and stay. The gaps of deleted images may all be too small for new images.
  EXPECT(lt_trace.status->dataEnd < end + 4 * 15000);
  close(descriptor);
  remove_recording(&recording);
}

TEST(kept_reader, "Nothing is taken back while somebody reads the trace") {
  struct recording recording;
  begin_recording(&recording, NULL);
  kept.limit = 2;
  int descriptor = lt_mapped_file_open(&lt_trace.file, O_RDWR);
  int reader = lt_mapped_file_open(&lt_trace.liveFile, O_RDONLY);
  EXPECT(descriptor >= 0 && reader >= 0 && flock(reader, LOCK_SH) == 0);
  uint32_t chunks;
  uint64_t voidBytes;
  for (uint64_t i = 1; i <= 5; i++) write_image(descriptor, LT_SNAPSHOT_SIZE, i * 1000, 3000);
  EXPECT(count_images(descriptor, &chunks, &voidBytes) == 5 && voidBytes == 0);
  close(reader);
  write_image(descriptor, LT_SNAPSHOT_SIZE, 6000, 3000);
  EXPECT(count_images(descriptor, &chunks, &voidBytes) == 2 && voidBytes > 0 && kept.count == 2);
  close(descriptor);
  remove_recording(&recording);
}
