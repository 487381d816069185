// Finds words of the runtime and of the C library that a heap image keeps unchanged, although no type describes them.

#include "known_words.h"

#include "check.h"
#include "metadata_layout.h"
#include "object_layout.h"
#include "storage_kind.h"

// --- tasks -----------------------------------------------------------------------------------------------------------

/// Adds the types of tasks. Each concurrency runtime has one, a variable that the loader relocates. Its first word is
/// the kind of a task. The destructor's address is two words before it.
///
/// Source: swiftlang/swift, stdlib/public/Concurrency/Task.cpp (taskHeapMetadata); seen with Swift 6.3.1.
void lt_add_task_types(struct lt_memory_scan *s) {
  for (uint32_t r = 0; r < s->regionCount; r++) {
    const struct lt_snapshot_region *region = &s->regions[r];
    if (region->kind != LT_REGION_FILE || !(region->flags & LT_REGION_CAPTURED) ||
        (region->end - 1) >> LT_SCANNED_ADDRESS_BITS)
      continue;
    for (uint64_t at = region->start; (at = lt_first_present(s, region, at)) < region->end;
         at += (uint64_t)LT_SCAN_BLOCK_PAGES * LT_MEMORY_PAGE) {
      uint64_t left = (region->end - at) / LT_MEMORY_PAGE;
      uint32_t pages = left < LT_SCAN_BLOCK_PAGES ? (uint32_t)left : LT_SCAN_BLOCK_PAGES;
      LT_CHECK(pages > 0 && pages <= LT_SCAN_BLOCK_PAGES);
      s->lookUpResidence(s, region, at, pages, s->residence);
      for (uint32_t i = 0; i < pages; i++) {
        uint64_t page = at + (uint64_t)i * LT_MEMORY_PAGE;
        const uint64_t *words = s->residence[i] & LT_PAGE_PRESENT ? s->page(s, page) : NULL;
        for (unsigned k = 0; words && k < LT_MEMORY_PAGE_WORDS; k++) {
          if (LT_LIKELY(words[k] != SWIFT_KIND_TASK)) continue;
          uint64_t metadata = page + 8ull * k, destructor = lt_word_at(s->memory, metadata - 16);
          if (!lt_address_index_has(&s->index, destructor)) continue;
          lt_type_set_add(&s->typeSet, metadata, LT_STORAGE_TASK);
          s->hasTaskType = true;
        }
      }
    }
  }
}

// --- locks -----------------------------------------------------------------------------------------------------------

// A thread that waits for a lock, a queue or another thread is in the system call futex. The call's first argument
// leads to a word with the kernel's number of the thread that has to act. Such a word is kept only if a thread of
// the image has the number. So an image has no other contents of memory.

/// The owner is in these low bits. The higher bits say whether threads wait.
#define OWNER_MASK 0x3FFFFFFFu
/// The kernel's highest number of a thread, plus 1 (PID_MAX_LIMIT).
enum { THREAD_NUMBERS = 1 << 22 };

/// The numbers of the image's threads: one bit for each possible number.
struct thread_numbers {
  uint8_t *bits;
};

/// True if a thread has the number.
static bool is_thread(struct thread_numbers numbers, uint32_t number) {
  return number < THREAD_NUMBERS && numbers.bits[number >> 3] >> (number & 7) & 1;
}

/// Adds the owner of a lock at an address, if a lock is there. A mutex of the C library has its state in the first four
/// bytes and its owner in the third four bytes. A lock that inherits priorities has only its owner.
///
/// Source: glibc, sysdeps/nptl/bits/struct_mutex.h; swiftlang/swift,
/// stdlib/public/Synchronization/Mutex/LinuxImpl.swift; seen with glibc 2.36 and Swift 6.3.1.
static void add_lock(struct lt_memory_scan *s, uint64_t address, struct thread_numbers numbers, uint32_t waiter) {
  uint64_t words[2] = {0};
  if (address & 7 || !lt_address_index_has(&s->index, address) || !lt_address_index_has(&s->index, address + 15) ||
      !lt_read_bytes(s->memory, address, words, sizeof words))
    return;
  uint32_t state = (uint32_t)words[0];
  if ((state == 1 || state == 2) && is_thread(numbers, (uint32_t)words[1]))
    lt_verbatim_words_add(&s->exact, address, 2, 4);
  else if ((state & OWNER_MASK) != waiter && is_thread(numbers, state & OWNER_MASK))
    lt_verbatim_words_add(&s->exact, address, 1, 4);
}

/// Adds the owner of the dispatch queue that a thread waits for, if `event` is the event of such a wait. The event is a
/// part of the wait's context on the thread's stack. The context has its own address and the queue's address. The low
/// bits of the queue's state name the thread that runs the queue's work.
///
/// Source: swiftlang/swift-corelibs-libdispatch, src/queue_internal.h (dispatch_sync_context_s, dq_state); seen with
/// Swift 6.3.1.
static void add_queue(struct lt_memory_scan *s, uint64_t event, struct thread_numbers numbers, uint32_t waiter) {
  uint64_t context = event - SWIFT_SYNC_EVENT;
  if (event < SWIFT_SYNC_EVENT || lt_word_at(s->memory, context + SWIFT_SYNC_SELF) != context) return;
  uint64_t queue = lt_word_at(s->memory, context + SWIFT_SYNC_QUEUE), state = queue + SWIFT_QUEUE_STATE;
  if (queue & 7 || !lt_address_index_has(&s->index, queue) || !lt_address_index_has(&s->index, state + 7)) return;
  uint32_t owner = lt_half_at(s->memory, state) & OWNER_MASK;
  if (owner != waiter && is_thread(numbers, owner)) lt_verbatim_words_add(&s->exact, state, 1, 4);
}

void lt_add_lock_owners(struct lt_memory_scan *s) {
  struct thread_numbers numbers = {s->memory->allocate(THREAD_NUMBERS / 8)};
  if (!numbers.bits) return;
  LT_CHECK(s->argumentRegister < LT_SNAPSHOT_REGISTERS);
  for (uint32_t i = 0; i < s->threadCount; i++) {
    uint32_t number = s->threads[i].osThread;
    if (number < THREAD_NUMBERS) numbers.bits[number >> 3] |= (uint8_t)(1u << (number & 7));
  }
  for (uint32_t i = 0; i < s->threadCount; i++) {
    const struct lt_snapshot_thread *thread = &s->threads[i];
    uint64_t argument = thread->registers[s->argumentRegister];
    if (!(thread->flags & LT_SNAPSHOT_THREAD_REGISTERS) || !(thread->flags & LT_SNAPSHOT_THREAD_WAITING)) continue;
    add_lock(s, argument, numbers, thread->osThread);
    add_queue(s, argument, numbers, thread->osThread);
  }
  s->memory->release(numbers.bits, THREAD_NUMBERS / 8);
}

// --- queues of jobs --------------------------------------------------------------------------------------------------

// The runtime has a concurrent queue for each priority of tasks. The queue runs as many jobs at a time as the machine
// has processors. Its name tells it from other queues.

#define JOB_QUEUE_NAME "Swift global concurrent queue"

struct job_queues {
  uint64_t known[16]; ///< queues that were found
  unsigned count;
  unsigned looks; ///< the number of further words that may be examined
};

/// True if a queue of the runtime's jobs is at an address.
static bool is_job_queue(struct lt_memory_scan *s, uint64_t address) {
  static const char wanted[] = JOB_QUEUE_NAME;
  char name[sizeof wanted];
  uint64_t label = lt_word_at(s->memory, address + SWIFT_QUEUE_LABEL);
  if (!lt_address_index_has(&s->index, label) || !lt_address_index_has(&s->index, label + sizeof name - 1) ||
      !lt_read_bytes(s->memory, label, name, sizeof name))
    return false;
  int difference = 0;
  for (unsigned i = 0; i < sizeof name; i++) difference |= name[i] ^ wanted[i];
  return difference == 0;
}

/// Adds the state and the width of the queue whose address is in `word`, if it is a queue of jobs.
static bool add_job_queue(struct lt_memory_scan *s, struct job_queues *queues, uint64_t word) {
  LT_CHECK(queues->count <= sizeof queues->known / sizeof *queues->known);
  if (word & 15 || !lt_address_index_has(&s->index, word) ||
      !lt_address_index_has(&s->index, word + SWIFT_QUEUE_WIDTH + 7))
    return false;
  for (unsigned i = 0; i < queues->count; i++)
    if (queues->known[i] == word) return true;
  if (queues->count == sizeof queues->known / sizeof *queues->known || queues->looks == 0) return false;
  queues->looks--;
  if (!is_job_queue(s, word)) return false;
  queues->known[queues->count++] = word;
  lt_verbatim_words_add(&s->exact, word + SWIFT_QUEUE_STATE, 1, 8);
  lt_verbatim_words_add(&s->exact, word + SWIFT_QUEUE_WIDTH, 1, 2);
  return true;
}

/// Adds the queue that a thread takes its jobs from. The outermost functions of such a thread have the queue's address.
static void add_queue_of_thread(struct lt_memory_scan *s, struct job_queues *queues, uint64_t stackPointer) {
  enum { LIMIT = 16 << 10, PART = 64 };
  for (uint32_t i = 0; i < s->regionCount; i++) {
    const struct lt_snapshot_region *region = &s->regions[i];
    if (stackPointer < region->start || stackPointer >= region->end) continue;
    uint64_t start = (stackPointer + 7) & ~7ull;
    if (region->end - start > LIMIT) start = region->end - LIMIT;
    for (uint64_t at = start; at < region->end; at += 8 * PART) {
      uint64_t words[PART], left = (region->end - at) / 8;
      unsigned count = left < PART ? (unsigned)left : PART;
      if (!lt_read_bytes(s->memory, at, words, 8 * count)) return;
      for (unsigned k = 0; k < count; k++)
        if (add_job_queue(s, queues, words[k])) return;
    }
    return;
  }
}

void lt_add_job_queues(struct lt_memory_scan *s) {
  enum { LOOKS = 1 << 15 };
  struct job_queues queues = {.looks = LOOKS};
  for (uint32_t i = 0; s->hasTaskType && i < s->threadCount; i++) {
    const struct lt_snapshot_thread *thread = &s->threads[i];
    if (!(thread->flags & LT_SNAPSHOT_THREAD_REGISTERS) || !(thread->flags & LT_SNAPSHOT_THREAD_WAITING)) continue;
    add_queue_of_thread(s, &queues, thread->stackPointer);
  }
}
