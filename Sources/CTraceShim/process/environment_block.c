#include "process/environment_block.h"

#include "check.h"
#include "os/process_identity.h"
#include "thread/thread_state.h"

/// Threads beyond the limit that replace a program at one time get memory of their own, which a child of vfork leaves
/// behind.
enum { PLACE_LIMIT = 256, NO_PLACE = -1 };

static struct place {
  _Atomic pid_t user;        ///< thread, or child of vfork; 0 if it is free
  _Atomic uintptr_t owner;   ///< thread-local memory of the last user: a thread and its children of vfork have the same
  _Atomic pid_t ownerThread; ///< 0 if it is not known
  struct block *block;       ///< the user's alone; NULL until first needed
} places[PLACE_LIMIT];

struct block {
  size_t size;   ///< with this head
  int32_t place; ///< index of the place that has it; NO_PLACE for none
  _Alignas(16) char memory[];
};

static struct block *map_block(size_t size, int32_t place) {
  LT_CHECK(size > 0 && place >= NO_PLACE && place < PLACE_LIMIT);
  struct block *block = lt_map_private(sizeof *block + size);
  if (block) *block = (struct block){.size = sizeof *block + size, .place = place};
  return block;
}

/// Tells whether the user will not come back: a child of vfork that has another program by now, or has ended. Its
/// thread goes on only after that.
static bool is_left(const struct place *place, pid_t user, pid_t self) {
  pid_t process = lt_identity_claimant();
  if (user == self || !process || lt_thread_exists(process, user)) return false;
  pid_t thread = atomic_load(&place->ownerThread);
  return atomic_load(&place->owner) == (uintptr_t)&lt_tls || (thread && !lt_thread_exists(process, thread));
}

static bool claim(struct place *place, pid_t self) {
  pid_t user = atomic_load(&place->user);
  if (user && !is_left(place, user, self)) return false;
  if (!atomic_compare_exchange_strong(&place->user, &user, self)) return false;
  const struct lt_thread *t = lt_tls.thread;
  atomic_store(&place->owner, (uintptr_t)&lt_tls);
  atomic_store(&place->ownerThread, t ? atomic_load(&t->osThread) : 0);
  return true;
}

void *lt_environment_block_take(size_t size) {
  pid_t self = lt_thread_id();
  for (int32_t i = 0; i < PLACE_LIMIT; i++) {
    struct place *place = &places[i];
    if (!claim(place, self)) continue;
    if (place->block && place->block->size < sizeof *place->block + size) {
      lt_unmap(place->block, place->block->size);
      place->block = NULL;
    }
    if (!place->block) place->block = map_block(size, i);
    LT_CHECK(!place->block || (place->block->place == i && place->block->size >= sizeof *place->block + size));
    if (place->block) return place->block->memory;
    atomic_store(&place->user, 0);
    return NULL;
  }
  struct block *block = map_block(size, NO_PLACE);
  return block ? block->memory : NULL;
}

void lt_environment_block_return(void *memory) {
  struct block *block = (struct block *)((char *)memory - offsetof(struct block, memory));
  LT_CHECK(block->place >= NO_PLACE && block->place < PLACE_LIMIT);
  LT_CHECK(block->place == NO_PLACE || places[block->place].block == block);
  if (block->place == NO_PLACE) lt_unmap(block, block->size);
  else atomic_store(&places[block->place].user, 0);
}

void lt_environment_block_reset_after_fork(void) {
  for (int32_t i = 0; i < PLACE_LIMIT; i++) atomic_store(&places[i].user, 0);
}
