// Beside an allocation: says what stack the C compiler's own unwinder sees, for comparison with the recorded one.
#include <stddef.h>
#include <stdlib.h>

/// A size that no one else asks for; one a call.
size_t stacks_next_size(void);
/// Writes "mark SIZE PC PC …" on standard output: the caller's return addresses by _Unwind_Backtrace, the innermost
/// first. An address that was interrupted rather than called from ends in "!". Allocates nothing.
void stacks_report(size_t size);

/// Does nothing: a place for a debugger to stop.
void stacks_point(size_t size);

/// Allocates in the enclosing function, and reports. The block is freed, so that deep recursion does not accumulate
/// blocks.
#define MARK()                             \
  do {                                     \
    size_t size_ = stacks_next_size();     \
    void *volatile block_ = malloc(size_); \
    stacks_report(size_);                  \
    free(block_);                          \
  } while (0)
