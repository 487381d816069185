// Encodes marks, and stacks that need more room than a usual event. Calls nothing that allocates.

#include "record/stack_encoder.h"

#include "check.h"
#include "record/encoding.h"
#include "record/event_buffer.h"
#include "record/image_list.h"
#include "unwind/unwind_rules.h"

#include <string.h>

LT_NOINLINE uint8_t *lt_buffer_put_literal(struct lt_thread *t, uint8_t *p, uint64_t key) {
  LT_CHECK(t->dictionary[lt_key_index(key)].key != key);
  // The image must be defined before the event: the address is new in this payload.
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

/// The length of the longest run at keys[i] that repeats the keys `distance` before it.
static uint32_t repeated(const uint64_t *keys, uint32_t i, uint32_t count, uint32_t distance) {
  LT_CHECK(distance > 0 && distance <= i);
  uint32_t n = 0;
  while (i + n < count && keys[i + n] == keys[i + n - distance]) n++;
  return n;
}

enum { PIECE_TOKENS = 64, PIECE_SIZE = PIECE_TOKENS * 16 + 32, DISTANCE_LIMIT = 16, SHORTEST_COPY = 4 };
_Static_assert(LT_MARK_ROOM >= PIECE_SIZE + 1 + 10 + 2 * 10 + LT_MARK_MAX_SIZE,
               "a mark follows one piece of its stack at least");

/// Writes the pops and the first `count` pushed keys of a change, and takes them out of it, as far as there is room.
static void put_pieces(struct lt_thread *t, struct lt_stack_change *change, uint32_t count) {
  // A control record's length precedes its payload, and the whole change may not fit the slot. So it is written in
  // pieces that do.
  enum { HEAD_SIZE = 1 + 10 + 2 * 10 };
  uint32_t i = 0;
  uint32_t pops = change->pops;
  LT_CHECK(count <= change->pushes && lt_buffer_is_valid(t));
  while ((i < count || pops) && t->cursor + PIECE_SIZE + HEAD_SIZE < t->end) {
    // Write the tokens after room for their head, and then move them up to it: readers stop at the published end.
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
    // This one stack fills the slot: keep its inner end. Readers get a stack that lacks frames in the middle, and the
    // drop is counted.
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
    // As with events, a stack that fills the slot alone loses frames, and the drop is counted.
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
