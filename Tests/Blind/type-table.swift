import Foundation

final class TypeNode {
    let head: String
    let arguments: [TypeNode]
    let serial: Int
    init(head: String, arguments: [TypeNode], serial: Int) {
        self.head = head
        self.arguments = arguments
        self.serial = serial
    }
    var spelled: String {
        arguments.isEmpty ? head : head + "<" + arguments.map(\.spelled).joined(separator: ",") + ">"
    }
}

final class TypeTable {
    private struct Key: Hashable {
        let head: String
        let arguments: [Int]
    }
    private var interned: [Key: TypeNode] = [:]
    private(set) var requests = 0

    func type(_ head: String, _ arguments: TypeNode...) -> TypeNode {
        requests += 1
        let key = Key(head: head, arguments: arguments.map(\.serial))
        if let known = interned[key] { return known }
        let node = TypeNode(head: head, arguments: arguments, serial: interned.count)
        interned[key] = node
        return node
    }

    var count: Int { interned.count }
    func longest() -> String {
        interned.values.map(\.spelled).max { ($0.count, $0) < ($1.count, $1) } ?? ""
    }
}

final class TypeVariable {
    let name: String
    var binding: TypeNode?
    var instance: TypeVariable?
    init(name: String) { self.name = name }

    func pruned() -> TypeVariable {
        guard let next = instance else { return self }
        return next.pruned()
    }
}

final class Constraint {
    let left: TypeVariable
    let right: TypeVariable
    init(_ left: TypeVariable, _ right: TypeVariable) {
        self.left = left
        self.right = right
    }
}

final class Inference {
    private var variables: [TypeVariable] = []
    private var constraints: [Constraint] = []

    func fresh() -> TypeVariable {
        let variable = TypeVariable(name: "t\(variables.count)")
        variables.append(variable)
        return variable
    }

    func equate(_ a: TypeVariable, _ b: TypeVariable) { constraints.append(Constraint(a, b)) }

    func solve() -> Int {
        for constraint in constraints {
            let a = constraint.left.pruned()
            let b = constraint.right.pruned()
            if a === b { continue }
            if a.binding == nil { a.instance = b } else { b.instance = a }
        }
        return variables.filter { $0.pruned().binding != nil }.count
    }
}

final class Checker {
    let table = TypeTable()
    private(set) var signatures: [String: TypeNode] = [:]
    private(set) var resolved = 0

    func check(function index: Int) {
        let inference = Inference()
        let base = table.type(["Int", "String", "Bool", "Double"][index % 4])
        var shape = base
        for level in 0..<(index % 9) {
            shape = level % 2 == 0 ? table.type("Array", shape) : table.type("Dict\(index % 40)", base, shape)
        }
        let result = inference.fresh()
        result.binding = shape
        var previous = result
        for _ in 0..<12 {
            let next = inference.fresh()
            inference.equate(next, previous)
            previous = next
        }
        resolved += inference.solve()
        if index % 3 == 0 { signatures["fn\(index)"] = table.type("Func", base, shape) }
    }
}

let checker = Checker()
for index in 0..<700 {
    checker.check(function: index)
    usleep(1500)
}
print("interned \(checker.table.count) of \(checker.table.requests) requests")
print("signatures \(checker.signatures.count), resolved \(checker.resolved)")
print(checker.table.longest())
