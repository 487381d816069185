// Finds the names of functions in the files that are mapped, and makes them readable in a copy of the process.

#define _GNU_SOURCE
#include "profile/function_names.h"

#include "CTraceFormat.h"
#include "check.h"
#include "elf/elf_image.h"
#include "image/snapshot_writer.h"
#include "image/thread_freeze.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"
#include "os/process_info.h"
#include "swift/swift_runtime.h"
#include "thread/thread_state.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <link.h>
#include <sched.h>
#include <signal.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/wait.h>

// === mapped code =====================================================================================================

// Reads /proc/thread-self/maps. /proc/self/maps belongs to the main thread, which may have ended.

enum {
  MAPS_TEXT_SIZE = 1 << 20,
  LINE_SIZE = PATH_MAX + 128,
  READ_SIZE = 4096,
};

static const char *read_number(const char *p, uint64_t *value) {
  *value = 0;
  for (;; p++) {
    unsigned digit = *p >= '0' && *p <= '9' ? (unsigned)(*p - '0') : *p >= 'a' && *p <= 'f' ? *p - 'a' + 10u : 16u;
    if (digit == 16) return p;
    *value = *value << 4 | digit;
  }
}

static const char *after_spaces(const char *p) {
  while (*p == ' ') p++;
  return p;
}

static const char *after_word(const char *p) {
  while (*p && *p != ' ') p++;
  return after_spaces(p);
}

// --- an image's header -----------------------------------------------------------------------------------------------

static void read_build_id(struct lt_code_map *map, uint64_t address, uint64_t size) {
  enum { NOTES_SIZE = 4096 };
  static uint8_t notes[NOTES_SIZE]; // one list is read at a time
  if (size > NOTES_SIZE || size < 16 || !lt_read_bytes(&lt_own_memory, address, notes, size)) return;
  for (uint64_t at = 0; at + 12 <= size;) {
    uint32_t head[3]; // size of the name, size of the contents, kind
    memcpy(head, notes + at, sizeof head);
    uint64_t name = at + 12, contents = name + ((head[0] + 3ull) & ~3ull), next = contents + ((head[1] + 3ull) & ~3ull);
    if (next > size) return;
    if (head[2] == NT_GNU_BUILD_ID && head[0] == 4 && memcmp(notes + name, "GNU", 4) == 0 &&
        head[1] <= LT_BUILD_ID_LIMIT) {
      LT_CHECK(contents + head[1] <= size);
      memcpy(map->buildID, notes + contents, head[1]);
      map->buildIDSize = head[1];
      return;
    }
    at = next;
  }
}

/// Finds the bias and the build ID in the mapped beginning of the file. Sets `base` to 0 if there is no bias.
static void read_header(struct lt_code_map *map) {
  ElfW(Ehdr) header;
  if (!map->base || !lt_read_bytes(&lt_own_memory, map->base, &header, sizeof header) ||
      memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 || header.e_phentsize != sizeof(ElfW(Phdr)) ||
      header.e_phoff + (uint64_t)header.e_phnum * sizeof(ElfW(Phdr)) > 4096) {
    map->base = 0;
    return;
  }
  bool hasBias = false;
  for (int pass = 0; pass < 2; pass++) {
    for (unsigned i = 0; i < header.e_phnum; i++) {
      ElfW(Phdr) part;
      if (!lt_read_bytes(&lt_own_memory, map->base + header.e_phoff + i * sizeof part, &part, sizeof part)) return;
      if (pass == 0 && part.p_type == PT_LOAD && part.p_offset == 0 && !hasBias) {
        map->bias = map->base - part.p_vaddr;
        hasBias = true;
      }
      if (pass == 1 && part.p_type == PT_NOTE && !map->buildIDSize)
        read_build_id(map, map->bias + part.p_vaddr, part.p_filesz);
    }
    if (!hasBias) {
      map->base = 0;
      return;
    }
  }
}

// --- the list --------------------------------------------------------------------------------------------------------

struct reading {
  struct lt_code_maps *maps;
  const char *lastPath; ///< the path of the last line that had one, in `maps->text`
  uint64_t lastBase;
};

static void take_line(struct reading *reading, const char *line) {
  struct lt_code_maps *maps = reading->maps;
  uint64_t start, end, offset;
  const char *p = read_number(line, &start);
  if (*p != '-') return;
  p = read_number(p + 1, &end);
  const char *rights = after_spaces(p);
  if (strlen(rights) < 5) return;
  p = read_number(after_word(rights), &offset);
  const char *path = after_word(after_word(after_spaces(p)));
  if (*path != '/') return;
  if (!reading->lastPath || strcmp(reading->lastPath, path) != 0) {
    size_t size = strlen(path) + 1;
    if (size > MAPS_TEXT_SIZE - maps->textSize) return;
    LT_CHECK(maps->textSize + size <= MAPS_TEXT_SIZE);
    memcpy(maps->text + maps->textSize, path, size);
    reading->lastPath = maps->text + maps->textSize;
    reading->lastBase = 0;
    maps->textSize += size;
  }
  if (offset == 0 && rights[0] == 'r') reading->lastBase = start;
  if (rights[2] != 'x' || maps->count == LT_CODE_MAP_LIMIT) return;
  struct lt_code_map *map = &maps->maps[maps->count++];
  LT_CHECK(maps->count <= LT_CODE_MAP_LIMIT && reading->lastPath);
  *map = (struct lt_code_map){
      .start = start, .end = end, .offset = offset, .base = reading->lastBase, .path = reading->lastPath};
  read_header(map);
  LT_CHECK(map->buildIDSize <= LT_BUILD_ID_LIMIT);
  maps->hash = (maps->hash ^ start ^ end << 1) * LT_HASH_MULTIPLIER;
  for (const char *c = map->path; *c; c++) maps->hash = (maps->hash ^ (uint8_t)*c) * LT_HASH_MULTIPLIER;
  for (uint32_t i = 0; i < map->buildIDSize; i++) maps->hash = (maps->hash ^ map->buildID[i]) * LT_HASH_MULTIPLIER;
}

bool lt_code_maps_read(struct lt_code_maps *maps) {
  *maps = (struct lt_code_maps){.maps = lt_map_private(LT_CODE_MAP_LIMIT * sizeof *maps->maps),
                                .text = lt_map_private(MAPS_TEXT_SIZE)};
  char *line = lt_map_private(LINE_SIZE), *read = lt_map_private(READ_SIZE);
  int file = maps->maps && maps->text && line && read ? lt_open("/proc/thread-self/maps", O_RDONLY, 0) : -1;
  struct reading reading = {.maps = maps};
  size_t length = 0;
  for (long n; file >= 0 && (n = lt_read(file, read, READ_SIZE)) > 0;) {
    for (long i = 0; i < n; i++) {
      if (read[i] != '\n') {
        if (length + 1 < LINE_SIZE) line[length++] = read[i];
        continue;
      }
      line[length] = 0;
      LT_CHECK(length < LINE_SIZE);
      take_line(&reading, line);
      length = 0;
    }
  }
  if (file >= 0) lt_close(file);
  if (line) lt_unmap(line, LINE_SIZE);
  if (read) lt_unmap(read, READ_SIZE);
  return file >= 0 && maps->count > 0;
}

void lt_code_maps_free(struct lt_code_maps *maps) {
  if (maps->maps) lt_unmap(maps->maps, LT_CODE_MAP_LIMIT * sizeof *maps->maps);
  if (maps->text) lt_unmap(maps->text, MAPS_TEXT_SIZE);
}

const struct lt_code_map *lt_code_map_at(const struct lt_code_maps *maps, uint64_t address) {
  uint32_t low = 0, high = maps->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (maps->maps[middle].end <= address) low = middle + 1;
    else high = middle;
  }
  return low < maps->count && maps->maps[low].start <= address ? &maps->maps[low] : NULL;
}

// === the copy's allocator ============================================================================================

enum {
  SIZE = 64 << 20, ///< only its used pages are resident
  MANY = 1 << 20,
  HEAD = 16, ///< bytes before a block, which hold its size
};

static struct {
  uint8_t *memory;
  size_t used; ///< at most SIZE
} arena;

void *lt_copy_aligned(size_t alignment, size_t size) {
  if (!arena.memory) arena.memory = lt_map_private(SIZE);
  if (alignment < HEAD) alignment = HEAD;
  if (!arena.memory || alignment > SIZE || size > SIZE) return NULL;
  size_t start = (arena.used + HEAD + alignment - 1) & ~(alignment - 1);
  if (start > SIZE || size > SIZE - start) return NULL;
  arena.used = start + size;
  LT_CHECK(arena.used <= SIZE && start >= HEAD && start % alignment == 0);
  memcpy(arena.memory + start - HEAD, &size, sizeof size);
  return arena.memory + start;
}

void *lt_copy_malloc(size_t size) { return lt_copy_aligned(HEAD, size); }

void *lt_copy_calloc(size_t count, size_t size) {
  size_t total;
  void *block = __builtin_mul_overflow(count, size, &total) ? NULL : lt_copy_malloc(total);
  return block ? memset(block, 0, total) : NULL;
}

void *lt_copy_realloc(void *block, size_t size) {
  void *made = lt_copy_malloc(size);
  // The process's own blocks belong to another allocator, so their sizes are unknown.
  if (!made || !block || (uint8_t *)block < arena.memory || (uint8_t *)block >= arena.memory + SIZE)
    return block ? NULL : made;
  size_t before;
  memcpy(&before, (uint8_t *)block - HEAD, sizeof before);
  LT_CHECK(before <= SIZE && (uint8_t *)block - arena.memory + before <= SIZE);
  return memcpy(made, block, before < size ? before : size);
}

void lt_copy_free(void *block) { (void)block; }

int lt_copy_posix_memalign(void **block, size_t alignment, size_t size) {
  *block = lt_copy_aligned(alignment, size);
  return *block ? 0 : ENOMEM;
}

void lt_copy_allocator_rewind(void) {
  if (arena.used > MANY) arena.used = 0;
}

// === names ===========================================================================================================

enum {
  PLACE_COUNT = 1 << 17, ///< for addresses and beginnings of functions; at most two thirds are used
  PLACE_LIMIT = PLACE_COUNT / 3 * 2,
  TEXT_SIZE = 16 << 20, ///< of names; only the used bytes are touched
  NAME_LIMIT = 4096,    ///< bytes of a name
  COPY_STACK_SIZE = 4 << 20,
  COPY_SECONDS = 30,
  FAILURE_LIMIT = 5, ///< after this many copies that did not finish, no more copies are made
  MILLISECOND = 1000000,
};
/// This bit is set in the key of a function's beginning. It is clear in the key of an address that is looked up.
#define BEGINNING (1ull << 63)

/// A place in the table of names. The table is shared with the copy, which fills it in.
struct place {
  _Atomic uint64_t address; ///< 0 if the place is free. Written last, and only once
  uint32_t function;
};
struct names {
  uint64_t hash;                                ///< of the mappings that the names belong to
  uint32_t placesUsed, functionCount, textSize; ///< below PLACE_LIMIT + 1, LT_FUNCTION_LIMIT and TEXT_SIZE + 1
  uint32_t isFinished;                          ///< the last copy has found all names
  struct place places[PLACE_COUNT];
  struct lt_function functions[LT_FUNCTION_LIMIT];
  char text[TEXT_SIZE];
};

static struct {
  struct names *table;
  void (*useOwnAllocator)(void);
  _Atomic pid_t copy;
  int failures;
} naming;

void lt_function_names_init(void (*use)(void)) { naming.useOwnAllocator = use; }

bool lt_function_names_is_helper(pid_t child) { return child > 0 && child == atomic_load(&naming.copy); }

void lt_function_names_reset_after_fork(void) {
  naming.table = NULL;
  naming.failures = 0;
  atomic_store(&naming.copy, 0);
}

// --- the table -------------------------------------------------------------------------------------------------------

/// True if the counts are within the table.
LT_INVARIANT bool are_names_valid(void) {
  return naming.table && naming.table->placesUsed <= PLACE_LIMIT && naming.table->functionCount < LT_FUNCTION_LIMIT &&
         naming.table->textSize >= 1 && naming.table->textSize <= TEXT_SIZE;
}

/// The place of an address, or the free place where it belongs; NULL if all places are used.
static struct place *place_of(uint64_t address) {
  LT_CHECK(address != 0 && are_names_valid());
  uint32_t first = (uint32_t)(address * LT_HASH_MULTIPLIER >> 40);
  for (uint32_t i = 0; i < PLACE_COUNT; i++) {
    struct place *place = &naming.table->places[(first + i) % PLACE_COUNT];
    uint64_t known = atomic_load_explicit(&place->address, memory_order_acquire);
    if (known == address || !known) return place;
  }
  return NULL;
}

/// True if the address was looked up before. A stack that was cut begins with the address 0, which has no function and
/// counts as known.
static bool is_known(uint64_t address) {
  if (!address) return true;
  struct place *place = place_of(address);
  return place && atomic_load(&place->address) == address;
}

static void set(uint64_t address, uint32_t function) {
  struct place *place = naming.table->placesUsed < PLACE_LIMIT ? place_of(address) : NULL;
  if (!place) return;
  LT_CHECK(function <= naming.table->functionCount && atomic_load(&place->address) == 0);
  naming.table->placesUsed++;
  place->function = function;
  // Release: pairs with the acquire in place_of.
  atomic_store_explicit(&place->address, address, memory_order_release);
}

uint32_t lt_function_at(uint64_t address) {
  struct place *place = naming.table && address ? place_of(address) : NULL;
  return place && atomic_load(&place->address) == address ? place->function : LT_FUNCTION_NONE;
}

const struct lt_function *lt_function(uint32_t number) {
  LT_CHECK(number > LT_FUNCTION_NONE && number <= naming.table->functionCount);
  return &naming.table->functions[number];
}
const char *lt_function_text(uint32_t offset) {
  LT_CHECK(offset > 0 && offset < naming.table->textSize);
  return naming.table->text + offset;
}

static uint32_t add_text(const char *text) {
  size_t length = strnlen(text, NAME_LIMIT);
  if (length + 1 > TEXT_SIZE - naming.table->textSize) return 0;
  uint32_t offset = naming.table->textSize;
  LT_CHECK(are_names_valid() && offset + length < TEXT_SIZE);
  memcpy(naming.table->text + offset, text, length);
  naming.table->text[offset + length] = 0;
  naming.table->textSize += (uint32_t)length + 1;
  return offset;
}

// --- in the copy -----------------------------------------------------------------------------------------------------

typedef char *demangle(const char *mangled, size_t length, char *to, size_t *size, uint32_t flags);

struct sought {
  const char *name;
  uint64_t address;
};

static void look_for(void *sought, const ElfW(Sym) *symbol, const char *name) {
  struct sought *s = sought;
  if (!s->address && name[0] == s->name[0] && strcmp(name, s->name) == 0) s->address = symbol->st_value;
}

/// Opens the file of a mapping. False if the file at that path is no longer the mapped one.
static bool open_file(const struct lt_code_map *map, struct lt_elf_file *file) {
  if (!map->base || !lt_elf_open(map->path, file)) return false;
  if (lt_elf_is_image(file, map->base)) return true;
  lt_elf_close(file);
  return false;
}

static bool ends_with(const char *text, const char *end) {
  size_t length = strlen(text), n = strlen(end);
  return length >= n && strcmp(text + length - n, end) == 0;
}

/// Finds the runtime's function swift_demangle in the runtime's library, or in the program if it contains the runtime.
/// The program's mapping is the first in the list.
static demangle *find_demangle(const struct lt_code_maps *maps) {
  for (uint32_t i = maps->count; i-- > 0;) {
    struct lt_elf_file file;
    if ((i > 0 && !ends_with(maps->maps[i].path, "/libswiftCore.so")) || !open_file(&maps->maps[i], &file)) continue;
    struct sought sought = {.name = "swift_demangle"};
    lt_elf_visit_symbols(&file, look_for, &sought);
    lt_elf_close(&file);
    if (sought.address) return (demangle *)(uintptr_t)(maps->maps[i].bias + sought.address);
  }
  return NULL;
}

/// True if the symbol is a mangled Swift name. The prefix is `$s` in Swift 5, `$S` in 4.2, and `_T0` in 4. Source:
/// docs/ABI/Mangling.rst of the Swift project.
static bool is_mangled(const char *symbol) {
  return strncmp(symbol, "$s", 2) == 0 || strncmp(symbol, "$S", 2) == 0 || strncmp(symbol, "_T0", 3) == 0;
}

/// A search for the functions in one mapping that contain the addresses.
struct lookup {
  const struct lt_code_map *map;
  const uint64_t *addresses; ///< in `map`, sorted
  uint32_t count;
  struct hit {
    uint64_t start; ///< of the function, as in the file
    const char *symbol;
  } * hits; ///< for each address
};

static void take_symbol(void *lookup, const ElfW(Sym) *symbol, const char *name) {
  struct lookup *l = lookup;
  unsigned kind = ELF64_ST_TYPE(symbol->st_info);
  if ((kind != STT_FUNC && kind != STT_GNU_IFUNC) || !symbol->st_size || !*name) return;
  uint64_t start = l->map->bias + symbol->st_value, end = start + symbol->st_size;
  uint32_t low = 0, high = l->count;
  while (low < high) {
    uint32_t middle = low + (high - low) / 2;
    if (l->addresses[middle] < start) low = middle + 1;
    else high = middle;
  }
  LT_CHECK(low == l->count || l->addresses[low] >= start);
  for (; low < l->count && l->addresses[low] < end; low++)
    if (!l->hits[low].symbol) l->hits[low] = (struct hit){symbol->st_value, name};
}

/// Returns the function's number. Adds the function if it is new. The table is valid after every step, since `demangle`
/// may crash the copy.
static uint32_t function_of(const struct lookup *l, const struct hit *hit, demangle *demangle) {
  uint64_t start = l->map->bias + hit->start;
  struct place *place = place_of(start | BEGINNING);
  if (!place) return LT_FUNCTION_NONE;
  if (atomic_load(&place->address)) return place->function;
  if (naming.table->functionCount + 1 >= LT_FUNCTION_LIMIT || naming.table->placesUsed >= PLACE_LIMIT)
    return LT_FUNCTION_NONE;
  uint32_t number = ++naming.table->functionCount, symbol = add_text(hit->symbol);
  if (!symbol) return LT_FUNCTION_NONE;
  struct lt_function *function = &naming.table->functions[number];
  LT_CHECK(number < LT_FUNCTION_LIMIT);
  *function = (struct lt_function){start, symbol, symbol};
  set(start | BEGINNING, number);
  char *readable =
      demangle && is_mangled(hit->symbol) ? demangle(hit->symbol, strlen(hit->symbol), NULL, NULL, 0) : NULL;
  uint32_t name = readable ? add_text(readable) : 0;
  if (name) function->name = name;
  lt_copy_allocator_rewind();
  return number;
}

static void find_names(const struct lt_code_maps *maps, const uint64_t *addresses, uint32_t count) {
  struct hit *hits = lt_map_private(count * sizeof *hits);
  demangle *demangle = find_demangle(maps);
  for (uint32_t i = 0, end; hits && i < count; i = end) {
    const struct lt_code_map *map = lt_code_map_at(maps, addresses[i]);
    LT_CHECK(i == 0 || addresses[i - 1] < addresses[i]);
    for (end = i + 1; map && end < count && addresses[end] < map->end;) end++;
    struct lookup lookup = {.map = map, .addresses = addresses + i, .count = end - i, .hits = hits + i};
    struct lt_elf_file file;
    bool isOpen = map && open_file(map, &file);
    if (isOpen) lt_elf_visit_symbols(&file, take_symbol, &lookup);
    for (uint32_t k = i; k < end; k++)
      set(addresses[k], hits[k].symbol ? function_of(&lookup, &hits[k], demangle) : LT_FUNCTION_NONE);
    if (isOpen) lt_elf_close(&file);
  }
  naming.table->isFinished = 1;
}

struct task {
  const struct lt_code_maps *maps;
  const uint64_t *addresses;
  uint32_t count;
};

/// The copy's main function. It runs with the thread-local memory of the thread that began the task, as it was when the
/// copy was made.
static void run_copy(void *task) {
  const struct task *t = task;
  // End together with the process that made this copy. Without that process, the copy may wait for a lock that is never
  // released.
  lt_syscall6(SYS_prctl, PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0, 0);
  lt_snapshot_set_expendable();
  lt_isolated_task_set_single();
  if (lt_is_readable(lt_thread_pointer()) && lt_is_readable((uintptr_t)&lt_tls)) {
    lt_tls.hookDepth = 1;
    naming.useOwnAllocator();
    find_names(t->maps, t->addresses, t->count);
  }
  for (;;) lt_syscall(SYS_exit_group, 0, 0, 0);
}

// --- in the process --------------------------------------------------------------------------------------------------

/// Makes the copy, and waits for its end. False if the copy did not find all names. If the copy was killed, the name
/// that it was working on may be missing.
static bool call_in_copy(struct task *task) {
  uint8_t *stack = lt_map_private(COPY_STACK_SIZE);
  if (!stack) return false;
  LT_CHECK(atomic_load(&naming.copy) == 0 && task->count > 0);
  naming.table->isFinished = 0;
  long made = lt_clone_call(CLONE_UNTRACED, stack + COPY_STACK_SIZE, run_copy, task, NULL, 0);
  if (made > 0) atomic_store(&naming.copy, (pid_t)made);
  uint64_t deadline = lt_clock_nanoseconds(CLOCK_MONOTONIC) + COPY_SECONDS * 1000ull * MILLISECOND;
  bool isKilled = false;
  while (made > 0) {
    long result = lt_reap((pid_t)made, WNOHANG);
    if (result != 0 && result != -EINTR) break;
    if (!isKilled && lt_clock_nanoseconds(CLOCK_MONOTONIC) > deadline) {
      lt_syscall(SYS_tgkill, made, made, SIGKILL);
      isKilled = true;
    }
    lt_sleep(MILLISECOND);
  }
  atomic_store(&naming.copy, 0);
  lt_unmap(stack, COPY_STACK_SIZE);
  return made > 0 && naming.table->isFinished;
}

static void sift_down(uint64_t *heap, uint32_t root, uint32_t count) {
  for (uint32_t child; (child = 2 * root + 1) < count; root = child) {
    if (child + 1 < count && heap[child + 1] > heap[child]) child++;
    if (heap[root] >= heap[child]) return;
    uint64_t larger = heap[child];
    heap[child] = heap[root];
    heap[root] = larger;
  }
}

/// Heapsort needs no memory, and has no slow case.
static void sort(uint64_t *values, uint32_t count) {
  for (uint32_t i = count / 2; i-- > 0;) sift_down(values, i, count);
  for (uint32_t end = count; end-- > 1;) {
    uint64_t largest = values[0];
    values[0] = values[end];
    values[end] = largest;
    sift_down(values, 0, end);
  }
}

/// Makes the table if there is none, and empties it if its names belong to other mappings. False if there is no memory.
static bool begin(uint64_t hash) {
  if (naming.table && naming.table->hash == hash) return true;
  if (naming.table) lt_unmap(naming.table, sizeof *naming.table);
  naming.table = lt_map_shared(sizeof *naming.table);
  if (!naming.table) return false;
  naming.table->hash = hash;
  naming.table->textSize = 1; // no name has the offset 0
  return true;
}

void lt_function_names_find(const struct lt_code_maps *maps, uint64_t *addresses, uint32_t count) {
  if (!naming.useOwnAllocator || !begin(maps->hash)) return;
  uint32_t unknown = 0;
  for (uint32_t i = 0; i < count; i++)
    if (!is_known(addresses[i])) addresses[unknown++] = addresses[i];
  if (!unknown || naming.failures == FAILURE_LIMIT || lt_children_in_other_pid_ns()) return;
  sort(addresses, unknown);
  LT_CHECK(unknown <= count && addresses[0] <= addresses[unknown - 1]);
  if (!call_in_copy(&(struct task){maps, addresses, unknown})) naming.failures++;
}
