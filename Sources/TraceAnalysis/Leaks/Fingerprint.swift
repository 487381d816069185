// What makes two findings the same, without addresses, lines and numbers that shift.

enum Fingerprint {
  /// Everything that identifies a cause, as text: the verdict, and types, edges and allocating functions along the path; of a cycle the
  /// rotation that comes first, since where it begins is arbitrary.
  static func identity(of finding: Finding) -> String {
    if let outliving = finding.outliving, let last = finding.path.last {
      // What lies between the holder and the object is often a library's own, and need not be the same twice.
      return "\(finding.verdict.rawValue)\n\(last.kind.key)|\(last.qualifiedType)|\(stable(last.allocation?.fullFunction ?? ""))\n\(stable(outliving.holder))"
    }
    let steps = finding.path.map { step in
      // A capture's name comes from debug information, which another build may lack.
      let reference = step.reference.map { "\($0.isCapture ? "capture" : $0.name)/\($0.strength.key)" } ?? ""
      let function = step.kind == .closure ? stable(step.function?.fullFunction ?? "") : ""
      return "\(step.kind.key)|\(step.qualifiedType)|\(stable(step.allocation?.fullFunction ?? ""))|\(function)|\(reference)"
    }
    var best = steps
    if finding.isCycle {
      for start in steps.indices.dropFirst() {
        let rotation = Array(steps[start...] + steps[..<start])
        if rotation.lexicographicallyPrecedes(best) { best = rotation }
      }
    }
    // Without a holder, what an object was used by is all that there is to tell it by.
    if let used = finding.ending?.used, finding.path.count == 1, finding.path[0].reference == nil {
      best.append("used|\(stable(used.frame?.fullFunction ?? ""))")
    }
    return "\(finding.verdict.rawValue)\(finding.isLibrary ? "|library" : "")\n" + best.joined(separator: "\n")
  }

  /// FNV-1a of 64 bits, in hexadecimal.
  static func text(_ identity: String) -> String {
    var hash: UInt64 = 0xCBF2_9CE4_8422_2325
    for byte in identity.utf8 { hash = (hash ^ UInt64(byte)) &* 0x100_0000_01B3 }
    let digits = String(hash, radix: 16)
    return String(repeating: "0", count: 16 - digits.count) + digits
  }

  /// Without the numbers that the compiler gives closures and local functions in order: they shift when one is added before.
  static func stable(_ function: String) -> String {
    var result = ""
    var rest = function[...]
    while let mark = rest.firstIndex(of: "#") {
      result += rest[..<mark]
      rest = rest[rest.index(after: mark)...].drop { $0.isNumber }
    }
    return result + rest
  }
}
