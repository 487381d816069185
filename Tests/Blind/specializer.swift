import Foundation

indirect enum TypeRef: Hashable {
    case named(String)
    case list(TypeRef)

    var mangled: String {
        switch self {
        case .named(let name): return "\(name.count)\(name)"
        case .list(let element): return "L" + element.mangled
        }
    }
}

struct GenericRoutine {
    let name: String
    let template: [String]
}

final class SpecializedBody {
    let symbol: String
    let instructions: [String]

    init(symbol: String, instructions: [String]) {
        self.symbol = symbol
        self.instructions = instructions
    }
}

enum SpecializationTable {
    nonisolated(unsafe) private static var bodies: [String: SpecializedBody] = [:]

    static func body(for routine: GenericRoutine, argument: TypeRef, module: String) -> SpecializedBody {
        let symbol = "$\(module)_\(routine.name)_\(argument.mangled)"
        if let known = bodies[symbol] { return known }
        let lowered = routine.template.map { $0.replacingOccurrences(of: "T", with: argument.mangled) }
        let body = SpecializedBody(symbol: symbol, instructions: lowered)
        bodies[symbol] = body
        return body
    }
}

struct ModuleSource {
    let name: String
    let calls: [(routine: Int, argument: TypeRef)]
}

struct ModuleCompiler {
    let routines: [GenericRoutine]

    func compile(_ source: ModuleSource) -> Int {
        var emitted = Set<String>()
        var size = 0
        for call in source.calls {
            let body = SpecializationTable.body(for: routines[call.routine], argument: call.argument, module: source.name)
            if emitted.insert(body.symbol).inserted {
                size += body.instructions.reduce(0) { $0 + $1.utf8.count }
            }
        }
        return size
    }
}

func moduleSource(_ index: Int) -> ModuleSource {
    let scalars = ["Int", "Text", "Real"]
    var calls: [(routine: Int, argument: TypeRef)] = []
    for site in 0..<10 {
        let scalar = TypeRef.named(scalars[(site + index) % scalars.count])
        calls.append((site % 2, site % 4 < 2 ? scalar : .list(scalar)))
    }
    return ModuleSource(name: "M\(index)", calls: calls)
}

@main
struct Driver {
    static func main() {
        let compiler = ModuleCompiler(routines: [
            GenericRoutine(name: "sort", template: ["load T", "compare T", "swap T", "loop", "ret"]),
            GenericRoutine(name: "copy", template: ["alloc T", "move T", "ret T"]),
        ])
        var bytes = 0
        var modules = 0
        for index in 0..<120 {
            bytes += compiler.compile(moduleSource(index))
            modules += 1
            if index % 3 == 0 { usleep(12_000) }
        }
        print("specializer: \(modules) modules, \(bytes) bytes of code")
    }
}
