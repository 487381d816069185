#define _GNU_SOURCE
#include "program_kind.h"

#include "os.h"

#include <elf.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <unistd.h>

enum {
  PATH_LIMIT = 512, ///< longer ones are not looked at: this may run on a small stack
  SCRIPT_LIMIT = 5, ///< levels of interpreters that the kernel goes through
  HEADER_LIMIT = 64, DYNAMIC_LIMIT = 256, START_SIZE = 256,
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

/// Whether an object without a loader says that it is a program: the loader itself, which is run with a program's name, does not.
static bool is_program(int file, const Elf64_Phdr *dynamic) {
  Elf64_Dyn entry;
  for (unsigned i = 0; i < DYNAMIC_LIMIT && (i + 1) * sizeof entry <= dynamic->p_filesz; i++) {
    if (!read_at(file, &entry, sizeof entry, dynamic->p_offset + i * sizeof entry) || entry.d_tag == DT_NULL) return false;
    if (entry.d_tag == DT_FLAGS_1) return entry.d_un.d_val & DF_1_PIE;
  }
  return false;
}

static enum lt_program_kind kind_of_elf(int file, const Elf64_Ehdr *elf) {
  if (elf->e_ident[EI_CLASS] != ELFCLASS64 || elf->e_ident[EI_DATA] != ELFDATA2LSB || elf->e_machine != EM_X86_64) return LT_PROGRAM_FOREIGN;
  bool isProgram = elf->e_type == ET_EXEC;
  if (elf->e_phentsize != sizeof(Elf64_Phdr)) return LT_PROGRAM_PRELOADS;
  for (unsigned i = 0; i < elf->e_phnum && i < HEADER_LIMIT; i++) {
    Elf64_Phdr header;
    if (!read_at(file, &header, sizeof header, elf->e_phoff + i * sizeof header)) return LT_PROGRAM_PRELOADS;
    if (header.p_type == PT_INTERP) return has_musl(file, &header) ? LT_PROGRAM_FOREIGN : LT_PROGRAM_PRELOADS;
    if (header.p_type == PT_DYNAMIC) isProgram |= is_program(file, &header);
  }
  return isProgram ? LT_PROGRAM_STATIC : LT_PROGRAM_PRELOADS;
}

/// The interpreter in a script's first line, as the kernel reads it. Empty if there is none.
static void find_interpreter(const char *start, long size, char *to) {
  long i = 2, n = 0;
  while (i < size && (start[i] == ' ' || start[i] == '\t')) i++;
  while (i < size && start[i] != ' ' && start[i] != '\t' && start[i] != '\n' && start[i]) to[n++] = start[i++];
  to[n] = 0;
}

/// Of an open file. Of a script, leaves the interpreter's path in `interpreter`, and says nothing else.
static enum lt_program_kind kind_of_file(int file, char interpreter[START_SIZE]) {
  union { char text[START_SIZE]; Elf64_Ehdr elf; } start;
  long size = lt_syscall6(SYS_pread64, file, (long)&start, sizeof start, 0, 0, 0);
  *interpreter = 0;
  if (size >= 2 && memcmp(start.text, "#!", 2) == 0) find_interpreter(start.text, size, interpreter);
  else if (size >= (long)sizeof start.elf && memcmp(start.elf.e_ident, ELFMAG, SELFMAG) == 0) return kind_of_elf(file, &start.elf);
  return LT_PROGRAM_PRELOADS;
}

enum lt_program_kind lt_program_kind_at(const char *path) {
  char interpreter[START_SIZE];
  enum lt_program_kind kind = LT_PROGRAM_PRELOADS;
  for (int level = 0; level < SCRIPT_LIMIT; level++, path = interpreter) {
    // What is not a file may block, or do something when it is opened.
    struct stat info;
    if (lt_syscall6(SYS_newfstatat, AT_FDCWD, (long)path, (long)&info, 0, 0, 0) != 0 || !S_ISREG(info.st_mode)) break;
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
    memcpy(path, directory, length);
    if (length) path[length] = '/';
    memcpy(path + length + (length > 0), file, nameLength + 1);
    if (lt_syscall(SYS_faccessat, AT_FDCWD, path, X_OK) == 0) return lt_program_kind_at(path);
    directory += length;
    if (!*directory) break;
  }
  return LT_PROGRAM_PRELOADS;
}

enum lt_program_kind lt_program_kind_of_descriptor(int descriptor) {
  char interpreter[START_SIZE];
  enum lt_program_kind kind = kind_of_file(descriptor, interpreter);
  return *interpreter ? lt_program_kind_at(interpreter) : kind;
}
