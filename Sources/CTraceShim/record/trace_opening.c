// Creates the trace and its live file, apart.

#include "record/trace_opening.h"

#include "check.h"
#include "os/apart_task.h"
#include "os/number_text.h"
#include "record/message.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "thread/hook_switch.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>

static bool expand_pattern(const char *pattern, const char *programName, unsigned attempt, char result[PATH_MAX]) {
  size_t n = 0;
#define APPEND(c)                         \
  do {                                    \
    if (n >= PATH_MAX - 16) return false; \
    result[n++] = (c);                    \
  } while (0)
#define APPEND_NUMBER(value)                          \
  do {                                                \
    char number[LT_NUMBER_SIZE];                      \
    lt_put_decimal(number, (value));                  \
    for (const char *c = number; *c; c++) APPEND(*c); \
  } while (0)
  for (const char *p = pattern; *p; p++) {
    if (*p != '%') {
      APPEND(*p);
      continue;
    }
    p++;
    if (*p == 'p') {
      APPEND_NUMBER((uint64_t)lt_process_id());
    } else if (*p == 'n') {
      for (const char *c = programName; *c; c++) APPEND(*c == '/' ? '_' : *c);
    } else if (*p == '%') {
      APPEND('%');
    } else {
      APPEND('%');
      if (!*p) break;
      APPEND(*p);
    }
  }
  if (attempt > 1) {
    APPEND('.');
    APPEND_NUMBER(attempt);
  }
#undef APPEND
#undef APPEND_NUMBER
  LT_CHECK(n < PATH_MAX);
  result[n] = 0;
  return true;
}

/// Opens a new file for the trace. An older trace of another session is replaced, one of this session is not; nor is
/// anything else.
static int create_trace(const struct lt_trace_options *options, const char *programName) {
  for (unsigned attempt = 1; attempt < 10000; attempt++) {
    if (!expand_pattern(options->pattern, programName, attempt, lt_trace.file.path)) return -ENAMETOOLONG;
    for (int again = 0; again < 2; again++) {
      int descriptor = lt_open(lt_trace.file.path, O_RDWR | O_CREAT | O_EXCL | O_APPEND | O_NOFOLLOW, 0600);
      if (descriptor != -EEXIST || again) {
        if (descriptor == -EEXIST) break;
        return descriptor;
      }
      int existing = lt_open(lt_trace.file.path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK, 0);
      if (existing < 0) return existing;
      struct stat info;
      struct lt_trace_header header;
      bool isTrace = lt_fstat(existing, &info) == 0 && S_ISREG(info.st_mode) &&
                     lt_read(existing, &header, sizeof header) == sizeof header &&
                     memcmp(header.magic, LT_TRACE_MAGIC, 8) == 0;
      lt_close(existing);
      if (!isTrace) return -EEXIST;
      if (header.sessionID == options->session) break; // of this run: take the next name
      lt_unlink(lt_trace.file.path);
    }
  }
  return -EEXIST;
}

static void set_live_path(void) {
  size_t n = strlen(lt_trace.file.path);
  LT_CHECK(n + sizeof LT_LIVE_SUFFIX <= sizeof lt_trace.liveFile.path);
  memcpy(lt_trace.liveFile.path, lt_trace.file.path, n);
  memcpy(lt_trace.liveFile.path + n, LT_LIVE_SUFFIX, sizeof LT_LIVE_SUFFIX);
}

static int create_live(uint64_t traceID) {
  set_live_path();
  lt_unlink(lt_trace.liveFile.path); // left by a process that was killed: its trace has just been replaced
  int descriptor = lt_open(lt_trace.liveFile.path, O_RDWR | O_CREAT | O_EXCL | O_NOFOLLOW, 0600);
  if (descriptor < 0) return descriptor;
  int error = lt_allocate_storage(descriptor, 0, LT_LIVE_HEADER_SIZE);
  if (!error) error = lt_mapped_file_begin(&lt_trace.liveFile, descriptor, 0);
  lt_close(descriptor);
  if (error) {
    lt_unlink(lt_trace.liveFile.path);
    return error;
  }
  lt_trace.live = lt_trace.liveFile.firstPage;
  struct lt_live_header *live = lt_trace.live;
  memcpy(live->magic, LT_LIVE_MAGIC, 8);
  live->version = LT_FORMAT_VERSION;
  live->slotSize = LT_SLOT_SIZE;
  live->traceID = traceID;
  return 0;
}

static uint32_t version(const struct lt_trace_options *options) {
  if (options->takesImagesBack) return LT_FORMAT_THINNED_VERSION;
  return options->flags & (LT_OPTION_LIGHT | LT_OPTION_LIMITED) ? LT_FORMAT_LIGHT_VERSION : LT_FORMAT_VERSION;
}

static void fill_header(struct lt_trace_header *header, const struct lt_trace_options *options) {
  memcpy(header->magic, LT_TRACE_MAGIC, 8);
  header->version = version(options);
  header->headerSize = LT_TRACE_HEADER_SIZE;
  header->machine = LT_ELF_MACHINE;
  header->pointerSize = sizeof(void *);
  header->clockKind = lt_clock_kind;
  header->pageSize = 4096;
  header->processID = (uint32_t)lt_process_id();
  header->parentProcessID = (uint32_t)lt_parent_process_id();
  header->traceID = lt_random();
  header->sessionID = options->session;
  header->startRealtime = lt_clock_nanoseconds(CLOCK_REALTIME);
  header->startMonotonic = lt_clock_nanoseconds(CLOCK_MONOTONIC);
  header->startTime = lt_now();
  header->ticksPerSecond = lt_clock_kind == LT_CLOCK_TSC ? lt_nominal_tick_rate() : 1000000000u;
  header->options = options->flags;
  header->arcMode = options->arcMode;
  header->stackDepthLimit = options->depthLimit;
  header->liveSlotSize = LT_SLOT_SIZE;
  header->samplePeriod = options->samplePeriod;
  header->firstSamples = options->firstSamples;
  header->headerChecksum = lt_crc32c(0, header, offsetof(struct lt_trace_header, headerChecksum));
}

/// The part of lt_trace_open that runs apart.
struct opening {
  const struct lt_trace_options *options;
  const char *programName;
  bool isOpen;
};

static int begin_trace(int descriptor, const struct lt_trace_options *options) {
  static uint8_t page[LT_TRACE_HEADER_SIZE];
  memset(page, 0, sizeof page);
  fill_header((struct lt_trace_header *)page, options);
  uint64_t traceID = ((struct lt_trace_header *)page)->traceID;
  struct lt_trace_status *status = (struct lt_trace_status *)(page + LT_TRACE_STATUS_OFFSET);
  status->state = LT_STATE_RECORDING;
  status->dataEnd = LT_TRACE_HEADER_SIZE;
  if (lt_file_size_limit() < (1u << 20)) return -EFBIG;
  int error = lt_write_all(descriptor, page, sizeof page);
  if (!error)
    error = lt_mapped_file_begin(&lt_trace.file, descriptor,
                                 LT_TRACE_STATUS_OFFSET + offsetof(struct lt_trace_status, fileSize));
  return error ? error : create_live(traceID);
}

static void open_apart(void *argument) {
  struct opening *o = argument;
  int descriptor = create_trace(o->options, o->programName);
  if (descriptor < 0) {
    lt_message("not tracing: cannot create", lt_trace.file.path, -descriptor);
    return;
  }
  int error = begin_trace(descriptor, o->options);
  lt_close(descriptor);
  if (error) {
    lt_message("not tracing: cannot write", lt_trace.file.path, -error);
    lt_unlink(lt_trace.file.path);
    return;
  }
  o->isOpen = true;
}

bool lt_trace_open(const struct lt_trace_options *options, const char *programName) {
  _Static_assert(
      sizeof(struct lt_file_extent) == sizeof(struct lt_trace_status) - offsetof(struct lt_trace_status, fileSize),
      "layout");
  lt_trace.process = lt_process_id();
  lt_clock_kind = lt_ticks_are_reliable() ? LT_CLOCK_TSC : LT_CLOCK_MONOTONIC;
  struct opening o = {.options = options, .programName = programName};
  lt_call_apart_or_here(open_apart, &o);
  if (!o.isOpen) return false;
  LT_CHECK(!lt_trace_is_writable() && lt_trace.file.firstPage && lt_trace.liveFile.firstPage);
  lt_trace.header = lt_trace.file.firstPage;
  lt_trace.status = (struct lt_trace_status *)((uint8_t *)lt_trace.header + LT_TRACE_STATUS_OFFSET);
  lt_trace.live->pauseSwitch = options->flags & LT_OPTION_START_PAUSED ? LT_SWITCH_PAUSED : LT_SWITCH_RECORD;
  lt_hooks_connect((_Atomic uint32_t *)&lt_trace.live->pauseSwitch);
  atomic_store(&lt_trace.untracedChildren, 0);
  atomic_store(&lt_trace.isOpen, 1);
  return true;
}

void lt_trace_finish_replaced(const char *path) {
  if (strlen(path) >= PATH_MAX) return;
  strcpy(lt_trace.file.path, path);
  set_live_path();
  lt_unlink(lt_trace.liveFile.path);
  int descriptor = lt_open(path, O_RDWR | O_NOFOLLOW | O_NONBLOCK, 0);
  struct stat info;
  static uint8_t page[LT_TRACE_HEADER_SIZE];
  const struct lt_trace_status *status = (const struct lt_trace_status *)(page + LT_TRACE_STATUS_OFFSET);
  if (descriptor >= 0 && lt_fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) &&
      lt_read(descriptor, page, sizeof page) == sizeof page && memcmp(page, LT_TRACE_MAGIC, 8) == 0 &&
      status->dataEnd >= sizeof page && status->dataEnd < (uint64_t)info.st_size)
    lt_syscall(SYS_ftruncate, descriptor, status->dataEnd, 0);
  if (descriptor >= 0) lt_close(descriptor);
}
