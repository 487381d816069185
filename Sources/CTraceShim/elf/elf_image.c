// ELF files, images that are loaded from them, and symbols of other images.

#define _GNU_SOURCE
#include "elf/elf_image.h"

#include "arch/arch.h"
#include "check.h"
#include "os/fd_isolated_task.h"
#include "os/os.h"

#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <string.h>

// === files ===========================================================================================================

// Reads ELF files. Checks every offset in them, and calls nothing that allocates.

static bool in_file(const struct lt_elf_file *file, uint64_t offset, uint64_t size) {
  return offset <= file->size && size <= file->size - offset;
}

/// True if the file is open: its header and its section table lie in the mapped bytes.
LT_INVARIANT bool is_open(const struct lt_elf_file *file) {
  return file->bytes && file->size > sizeof(ElfW(Ehdr)) && (const uint8_t *)file->header == file->bytes &&
         (const uint8_t *)file->sections >= file->bytes &&
         in_file(file, (uint64_t)((const uint8_t *)file->sections - file->bytes), 0);
}

struct mapping {
  const char *path;
  struct lt_elf_file *file;
};

static void map_isolated(void *argument) {
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
  lt_call_isolated_or_here(map_isolated, &(struct mapping){path, file});
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

// === loaded images ===================================================================================================

// Reads the dynamic sections of loaded images. Calls nothing that allocates or locks.
// Source: System V ABI, "Dynamic Section". The layout of DT_GNU_HASH is as in binutils and glibc.

static bool describe(struct lt_loaded_image *image, uintptr_t bias, const ElfW(Phdr) *headers, uint32_t count,
                     const char *path) {
  *image = (struct lt_loaded_image){.bias = bias,
                                    .start = UINTPTR_MAX,
                                    .programHeaders = headers,
                                    .programHeaderCount = count,
                                    .path = path && *path ? path : "/proc/self/exe",
                                    .isExecutable = !path || !*path};
  for (uint32_t i = 0; i < count; i++) {
    const ElfW(Phdr) *p = &headers[i];
    uintptr_t start = bias + p->p_vaddr;
    if (p->p_type == PT_DYNAMIC) image->dynamic = (ElfW(Dyn) *)start;
    if (p->p_type != PT_LOAD) continue;
    if (start < image->start) image->start = start;
    if (start + p->p_memsz > image->end) image->end = start + p->p_memsz;
  }
  return image->dynamic && image->start < image->end;
}

bool lt_loaded_image_from_info(const struct dl_phdr_info *info, struct lt_loaded_image *image) {
  return describe(image, info->dlpi_addr, info->dlpi_phdr, info->dlpi_phnum, info->dlpi_name);
}

bool lt_loaded_image_from_map(const struct link_map *map, struct lt_loaded_image *image) {
  const ElfW(Ehdr) *header = (const ElfW(Ehdr) *)map->l_addr;
  if (map->l_addr < 4096 || !lt_is_readable(map->l_addr) || memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header->e_phentsize != sizeof(ElfW(Phdr)) ||
      header->e_phoff + (uint64_t)header->e_phnum * sizeof(ElfW(Phdr)) > 4096)
    return false;
  return describe(image, map->l_addr, (const ElfW(Phdr) *)(map->l_addr + header->e_phoff), header->e_phnum,
                  map->l_name) &&
         image->dynamic == map->l_ld;
}

/// True if the image is filled in.
LT_INVARIANT bool is_described(const struct lt_loaded_image *image) {
  return image->start < image->end && image->dynamic && image->programHeaders && image->programHeaderCount &&
         image->path;
}

ElfW(Dyn) *lt_loaded_image_entry(const struct lt_loaded_image *image, ElfW(Sxword) tag) {
  LT_CHECK(is_described(image));
  for (ElfW(Dyn) *d = image->dynamic; d->d_tag != DT_NULL; d++)
    if (d->d_tag == tag) return d;
  return NULL;
}

/// Returns the address that a dynamic entry holds. When the loader reads a writable section, it adds the bias to the
/// entries in place.
static const void *target(const struct lt_loaded_image *image, ElfW(Sxword) tag) {
  const ElfW(Dyn) *entry = lt_loaded_image_entry(image, tag);
  if (!entry) return NULL;
  uintptr_t address = entry->d_un.d_ptr < image->bias ? entry->d_un.d_ptr + image->bias : entry->d_un.d_ptr;
  return lt_loaded_image_covers(image, address) ? (const void *)address : NULL;
}

bool lt_loaded_image_is_writable(const struct lt_loaded_image *image, uintptr_t address) {
  LT_CHECK(is_described(image));
  for (uint32_t i = 0; i < image->programHeaderCount; i++) {
    const ElfW(Phdr) *p = &image->programHeaders[i];
    if (p->p_type == PT_LOAD && p->p_flags & PF_W && address - (image->bias + p->p_vaddr) < p->p_memsz) return true;
  }
  return false;
}

// --- symbols ---------------------------------------------------------------------------------------------------------

struct symbols {
  const ElfW(Sym) *table;
  const char *names;
  const ElfW(Half) *versions; ///< a version number for each symbol; NULL if the image has no versions
};

/// The flag of a hidden version: only programs that were linked earlier use that definition.
enum { OLD_VERSION = 0x8000 };

static bool open_symbols(const struct lt_loaded_image *image, struct symbols *symbols) {
  symbols->table = target(image, DT_SYMTAB);
  symbols->names = target(image, DT_STRTAB);
  symbols->versions = target(image, DT_VERSYM);
  return symbols->table && symbols->names;
}

static bool is_definition(const struct symbols *symbols, uint32_t index, const char *name) {
  const ElfW(Sym) *symbol = &symbols->table[index];
  return symbol->st_shndx != SHN_UNDEF && symbol->st_value && strcmp(symbols->names + symbol->st_name, name) == 0;
}

static bool is_current(const struct symbols *symbols, uint32_t index) {
  return !symbols->versions || !(symbols->versions[index] & OLD_VERSION);
}

/// Returns the index of the definition that new programs would use. If there is none, returns the index of an old
/// definition, or 0.
static uint32_t look_up_gnu(const uint32_t *hash, const struct symbols *symbols, const char *name) {
  uint32_t buckets = hash[0], first = hash[1], bloomWords = hash[2], bloomShift = hash[3], h = 5381;
  if (!buckets || !bloomWords) return 0;
  for (const uint8_t *c = (const uint8_t *)name; *c; c++) h = h * 33 + *c;
  const uint64_t *bloom = (const uint64_t *)(hash + 4);
  uint64_t word = bloom[(h / 64) % bloomWords];
  if (!(word >> h % 64 & word >> (h >> bloomShift) % 64 & 1)) return 0;
  const uint32_t *bucket = (const uint32_t *)(bloom + bloomWords), *chain = bucket + buckets;
  uint32_t index = bucket[h % buckets];
  if (index < first) return 0;
  uint32_t old = 0;
  for (;; index++) {
    uint32_t value = chain[index - first];
    if ((value | 1) == (h | 1) && is_definition(symbols, index, name)) {
      if (is_current(symbols, index)) return index;
      old = index;
    }
    if (value & 1) return old;
  }
}

bool lt_loaded_image_symbol(const struct lt_loaded_image *image, const char *name, struct lt_symbol *found) {
  struct symbols symbols;
  if (!open_symbols(image, &symbols)) return false;
  uint32_t index = 0;
  const uint32_t *hash = target(image, DT_GNU_HASH);
  if (hash) {
    index = look_up_gnu(hash, &symbols, name);
  } else if ((hash = target(image, DT_HASH))) {
    uint32_t count = hash[1];
    for (uint32_t i = 1; i < count && !(index && is_current(&symbols, index)); i++)
      if (is_definition(&symbols, i, name)) index = i;
  }
  if (!index) return false;
  *found = (struct lt_symbol){image->bias + symbols.table[index].st_value, symbols.table[index].st_size};
  return true;
}

/// A relocation table of an image.
struct relocations {
  const ElfW(Rela) *entries;
  size_t count;
};

static struct relocations relocations(const struct lt_loaded_image *image, ElfW(Sxword) table, ElfW(Sxword) size) {
  const ElfW(Dyn) *bytes = lt_loaded_image_entry(image, size);
  const ElfW(Rela) *entries = target(image, table);
  return (struct relocations){entries, entries && bytes ? bytes->d_un.d_val / sizeof *entries : 0};
}

bool lt_loaded_image_imports(const struct lt_loaded_image *image, const char *prefix) {
  struct symbols symbols;
  size_t length = strlen(prefix);
  if (!open_symbols(image, &symbols)) return false;
  // Look only at the symbols that relocations name, since no field gives the length of the symbol table.
  struct relocations tables[] = {relocations(image, DT_JMPREL, DT_PLTRELSZ), relocations(image, DT_RELA, DT_RELASZ)};
  for (int t = 0; t < 2; t++) {
    for (size_t i = 0; i < tables[t].count; i++) {
      uint32_t index = ELF64_R_SYM(tables[t].entries[i].r_info);
      if (!index || symbols.table[index].st_shndx != SHN_UNDEF) continue;
      if (strncmp(symbols.names + symbols.table[index].st_name, prefix, length) == 0) return true;
    }
  }
  return false;
}

bool lt_loaded_image_refers(const struct lt_loaded_image *image, uintptr_t start, uintptr_t end) {
  LT_CHECK(start <= end);
  struct relocations table = relocations(image, DT_RELA, DT_RELASZ);
  for (size_t i = 0; i < table.count; i++) {
    unsigned type = ELF64_R_TYPE(table.entries[i].r_info);
    if (type != LT_RELOCATION_GLOBAL && type != LT_RELOCATION_ABSOLUTE) continue;
    uintptr_t value, place = image->bias + table.entries[i].r_offset;
    if (!lt_loaded_image_covers(image, place)) continue;
    memcpy(&value, (const void *)place, sizeof value);
    if (value >= start && value < end) return true;
  }
  return false;
}

bool lt_loaded_image_is_relocated(const struct lt_loaded_image *image) {
  uintptr_t place = 0;
  struct relocations table = relocations(image, DT_RELA, DT_RELASZ);
  for (size_t i = 0; i < table.count && !place; i++)
    if (ELF64_R_TYPE(table.entries[i].r_info) == LT_RELOCATION_RELATIVE)
      place = image->bias + table.entries[i].r_offset;
  enum {
    PACKED_RELATIVE = 36
  }; // DT_RELR, which only newer headers define: the table's first word is the address of a
     // relocated word
  const uint64_t *packed = place ? NULL : target(image, PACKED_RELATIVE);
  if (packed) place = image->bias + *packed;
  if (!lt_loaded_image_is_writable(image, place)) return true;
  return lt_loaded_image_covers(image, *(const uintptr_t *)place);
}

// --- binding ---------------------------------------------------------------------------------------------------------

void lt_loaded_image_replace(const struct lt_loaded_image *image, void **place, void *address) {
  uintptr_t page = lt_page_start((uintptr_t)place);
  bool isReadOnly = false;
  LT_CHECK((uintptr_t)place % sizeof(void *) == 0);
  LT_CHECK(lt_loaded_image_is_writable(image, (uintptr_t)place));
  for (uint32_t i = 0; i < image->programHeaderCount; i++) {
    const ElfW(Phdr) *p = &image->programHeaders[i];
    uintptr_t start = image->bias + p->p_vaddr;
    // A page that is only partly in the read-only part stays writable: the loader does not protect it.
    if (p->p_type == PT_GNU_RELRO && (uintptr_t)place >= start && (uintptr_t)place < lt_page_start(start + p->p_memsz))
      isReadOnly = true;
  }
  if (isReadOnly && !lt_protect((void *)page, lt_page_size(), true)) return;
  // Release: the caller has set all that the function at `address` uses. On a processor that reorders loads, the caller
  // must also have called lt_order_threads, since callers load the word plainly.
  __atomic_store_n(place, address, __ATOMIC_RELEASE);
  if (isReadOnly) lt_protect((void *)page, lt_page_size(), false);
}

void lt_loaded_image_show_references(const struct lt_loaded_image *image,
                                     void (*visit)(const struct lt_reference *reference, void *context),
                                     void *context) {
  struct symbols symbols;
  if (!open_symbols(image, &symbols)) return;
  struct relocations tables[] = {relocations(image, DT_JMPREL, DT_PLTRELSZ), relocations(image, DT_RELA, DT_RELASZ)};
  for (int t = 0; t < 2; t++) {
    for (size_t i = 0; i < tables[t].count; i++) {
      const ElfW(Rela) *entry = &tables[t].entries[i];
      unsigned type = ELF64_R_TYPE(entry->r_info);
      uint32_t index = ELF64_R_SYM(entry->r_info);
      bool isReference = type == LT_RELOCATION_CALL || type == LT_RELOCATION_GLOBAL ||
                         (type == LT_RELOCATION_ABSOLUTE && entry->r_addend == 0);
      uintptr_t place = image->bias + entry->r_offset;
      if (!index || !isReference || place % sizeof(void *) || !lt_loaded_image_is_writable(image, place)) continue;
      const ElfW(Sym) *symbol = &symbols.table[index];
      // Until the first call, the word of a call leads to code of this image that makes the loader look up the
      // function. If this image itself defines the function, the word may also lead to the definition. If the
      // definition is an IFUNC, the word may lead to the implementation that the IFUNC chose.
      uintptr_t target = *(const uintptr_t *)place;
      bool mayBeOwn = symbol->st_shndx != SHN_UNDEF &&
                      (ELF64_ST_TYPE(symbol->st_info) == STT_GNU_IFUNC || target == image->bias + symbol->st_value);
      bool isUnsettled = type == LT_RELOCATION_CALL && !mayBeOwn && lt_loaded_image_covers(image, target);
      struct lt_reference reference = {symbols.names + symbol->st_name, (void **)place, type == LT_RELOCATION_CALL,
                                       isUnsettled};
      visit(&reference, context);
    }
  }
}

/// A request to bind symbol names to addresses.
struct binding {
  const struct lt_loaded_image *image;
  const char *const *names;
  void *const *addresses;
  int count;
};

static void bind_reference(const struct lt_reference *reference, void *context) {
  const struct binding *b = context;
  for (int k = 0; k < b->count; k++)
    if (strcmp(reference->name, b->names[k]) == 0) lt_loaded_image_replace(b->image, reference->place, b->addresses[k]);
}

void lt_loaded_image_bind(const struct lt_loaded_image *image, const char *const names[], void *const addresses[],
                          int count) {
  struct binding binding = {image, names, addresses, count};
  LT_CHECK(count > 0 && names && addresses);
  lt_loaded_image_show_references(image, bind_reference, &binding);
}

/// A request to redirect calls of one function.
struct redirection {
  const struct lt_loaded_image *image;
  const char *name;
  void *from, *to;
};

static void redirect_call(const struct lt_reference *reference, void *context) {
  const struct redirection *r = context;
  if (!reference->isCall || strcmp(reference->name, r->name) != 0) return;
  if (*reference->place == r->from || reference->isUnsettled)
    lt_loaded_image_replace(r->image, reference->place, r->to);
}

void lt_loaded_image_rebind_calls(const struct lt_loaded_image *image, const char *name, void *from, void *to) {
  struct redirection redirection = {image, name, from, to};
  LT_CHECK(from && to && from != to);
  lt_loaded_image_show_references(image, redirect_call, &redirection);
}

// === symbols of other images =========================================================================================

/// The first version of dlsym. A reference to the version in today's headers would keep an older glibc from loading
/// this library. NULL if no image has the first version.
extern void *lt_first_dlsym(void *handle, const char *name) __attribute__((weak));
__asm__(".symver lt_first_dlsym, dlsym@" LT_FIRST_GLIBC);

struct search {
  const char *name;
  uintptr_t before, after; ///< the first definitions in images before and after this library; 0 if none was found
  bool isBehind;           ///< the search has passed this library
};

static int visit(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  struct search *search = context;
  struct lt_loaded_image image;
  struct lt_symbol symbol;
  if (!lt_loaded_image_from_info(info, &image)) return 0;
  if (lt_loaded_image_covers(&image, (uintptr_t)&visit)) {
    search->isBehind = true;
    return 0;
  }
  uintptr_t *found = search->isBehind ? &search->after : &search->before;
  if (!*found && lt_loaded_image_symbol(&image, search->name, &symbol)) *found = symbol.address;
  return search->after != 0;
}

void *lt_next_symbol(const char *name) {
  // The loader finds this library by the return address of dlsym. So this call must not become a tail call.
  void *next = lt_first_dlsym ? lt_first_dlsym(RTLD_NEXT, name) : NULL;
  if (next) return next;
  struct search search = {.name = name};
  dl_iterate_phdr(visit, &search);
  return (void *)(search.after ? search.after : search.before);
}

bool lt_symbol_is_first_here(const char *name) {
  struct search search = {.name = name};
  dl_iterate_phdr(visit, &search);
  return !search.before;
}

struct pair {
  uintptr_t one, other;
};

static int has_both(struct dl_phdr_info *info, size_t size, void *context) {
  (void)size;
  const struct pair *pair = context;
  struct lt_loaded_image image;
  return lt_loaded_image_from_info(info, &image) && lt_loaded_image_covers(&image, pair->one) &&
         lt_loaded_image_covers(&image, pair->other);
}

bool lt_are_in_one_image(uintptr_t one, uintptr_t other) {
  struct pair pair = {one, other};
  return dl_iterate_phdr(has_both, &pair) != 0;
}
