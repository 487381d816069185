// What is known of the platform's own code, as far as it bears on whose leak a leak is.

/// Leaks that a library has whatever the program does.
enum KnownLibraryLeaks {
  private static let reasons: [String: String] = [
    "Foundation.Timer":
      "Foundation hands its run loop a retained reference to every Timer and never gives it back, so that each Timer, invalidated or not, stays with its block",
  ]

  static func reason(_ type: NodeType) -> String? { reasons[type.qualifiedName] }
}

/// Functions that allocate for their callers.
enum AllocationFunctions {
  private static let names: Set<String> = [
    "malloc", "calloc", "realloc", "reallocarray", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc", "swift_slowAlloc",
    "swift_slowAllocTyped", "swift_allocObject", "_swift_allocObject_", "swift_allocBox", "swift_allocError", "swift_coroFrameAlloc", "_Znwm", "_Znam",
    "_ZnwmSt11align_val_t", "_ZnamSt11align_val_t", "swift_allocEmptyBox", "swift_allocateGenericValueMetadata",
  ]

  static func isOne(_ frame: SourceFrame) -> Bool {
    if let name = frame.mangledName, names.contains(name) { return true }
    return frame.function.hasPrefix("operator new") || frame.function.hasPrefix("swift_allocObject") || frame.function.hasPrefix("swift_slowAlloc")
  }

  /// A function that makes something for its caller: the standard library's containers, and what of the C library gives memory away.
  static func isTransparent(_ frame: SourceFrame) -> Bool {
    guard let name = frame.mangledName else { return false }
    if isSwift(name) {
      let image = frame.imageName ?? ""
      return image.hasPrefix("libswiftCore") || image.hasPrefix("libswift_Concurrency") || name.hasPrefix("$ss") || name.hasPrefix("$sS")
        || name.hasPrefix("$sScT") || name.hasPrefix("$sScS")
    }
    // Templates of the C++ library are instantiated in whoever uses them.
    if ["_ZSt", "_ZNSt", "_ZNKSt", "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx"].contains(where: { name.hasPrefix($0) }) { return true }
    if name.hasPrefix("swift_task_create") || name.hasPrefix("swift_asyncLet") { return true }
    let image = frame.imageName ?? ""
    return image.hasPrefix("libc.") || image.hasPrefix("libc-2") || image.hasPrefix("libstdc++")
  }

  /// The Swift runtime's C++ code, the loader and the threads' library: what they keep is theirs for good.
  static func isRuntimeInternal(_ frame: SourceFrame) -> Bool {
    let image = frame.imageName ?? ""
    if image.hasPrefix("ld-") { return true }
    guard let name = frame.mangledName else { return SystemCode.isSystemImage(frame.imagePath ?? "") }
    if isSwift(name) { return false }
    if name.hasPrefix("_ZN5swift") || name.hasPrefix("_ZNK5swift") || name.hasPrefix("_ZL") || name.contains("5swift") { return true }
    if name.hasPrefix("swift_") || name.hasPrefix("_swift_") { return !name.hasPrefix("swift_task_create") }
    return ["_dl_", "__libc_", "pthread_", "__pthread_", "__nptl", "init_cacheinfo", "_IO_", "setlocale", "__cxa_", "tzset", "__tz", "getpw", "res_", "__res_"]
      .contains { name.hasPrefix($0) }
  }

  private static func isSwift(_ name: String) -> Bool { name.hasPrefix("$s") || name.hasPrefix("$S") || name.hasPrefix("_$s") }
}
