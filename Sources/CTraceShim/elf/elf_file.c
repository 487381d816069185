// Reads ELF files. Trusts nothing in them; calls nothing that allocates.

#define _GNU_SOURCE
#include "elf/elf_file.h"

#include "check.h"
#include "os/apart_task.h"
#include "os/os.h"

#include <elf.h>
#include <fcntl.h>
#include <string.h>

static bool in_file(const struct lt_elf_file *file, uint64_t offset, uint64_t size) {
  return offset <= file->size && size <= file->size - offset;
}

/// True if the file is open: its header and its table of sections lie in it.
LT_INVARIANT bool is_open(const struct lt_elf_file *file) {
  return file->bytes && file->size > sizeof(ElfW(Ehdr)) && (const uint8_t *)file->header == file->bytes &&
         (const uint8_t *)file->sections >= file->bytes &&
         in_file(file, (uint64_t)((const uint8_t *)file->sections - file->bytes), 0);
}

struct mapping {
  const char *path;
  struct lt_elf_file *file;
};

static void map_apart(void *argument) {
  struct lt_elf_file *file = ((struct mapping *)argument)->file;
  int descriptor = lt_open(((struct mapping *)argument)->path, O_RDONLY | O_NONBLOCK, 0);
  if (descriptor < 0) return;
  struct stat info;
  if (lt_fstat(descriptor, &info) == 0 && S_ISREG(info.st_mode) && info.st_size > (off_t)sizeof(ElfW(Ehdr))) {
    file->size = (size_t)info.st_size;
    file->bytes = lt_map_file_read_only(descriptor, file->size);
  }
  lt_close(descriptor);
}

bool lt_elf_open(const char *path, struct lt_elf_file *file) {
  file->bytes = NULL;
  lt_call_apart_or_here(map_apart, &(struct mapping){path, file});
  if (!file->bytes) return false;
  file->header = (const ElfW(Ehdr) *)file->bytes;
  if (memcmp(file->header->e_ident, ELFMAG, SELFMAG) == 0 && file->header->e_shentsize == sizeof(ElfW(Shdr)) &&
      file->header->e_shoff % 8 == 0 &&
      in_file(file, file->header->e_shoff, (uint64_t)file->header->e_shnum * sizeof(ElfW(Shdr)))) {
    file->sections = (const ElfW(Shdr) *)(file->bytes + file->header->e_shoff);
    LT_CHECK(is_open(file));
    return true;
  }
  lt_elf_close(file);
  return false;
}

void lt_elf_close(struct lt_elf_file *file) {
  LT_CHECK(file->bytes && file->size);
  lt_unmap((void *)file->bytes, file->size);
}

bool lt_elf_find_symbols(const struct lt_elf_file *file, const char *const names[], struct lt_symbol found[],
                         int count) {
  for (int i = 0; i < count; i++) found[i] = (struct lt_symbol){0, 0};
  LT_CHECK(is_open(file) && count > 0);
  for (int s = 0; s < file->header->e_shnum; s++) {
    const ElfW(Shdr) *table = &file->sections[s];
    if (table->sh_type != SHT_SYMTAB || table->sh_link >= file->header->e_shnum) continue;
    const ElfW(Shdr) *strings = &file->sections[table->sh_link];
    if (!in_file(file, table->sh_offset, table->sh_size) || !in_file(file, strings->sh_offset, strings->sh_size) ||
        strings->sh_size == 0)
      return false;
    const char *text = (const char *)file->bytes + strings->sh_offset;
    if (text[strings->sh_size - 1] != 0) return false;
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)(file->bytes + table->sh_offset);
    LT_CHECK((const uint8_t *)(symbols + table->sh_size / sizeof *symbols) <= file->bytes + file->size);
    int foundCount = 0;
    for (size_t k = 0; k < table->sh_size / sizeof *symbols && foundCount < count; k++) {
      if (symbols[k].st_shndx == SHN_UNDEF || symbols[k].st_name >= strings->sh_size) continue;
      const char *name = text + symbols[k].st_name;
      for (int i = 0; i < count; i++) {
        if (found[i].address || name[0] != names[i][0] || strcmp(name, names[i]) != 0) continue;
        found[i] = (struct lt_symbol){symbols[k].st_value, symbols[k].st_size};
        foundCount++;
      }
    }
    return true;
  }
  return false;
}

void lt_elf_visit_symbols(const struct lt_elf_file *file,
                          void (*visit)(void *context, const ElfW(Sym) *symbol, const char *name), void *context) {
  const ElfW(Shdr) *table = NULL;
  LT_CHECK(is_open(file));
  for (int s = 0; s < file->header->e_shnum; s++) {
    uint32_t type = file->sections[s].sh_type;
    if (type == SHT_SYMTAB || (type == SHT_DYNSYM && !table)) table = &file->sections[s];
  }
  if (!table || table->sh_link >= file->header->e_shnum) return;
  const ElfW(Shdr) *strings = &file->sections[table->sh_link];
  if (!in_file(file, table->sh_offset, table->sh_size) || !in_file(file, strings->sh_offset, strings->sh_size) ||
      table->sh_offset % 8 || strings->sh_size == 0)
    return;
  const char *text = (const char *)file->bytes + strings->sh_offset;
  if (text[strings->sh_size - 1] != 0) return;
  const ElfW(Sym) *symbols = (const ElfW(Sym) *)(file->bytes + table->sh_offset);
  LT_CHECK((const uint8_t *)(symbols + table->sh_size / sizeof *symbols) <= file->bytes + file->size);
  for (size_t k = 0; k < table->sh_size / sizeof *symbols; k++)
    if (symbols[k].st_shndx != SHN_UNDEF && symbols[k].st_name < strings->sh_size)
      visit(context, &symbols[k], text + symbols[k].st_name);
}

bool lt_elf_has_section(const struct lt_elf_file *file, const char *name) {
  LT_CHECK(is_open(file));
  if (file->header->e_shstrndx >= file->header->e_shnum) return false;
  const ElfW(Shdr) *strings = &file->sections[file->header->e_shstrndx];
  if (!in_file(file, strings->sh_offset, strings->sh_size)) return false;
  size_t length = strlen(name) + 1;
  for (int s = 0; s < file->header->e_shnum; s++) {
    uint64_t at = file->sections[s].sh_name;
    if (at + length <= strings->sh_size && memcmp(file->bytes + strings->sh_offset + at, name, length) == 0)
      return true;
  }
  return false;
}

bool lt_elf_is_image(const struct lt_elf_file *file, uintptr_t base) {
  LT_CHECK(is_open(file) && base);
  const ElfW(Ehdr) *loaded = (const ElfW(Ehdr) *)base;
  return memcmp(loaded, file->header, sizeof *loaded) == 0 &&
         in_file(file, file->header->e_phoff, (uint64_t)file->header->e_phnum * sizeof(ElfW(Phdr))) &&
         memcmp((const uint8_t *)base + loaded->e_phoff, file->bytes + file->header->e_phoff,
                (size_t)loaded->e_phnum * sizeof(ElfW(Phdr))) == 0;
}
