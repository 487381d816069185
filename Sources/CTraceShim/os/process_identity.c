#include "os/process_identity.h"

#include "check.h"
#include "os/os.h"

static uint32_t *word; ///< 1; the kernel makes it 0 in a child with a copy of the memory
static pid_t claimant;

bool lt_identity_claim(void) {
  if (!word) word = lt_map_wiped_on_fork(sizeof *word);
  if (!word) return false;
  claimant = lt_process_id();
  *word = 1;
  return true;
}

pid_t lt_identity_claimant(void) { return claimant; }
bool lt_identity_shares_memory(void) {
  LT_CHECK(!word || *word <= 1);
  return word && *word;
}
bool lt_identity_is_claimants(void) { return lt_identity_shares_memory() && lt_process_id() == claimant; }
