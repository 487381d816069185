// Encodes a thread's events and definitions into its slot of the live file. One writer a buffer: the thread itself, or,
// once the thread has ended, whoever cleans up after it. All memory ordering towards readers of the live file lives
// here.

#ifndef LEAKTRACE_EVENT_BUFFER_H
#define LEAKTRACE_EVENT_BUFFER_H

#include "check.h"
#include "record/live_slot.h"
#include "thread/thread_state.h"
#include "unwind/stack_change.h"

/// Most bytes that one event takes, with the control records that may stand before it.
enum { LT_EVENT_MAX_SIZE = 96 + LT_EVENT_PUSH_LIMIT * 11 };

/// True if the payload of events lies in its slot, with room for one event behind its limit. By the thread itself.
LT_INVARIANT bool lt_buffer_is_valid(const struct lt_thread *t) {
  const uint8_t *slot = (const uint8_t *)t->slot;
  return slot && t->cursor >= slot + LT_SLOT_DEFINITIONS && t->cursor <= slot + LT_SLOT_SIZE && t->limit <= t->end &&
         t->end == slot + LT_SLOT_SIZE - LT_EVENT_MAX_SIZE;
}

/// Makes room for an event, by sealing the payload if it is full. False when recording has stopped; the event is
/// counted as dropped.
LT_NOINLINE bool lt_buffer_make_room(struct lt_thread *thread);
/// Seals the payload and begins a new one. False as of lt_buffer_make_room.
bool lt_buffer_renew(struct lt_thread *thread);
/// Tells whether there is room for one event, after making it if need be. To be asked before the stack is captured: a
/// new payload begins with an empty stack.
static LT_ALWAYS_INLINE bool lt_buffer_has_room(struct lt_thread *t) {
  return LT_LIKELY(t->cursor < t->limit) || lt_buffer_make_room(t);
}
/// Tells whether a change of this many pushes surely fits what is left of the payload, or the payload is new and has
/// all the room there is.
static LT_ALWAYS_INLINE bool lt_buffer_fits(const struct lt_thread *t, uint32_t pushes) {
  return LT_LIKELY(pushes <= LT_EVENT_PUSH_LIMIT) || (t->eventCount == 0 && !t->hasMarks) ||
         (uint64_t)(t->end - t->cursor) > 4096 + 12ull * pushes;
}
/// The room to be left in a payload before the stack of a mark is captured.
enum { LT_MARK_ROOM = 2048 };
/// Makes that room, by sealing the payload if need be. False when recording has stopped.
bool lt_buffer_make_mark_room(struct lt_thread *thread);
/// Appends a definition record of the given kind. Up to 4 KiB; a longer payload is cut.
void lt_define(struct lt_thread *thread, uint8_t kind, const uint8_t *payload, size_t size);

/// Sets the function that is called in a hook, on a stack of the recorder's, when a thread has sealed a full payload
/// and begun a new one. Called when the trace is opened.
void lt_buffer_on_seal(void (*function)(struct lt_thread *thread));

/// Begins new payloads in the thread's slot, which is empty.
void lt_buffer_begin(struct lt_thread *thread);
/// Seals what is complete in a slot, and begins nothing: by a thread whose hooks were switched off, or by another.
/// False when the trace could not be written.
bool lt_buffer_seal_payloads(struct lt_thread *thread);
enum { LT_BUFFER_COPIES = 2 };
/// Appends chunks of what another thread has in its slot, which stays there. Returns how many; `offsets` gets their
/// places in the trace. To be made voids if that thread goes on: it will seal the same again.
size_t lt_buffer_copy_payloads(struct lt_thread *thread, uint64_t offsets[LT_BUFFER_COPIES]);
/// Seals the last records of a thread that has ended, and frees its memory.
void lt_buffer_end(struct lt_thread *thread);

/// Has every event carry its time from now on, in all threads: the process has more than one.
void lt_exact_time_require(void);
/// Switches the calling thread's buffer to exact times if they are required.
void lt_buffer_keep_exact_time(struct lt_thread *thread);

/// Shows the complete part to readers of the live file, and to the thread that seals it.
static LT_ALWAYS_INLINE void lt_buffer_publish(struct lt_thread *t, uint64_t eventCount) {
  LT_CHECK(lt_buffer_is_valid(t));
  LT_CHECK(eventCount <= UINT32_MAX);
  uint64_t word = eventCount << 32 | (uint32_t)(t->cursor - (uint8_t *)t->slot);
  atomic_store_explicit((_Atomic uint64_t *)&t->slot->eventUsed, word, memory_order_release);
}

/// Puts a control record that moves the time on, if that is worth one. Returns what follows it, as all that put
/// something do.
LT_NOINLINE uint8_t *lt_buffer_put_time(struct lt_thread *t, uint8_t *p);
/// Puts one that moves it on by so many units of 2^LT_TIME_SHIFT ticks.
uint8_t *lt_buffer_put_units(struct lt_thread *t, uint8_t *p, uint64_t units);
/// Puts a control record that says which task runs, if the reader does not know.
void lt_buffer_put_task(struct lt_thread *t);

#endif
