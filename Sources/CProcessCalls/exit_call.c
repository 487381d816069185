// Finds libc's `_exit` in another process, by the dynamic symbols in that process's memory.

#define _GNU_SOURCE
#include "exit_call.h"

#include "processor/processor.h"

#if LT_CAN_STOP_THREADS

#include <elf.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>

enum {
  LINE_SIZE = 4608, // a path has 4,096 bytes at most
  MAX_PROGRAM_HEADERS = 64,
  MAX_DYNAMIC_ENTRIES = 256,
  MAX_SYMBOLS = 1 << 16,
  FUNCTION_SIZE = 128, // the most bytes of `_exit` that are read; it has 70 in glibc 2.36
  NAME_SIZE = 6,       // "_exit" and its end
};

static bool read_at(pid_t process, uint64_t address, void *into, size_t size) {
  struct iovec local = {into, size}, remote = {(void *)address, size};
  return process_vm_readv(process, &local, 1, &remote, 1, 0) == (ssize_t)size;
}

/// Returns the address where libc begins; 0 if there is none. Knows the current and former file names of glibc.
static uint64_t find_libc(pid_t process) {
  char path[64], line[LINE_SIZE];
  snprintf(path, sizeof path, "/proc/%d/maps", process);
  FILE *maps = fopen(path, "re");
  if (maps == NULL) return 0;
  uint64_t found = 0;
  while (found == 0 && fgets(line, sizeof line, maps)) {
    unsigned long begin, offset;
    const char *name = strrchr(line, '/');
    if (name == NULL || sscanf(line, "%lx-%*x %*s %lx", &begin, &offset) != 2 || offset != 0) continue;
    if (strncmp(name, "/libc.so.6", 10) == 0 || strncmp(name, "/libc-2.", 8) == 0) found = begin;
  }
  fclose(maps);
  return found;
}

struct symbols {
  uint64_t table, names;
  uint64_t namesSize;
};

/// Finds the dynamic symbols. The dynamic loader may have replaced the offsets in the dynamic entries by addresses.
static bool find_symbols(pid_t process, uint64_t base, struct symbols *symbols) {
  Elf64_Ehdr header;
  Elf64_Phdr programHeaders[MAX_PROGRAM_HEADERS];
  if (!read_at(process, base, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0 ||
      header.e_machine != LT_ELF_MACHINE || header.e_phnum > MAX_PROGRAM_HEADERS)
    return false;
  if (!read_at(process, base + header.e_phoff, programHeaders, header.e_phnum * sizeof *programHeaders)) return false;
  for (size_t i = 0; i < header.e_phnum; i++) {
    if (programHeaders[i].p_type != PT_DYNAMIC) continue;
    for (size_t entry = 0; entry < MAX_DYNAMIC_ENTRIES; entry++) {
      Elf64_Dyn dynamic;
      uint64_t address = base + programHeaders[i].p_vaddr + entry * sizeof dynamic;
      if (!read_at(process, address, &dynamic, sizeof dynamic) || dynamic.d_tag == DT_NULL) break;
      if (dynamic.d_tag == DT_SYMTAB) symbols->table = dynamic.d_un.d_ptr;
      if (dynamic.d_tag == DT_STRTAB) symbols->names = dynamic.d_un.d_ptr;
      if (dynamic.d_tag == DT_STRSZ) symbols->namesSize = dynamic.d_un.d_val;
    }
  }
  if (symbols->table < base) symbols->table += base;
  if (symbols->names < base) symbols->names += base;
  return symbols->namesSize != 0;
}

uint64_t lt_find_exit_call(pid_t process) {
  uint64_t base = find_libc(process);
  struct symbols symbols = {0};
  if (base == 0 || !find_symbols(process, base, &symbols)) return 0;
  for (size_t i = 1; i < MAX_SYMBOLS; i++) {
    Elf64_Sym symbol;
    char name[NAME_SIZE];
    if (!read_at(process, symbols.table + i * sizeof symbol, &symbol, sizeof symbol)) return 0;
    if (ELF64_ST_TYPE(symbol.st_info) != STT_FUNC || symbol.st_size == 0 || symbol.st_name >= symbols.namesSize)
      continue;
    if (!read_at(process, symbols.names + symbol.st_name, name, sizeof name) || memcmp(name, "_exit", sizeof name) != 0)
      continue;
    unsigned char code[FUNCTION_SIZE];
    size_t size = symbol.st_size < sizeof code ? symbol.st_size : sizeof code;
    if (!read_at(process, base + symbol.st_value, code, size)) return 0;
    size_t at = lt_last_call_in(code, size);
    return at < size ? base + symbol.st_value + at : 0;
  }
  return 0;
}

#endif
