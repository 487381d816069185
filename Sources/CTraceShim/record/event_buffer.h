// The buffers that events and definitions are encoded into, and the encoding of texts.

#ifndef LEAKTRACE_EVENT_BUFFER_H
#define LEAKTRACE_EVENT_BUFFER_H

#include "CTraceFormat.h"
#include "check.h"
#include "record/chunk_compressor.h"
#include "thread/thread_state.h"
#include "unwind/stack_capture.h"

// --- encoding --------------------------------------------------------------------------------------------------------

// The encoding of texts in the trace. docs/engineering/trace-format.md has the grammar; trace_numbers.h has numbers.

/// Writes a text after its length, cut to the room left before `end`. Returns the address after it.
uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text);

// --- buffers ---------------------------------------------------------------------------------------------------------

// Encodes a thread's events and definitions into its slot of the live file. A buffer has one writer: the thread itself,
// or, once it has ended, the thread that cleans up after it. All memory ordering towards readers of the live file is
// here.

/// The most bytes of one event, with the control records that may precede it.
enum { LT_EVENT_MAX_SIZE = 96 + LT_EVENT_PUSH_LIMIT * 11 };

/// True if the payload of events is in its slot, with room for one event after its limit. Called by the thread itself.
LT_INVARIANT bool lt_buffer_is_valid(const struct lt_thread *t) {
  const uint8_t *slot = (const uint8_t *)t->slot;
  return slot && t->cursor >= slot + LT_SLOT_DEFINITIONS && t->cursor <= slot + LT_SLOT_SIZE && t->limit <= t->end &&
         t->end == slot + LT_SLOT_SIZE - LT_EVENT_MAX_SIZE;
}

/// Makes room for an event, by sealing the payload if it is full. False when recording has stopped; the event is
/// counted as dropped.
LT_NOINLINE bool lt_buffer_make_room(struct lt_thread *thread);
/// Seals the payload and begins a new one. False as for lt_buffer_make_room.
bool lt_buffer_renew(struct lt_thread *thread);
/// True if there is room for one event, after making it if necessary. Must be called before the stack is captured: a
/// new payload begins with an empty stack.
static LT_ALWAYS_INLINE bool lt_buffer_has_room(struct lt_thread *t) {
  return LT_LIKELY(t->cursor < t->limit) || lt_buffer_make_room(t);
}
/// True if a change with `pushes` pushes surely fits the rest of the payload, or if the payload is new and has the most
/// room possible.
static LT_ALWAYS_INLINE bool lt_buffer_fits(const struct lt_thread *t, uint32_t pushes) {
  return LT_LIKELY(pushes <= LT_EVENT_PUSH_LIMIT) || (t->eventCount == 0 && !t->hasMarks) ||
         (uint64_t)(t->end - t->cursor) > 4096 + 12ull * pushes;
}
/// The room that a payload must have before the stack of a mark is captured.
enum { LT_MARK_ROOM = 2048 };
/// Makes that room, by sealing the payload if necessary. False when recording has stopped.
bool lt_buffer_make_mark_room(struct lt_thread *thread);
/// Appends a definition record of the given kind. Up to 4 KiB; a longer payload is cut.
void lt_define(struct lt_thread *thread, uint8_t kind, const uint8_t *payload, size_t size);

/// Sets the function that is called in a hook, on a stack of the recorder's, when a thread has sealed a full payload
/// and begun a new one. Called when the trace is opened.
void lt_buffer_on_seal(void (*function)(struct lt_thread *thread));

/// Begins new payloads in the thread's slot, which is empty.
void lt_buffer_begin(struct lt_thread *thread);
/// Seals the complete records in a slot, and begins no new payload. Called by a thread whose hooks were switched off,
/// or by another thread. False when the trace could not be written.
bool lt_buffer_seal_payloads(struct lt_thread *thread);
enum { LT_BUFFER_COPIES = 2 };
/// Appends chunks with the records in another thread's slot, which stay there. Returns the number of chunks; `offsets`
/// gets their offsets in the trace. Make them voids if that thread goes on: it will seal the same records again.
size_t lt_buffer_copy_payloads(struct lt_thread *thread, uint64_t offsets[LT_BUFFER_COPIES]);
/// Seals the last records of a thread that has ended, and frees its memory.
void lt_buffer_end(struct lt_thread *thread);

/// Makes every event carry its time from now on, in all threads: the process has more than one.
void lt_exact_time_require(void);
/// Switches the calling thread's buffer to exact times if they are required.
void lt_buffer_keep_exact_time(struct lt_thread *thread);

/// Publishes the complete part to readers of the live file, and to the thread that seals it.
static LT_ALWAYS_INLINE void lt_buffer_publish(struct lt_thread *t, uint64_t eventCount) {
  LT_CHECK(lt_buffer_is_valid(t));
  LT_CHECK(eventCount <= UINT32_MAX);
  uint64_t word = eventCount << 32 | (uint32_t)(t->cursor - (uint8_t *)t->slot);
  atomic_store_explicit((_Atomic uint64_t *)&t->slot->eventUsed, word, memory_order_release);
}

/// Writes a control record that advances the time, if the difference is worth one. Returns the address after it, as
/// every function here that takes `p` does.
LT_NOINLINE uint8_t *lt_buffer_put_time(struct lt_thread *t, uint8_t *p);
/// Writes a control record that advances the time by `units`, each 2^LT_TIME_SHIFT ticks.
uint8_t *lt_buffer_put_units(struct lt_thread *t, uint8_t *p, uint64_t units);
/// Writes a control record for the running task, if the reader does not know it.
void lt_buffer_put_task(struct lt_thread *t);

#endif
