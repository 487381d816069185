// The buffers that events and definitions are encoded into, and the encoding of texts.

#include "record/event_buffer.h"

#include "check.h"
#include "record/chunk_compressor.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "thread/thread_state.h"

#include <string.h>

// --- encoding --------------------------------------------------------------------------------------------------------

uint8_t *lt_put_string(uint8_t *p, const uint8_t *end, const char *text) {
  LT_CHECK(text && p < end);
  size_t length = strlen(text), room = end > p + 10 ? (size_t)(end - p) - 10 : 0;
  if (length > room) length = room;
  LT_CHECK(length <= room);
  p = lt_put_varint(p, length);
  memcpy(p, text, length);
  LT_CHECK(p + length <= end);
  return p + length;
}

// --- buffers ---------------------------------------------------------------------------------------------------------

// Encodes a thread's events and definitions into the thread's slot of the live file. Calls nothing that allocates.

/// In a process with several threads, one thread may wait for another. So a growing payload is compressed in pieces of
/// this size. A piece takes some 100 microseconds, and makes the trace a few bytes longer.
enum { COMPRESSION_STEP = 32 << 10 };

static struct {
  _Atomic uint32_t isExactTimeRequired;
  void (*onSeal)(struct lt_thread *);
} buffers;

/// True if the payload of definitions lies in its part of the slot. Another thread may be sealing the payload.
LT_INVARIANT bool are_definitions_valid(const struct lt_thread *t) {
  const uint8_t *slot = (const uint8_t *)t->slot;
  return slot && t->definitionCursor >= slot + sizeof *t->slot && t->definitionCursor <= t->definitionLimit &&
         t->definitionLimit == slot + LT_SLOT_DEFINITIONS;
}

void lt_buffer_on_seal(void (*function)(struct lt_thread *)) { buffers.onSeal = function; }

void lt_exact_time_require(void) {
  // Comes before the loads of the list, and pairs with the load in lt_buffer_keep_exact_time.
  if (!atomic_exchange(&buffers.isExactTimeRequired, 1)) lt_thread_send_to_prepare();
}

uint8_t *lt_buffer_put_units(struct lt_thread *t, uint8_t *p, uint64_t units) {
  uint8_t *size = p + 1;
  *p = LT_CONTROL_TIME;
  p = lt_put_varint(p + 2, units);
  *size = (uint8_t)(p - size - 1);
  LT_CHECK(t->timeUnits + units >= t->timeUnits);
  t->timeUnits += units;
  return p;
}

LT_NOINLINE uint8_t *lt_buffer_put_time(struct lt_thread *t, uint8_t *p) {
  // The process has one thread, so the reads of the clock need no order with other threads.
  uint64_t now = (lt_clock_kind == LT_CLOCK_TSC ? lt_ticks_unordered() : lt_now()) >> LT_TIME_SHIFT;
  uint64_t units = now > t->timeUnits ? now - t->timeUnits : 0;
  // The threshold is about 20 microseconds. A reader has no use for more frequent times.
  return units >= 1u << 13 ? lt_buffer_put_units(t, p, units) : p;
}

void lt_buffer_keep_exact_time(struct lt_thread *t) {
  if (t->isExact || !atomic_load(&buffers.isExactTimeRequired) || !lt_buffer_has_room(t) || t->isExact) return;
  LT_CHECK(t->cursor < t->limit);
  uint64_t now = lt_now() >> LT_TIME_SHIFT;
  uint8_t *p = lt_buffer_put_units(t, t->cursor, now > t->timeUnits ? now - t->timeUnits : 0);
  *p++ = LT_CONTROL_EXACT_TIME;
  *p++ = 0;
  t->cursor = p;
  LT_CHECK(lt_buffer_is_valid(t));
  t->isExact = 1;
}

void lt_buffer_put_task(struct lt_thread *t) {
  if (LT_LIKELY(t->task == t->recordedTask)) return;
  LT_CHECK(!t->slot || t->cursor <= t->end);
  t->recordedTask = t->task;
  uint8_t *size = t->cursor + 1;
  *t->cursor = LT_CONTROL_TASK;
  t->cursor = lt_put_varint(t->cursor + 2, t->task);
  *size = (uint8_t)(t->cursor - size - 1);
}

/// Sets the limit for events to the point where the next piece will be compressed.
static void extend_limit(struct lt_thread *t) {
  LT_CHECK(t->cursor < t->end);
  t->limit = t->isExact && t->end - t->cursor > COMPRESSION_STEP ? t->cursor + COMPRESSION_STEP : t->end;
  LT_CHECK(t->cursor < t->limit && t->limit <= t->end);
}

static void drop_compressor(struct lt_thread *t) {
  lt_compressor_return(t->compressor);
  t->compressor = NULL;
}

/// Returns the size of the complete records: bytes in the low half, events in the high half.
static uint64_t published(const struct lt_live_slot *slot) {
  // Acquire: pairs with the release in lt_buffer_publish.
  uint64_t word = atomic_load_explicit((const _Atomic uint64_t *)&slot->eventUsed, memory_order_acquire);
  LT_CHECK(slot->eventStart == LT_SLOT_DEFINITIONS);
  LT_CHECK((uint32_t)word >= slot->eventStart && (uint32_t)word <= LT_SLOT_SIZE);
  return word - slot->eventStart;
}

/// Compresses the part of the payload that is complete.
static void compress_piece(struct lt_thread *t) {
  LT_CHECK(t == lt_tls.thread && lt_buffer_is_valid(t));
  if (!t->compressor) t->compressor = lt_compressor_take(LT_COMPRESS_GROWING);
  if (t->compressor)
    lt_compressor_add(t->compressor, (uint8_t *)t->slot + t->slot->eventStart, (uint32_t)published(t->slot));
  extend_limit(t);
}

void lt_buffer_begin(struct lt_thread *t) {
  struct lt_live_slot *slot = t->slot;
  LT_CHECK(slot && slot->eventStart == LT_SLOT_DEFINITIONS && slot->definitionStart == sizeof *slot);
  LT_CHECK(lt_trace.slotSize == LT_SLOT_SIZE);
  uint8_t *base = (uint8_t *)slot;
  t->cursor = base + slot->eventStart;
  t->limit = t->end = base + lt_trace.slotSize - LT_EVENT_MAX_SIZE;
  drop_compressor(t);
  t->context = 0;
  t->literal = 0;
  t->recordedDepth = 0;
  t->recordedAsync = 0;
  t->recordedTask = 0;
  t->depth = 0; // so that the next stack is unwound and written in full
  memset(t->dictionary, 0, sizeof t->dictionary);
  memset(t->recent, 0, sizeof t->recent);
  memset(t->prediction, 0, sizeof t->prediction);
  memset(t->site, 0, sizeof t->site);
  memset(t->successor, 0, sizeof t->successor);
  memset(t->table, 0, sizeof t->table);
  t->eventCount = 0;
  t->hasMarks = 0;
  t->isExact = 0;
  uint64_t now = lt_now();
  t->timeUnits = now >> LT_TIME_SHIFT;
  slot->firstTime = t->timeUnits << LT_TIME_SHIFT;
  slot->eventSequence = t->eventSequence;
  lt_buffer_keep_exact_time(t);
  extend_limit(t);
  lt_buffer_publish(t, 0);
  LT_CHECK(!t->compressor && published(slot) >> 32 == 0);
}

static bool seal_definitions(struct lt_thread *t) {
  struct lt_live_slot *slot = t->slot;
  // Acquire: pairs with the release in lt_define. The caller may be another thread.
  uint32_t used = atomic_load_explicit((const _Atomic uint32_t *)&slot->definitionUsed, memory_order_acquire);
  uint32_t size = used - slot->definitionStart;
  LT_CHECK(slot->definitionStart == sizeof *slot && size <= LT_SLOT_DEFINITIONS - sizeof *slot);
  if (size == 0) return true;
  struct lt_chunk_header header = {
      .kind = LT_CHUNK_DEFINITIONS, .thread = t->number, .sequence = t->definitionSequence};
  if (!lt_trace_append(&header, (uint8_t *)slot + slot->definitionStart, size, NULL)) return false;
  t->definitionCursor = (uint8_t *)slot + slot->definitionStart;
  atomic_store_explicit((_Atomic uint32_t *)&slot->definitionUsed, slot->definitionStart, memory_order_release);
  slot->definitionSequence = ++t->definitionSequence;
  return true;
}

/// Seals both payloads. `compressor` has compressed the beginning of the events, or is NULL.
static bool seal_payloads(struct lt_thread *t, struct lt_compressor *compressor) {
  struct lt_live_slot *slot = t->slot;
  if (!slot) return true;
  // Seal definitions first, because events that use them follow.
  if (!seal_definitions(t)) return false;
  uint64_t complete = published(slot);
  uint32_t size = (uint32_t)complete, count = (uint32_t)(complete >> 32);
  // Marks do not count as events, but also need a chunk.
  if (count || t->hasMarks) {
    LT_CHECK(t->number > 0 && size > 0);
    LT_CHECK(slot->firstTime <= t->timeUnits << LT_TIME_SHIFT);
    struct lt_chunk_header header = {.kind = LT_CHUNK_EVENTS,
                                     .thread = t->number,
                                     .sequence = t->eventSequence,
                                     .firstTime = slot->firstTime,
                                     .lastTime = t->timeUnits << LT_TIME_SHIFT,
                                     .eventCount = count};
    if (!lt_trace_append(&header, (uint8_t *)slot + slot->eventStart, size, compressor)) return false;
    atomic_store_explicit((_Atomic uint64_t *)&slot->eventUsed, slot->eventStart, memory_order_release);
    t->eventSequence++;
    t->hasMarks = 0;
  }
  lt_trace_add_drops(t);
  return true;
}

/// Keeps other threads from sealing the same payloads. Returns false if a signal handler has interrupted the calling
/// thread's own sealing. Also returns false if another thread takes longer than sealing ever does. In both cases a
/// chunk may be written twice, and readers use one of them.
static bool begin_sealing(struct lt_thread *t) {
  enum { MOMENT_NANOSECONDS = 1000000, MOMENT_LIMIT = 1000 };
  pid_t self = lt_thread_id();
  for (int moments = 0; moments < MOMENT_LIMIT; moments++) {
    pid_t nobody = 0;
    // Pairs with the store in end_sealing: this thread sees the payloads as the last one has left them.
    if (atomic_compare_exchange_strong(&t->sealer, &nobody, self)) return true;
    if (nobody == self) return false;
    lt_sleep(MOMENT_NANOSECONDS);
  }
  return false;
}

static void end_sealing(struct lt_thread *t, bool isBegun) {
  LT_CHECK(!isBegun || atomic_load(&t->sealer) != 0);
  if (isBegun) atomic_store(&t->sealer, 0);
}

// Do not use the thread's compressor here. The caller may be another thread, or may have interrupted the thread while
// it was compressing.
bool lt_buffer_seal_payloads(struct lt_thread *t) {
  bool isBegun = begin_sealing(t), isSealed = seal_payloads(t, NULL);
  end_sealing(t, isBegun);
  return isSealed;
}

/// Appends the published records of another thread, which may continue to write after them.
static size_t copy_payloads(const struct lt_thread *t, uint64_t offsets[LT_BUFFER_COPIES]) {
  const struct lt_live_slot *slot = t->slot;
  size_t count = 0;
  // Acquire: pairs with the release in lt_define.
  uint32_t used = atomic_load_explicit((const _Atomic uint32_t *)&slot->definitionUsed, memory_order_acquire);
  LT_CHECK(used >= slot->definitionStart && used <= LT_SLOT_DEFINITIONS);
  if (used > slot->definitionStart) {
    struct lt_chunk_header header = {
        .kind = LT_CHUNK_DEFINITIONS, .thread = t->number, .sequence = slot->definitionSequence};
    offsets[count] =
        lt_trace_append(&header, (const uint8_t *)slot + slot->definitionStart, used - slot->definitionStart, NULL);
    if (!offsets[count]) return count;
    count++;
  }
  uint64_t complete = published(slot);
  if (!(uint32_t)complete) return count;
  // Read the time after the events, so that no event is later.
  uint64_t units = atomic_load_explicit((const _Atomic uint64_t *)&t->timeUnits, memory_order_relaxed);
  struct lt_chunk_header header = {.kind = LT_CHUNK_EVENTS,
                                   .thread = t->number,
                                   .sequence = slot->eventSequence,
                                   .firstTime = slot->firstTime,
                                   .lastTime = units << LT_TIME_SHIFT,
                                   .eventCount = complete >> 32};
  offsets[count] = lt_trace_append(&header, (const uint8_t *)slot + slot->eventStart, (uint32_t)complete, NULL);
  return count + (offsets[count] != 0);
}

size_t lt_buffer_copy_payloads(struct lt_thread *t, uint64_t offsets[LT_BUFFER_COPIES]) {
  LT_CHECK(t != lt_tls.thread);
  if (!t->slot) return 0;
  bool isBegun = begin_sealing(t);
  size_t count = copy_payloads(t, offsets);
  end_sealing(t, isBegun);
  return count;
}

void lt_buffer_end(struct lt_thread *t) {
  lt_buffer_seal_payloads(t);
  drop_compressor(t);
}

/// Seals the records in the thread's slot into chunks of the trace, and begins new payloads. Called by the thread
/// itself.
static void seal(struct lt_thread *t) {
  LT_CHECK(t == lt_tls.thread && lt_tls.ownStack);
  bool isBegun = begin_sealing(t);
  if (seal_payloads(t, t->compressor)) lt_buffer_begin(t);
  else t->cursor = t->limit = t->end;
  LT_CHECK(lt_buffer_is_valid(t));
  end_sealing(t, isBegun);
}

static void compress(void *thread) { compress_piece(thread); }

LT_NOINLINE bool lt_buffer_make_room(struct lt_thread *t) {
  LT_CHECK(t->cursor >= t->limit);
  if (!t->slot || !lt_trace_is_writable() || t->cursor >= t->end) return lt_buffer_renew(t);
  // If this piece is not compressed now, it is compressed later with the rest of the payload.
  if (!lt_on_own_stack(compress, t)) extend_limit(t);
  LT_CHECK(t->cursor < t->limit);
  return true;
}

static void renew(void *thread) {
  seal(thread);
  if (buffers.onSeal) buffers.onSeal(thread);
}

bool lt_buffer_renew(struct lt_thread *t) {
  LT_CHECK(!t->slot || lt_buffer_is_valid(t));
  if (t->slot && lt_trace_is_writable()) lt_on_own_stack(renew, t);
  if (t->cursor < t->limit) return true;
  t->drops[LT_DROP_STOPPED]++;
  lt_trace_add_drops(t); // no later chunk will add them
  return false;
}

bool lt_buffer_make_mark_room(struct lt_thread *t) {
  LT_CHECK(lt_buffer_is_valid(t));
  if (t->end - t->cursor < LT_MARK_ROOM && !lt_buffer_renew(t)) return false;
  return t->end - t->cursor >= LT_MARK_ROOM;
}

static void make_definition_room(void *thread) {
  bool isBegun = begin_sealing(thread);
  seal_definitions(thread);
  end_sealing(thread, isBegun);
}

void lt_define(struct lt_thread *t, uint8_t kind, const uint8_t *payload, size_t size) {
  if (!t->slot) return;
  if (size > 4096) size = 4096;
  LT_CHECK(kind >= LT_DEF_TYPE && kind <= LT_DEF_LIMIT);
  LT_CHECK(are_definitions_valid(t));
  if (t->definitionCursor + size + 8 > t->definitionLimit) lt_on_own_stack(make_definition_room, t);
  if (t->definitionCursor + size + 8 > t->definitionLimit) {
    t->drops[LT_DROP_STOPPED]++;
    return;
  }
  uint8_t *p = t->definitionCursor;
  *p++ = kind;
  p = lt_put_varint(p, size);
  memcpy(p, payload, size);
  p += size;
  LT_CHECK(p <= t->definitionLimit);
  t->definitionCursor = p;
  // Release: pairs with the acquire in seal_definitions and copy_payloads.
  atomic_store_explicit((_Atomic uint32_t *)&t->slot->definitionUsed, (uint32_t)(p - (uint8_t *)t->slot),
                        memory_order_release);
}
