// Tells the platform's own code from the program's.

import TraceReading

/// The rules that tell the platform's code: by the image it is in, and, for programs that have the libraries linked
/// into them, by name.
package struct SystemCode {
  private static let modules: Set<String> = [
    "Swift", "_Concurrency", "_StringProcessing", "_RegexParser", "RegexBuilder", "_Differentiation", "_Volatile",
    "Distributed",
    "Synchronization", "Observation", "Runtime", "Cxx", "CxxStdlib", "SwiftOnoneSupport", "_Builtin_float", "Glibc",
    "Musl", "SwiftGlibc",
    "Foundation", "FoundationEssentials", "FoundationInternationalization", "FoundationNetworking", "FoundationXML",
    "FoundationLegacySwiftCompatibility", "_FoundationICU", "_FoundationCollections", "_FoundationCShims",
    "CoreFoundation", "Dispatch",
    "XCTest", "Testing", "_TestingInternals", "_TestDiscovery",
  ]

  /// Beginnings of the names of shared libraries, each up to a version or `.so`.
  private static let libraries: [String] = [
    "libleaktrace", "libswift", "libFoundation", "lib_Foundation", "libdispatch", "libBlocksRuntime", "libXCTest",
    "libTesting", "lib_Testing",
    "libc.", "libc-2.", "libm.", "libm-2.", "libpthread", "libdl.", "libdl-2.", "librt.", "librt-2.", "libutil.",
    "libresolv", "libnss_",
    "libstdc++", "libc++.", "libc++abi", "libgcc_s", "libunwind", "libatomic", "ld-linux", "ld-musl", "ld-2.",
    "libjemalloc", "libtcmalloc",
    "libmimalloc", "libasan", "libtsan", "libicu", "linux-vdso", "linux-gate", "[vdso]", "[vsyscall]",
  ]

  /// Names that only the platform's C and C++ code has.
  private static let functions: [String] = [
    "swift_", "_swift_", "_ZN5swift", "_ZNK5swift", "_ZL23swift_", "_ZN12_GLOBAL__N_1L5swift", "_ZSt", "_ZNSt",
    "_ZNKSt",
    "_ZN9__gnu_cxx", "_ZNK9__gnu_cxx", "_ZNSa", "_ZNSs", "_ZNKSs", "_Znw", "_Zna", "_Zdl", "_Zda", "__cxa_", "__gxx_",
    "__gnu_cxx", "_Unwind_",
    "__libc_", "_dl_", "__gmon_", "__do_global_", "_Block_", "dispatch_", "_dispatch_", "_os_object", "os_retain",
    "os_release",
    "_firehose_", "_CF", "__CF", "CFAllocator", "CFArray", "CFAttributedString", "CFBag", "CFBinaryHeap", "CFBitVector",
    "CFBoolean", "CFBundle",
    "CFCalendar", "CFCharacterSet", "CFCopy", "CFData", "CFDate", "CFDictionary", "CFEqual", "CFError", "CFGetTypeID",
    "CFHash", "CFLocale",
    "CFMake", "CFNotificationCenter", "CFNumber", "CFPlugIn", "CFPreferences", "CFPropertyList", "CFReadStream",
    "CFRelease", "CFRetain",
    "CFRunLoop", "CFSet", "CFSocket", "CFStorage", "CFStream", "CFString", "CFTimeZone", "CFTree", "CFURL", "CFUUID",
    "CFWriteStream", "CFXML",
  ]

  /// Beginnings of the names of C functions that the Swift compiler makes in every program.
  private static let artifacts: [String] = [
    "__swift_", "objectdestroy", "block_copy_helper", "block_destroy_helper", "get_enum_tag_for_layout_string",
    "get_witness_table", "keypath_",
  ]

  private static let startFunctions: Set<String> = [
    "_start", "_init", "_fini", "frame_dummy", "register_tm_clones", "deregister_tm_clones", "call_weak_fn", "malloc",
    "calloc", "realloc",
    "reallocarray", "free", "posix_memalign", "aligned_alloc", "memalign", "valloc", "pvalloc", "__clone", "__clone3",
    "clone", "start_thread",
  ]

  /// The image is one of the platform's. `path` is as the traced process knew it.
  package static func isSystemImage(_ path: String) -> Bool {
    let name = fileName(ofPath: path)
    guard name.hasPrefix("l") || name.hasPrefix("[") else { return false }
    return libraries.contains { name.hasPrefix($0) }
  }

  /// The image is a shared library that came with the operating system: where its packages put them, and neither the
  /// program nor what was built with it is. `path` is as the traced process knew it.
  package static func isOfOperatingSystem(_ path: String) -> Bool {
    let folders = ["/lib/", "/lib64/", "/usr/lib/", "/usr/lib64/"]
    return folders.contains { path.hasPrefix($0) } && fileName(ofPath: path).contains(".so")
  }

  /// The image is glibc.
  package static func isCLibrary(_ path: String) -> Bool {
    let name = fileName(ofPath: path)
    return name.hasPrefix("libc.") || name.hasPrefix("libc-2")
  }

  package static func isSystemModule(_ module: String) -> Bool { modules.contains(module) }

  /// A function that has this symbol comes from the platform, though it is linked into the program.
  static func isSystemFunction(_ mangled: String) -> Bool {
    startFunctions.contains(mangled) || functions.contains { mangled.hasPrefix($0) } || isLocalRuntimeFunction(mangled)
  }

  /// A function of one file of the Swift runtime: `_ZL` and the length of a name that begins with `swift_`.
  private static func isLocalRuntimeFunction(_ mangled: String) -> Bool {
    mangled.hasPrefix("_ZL") && mangled.dropFirst(3).drop { $0.isNumber }.hasPrefix("swift_")
  }

  private static func isHeaderOfCLibrary(_ path: String) -> Bool {
    path.hasPrefix("/usr/include/") && path.contains("/bits/") && path.hasSuffix(".h") && !path.contains("c++")
  }

  /// Code that a macro expands to, in a file that no one has and that the compiler names for the macro (Swift 5.9 to
  /// 6.3). With optimisation the expansion has a name of that kind, and stands at line 1 of the file that uses the
  /// macro. The line that does is the next frame's.
  private static func isMacroExpansion(_ name: DemangledName, _ position: SourcePosition?) -> Bool {
    name.full.hasPrefix("freestanding macro expansion #")
      || position?.file.map { fileName(ofPath: $0).hasPrefix("@__swiftmacro_") } ?? false
  }

  /// A file that the package manager writes for a test bundle: it lists the tests and starts XCTest's and Swift
  /// Testing's runners.
  private static func isGeneratedRunner(_ path: String) -> Bool {
    path.hasSuffix(".swift")
      && (path.contains("PackageTests.derived/") || path.contains("PackageDiscoveredTests.derived/"))
  }

  /// The kind of a frame in an image that may be the program's.
  static func kind(of name: DemangledName, mangled: String, inImage path: String?, position: SourcePosition?)
    -> SourceFrame.Kind
  {
    if let path, isSystemImage(path) { return .systemLibrary }
    // A merged function is one function's code with a parameter more: if it has a line, that line is the program's.
    if name.isThunk || (name.isMerged && (position?.line ?? 0) == 0) { return .thunk }
    if name.language == .other, artifacts.contains(where: { mangled.hasPrefix($0) }) { return .thunk }
    // glibc's functions that headers define (`getline`, `asprintf`) are calls of its own: the code that includes them
    // makes the call.
    if name.language == .other, let file = position?.file, isHeaderOfCLibrary(file) { return .thunk }
    if isMacroExpansion(name, position) { return .thunk }
    if let module = name.module, isSystemModule(module) { return .systemLibrary }
    if let file = position?.file, isGeneratedRunner(file) { return .systemLibrary }
    if name.language != .swift, isSystemFunction(mangled) { return .systemLibrary }
    return .user
  }
}
