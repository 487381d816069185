// The recorder's settings in the environment, and memory for the environments of other programs.

#define _GNU_SOURCE
#include "process/environment.h"

#include "CTraceFormat.h"
#include "check.h"
#include "image/snapshot_writer.h"
#include "os/os.h"
#include "os/process_info.h"
#include "record/trace_file.h"
#include "sampling/sampler.h"
#include "thread/thread_state.h"

#include <elf.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

// --- settings --------------------------------------------------------------------------------------------------------

// The environment variables that make a process record itself, and the variables for its children. Memory is only
// mapped, not taken from the program's allocator.

struct lt_settings lt_settings = {.depthLimit = 65536};

enum {
  USUAL_SAMPLE_PERIOD = 512 << 10, ///< the usual period of other heap profilers
  /// More allocations than small programs make, but their stacks use at most half of the table of sites.
  USUAL_FIRST_SAMPLES = 8192,
  USUAL_KEPT_IMAGES = 100,
  FIRST_SAMPLES_LIMIT = 16384,
  /// The limit for the frames of a sample's stack. All stacks stay in memory, and a recursion adds a stack for each
  /// depth.
  LIGHT_DEPTH_LIMIT = 512,
};

static const char ownPrefix[] = "LEAKTRACE_";
static const char preloadPrefix[] = "LD_PRELOAD=";

/// Copies a text; "" if it does not fit.
static void copy(char *to, size_t size, const char *from) {
  size_t length = from ? strlen(from) : 0;
  if (length >= size) length = 0;
  memcpy(to, from ? from : "", length);
  to[length] = 0;
}

/// Copies the pattern of the trace's path, and makes the path absolute. Returns 0, or −errno with "" in `to`.
static int copy_output(char *to, size_t size, const char *pattern) {
  size_t length = strlen(pattern), directory = 0;
  to[0] = 0;
  if (pattern[0] != '/') {
    long n = lt_syscall(SYS_getcwd, to, size, 0);
    // For a directory outside this process's root, the kernel's path does not begin with a slash.
    int error = n < 0 ? (int)n : to[0] != '/' ? -ENOENT : 0;
    if (error) {
      to[0] = 0;
      return error == -ERANGE ? -ENAMETOOLONG : error;
    }
    directory = strlen(to);
    if (directory + 1 < size) to[directory++] = '/';
  }
  if (length >= size - directory) {
    to[0] = 0;
    return -ENAMETOOLONG;
  }
  LT_CHECK(directory + length + 1 <= size);
  memcpy(to + directory, pattern, length + 1);
  return 0;
}

static bool is_own_library(const char *entry, size_t length) {
  static const char name[] = "libleaktrace.so";
  size_t n = sizeof name - 1;
  return length >= n && memcmp(entry + length - n, name, n) == 0 && (length == n || entry[length - n - 1] == '/');
}

/// Writes the value of LD_PRELOAD without this library to `rest`. True if the value named this library.
static bool split_preload(const char *value, char *rest, size_t size, char *own, size_t ownSize) {
  bool found = false;
  size_t n = 0;
  while (*value) {
    size_t length = strcspn(value, ": ");
    if (is_own_library(value, length)) {
      found = true;
      if (own && length < ownSize) {
        memcpy(own, value, length);
        own[length] = 0;
      }
    } else if (length && n + length + 2 < size) {
      if (n) rest[n++] = ':';
      memcpy(rest + n, value, length);
      n += length;
    }
    value += length;
    while (*value == ':' || *value == ' ') value++;
  }
  LT_CHECK(n < size);
  rest[n] = 0;
  return found;
}

static uint64_t parse_number(const char *text, int base) { return text ? strtoull(text, NULL, base) : 0; }

static const char *value_of(char **environment, const char *name) {
  size_t length = strlen(name);
  for (char **e = environment; e && *e; e++)
    if (strncmp(*e, name, length) == 0 && (*e)[length] == '=') return *e + length + 1;
  return NULL;
}

/// Removes the variables that begin with the prefix.
static void forget(char **environment, const char *entryPrefix) {
  char **to = environment;
  for (char **from = environment; from && *from; from++)
    if (strncmp(*from, entryPrefix, strlen(entryPrefix)) != 0) *to++ = *from;
  if (environment) *to = NULL;
}

static char **end_of(char **environment) {
  while (*environment) environment++;
  return environment;
}

/// Fills the words between the new and the old end of an environment that has lost entries.
///
/// The kernel puts the auxiliary vector after the environment, and programs such as Go's runtime search for it there.
/// The C library has stored the vector's address, so the vector cannot move. Instead, ignored entries (AT_IGNORE) fill
/// the gap before it. An entry takes two words. If the number of words is odd, the gap is filled with zeros: such
/// programs see an empty vector there, and search elsewhere. `leaktrace record` makes the number even.
static void fill_gap(char **newEnd, char **oldEnd) {
  LT_CHECK(newEnd <= oldEnd && !*newEnd);
  size_t words = (size_t)(oldEnd - newEnd);
  for (size_t i = 0; i < words; i++) newEnd[1 + i] = words % 2 == 0 && i % 2 == 0 ? (char *)AT_IGNORE : NULL;
}

/// Removes this library from LD_PRELOAD, and the recorder's variables.
static void forget_own(char **environment) {
  if (!environment) return;
  char **oldEnd = end_of(environment);
  char rest[4096];
  const char *preload = value_of(environment, "LD_PRELOAD");
  if (preload && strlen(preload) < sizeof rest && split_preload(preload, rest, sizeof rest, NULL, 0)) {
    // The new value fits: it is shorter than the old value.
    if (*rest) strcpy((char *)preload, rest);
    else forget(environment, preloadPrefix);
  }
  forget(environment, ownPrefix);
  fill_gap(end_of(environment), oldEnd);
}

/// True if the settings agree with each other.
LT_INVARIANT bool are_settings_valid(const struct lt_settings *s) {
  return s->depthLimit >= 1 && s->depthLimit <= 1u << 20 && s->arcMode <= LT_ARC_OFF && s->session &&
         s->laterSamplePeriod > 0 && s->laterSamplePeriod <= LT_SAMPLE_PERIOD_LIMIT &&
         (!s->samplePeriod ||
          (s->samplePeriod == s->laterSamplePeriod && !s->traceLimit && s->arcMode == LT_ARC_OFF)) &&
         s->firstSamples <= FIRST_SAMPLES_LIMIT && s->snapshotSignal <= 64 && s->roundSignal <= 64;
}

/// The number of images to keep. `text`: NULL for the usual number.
static uint32_t kept_images(const char *text) {
  uint64_t count = text ? parse_number(text, 10) : USUAL_KEPT_IMAGES;
  if (!count) return 0;
  return count < 2 ? 2 : count > LT_KEPT_IMAGES_MAX ? LT_KEPT_IMAGES_MAX : (uint32_t)count;
}

void lt_environment_read(char **environment) {
  struct lt_settings *s = &lt_settings;
  const char *output = value_of(environment, "LEAKTRACE_OUTPUT");
  if (!output || !*output) output = "leaktrace.%n.%p.trace";
  s->outputError = copy_output(s->output, sizeof s->output, output);
  copy(s->messages, sizeof s->messages, value_of(environment, "LEAKTRACE_MESSAGES"));
  s->session = parse_number(value_of(environment, "LEAKTRACE_SESSION"), 16);
  const char *depth = value_of(environment, "LEAKTRACE_DEPTH");
  uint64_t limit = depth ? parse_number(depth, 10) : 65536;
  s->depthLimit = limit < 1 ? 1 : limit > 1u << 20 ? 1u << 20 : (uint32_t)limit;
  const char *arc = value_of(environment, "LEAKTRACE_ARC");
  s->arcMode = !arc                         ? LT_ARC_STACKS
               : strcmp(arc, "counts") == 0 ? LT_ARC_COUNTS
               : strcmp(arc, "off") == 0    ? LT_ARC_OFF
                                            : LT_ARC_STACKS;
  const char *mode = value_of(environment, "LEAKTRACE_MODE");
  uint64_t period = parse_number(value_of(environment, "LEAKTRACE_SAMPLE"), 10);
  period = !period ? USUAL_SAMPLE_PERIOD : period > LT_SAMPLE_PERIOD_LIMIT ? LT_SAMPLE_PERIOD_LIMIT : period;
  const char *first = value_of(environment, "LEAKTRACE_SAMPLE_FIRST");
  uint64_t count = first ? parse_number(first, 10) : USUAL_FIRST_SAMPLES;
  s->firstSamples = count > FIRST_SAMPLES_LIMIT ? FIRST_SAMPLES_LIMIT : (uint32_t)count;
  s->samplePeriod = s->imageInterval = s->imageSize = s->profileInterval = 0;
  s->keptImages = 0;
  s->traceLimit = parse_number(value_of(environment, "LEAKTRACE_LIMIT"), 10);
  s->laterSamplePeriod = period;
  bool isLight = mode && strcmp(mode, "light") == 0;
  if (isLight || s->traceLimit) {
    s->imageInterval = parse_number(value_of(environment, "LEAKTRACE_SNAPSHOT_SECONDS"), 10) * 1000000000;
    s->profileInterval = parse_number(value_of(environment, "LEAKTRACE_PROFILE_SECONDS"), 10) * 1000000000;
    s->imageSize = parse_number(value_of(environment, "LEAKTRACE_SNAPSHOT_BYTES"), 10);
    if (s->imageInterval || s->imageSize) s->keptImages = kept_images(value_of(environment, "LEAKTRACE_KEEP_IMAGES"));
  }
  if (isLight) {
    s->samplePeriod = period;
    s->traceLimit = 0;
    s->arcMode = LT_ARC_OFF;
    if (s->depthLimit > LIGHT_DEPTH_LIMIT) s->depthLimit = LIGHT_DEPTH_LIMIT;
  }
  s->followsChildren = parse_number(value_of(environment, "LEAKTRACE_FOLLOW"), 10) != 0;
  s->startsPaused = parse_number(value_of(environment, "LEAKTRACE_PAUSED"), 10) != 0;
  s->isQuiet = parse_number(value_of(environment, "LEAKTRACE_QUIET"), 10) != 0;
  s->verifiesStacks = parse_number(value_of(environment, "LEAKTRACE_VERIFY_STACKS"), 10) != 0;
  const char *snapshots = value_of(environment, "LEAKTRACE_SNAPSHOTS");
  s->takesSnapshots = !snapshots || strcmp(snapshots, "off") != 0;
  uint64_t signal = parse_number(value_of(environment, "LEAKTRACE_SNAPSHOT_SIGNAL"), 10);
  s->snapshotSignal = signal <= 64 ? (uint32_t)signal : 0;
  signal = parse_number(value_of(environment, "LEAKTRACE_ROUND_SIGNAL"), 10);
  s->roundSignal = signal <= 64 ? (uint32_t)signal : 0;
  if (!s->session) s->session = lt_random() | 1;

  LT_CHECK(are_settings_valid(s));
  LT_CHECK((s->outputError == 0) == (s->output[0] == '/') && s->outputError <= 0);
  const char *finished = value_of(environment, "LEAKTRACE_FINISHED");
  if (finished && *finished) {
    // The program that this one replaced left its live file for this program to remove.
    lt_trace_finish_replaced(finished);
    *(char *)finished = 0; // the variables stay in the environment if children are followed
  }

  char rest[4096];
  const char *preload = value_of(environment, "LD_PRELOAD");
  if (preload && strlen(preload) < sizeof rest)
    split_preload(preload, rest, sizeof rest, s->preload, sizeof s->preload);
  if (!s->followsChildren) forget_own(environment);
}

void lt_environment_stop_following(void) {
  if (lt_settings.followsChildren) forget_own(environ);
  lt_settings.followsChildren = false;
}

static char *put(char *p, const char *text) {
  size_t n = strlen(text);
  memcpy(p, text, n + 1);
  return p + n;
}

char **lt_environment_for_child(char *const environment[], bool isTraced, const char *finishedTrace) {
  if (!lt_settings.preload[0]) return (char **)environment;
  size_t count = 0, preloadLength = 0;
  for (char *const *e = environment; e && *e; e++, count++)
    if (strncmp(*e, preloadPrefix, sizeof preloadPrefix - 1) == 0) preloadLength = strlen(*e);
  enum { OWN_COUNT = 22 };
  enum { NAMES_AND_NUMBERS = 1024 };
  size_t ownLength =
      NAMES_AND_NUMBERS + strlen(lt_settings.preload) + strlen(lt_settings.output) + strlen(lt_settings.messages);
  if (finishedTrace) ownLength += strlen(finishedTrace);
  char **pointers = lt_environment_block_take((count + OWN_COUNT + 1) * sizeof(char *) + preloadLength + ownLength);
  if (!pointers) return (char **)environment;
  char **to = pointers;
  char *text = (char *)(pointers + count + OWN_COUNT + 1);
  char rest[4096] = "";
  for (char *const *e = environment; e && *e; e++) {
    if (strncmp(*e, preloadPrefix, sizeof preloadPrefix - 1) == 0) {
      if (strlen(*e) - (sizeof preloadPrefix - 1) >= sizeof rest) {
        *to++ = *e;
        continue;
      }
      split_preload(*e + sizeof preloadPrefix - 1, rest, sizeof rest, NULL, 0);
    } else if (strncmp(*e, ownPrefix, sizeof ownPrefix - 1) != 0) {
      *to++ = *e;
    }
  }
  if (isTraced || *rest) {
    *to++ = text;
    text = put(text, preloadPrefix);
    if (isTraced) text = put(text, lt_settings.preload);
    if (isTraced && *rest) text = put(text, ":");
    text = put(text, rest) + 1;
  }
  if (isTraced) {
#define ADD(name)           \
  do {                      \
    *to++ = text;           \
    text = put(text, name); \
  } while (0)
    ADD("LEAKTRACE_OUTPUT=");
    text = put(text, lt_settings.output) + 1;
    if (lt_settings.messages[0]) {
      ADD("LEAKTRACE_MESSAGES=");
      text = put(text, lt_settings.messages) + 1;
    }
    ADD("LEAKTRACE_SESSION=");
    text = lt_put_number(text, lt_settings.session, 16) + 1;
    ADD("LEAKTRACE_DEPTH=");
    text = lt_put_number(text, lt_settings.depthLimit, 10) + 1;
    ADD("LEAKTRACE_ARC=");
    text = put(text, lt_settings.arcMode == LT_ARC_OFF      ? "off"
                     : lt_settings.arcMode == LT_ARC_COUNTS ? "counts"
                                                            : "stacks") +
           1;
    if (lt_settings.samplePeriod) {
      ADD("LEAKTRACE_MODE=light");
      text++;
    }
    if (lt_settings.traceLimit) {
      ADD("LEAKTRACE_LIMIT=");
      text = lt_put_number(text, lt_settings.traceLimit, 10) + 1;
    }
    if (lt_settings.samplePeriod || lt_settings.traceLimit) {
      ADD("LEAKTRACE_SAMPLE=");
      text = lt_put_number(text, lt_settings.laterSamplePeriod, 10) + 1;
      ADD("LEAKTRACE_SAMPLE_FIRST=");
      text = lt_put_number(text, lt_settings.firstSamples, 10) + 1;
      ADD("LEAKTRACE_SNAPSHOT_SECONDS=");
      text = lt_put_number(text, lt_settings.imageInterval / 1000000000, 10) + 1;
      ADD("LEAKTRACE_PROFILE_SECONDS=");
      text = lt_put_number(text, lt_settings.profileInterval / 1000000000, 10) + 1;
      ADD("LEAKTRACE_SNAPSHOT_BYTES=");
      text = lt_put_number(text, lt_settings.imageSize, 10) + 1;
      ADD("LEAKTRACE_KEEP_IMAGES=");
      text = lt_put_number(text, lt_settings.keptImages, 10) + 1;
    }
    ADD("LEAKTRACE_FOLLOW=");
    text = put(text, lt_settings.followsChildren ? "1" : "0") + 1;
    if (lt_settings.startsPaused) {
      ADD("LEAKTRACE_PAUSED=1");
      text++;
    }
    if (lt_settings.isQuiet) {
      ADD("LEAKTRACE_QUIET=1");
      text++;
    }
    if (lt_settings.verifiesStacks) {
      ADD("LEAKTRACE_VERIFY_STACKS=1");
      text++;
    }
    if (!lt_settings.takesSnapshots) {
      ADD("LEAKTRACE_SNAPSHOTS=off");
      text++;
    }
    if (lt_settings.snapshotSignal) {
      ADD("LEAKTRACE_SNAPSHOT_SIGNAL=");
      text = lt_put_number(text, lt_settings.snapshotSignal, 10) + 1;
    }
    if (lt_settings.roundSignal) {
      ADD("LEAKTRACE_ROUND_SIGNAL=");
      text = lt_put_number(text, lt_settings.roundSignal, 10) + 1;
    }
    if (finishedTrace) {
      ADD("LEAKTRACE_FINISHED=");
      text = put(text, finishedTrace) + 1;
    }
#undef ADD
  }
  LT_CHECK(to <= pointers + count + OWN_COUNT);
  LT_CHECK(text <= (char *)(pointers + count + OWN_COUNT + 1) + preloadLength + ownLength);
  *to = NULL;
  return pointers;
}

void lt_environment_free(char **made, char *const environment[]) {
  if (made != (char **)environment && made) lt_environment_block_return(made);
}

// --- blocks ----------------------------------------------------------------------------------------------------------

/// The number of threads that can use a place at the same time. Further threads get new memory. Such memory is never
/// freed if a child made by vfork took it.
enum { PLACE_LIMIT = 256, NO_PLACE = -1 };

static struct place {
  _Atomic pid_t user;        ///< thread, or child made by vfork; 0 if the place is free
  _Atomic uintptr_t owner;   ///< thread-local memory of the last user; a thread's vfork children share it
  _Atomic pid_t ownerThread; ///< 0 if it is not known
  struct block *block;       ///< used only by `user`; NULL until first needed
} places[PLACE_LIMIT];

struct block {
  size_t size;   ///< of the block and this header
  int32_t place; ///< index of the place that has it; NO_PLACE for none
  _Alignas(16) char memory[];
};

static struct block *map_block(size_t size, int32_t place) {
  LT_CHECK(size > 0 && place >= NO_PLACE && place < PLACE_LIMIT);
  struct block *block = lt_map_private(sizeof *block + size);
  if (block) *block = (struct block){.size = sizeof *block + size, .place = place};
  return block;
}

/// True if the user will not return the block: it was a child made by vfork, and now runs another program or has ended.
/// The thread that called vfork goes on only after that.
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
