// The buffers that events and definitions are encoded into, and the encoding of texts.

#ifndef LEAKTRACE_EVENT_BUFFER_H
#define LEAKTRACE_EVENT_BUFFER_H

#include "CTraceFormat.h"
#include "check.h"
#include "record/chunk_compressor.h"
#include "thread/thread_state.h"
#include "unwind/stack_capture.h"

// --- encoding --------------------------------------------------------------------------------------------------------

// The encoding of texts in the trace. The grammar is in docs/engineering/trace-format.md, and the constants are in
// trace_numbers.h.

/// Writes the length of a text and then the text, cut to the room left before `end`. Returns the address after the
/// text.
uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text);

// --- buffers ---------------------------------------------------------------------------------------------------------

// Encodes a thread's events and definitions into the thread's slot of the live file. A buffer has one writer. This is
// the thread itself, or, after its end, the thread that cleans up. Only this code orders memory writes for readers of
// the live file.

/// The most bytes of one event, including the control records that may precede it.
enum { LT_EVENT_MAX_SIZE = 96 + LT_EVENT_PUSH_LIMIT * 11 };

/// True if the payload of events lies in the slot, with room for one event after its limit. Called by the thread
/// itself.
LT_INVARIANT bool lt_buffer_is_valid(const struct lt_thread *t) {
  const uint8_t *slot = (const uint8_t *)t->slot;
  return slot && t->cursor >= slot + LT_SLOT_DEFINITIONS && t->cursor <= slot + LT_SLOT_SIZE && t->limit <= t->end &&
         t->end == slot + LT_SLOT_SIZE - LT_EVENT_MAX_SIZE;
}

/// Makes room for an event: seals the payload if it is full. Returns false if recording has stopped; then the event is
/// counted as dropped.
LT_NOINLINE bool lt_buffer_make_room(struct lt_thread *thread);
/// Seals the payload and begins a new one. Returns false if recording has stopped; then the event is counted as
/// dropped.
bool lt_buffer_renew(struct lt_thread *thread);
/// Makes room for one event if necessary, and returns true if there is room. Must be called before the stack is
/// captured, because a new payload begins with an empty stack.
static LT_ALWAYS_INLINE bool lt_buffer_has_room(struct lt_thread *t) {
  return LT_LIKELY(t->cursor < t->limit) || lt_buffer_make_room(t);
}
/// True if a change with `pushes` pushes certainly fits into the rest of the payload. Also true if the payload is new,
/// because no payload has more room.
static LT_ALWAYS_INLINE bool lt_buffer_fits(const struct lt_thread *t, uint32_t pushes) {
  return LT_LIKELY(pushes <= LT_EVENT_PUSH_LIMIT) || (t->eventCount == 0 && !t->hasMarks) ||
         (uint64_t)(t->end - t->cursor) > 4096 + 12ull * pushes;
}
/// The room in bytes that a payload must have before a mark's stack is captured.
enum { LT_MARK_ROOM = 2048 };
/// Makes room for a mark: seals the payload if necessary. Returns false if recording has stopped.
bool lt_buffer_make_mark_room(struct lt_thread *thread);
/// Appends a definition record of the given kind. A payload longer than 4 KiB is cut.
void lt_define(struct lt_thread *thread, uint8_t kind, const uint8_t *payload, size_t size);

/// Sets a function to be called when a thread has sealed a full payload and begun a new one. It runs in a hook, on a
/// stack of the recorder's. Must be called when the trace is opened.
void lt_buffer_on_seal(void (*function)(struct lt_thread *thread));

/// Begins new payloads in the thread's empty slot.
void lt_buffer_begin(struct lt_thread *thread);
/// Seals the complete records in a slot, without beginning new payloads. Called by another thread, or by the thread
/// itself after its hooks were switched off. Returns false if the trace could not be written.
bool lt_buffer_seal_payloads(struct lt_thread *thread);
enum { LT_BUFFER_COPIES = 2 };
/// Appends chunks with the records in another thread's slot. The records stay in the slot. Returns the number of
/// chunks, and writes their offsets in the trace to `offsets`. If the other thread continues, it will seal the same
/// records again. Then these chunks must be made voids.
size_t lt_buffer_copy_payloads(struct lt_thread *thread, uint64_t offsets[LT_BUFFER_COPIES]);
/// Seals the last records of a thread that has ended, and returns its compressor.
void lt_buffer_end(struct lt_thread *thread);

/// Makes every event in all threads carry its time from now on. Called for example when the process gets a second
/// thread.
void lt_exact_time_require(void);
/// Switches the calling thread's buffer to exact times if lt_exact_time_require was called.
void lt_buffer_keep_exact_time(struct lt_thread *thread);

/// Publishes the complete records to readers of the live file, and to the thread that seals them.
static LT_ALWAYS_INLINE void lt_buffer_publish(struct lt_thread *t, uint64_t eventCount) {
  LT_CHECK(lt_buffer_is_valid(t));
  LT_CHECK(eventCount <= UINT32_MAX);
  uint64_t word = eventCount << 32 | (uint32_t)(t->cursor - (uint8_t *)t->slot);
  // Release: pairs with the acquire in `published`, and with readers of the live file.
  atomic_store_explicit((_Atomic uint64_t *)&t->slot->eventUsed, word, memory_order_release);
}

/// Writes a control record that advances the time, if enough time has passed. Returns the address after the record, as
/// every function here with a parameter `p` does.
LT_NOINLINE uint8_t *lt_buffer_put_time(struct lt_thread *t, uint8_t *p);
/// Writes a control record that advances the time by `units` of 2^LT_TIME_SHIFT ticks.
uint8_t *lt_buffer_put_units(struct lt_thread *t, uint8_t *p, uint64_t units);
/// Writes a control record with the running task, if the reader does not know that task yet.
void lt_buffer_put_task(struct lt_thread *t);

#endif
