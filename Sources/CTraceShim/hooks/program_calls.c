// Functions that the program calls: to mark scopes, generations and expectations, and to get a heap profile.

#include "hooks/program_calls.h"

#include "check.h"
#include "hooks/hook.h"
#include "image/expectations.h"
#include "image/heap_snapshot.h"
#include "os/fd_isolated_task.h"
#include "process/recording.h"
#include "process/thread_entry.h"
#include "profile/function_names.h"
#include "profile/heap_profile.h"
#include "record/event_buffer.h"
#include "record/event_recorder.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"

#include <errno.h>
#include <string.h>

// --- marks -----------------------------------------------------------------------------------------------------------

// Writes the marks of the traced program. Each function guards, captures the stack, and writes the mark.
//
// The stack is captured first, since it shows which task runs. Readers attribute the mark, and the events after it, to
// that task.

enum { TEXT_LIMIT = 255 };

/// Counters, which need no order.
static struct { _Atomic uint64_t scope, expectation, repetition; } lastNumbers;

/// Appends the text. A text longer than TEXT_LIMIT is cut there, or before the character that would be cut in two.
static uint8_t *put_text(uint8_t *p, const char *text) {
  size_t length = text ? strnlen(text, TEXT_LIMIT + 1) : 0;
  if (length > TEXT_LIMIT) {
    length = TEXT_LIMIT;
    while (length > 0 && ((uint8_t)text[length] & 0xC0) == 0x80) length--;
  }
  p = lt_put_varint(p, length);
  LT_CHECK(length <= TEXT_LIMIT);
  memcpy(p, text ? text : "", length);
  return p + length;
}

static uint8_t *put_place(uint8_t *p, const char *name, const char *file, uint32_t line) {
  return lt_put_varint(put_text(put_text(p, name), file), line);
}

static uint8_t *put_head(uint8_t *p, uint64_t kind, uint64_t time) {
  return lt_put_varint(lt_put_varint(p, kind), time);
}

/// Captures the calling thread's stack, and returns the thread's state, with room for a mark. The caller must then call
/// `lt_leave`. Returns NULL if the caller must not write a mark.
static struct lt_thread *begin(struct lt_hook_frame frame, struct lt_stack_change *change) {
  struct lt_thread *t = lt_enter();
  if (!t) return NULL;
  if (lt_buffer_make_mark_room(t)) {
    LT_CHECK(t->end - t->cursor >= LT_MARK_ROOM);
    *change = lt_record_stack(t, frame);
    return t;
  }
  lt_leave();
  return NULL;
}

LT_EXPORT uint64_t leaktrace_scope_begin(const char *name, const char *file, uint32_t line) {
  struct lt_stack_change change;
  struct lt_thread *t = begin(LT_HOOK_FRAME, &change);
  if (!t) return 0;
  uint8_t *payload = t->mark;
  uint64_t number = atomic_fetch_add(&lastNumbers.scope, 1) + 1, now = lt_now();
  uint8_t *p = put_place(lt_put_varint(put_head(payload, LT_MARK_SCOPE_BEGIN, now), number), name, file, line);
  lt_buffer_put_mark(t, &change, payload, (size_t)(p - payload), now);
  lt_leave();
  return number;
}

LT_EXPORT void leaktrace_scope_end(uint64_t number, uint64_t graceNanoseconds) {
  if (number == 0) return;
  struct lt_stack_change change;
  struct lt_thread *t = begin(LT_HOOK_FRAME, &change);
  if (!t) return;
  uint8_t *payload = t->mark;
  uint64_t now = lt_now();
  uint8_t *p =
      lt_put_varint(lt_put_varint(put_head(payload, LT_MARK_SCOPE_END, now), number), lt_ticks_in(graceNanoseconds));
  lt_buffer_put_mark(t, &change, payload, (size_t)(p - payload), now);
  lt_leave();
}

LT_EXPORT void leaktrace_mark(const char *name, const char *file, uint32_t line) {
  struct lt_stack_change change;
  struct lt_thread *t = begin(LT_HOOK_FRAME, &change);
  if (!t) return;
  uint8_t *payload = t->mark;
  uint64_t now = lt_now();
  uint8_t *p = put_place(put_head(payload, LT_MARK_GENERATION, now), name, file, line);
  lt_buffer_put_mark(t, &change, payload, (size_t)(p - payload), now);
  lt_leave();
}

LT_EXPORT void leaktrace_expect_deallocated(const void *object, uint64_t nanoseconds, const char *name,
                                            const char *file, uint32_t line) {
  if (!object) return;
  struct lt_stack_change change;
  struct lt_thread *t = begin(LT_HOOK_FRAME, &change);
  if (!t) return;
  uint8_t *payload = t->mark;
  struct lt_expectation e = {.address = (uintptr_t)object,
                             .number = atomic_fetch_add(&lastNumbers.expectation, 1) + 1,
                             .name = name,
                             .file = file,
                             .line = line};
  uint64_t now = lt_now();
  if (__builtin_add_overflow(now, lt_ticks_in(nanoseconds), &e.deadline)) e.deadline = UINT64_MAX;
  uint8_t *p = lt_put_varint(put_head(payload, LT_MARK_EXPECTATION, now), e.number);
  p = put_place(lt_put_varint(lt_put_varint(p, e.address), e.deadline), name, file, line);
  lt_buffer_put_mark(t, &change, payload, (size_t)(p - payload), now);
  lt_watcher_expect(t, &e);
  lt_leave();
}

void lt_mark_end(struct lt_hook_frame hookFrame) {
  struct lt_stack_change change;
  struct lt_thread *t = begin(hookFrame, &change);
  if (!t) return;
  uint8_t *payload = t->mark;
  uint64_t now = lt_now();
  uint8_t *p = put_head(payload, LT_MARK_END, now);
  lt_buffer_put_mark(t, &change, payload, (size_t)(p - payload), now);
  lt_leave();
}

LT_EXPORT uint64_t leaktrace_repetition_begin(void) { return atomic_fetch_add(&lastNumbers.repetition, 1) + 1; }

LT_EXPORT int leaktrace_round_end(uint64_t repetition, uint64_t round, uint64_t scope, const char *name,
                                  const char *file, uint32_t line) {
  // Take the image before writing the mark. So the image contains no part of the mark, and the next round begins after
  // a complete image.
  int snapshot = lt_snapshot_take(LT_SNAPSHOT_ROUND, name, NULL, LT_SNAPSHOT_WAITS);
  if (repetition == 0 || snapshot <= 0) return snapshot;
  struct lt_stack_change change;
  struct lt_thread *t = begin(LT_HOOK_FRAME, &change);
  if (!t) return snapshot;
  uint8_t *payload = t->mark;
  uint64_t now = lt_now();
  uint8_t *p = lt_put_varint(lt_put_varint(put_head(payload, LT_MARK_ROUND, now), repetition), round);
  p = put_place(lt_put_varint(lt_put_varint(p, (uint64_t)snapshot), scope), name, file, line);
  lt_buffer_put_mark(t, &change, payload, (size_t)(p - payload), now);
  lt_leave();
  return snapshot;
}

LT_EXPORT const char *leaktrace_trace_path(void) { return lt_recording_is_on() ? lt_trace.file.path : NULL; }

LT_EXPORT int leaktrace_snapshot(const char *label) {
  return lt_snapshot_take(LT_SNAPSHOT_CALL, label, NULL, LT_SNAPSHOT_FOLLOWS);
}

LT_EXPORT int leaktrace_snapshot_written(const char *label) {
  return lt_snapshot_take(LT_SNAPSHOT_CALL, label, NULL, LT_SNAPSHOT_WAITS);
}

// --- heap profiles ---------------------------------------------------------------------------------------------------

/// Makes a copy of the process use a separate allocator. The program's allocator may be in the middle of a call.
static void use_copy_allocator(void) {
  lt_next = (struct lt_next_functions){.malloc = lt_copy_malloc,
                                       .calloc = lt_copy_calloc,
                                       .realloc = lt_copy_realloc,
                                       .free = lt_copy_free,
                                       .posix_memalign = lt_copy_posix_memalign,
                                       .aligned_alloc = lt_copy_aligned,
                                       .memalign = lt_copy_aligned,
                                       .valloc = lt_copy_malloc,
                                       .pvalloc = lt_copy_malloc};
}

void lt_heap_profiles_init(void) { lt_function_names_init(use_copy_allocator); }

struct call {
  struct lt_heap_profile profile;
  int error;
};

static void make(void *call) {
  struct call *c = call;
  c->error = lt_heap_profile_make(&c->profile, lt_sample_period);
}

LT_EXPORT int leaktrace_heap_profile(void (*take)(void *, const uint8_t *, size_t), void *context) {
  if (!lt_sample_period || !lt_recording_is_on()) return -ENODEV;
  struct call call = {.error = -EAGAIN};
  lt_call_isolated(make, &call);
  if (call.error) return call.error;
  take(context, call.profile.bytes, call.profile.size);
  lt_heap_profile_free(&call.profile);
  return 0;
}
