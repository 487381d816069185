// Records events with their stacks, marks, pauses of the recording, and samples of the process's memory.

#include "record/event_recorder.h"

#include "check.h"
#include "os/process_info.h"
#include "record/definitions.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "unwind/unwind_step.h"

#include <string.h>

// --- stacks and marks ------------------------------------------------------------------------------------------------

// Encodes marks, and stacks that need more room than a usual event has. Calls nothing that allocates.

LT_NOINLINE uint8_t *lt_buffer_put_literal(struct lt_thread *t, uint8_t *p, uint64_t key) {
  LT_CHECK(t->dictionary[lt_key_index(key)].key != key);
  // The address is new in this payload, so its image must be defined before the event.
  if (!lt_image_list_covers(key & LT_FRAME_ADDRESS_MASK)) lt_image_list_refresh(t);
  *p++ = LT_TOKEN_LITERAL;
  p = lt_put_varint(p, lt_zigzag((int64_t)(key - t->literal)));
  t->literal = key;
  bool isReturnAddress = key == (key & LT_FRAME_ADDRESS_MASK);
  uint64_t rule = isReturnAddress        ? lt_rule_for(key, t->imageGeneration)
                  : key & LT_FRAME_ASYNC ? LT_RULE_END
                                         : LT_RULE_UNKNOWN;
  t->dictionary[lt_key_index(key)] = (struct lt_known_key){key, rule};
  return p;
}

/// Returns how many keys from keys[i] on equal the keys `distance` before them.
static uint32_t repeated(const uint64_t *keys, uint32_t i, uint32_t count, uint32_t distance) {
  LT_CHECK(distance > 0 && distance <= i);
  uint32_t n = 0;
  while (i + n < count && keys[i + n] == keys[i + n - distance]) n++;
  return n;
}

enum { PIECE_TOKENS = 64, PIECE_SIZE = PIECE_TOKENS * 16 + 32, DISTANCE_LIMIT = 16, SHORTEST_COPY = 4 };
_Static_assert(LT_MARK_ROOM >= PIECE_SIZE + 1 + 10 + 2 * 10 + LT_MARK_MAX_SIZE,
               "a mark follows one piece of its stack at least");

/// Writes the pops and the first `count` pushed keys of a change, while there is room. Removes the written part from
/// the change.
static void put_pieces(struct lt_thread *t, struct lt_stack_change *change, uint32_t count) {
  // A control record's length precedes its payload, and the whole change may not fit into the slot. So the change is
  // written in pieces that fit.
  enum { HEAD_SIZE = 1 + 10 + 2 * 10 };
  uint32_t i = 0;
  uint32_t pops = change->pops;
  LT_CHECK(count <= change->pushes && lt_buffer_is_valid(t));
  while ((i < count || pops) && t->cursor + PIECE_SIZE + HEAD_SIZE < t->end) {
    // Write the tokens after free space for their head, and then move them up to the head. Readers do not see this,
    // because they stop at the published end.
    uint8_t *tokens = t->cursor + HEAD_SIZE, *p = tokens;
    uint32_t first = i;
    for (int n = 0; n < PIECE_TOKENS && i < count; n++) {
      uint32_t best = 0, distance = 0;
      for (uint32_t d = 1; d <= DISTANCE_LIMIT && d <= i; d++) {
        uint32_t length = repeated(change->keys, i, count, d);
        if (length > best) best = length, distance = d;
      }
      if (best >= SHORTEST_COPY) {
        p = lt_put_varint(p, LT_TOKEN_COPY - 1 + distance);
        p = lt_put_varint(p, best);
        i += best;
        continue;
      }
      uint32_t index = lt_key_index(change->keys[i]);
      if (t->dictionary[index].key == change->keys[i]) p = lt_put_varint(p, LT_TOKEN_DICTIONARY + index);
      else p = lt_buffer_put_literal(t, p, change->keys[i]);
      i++;
    }
    LT_CHECK(i <= count && p - tokens <= PIECE_SIZE);
    uint8_t head[24], *h = head;
    h = lt_put_varint(h, pops);
    h = lt_put_varint(h, i - first);
    LT_CHECK(h <= head + sizeof head);
    uint8_t *to = t->cursor;
    *to++ = LT_CONTROL_STACK;
    to = lt_put_varint(to, (uint64_t)(h - head) + (uint64_t)(p - tokens));
    memcpy(to, head, (size_t)(h - head));
    to += h - head;
    LT_CHECK(to <= tokens);
    memmove(to, tokens, (size_t)(p - tokens));
    t->cursor = to + (p - tokens);
    LT_CHECK(t->cursor < t->end);
    pops = 0;
  }
  change->pops = pops;
  change->keys += i;
  change->pushes -= i;
}

LT_NOINLINE void lt_buffer_put_large_change(struct lt_thread *t, struct lt_stack_change *change) {
  LT_CHECK(change->pushes > LT_EVENT_PUSH_LIMIT && change->pushes <= t->recordedDepth);
  put_pieces(t, change, change->pushes - LT_EVENT_PUSH_LIMIT / 2);
  if (LT_UNLIKELY(change->pushes > LT_EVENT_PUSH_LIMIT)) {
    // This stack alone fills the slot. Keep its innermost frames: readers get a stack without some frames in the
    // middle, and the drop is counted.
    t->drops[LT_DROP_STACK_TRUNCATED]++;
    uint32_t lost = change->pushes - LT_EVENT_PUSH_LIMIT;
    LT_CHECK(lost < t->recordedDepth);
    change->keys += lost;
    change->pushes = LT_EVENT_PUSH_LIMIT;
    t->recordedDepth -= lost;
    t->depth = 0;
  }
}

void lt_buffer_put_mark(struct lt_thread *t, struct lt_stack_change *change, const uint8_t *payload, size_t size,
                        uint64_t time) {
  LT_CHECK(t == lt_tls.thread && lt_tls.hookDepth == 1);
  LT_CHECK(size > 0 && size <= LT_MARK_MAX_SIZE);
  put_pieces(t, change, change->pushes);
  LT_CHECK(change->pops == 0);
  LT_CHECK(change->pushes <= t->recordedDepth);
  if (LT_UNLIKELY(change->pushes)) {
    // As with events, a stack that alone fills the slot loses frames, and the drop is counted.
    t->drops[LT_DROP_STACK_TRUNCATED]++;
    t->recordedDepth -= change->pushes;
    t->depth = 0;
  }
  uint64_t units = time >> LT_TIME_SHIFT;
  uint8_t *p = units > t->timeUnits ? lt_buffer_put_units(t, t->cursor, units - t->timeUnits) : t->cursor;
  *p++ = LT_CONTROL_MARK;
  p = lt_put_varint(p, size);
  memcpy(p, payload, size);
  t->cursor = p + size;
  t->hasMarks = 1;
  lt_buffer_publish(t, t->eventCount);
}

// --- recorded stack --------------------------------------------------------------------------------------------------

LT_NOINLINE void lt_record_stack_slowly(struct lt_thread *t, struct lt_hook_frame frame, struct lt_walk walk,
                                        struct lt_stack_change *change) {
  lt_capture_slowly(t, frame, walk, change);
  if (!lt_buffer_fits(t, change->pushes) && lt_buffer_renew(t)) lt_capture_again(t, frame, change);
  lt_buffer_put_task(t);
  if (LT_UNLIKELY(lt_verifies_stacks)) lt_capture_verify(t, frame);
}

// --- events ----------------------------------------------------------------------------------------------------------

// Encodes events. The grammar is in docs/engineering/trace-format.md. Calls nothing that allocates.

/// In a process with one thread, events carry no time. Instead, a time record may be written once in this many events.
enum { EVENTS_PER_TIME = 32 };

/// The kind of operand that an address code has.
enum operand_kind { NO_OPERAND, BYTE, VARINT };

/// Encodes an address and updates the address state. Returns the address code. Stores the code's operand in `operand`.
static LT_ALWAYS_INLINE unsigned code_address(struct lt_thread *t, uint64_t address, enum operand_kind *kind,
                                              uint64_t *operand) {
  uint64_t recent = t->recent[0];
  *kind = NO_OPERAND;
  if (address == recent) return LT_ADDRESS_RECENT;
  uint64_t second = t->recent[1], third = t->recent[2];
  uint64_t *successor = &t->successor[lt_successor_index(recent)];
  unsigned code, index = lt_address_index(address);
  t->recent[0] = address;
  t->recent[1] = recent;
  if (address == second) {
    code = LT_ADDRESS_RECENT + 1;
  } else {
    t->recent[2] = second;
    int64_t delta = (int64_t)(address - recent), steps = delta >> 4;
    if (address == third) {
      code = LT_ADDRESS_RECENT + 2;
    } else {
      uint64_t fourth = t->recent[3];
      t->recent[3] = third;
      if (address == fourth) {
        code = LT_ADDRESS_RECENT + 3;
      } else if (address == *successor) {
        code = LT_ADDRESS_SUCCESSOR;
      } else if (delta & 15) {
        if (address == t->table[index]) {
          code = LT_ADDRESS_TABLE, *kind = BYTE, *operand = index;
        } else {
          code = LT_ADDRESS_DELTA, *kind = VARINT, *operand = lt_zigzag(delta);
        }
      } else if (steps >= -28 && steps <= 28) {
        code = (unsigned)((delta < 0 ? 36 : 35) + steps);
      } else if (address == t->table[index]) {
        code = LT_ADDRESS_TABLE, *kind = BYTE, *operand = index;
      } else {
        code = LT_ADDRESS_DELTA16, *kind = VARINT, *operand = lt_zigzag(steps);
      }
    }
  }
  LT_CHECK(code <= LT_TAG_LOW_MASK && t->recent[0] == address);
  LT_CHECK(*kind != BYTE || *operand < LT_ADDRESS_TABLE_COUNT);
  *successor = address;
  t->table[index] = address;
  return code;
}

/// Writes a stack change that differs from the predicted one, and makes it the next prediction.
static LT_NOINLINE uint8_t *put_change(struct lt_thread *t, uint8_t *p, struct lt_prediction *predicted,
                                       unsigned operation, uint32_t pops, uint32_t pushes, const uint64_t *keys) {
  LT_CHECK(pushes <= LT_EVENT_PUSH_LIMIT);
  LT_CHECK(predicted >= t->prediction && predicted < t->prediction + LT_CONTEXT_COUNT);
  p = lt_put_varint(lt_put_varint(p, pops), pushes);
  bool isPredictable = pushes <= LT_PREDICTED_PUSHES && pops <= UINT16_MAX;
  if (isPredictable) {
    predicted->operation = (uint8_t)operation;
    predicted->pops = (uint16_t)pops;
    predicted->pushes = (uint8_t)pushes;
  }
  for (uint32_t i = 0; i < pushes; i++) {
    uint32_t index = lt_key_index(keys[i]);
    if (LT_LIKELY(t->dictionary[index].key == keys[i])) p = lt_put_varint(p, LT_TOKEN_DICTIONARY + index);
    else p = lt_buffer_put_literal(t, p, keys[i]);
    if (isPredictable) predicted->keys[i] = (uint16_t)index;
  }
  return p;
}

/// Returns the part of a stack change that is compared with the prediction as one word.
static LT_ALWAYS_INLINE uint64_t change_word(unsigned operation, uint64_t pops, uint64_t pushes) {
  return operation | pushes << 8 | pops << 16;
}
_Static_assert(offsetof(struct lt_prediction, operation) == 0 && offsetof(struct lt_prediction, pushes) == 1 &&
                   offsetof(struct lt_prediction, pops) == 2,
               "layout");

static LT_ALWAYS_INLINE bool is_predicted(const struct lt_thread *t, const struct lt_prediction *predicted,
                                          unsigned operation, const struct lt_stack_change *change) {
  uint32_t word;
  LT_CHECK(predicted->pushes <= LT_PREDICTED_PUSHES);
  __builtin_memcpy(&word, predicted, sizeof word);
  if (word != change_word(operation, change->pops, change->pushes)) return false;
  for (uint32_t i = 0; i < change->pushes; i++)
    if (t->dictionary[predicted->keys[i]].key != change->keys[i]) return false;
  return true;
}

/// Records an event. With `hasSize`, the event also has `size`, and with `hasType` the type of `metadata`. They are
/// written only if they differ from the last ones in this context. Inlined into each function below with constant
/// flags.
static LT_ALWAYS_INLINE void record(struct lt_thread *t, unsigned operation, const void *block, bool hasStack,
                                    bool hasSize, bool hasType, uint64_t size, uint64_t metadata,
                                    struct lt_hook_frame frame) {
  if (!lt_buffer_has_room(t)) return;
  LT_CHECK(t == lt_tls.thread && lt_tls.hookDepth == 1);
  LT_CHECK(lt_buffer_is_valid(t) && t->cursor < t->end);
  struct lt_stack_change change = {0};
  if (hasStack) {
    change = lt_record_stack(t, frame);
    if (LT_UNLIKELY(change.pushes > LT_EVENT_PUSH_LIMIT)) {
      struct lt_stack_change large = change;
      lt_buffer_put_large_change(t, &large);
      change = large;
    }
  }
  LT_CHECK(change.pushes <= LT_EVENT_PUSH_LIMIT);
  LT_CHECK(!hasStack || change.pushes <= t->recordedDepth);
  uint32_t context = lt_context_index(operation, change.innermost, change.next);
  LT_CHECK(context < LT_CONTEXT_COUNT && t->context < LT_CONTEXT_COUNT);
  unsigned operandsFlag = 0;
  struct lt_site *site = &t->site[context];
  if (hasSize && (site->size != size || (hasType && site->metadata != metadata))) {
    operandsFlag = LT_TAG_OPERANDS;
    site->size = size;
    if (hasType && site->metadata != metadata) {
      site->type = lt_type_for(t, metadata);
      site->metadata = metadata;
    }
  }
  uint8_t *p = t->cursor;
  uint64_t units = 0, events = ++t->eventCount;
  bool isExact = t->isExact;
  if (isExact) {
    uint64_t now = lt_now() >> LT_TIME_SHIFT;
    units = now > t->timeUnits ? now - t->timeUnits : 0;
    t->timeUnits += units;
  } else if (LT_UNLIKELY(events % EVENTS_PER_TIME == 0)) {
    p = lt_buffer_put_time(t, p);
  }
  struct lt_prediction *predicted = &t->prediction[t->context];
  t->context = context;
  bool isLikePredicted = is_predicted(t, predicted, operation, &change);
  enum operand_kind kind;
  uint64_t operand;
  unsigned code = code_address(t, (uint64_t)block, &kind, &operand);
  if (LT_LIKELY(isLikePredicted)) {
    *p++ = (uint8_t)(LT_TAG_PREDICTED | operandsFlag | code);
  } else {
    *p++ = (uint8_t)(operandsFlag | operation);
    *p++ = (uint8_t)code;
    if (hasStack) p = put_change(t, p, predicted, operation, change.pops, change.pushes, change.keys);
    else *predicted = (struct lt_prediction){.operation = (uint8_t)operation};
  }
  if (kind == BYTE) *p++ = (uint8_t)operand;
  else if (kind == VARINT) p = lt_put_varint(p, operand);
  if (isExact) p = lt_put_varint(p, units);
  if (operandsFlag) {
    p = lt_put_varint(p, size);
    if (hasType) p = lt_put_varint(p, site->type);
  }
  LT_CHECK(p > t->cursor && p - t->cursor <= LT_EVENT_MAX_SIZE);
  t->cursor = p;
  lt_buffer_publish(t, events);
}

LT_NOINLINE void lt_record(struct lt_thread *t, unsigned operation, const void *address, struct lt_hook_frame frame) {
  record(t, operation, address, true, false, false, 0, 0, frame);
}

LT_NOINLINE void lt_record_size(struct lt_thread *t, unsigned operation, const void *address, uint64_t size,
                                struct lt_hook_frame frame) {
  record(t, operation, address, true, true, false, size, 0, frame);
}

LT_NOINLINE void lt_record_object(struct lt_thread *t, const void *object, uint64_t size, const void *metadata,
                                  struct lt_hook_frame frame) {
  record(t, LT_OP_OBJECT, object, true, true, true, size, (uint64_t)metadata, frame);
}

LT_NOINLINE void lt_record_alone(struct lt_thread *t, unsigned operation, const void *address) {
  record(t, operation, address, false, false, false, 0, 0, (struct lt_hook_frame){0});
}

LT_NOINLINE void lt_record_size_alone(struct lt_thread *t, unsigned operation, const void *address, uint64_t size) {
  record(t, operation, address, false, true, false, size, 0, (struct lt_hook_frame){0});
}

// --- pauses ----------------------------------------------------------------------------------------------------------

static struct {
  // Each exchange elects the thread that writes the record.
  _Atomic uint32_t isNoted; ///< the trace contains the start of a pause, but not its end
  _Atomic uint64_t unnoted; ///< the time when the first thread without a state noticed the pause; 0 if none did
} pauses;

void lt_pause_notes_reset_after_fork(void) {
  atomic_store(&pauses.isNoted, 0);
  atomic_store(&pauses.unnoted, 0);
}

bool lt_pause_notice(void) {
  uint64_t none = 0;
  return atomic_compare_exchange_strong(&pauses.unnoted, &none, lt_now());
}

static void define_pause(struct lt_thread *t, uint64_t kind, uint64_t time) {
  uint8_t payload[24], *p = payload;
  p = lt_put_varint(p, kind);
  p = lt_put_varint(p, time);
  LT_CHECK(p <= payload + sizeof payload && time);
  lt_define(t, LT_DEF_PAUSE, payload, (size_t)(p - payload));
}

void lt_pause_note(struct lt_thread *t, uint64_t kind) {
  LT_CHECK(t->number > 0);
  LT_CHECK(kind == LT_PAUSE_BEGIN || kind == LT_PAUSE_END);
  LT_CHECK(atomic_load(&pauses.isNoted) <= 1);
  uint64_t unnoted = atomic_load_explicit(&pauses.unnoted, memory_order_relaxed);
  if (unnoted && !atomic_compare_exchange_strong(&pauses.unnoted, &unnoted, 0)) unnoted = 0;
  uint32_t before = kind == LT_PAUSE_BEGIN ? 0 : 1;
  bool isChange = atomic_compare_exchange_strong(&pauses.isNoted, &before, !before);
  if (unnoted && kind == LT_PAUSE_END && !isChange) define_pause(t, LT_PAUSE_BEGIN, unnoted);
  if (isChange || (unnoted && kind == LT_PAUSE_END))
    define_pause(t, kind, unnoted && kind == LT_PAUSE_BEGIN ? unnoted : lt_now());
}

// --- memory ----------------------------------------------------------------------------------------------------------

/// The shortest time between two samples of memory. It is limited because each sample opens a file.
enum { SAMPLE_NANOSECONDS = 250000000 };

void lt_memory_sample(struct lt_thread *t) {
  static _Atomic uint64_t nextSample; // the exchange elects one thread
  uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC), due = atomic_load(&nextSample);
  if (now < due || !atomic_compare_exchange_strong(&nextSample, &due, now + SAMPLE_NANOSECONDS)) return;
  uint8_t payload[64], *p = payload;
  uint64_t size = lt_resident_size();
  if (!size) return;
  p = lt_put_varint(p, lt_now());
  p = lt_put_varint(p, size);
  p = lt_put_varint(p, lt_recorder_bytes());
  p = lt_put_varint(p, lt_peak_resident_size());
  LT_CHECK(p <= payload + sizeof payload);
  lt_define(t, LT_DEF_MEMORY, payload, (size_t)(p - payload));
}
