#include "record/pause_notes.h"

#include "check.h"
#include "record/encoding.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"

static _Atomic uint32_t isPauseNoted; ///< the trace says that recording is paused
/// the first time that a thread without a state noticed the pause; 0 if none did
static _Atomic uint64_t unnotedPause;

void lt_pause_notes_reset_after_fork(void) {
  atomic_store(&isPauseNoted, 0);
  atomic_store(&unnotedPause, 0);
}

bool lt_pause_notice(void) {
  uint64_t none = 0;
  return atomic_compare_exchange_strong(&unnotedPause, &none, lt_now());
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
  LT_CHECK(atomic_load(&isPauseNoted) <= 1);
  uint64_t unnoted = atomic_load_explicit(&unnotedPause, memory_order_relaxed);
  if (unnoted && !atomic_compare_exchange_strong(&unnotedPause, &unnoted, 0)) unnoted = 0;
  uint32_t before = kind == LT_PAUSE_BEGIN ? 0 : 1;
  bool isChange = atomic_compare_exchange_strong(&isPauseNoted, &before, !before);
  if (unnoted && kind == LT_PAUSE_END && !isChange) define_pause(t, LT_PAUSE_BEGIN, unnoted);
  if (isChange || (unnoted && kind == LT_PAUSE_END))
    define_pause(t, kind, unnoted && kind == LT_PAUSE_BEGIN ? unnoted : lt_now());
}
