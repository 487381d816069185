#define _GNU_SOURCE
#include "process/description.h"

#include "check.h"
#include "os/os.h"
#include "record/encoding.h"
#include "record/event_buffer.h"
#include "record/image_list.h"
#include "record/trace_clock.h"
#include "thread/own_stack.h"

#include <limits.h>
#include <stdatomic.h>
#include <string.h>

enum { WARNING_LIMIT = 4 };

static struct {
  _Atomic uint32_t isWritten;
  _Atomic uint32_t isOld; ///< the members below have changed since
  bool isForked, isJoined, hasOtherThreads, lacksThreads, hasSwiftHooks, isSwiftStatic;
  char warnings[WARNING_LIMIT][LT_WARNING_SIZE];
  int warningCount, writtenWarnings; ///< written ≤ all ≤ WARNING_LIMIT
  char programName[256], programPath[PATH_MAX];
} process;

void lt_description_name_program(void) {
  long n = lt_syscall(SYS_readlink, "/proc/self/exe", process.programPath, sizeof process.programPath - 1);
  process.programPath[n > 0 ? n : 0] = 0;
  const char *slash = strrchr(process.programPath, '/');
  strncpy(process.programName, slash ? slash + 1 : "program", sizeof process.programName - 1);
}

const char *lt_description_program_name(void) { return process.programName; }

// --- writing it ------------------------------------------------------------------------------------------------------

void lt_description_put_clock(struct lt_thread *t) {
  uint8_t payload[32], *p = payload;
  uint64_t now = lt_now();
  p = lt_put_varint(p, now);
  p = lt_put_varint(p, lt_clock_nanoseconds(CLOCK_MONOTONIC));
  lt_define(t, LT_DEF_CLOCK, payload, (size_t)(p - payload));
}

/// Writes the facts of the process that are known by now and not yet written. Called by one thread at a time.
static void describe(void *thread) {
  struct lt_thread *t = thread;
  LT_CHECK(t->number > 0);
  LT_CHECK(process.warningCount <= WARNING_LIMIT && process.writtenWarnings <= process.warningCount);
  uint8_t payload[4096], *p = payload;
  p = lt_put_string(p, payload + sizeof payload - 16, process.programPath);
  p = lt_put_varint(p, (process.hasSwiftHooks ? LT_PROCESS_SWIFT_HOOKS : 0u) |
                           (process.isSwiftStatic ? LT_PROCESS_SWIFT_STATIC : 0u) |
                           (process.isForked ? LT_PROCESS_FORKED : 0u) | (process.isJoined ? LT_PROCESS_ATTACHED : 0u) |
                           (process.lacksThreads ? LT_PROCESS_THREADS_MISSING : 0u));
  lt_define(t, LT_DEF_PROCESS, payload, (size_t)(p - payload));
  while (process.writtenWarnings < process.warningCount) {
    p = lt_put_string(payload, payload + sizeof payload, process.warnings[process.writtenWarnings++]);
    lt_define(t, LT_DEF_WARNING, payload, (size_t)(p - payload));
  }
}

void lt_description_begin(struct lt_thread *t) {
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&process.isWritten, &no, 1)) return;
  process.writtenWarnings = 0;
  describe(t);
  lt_description_put_clock(t);
  lt_image_list_refresh(t);
}

void lt_description_renew(struct lt_thread *t) {
  uint32_t yes = 1;
  LT_CHECK(t == lt_tls.thread);
  if (atomic_load(&process.isWritten) && atomic_compare_exchange_strong(&process.isOld, &yes, 0))
    lt_on_own_stack(describe, t);
}

// --- news ------------------------------------------------------------------------------------------------------------

bool lt_description_add_swift(bool isPartly) {
  if (process.hasSwiftHooks && (process.isSwiftStatic || !isPartly)) return false;
  process.hasSwiftHooks = true;
  process.isSwiftStatic |= isPartly;
  return true;
}

bool lt_description_add_warning(const char text[LT_WARNING_SIZE]) {
  LT_CHECK(strnlen(text, LT_WARNING_SIZE) < LT_WARNING_SIZE);
  LT_CHECK(process.warningCount >= 0 && process.warningCount <= WARNING_LIMIT);
  for (int i = 0; i < process.warningCount; i++)
    if (strcmp(process.warnings[i], text) == 0) return false;
  if (process.warningCount < WARNING_LIMIT) memcpy(process.warnings[process.warningCount++], text, LT_WARNING_SIZE);
  return true;
}

bool lt_description_has_news(void) {
  if (!atomic_load(&process.isWritten)) return false;
  atomic_store(&process.isOld, 1);
  lt_thread_send_to_prepare();
  return true;
}

void lt_description_join(void) {
  atomic_store(&process.isWritten, 0);
  atomic_store(&process.isOld, 0);
  process.isJoined = true;
  process.hasSwiftHooks = process.isSwiftStatic = false;
  process.warningCount = process.writtenWarnings = 0;
}

void lt_description_note_threads(bool hasOthers) { process.hasOtherThreads = hasOthers; }

void lt_description_reset_after_fork(void) {
  atomic_store(&process.isWritten, 0);
  process.isForked = true;
  process.lacksThreads |= process.hasOtherThreads;
}

bool lt_description_is_forked(void) { return process.isForked; }
