// Chooses the reference that ends a cycle.

import TraceSymbolication

/// Chooses the reference that leads back to the object that code outside the cycle released last. If the program cuts
/// this reference, the last release from outside frees the object and everything that it owns.
struct CycleCut {
  /// A variable that a closure of the program captures.
  struct Capture {
    var variable: String
    /// The closure's function.
    var closure: SourceFrame?
    /// The step whose reference leads to the closure; nil if there is none.
    var holder: Int?
    /// The step of the object that the closure keeps.
    var target: Int
    var how: How

    enum How {
      case directly
      /// The object is a part of another captured value, so no name is known.
      case inValue
      /// The closure is in the variable that it captures.
      case itself
    }
  }

  /// A reference from one object of the program to the next object on the path. There may be collections and boxes in
  /// between.
  struct Link: Equatable {
    /// The step of the first object. Its reference is the field.
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

  /// The capture to make weak, in a closure of the program. A capture of `self` comes before other captures.
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
      // The object itself is the closure's context.
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

  /// Returns whether a step can be captured weakly.
  private static func isObject(_ step: Finding.Step) -> Bool {
    step.kind == .task || step.kind == .object && !SystemCode.isSystemModule(SourceNames.module(step))
  }

  /// The program's function that passed a closure to a library, and the object that the closure keeps. Only the memory
  /// of the closure is known.
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

  /// Endings of names that programs use for references to an owner, and seldom for other references.
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
      // A reference of a closure or a task is not a field of the program.
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

  /// Returns whether a link's field can be declared weak. Such a field is in a class or a structure, and contains one
  /// reference and nothing else.
  func canBeWeak(_ link: Link) -> Bool {
    // If a type's fields are not known, the name must show a reference to an owner.
    guard let reference = path[link.last].reference, reference.caseName == nil,
      reference.strength == .strong || hasOwnerName(link)
    else { return false }
    // A value of a protocol that structures may conform to cannot be weak.
    if evidence.isInOpaqueExistential(path[link.last], target: path[link.to]) { return false }
    if link.last == link.from { return SourceNames.isWord(reference.name) }
    // Otherwise the field must be in a structure in a collection or a box.
    return names.elementField(of: link.last) != nil
      || path[link.last].kind == .box && SourceNames.isWord(reference.name)
  }

  /// The link that leads back to an owner; nil if no object of the program holds another.
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
    // Choose the last of equal links. A path begins with the object that was made first, so the last link leads back.
    return links.enumerated().min { (rank($0.element), -$0.offset) < (rank($1.element), -$1.offset) }?.element
  }

  /// Returns whether to cut a field instead of a capture. An object that passes on a method of another object owns the
  /// other object. For example, a wrapper that hides the object's type does this.
  func prefers(_ link: Link, to capture: Capture) -> Bool {
    guard canBeWeak(link), let name = capture.closure?.closureName, name.hasPrefix(SourceFrame.methodReference) else {
      return false
    }
    let owner = RetainPlaces.owner(of: String(name.dropFirst(SourceFrame.methodReference.count)))
    let type = SourceNames.plain(path[capture.target].type)
    return owner.map { $0 != type && !$0.hasSuffix(".\(type)") } ?? false
  }

  /// The first step of a ring: three or more objects of one type that hold one another by the same field. In a ring, no
  /// reference leads back more clearly than the others. Nil for other cycles.
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

  /// The steps of the objects that code outside the cycle released last. Empty if they are not known, or if they are
  /// all objects of the cycle.
  ///
  /// After the last release from outside, nothing leads to the cycle, so no later release comes from outside. If one
  /// function released several objects, they had the same owner. Objects that this function made count as well: the
  /// compiler may pass on the last reference of a local variable without a release.
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
