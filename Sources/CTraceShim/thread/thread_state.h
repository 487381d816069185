// The state of each thread, the switch that turns hooks on and off, and the recorder's own stacks and thread-local
// memory.

#ifndef LEAKTRACE_THREAD_STATE_H
#define LEAKTRACE_THREAD_STATE_H

#include "CTraceFormat.h"
#include "check.h"
#include "os/os.h"

#include <linux/sched.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

// --- state -----------------------------------------------------------------------------------------------------------

// The recorder's state of each thread, and the list of all states.
//
// `lt_tls` is the only thread-local variable. It uses the initial-exec model and is valid when all zero, so reading it
// never allocates. The struct that it points to lives in memory that a fork wipes. The child reads zeros there, also in
// `isReady`, whichever code called fork.

/// A saved frame pointer and the return address above it.
typedef uint64_t lt_two_words __attribute__((vector_size(16)));
typedef lt_two_words lt_two_words_anywhere __attribute__((aligned(8)));

/// An unwinder's state when it has reached a frame.
struct lt_frame_state {
  // The values of these registers when the callee has returned to the frame.
  uintptr_t stackPointer;
  uint64_t framePointer;
};

/// A frame of the last recorded stack. `addresses` holds the address where the frame goes on.
struct lt_frame_entry {
  struct lt_frame_state state;
  uint64_t rule; ///< the rule for the step out of this frame, with the flag LT_NEEDS_FRAME_POINTER
  /// outer frames are unchanged if the first `wordEnd` words and `pairEnd` pairs match
  uint32_t wordEnd, pairEnd;
};
/// The flag of an entry whose frame pointer is needed to step out of this frame, or out of an outer frame.
#define LT_NEEDS_FRAME_POINTER (1ull << 63)

/// A frame that is being unwound.
struct lt_fresh_frame {
  struct lt_frame_state state;
  uint64_t rule, returnAddress;
};

/// Stack words that an unwinder read, with their values, the outermost first. The entries depend on these words.
struct lt_stack_words {
  const uint64_t **addresses;
  uint64_t *values;
};
/// Pairs of adjacent words that an unwinder read, with their values, the outermost first.
struct lt_stack_pairs {
  const lt_two_words_anywhere **addresses;
  lt_two_words *values;
};

/// A suspended async caller of the last recorded stack.
struct lt_async_entry {
  const uint64_t *context; ///< address of the async context
  uint64_t parent, resume; ///< the first two words of the async context
};

enum { LT_ASYNC_LIMIT = 512 };
/// The most bytes in a mark's payload.
enum { LT_MARK_MAX_SIZE = 576 };

struct lt_prediction {
  uint8_t operation, pushes;
  uint16_t pops;
  uint16_t keys[LT_PREDICTED_PUSHES];
};
_Static_assert(sizeof(struct lt_prediction) == 16, "four to a cache line");
/// A frame key that a reader of the current payload knows, and the rule for the step out of that frame. The rule is
/// LT_RULE_UNKNOWN if images were unloaded since the lookup, or if the key is not a return address. The rule of a
/// suspended caller is LT_RULE_END, which shows that its key is an address in code.
struct lt_known_key {
  uint64_t key, rule;
};
struct lt_site {
  uint64_t size;
  uint64_t metadata;
  uint32_t type;
  uint32_t reserved;
};

struct lt_thread {
  // Written by every event.
  /// zero before registration, while paused, in a child made by fork, and when lt_thread_prepare has work to do
  _Atomic uint32_t isReady;
  uint32_t isExact; ///< true if every event carries its time
  /// `cursor` is the end of the events payload, in the slot. From `limit` on, an event must request room. `limit` is at
  /// most `end`. Only the thread itself changes both.
  uint8_t *cursor, *limit;
  struct lt_live_slot *slot;
  uint64_t recent[LT_RECENT_COUNT];
  uint32_t context;      ///< context of the last event
  uint64_t timeUnits;    ///< time of the last event, in units of 2^LT_TIME_SHIFT ticks; never decreases within a
                         ///< payload
  uint64_t eventCount;   ///< events in the current payload
  uint64_t task;         ///< the outermost async context at the outer end of the last captured stack; 0 if no task ran
                         ///< there
  uint64_t recordedTask; ///< the task that a reader of the current payload knows
  uint32_t hasMarks;     ///< true if the current payload has marks
  uint8_t *end;          ///< end of the room in the slot; another LT_EVENT_MAX_SIZE bytes follow
  struct lt_compressor *compressor; ///< compresses the current payload; NULL until a part of it was compressed

  // Stack capture.
  uint32_t depth; ///< number of frames in `entries`, which is at most `entryLimit`. The outermost frame is first, so
                  ///< return slots descend
  /// true if entries[0] returns into the concurrency runtime. That entry is then not a frame of the recorded stack. The
  /// recorded stack continues with `async` instead
  uint32_t endsInTask;
  uint32_t asyncDepth; ///< number of suspended callers in `async`, the innermost first; at most LT_ASYNC_LIMIT
  uint32_t imageGeneration;
  uintptr_t mappedLow, mappedHigh; ///< stack memory that is known to be readable; whole pages
  struct lt_frame_entry *entries;  ///< an extra entry before entries[0] has a return slot above all others
  uint64_t *addresses;             ///< return addresses of `entries`
  struct lt_stack_words words;
  struct lt_stack_pairs pairs;
  struct lt_fresh_frame *fresh; ///< scratch memory for frames that changed
  uint64_t *pushed;             ///< scratch memory for pushed keys that are not in `addresses`
  uint32_t entryLimit;          ///< number of frames that the arrays have room for; never decreases
  uint32_t freshLimit;          ///< the most frames that may change in an ordinary event; at most `entryLimit`
  /// true if the stack ends in a task or must be verified: a comparison of frames is then not enough
  bool needsSlowCapture;
  uint32_t recordedAsync; ///< true if the stack that the reader knows begins with the keys of `async`
  /// number of keys in the stack that a reader of the current payload knows. If `depth` is above 0, equals `depth`, or,
  /// in a task, `asyncDepth` + `depth` − 1
  uint32_t recordedDepth;
  uint64_t literal; ///< last key that was written in full
  struct lt_async_entry async[LT_ASYNC_LIMIT];

  // Definitions payload.
  uint8_t *definitionCursor, *definitionLimit; ///< in the slot, before the events

  // Identity.
  uint32_t number;        ///< number of the thread, from 1 on; 0 in a state that was wiped
  _Atomic pid_t osThread; ///< ID of the thread. Others may read it while the state changes threads; they see a new
                          ///< `claim` then
  /// points into the thread's own memory, which is freed when the thread ends. Others read it after `claim`
  const uint32_t *_Atomic hookDepth;
  uint32_t eventSequence, definitionSequence;
  uint64_t totalEvents;
  uint64_t drops[LT_DROP_COUNT];
  _Atomic(struct lt_thread *) next; ///< next state in the list of all threads; final once the state is listed
  _Atomic pid_t sealer;             ///< ID of the thread that writes the payloads to the trace; 0 if none does
  _Atomic uint64_t claim;           ///< the user of this state, and the purpose of the use; see process/thread_entry.c

  struct lt_prediction prediction[LT_CONTEXT_COUNT];
  struct lt_site site[LT_CONTEXT_COUNT];
  struct lt_known_key dictionary[LT_KEY_COUNT];
  uint64_t successor[LT_SUCCESSOR_COUNT];
  uint64_t table[LT_ADDRESS_TABLE_COUNT];
  uint8_t *room; ///< the memory of all stack arrays above
  size_t roomSize;
  bool mayGrow;
  struct lt_async_entry freshAsync[LT_ASYNC_LIMIT]; ///< scratch memory for callers that changed
  uint8_t mark[LT_MARK_MAX_SIZE];                   ///< scratch memory for a mark's payload
};

struct lt_tls {
  struct lt_thread *thread;
  uint32_t hookDepth;                ///< 1 inside a hook, else 0; a nested call of a hook does not increase it
  uint32_t isInsideObjectAllocation; ///< set while the runtime's own allocation function runs for an object
  uint32_t isClosingImage;           ///< set inside dlclose
  uint32_t nestedDrops;              ///< number of calls that were not recorded while the thread was being registered
  bool isInsideOperator;             ///< set inside an allocator's own operator delete, which may call free
  bool isUnrecorded;                 ///< there was no memory for the thread's state, which is requested only once
  void *ownStack; ///< the recorder's stack that the thread runs on; NULL on the host's stack. See lt_on_own_stack
  // Used while sampling.
  /// bytes left until the thread's next sampling check. 0 before the thread's first allocation, and while every
  /// allocation must be checked. For example, it is 0 while every call is recorded
  uint64_t untilSample;
  uint64_t untilKeptSample; ///< the same distance, used instead of `untilSample` while the recorder keeps a set of all
                            ///< live blocks
  uint64_t sampleRandom;    ///< state of the random number generator; 0 before the thread's first allocation
};

extern __thread struct lt_tls lt_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// Returns the calling thread's state if the thread is registered in this process, even while paused. Otherwise returns
/// NULL.
struct lt_thread *lt_thread_self(void);
/// Returns the head of the list of all threads that ever recorded, the latest first. States are not removed, but may be
/// reused.
struct lt_thread *lt_thread_first(void);
/// Returns the next thread number, from 1 on, and counts one more registered thread.
uint32_t lt_thread_take_number(void);
/// Returns the number of threads that were registered.
uint32_t lt_thread_count(void);
/// Adds a state to the list that begins at lt_thread_first.
void lt_thread_list(struct lt_thread *thread);
/// Makes every thread call lt_thread_prepare at its next hook. Used when a setting changes that hooks do not check
/// themselves.
void lt_thread_send_to_prepare(void);
/// Empties the list and returns its first state. Thread numbers start at 1 again.
struct lt_thread *lt_thread_unlist_all(void);
/// Forgets every thread, in a child made by fork.
void lt_thread_reset_after_fork(void);

// --- hook switch -----------------------------------------------------------------------------------------------------

// The two words that tell hooks whether to record.

/// In LT_HOOKS_OFF, hooks only call the original function. Set by lt_hooks_set.
enum lt_hook_mode { LT_HOOKS_OFF = 0, LT_HOOKS_ON = 1 };
extern _Atomic uint32_t lt_hook_mode __attribute__((visibility("hidden")));
/// Points to the word that hooks check. While hooks are off, that word never contains LT_SWITCH_RECORD. While they are
/// on, it is the pause switch. If there is a live file, its header contains the pause switch, so that another process
/// can set it.
extern _Atomic(_Atomic uint32_t *) lt_pause_switch __attribute__((visibility("hidden")));
/// Returns the value of the word at lt_pause_switch.
static LT_ALWAYS_INLINE uint32_t lt_pause_state(void) {
  // Relaxed: the address of the second load depends on the first, which pairs with the release in connect_switch.
  const _Atomic uint32_t *word = atomic_load_explicit(&lt_pause_switch, memory_order_relaxed);
  return atomic_load_explicit(word, memory_order_relaxed);
}

/// Switches hooks on or off.
void lt_hooks_set(enum lt_hook_mode mode);
/// Sets the pause switch that hooks check while they are on. NULL means that there is none, so hooks never pause.
void lt_hooks_connect(_Atomic uint32_t *pauseSwitch);

// --- the recorder's stacks -------------------------------------------------------------------------------------------

// The recorder's own stacks. Some work needs more stack than a small coroutine or a signal stack may have left.
//
// While a thread is on such a stack, all signals except faults are blocked. Otherwise a handler could run on the
// recorder's stack. Or a handler with a signal stack could overwrite the frames of another handler that had called the
// recorder.

/// The most bytes of the host's stack that a hook uses, in addition to the hooked function's own.
enum { LT_HOST_STACK_BUDGET = 1024 };
/// Bytes of a stack, including the inaccessible page at its end. A page may take as much as a whole stack needs.
enum { LT_OWN_STACK_SIZE = LT_PAGE_LIMIT < (64 << 10) ? 64 << 10 : 2 * LT_PAGE_LIMIT };

/// Calls the function on a stack of the recorder's. If the calling thread is already on such a stack, calls the
/// function directly. Returns false, without a call, if there is no memory for a stack.
bool lt_on_own_stack(void (*function)(void *), void *argument);
/// Returns the host's stack pointer of a thread whose `stackPointer` is on a stack of the recorder's. All registers
/// that calls preserve were saved at or above the returned address. Returns `stackPointer` itself if it is on none of
/// these stacks.
uintptr_t lt_own_stack_left_at(uintptr_t stackPointer);
/// Forgets which stacks other threads are on, in a child made by fork.
void lt_own_stack_reset_after_fork(void);

// --- the recorder's threads ------------------------------------------------------------------------------------------

// Helpers for the recorder's own threads, which the C library does not know.

/// Flags of clone(2) that create a thread of the process.
enum {
  LT_CLONE_THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS
};

/// Makes thread-local memory for a new thread. This library's variables are zero there. Copies the parts of the control
/// block that compilers use from the calling thread. Returns the thread pointer, or 0 on failure.
uintptr_t lt_make_thread_local(void);

#endif
