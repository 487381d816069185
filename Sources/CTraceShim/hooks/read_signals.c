// Signals that the host reads from a descriptor. libdispatch reads the signals of its sources.

#define _GNU_SOURCE
#include "arch/compiler.h"
#include "hooks/hook.h"
#include "hooks/snapshot_signals.h"

#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

enum {
  DESCRIPTORS = 1024,
  WORD_BITS = 64,
  MOST_SIGNALS = 4, ///< of one call; other files are read by larger parts
};

/// A bit for each descriptor of signals that was made with SIGTERM or SIGINT, and whose reads do not wait: the recorder
/// could not leave a process while a thread waits in a hook. The number may mean another file by now.
static _Atomic uint64_t watched[DESCRIPTORS / WORD_BITS];

static bool is_watched(int descriptor) {
  return (unsigned)descriptor < DESCRIPTORS &&
         atomic_load_explicit(&watched[descriptor / WORD_BITS], memory_order_relaxed) >> descriptor % WORD_BITS & 1;
}

LT_EXPORT int LT_HOOK(signalfd)(int descriptor, const sigset_t *signals, int flags) {
  int made = NEXT(signalfd)(descriptor, signals, flags);
  if (made < 0 || made >= DESCRIPTORS) return made;
  uint64_t bit = 1ull << made % WORD_BITS;
  if (flags & SFD_NONBLOCK && (sigismember(signals, SIGTERM) == 1 || sigismember(signals, SIGINT) == 1))
    atomic_fetch_or(&watched[made / WORD_BITS], bit);
  else atomic_fetch_and(&watched[made / WORD_BITS], ~bit);
  return made;
}

/// Looks for a signal of the end in bytes that were read. They are a file's if the descriptor has another meaning by
/// now: then a record whose unused bytes are 0 costs one image. A system call that would tell might be forbidden.
static LT_NOINLINE void note_signals(const char *bytes, size_t size) {
  static const uint8_t zeros[sizeof(struct signalfd_siginfo)];
  const size_t padding = offsetof(struct signalfd_siginfo, __pad);
  struct signalfd_siginfo each;
  for (size_t i = 0; i + sizeof each <= size; i += sizeof each) {
    memcpy(&each, bytes + i, sizeof each);
    if ((each.ssi_signo == SIGTERM || each.ssi_signo == SIGINT) && each.ssi_errno == 0 &&
        memcmp(bytes + i + padding, zeros, sizeof each - padding) == 0)
      lt_snapshot_before_end((int)each.ssi_signo, NULL);
  }
}

LT_EXPORT ssize_t LT_HOOK(read)(int descriptor, void *bytes, size_t size) {
  __typeof__(&read) next = NEXT(read);
  if (!is_watched(descriptor) || size == 0 || size % sizeof(struct signalfd_siginfo) != 0 ||
      size > MOST_SIGNALS * sizeof(struct signalfd_siginfo))
    __attribute__((musttail)) return next(descriptor, bytes, size);
  ssize_t result = next(descriptor, bytes, size);
  if (result > 0) note_signals(bytes, (size_t)result);
  return result;
}
