// Finds images in the kernel's list of mappings, and reads their headers. The process may run in the meantime.

#define _GNU_SOURCE
#include "remote_images.h"

#include "process_memory.h"

#include <elf.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum {
  PATH_SIZE = 4096,
  MAX_IMAGES = 1 << 14,
  MAX_PROGRAM_HEADERS = 64,
  MAX_DYNAMIC_ENTRIES = 512,
  MAX_SYMBOLS = 1 << 20,
  LONGEST_CHAIN = 1 << 12, // symbols of one bucket
  LONGEST_NAME = 128,
};

static bool read_at(pid_t process, uint64_t address, void *into, size_t size) {
  return lt_read_process(process, address, into, size) == size;
}

static void read_dynamic(pid_t process, uint64_t address, struct lt_remote_image *image) {
  Elf64_Dyn entries[MAX_DYNAMIC_ENTRIES];
  size_t count = lt_read_process(process, address, entries, sizeof entries) / sizeof *entries;
  for (size_t i = 0; i < count && entries[i].d_tag != DT_NULL; i++) {
    uint64_t value = entries[i].d_un.d_ptr;
    // The loader has replaced the offsets by addresses, except in images that it may not write to.
    uint64_t place = value < image->start ? value + image->bias : value;
    if (entries[i].d_tag == DT_SYMTAB) image->symbols = place;
    if (entries[i].d_tag == DT_STRTAB) image->names = place;
    if (entries[i].d_tag == DT_STRSZ) image->namesSize = value;
    if (entries[i].d_tag == DT_GNU_HASH) image->hash = place;
  }
}

static bool read_image(pid_t process, uint64_t start, struct lt_remote_image *image) {
  Elf64_Ehdr header;
  Elf64_Phdr programHeaders[MAX_PROGRAM_HEADERS];
  if (!read_at(process, start, &header, sizeof header) || memcmp(header.e_ident, ELFMAG, SELFMAG) != 0) return false;
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_phentsize != sizeof *programHeaders) return false;
  if (header.e_phnum > MAX_PROGRAM_HEADERS) return false;
  if (!read_at(process, start + header.e_phoff, programHeaders, header.e_phnum * sizeof *programHeaders)) return false;
  bool isFound = false;
  uint64_t dynamic = 0, page = (uint64_t)sysconf(_SC_PAGESIZE);
  image->start = start;
  for (size_t i = 0; i < header.e_phnum; i++) {
    const Elf64_Phdr *p = &programHeaders[i];
    if (p->p_type != PT_LOAD || p->p_memsz == 0) continue;
    if (!isFound) image->bias = start - (p->p_vaddr & ~(page - 1));
    isFound = true;
    uint64_t end = image->bias + p->p_vaddr + p->p_memsz;
    if (end > image->end) image->end = end;
  }
  for (size_t i = 0; isFound && i < header.e_phnum; i++) {
    if (programHeaders[i].p_type == PT_GNU_EH_FRAME) image->unwindHeader = image->bias + programHeaders[i].p_vaddr;
    if (programHeaders[i].p_type == PT_DYNAMIC) dynamic = image->bias + programHeaders[i].p_vaddr;
  }
  if (dynamic != 0) read_dynamic(process, dynamic, image);
  return isFound && image->end > start;
}

static bool add(struct lt_remote_images *images, const struct lt_remote_image *image, const char *path) {
  if (images->count == MAX_IMAGES) return false;
  struct lt_remote_image *more = realloc(images->images, (images->count + 1) * sizeof *more);
  if (more == NULL) return false;
  images->images = more;
  more[images->count] = *image;
  char *copy = strdup(path);
  if (copy == NULL) return false;
  static const char deleted[] = " (deleted)";
  size_t length = strlen(copy), extra = sizeof deleted - 1;
  if (length > extra && strcmp(copy + length - extra, deleted) == 0) copy[length - extra] = 0;
  more[images->count++].path = copy;
  return true;
}

bool lt_remote_images_read(pid_t process, struct lt_remote_images *images) {
  char path[PATH_SIZE], executable[PATH_SIZE];
  *images = (struct lt_remote_images){.process = process};
  snprintf(path, sizeof path, "/proc/%d/exe", process);
  ssize_t length = readlink(path, executable, sizeof executable - 1);
  executable[length > 0 ? length : 0] = 0;
  snprintf(path, sizeof path, "/proc/%d/maps", process);
  FILE *maps = fopen(path, "re");
  if (maps == NULL) return false;
  char *line = NULL;
  size_t room = 0;
  while (getline(&line, &room, maps) > 0) {
    unsigned long begin, offset;
    int at = 0;
    line[strcspn(line, "\n")] = 0;
    if (sscanf(line, "%lx-%*x %*s %lx %*s %*s %n", &begin, &offset, &at) != 2 || at == 0) continue;
    const char *name = line + at;
    if (offset != 0 || (*name != '/' && strcmp(name, "[vdso]") != 0)) continue;
    // Devices and memory without a file are not images, and reading a device may have side effects.
    if (strncmp(name, "/dev/", 5) == 0 || strncmp(name, "/memfd:", 7) == 0 || strncmp(name, "/SYSV", 5) == 0) continue;
    struct lt_remote_image image = {0};
    if (!read_image(process, begin, &image)) continue;
    image.isExecutable = strcmp(name, executable) == 0;
    if (!add(images, &image, name)) break;
  }
  free(line);
  fclose(maps);
  return true;
}

void lt_remote_images_free(struct lt_remote_images *images) {
  for (size_t i = 0; i < images->count; i++) free(images->images[i].path);
  free(images->images);
  *images = (struct lt_remote_images){0};
}

const struct lt_remote_image *lt_remote_image_at(const struct lt_remote_images *images, uint64_t address) {
  for (size_t i = 0; i < images->count; i++)
    if (address >= images->images[i].start && address < images->images[i].end) return &images->images[i];
  return NULL;
}

const char *lt_remote_image_name(const struct lt_remote_image *image) {
  const char *slash = strrchr(image->path, '/');
  return slash == NULL ? image->path : slash + 1;
}

// --- symbols ---------------------------------------------------------------------------------------------------------

/// The header of a hash table (DT_GNU_HASH). The words of a filter, the buckets and the chains follow it.
struct hash_head {
  uint32_t bucketCount, firstSymbol, filterWords, filterShift;
};

static uint64_t buckets_of(const struct lt_remote_image *image, const struct hash_head *head) {
  return image->hash + sizeof *head + head->filterWords * sizeof(uint64_t);
}

static uint64_t chain_of(const struct lt_remote_image *image, const struct hash_head *head, uint64_t symbol) {
  return buckets_of(image, head) + (head->bucketCount + symbol - head->firstSymbol) * sizeof(uint32_t);
}

static bool is_function(const Elf64_Sym *symbol) {
  return symbol->st_shndx != SHN_UNDEF && ELF64_ST_TYPE(symbol->st_info) == STT_FUNC && symbol->st_value != 0;
}

bool lt_remote_function(const struct lt_remote_images *images, const struct lt_remote_image *image, const char *name,
                        struct lt_remote_function *function) {
  pid_t process = images->process;
  struct hash_head head;
  if (image->hash == 0 || !read_at(process, image->hash, &head, sizeof head) || head.bucketCount == 0) return false;
  uint32_t hash = 5381, index;
  for (const unsigned char *c = (const unsigned char *)name; *c; c++) hash = hash * 33 + *c;
  uint64_t bucket = buckets_of(image, &head) + hash % head.bucketCount * sizeof index;
  if (!read_at(process, bucket, &index, sizeof index) || index < head.firstSymbol) return false;
  size_t length = strlen(name) + 1;
  for (uint32_t tries = 0; tries < LONGEST_CHAIN; tries++, index++) {
    uint32_t chained;
    Elf64_Sym symbol;
    char found[LONGEST_NAME];
    if (!read_at(process, chain_of(image, &head, index), &chained, sizeof chained)) return false;
    if ((chained | 1) == (hash | 1) &&
        read_at(process, image->symbols + index * sizeof symbol, &symbol, sizeof symbol) && is_function(&symbol) &&
        symbol.st_name < image->namesSize && length <= sizeof found &&
        read_at(process, image->names + symbol.st_name, found, length) && memcmp(found, name, length) == 0) {
      function->start = image->bias + symbol.st_value;
      function->end = function->start + (symbol.st_size ? symbol.st_size : 1);
      return true;
    }
    if (chained & 1) return false;
  }
  return false;
}

/// Returns the number of an image's dynamic symbols. It is known from the end of the last chain in the hash table.
static size_t symbol_count(pid_t process, const struct lt_remote_image *image) {
  struct hash_head head;
  if (image->hash == 0 || !read_at(process, image->hash, &head, sizeof head)) return 0;
  if (head.bucketCount == 0 || head.bucketCount > MAX_SYMBOLS) return 0;
  uint32_t *buckets = calloc(head.bucketCount, sizeof *buckets), last = 0;
  if (buckets && read_at(process, buckets_of(image, &head), buckets, head.bucketCount * sizeof *buckets))
    for (uint32_t i = 0; i < head.bucketCount; i++)
      if (buckets[i] > last) last = buckets[i];
  free(buckets);
  if (last < head.firstSymbol) return 0;
  for (uint32_t chained = 0; last < MAX_SYMBOLS; last++)
    if (!read_at(process, chain_of(image, &head, last), &chained, sizeof chained) || chained & 1) return last + 1;
  return 0;
}

void lt_remote_widen(const struct lt_remote_images *images, const struct lt_remote_image *image,
                     struct lt_remote_function *stretch) {
  size_t count = symbol_count(images->process, image);
  Elf64_Sym *symbols = count ? calloc(count, sizeof *symbols) : NULL;
  uint64_t before = image->start, after = image->end;
  if (symbols && read_at(images->process, image->symbols, symbols, count * sizeof *symbols)) {
    for (size_t i = 0; i < count; i++) {
      if (!is_function(&symbols[i])) continue;
      uint64_t start = image->bias + symbols[i].st_value, end = start + symbols[i].st_size;
      if (start < stretch->start && end <= stretch->start && end > before) before = end;
      if (start >= stretch->end && start < after) after = start;
    }
    stretch->start = before;
    stretch->end = after;
  }
  free(symbols);
}
