// The reference of a cycle to cut.

import TraceSymbolication

/// Chooses the reference that leads back: its owner was held from outside until the end. If the program cuts it, the
/// objects that it owns are freed at once.
struct CycleCut {
  /// A variable that a closure of the program captures.
  struct Capture {
    var variable: String
    /// The closure's function.
    var closure: SourceFrame?
    /// The step whose reference leads to the closure.
    var holder: Int?
    /// The object that it keeps.
    var target: Int
    var how: How

    enum How {
      case directly
      /// As a part of another value, so that no name is known.
      case inValue
      /// The closure is in the variable that it captures.
      case itself
    }
  }

  /// From one object of the program to the next on the path, collections and boxes between them left out.
  struct Link: Equatable {
    /// The object's step, whose reference is the field.
    var from: Int
    /// The step whose reference leads to the next object.
    var last: Int
    var to: Int
  }

  let names: SourceNames
  let evidence: AdviceEvidence
  private var path: [Finding.Step] { names.path }

  init(_ finding: Finding, _ evidence: AdviceEvidence) {
    names = SourceNames(finding)
    self.evidence = evidence
  }

  // MARK: Captures

  /// The capture to make weak: of `self` rather than of another variable, and in the program's closures only.
  var capture: Capture? {
    let all = path.indices.compactMap(capture(at:))
    let owned = all.filter { outsideOwned.contains($0.target) }
    return all.last { $0.variable == "self" } ?? owned.last ?? all.last
  }

  func capture(at index: Int) -> Capture? {
    let step = path[index]
    guard let reference = step.reference, let next = names.next(index) else { return nil }
    let target = path[next]
    if reference.isClosure {
      // The closure has the object itself for a context.
      guard Self.isObject(target), Self.isProgram(reference.closure) else { return nil }
      return Capture(
        variable: reference.capturesSelf ? "self" : "", closure: reference.closure, holder: index, target: next,
        how: .directly)
    }
    guard step.kind == .closure, reference.isCapture, Self.isProgram(step.function) else { return nil }
    let holder = names.previous(index).flatMap { $0 == index ? nil : $0 }
    let isNamed = SourceNames.isWord(reference.name)
    if Self.isObject(target) {
      return Capture(
        variable: isNamed ? reference.name : "", closure: step.function, holder: holder, target: next,
        how: isNamed || reference.name.isEmpty ? .directly : .inValue)
    }
    guard target.kind == .box, let beyond = names.next(next), beyond != next else { return nil }
    if Self.isObject(path[beyond]), target.reference?.name.isEmpty == true {
      return Capture(
        variable: isNamed ? reference.name : "", closure: step.function, holder: holder, target: beyond, how: .directly)
    }
    guard path[beyond].kind == .closure, isNamed else { return nil }
    return Capture(variable: reference.name, closure: step.function, holder: holder, target: next, how: .itself)
  }

  /// The advice to make a capture weak.
  func weakCapture(_ capture: Capture) -> Advice.WeakCapture {
    Advice.WeakCapture(
      variable: capture.variable.isEmpty ? nil : capture.variable, type: SourceNames.plain(path[capture.target].type),
      site: .closure(capture.closure))
  }

  /// Returns whether a frame is code that the programmer can change, or a thunk made to call such code.
  static func isProgram(_ frame: SourceFrame?) -> Bool {
    guard let frame, frame.isNamed else { return false }
    return frame.kind == .user || frame.kind == .thunk && frame.imagePath.map { !SystemCode.isSystemImage($0) } ?? false
  }

  /// Something that can be captured weakly.
  private static func isObject(_ step: Finding.Step) -> Bool {
    step.kind == .task || step.kind == .object && !SystemCode.isSystemModule(SourceNames.module(step))
  }

  /// The program's function that gave a library a closure known only by its memory, and the object that the closure
  /// keeps.
  var block: (frame: SourceFrame, target: Int)? {
    for index in path.indices
    where path[index].kind == .object && SystemCode.isSystemModule(SourceNames.module(path[index])) {
      var place: SourceFrame?
      var current = names.next(index)
      for _ in path.indices {
        guard let step = current, step != index else { break }
        if path[step].kind == .malloc {
          if let frame = path[step].place, frame.kind == .user, frame.line != nil || place == nil { place = frame }
          current = names.next(step)
          continue
        }
        if let place, path[step].kind == .object, isOwn(path[step]) { return (place, step) }
        break
      }
    }
    return nil
  }

  // MARK: Fields

  /// Names that references to an owner have in any program, and seldom another.
  private static let ownerNames = ["delegate", "datasource", "parent", "owner", "superview", "previous", "prev"]

  private func hasOwnerName(_ link: Link) -> Bool {
    guard let name = path[link.last].reference?.name.lowercased() else { return false }
    return Self.ownerNames.contains { name.hasSuffix($0) }
  }

  /// The links between objects of the program.
  private var links: [Link] {
    let objects = path.indices.filter { path[$0].kind == .object }
    return objects.indices.compactMap { place in
      let (from, to) = (objects[place], objects[(place + 1) % objects.count])
      guard isOwn(path[from]), isOwn(path[to]), let last = names.previous(to) else { return nil }
      // A closure's own reference is no field of the program's.
      var current = from
      for _ in path.indices {
        if path[current].kind == .closure || path[current].kind == .task || path[current].reference?.isClosure == true {
          return nil
        }
        if current == last { return Link(from: from, last: last, to: to) }
        guard let next = names.next(current) else { return nil }
        current = next
      }
      return nil
    }
  }

  /// A field that can be declared weak: of a class or a structure, with one reference and nothing else in it.
  func canBeWeak(_ link: Link) -> Bool {
    // If a type's fields are not known, a name that only references to an owner have says enough.
    guard let reference = path[link.last].reference, reference.caseName == nil,
      reference.strength == .strong || hasOwnerName(link)
    else { return false }
    // A value of a protocol that structures may conform to cannot be weak.
    if evidence.isInOpaqueExistential(path[link.last], target: path[link.to]) { return false }
    if link.last == link.from { return SourceNames.isWord(reference.name) }
    // The field of a structure in a collection or a box.
    return names.elementField(of: link.last) != nil
      || path[link.last].kind == .box && SourceNames.isWord(reference.name)
  }

  /// The link that leads back; nil if no object of the program holds another.
  var link: Link? {
    let links = links
    let owned = outsideOwned
    func rank(_ link: Link) -> Int {
      let leadsToOwned = owned.contains(link.to)
      let leadsBack = evidence.isOlder(path[link.to].address, than: path[link.from].address)
      if canBeWeak(link) {
        if leadsToOwned { return hasOwnerName(link) ? 0 : 1 }
        if hasOwnerName(link) { return 2 }
        if !owned.isEmpty { return 6 }
        return leadsBack ? 3 : 5
      }
      return leadsToOwned || owned.isEmpty && leadsBack ? 4 : 7
    }
    // The last of equals: a path begins with the object that was made first.
    return links.enumerated().min { (rank($0.element), -$0.offset) < (rank($1.element), -$1.offset) }?.element
  }

  /// Returns whether to cut a field rather than a capture. An object that passes on a method of another object owns
  /// that object, like a wrapper that hides the object's type.
  func prefers(_ link: Link, to capture: Capture) -> Bool {
    guard canBeWeak(link), let name = capture.closure?.closureName, name.hasPrefix(SourceFrame.methodReference) else {
      return false
    }
    let owner = RetainPlaces.owner(of: String(name.dropFirst(SourceFrame.methodReference.count)))
    let type = SourceNames.plain(path[capture.target].type)
    return owner.map { $0 != type && !$0.hasSuffix(".\(type)") } ?? false
  }

  /// Three or more objects of one type that hold one another by one field: none of these references is more of a way
  /// back than the others.
  var ring: Finding.Step? {
    guard path.count > 2, let first = path.first, first.kind == .object, let name = first.reference?.name,
      SourceNames.isWord(name)
    else { return nil }
    let isRing = path.allSatisfy {
      $0.kind == .object && $0.qualifiedType == first.qualifiedType && $0.reference?.name == name
        && $0.reference?.strength == .strong
    }
    return isRing ? first : nil
  }

  /// Steps of the objects that something outside of the cycle let go of last; empty if that is not known, or says
  /// nothing.
  ///
  /// After the last release from outside nothing leads to the cycle, so that none comes later. Objects that one
  /// function let go of together had equal owners, and so had those that it made: the compiler hands a local variable's
  /// last reference on without a release.
  private var outsideOwned: Set<Int> {
    let objects = path.indices.filter { path[$0].kind == .object }
    let lives = objects.compactMap { index in evidence.life(of: path[index].address).map { (index, $0) } }
    guard let last = lives.compactMap({ $0.1.lastRelease }).max(by: { $0.order < $1.order }) else { return [] }
    let owned = lives.filter { life in
      if life.1.lastRelease?.order == last.order { return true }
      guard let function = last.function else { return false }
      return life.1.lastRelease?.function == function || life.1.madeIn == function
    }
    return owned.count < objects.count && lives.count == objects.count ? Set(owned.map(\.0)) : []
  }

  /// Returns whether a step is an object of the program, or of a package if the program has no object on the path.
  private func isOwn(_ step: Finding.Step) -> Bool {
    guard step.kind == .object, !SystemCode.isSystemModule(SourceNames.module(step)) else { return false }
    guard let first = path.first(where: { $0.kind == .object && !SystemCode.isSystemModule(SourceNames.module($0)) })
    else { return false }
    return SourceNames.module(step) == SourceNames.module(first)
  }
}
