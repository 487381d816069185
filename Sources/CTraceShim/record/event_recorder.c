// Encodes events. docs/engineering/trace-format.md has the grammar. Calls nothing that allocates.

#include "record/event_recorder.h"

#include "check.h"
#include "record/encoding.h"
#include "record/event_buffer.h"
#include "record/recorded_stack.h"
#include "record/stack_encoder.h"
#include "record/trace_clock.h"
#include "record/type_table.h"

/// Events of a process with one thread carry no time; it is checked every so many events.
enum { EVENTS_PER_TIME = 32 };

/// Operands of an address code.
enum operand_kind { NO_OPERAND, BYTE, VARINT };

/// Encodes an address and updates the address state. Returns the address code; its operand is stored in `operand`.
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

/// Writes a stack change that differs from the predicted one, and predicts it next time.
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

/// The part of a predicted stack change that is compared as one word.
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

/// Records an event. `hasSize`: with `size`, and for objects the type of `metadata`, if they differ from the last ones
/// in this context. Inlined into each recorder with constants.
static LT_ALWAYS_INLINE void record(struct lt_thread *t, unsigned operation, const void *block, bool hasStack,
                                    bool hasSize, bool hasType, uint64_t size, uint64_t metadata,
                                    const uintptr_t *frame) {
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

LT_NOINLINE void lt_record(struct lt_thread *t, unsigned operation, const void *address, const uintptr_t *frame) {
  record(t, operation, address, true, false, false, 0, 0, frame);
}

LT_NOINLINE void lt_record_size(struct lt_thread *t, unsigned operation, const void *address, uint64_t size,
                                const uintptr_t *frame) {
  record(t, operation, address, true, true, false, size, 0, frame);
}

LT_NOINLINE void lt_record_object(struct lt_thread *t, const void *object, uint64_t size, const void *metadata,
                                  const uintptr_t *frame) {
  record(t, LT_OP_OBJECT, object, true, true, true, size, (uint64_t)metadata, frame);
}

LT_NOINLINE void lt_record_alone(struct lt_thread *t, unsigned operation, const void *address) {
  record(t, operation, address, false, false, false, 0, 0, NULL);
}

LT_NOINLINE void lt_record_size_alone(struct lt_thread *t, unsigned operation, const void *address, uint64_t size) {
  record(t, operation, address, false, true, false, size, 0, NULL);
}
