import Foundation

final class Symbol {
    let address: UInt64
    let size: UInt64
    let name: String
    var hits = 0

    init(address: UInt64, size: UInt64, name: String) {
        self.address = address
        self.size = size
        self.name = name
    }
}

/// Two keys are the same when their address ranges overlap, so that a lookup
/// with an empty range finds the symbol around an address.
func compareSymbols(_ left: UnsafeRawPointer?, _ right: UnsafeRawPointer?) -> Int32 {
    Unmanaged<Symbol>.fromOpaque(left!)._withUnsafeGuaranteedRef { a in
        Unmanaged<Symbol>.fromOpaque(right!)._withUnsafeGuaranteedRef { b in
            if a.address + max(a.size, 1) <= b.address { return -1 }
            if b.address + max(b.size, 1) <= a.address { return 1 }
            return 0
        }
    }
}

struct SymbolTree {
    private var root: UnsafeMutableRawPointer?
    private(set) var count = 0

    private static func key(of node: UnsafeMutableRawPointer) -> UnsafeMutableRawPointer {
        node.assumingMemoryBound(to: UnsafeMutableRawPointer.self).pointee
    }

    mutating func insert(_ symbol: Symbol) -> Bool {
        let handle = Unmanaged.passRetained(symbol)
        guard let node = tsearch(handle.toOpaque(), &root, compareSymbols) else {
            handle.release()
            return false
        }
        if Self.key(of: node) != handle.toOpaque() {
            handle.release()
            return false
        }
        count += 1
        return true
    }

    mutating func find(_ address: UInt64) -> Symbol? {
        let probe = Symbol(address: address, size: 0, name: "")
        return withExtendedLifetime(probe) {
            guard let node = tfind(Unmanaged.passUnretained(probe).toOpaque(), &root, compareSymbols) else { return nil }
            return Unmanaged<Symbol>.fromOpaque(Self.key(of: node)).takeUnretainedValue()
        }
    }

    mutating func remove(_ address: UInt64) {
        guard let symbol = find(address) else { return }
        let handle = Unmanaged.passUnretained(symbol)
        if tdelete(handle.toOpaque(), &root, compareSymbols) != nil {
            count -= 1
            handle.release()
        }
    }

    func walk(_ visit: @convention(c) (UnsafeRawPointer?, VISIT, Int32) -> Void) {
        twalk(root, visit)
    }
}

struct ModuleMap {
    private(set) var base: UInt64 = 0x40_0000
    private var made = 0

    mutating func next() -> (address: UInt64, size: UInt64, name: String) {
        made += 1
        let size = UInt64(32 + (made * 37) % 200)
        defer { base += size + UInt64(made % 5) * 16 }
        return (base, size, "fn_\(made)")
    }
}

var tree = SymbolTree()
var map = ModuleMap()
var window: [UInt64] = []
let windowSize = 300
var unresolved = 0
var totalHits = 0
var longest = 0
var reported = 0

func writeReport() {
    tree.walk { node, order, _ in
        guard order == postorder || order == leaf, let node else { return }
        let key = node.assumingMemoryBound(to: UnsafeRawPointer.self).pointee
        let symbol = Unmanaged<Symbol>.fromOpaque(key).takeUnretainedValue()
        reported += 1
        totalHits += symbol.hits
        longest = max(longest, symbol.name.utf8.count)
    }
    print("\(reported) symbols, \(totalHits) samples on them, \(unresolved) unresolved, longest name \(longest)")
}

// The report comes last, whichever way the program ends.
atexit { writeReport() }

for round in 0..<40 {
    for _ in 0..<20 {
        let (address, size, name) = map.next()
        if tree.insert(Symbol(address: address, size: size, name: name)) { window.append(address) }
    }
    while window.count > windowSize {
        tree.remove(window.removeFirst())
    }
    let low = window.first ?? 0
    let span = map.base - low
    for sample in 0..<600 {
        let address = low + UInt64(sample * 7919 + round * 104_729) % span
        if let symbol = tree.find(address) {
            symbol.hits += 1
        } else {
            unresolved += 1
        }
    }
    usleep(12_000)
}
window.removeAll()
