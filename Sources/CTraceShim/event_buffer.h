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

/// Makes room for an event, by sealing the payload. False when recording has stopped; the event is counted as dropped.
LT_NOINLINE bool lt_buffer_make_room(struct lt_thread *thread);
/// Room for one event. To be asked before the stack is captured: a new payload begins with an empty stack.
static LT_ALWAYS_INLINE bool lt_buffer_has_room(struct lt_thread *t) { return LT_LIKELY(t->cursor < t->limit) || lt_buffer_make_room(t); }
/// Writes all but the last few pushed keys of a large change, and takes them out of it.
LT_NOINLINE void lt_buffer_put_large_change(struct lt_thread *thread, struct lt_stack_change *change);
/// Whether a change of this many pushes surely fits what is left of the payload, or the payload is new and has all the room there is.
static LT_ALWAYS_INLINE bool lt_buffer_fits(const struct lt_thread *t, uint32_t pushes) {
  return LT_LIKELY(pushes <= LT_EVENT_PUSH_LIMIT) || (t->eventCount == 0 && !t->hasMarks) || (uint64_t)(t->limit - t->cursor) > 4096 + 12ull * pushes;
}
/// Most bytes of a mark's payload.
enum { LT_MARK_MAX_SIZE = 576 };
/// What is to be left of a payload before the stack of a mark is captured.
enum { LT_MARK_ROOM = 2048 };
/// Makes that room, by sealing the payload if need be. False when recording has stopped.
bool lt_buffer_make_mark_room(struct lt_thread *thread);
/// Writes a mark, after the change of the stack that its caller has, and the task that runs. `time` is that in the mark.
void lt_buffer_put_mark(struct lt_thread *thread, struct lt_stack_change *change, const uint8_t *payload, size_t size, uint64_t time);
/// Puts a key that is not in the dictionary.
LT_NOINLINE uint8_t *lt_buffer_put_literal(struct lt_thread *thread, uint8_t *p, uint64_t key);
/// Appends a definition record of the given kind. Up to 4 KiB; a longer payload is cut.
void lt_define(struct lt_thread *thread, uint8_t kind, const uint8_t *payload, size_t size);

/// Begins new payloads in the thread's slot, which is empty.
void lt_buffer_begin(struct lt_thread *thread);
/// Seals what the thread's slot holds into chunks of the trace and begins new payloads. By the thread itself.
void lt_buffer_seal(struct lt_thread *thread);
/// Seals what is complete in a slot, and begins nothing: of a thread that has ended, or whose hooks were switched off.
/// False when the trace could not be written.
bool lt_buffer_seal_payloads(struct lt_thread *thread);

/// From now on every event carries its time, in all threads: the process has more than one.
void lt_exact_time_require(void);
extern _Atomic uint32_t lt_exact_time_required __attribute__((visibility("hidden")));

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

uint8_t *lt_buffer_put_time(struct lt_thread *t, uint8_t *p);
/// A control record that says which task runs now.
LT_NOINLINE uint8_t *lt_buffer_put_task(struct lt_thread *t, uint8_t *p);

/// Puts the address operand and moves the address state on. Returns the address code.
static LT_ALWAYS_INLINE unsigned lt_code_address(struct lt_thread *t, uint64_t address, uint8_t operand[16], unsigned *operandSize) {
  uint64_t recent = t->recent[0];
  *operandSize = 0;
  if (address == recent) return LT_ADDRESS_RECENT;
  unsigned code;
  uint64_t *successor = &t->successor[lt_successor_index(recent)];
  unsigned index = lt_address_index(address);
  int64_t delta = (int64_t)(address - recent);
  unsigned position = 3;
  if (address == t->recent[1]) code = LT_ADDRESS_RECENT + 1, position = 1;
  else if (address == t->recent[2]) code = LT_ADDRESS_RECENT + 2, position = 2;
  else if (address == t->recent[3]) code = LT_ADDRESS_RECENT + 3;
  else if (address == *successor) code = LT_ADDRESS_SUCCESSOR;
  else if ((delta & 15) == 0 && delta >= -16 * 28 && delta <= 16 * 28) code = delta < 0 ? (unsigned)(36 + delta / 16) : (unsigned)(35 + delta / 16);
  else if (address == t->table[index]) {
    code = LT_ADDRESS_TABLE;
    operand[0] = (uint8_t)index;
    *operandSize = 1;
  } else if ((delta & 15) == 0) {
    code = LT_ADDRESS_DELTA16;
    *operandSize = (unsigned)(lt_put_varint(operand, lt_zigzag(delta / 16)) - operand);
  } else {
    code = LT_ADDRESS_DELTA;
    *operandSize = (unsigned)(lt_put_varint(operand, lt_zigzag(delta)) - operand);
  }
  *successor = address;
  t->table[index] = address;
  switch (position) {
    case 3: t->recent[3] = t->recent[2]; // fall through
    case 2: t->recent[2] = t->recent[1]; // fall through
    default: t->recent[1] = recent; t->recent[0] = address;
  }
  return code;
}

/// Records an event. `hasOperands`: `size`, and for objects the type that `typeFor` gives for `metadata`, are recorded with it.
/// `change` is NULL for operations without a stack. Inlined into each recorder with a constant operation.
static LT_ALWAYS_INLINE void lt_record(struct lt_thread *t, unsigned operation, struct lt_stack_change *change, uint64_t address, int hasOperands, uint64_t size,
                                       uint64_t metadata, uint32_t (*typeFor)(struct lt_thread *, uint64_t)) {
  if (change && LT_UNLIKELY(change->pushes > LT_EVENT_PUSH_LIMIT)) lt_buffer_put_large_change(t, change);
  uint8_t *p = t->cursor;
  if (change && LT_UNLIKELY(t->task != t->recordedTask)) p = lt_buffer_put_task(t, p);
  if (LT_UNLIKELY(t->isExact != atomic_load_explicit(&lt_exact_time_required, memory_order_relaxed))) p = lt_buffer_put_time(t, p);
  uint64_t units = 0;
  if (t->isExact) {
    uint64_t now = lt_now() >> LT_TIME_SHIFT;
    units = now > t->timeUnits ? now - t->timeUnits : 0;
    t->timeUnits += units;
  } else if (LT_UNLIKELY(++t->untimedEvents >= 32)) {
    p = lt_buffer_put_time(t, p);
  }
  uint8_t operand[16];
  unsigned operandSize;
  unsigned code = lt_code_address(t, address, operand, &operandSize);
  uint32_t context = lt_context_index(operation, change ? change->innermost : 0, change ? change->next : 0);
  struct lt_site *site = NULL;
  unsigned operandsFlag = 0;
  if (hasOperands) {
    site = &t->site[context];
    if (site->size != size || site->metadata != metadata) {
      operandsFlag = LT_TAG_OPERANDS;
      site->size = size;
      if (typeFor && site->metadata != metadata) site->type = typeFor(t, metadata);
      site->metadata = metadata;
    }
  }
  struct lt_prediction *predicted = &t->prediction[t->context];
  uint32_t pops = change ? change->pops : 0, pushes = change ? change->pushes : 0;
  bool isPredicted = predicted->operation == operation && predicted->pops == pops && predicted->pushes == pushes;
  for (uint32_t i = 0; isPredicted && i < pushes; i++) isPredicted = t->keys[predicted->keys[i]] == change->keys[i];
  if (LT_LIKELY(isPredicted)) {
    *p++ = (uint8_t)(LT_TAG_PREDICTED | operandsFlag | code);
  } else {
    *p++ = (uint8_t)(operandsFlag | operation);
    *p++ = (uint8_t)code;
    if (change) {
      p = lt_put_varint(p, pops);
      p = lt_put_varint(p, pushes);
    }
    for (uint32_t i = 0; i < pushes; i++) {
      uint32_t index = lt_key_index(change->keys[i]);
      if (LT_LIKELY(t->keys[index] == change->keys[i])) p = lt_put_varint(p, LT_TOKEN_DICTIONARY + index);
      else p = lt_buffer_put_literal(t, p, change->keys[i]);
    }
    if (pushes <= LT_PREDICTED_PUSHES && pops < 65536) {
      predicted->operation = (uint8_t)operation;
      predicted->pops = (uint16_t)pops;
      predicted->pushes = (uint8_t)pushes;
      for (uint32_t i = 0; i < pushes; i++) predicted->keys[i] = (uint16_t)lt_key_index(change->keys[i]);
    }
  }
  t->context = context;
  if (operandSize) {
    *p++ = operand[0];
    for (unsigned i = 1; i < operandSize; i++) *p++ = operand[i];
  }
  if (t->isExact) p = lt_put_varint(p, units);
  if (operandsFlag) {
    p = lt_put_varint(p, size);
    if (operation == LT_OP_OBJECT) p = lt_put_varint(p, site->type);
  }
  t->cursor = p;
  lt_buffer_publish(t, ++t->eventCount);
}

#endif
