// Facts about the platform's own code that bear on who owns a leak.

import HeapAnalysis
import TraceSymbolication

/// Leaks that a library has whatever the program does.
enum KnownLibraryLeaks {
  private static let reasons: [String: String] = [
    "Foundation.Timer":
      "Foundation hands its run loop a retained reference to every Timer and never gives it back, so that each Timer, invalidated or not, stays with its block"
  ]

  static func reason(_ type: NodeType) -> String? { reasons[type.qualifiedName] }
}

/// Functions that allocate for their callers.
enum AllocationFunctions {
  private static let names: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc",
    "swift_slowAlloc",
    "swift_slowAllocTyped", "swift_allocObject", "_swift_allocObject_", "swift_allocBox", "swift_allocError",
    "swift_coroFrameAlloc", "_Znwm", "_Znam",
    "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "swift_allocEmptyBox", "swift_allocateGenericValueMetadata",
  ]

  static func isOne(_ frame: SourceFrame) -> Bool {
    if let name = frame.mangledName, names.contains(name) { return true }
    return frame.function.hasPrefix("operator new") || frame.function.hasPrefix("swift_allocObject")
      || frame.function.hasPrefix("swift_slowAlloc")
  }

  /// A function that makes something for its caller: the standard library's containers, and what of the C library gives
  /// memory away.
  static func isTransparent(_ frame: SourceFrame) -> Bool {
    guard let name = frame.mangledName else { return false }
    if isSwift(name) {
      let image = frame.imageName ?? ""
      return image.hasPrefix("libswiftCore") || image.hasPrefix("libswift_Concurrency") || name.hasPrefix("$ss")
        || name.hasPrefix("$sS")
        || name.hasPrefix("$sScT") || name.hasPrefix("$sScS")
    }
    // Templates of the C++ library are instantiated in whoever uses them.
    if ["_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"].contains(where: { name.hasPrefix($0) }) {
      return true
    }
    if name.hasPrefix("swift_task_create") || name.hasPrefix("swift_asyncLet") { return true }
    let image = frame.imageName ?? ""
    return image.hasPrefix("libc.") || image.hasPrefix("libc-2") || image.hasPrefix("libstdc++")
  }

  /// The Swift runtime's C++ code, the loader, and functions of the C library that make what the library keeps for good
  /// in tables of its own. All others of the C library make something for their callers, or free it themselves.
  static func isRuntimeInternal(_ frame: SourceFrame) -> Bool {
    let image = frame.imageName ?? ""
    if image.hasPrefix("ld-") { return true }
    guard let name = frame.mangledName else {
      return SystemCode.isSystemImage(frame.imagePath ?? "") && !isOfCLibrary(image)
    }
    if isSwift(name) { return false }
    if name.hasPrefix("_ZN5swift") || name.hasPrefix("_ZNK5swift") || name.hasPrefix("_ZL") || name.contains("5swift") {
      return true
    }
    if name.hasPrefix("swift_") || name.hasPrefix("_swift_") { return !handsOut.contains { name.hasPrefix($0) } }
    let plain = withoutAlias(name)
    return internals.contains { plain.hasPrefix($0) }
  }

  /// Functions of the Swift runtime whose result is their caller's.
  private static let handsOut = ["swift_task_create", "swift_demangle"]

  /// Thread-local memory and its tables, what runs at exit, locales, character sets, time zones, and the tables of the
  /// name service (glibc 2.36).
  private static let internals = [
    "_dl_", "allocate_dtv", "allocate_stack", "__tls_get_addr", "tls_get_addr", "__nptl_", "__cxa_atexit",
    "__cxa_thread_atexit", "__cxa_get_globals", "__new_exitfn",
    "__internal_atexit", "setlocale", "_nl_", "__gconv_load", "__gconv_read", "__gconv_find", "__gconv_lookup", "tzset",
    "__tz", "__nss_", "nss_", "__res_", "__resolv_",
    "init_cacheinfo",
  ]

  /// glibc's own name for a function that it calls by another.
  private static func withoutAlias(_ name: String) -> Substring {
    name.hasPrefix("__GI_") ? name.dropFirst(5) : name[...]
  }

  private static func isOfCLibrary(_ image: String) -> Bool { image.hasPrefix("libc.") || image.hasPrefix("libc-2") }

  /// A function that calls what the program gave it: what it seems to have asked for itself, a function of the
  /// program's asked for that left its place on the stack by a tail call.
  static func callsProgram(_ frame: SourceFrame) -> Bool {
    guard let name = frame.mangledName else { return false }
    let plain = withoutAlias(name)
    return callers.contains { plain == $0 } || callersOfBlocks.contains { plain.hasPrefix($0) }
  }

  private static let callers: Set<Substring> = [
    "start_thread", "__clone", "__clone3", "clone", "clone3", "__libc_start_call_main", "__libc_start_main",
    "__libc_start_main_impl", "_start", "qsort", "__qsort_r", "qsort_r",
    "bsearch", "tsearch", "__tsearch", "twalk", "__twalk", "__run_exit_handlers", "__pthread_once_slow", "pthread_once",
    "nftw", "ftw",
  ]

  private static let callersOfBlocks = ["_dispatch_client_callout", "_dispatch_call_block_and_release"]

  /// A function that calls what others gave it, again and again.
  static func callsBack(_ frame: SourceFrame) -> Bool {
    if let name = frame.mangledName, loops.contains(where: { name.hasPrefix($0) }) { return true }
    return frame.function.hasPrefix("SelectableEventLoop.run") || frame.function.hasPrefix("Thread.main")
      || frame.function.hasPrefix("RunLoop.")
  }

  private static let loops = [
    "_dispatch_client_callout", "_dispatch_call_block_and_release", "__CFRunLoop", "CFRunLoopRun", "swift_job_run",
    "start_thread", "__clone", "clone",
  ]

  /// Tells whether a frame calls `main` for the program.
  static func isStartOfMain(_ frame: SourceFrame) -> Bool {
    frame.mangledName.map { withoutAlias($0).hasPrefix("__libc_start_") || $0 == "_start" } ?? false
  }

  private static func isSwift(_ name: String) -> Bool {
    name.hasPrefix("$s") || name.hasPrefix("$S") || name.hasPrefix("_$s")
  }
}
