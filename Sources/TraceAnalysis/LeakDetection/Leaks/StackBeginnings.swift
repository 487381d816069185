// Names the outermost functions of a stack, if a stripped C library has no names for them.

import TraceReading
import TraceSymbolication

/// The functions of glibc that start threads and `main`. They are recognised by their position in a stack.
///
/// glibc exports none of these functions, and distributions strip its symbol table. A thread's function may return
/// memory by a tail call of malloc. Without names, this memory would look as if the C library had allocated it for
/// itself.
///
/// The kernel starts a thread in `clone3`, or in `__clone` before glibc 2.34. That function calls `start_thread`, and
/// `start_thread` calls the thread's function. `__libc_start_main`, an exported function, calls
/// `__libc_start_call_main`, and that function calls `main`. Source: glibc 2.31 to 2.43, nptl/pthread_create.c,
/// sysdeps/unix/sysv/linux/x86_64/clone3.S and sysdeps/nptl/libc_start_call_main.h.
enum StackBeginnings {
  private static let clones: Set<String> = ["clone", "__clone", "clone3", "__clone3"]

  /// Names the outermost frames of a complete stack. `frames`: innermost first. O(1).
  static func name(_ frames: inout [SourceFrame]) {
    guard let last = frames.indices.last else { return }
    name(last, "__clone3", &frames)
    guard last > frames.startIndex, let outer = frames[last].mangledName, clones.contains(outer) else {
      // The program's `_start` is the outermost frame of the main thread.
      if let start = frames.lastIndex(where: AllocationFunctions.isStartOfMain), last - start <= 1, start > 0 {
        name(start - 1, "__libc_start_call_main", &frames)
      }
      return
    }
    name(last - 1, "start_thread", &frames)
  }

  private static func name(_ index: Int, _ function: String, _ frames: inout [SourceFrame]) {
    guard !frames[index].isNamed, frames[index].imagePath.map(SystemCode.isCLibrary) == true else { return }
    frames[index].mangledName = function
    frames[index].function = function
    frames[index].fullFunction = function
  }
}
