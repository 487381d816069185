// Expects objects to be freed in time, and watches for objects that are not.

#define _GNU_SOURCE
#include "image/expectations.h"

#include "check.h"
#include "image/heap_snapshot.h"
#include "image/thread_stop.h"
#include "os/os.h"
#include "os/process_info.h"
#include "record/event_buffer.h"
#include "record/trace_clock.h"
#include "record/trace_file.h"
#include "sampling/sampler.h"
#include "thread/thread_state.h"

#include <limits.h>
#include <linux/futex.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>

// === expectations ====================================================================================================

// Objects that the program expects to be freed by a given time.
//
// The table is indexed by address. The low bits of an entry's address give its usual slot. So neighbours in memory are
// neighbours in the table, and few pages of the table become resident. If the usual slot is taken, the entry goes to
// one of a few other slots. A free checks only the number of slots that some entry has needed so far.

enum {
  /// a power of two. Blocks take at least 16 bytes, so 32 MB of memory have one slot for each block
  SLOT_COUNT = 1 << 21,
  PROBE_LIMIT = 8,
  /// slots of a group. When a deadline passes, only groups with entries are searched
  GROUP_SIZE = 1 << 12,
  GROUP_COUNT = SLOT_COUNT / GROUP_SIZE,
  PLACE_COUNT = 1 << 10,
  PLACE_PROBES = 16,
  NAME_SIZE = 256,
  RESERVED = 1, ///< not a valid address: the slot is being filled
};

LT_HOOK_DATA _Atomic uint32_t lt_expectations_pending;

struct entry {
  uint64_t deadline, number;
  uint32_t place, reserved; ///< `place` is below PLACE_COUNT
};

/// A place in the program that expects objects to be freed. At most one heap image is taken for each place.
struct place {
  _Atomic uint64_t hash;
  _Atomic uint32_t isNamed;
  _Atomic uint32_t imagePass; ///< number of the pass that requested the image for this place; 0 if there was none
  char name[NAME_SIZE];
};

static struct {
  _Atomic(_Atomic uintptr_t *) addresses;
  struct entry *entries;
  struct place *places;
  _Atomic uint32_t *groups;   ///< number of entries in each group. An entry is counted before it becomes visible, and
                              ///< until it has been removed
  uint32_t passes;            ///< number of passes over the table; only one thread makes passes
  _Atomic uint32_t isMapping; ///< the exchange elects the thread that maps the memory
  _Atomic uint32_t probes;    ///< number of slots that an entry may be in; at most PROBE_LIMIT, and never decreases
  _Atomic uint64_t nextDeadline;
} watched = {.nextDeadline = UINT64_MAX};

void lt_expectations_reset_after_fork(void) {
  atomic_store(&lt_expectations_pending, 0);
  atomic_store(&watched.addresses, NULL);
  atomic_store(&watched.isMapping, 0);
  atomic_store(&watched.probes, 0);
  atomic_store(&watched.nextDeadline, UINT64_MAX);
}

void lt_expectations_forget_all(void) { lt_expectations_reset_after_fork(); }

bool lt_expectations_have_memory(void) {
  if (LT_LIKELY(atomic_load_explicit(&watched.addresses, memory_order_acquire) != NULL)) return true;
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&watched.isMapping, &no, 1)) {
    // Another thread is mapping the memory, which takes a few system calls.
    for (int i = 0; i < 1000 && !atomic_load(&watched.addresses); i++) lt_syscall(SYS_sched_yield, 0, 0, 0);
    return atomic_load(&watched.addresses) != NULL;
  }
  watched.entries = lt_map_private(SLOT_COUNT * sizeof *watched.entries);
  watched.places = lt_map_private(PLACE_COUNT * sizeof *watched.places);
  watched.groups = lt_map_private(GROUP_COUNT * sizeof *watched.groups);
  void *made = lt_map_private(SLOT_COUNT * sizeof(uintptr_t));
  if (!watched.entries || !watched.places || !watched.groups || !made)
    return false; // no thread tries again, because `isMapping` stays 1
  // Release: pairs with the acquires of this word, whose threads use the other members.
  atomic_store_explicit(&watched.addresses, made, memory_order_release);
  return true;
}

static LT_ALWAYS_INLINE uint32_t slot_of(uintptr_t address, uint32_t probe) {
  // Addresses with the same usual slot are a multiple of 32 MB apart, and have different next slots.
  uint32_t step = (uint32_t)(((address >> 25) * LT_HASH_MULTIPLIER) >> 43) | 1;
  return ((uint32_t)(address >> 4) + probe * step) & (SLOT_COUNT - 1);
}

// --- places ----------------------------------------------------------------------------------------------------------

static uint64_t hash_text(uint64_t hash, const char *text) {
  for (int i = 0; text && text[i] && i < NAME_SIZE; i++) hash = (hash ^ (uint8_t)text[i]) * 0x100000001B3ull;
  return (hash ^ 0xFF) * 0x100000001B3ull;
}

/// Returns the index of the place, whether it is new or known. Places without room share the last index, which has no
/// name.
static uint32_t place_of(const struct lt_expectation *e) {
  uint64_t hash = hash_text(hash_text(0xCBF29CE484222325ull ^ e->line, e->name), e->file) | 1;
  for (uint32_t i = 0; i < PLACE_PROBES; i++) {
    uint32_t index = (uint32_t)((hash >> 20) + i) % (PLACE_COUNT - 1);
    struct place *place = &watched.places[index];
    uint64_t known = atomic_load_explicit(&place->hash, memory_order_acquire);
    if (known == hash) return index;
    if (known || !atomic_compare_exchange_strong(&place->hash, &known, hash)) {
      if (known == hash) return index;
      continue;
    }
    size_t length = e->name ? strnlen(e->name, NAME_SIZE - 1) : 0;
    memcpy(place->name, e->name ? e->name : "", length);
    // Release: pairs with the acquire in put_label.
    atomic_store_explicit(&place->isNamed, 1, memory_order_release);
    return index;
  }
  return PLACE_COUNT - 1;
}

// --- watched blocks --------------------------------------------------------------------------------------------------

static void lower_next_deadline(uint64_t deadline) {
  uint64_t next = atomic_load(&watched.nextDeadline);
  while (deadline < next && !atomic_compare_exchange_weak(&watched.nextDeadline, &next, deadline)) {}
}

/// Reserves a slot for the address. Returns its index, or UINT32_MAX.
static uint32_t reserve_slot(_Atomic uintptr_t *table, uintptr_t address) {
  for (uint32_t probe = 0; probe < PROBE_LIMIT; probe++) {
    uint32_t slot = slot_of(address, probe);
    LT_CHECK(slot < SLOT_COUNT);
    uintptr_t none = 0;
    if (atomic_load_explicit(&table[slot], memory_order_relaxed) ||
        !atomic_compare_exchange_strong(&table[slot], &none, RESERVED))
      continue;
    uint32_t known = atomic_load(&watched.probes);
    while (known < probe + 1 && !atomic_compare_exchange_weak(&watched.probes, &known, probe + 1)) {}
    return slot;
  }
  return UINT32_MAX;
}

bool lt_expectations_add(const struct lt_expectation *e, bool *isFirst) {
  _Atomic uintptr_t *table = atomic_load_explicit(&watched.addresses, memory_order_acquire);
  LT_CHECK(table && watched.entries && watched.places && watched.groups);
  uint32_t slot = reserve_slot(table, e->address);
  if (slot == UINT32_MAX) return false;
  LT_CHECK(atomic_load(&table[slot]) == RESERVED);
  watched.entries[slot] = (struct entry){e->deadline, e->number, place_of(e), 0};
  LT_CHECK(watched.entries[slot].place < PLACE_COUNT);
  atomic_fetch_add(&lt_expectations_pending, 1);
  atomic_fetch_add(&watched.groups[slot / GROUP_SIZE], 1);
  // Sequentially consistent, like the load of the deadline below. Pairs with the store of the deadline and the loads of
  // the table in lt_expectations_take_due: the pass sees this entry, or this thread sees that the deadline is unset.
  atomic_store(&table[slot], e->address);
  uint64_t before = atomic_load(&watched.nextDeadline);
  lower_next_deadline(e->deadline);
  *isFirst = e->deadline < before;
  return true;
}

/// Ends the watch if the slot still has the address. Returns false if it has not.
static bool release_slot(_Atomic uintptr_t *table, uint32_t slot, uintptr_t address) {
  LT_CHECK(slot < SLOT_COUNT);
  // Pairs with the exchange in reserve_slot: the next entry is written after this one was read.
  if (!atomic_compare_exchange_strong(&table[slot], &address, 0)) return false;
  LT_CHECK(atomic_load(&watched.groups[slot / GROUP_SIZE]) > 0);
  atomic_fetch_sub(&watched.groups[slot / GROUP_SIZE], 1);
  atomic_fetch_sub(&lt_expectations_pending, 1);
  return true;
}

LT_NOINLINE void lt_expectations_forget(uintptr_t address) {
  _Atomic uintptr_t *table = atomic_load_explicit(&watched.addresses, memory_order_acquire);
  if (!table) return;
  uint32_t count = atomic_load_explicit(&watched.probes, memory_order_relaxed);
  LT_CHECK(count <= PROBE_LIMIT);
  for (uint32_t probe = 0; probe < count; probe++) {
    uint32_t slot = slot_of(address, probe);
    if (LT_UNLIKELY(atomic_load_explicit(&table[slot], memory_order_relaxed) == address))
      release_slot(table, slot, address);
  }
}

// --- deadlines -------------------------------------------------------------------------------------------------------

uint64_t lt_expectations_next_deadline(void) { return atomic_load(&watched.nextDeadline); }

static char *put_text(char *p, const char *end, const char *text) {
  LT_CHECK(p <= end);
  while (*text && p < end) *p++ = *text++;
  *p = 0;
  return p;
}

static void put_label(char label[LT_EXPECTATION_LABEL_SIZE], uint64_t number, const struct place *place) {
  char *p = label, *end = label + LT_EXPECTATION_LABEL_SIZE - 1, digits[LT_NUMBER_SIZE];
  lt_put_decimal(digits, number);
  p = put_text(put_text(put_text(p, end, "expectation "), end, digits), end, ": ");
  if (atomic_load_explicit(&place->isNamed, memory_order_acquire)) put_text(p, end, place->name);
}

void lt_expectations_take_due(uint64_t now, enum lt_image_choice choice, char label[LT_EXPECTATION_LABEL_SIZE]) {
  label[0] = 0;
  // An entry that is added from here on lowers the deadline again. Sequentially consistent, like the loads of groups
  // and slots below. Pairs with lt_expectations_add.
  atomic_store(&watched.nextDeadline, UINT64_MAX);
  _Atomic uintptr_t *table = atomic_load_explicit(&watched.addresses, memory_order_acquire);
  if (!table) return;
  uint64_t next = UINT64_MAX, firstNumber = UINT64_MAX;
  if (++watched.passes == 0) watched.passes = 1;
  for (uint32_t group = 0; group < GROUP_COUNT; group++) {
    if (!atomic_load(&watched.groups[group])) continue;
    for (uint32_t slot = group * GROUP_SIZE; slot < (group + 1) * GROUP_SIZE; slot++) {
      uintptr_t address = atomic_load(&table[slot]);
      if (address <= RESERVED) continue;
      struct entry entry = watched.entries[slot];
      LT_CHECK(entry.place < PLACE_COUNT);
      struct place *place = &watched.places[entry.place & (PLACE_COUNT - 1)];
      uint32_t imagePass = atomic_load(&place->imagePass);
      bool deservesImage = choice != LT_IMAGE_IMPOSSIBLE && (imagePass == 0 || imagePass == watched.passes);
      if (entry.deadline > now || (choice == LT_IMAGE_LATER && deservesImage)) {
        if (entry.deadline < next) next = entry.deadline;
        continue;
      }
      // A block that another thread is freeing right now is not late.
      if (!release_slot(table, slot, address) || !deservesImage) continue;
      atomic_store(&place->imagePass, watched.passes);
      // Several expectations may share the image. The one with the lowest number gives the image its label.
      if (entry.number >= firstNumber) continue;
      firstNumber = entry.number;
      put_label(label, entry.number, place);
    }
  }
  lower_next_deadline(next);
}

// === watcher =========================================================================================================

// The recorder's own thread that notices passed deadlines.
//
// The thread is made by the kernel's clone, so the C library does not know it. Its stack and thread-local memory are
// the recorder's own, so no heap image contains them. The thread blocks every signal, and calls only memory primitives
// of the C library. It sleeps while nothing is due.

enum {
  STACK_SIZE = 256 << 10,
  IMAGE_LIMIT = 8,
  IMAGE_INTERVAL_NANOSECONDS = 1000000000,
  SHORTEST_SLEEP_NANOSECONDS = 10000000, ///< between two passes over the table
  SECOND = 1000000000,
};

enum { WATCHER_NONE = 0, WATCHER_STARTING = 1, WATCHER_RUNS = 2, WATCHER_REFUSED = 3 };
static struct {
  bool isOn;
  _Atomic uint32_t state;     ///< the exchange elects the thread that starts the watcher
  _Atomic uint32_t hasFailed; ///< images will be missing, and the trace has a warning about this
  _Atomic bool isEnding;      ///< stored before `wakes`, and loaded after it
  _Atomic uint32_t wakes;     ///< the word that the thread sleeps on
} watcher;

void lt_watcher_reset_after_fork(void) {
  watcher.isOn = false;
  atomic_store(&watcher.state, WATCHER_NONE);
  atomic_store(&watcher.hasFailed, 0);
  atomic_store(&watcher.isEnding, false);
  lt_own_threads_set_watcher(0);
}

static void wake(void) {
  // Comes after the news. Pairs with the load of `wakes` in `watch`, and with the kernel's comparison.
  atomic_fetch_add(&watcher.wakes, 1);
  lt_syscall(SYS_futex, &watcher.wakes, FUTEX_WAKE_PRIVATE, 1);
}

void lt_watcher_end(void) {
  uint32_t known = atomic_exchange(&watcher.state, WATCHER_REFUSED);
  atomic_store(&watcher.isEnding, true);
  wake();
  while (known == WATCHER_RUNS && lt_thread_exists(lt_identity_claimant(), lt_own_threads_watcher()) &&
         lt_own_threads_watcher() != lt_thread_id()) {
    wake();
    lt_sleep(SHORTEST_SLEEP_NANOSECONDS / 10);
  }
}

// --- the thread ------------------------------------------------------------------------------------------------------

/// Sleeps for the given time, or until woken. UINT64_MAX means no time limit.
static void sleep_nanoseconds(uint64_t nanoseconds, uint32_t seenWakes) {
  struct timespec limit = {.tv_sec = (time_t)(nanoseconds / SECOND), .tv_nsec = (long)(nanoseconds % SECOND)};
  lt_syscall6(SYS_futex, (long)&watcher.wakes, FUTEX_WAIT_PRIVATE, seenWakes,
              nanoseconds == UINT64_MAX ? 0 : (long)&limit, 0, 0);
}

static void watch(void *unused) {
  (void)unused;
  lt_syscall(SYS_prctl, PR_SET_NAME, "leaktrace", 0);
  char label[LT_EXPECTATION_LABEL_SIZE];
  int images = 0;
  uint64_t lastImage = 0;
  for (;;) {
    uint32_t seenWakes = atomic_load(&watcher.wakes);
    while (atomic_load(&watcher.isEnding)) lt_syscall(SYS_exit, 0, 0, 0);
    uint64_t deadline = lt_expectations_next_deadline(), now = lt_now();
    if (deadline > now) {
      sleep_nanoseconds(deadline == UINT64_MAX ? UINT64_MAX : lt_nanoseconds_in(deadline - now) + 1, seenWakes);
      continue;
    }
    uint64_t begin = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    uint64_t sinceImage = begin - lastImage;
    LT_CHECK(images <= IMAGE_LIMIT);
    // While nothing is recorded, the recorder does not see frees, so a watched block may already have been freed. Its
    // watch ends without an image.
    bool mayTakeImage = images < IMAGE_LIMIT && lt_pause_state() == LT_SWITCH_RECORD && !lt_snapshot_is_ending();
    bool isTooSoon = mayTakeImage && images > 0 && sinceImage < IMAGE_INTERVAL_NANOSECONDS;
    lt_expectations_take_due(now,
                             !mayTakeImage ? LT_IMAGE_IMPOSSIBLE
                             : isTooSoon   ? LT_IMAGE_LATER
                                           : LT_IMAGE_POSSIBLE,
                             label);
    if (label[0] && lt_snapshot_take(LT_SNAPSHOT_EXPECTATION, label, NULL, LT_SNAPSHOT_FOLLOWS) > 0) {
      images++;
      lastImage = lt_clock_nanoseconds(CLOCK_MONOTONIC);
    }
    // A pass over a full table takes a while, so limit the passes to a tenth of a processor.
    uint64_t pause = 10 * (lt_clock_nanoseconds(CLOCK_MONOTONIC) - begin);
    if (isTooSoon && pause < IMAGE_INTERVAL_NANOSECONDS - sinceImage) pause = IMAGE_INTERVAL_NANOSECONDS - sinceImage;
    if (label[0] || pause < SHORTEST_SLEEP_NANOSECONDS) pause = SHORTEST_SLEEP_NANOSECONDS;
    lt_sleep(pause);
  }
}

// --- starting it -----------------------------------------------------------------------------------------------------

static bool start(void) {
  uint8_t *stack = lt_map_private(STACK_SIZE);
  uintptr_t threadPointer = lt_make_thread_local();
  if (!stack || !threadPointer) return false;
  uint64_t before = lt_block_signals(LT_ALL_SIGNALS);
  long made = lt_clone_call(LT_CLONE_THREAD, stack + STACK_SIZE, watch, NULL, NULL, threadPointer);
  lt_restore_signals(before);
  if (made > 0) lt_own_threads_set_watcher((pid_t)made);
  return made > 0;
}

/// Starts the thread unless it was started before. Returns false if it cannot be started.
static bool start_once(void) {
  uint32_t known = atomic_load_explicit(&watcher.state, memory_order_acquire);
  LT_CHECK(known <= WATCHER_REFUSED);
  if (LT_UNLIKELY(known == WATCHER_NONE) && atomic_compare_exchange_strong(&watcher.state, &known, WATCHER_STARTING)) {
    known = start() ? WATCHER_RUNS : WATCHER_REFUSED;
    atomic_store(&watcher.state, known);
  }
  return known != WATCHER_REFUSED;
}

// --- expectations ----------------------------------------------------------------------------------------------------

/// Writes a warning to the trace that images will be missing. Does so only once.
static void tell(struct lt_thread *t, const char *text) {
  uint32_t no = 0;
  if (!atomic_compare_exchange_strong(&watcher.hasFailed, &no, 1)) return;
  uint8_t payload[256], *p = lt_put_string(payload, payload + sizeof payload, text);
  lt_define(t, LT_DEF_WARNING, payload, (size_t)(p - payload));
}

void lt_watcher_init(bool takesSnapshots) { watcher.isOn = takesSnapshots; }

void lt_watcher_expect(struct lt_thread *t, const struct lt_expectation *e) {
  // While sampling, the recorder does not see most frees.
  if (!watcher.isOn || atomic_load(&lt_is_sampling)) return;
  if (!lt_expectations_have_memory() || !start_once()) {
    tell(t, "heap images at the time of broken expectations are missing: the recorder could not start the thread that "
            "takes them");
    return;
  }
  bool isFirst;
  LT_CHECK(t->number > 0 && e->number > 0);
  if (!lt_expectations_add(e, &isFirst)) {
    lt_trace_add_drop(LT_DROP_EXPECTATION_UNWATCHED);
    tell(t, "too many objects were expected to go at one time to watch them all: heap images of that time may be "
            "missing");
    return;
  }
  if (isFirst) wake();
}
