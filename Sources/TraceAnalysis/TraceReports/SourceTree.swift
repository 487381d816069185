// Finds the best place for a finding in a checked-out source tree.

import LeakDetection
import TraceSymbolication
import Wording

/// Access to source files. This is a protocol, so that the caller chooses the location of the files.
package protocol SourceAccess: Sendable {
  /// Returns the absolute path without symbolic links, `.` and `..`; nil if there is no such file, or access is denied.
  func resolvedPath(_ path: String) -> String?
  /// Returns the number of lines of a regular file, including a last line without a newline. Nil if the file is not
  /// regular, is too large for source code, or cannot be read.
  func lineCount(ofFile path: String) -> Int?
}

/// A line of an existing file in the source tree.
package struct SourcePlace: Hashable, Sendable {
  /// The path relative to the root, without symbolic links, `.` and `..`.
  package var path: String
  /// The line number, starting at 1.
  package var line: Int
}

/// The source code that a report points into: files below a root.
///
/// Paths come from debug information. They may be from another machine or belong to other code, so a missing file has
/// no place. Code in hidden folders, such as packages in `.build`, has no place either, because it is not under review.
package struct SourceTree: Sendable {
  /// A place with its role in the finding, such as `allocated in Cache.fill(_:)`.
  struct Note: Hashable {
    var place: SourcePlace
    var text: String
  }

  /// The absolute path without symbolic links; nil if there is no such folder.
  package let root: String?
  private let access: any SourceAccess

  /// `root` may be relative, or contain symbolic links.
  package init(root: String, access: any SourceAccess = LocalSources()) {
    self.root = access.resolvedPath(root)
    self.access = access
  }

  /// Returns the best line for a finding; nil if no line of the finding is in the tree. Reads each file once.
  package func place(of finding: Finding) -> SourcePlace? {
    var known = Known()
    return notes(on: finding, &known).first?.place
  }

  /// Returns, for each finding, all of its lines that are in the tree, the best one first. Reads each file once.
  func notes(on findings: [Finding]) -> [[Note]] {
    var known = Known()
    return findings.map { notes(on: $0, &known) }
  }

  /// Returns, for each finding, the lines along its path from the root that are in the tree, in order. Each text names the
  /// object and the reference to it. Reads each file once.
  func pathNotes(on findings: [Finding]) -> [[Note]] {
    var known = Known()
    return findings.map { finding in
      finding.path.indices.compactMap { index in
        let step = finding.path[index]
        guard let frame = step.kind == .closure || step.kind == .task ? step.code : step.place,
          frame.kind != .systemLibrary, let file = frame.file, let line = frame.line,
          let place = place(file: file, line: line, &known)
        else { return nil }
        return Note(place: place, text: Self.words(step, index, of: finding))
      }
    }
  }

  private static func words(_ step: Finding.Step, _ index: Int, of finding: Finding) -> String {
    let holder: String? =
      if index > 0 {
        finding.path[index - 1].reference.map {
          "held by \(FindingTitle.name(finding.path[index - 1])) \(ReferenceText.words($0, to: step))"
        }
      } else {
        finding.evidence.retention.map { "held by \($0.origin.name)" }
      }
    let number = "\(index + 1) of \(finding.path.count): \(FindingTitle.name(step))"
    return [number, holder].compactMap(\.self).joined(separator: ", ")
  }

  /// Returns the place of a line. `file`: the file's path in debug information, absolute or relative to the root.
  package func place(file: String, line: Int) -> SourcePlace? {
    var known = Known()
    return place(file: file, line: line, &known)
  }

  // MARK: Lookup

  /// The files that were looked up, by their paths in debug information. Each value is the path in the tree and the
  /// number of lines; nil for a file without a place.
  private typealias Known = [String: (path: String, lines: Int)?]

  private func place(file: String, line: Int, _ known: inout Known) -> SourcePlace? {
    guard line > 0 else { return nil }
    let entry: (path: String, lines: Int)?
    if let old = known[file] {
      entry = old
    } else {
      entry = look(file)
      known.updateValue(entry, forKey: file)
    }
    guard let entry, line <= entry.lines else { return nil }
    return SourcePlace(path: entry.path, line: line)
  }

  private func look(_ file: String) -> (path: String, lines: Int)? {
    guard let root, !file.isEmpty, let resolved = access.resolvedPath(file.hasPrefix("/") ? file : "\(root)/\(file)")
    else { return nil }
    let prefix = root.hasSuffix("/") ? root : root + "/"
    guard resolved.utf8.count > prefix.utf8.count, resolved.utf8.starts(with: prefix.utf8) else { return nil }
    let path = String(decoding: resolved.utf8.dropFirst(prefix.utf8.count), as: UTF8.self)
    if path.split(separator: "/").contains(where: { $0.hasPrefix(".") }) { return nil }
    return access.lineCount(ofFile: resolved).map { (path, $0) }
  }

  // MARK: Choice

  private func notes(on finding: Finding, _ known: inout Known) -> [Note] {
    var notes: [Note] = []
    for (frame, text) in Self.candidates(finding) where frame.kind != .systemLibrary {
      guard let file = frame.file, let line = frame.line, let place = place(file: file, line: line, &known) else {
        continue
      }
      if !notes.contains(where: { $0.place == place }) { notes.append(Note(place: place, text: text)) }
    }
    return notes
  }

  private typealias Candidates = [(SourceFrame, String)]

  /// Returns the places in the program's code that a finding names, best first: uses of a freed object, closures that
  /// capture, other closures and waiting tasks, allocations, and an object's end.
  private static func candidates(_ finding: Finding) -> Candidates {
    switch finding.evidence {
    case .unreachable: return candidates(finding.path, isRegistered: false)
    // The path ends at the object that should be gone, so its holder comes second in reverse order.
    case .deinitialised: return candidates(finding.path.reversed(), isRegistered: false)
    case .dangling(let ending):
      let path = candidates(finding.path, isRegistered: false)
      guard let ending else { return path }
      let used = frames(of: ending.used, "\(ending.type) is used in")
      return Array(used.prefix(1)) + path + Array(used.dropFirst())
        + frames(of: ending.freed, "\(ending.type) is freed in")
        + frames(of: ending.allocated, "\(ending.type) is allocated in")
    case .suspected(_, let survivors), .stated(_, let survivors):
      return candidates(finding.path, of: survivors.retention, survivors.siblings)
    case .repeated(_, let retention, let siblings): return candidates(finding.path, of: retention, siblings)
    case .images(_, let retention): return candidates(finding.path, of: retention, nil)
    }
  }

  /// Returns the places of objects that are still reachable, best first.
  private static func candidates(
    _ path: [Finding.Step], of retention: Finding.Retention, _ siblings: Finding.Siblings?
  ) -> Candidates {
    // Many objects share the path up to the suspect reference. The code of that part often has nothing to do with this
    // object.
    let start = min(max(0, retention.suspect - 1), path.count)
    let scope = siblings?.scope.map { [($0, "others end within \($0.function)")] } ?? []
    return candidates(path[start...].reversed(), isRegistered: retention.registration != nil)
      + candidates(path[..<start].reversed(), isRegistered: false) + scope
  }

  /// Returns the places of objects on a path, the most important object first. `isRegistered`: whether the steps begin
  /// with the object's registration. A registration is made where the program requests a callback.
  private static func candidates(_ steps: [Finding.Step], isRegistered: Bool) -> Candidates {
    var (capturing, running, made) = (Candidates(), Candidates(), Candidates())
    for step in steps {
      if let function = step.function {
        if step.kind == .task {
          for waiting in [step.ownFunction, function].compactMap(\.self) {
            running.append((waiting, "the task waits in \(waiting.closureName)"))
          }
        } else if step.reference?.isCapture == true {
          capturing.append((function, "\(function.closureName) captures \(captured(step.reference))"))
        } else {
          running.append((function, function.closureName))
        }
      }
      if let reference = step.reference, let closure = reference.closure {
        if reference.capturesSelf {
          capturing.append((closure, "\(closure.closureName) captures self"))
        } else {
          running.append((closure, closure.closureName))
        }
      }
      if let allocation = step.place {
        made.append((allocation, "\(step.type) is allocated in \(allocation.function)"))
      }
    }
    if isRegistered, steps.first?.place != nil, made.count > 1 { made.swapAt(0, 1) }
    let inner = steps.compactMap { step in
      step.ownAllocation == nil ? nil : step.allocation.map { ($0, "\(step.type) is allocated in \($0.function)") }
    }
    return capturing + running + made + inner
  }

  private static func captured(_ reference: Finding.Reference?) -> String {
    guard let reference, !reference.name.isEmpty else { return "a variable" }
    return reference.name
  }

  /// Returns the program's frame at a moment, then the program's other frames.
  private static func frames(of moment: Finding.Moment?, _ words: String) -> [(SourceFrame, String)] {
    guard let moment else { return [] }
    let others = moment.frames.filter { $0.kind == .user && $0 != moment.frame }
    return ([moment.frame].compactMap(\.self) + others).map { ($0, "\(words) \($0.function)") }
  }
}
