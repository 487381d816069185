// An ELF file of this machine's kind, mapped to be read: its sections, and the symbols that are not mapped with an
// image.

#ifndef LEAKTRACE_ELF_FILE_H
#define LEAKTRACE_ELF_FILE_H

#include "check.h"

#include <link.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct lt_elf_file {
  const uint8_t *bytes; ///< the whole file, mapped
  size_t size;
  const ElfW(Ehdr) *header;
  const ElfW(Shdr) *sections; ///< `e_shnum` of them, all in the file
};

/// A symbol's address and the bytes it takes; 0, 0 where there is none of the name.
struct lt_symbol {
  uint64_t address, size;
};

/// Maps the file. False if it cannot be read or is not such a file; otherwise lt_elf_close must follow.
bool lt_elf_open(const char *path, struct lt_elf_file *file);
void lt_elf_close(struct lt_elf_file *file);
/// Looks up `count` names in .symtab. Addresses are link-time addresses. False without a .symtab. Linear in its length.
bool lt_elf_find_symbols(const struct lt_elf_file *file, const char *const names[], struct lt_symbol found[],
                         int count);
/// Calls `visit` for the defined symbols of .symtab, or of .dynsym if there is no .symtab. The names are owned by the
/// file.
void lt_elf_visit_symbols(const struct lt_elf_file *file,
                          void (*visit)(void *context, const ElfW(Sym) *symbol, const char *name), void *context);
bool lt_elf_has_section(const struct lt_elf_file *file, const char *name);
/// True if the image whose ELF header is mapped at `base` is this file: its program headers are the same bytes.
bool lt_elf_is_image(const struct lt_elf_file *file, uintptr_t base);

#endif
