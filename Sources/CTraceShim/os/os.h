// System calls, numbers as text, and memory for the first calls to the allocator.

#ifndef LEAKTRACE_OS_H
#define LEAKTRACE_OS_H

#include "arch/arch.h"

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/types.h>
#include <time.h>

// --- pages -----------------------------------------------------------------------------------------------------------

/// Returns the start of the kernel's page that contains an address or an offset in a file.
static LT_ALWAYS_INLINE uint64_t lt_page_start(uint64_t address) { return address & ~(uint64_t)(lt_page_size() - 1); }
/// Returns the end of the kernel's pages that end at `end` or contain the byte before `end`.
static LT_ALWAYS_INLINE uint64_t lt_page_end(uint64_t end) { return lt_page_start(end + lt_page_size() - 1); }
static LT_ALWAYS_INLINE bool lt_is_page_aligned(uint64_t value) { return value % lt_page_size() == 0; }

// --- system calls ----------------------------------------------------------------------------------------------------

// The system calls that several parts of the recorder use. Other calls are made with lt_syscall where they are needed.
//
// Calls go straight to the kernel. They leave errno unchanged, are no cancellation points, and cannot be interposed by
// another preloaded library. They return the kernel's result: a negative value is −errno.

/// Maps private zeroed memory. Returns NULL on failure. A page becomes resident when it is first touched.
void *lt_map_private(size_t size);
/// Maps private zeroed memory that is zero again in a child made by fork. Returns NULL if the kernel cannot do that
/// (before 4.14).
void *lt_map_wiped_on_fork(size_t size);
/// Maps `size` bytes of the file at `offset`, shared. A child made by fork does not inherit the mapping. Returns NULL
/// on failure.
void *lt_map_file(int descriptor, uint64_t offset, size_t size);
/// Maps the first `size` bytes of the file, private and read-only. Returns NULL on failure.
void *lt_map_file_read_only(int descriptor, size_t size);
void lt_unmap(void *address, size_t size);
/// Makes pages read-only, or readable and writable. Their contents stay. False if the kernel refuses.
bool lt_protect(void *address, size_t size, bool isWritable);
/// Maps private zeroed memory that processes made by fork share. Returns NULL on failure.
void *lt_map_shared(size_t size);

/// Notes that a mapping is the recorder's own, as if a function above had made it.
void lt_note_own(void *address, size_t size);

/// The start of this library's image, defined by the linker.
extern const char __ehdr_start[] __attribute__((visibility("hidden")));
extern const char _end[] __attribute__((visibility("hidden")));
/// True if an address is in this library's image.
static inline bool lt_is_own_address(uintptr_t address) {
  return address >= (uintptr_t)__ehdr_start && address < (uintptr_t)_end;
}

/// An address range of the recorder's own memory.
struct lt_own_range {
  uintptr_t start, end;
};
/// Copies at most `limit` ranges of the recorder's memory, in no particular order. These are this library's image, and
/// the existing mappings that the functions above made. Returns the number of ranges.
uint32_t lt_own_ranges(struct lt_own_range *ranges, uint32_t limit);

int lt_open(const char *path, int flags, mode_t mode);
void lt_close(int descriptor);
/// Leaves the descriptor table that this process shares because of CLONE_FILES, and keeps no descriptor open. Otherwise
/// the host's descriptors would stay open as long as this process lives. For example, a lock would stay held, or a peer
/// would not notice that a connection was closed.
void lt_leave_descriptors(void);
long lt_read(int descriptor, void *buffer, size_t size);
/// Writes the whole buffer, even if signals interrupt the call. Returns 0 or −errno.
int lt_write_all(int descriptor, const void *buffer, size_t size);
/// Writes the whole buffer at `offset`. Returns 0 or −errno.
int lt_pwrite_all(int descriptor, const void *buffer, size_t size, uint64_t offset);
int lt_fstat(int descriptor, struct stat *result);
int lt_unlink(const char *path);
/// Writes a symbolic link's target to `target`, without a zero at its end. Returns its length or −errno.
long lt_readlink(const char *path, char *target, size_t size);
/// Allocates storage for the range of the file, so that a write to its mapping cannot fail. Returns 0 or −errno.
int lt_allocate_storage(int descriptor, uint64_t offset, uint64_t size);
/// Returns the largest file size that this process may write, or UINT64_MAX. A write past it would raise SIGXFSZ.
uint64_t lt_file_size_limit(void);

pid_t lt_process_id(void);
pid_t lt_parent_process_id(void);
pid_t lt_thread_id(void);
/// False if the thread has ended.
bool lt_thread_exists(pid_t process, pid_t thread);
/// Returns the time of the clock, CLOCK_MONOTONIC or CLOCK_REALTIME, in nanoseconds.
uint64_t lt_clock_nanoseconds(clockid_t clock);
/// Sleeps for the given time. Returns earlier if a signal handler runs.
void lt_sleep(uint64_t nanoseconds);
/// Returns random bits, for identifiers.
uint64_t lt_random(void);
/// Returns the process's peak resident size in bytes, or 0 if it is unknown.
uint64_t lt_peak_resident_size(void);
/// All signals, as a set: the lowest bit is signal 1.
#define LT_ALL_SIGNALS (~0ull)
/// Blocks signals in the calling thread, in addition to those already blocked. Returns the set that was blocked before.
uint64_t lt_block_signals(uint64_t signals);
/// Blocks exactly the signals in `before`.
void lt_restore_signals(uint64_t before);
/// Installs a handler for a fault, and unblocks the signal. Only a copy of the host may call this.
void lt_set_fault_handler(int number, void (*handler)(int, siginfo_t *, void *));
/// Gives a signal its default action.
void lt_set_default_action(int number);
/// True if the eight bytes at the address can be read. Makes a system call.
bool lt_is_readable(uintptr_t address);
/// True if the kernel itself uses the processor's tick counter as its clock, so the counter runs evenly on all cores.
bool lt_ticks_are_reliable(void);

// --- numbers as text -------------------------------------------------------------------------------------------------

/// The most bytes that a number takes as text, with the terminating zero.
enum { LT_NUMBER_SIZE = 24 };

/// Writes a number in a base from 8 to 16, and a terminating zero. Returns the address of that zero.
char *lt_put_number(char *p, uint64_t value, unsigned base);
static inline char *lt_put_decimal(char *p, uint64_t value) { return lt_put_number(p, value, 10); }

// --- bootstrap arena -------------------------------------------------------------------------------------------------

// A small arena that is never freed. It serves allocator calls that come before the recorder knows the next allocator.
// The loader makes such calls before the recorder starts, and the recorder causes some while it sets itself up.

void *lt_bootstrap_allocate(size_t size, size_t alignment);
enum { LT_BOOTSTRAP_SIZE = 256 << 10 };
extern uint8_t lt_bootstrap_arena[LT_BOOTSTRAP_SIZE] __attribute__((visibility("hidden")));
static inline int lt_bootstrap_owns(const void *pointer) {
  return (uintptr_t)pointer - (uintptr_t)lt_bootstrap_arena < LT_BOOTSTRAP_SIZE;
}
size_t lt_bootstrap_size(const void *pointer);
/// Returns the end of the used part of the arena.
uintptr_t lt_bootstrap_used_end(void);
/// Returns the address range of the arena. The arena holds blocks that the host or the loader asked for.
void lt_bootstrap_range(uintptr_t *start, uintptr_t *end);

#endif
