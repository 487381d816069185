// Finds the Swift runtime's entry points for tracers. Runs once, before any hook is on; maps files, calls the loader.

#define _GNU_SOURCE
#include "swift_runtime.h"

#include "os.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <link.h>
#include <string.h>

/// An ELF file of this machine's kind, mapped to be read.
struct elf_file {
  const uint8_t *bytes;
  size_t size;
  const ElfW(Ehdr) *header;
  const ElfW(Shdr) *sections;
};

static bool in_file(const struct elf_file *file, uint64_t offset, uint64_t size) { return offset <= file->size && size <= file->size - offset; }

static bool open_elf(const char *path, struct elf_file *file) {
  int descriptor = lt_open(path, O_RDONLY, 0);
  if (descriptor < 0) return false;
  struct stat info;
  bool isGood = lt_fstat(descriptor, &info) == 0 && info.st_size > (off_t)sizeof(ElfW(Ehdr));
  if (isGood) {
    file->size = (size_t)info.st_size;
    file->bytes = lt_map_file_read_only(descriptor, file->size);
    isGood = file->bytes != NULL;
  }
  lt_close(descriptor);
  if (!isGood) return false;
  file->header = (const ElfW(Ehdr) *)file->bytes;
  if (memcmp(file->header->e_ident, ELFMAG, SELFMAG) == 0 && file->header->e_shentsize == sizeof(ElfW(Shdr)) &&
      in_file(file, file->header->e_shoff, (uint64_t)file->header->e_shnum * sizeof(ElfW(Shdr)))) {
    file->sections = (const ElfW(Shdr) *)(file->bytes + file->header->e_shoff);
    return true;
  }
  lt_unmap((void *)file->bytes, file->size);
  return false;
}

/// Link-time addresses of `count` symbols of .symtab; 0 where there is none of the name. False without a .symtab.
static bool find_symbols(const struct elf_file *file, const char *const names[], uint64_t values[], int count) {
  for (int i = 0; i < count; i++) values[i] = 0;
  for (int s = 0; s < file->header->e_shnum; s++) {
    const ElfW(Shdr) *table = &file->sections[s];
    if (table->sh_type != SHT_SYMTAB || table->sh_link >= file->header->e_shnum) continue;
    const ElfW(Shdr) *strings = &file->sections[table->sh_link];
    if (!in_file(file, table->sh_offset, table->sh_size) || !in_file(file, strings->sh_offset, strings->sh_size) || strings->sh_size == 0) return false;
    const char *text = (const char *)file->bytes + strings->sh_offset;
    if (text[strings->sh_size - 1] != 0) return false;
    const ElfW(Sym) *symbols = (const ElfW(Sym) *)(file->bytes + table->sh_offset);
    int found = 0;
    for (size_t k = 0; k < table->sh_size / sizeof *symbols && found < count; k++) {
      if (symbols[k].st_shndx == SHN_UNDEF || symbols[k].st_name >= strings->sh_size) continue;
      const char *name = text + symbols[k].st_name;
      if (name[0] != '_') continue;
      for (int i = 0; i < count; i++) {
        if (values[i] || strcmp(name, names[i]) != 0) continue;
        values[i] = symbols[k].st_value;
        found++;
      }
    }
    return true;
  }
  return false;
}

static bool has_section(const struct elf_file *file, const char *name) {
  if (file->header->e_shstrndx >= file->header->e_shnum) return false;
  const ElfW(Shdr) *strings = &file->sections[file->header->e_shstrndx];
  if (!in_file(file, strings->sh_offset, strings->sh_size)) return false;
  size_t length = strlen(name) + 1;
  for (int s = 0; s < file->header->e_shnum; s++) {
    uint64_t at = file->sections[s].sh_name;
    if (at + length <= strings->sh_size && memcmp(file->bytes + strings->sh_offset + at, name, length) == 0) return true;
  }
  return false;
}

/// Whether the mapped image is this file: its program headers are the same bytes.
static bool is_image_of(const struct elf_file *file, uintptr_t base) {
  const ElfW(Ehdr) *loaded = (const ElfW(Ehdr) *)base;
  return memcmp(loaded, file->header, sizeof *loaded) == 0 &&
         in_file(file, file->header->e_phoff, (uint64_t)file->header->e_phnum * sizeof(ElfW(Phdr))) &&
         memcmp((const uint8_t *)base + loaded->e_phoff, file->bytes + file->header->e_phoff, (size_t)loaded->e_phnum * sizeof(ElfW(Phdr))) == 0;
}

enum { SYMBOL_ALLOC, SYMBOL_RETAIN, SYMBOL_RETAIN_N, SYMBOL_RELEASE, SYMBOL_RELEASE_N, SYMBOL_TRY_RETAIN, SYMBOL_SWITCH, SYMBOL_ADAPTER, SYMBOL_COUNT };
static const char *const symbolNames[SYMBOL_COUNT] = {
    "_swift_allocObject", "_swift_retain", "_swift_retain_n", "_swift_release", "_swift_release_n", "_swift_tryRetain",
    "_swift_enableSwizzlingOfAllocationAndRefCountingFunctions_forInstrumentsOnly", "_ZL21_swift_retain_adapter"};

static bool assign(struct lt_swift_runtime *r, void *const addresses[SYMBOL_COUNT]) {
  for (int i = 0; i < SYMBOL_ADAPTER; i++)
    if (!addresses[i]) return false;
  r->allocObject = addresses[SYMBOL_ALLOC];
  r->retain = addresses[SYMBOL_RETAIN];
  r->retain_n = addresses[SYMBOL_RETAIN_N];
  r->release = addresses[SYMBOL_RELEASE];
  r->release_n = addresses[SYMBOL_RELEASE_N];
  r->tryRetain = addresses[SYMBOL_TRY_RETAIN];
  r->isHooked = addresses[SYMBOL_SWITCH];
  r->retainAdapter = addresses[SYMBOL_ADAPTER];
  // Before anybody hooked them the pointers lead into the image they are in.
  return *r->allocObject && *r->retain && *r->release && *r->retain_n && *r->release_n && *r->tryRetain;
}

static int executable_bias(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  *(uintptr_t *)context = info->dlpi_addr;
  return 1; // the executable comes first
}

enum lt_swift_search lt_swift_runtime_find(struct lt_swift_runtime *runtime) {
  memset(runtime, 0, sizeof *runtime);
  void *addresses[SYMBOL_COUNT] = {0};
  uint64_t values[SYMBOL_COUNT];
  struct elf_file file;
  void *exported = dlsym(RTLD_DEFAULT, symbolNames[SYMBOL_RETAIN]);
  if (exported) {
    for (int i = 0; i < SYMBOL_ADAPTER; i++) addresses[i] = dlsym(RTLD_DEFAULT, symbolNames[i]);
    Dl_info info;
    struct link_map *map = NULL;
    if (dladdr1(exported, &info, (void **)&map, RTLD_DL_LINKMAP) && map && open_elf(info.dli_fname, &file)) {
      if (is_image_of(&file, (uintptr_t)info.dli_fbase)) {
        find_symbols(&file, symbolNames + SYMBOL_ADAPTER, values, 1);
        if (values[0]) addresses[SYMBOL_ADAPTER] = (void *)(map->l_addr + values[0]);
      }
      lt_unmap((void *)file.bytes, file.size);
    }
    return assign(runtime, addresses) ? LT_SWIFT_FOUND : LT_SWIFT_UNKNOWN;
  }
  if (!open_elf("/proc/self/exe", &file)) return LT_SWIFT_ABSENT;
  enum lt_swift_search result = LT_SWIFT_ABSENT;
  bool isSwift = has_section(&file, "swift5_protocols") || has_section(&file, "swift5_reflstr") || has_section(&file, "swift5_fieldmd");
  if (isSwift) {
    uintptr_t bias = 0;
    dl_iterate_phdr(executable_bias, &bias);
    result = LT_SWIFT_STRIPPED;
    if (find_symbols(&file, symbolNames, values, SYMBOL_COUNT) && values[SYMBOL_RETAIN]) {
      for (int i = 0; i < SYMBOL_COUNT; i++) addresses[i] = values[i] ? (void *)(bias + values[i]) : NULL;
      runtime->isStatic = true;
      result = assign(runtime, addresses) ? LT_SWIFT_FOUND : LT_SWIFT_UNKNOWN;
    }
  }
  lt_unmap((void *)file.bytes, file.size);
  return result;
}
