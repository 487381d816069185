// The state of each thread, and the switch that turns hooks on and off. Also the recorder's own stacks and thread-local
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
// `lt_tls` is the only thread-local variable: initial-exec, valid when all zero, so that reading it never allocates.
// The struct it points to lives in memory that a fork wipes. In the child it reads as zero, `isReady` included,
// whatever code called fork.

/// A saved frame pointer and the return address above it.
typedef uint64_t lt_two_words __attribute__((vector_size(16)));
typedef lt_two_words lt_two_words_anywhere __attribute__((aligned(8)));

/// The state of an unwinder that has reached a frame.
struct lt_frame_state {
  uintptr_t returnSlot;  ///< address of the return address on the stack
  uint64_t framePointer; ///< the register, as the code at the return address has it
};

/// A frame of the last recorded stack. The contents of its return slot are in `addresses`.
struct lt_frame_entry {
  struct lt_frame_state state;
  uint64_t rule; ///< for stepping out of this frame; with LT_NEEDS_FRAME_POINTER
  /// outer frames are unchanged if the first `wordEnd` words and `pairEnd` pairs match
  uint32_t wordEnd, pairEnd;
};
/// Stepping out of this frame, or out of an outer frame, depends on its frame pointer.
#define LT_NEEDS_FRAME_POINTER (1ull << 63)

/// A frame that is being unwound.
struct lt_fresh_frame {
  struct lt_frame_state state;
  uint64_t rule, returnAddress;
};

/// Words of the stack that an unwinder read and entries depend on, with their values, the outermost first.
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
  uint64_t parent, resume; ///< its first two words
};

enum { LT_ASYNC_LIMIT = 512 };
/// Most bytes of a mark's payload.
enum { LT_MARK_MAX_SIZE = 576 };

struct lt_prediction {
  uint8_t operation, pushes;
  uint16_t pops;
  uint16_t keys[LT_PREDICTED_PUSHES];
};
_Static_assert(sizeof(struct lt_prediction) == 16, "four to a cache line");
/// A frame key that a reader of the present payload knows, and the rule for stepping out of that frame. The rule is
/// LT_RULE_UNKNOWN if images were unloaded since the lookup, and for addresses that are no return addresses. A
/// suspended caller's is LT_RULE_END, which marks it as code.
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
  /// zero before registration, while paused, in a child made by fork, and when lt_thread_prepare has something to do
  _Atomic uint32_t isReady;
  uint32_t isExact; ///< every event carries its time
  /// The end of the events payload, and the place where the next event asks for room. Only the thread moves them.
  /// `cursor` lies in the slot; `limit` is at most `end`.
  uint8_t *cursor, *limit;
  struct lt_live_slot *slot;
  uint64_t recent[LT_RECENT_COUNT];
  uint32_t context;      ///< of the last event
  uint64_t timeUnits;    ///< time of the last event, in units of 2^LT_TIME_SHIFT ticks; never goes back in a payload
  uint64_t eventCount;   ///< in the present payload
  uint64_t task;         ///< the outermost async context below the last captured stack; 0 if no task ran there
  uint64_t recordedTask; ///< the task that a reader of the present payload knows
  uint32_t hasMarks;     ///< in the present payload
  uint8_t *end;          ///< of the room in the slot; LT_EVENT_MAX_SIZE bytes follow it
  struct lt_compressor *compressor; ///< of the present payload, once a part of it was compressed; or NULL

  // Stack capture.
  uint32_t depth; ///< frames in `entries`, the outermost first; at most `entryLimit`. Return slots descend
  /// entries[0] returns into the concurrency runtime: it is not a frame of the recorded stack, and `async` follows
  /// instead
  uint32_t endsInTask;
  uint32_t asyncDepth; ///< suspended callers in `async`, the innermost first; at most LT_ASYNC_LIMIT
  uint32_t imageGeneration;
  uintptr_t mappedLow, mappedHigh; ///< stack memory known to be readable; whole pages
  struct lt_frame_entry *entries;  ///< preceded by an extra entry whose return slot is above all others
  uint64_t *addresses;             ///< return addresses of `entries`
  struct lt_stack_words words;
  struct lt_stack_pairs pairs;
  struct lt_fresh_frame *fresh; ///< scratch for frames that changed
  uint64_t *pushed;             ///< scratch for keys that are not in `addresses`
  uint32_t entryLimit;          ///< frames that there is room for; grows only
  uint32_t freshLimit;          ///< frames that may change in an ordinary event; at most `entryLimit`
  /// a stack needs more than a search for changes: it ends in a task, or must be verified
  bool needsSlowCapture;
  uint32_t recordedAsync; ///< that stack begins with the keys of `async`
  /// keys in the stack that a reader of the present payload knows. With `depth` above 0 it equals `depth`; in a task it
  /// equals `asyncDepth` + `depth` − 1
  uint32_t recordedDepth;
  uint64_t literal; ///< last key written out
  struct lt_async_entry async[LT_ASYNC_LIMIT];

  // Definitions payload.
  uint8_t *definitionCursor, *definitionLimit; ///< in the slot, before the events

  // Identity.
  uint32_t number;           ///< from 1 on; 0 in a state that was wiped
  _Atomic pid_t osThread;    ///< others may read it while the state changes threads, and then see a new claim
  const uint32_t *hookDepth; ///< in the thread's own memory, which is freed with the thread
  uint32_t eventSequence, definitionSequence;
  uint64_t totalEvents;
  uint64_t drops[LT_DROP_COUNT];
  _Atomic(struct lt_thread *) next; ///< list of all threads
  _Atomic pid_t sealer;             ///< the thread that writes the payloads to the trace; 0: none
  _Atomic uint64_t claim;           ///< the state's user and its purpose; see process/thread_entry.c

  struct lt_prediction prediction[LT_CONTEXT_COUNT];
  struct lt_site site[LT_CONTEXT_COUNT];
  struct lt_known_key dictionary[LT_KEY_COUNT];
  uint64_t successor[LT_SUCCESSOR_COUNT];
  uint64_t table[LT_ADDRESS_TABLE_COUNT];
  uint8_t *room; ///< memory of all arrays above
  size_t roomSize;
  bool mayGrow;
  struct lt_async_entry freshAsync[LT_ASYNC_LIMIT]; ///< scratch for callers that changed
  uint8_t mark[LT_MARK_MAX_SIZE];                   ///< scratch for a mark's payload
};

struct lt_tls {
  struct lt_thread *thread;
  uint32_t hookDepth;                ///< 1 inside a hook, else 0; a nested call does not raise it
  uint32_t isInsideObjectAllocation; ///< the runtime's own allocation function is being called for an object
  uint32_t isClosingImage;           ///< inside dlclose
  uint32_t nestedDrops;              ///< calls made while the thread was being registered
  bool isInsideOperator;             ///< an allocator's own operator delete, which may call free
  bool isUnrecorded;                 ///< no memory for the thread's state; it is requested only once
  void *ownStack; ///< the recorder's stack that the thread is on; NULL on the host's. See lt_on_own_stack
  // Used while sampling.
  /// bytes left until the thread's next sampling check; 0 before its first allocation, and while no allocation may
  /// pass, as when every call is recorded
  uint64_t untilSample;
  uint64_t untilKeptSample; ///< the same distance while a set of all blocks is kept, and no allocation passes
  uint64_t sampleRandom;    ///< state of the generator; 0 before the thread's first allocation
};

extern __thread struct lt_tls lt_tls __attribute__((tls_model("initial-exec"), visibility("hidden")));

/// The calling thread's state if it is registered in this process, paused or not.
struct lt_thread *lt_thread_self(void);
/// All threads that ever recorded, latest first. Never shrinks; entries are reused.
struct lt_thread *lt_thread_first(void);
/// A number from 1 on that no thread in this process has had. Registers one thread.
uint32_t lt_thread_take_number(void);
/// The number of threads that were registered.
uint32_t lt_thread_count(void);
/// Adds a state to the list of lt_thread_first.
void lt_thread_list(struct lt_thread *thread);
/// Makes every thread call lt_thread_prepare at its next hook: a setting has changed that hooks do not check
/// themselves.
void lt_thread_send_to_prepare(void);
/// Removes all states from the list and returns the first. Thread numbers begin at 1 again.
struct lt_thread *lt_thread_unlist_all(void);
/// Forgets every thread. For a child made by fork.
void lt_thread_reset_after_fork(void);

// --- hook switch -----------------------------------------------------------------------------------------------------

// The two words that each hook checks before it records.

/// LT_HOOKS_OFF passes every call through. Set by lt_hooks_set.
enum lt_hook_mode { LT_HOOKS_OFF = 0, LT_HOOKS_ON = 1 };
extern _Atomic uint32_t lt_hook_mode __attribute__((visibility("hidden")));
/// The word that hooks check. It is the pause switch: in the live file's header once there is one, where another
/// process may set it. While hooks are off, it is a word that never says LT_SWITCH_RECORD.
extern _Atomic uint32_t *lt_pause_switch __attribute__((visibility("hidden")));

/// Switches hooks on or off.
void lt_hooks_set(enum lt_hook_mode mode);
/// Makes hooks that are on check the pause switch at this address; NULL: there is none.
void lt_hooks_connect(_Atomic uint32_t *pauseSwitch);

// --- the recorder's stacks -------------------------------------------------------------------------------------------

// Stacks of the recorder's own, for work that takes more stack than a small coroutine or a signal stack may have left.
//
// While a thread is on one, all signals except faults are blocked. A handler would run on the recorder's stack. A
// handler with a stack of its own might overwrite the frames of another handler that had called the recorder.

/// The most bytes of the host's stack that a hook call takes, in addition to those of the hooked function.
enum { LT_HOST_STACK_BUDGET = 1024 };
/// Bytes of a stack, with the page at its end that cannot be touched.
enum { LT_OWN_STACK_SIZE = 64 << 10 };

/// Calls the function on a stack of the recorder's; directly if the calling thread is already on one. If there is no
/// memory for a stack, nothing is called, and the result is false.
bool lt_on_own_stack(void (*function)(void *), void *argument);
/// Returns the host's stack pointer of the thread that is on a stack of the recorder's at `stackPointer`. All registers
/// that calls preserve were saved above it. Returns `stackPointer` itself if it is on none of these stacks.
uintptr_t lt_own_stack_left_at(uintptr_t stackPointer);
/// Forgets which stacks other threads are on: in a child made by fork.
void lt_own_stack_reset_after_fork(void);

// --- the recorder's threads ------------------------------------------------------------------------------------------

// Building blocks for threads of the recorder's own, which the C library does not know.

/// Flags of clone(2) that make a thread of the process.
enum {
  LT_CLONE_THREAD = CLONE_VM | CLONE_FS | CLONE_FILES | CLONE_SIGHAND | CLONE_THREAD | CLONE_SYSVSEM | CLONE_SETTLS
};

/// Makes thread-local memory for a new thread, with this library's variables all zero, and with the parts of the
/// control block that compilers use. Returns the thread pointer, or 0.
uintptr_t lt_make_thread_local(void);

#endif
