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

struct lt_settings lt_settings = {.depthLimit = LT_USUAL_DEPTH};

enum {
  DEPTH_LIMIT = 1 << 20,
  /// The limit for the frames of a sample's stack. All stacks stay in memory, and a recursion adds a stack for each
  /// depth.
  LIGHT_DEPTH_LIMIT = 512,
  SIGNAL_LIMIT = 64,
  NANOSECONDS = 1000000000, ///< in a second
};

static const char ownPrefix[] = LT_SETTING_PREFIX;
static const char preloadPrefix[] = "LD_PRELOAD=";

/// Copies a text, or writes "" if the text does not fit.
static void copy(char *to, size_t size, const char *from) {
  size_t length = from ? strlen(from) : 0;
  if (length >= size) length = 0;
  memcpy(to, from ? from : "", length);
  to[length] = 0;
}

/// Copies the pattern of the trace's path, and makes the path absolute. `usual` replaces a pattern that is NULL or "".
/// Returns 0, or −errno with "" in `to`.
static int copy_output(char *to, size_t size, const char *pattern, const char *usual) {
  if (!pattern || !*pattern) pattern = usual;
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
    if (directory + 1 < size && to[directory - 1] != '/') to[directory++] = '/';
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

/// Returns the value of a digit, or 16 for any other character.
static unsigned digit_value(char digit) {
  if (digit >= '0' && digit <= '9') return (unsigned)(digit - '0');
  if (digit >= 'a' && digit <= 'f') return (unsigned)(digit - 'a') + 10;
  if (digit >= 'A' && digit <= 'F') return (unsigned)(digit - 'A') + 10;
  return 16;
}

/// Returns the number at the start of a text; 0 without digits, and the greatest number for a greater one. With newer
/// headers, strtoull of the C library would need glibc 2.38.
static uint64_t parse_number(const char *text, unsigned base, uint64_t usual) {
  if (!text) return usual;
  while (*text == ' ' || *text == '\t') text++;
  if (*text == '+') text++;
  if (base == 16 && text[0] == '0' && (text[1] == 'x' || text[1] == 'X') && digit_value(text[2]) < base) text += 2;
  uint64_t number = 0;
  for (unsigned digit; (digit = digit_value(*text)) < base; text++)
    if (__builtin_mul_overflow(number, base, &number) || __builtin_add_overflow(number, digit, &number))
      return UINT64_MAX;
  return number;
}

static bool is_switched_on(const char *text, bool usual) { return text ? strcmp(text, "off") != 0 : usual; }

/// Returns the index of `text` in `words`, which '|' separates; `usual` for any other text.
static uint8_t index_of_choice(const char *text, const char *words, uint8_t usual) {
  for (uint8_t i = 0; text && *words; i++) {
    size_t length = strcspn(words, "|");
    if (strncmp(text, words, length) == 0 && !text[length]) return i;
    words += words[length] ? length + 1 : length;
  }
  return usual;
}

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
/// the gap before it. An entry takes two words. If the number of words is odd, zeros fill the gap. Such programs then
/// see an empty vector there, and search elsewhere. `leaktrace record` makes the number even.
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
  return s->depthLimit >= 1 && s->depthLimit <= DEPTH_LIMIT && s->arcMode <= LT_ARC_OFF && s->session &&
         s->laterSamplePeriod > 0 && s->laterSamplePeriod <= LT_SAMPLE_PERIOD_LIMIT &&
         (s->mode == LT_MODE_LIGHT) == (s->samplePeriod != 0) &&
         (!s->samplePeriod ||
          (s->samplePeriod == s->laterSamplePeriod && !s->traceLimit && s->arcMode == LT_ARC_OFF)) &&
         s->firstSamples <= LT_FIRST_SAMPLES_MAX && s->keptImages <= LT_KEPT_IMAGES_MAX &&
         s->snapshotSignal <= SIGNAL_LIMIT && s->roundSignal <= SIGNAL_LIMIT;
}

static uint64_t clamp(uint64_t value, uint64_t min, uint64_t max) {
  return value < min ? min : value > max ? max : value;
}

/// Applies the limits of the settings, and the rules between them.
static void apply_rules(struct lt_settings *s) {
  if (!s->session) s->session = lt_random() | 1;
  s->depthLimit = clamp(s->depthLimit, 1, DEPTH_LIMIT);
  if (!s->laterSamplePeriod) s->laterSamplePeriod = LT_USUAL_SAMPLE_PERIOD;
  s->laterSamplePeriod = clamp(s->laterSamplePeriod, 1, LT_SAMPLE_PERIOD_LIMIT);
  s->firstSamples = clamp(s->firstSamples, 0, LT_FIRST_SAMPLES_MAX);
  if (s->keptImages) s->keptImages = clamp(s->keptImages, 2, LT_KEPT_IMAGES_MAX);
  if (s->snapshotSignal > SIGNAL_LIMIT) s->snapshotSignal = 0;
  if (s->roundSignal > SIGNAL_LIMIT) s->roundSignal = 0;

  bool isLight = s->mode == LT_MODE_LIGHT;
  if (!isLight && !s->traceLimit) s->imageInterval = s->imageSize = s->profileInterval = 0;
  if (!s->imageInterval && !s->imageSize) s->keptImages = 0;
  s->samplePeriod = isLight ? s->laterSamplePeriod : 0;
  if (isLight) {
    s->traceLimit = 0;
    s->arcMode = LT_ARC_OFF;
    s->depthLimit = clamp(s->depthLimit, 1, LIGHT_DEPTH_LIMIT);
  }
}

// Macros that read a value of each kind. `text` is NULL if the variable is missing. `finishedTrace` is a local
// variable.
#define READ_PATTERN(field, text, usual, words) lt_settings.outputError = copy_output(field, sizeof field, text, usual)
#define READ_TEXT(field, text, usual, words) copy(field, sizeof field, text)
#define READ_NUMBER(field, text, usual, words) field = parse_number(text, 10, usual)
#define READ_HEXADECIMAL(field, text, usual, words) field = parse_number(text, 16, usual)
#define READ_SECONDS(field, text, usual, words) field = parse_number(text, 10, usual) * NANOSECONDS
#define READ_FLAG(field, text, usual, words) field = parse_number(text, 10, usual) != 0
#define READ_SWITCH(field, text, usual, words) field = is_switched_on(text, usual)
#define READ_CHOICE(field, text, usual, words) field = index_of_choice(text, words, usual)
#define READ_FINISHED_TRACE(field, text, usual, words) finishedTrace = text
#define READ(kind, NAME, field, usual, handed, words, description) \
  READ_##kind(lt_settings.field, value_of(environment, LT_SETTING_PREFIX #NAME), usual, words);

void lt_environment_read(char **environment) {
  struct lt_settings *s = &lt_settings;
  const char *finishedTrace = NULL;
  LT_SETTINGS(READ)
  apply_rules(s);

  LT_CHECK(are_settings_valid(s));
  LT_CHECK((s->outputError == 0) == (s->output[0] == '/') && s->outputError <= 0);
  if (finishedTrace && *finishedTrace) {
    // The program that this one replaced left its live file for this program to remove.
    lt_trace_finish_replaced(finishedTrace);
    *(char *)finishedTrace = 0; // the variables stay in the environment if children are followed
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

/// Writes the word with this index. `words`: separated by '|'.
static char *put_choice(char *p, const char *words, uint8_t index) {
  for (; index; index--) words += strcspn(words, "|") + 1;
  size_t length = strcspn(words, "|");
  memcpy(p, words, length);
  p[length] = 0;
  return p + length;
}

// Macros that write a value of each kind.
#define PUT_PATTERN(p, field, words) put(p, field)
#define PUT_TEXT(p, field, words) put(p, field)
#define PUT_NUMBER(p, field, words) lt_put_number(p, field, 10)
#define PUT_HEXADECIMAL(p, field, words) lt_put_number(p, field, 16)
#define PUT_SECONDS(p, field, words) lt_put_number(p, field / NANOSECONDS, 10)
#define PUT_FLAG(p, field, words) put(p, field ? "1" : "0")
#define PUT_SWITCH(p, field, words) put(p, field ? "on" : "off")
#define PUT_CHOICE(p, field, words) put_choice(p, words, field)
#define PUT_FINISHED_TRACE(p, field, words) put(p, finishedTrace)

// The most bytes of a value of each kind, with the final 0.
#define SIZE_PATTERN(field, words) (strlen(field) + 1)
#define SIZE_TEXT(field, words) (strlen(field) + 1)
#define SIZE_NUMBER(field, words) sizeof "18446744073709551615"
#define SIZE_HEXADECIMAL(field, words) sizeof "ffffffffffffffff"
#define SIZE_SECONDS(field, words) sizeof "18446744073709551615"
#define SIZE_FLAG(field, words) sizeof "1"
#define SIZE_SWITCH(field, words) sizeof "off"
#define SIZE_CHOICE(field, words) sizeof words
#define SIZE_FINISHED_TRACE(field, words) (finishedTrace ? strlen(finishedTrace) + 1 : 0)
#define SIZE(kind, NAME, field, usual, handed, words, description) \
  +sizeof LT_SETTING_PREFIX #NAME "=" + SIZE_##kind(lt_settings.field, words)

// Whether a child gets the variable.
#define IS_HANDED_ALWAYS(field, usual) true
#define IS_HANDED_UNLESS_USUAL(field, usual) (field != usual)
#define IS_HANDED_UNLESS_EMPTY(field, usual) (*field != 0)
#define IS_HANDED_IF_SAMPLED(field, usual) (lt_settings.samplePeriod || lt_settings.traceLimit)
#define IS_HANDED_IF_FINISHED(field, usual) (finishedTrace != NULL)
#define ADD(kind, NAME, field, usual, handed, words, description) \
  if (IS_HANDED_##handed(lt_settings.field, usual)) {             \
    *to++ = text;                                                 \
    text = put(text, LT_SETTING_PREFIX #NAME "=");                \
    text = PUT_##kind(text, lt_settings.field, words) + 1;        \
  }

char **lt_environment_for_child(char *const environment[], bool isTraced, const char *finishedTrace) {
  if (!lt_settings.preload[0]) return (char **)environment;
  size_t count = 0, preloadLength = 0;
  for (char *const *e = environment; e && *e; e++, count++)
    if (strncmp(*e, preloadPrefix, sizeof preloadPrefix - 1) == 0) preloadLength = strlen(*e);
  enum { OWN_COUNT = LT_SETTING_COUNT + 1 }; // and LD_PRELOAD
  size_t ownLength = sizeof preloadPrefix + strlen(lt_settings.preload) + sizeof ":" LT_SETTINGS(SIZE);
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
    LT_SETTINGS(ADD)
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
  /// thread, or child made by vfork; 0 if the place is free. The exchange in `claim` pairs with the stores of 0
  _Atomic pid_t user;
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

/// True if the user will not return the block. Such a user is a child made by vfork that now runs another program or
/// has ended. The thread that called vfork continues only after that.
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
