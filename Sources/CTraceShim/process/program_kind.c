#define _GNU_SOURCE
#include "process/program_kind.h"

#include "check.h"
#include "os/os.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
  PATH_LIMIT = 512, ///< longer paths are not examined: this code may run on a small stack
  SCRIPT_LIMIT = 5, ///< levels of interpreters that the kernel follows
  HEADER_LIMIT = 64,
  DYNAMIC_LIMIT = 256,
  START_SIZE = 256,
};

static bool read_at(int file, void *to, size_t size, uint64_t offset) {
  return lt_syscall6(SYS_pread64, file, (long)to, (long)size, (long)offset, 0, 0) == (long)size;
}

static bool has_musl(int file, const Elf64_Phdr *header) {
  char loader[128];
  size_t size = header->p_filesz < sizeof loader ? header->p_filesz : sizeof loader;
  if (size == 0 || !read_at(file, loader, size, header->p_offset)) return false;
  loader[size - 1] = 0;
  const char *slash = strrchr(loader, '/');
  return strncmp(slash ? slash + 1 : loader, "ld-musl", 7) == 0;
}

/// The contents of a dynamic section that matter here.
struct dynamic {
  uint64_t offset, size;
  bool isProgram;
  uint64_t strings;
}; // `strings` is an address

static bool entry_at(int file, const struct dynamic *d, unsigned i, Elf64_Dyn *entry) {
  return i < DYNAMIC_LIMIT && (i + 1) * sizeof *entry <= d->size &&
         read_at(file, entry, sizeof *entry, d->offset + i * sizeof *entry) && entry->d_tag != DT_NULL;
}

static void read_dynamic(int file, struct dynamic *d) {
  Elf64_Dyn entry;
  for (unsigned i = 0; entry_at(file, d, i, &entry); i++) {
    // An object that needs no loader is a program if it has DF_1_PIE. The loader itself can be executed, too, but does
    // not have the flag.
    if (entry.d_tag == DT_FLAGS_1) d->isProgram = entry.d_un.d_val & DF_1_PIE;
    if (entry.d_tag == DT_STRTAB) d->strings = entry.d_un.d_ptr;
  }
}

/// True if the program uses the address sanitizer as a shared library. The sanitizer ends the program if another
/// library is preloaded before it.
static bool needs_to_be_first(int file, const struct dynamic *d, uint64_t strings) {
  static const char *const names[] = {"libasan.so", "libclang_rt.asan"};
  Elf64_Dyn entry;
  char name[17] = "";
  for (unsigned i = 0; entry_at(file, d, i, &entry); i++) {
    if (entry.d_tag != DT_NEEDED || !read_at(file, name, sizeof name - 1, strings + entry.d_un.d_val)) continue;
    for (unsigned k = 0; k < sizeof names / sizeof *names; k++)
      if (strncmp(name, names[k], strlen(names[k])) == 0) return true;
  }
  return false;
}

static enum lt_program_kind kind_of_elf(int file, const Elf64_Ehdr *elf) {
  if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_ident[EI_DATA] != ELFDATA2LSB || elf->e_machine != LT_ELF_MACHINE)
    return LT_PROGRAM_FOREIGN;
  if (elf->e_phentsize != sizeof(Elf64_Phdr)) return LT_PROGRAM_PRELOADS;
  bool hasLoader = false;
  struct dynamic d = {0};
  Elf64_Phdr header;
  for (unsigned i = 0; i < elf->e_phnum && i < HEADER_LIMIT; i++) {
    if (!read_at(file, &header, sizeof header, elf->e_phoff + i * sizeof header)) return LT_PROGRAM_PRELOADS;
    if (header.p_type == PT_INTERP) {
      if (has_musl(file, &header)) return LT_PROGRAM_FOREIGN;
      hasLoader = true;
    } else if (header.p_type == PT_DYNAMIC) {
      d = (struct dynamic){.offset = header.p_offset, .size = header.p_filesz};
      read_dynamic(file, &d);
    }
  }
  if (!hasLoader) return d.isProgram || elf->e_type == ET_EXEC ? LT_PROGRAM_STATIC : LT_PROGRAM_PRELOADS;
  for (unsigned i = 0; i < elf->e_phnum && i < HEADER_LIMIT; i++) {
    if (!read_at(file, &header, sizeof header, elf->e_phoff + i * sizeof header)) return LT_PROGRAM_PRELOADS;
    if (header.p_type != PT_LOAD || d.strings - header.p_vaddr >= header.p_filesz) continue;
    return needs_to_be_first(file, &d, d.strings - header.p_vaddr + header.p_offset) ? LT_PROGRAM_FOREIGN
                                                                                     : LT_PROGRAM_PRELOADS;
  }
  return LT_PROGRAM_PRELOADS;
}

/// Copies the interpreter's path from a script's first line, as the kernel reads it; "" if there is none.
static void find_interpreter(const char *start, long size, char *to) {
  long i = 2, n = 0;
  while (i < size && (start[i] == ' ' || start[i] == '\t')) i++;
  while (i < size && start[i] != ' ' && start[i] != '\t' && start[i] != '\n' && start[i]) to[n++] = start[i++];
  LT_CHECK(n < START_SIZE);
  to[n] = 0;
}

/// Returns the kind of an open file. For a script, stores the interpreter's path in `interpreter`, and the result has
/// no meaning.
static enum lt_program_kind kind_of_file(int file, char interpreter[START_SIZE]) {
  union {
    char text[START_SIZE];
    Elf64_Ehdr elf;
  } start;
  long size = lt_syscall6(SYS_pread64, file, (long)&start, sizeof start, 0, 0, 0);
  *interpreter = 0;
  if (size >= 2 && memcmp(start.text, "#!", 2) == 0) find_interpreter(start.text, size, interpreter);
  else if (size >= (long)sizeof start.elf && memcmp(start.elf.e_ident, ELFMAG, SELFMAG) == 0)
    return kind_of_elf(file, &start.elf);
  return LT_PROGRAM_PRELOADS;
}

enum lt_program_kind lt_program_kind_at(const char *path) {
  char interpreter[START_SIZE];
  enum lt_program_kind kind = LT_PROGRAM_PRELOADS;
  for (int level = 0; level < SCRIPT_LIMIT; level++, path = interpreter) {
    // Open only regular files: to open any other file may block or have side effects.
    struct stat info;
    if (lt_syscall6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&info, 0, 0, 0) != 0 || !S_ISREG(info.st_mode) ||
        lt_syscall(SYS_faccessat, AT_FDCWD, path, X_OK) != 0)
      return LT_PROGRAM_MISSING;
    int file = lt_open(path, O_RDONLY | O_NONBLOCK, 0);
    if (file < 0) break;
    kind = kind_of_file(file, interpreter);
    lt_close(file);
    if (!*interpreter) break;
  }
  return kind;
}

static const char *search_path(void) {
  for (char **e = environ; e && *e; e++)
    if (strncmp(*e, "PATH=", 5) == 0) return *e + 5;
  return "/bin:/usr/bin";
}

enum lt_program_kind lt_program_kind_named(const char *file) {
  if (!file || strchr(file, '/')) return lt_program_kind_at(file);
  size_t nameLength = strlen(file);
  char path[PATH_LIMIT];
  for (const char *directory = search_path(); nameLength > 0; directory++) {
    size_t length = strcspn(directory, ":");
    if (length + nameLength + 2 > sizeof path) return LT_PROGRAM_PRELOADS;
    LT_CHECK(length + 1 + nameLength + 1 <= sizeof path);
    memcpy(path, directory, length);
    if (length) path[length] = '/';
    memcpy(path + length + (length > 0), file, nameLength + 1);
    if (lt_syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0) return lt_program_kind_at(path);
    directory += length;
    if (!*directory) break;
  }
  return LT_PROGRAM_MISSING;
}

enum lt_program_kind lt_program_kind_of_descriptor(int descriptor) {
  char interpreter[START_SIZE];
  enum lt_program_kind kind = kind_of_file(descriptor, interpreter);
  return *interpreter ? lt_program_kind_at(interpreter) : kind;
}
