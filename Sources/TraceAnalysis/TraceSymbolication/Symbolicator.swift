// Finds names for the addresses of recorded stacks. This is the last stage, for frames that a report shows.

import TextWriting
import TraceReading

/// Looks up run-time addresses in the files of their loaded images.
///
/// A file is opened at the first look-up of an address in its image. If a file cannot be used, addresses in it are
/// named `module+0xoffset`, and `problems` has the reason. For one thread at a time.
///
///     let symbolicator = Symbolicator(images: trace.images)
///     for frame in symbolicator.frames(for: key, in: image) { … }
package final class Symbolicator {
  private struct FileKey: Hashable {
    var path: String
    var buildID: [UInt8]
  }

  private struct AddressKey: Hashable {
    var file: Int
    var address: UInt64
    var isExact: Bool
    var isAsync: Bool
  }

  private struct FunctionKey: Hashable {
    var file: Int
    var name: String
  }

  private struct OpenedImage {
    var files: ImageFiles
    var demangler: Demangler
    var usesDebugInformation: Bool

    var debugInformation: DebugInformation? { usesDebugInformation ? files.debugInformation : nil }
  }

  let search: DebugFileSearch
  private let access: any SymbolFileAccess
  private let programModules: Set<String>
  private var numbers: [FileKey: Int] = [:]
  private var images: [LoadedImage] = []
  private var opened: [Int: OpenedImage] = [:]
  private let openFiles: OpenImageFiles
  private var functionAddresses: [FunctionKey: LinkAddress?] = [:]
  private var cache: [AddressKey: [SourceFrame]] = [:]
  /// Whether functions of the platform's libraries have lines and inlined functions.
  private let readsLinesOfPlatform: Bool
  /// Maximum number of distinct frames that are looked up. All others get the frame `nameless`.
  private let frameLimit: Int
  private lazy var nameless = [unnamed("code without a name", image: nil, isAsync: false)]
  /// True if more frames than the limit were looked up.
  private(set) var isOverLimit = false

  /// - Parameters:
  ///   - images: all loaded images of a trace. A file that is loaded several times is read once.
  ///   - programModules: Swift modules that short names leave out. Short names also leave out the module that is named
  ///     like its loaded image, if the image belongs to the program.
  ///   - openFiles: files that other symbolicators with the same search have opened.
  ///   - readsLinesOfPlatform: false to name functions of the platform's libraries by their symbols alone. The debug
  ///     information of the C library is compressed, so reading it takes tens of milliseconds.
  ///   - frameLimit: the maximum number of distinct frames that are looked up. All others are named `code without a
  ///     name`.
  package init(
    images: [LoadedImage], search: DebugFileSearch = DebugFileSearch(),
    access: any SymbolFileAccess = LocalSymbolFiles(),
    openFiles: OpenImageFiles = OpenImageFiles(), programModules: Set<String> = [],
    readsLinesOfPlatform: Bool = true, frameLimit: Int = .max
  ) {
    self.openFiles = openFiles
    openFiles.renewDemanglers()
    self.readsLinesOfPlatform = readsLinesOfPlatform
    self.frameLimit = frameLimit
    self.search = search
    self.access = access
    self.programModules = programModules
    for image in images { _ = number(of: image) }
  }

  /// Makes a symbolicator for analysed traces, with a frame limit that follows from the traces.
  package convenience init(
    of analyses: [AllocationAnalysis], search: DebugFileSearch = DebugFileSearch(),
    access: (any SymbolFileAccess)? = nil, openFiles: OpenImageFiles = OpenImageFiles(),
    readsLinesOfPlatform: Bool = true
  ) {
    self.init(
      images: analyses.flatMap { $0.definitions.images.map(\.image) }, search: search,
      access: access ?? search.access(storedBy: analyses.compactMap(\.storedFiles)), openFiles: openFiles,
      readsLinesOfPlatform: readsLinesOfPlatform,
      frameLimit: analyses.reduce(0) {
        $0.addingReportingOverflow($1.limits.frameCount).overflow ? .max : $0 + $1.limits.frameCount
      })
  }

  /// Returns the functions at an address. Inlined functions come first, from the innermost. The function that contains
  /// them comes last. Never empty: an unknown address gives one frame, named by image and offset.
  ///
  /// `image` is the loaded image that covers the address. If it is `nil`, the frame is named by the address. O(log n)
  /// once the image's file is open. The first look-up in a compilation unit takes longer.
  package func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    let number = image.map { self.number(of: $0) } ?? Self.noImage
    let address = key.address.rawValue &- (image?.loadBias ?? 0)
    let cacheKey = AddressKey(file: number, address: address, isExact: key.isExact, isAsync: key.isAsync)
    if let known = cache[cacheKey] { return known }
    guard cache.count < frameLimit else {
      isOverLimit = true
      return nameless
    }
    let result =
      image.map {
        lookUp(Self.target(of: key, in: $0), offset: address, image: $0, number: number, isAsync: key.isAsync)
      }
      ?? [unnamed("0x" + String(key.address.rawValue, radix: 16), image: nil, isAsync: key.isAsync)]
    cache[cacheKey] = result
    return result
  }

  private static let noImage = -1

  /// Returns the link address to look up. For a return address, this is one less, since the instruction after the call
  /// may belong to another line or another function.
  private static func target(of key: FrameKey, in image: LoadedImage) -> LinkAddress {
    let address = key.address.rawValue &- image.loadBias
    return LinkAddress(key.isExact || key.isAsync || address == 0 ? address : address - 1)
  }

  /// See `FrameNaming.allocatorSignatures(for:in:)`. O(parameters of the functions) after the first look-up in the
  /// unit.
  package func allocatorSignatures(for key: FrameKey, in image: LoadedImage?) -> [Bool] {
    guard let image else { return [] }
    let declared =
      open(number(of: image)).debugInformation?.allocatorSignatures(at: Self.target(of: key, in: image)) ?? []
    return frames(for: key, in: image).enumerated().map { index, frame in
      index < declared.count && declared[index]
        || frame.mangledName?.hasPrefix("$s") ?? false && AllocatorSignature.isDeclared(by: frame.fullFunction)
    }
  }

  /// Returns the address in the process where the function with the linkage name begins. Linear in the image's symbols
  /// on the first call for a name.
  package func address(ofFunction mangledName: String, in image: LoadedImage) -> RuntimeAddress? {
    let key = FunctionKey(file: number(of: image), name: mangledName)
    let link = functionAddresses[key] ?? open(key.file).files.symbols?.address(of: mangledName)
    functionAddresses[key] = .some(link)
    return link.map { RuntimeAddress($0.rawValue &+ image.loadBias) }
  }

  /// Returns the variables that the closure with the linkage name captured; `nil` if debug information does not list
  /// them. `address` is the closure's own address, or the address of the forwarder that passes the context to the
  /// closure. The closure may be inlined into the forwarder.
  ///
  /// In debug information, the captures are the last parameters of the closure's function, in the order of the context.
  /// O(inlined calls of the function) after the first look-up in the function's unit.
  package func captures(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage)
    -> ClosureCaptures?
  {
    let opened = open(number(of: image))
    let closure = ClosureName.withoutReabstraction(mangledName)
    return parameters(ofClosure: mangledName, at: address, in: image).flatMap {
      captures(of: $0, closure, opened.demangler)
    }
  }

  /// Returns the line where a closure begins. The closure's first instruction may be a few lines further down. For the
  /// arguments, see `captures(ofClosure:at:in:)`.
  package func line(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage) -> Int? {
    parameters(ofClosure: mangledName, at: address, in: image).flatMap { $0.line > 0 ? $0.line : nil }
  }

  private func parameters(ofClosure mangledName: String, at address: RuntimeAddress, in image: LoadedImage)
    -> DebugParameters?
  {
    guard let information = open(number(of: image)).debugInformation else { return nil }
    let closure = ClosureName.withoutReabstraction(mangledName)
    func parameters(at place: RuntimeAddress?) -> DebugParameters? {
      place.flatMap { information.parameters(ofFunction: closure, at: LinkAddress($0.rawValue &- image.loadBias)) }
    }
    return parameters(at: address) ?? parameters(at: self.address(ofFunction: closure, in: image))
      ?? (closure == mangledName ? nil : parameters(at: self.address(ofFunction: mangledName, in: image)))
      // The address of an async closure is a record, not code. Look up the closure's forwarder instead.
      ?? parameters(at: self.address(ofFunction: mangledName + "TA", in: image))
  }

  private func captures(of function: DebugParameters, _ mangledName: String, _ demangler: Demangler) -> ClosureCaptures?
  {
    let name = demangler.demangle(mangledName).full
    guard let declared = ClosureName.parameterCount(name), declared <= function.parameters.count else { return nil }
    // A parameter that is declared before the closure's first line is a capture, even if debug information lacks some
    // of the closure's own parameters.
    let own = function.parameters.prefix(declared).prefix { $0.line == 0 || $0.line >= function.line }.count
    let captured = function.parameters.dropFirst(own)
    let promoted = ClosureName.promoted(mangledName, last: captured.count)
    var variables: [CapturedVariable] = []
    for (parameter, isPromoted) in zip(captured, promoted) {
      guard !parameter.name.isEmpty else { return nil }
      let isBoxed = !parameter.isConstant && !isPromoted
      variables.append(
        CapturedVariable(
          name: parameter.name, typeName: parameter.mangledType.map { demangler.demangle($0).full },
          size: isBoxed ? 8 : parameter.size,
          isBoxed: isBoxed))
    }
    return ClosureCaptures(variables: variables, isGeneric: function.isGeneric)
  }

  /// Returns the name of the variable at an address in a loaded image's data, such as `static Cache.all`.
  package func variable(at address: RuntimeAddress, in image: LoadedImage) -> String? {
    let opened = open(number(of: image))
    guard let name = opened.files.variables?.name(at: LinkAddress(address.rawValue &- image.loadBias)) else {
      return nil
    }
    return opened.demangler.variableName(name)
  }

  /// Returns the demangled name with all module names; `nil` if the name is not mangled.
  package func demangled(_ mangledName: String) -> String? {
    let name = openFiles.demangler(programModules: []).demangle(mangledName)
    return name.full == mangledName ? nil : name.full
  }

  /// See `FrameNaming.isLoop(partAt:in:)`. O(symbols) for each address.
  package func isLoop(partAt address: RuntimeAddress, in image: LoadedImage) -> Bool? {
    let files = open(number(of: image)).files
    guard let symbols = files.symbols, let code = files.code else { return nil }
    return AsyncLoops(symbols, code: code).contains(partAt: LinkAddress(address.rawValue &- image.loadBias))
  }

  package func functionHashes(in images: [LoadedImage]) -> Set<UInt32> {
    var hashes: Set<UInt32> = []
    var seen: Set<ObjectIdentifier> = []
    for image in images {
      guard let symbols = open(number(of: image)).files.symbols, seen.insert(ObjectIdentifier(symbols)).inserted else {
        continue
      }
      hashes.formUnion(symbols.functionHashes)
    }
    return hashes
  }

  package func sourceFile(ofModule module: String, in images: [LoadedImage]) -> String? {
    for image in images where !SystemCode.isSystemImage(image.path) {
      if let file = open(number(of: image)).debugInformation?.moduleFiles[module] { return file }
    }
    return nil
  }

  /// The problems with all loaded images whose addresses were looked up, in the order of the images.
  package var problems: [ImageProblem] {
    opened.sorted { $0.key < $1.key }.flatMap { $0.value.files.problems }
  }

  // MARK: Images

  private func number(of image: LoadedImage) -> Int {
    let key = FileKey(path: image.path, buildID: image.buildID)
    if let known = numbers[key] { return known }
    numbers[key] = images.count
    images.append(image)
    return images.count - 1
  }

  private func open(_ number: Int) -> OpenedImage {
    if let known = opened[number] { return known }
    let image = images[number]
    // Code that the kernel itself maps has no file.
    let isVirtual = image.path.isEmpty || image.path.hasPrefix("[") || image.path.hasPrefix("linux-vdso")
    let files = isVirtual ? ImageFiles(withoutFile: image) : self.files(of: image)
    let isSystem = SystemCode.isSystemImage(image.path)
    let own: Set<String> = isSystem ? [] : ["main", moduleName(ofImage: image.path)]
    let modules = programModules.union(own)
    let result = OpenedImage(
      files: files, demangler: openFiles.demangler(programModules: modules),
      usesDebugInformation: readsLinesOfPlatform || !isSystem)
    opened[number] = result
    return result
  }

  private func files(of image: LoadedImage) -> ImageFiles {
    let place = access.canonicalPath(ofFile: search.localPath(ofImage: image.path))
    return openFiles.files(at: place, buildID: image.buildID) { ImageFiles(image, search: search, access: access) }
  }

  // MARK: Frames

  private func lookUp(_ address: LinkAddress, offset: UInt64, image: LoadedImage, number: Int, isAsync: Bool)
    -> [SourceFrame]
  {
    let opened = open(number)
    let debugFrames = opened.debugInformation?.frames(at: address) ?? []
    let symbol = opened.files.symbols?.name(at: address)
    guard let physical = debugFrames.last else {
      guard let symbol else {
        if let code = asyncFunction(at: address, opened) {
          return lookUp(code, offset: offset, image: image, number: number, isAsync: isAsync)
        }
        return [unnamed(offsetName(offset, image), image: image, isAsync: isAsync)]
      }
      return [frame(symbol, position: nil, image: image, opened, isInlined: false, isAsync: isAsync)]
    }
    var frames: [SourceFrame] = []
    for inlined in debugFrames.dropLast() {
      frames.append(
        frame(inlined.name, position: inlined.position, image: image, opened, isInlined: true, isAsync: isAsync))
    }
    // A plain name in debug information may be ambiguous. If the symbol is mangled, use the symbol.
    let name =
      physical.isLinkageName ? physical.name : symbol.map { isMangled($0) ? $0 : physical.name ?? $0 } ?? physical.name
    if let name {
      frames.append(frame(name, position: physical.position, image: image, opened, isInlined: false, isAsync: isAsync))
    } else {
      var nameless = unnamed(offsetName(offset, image), image: image, isAsync: isAsync)
      set(physical.position, on: &nameless)
      frames.append(nameless)
    }
    return frames
  }

  /// Returns the code of the async function whose record is at an address. Function values refer to such a record.
  private func asyncFunction(at address: LinkAddress, _ opened: OpenedImage) -> LinkAddress? {
    guard let record = opened.files.variables?.name(at: address), record.hasPrefix("$s"), record.hasSuffix("Tu") else {
      return nil
    }
    guard let code = opened.files.symbols?.address(of: String(record.dropLast(2))) else { return nil }
    // Require a symbol at the code's address. Otherwise a damaged file's record could lead to itself, and the look-up
    // would never end.
    return opened.files.symbols?.name(at: code) != nil ? code : nil
  }

  private func isMangled(_ name: String) -> Bool {
    name.hasPrefix("_Z") || name.hasPrefix("$s") || name.hasPrefix("_R")
  }

  private func frame(
    _ name: String?, position: SourcePosition?, image: LoadedImage, _ opened: OpenedImage, isInlined: Bool,
    isAsync: Bool
  ) -> SourceFrame {
    let mangled = name ?? "?"
    let demangled = opened.demangler.demangle(mangled)
    var frame = SourceFrame(
      function: demangled.short, fullFunction: demangled.full, mangledName: name, imagePath: image.path, file: nil,
      line: nil, column: nil,
      isInlined: isInlined,
      kind: SystemCode.kind(of: demangled, mangled: mangled, inImage: image.path, position: position),
      isAsync: isAsync || demangled.isAsync, asyncPart: demangled.asyncPart)
    set(position, on: &frame)
    return frame
  }

  private func set(_ position: SourcePosition?, on frame: inout SourceFrame) {
    guard let position else { return }
    frame.file = position.file
    guard position.line > 0 else { return }
    frame.line = position.line
    frame.column = position.column > 0 ? position.column : nil
  }

  private func offsetName(_ address: UInt64, _ image: LoadedImage) -> String {
    fileName(ofPath: image.path) + "+0x" + String(address, radix: 16)
  }

  private func unnamed(_ name: String, image: LoadedImage?, isAsync: Bool) -> SourceFrame {
    SourceFrame(
      function: name, fullFunction: name, mangledName: nil, imagePath: image?.path, file: nil, line: nil, column: nil,
      isInlined: false,
      kind: image.map { SystemCode.isSystemImage($0.path) } == true ? .systemLibrary : .user, isAsync: isAsync,
      asyncPart: nil)
  }
}

/// Returns the Swift module that a loaded image is named after: `Net` for `libNet.so.1`, `my_tool` for `my-tool`.
package func moduleName(ofImage path: String) -> String {
  var name = fileName(ofPath: path)
  if name.hasPrefix("lib"), let end = name.firstIndex(of: "."), name[end...].hasPrefix(".so") {
    name = String(name[..<end].dropFirst(3))
  }
  return String(name.map { $0 == "-" || $0 == "." ? "_" : $0 })
}
