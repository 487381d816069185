// Determines whether this library can be preloaded into a program that is about to be executed.

#ifndef LEAKTRACE_PROGRAM_KIND_H
#define LEAKTRACE_PROGRAM_KIND_H

enum lt_program_kind {
  LT_PROGRAM_PRELOADS, ///< it can be preloaded, or its kind is unknown
  LT_PROGRAM_STATIC,   ///< it has no loader, so the variables affect only its children
  /// it has another loader, is for another processor, or has a library that must be loaded first. With this library
  /// preloaded, it would print an error or end
  LT_PROGRAM_FOREIGN,
  LT_PROGRAM_MISSING, ///< there is no file that can be executed: it cannot replace this program
};

/// Returns the kind of the program at `path`. For a script, returns the kind of its interpreter.
enum lt_program_kind lt_program_kind_at(const char *path);
/// Returns the kind of the program that execvp and posix_spawnp find for `file`.
enum lt_program_kind lt_program_kind_named(const char *file);
enum lt_program_kind lt_program_kind_of_descriptor(int descriptor);

#endif
