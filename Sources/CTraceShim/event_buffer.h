// Encodes a thread's events and definitions into its slot of the live file. One writer a buffer: the thread itself, or,
// once the thread has ended, whoever cleans up after it. All memory ordering towards readers of the live file lives here.

#ifndef LEAKTRACE_EVENT_BUFFER_H
#define LEAKTRACE_EVENT_BUFFER_H

#include "thread_state.h"

/// Most frames that an event pushes by itself; more go into a control record before it.
enum { LT_EVENT_PUSH_LIMIT = 48 };
/// Most bytes that one event takes, with the control records that may stand before it.
enum { LT_EVENT_MAX_SIZE = 96 + LT_EVENT_PUSH_LIMIT * 11 };

/// How a stack differs from the one recorded before it.
struct lt_stack_change {
  uint32_t pops, pushes;
  const uint64_t *keys; ///< pushed, the outermost first
  uint64_t innermost, next; ///< the two innermost keys of the stack
};

/// Makes room for an event, by sealing the payload if it is full. False when recording has stopped; the event is counted as dropped.
LT_NOINLINE bool lt_buffer_make_room(struct lt_thread *thread);
/// Seals the payload and begins a new one. False as of lt_buffer_make_room.
bool lt_buffer_renew(struct lt_thread *thread);
/// Room for one event. To be asked before the stack is captured: a new payload begins with an empty stack.
static LT_ALWAYS_INLINE bool lt_buffer_has_room(struct lt_thread *t) { return LT_LIKELY(t->cursor < t->limit) || lt_buffer_make_room(t); }
/// Writes all but the last few pushed keys of a large change, and takes them out of it.
LT_NOINLINE void lt_buffer_put_large_change(struct lt_thread *thread, struct lt_stack_change *change);
/// Whether a change of this many pushes surely fits what is left of the payload, or the payload is new and has all the room there is.
static LT_ALWAYS_INLINE bool lt_buffer_fits(const struct lt_thread *t, uint32_t pushes) {
  return LT_LIKELY(pushes <= LT_EVENT_PUSH_LIMIT) || (t->eventCount == 0 && !t->hasMarks) || (uint64_t)(t->end - t->cursor) > 4096 + 12ull * pushes;
}
/// What is to be left of a payload before the stack of a mark is captured.
enum { LT_MARK_ROOM = 2048 };
/// Makes that room, by sealing the payload if need be. False when recording has stopped.
bool lt_buffer_make_mark_room(struct lt_thread *thread);
/// Writes a mark, after the change of the stack that its caller has. `time` is that in the mark.
void lt_buffer_put_mark(struct lt_thread *thread, struct lt_stack_change *change, const uint8_t *payload, size_t size, uint64_t time);
/// Puts a key that is not in the dictionary.
LT_NOINLINE uint8_t *lt_buffer_put_literal(struct lt_thread *thread, uint8_t *p, uint64_t key);
/// Appends a definition record of the given kind. Up to 4 KiB; a longer payload is cut.
void lt_define(struct lt_thread *thread, uint8_t kind, const uint8_t *payload, size_t size);

/// Begins new payloads in the thread's slot, which is empty.
void lt_buffer_begin(struct lt_thread *thread);
/// Seals what the thread's slot holds into chunks of the trace and begins new payloads. By the thread itself.
void lt_buffer_seal(struct lt_thread *thread);
/// Seals what is complete in a slot, and begins nothing: by a thread whose hooks were switched off, or by another.
/// False when the trace could not be written.
bool lt_buffer_seal_payloads(struct lt_thread *thread);
/// The same of a thread that has ended. Gives back what it held.
void lt_buffer_end(struct lt_thread *thread);

/// From now on every event carries its time, in all threads: the process has more than one.
void lt_exact_time_require(void);
/// Switches the calling thread's buffer to exact times if they are required.
void lt_buffer_keep_exact_time(struct lt_thread *thread);

static LT_ALWAYS_INLINE uint8_t *lt_put_varint(uint8_t *p, uint64_t value) {
  while (value >= 0x80) {
    *p++ = (uint8_t)(value | 0x80);
    value >>= 7;
  }
  *p++ = (uint8_t)value;
  return p;
}

static LT_ALWAYS_INLINE uint64_t lt_zigzag(int64_t value) { return ((uint64_t)value << 1) ^ (uint64_t)(value >> 63); }
uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text);

extern uint8_t lt_clock_kind __attribute__((visibility("hidden"))); ///< LT_CLOCK_
/// The trace's clock now.
static LT_ALWAYS_INLINE uint64_t lt_now(void) {
  return LT_LIKELY(lt_clock_kind == LT_CLOCK_TSC) ? lt_ticks_ordered() : lt_clock_nanoseconds(CLOCK_MONOTONIC);
}

/// Shows readers of the live file, and whoever seals it, what is complete.
static LT_ALWAYS_INLINE void lt_buffer_publish(struct lt_thread *t, uint64_t eventCount) {
  uint64_t word = eventCount << 32 | (uint32_t)(t->cursor - (uint8_t *)t->slot);
  atomic_store_explicit((_Atomic uint64_t *)&t->slot->eventUsed, word, memory_order_release);
}

/// A control record that moves the time on. Returns what follows it, as all that put something do.
LT_NOINLINE uint8_t *lt_buffer_put_time(struct lt_thread *t, uint8_t *p);
/// A control record that says which task runs, if the reader does not know.
void lt_buffer_put_task(struct lt_thread *t);

#endif
