// Hooks of signals: signals that request an image, and signals that the program reads from a descriptor.

#define _GNU_SOURCE
#include "hooks/signal_hooks.h"

#include "arch/arch.h"
#include "hooks/hook.h"
#include "image/heap_snapshot.h"
#include "os/os.h"
#include "os/process_info.h"
#include "process/recording.h"
#include "record/trace_file.h"

#include <errno.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/signalfd.h>
#include <unistd.h>

// === snapshot signals ================================================================================================

// Handles the signals that cause a snapshot, and hooks the functions that would show the recorder's handlers to the
// host.
//
// The host's view is preserved. A signal that only the recorder handles is reported with its default disposition. A
// handler of the host replaces the recorder's. If the host sets a signal back to the default, the recorder's handler is
// installed again. A signal that would end the process still ends it.

enum {
  SIGNAL_LIMIT = 65,
  USUAL_REQUEST_SIGNAL = 62, ///< third from the last: libraries use signals from both ends of the range
  /// A second signal within this time is ignored: it may have been sent to the process and to its group. A later signal
  /// comes from an impatient user, and ends the process.
  REPEAT_NANOSECONDS = 2000000000,
};

static struct {
  struct sigaction seen[SIGNAL_LIMIT]; ///< the host's default actions that the recorder replaces
  /// The host's actions whose handlers the recorder's handler calls. These are separate from `seen`, because a child
  /// made by vfork may set a signal to the default. `seen` is then written in the parent's memory, although the
  /// parent's handler stays.
  struct sigaction handled[SIGNAL_LIMIT];
  int (*nextSigaction)(int, const struct sigaction *, struct sigaction *);
  bool isOn;
  int request;
  int round;                      ///< 0: none
  _Atomic uint64_t endingSince;   ///< the exchange elects one thread
  _Atomic uint64_t handledBefore; ///< a bit for each signal that lt_snapshot_before_end has seen
} snapshotSignals;

// --- handlers --------------------------------------------------------------------------------------------------------

static void end_by(int number) {
  uint64_t mask = 1ull << (number - 1);
  lt_set_default_action(number);
  lt_syscall6(SYS_rt_sigprocmask, SIG_UNBLOCK, (long)&mask, 0, sizeof mask, 0, 0);
  lt_syscall(SYS_tgkill, lt_process_id(), lt_thread_id(), number);
}

static void on_ending_signal(int number, siginfo_t *information, void *context) {
  (void)information;
  if (lt_recording_is_on()) {
    uint64_t now = lt_clock_nanoseconds(CLOCK_MONOTONIC), since = 0;
    if (atomic_compare_exchange_strong(&snapshotSignals.endingSince, &since, now)) lt_snapshot_at_signal(context);
    else if (now - since < REPEAT_NANOSECONDS) return;
  }
  // The trace is not closed here: the live file preserves the recording.
  end_by(number);
}

void lt_snapshot_before_end(int number, const ucontext_t *interrupted) {
  uint64_t bit = 1ull << (number - 1);
  int error = errno;
  // `leaktrace check` has already taken an image when it sends SIGTERM.
  if (snapshotSignals.isOn && lt_recording_is_on() && !(atomic_fetch_or(&snapshotSignals.handledBefore, bit) & bit) &&
      !lt_snapshot_is_recent())
    lt_snapshot_take(LT_SNAPSHOT_REQUEST, number == SIGTERM ? "SIGTERM" : "SIGINT", interrupted, LT_SNAPSHOT_RETURNS);
  errno = error;
}

/// Takes an image before it calls the host's handler: a server releases its state after such a signal.
static void on_handled_signal(int number, siginfo_t *information, void *context) {
  lt_snapshot_before_end(number, context);
  // Call the host's handler with three arguments, as the kernel does, even if it has only one parameter. Its flags
  // cannot be checked first, since another thread may be changing the action.
  snapshotSignals.handled[number].sa_sigaction(number, information, context);
}

static void on_request(int number, siginfo_t *information, void *context) {
  (void)information;
  // An untraced child inherits this handler, and has it until it replaces its program.
  if (!lt_is_recording_process()) end_by(number);
  else lt_snapshot_answer(context);
}

/// The interrupted thread waits if the previous round's image is still being written. This is safe, because a copy of
/// the process writes the image and never waits for the host. A round without an image would count as part of the next
/// round, which would look larger.
static void on_round(int number, siginfo_t *information, void *context) {
  (void)information;
  if (!lt_is_recording_process()) end_by(number);
  else lt_snapshot_take(LT_SNAPSHOT_ROUND, NULL, context, LT_SNAPSHOT_FOLLOWS);
}

/// True if the signal requests an image or ends a round. Such a signal means nothing to the host unless the host
/// handles it.
static bool is_asking(int number) {
  return number > 0 && (number == snapshotSignals.request || number == snapshotSignals.round);
}

static bool is_handled_here(int number) {
  return number == SIGTERM || number == SIGINT || number == SIGHUP || is_asking(number);
}

static bool is_ours(const struct sigaction *action) {
  return action->sa_sigaction == on_ending_signal || action->sa_sigaction == on_request ||
         action->sa_sigaction == on_round || action->sa_sigaction == on_handled_signal;
}

/// Returns the host's action, which the recorder's action `ours` has replaced.
static struct sigaction *host_action(int number, const struct sigaction *ours) {
  return ours->sa_sigaction == on_handled_signal ? &snapshotSignals.handled[number] : &snapshotSignals.seen[number];
}

/// True if the recorder's handler must run before the handler in `host`. Handlers on a signal stack are left alone:
/// that stack may be too small for two handlers.
static bool goes_before(int number, const struct sigaction *host) {
  enum { FIRST_PAGE = 4096 }; // SIG_DFL, SIG_IGN, SIG_HOLD
  return (number == SIGTERM || number == SIGINT) && (uintptr_t)host->sa_handler >= FIRST_PAGE && !is_ours(host) &&
         !(host->sa_flags & SA_ONSTACK) && snapshotSignals.isOn && lt_recording_is_on();
}

static struct sigaction our_action_before(const struct sigaction *host) {
  struct sigaction action = *host;
  action.sa_sigaction = on_handled_signal;
  action.sa_flags |= SA_SIGINFO;
  return action;
}

static struct sigaction our_action(int number) {
  struct sigaction action = {.sa_flags = SA_SIGINFO | SA_RESTART};
  if (number == snapshotSignals.request) {
    action.sa_sigaction = on_request;
  } else if (number == snapshotSignals.round) {
    action.sa_sigaction = on_round;
    // Block the ending signals during this handler: the process may be ended right after its last round. If both
    // signals arrive together, the handler of the ending signal would otherwise run first.
    const uint64_t ending = 1ull << (SIGTERM - 1) | 1ull << (SIGINT - 1) | 1ull << (SIGHUP - 1);
    memcpy(&action.sa_mask, &ending, sizeof ending);
  } else {
    action.sa_sigaction = on_ending_signal;
    action.sa_flags |= SA_NODEFER; // a second signal must be noticed
  }
  return action;
}

static void set_live_signal(int number) {
  if (lt_recording_is_on()) lt_trace.live->snapshotSignal = (uint32_t)number;
}

extern int __sigaction(int, const struct sigaction *, struct sigaction *);

void lt_snapshot_signals_init(uint32_t request, uint32_t round) {
  snapshotSignals.nextSigaction = NEXT(sigaction);
  // Use the C library's function under a name that sanitizers do not intercept: the sanitizers are initialised later.
  int (*set)(int, const struct sigaction *, struct sigaction *) = NEXT(__sigaction);
  if (!set) set = snapshotSignals.nextSigaction;
  snapshotSignals.request = request ? (int)request : USUAL_REQUEST_SIGNAL;
  snapshotSignals.round = (int)round != snapshotSignals.request ? (int)round : 0;
  snapshotSignals.isOn = true;
  atomic_store(&snapshotSignals.endingSince, 0);
  atomic_store(&snapshotSignals.handledBefore, 0);
  // The kernel does not end the first process of a container (PID 1) by signals that it does not handle. So the
  // recorder does not handle the ending signals there.
  const int numbers[] = {snapshotSignals.request, snapshotSignals.round, SIGTERM, SIGINT, SIGHUP};
  for (int i = 0; i < (lt_process_id() == 1 ? 2 : 5); i++) {
    struct sigaction action;
    if (numbers[i] <= 0 || numbers[i] >= SIGNAL_LIMIT) continue;
    if (set(numbers[i], NULL, &action) != 0) continue;
    if (!is_ours(&action)) {
      if (action.sa_handler != SIG_DFL) continue;
      snapshotSignals.seen[numbers[i]] = action;
      action = our_action(numbers[i]);
      if (set(numbers[i], &action, NULL) != 0) continue;
    }
    if (numbers[i] == snapshotSignals.request) set_live_signal(snapshotSignals.request);
  }
}

void lt_snapshot_signals_end(void) {
  if (!snapshotSignals.isOn) return;
  snapshotSignals.isOn = false;
  for (int number = 1; number < SIGNAL_LIMIT; number++) {
    struct sigaction action;
    if (is_handled_here(number) && snapshotSignals.nextSigaction(number, NULL, &action) == 0 && is_ours(&action))
      snapshotSignals.nextSigaction(number, host_action(number, &action), NULL);
  }
}

// --- the host's view -------------------------------------------------------------------------------------------------

/// True if the recorder's handler replaces the default action that the host has set.
static bool takes_default(int number) {
  return snapshotSignals.isOn && lt_recording_is_on() && (is_asking(number) || lt_process_id() != 1);
}

static LT_NOINLINE int change_action(int number, const struct sigaction *action, struct sigaction *old) {
  struct sigaction before, ours, handledUntilNow = snapshotSignals.handled[number];
  const struct sigaction *used = action;
  bool isDefault = action && action->sa_handler == SIG_DFL && takes_default(number);
  bool isBefore = action && goes_before(number, action);
  if (isDefault || isBefore) {
    ours = isDefault ? our_action(number) : our_action_before(action);
    used = &ours;
  }
  // Set this first: the signal may arrive as soon as the handler is installed.
  if (isBefore) snapshotSignals.handled[number] = *action;
  int result = snapshotSignals.nextSigaction(number, used, &before);
  if (result != 0) {
    if (isBefore) snapshotSignals.handled[number] = handledUntilNow;
    return result;
  }
  struct sigaction view = before;
  if (before.sa_sigaction == on_handled_signal) view = handledUntilNow;
  else if (is_ours(&before)) view = snapshotSignals.seen[number];
  if (isDefault) snapshotSignals.seen[number] = *action;
  if (old) *old = view;
  if (action && number == snapshotSignals.request) set_live_signal(isDefault ? number : 0);
  return 0;
}

LT_EXPORT int lt_hook_sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  if (!snapshotSignals.nextSigaction) snapshotSignals.nextSigaction = NEXT(sigaction);
  if (!is_handled_here(number)) __attribute__((musttail)) return snapshotSignals.nextSigaction(number, action, old);
  return change_action(number, action, old);
}
LT_EXPORT int lt_hook___sigaction(int number, const struct sigaction *action, struct sigaction *old) {
  return lt_hook_sigaction(number, action, old);
}

typedef void (*signal_handler)(int);

/// Corrects a call that has set `handler` and returned `before`. Installs the recorder's handler again if necessary.
/// Returns the result that the host expects.
static signal_handler correct(int number, signal_handler handler, signal_handler before) {
  if (before == SIG_ERR || !is_handled_here(number)) return before;
  if (before == (signal_handler)(void *)on_handled_signal) before = snapshotSignals.handled[number].sa_handler;
  else if (before == (signal_handler)(void *)on_ending_signal || before == (signal_handler)(void *)on_request ||
           before == (signal_handler)(void *)on_round)
    before = SIG_DFL;
  bool isDefault = handler == SIG_DFL && takes_default(number);
  if (isDefault) {
    struct sigaction ours = our_action(number);
    memset(&snapshotSignals.seen[number], 0, sizeof snapshotSignals.seen[number]);
    snapshotSignals.nextSigaction(number, &ours, NULL);
  }
  struct sigaction host;
  if (snapshotSignals.nextSigaction(number, NULL, &host) == 0 && goes_before(number, &host)) {
    snapshotSignals.handled[number] = host;
    struct sigaction ours = our_action_before(&host);
    snapshotSignals.nextSigaction(number, &ours, NULL);
  }
  if (number == snapshotSignals.request) set_live_signal(isDefault ? number : 0);
  return before;
}

extern signal_handler bsd_signal(int, signal_handler);

LT_EXPORT signal_handler lt_hook_signal(int number, signal_handler handler) {
  return correct(number, handler, NEXT(signal)(number, handler));
}
LT_EXPORT signal_handler lt_hook_bsd_signal(int number, signal_handler handler) {
  return correct(number, handler, NEXT(bsd_signal)(number, handler));
}
LT_EXPORT signal_handler lt_hook_ssignal(int number, signal_handler handler) {
  return correct(number, handler, NEXT(ssignal)(number, handler));
}
LT_EXPORT signal_handler lt_hook_sysv_signal(int number, signal_handler handler) {
  return correct(number, handler, NEXT(sysv_signal)(number, handler));
}
LT_EXPORT signal_handler lt_hook___sysv_signal(int number, signal_handler handler) {
  return correct(number, handler, NEXT(__sysv_signal)(number, handler));
}

#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wdeprecated-declarations"
LT_EXPORT signal_handler lt_hook_sigset(int number, signal_handler handler) {
  return correct(number, handler, NEXT(sigset)(number, handler));
}
#pragma clang diagnostic pop

// === signals read from a descriptor ==================================================================================

// Signals that the host reads from a descriptor, as libdispatch does for its signal sources.

enum {
  DESCRIPTORS = 1024,
  WORD_BITS = 64,
  MAX_SIGNALS = 4, ///< limit of signals in one read; reads of other files are usually larger
};

/// A bit for each non-blocking signal descriptor that was made for SIGTERM or SIGINT. Blocking descriptors are left
/// out: the recorder could not leave a process while a thread waits in a hook. A descriptor's number may belong to
/// another file by now.
/// Needs no order: the program itself orders the use of a descriptor after its creation.
static _Atomic uint64_t watched[DESCRIPTORS / WORD_BITS];

static bool is_watched(int descriptor) {
  return (unsigned)descriptor < DESCRIPTORS &&
         atomic_load_explicit(&watched[descriptor / WORD_BITS], memory_order_relaxed) >> descriptor % WORD_BITS & 1;
}

LT_EXPORT int lt_hook_signalfd(int descriptor, const sigset_t *signals, int flags) {
  int made = NEXT(signalfd)(descriptor, signals, flags);
  if (made < 0 || made >= DESCRIPTORS) return made;
  uint64_t bit = 1ull << made % WORD_BITS;
  if (flags & SFD_NONBLOCK && (sigismember(signals, SIGTERM) == 1 || sigismember(signals, SIGINT) == 1))
    atomic_fetch_or(&watched[made / WORD_BITS], bit);
  else atomic_fetch_and(&watched[made / WORD_BITS], ~bit);
  return made;
}

/// Looks for SIGTERM and SIGINT in bytes that were read. The descriptor's number may belong to another file by now,
/// whose bytes look like such a signal. Then one needless image is taken. A system call that could check the descriptor
/// might be forbidden.
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

LT_EXPORT ssize_t lt_hook_read(int descriptor, void *bytes, size_t size) {
  __typeof__(&read) next = NEXT(read);
  if (!is_watched(descriptor) || size == 0 || size % sizeof(struct signalfd_siginfo) != 0 ||
      size > MAX_SIGNALS * sizeof(struct signalfd_siginfo))
    __attribute__((musttail)) return next(descriptor, bytes, size);
  ssize_t result = next(descriptor, bytes, size);
  if (result > 0) note_signals(bytes, (size_t)result);
  return result;
}
