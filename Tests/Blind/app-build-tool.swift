import Foundation

final class FileNode {
    let path: String
    var includes: [FileNode] = []
    var stamp: Int
    init(path: String, stamp: Int) {
        self.path = path
        self.stamp = stamp
    }
}

final class Target {
    let name: String
    var sources: [FileNode] = []
    var dependencies: [Target] = []
    var builtStamp = -1
    init(name: String) { self.name = name }
}

final class Command {
    let target: String
    let arguments: [String]
    init(target: String, arguments: [String]) {
        self.target = target
        self.arguments = arguments
    }
    func execute() -> CommandResult {
        var hash = 5381
        for argument in arguments { for byte in argument.utf8 { hash = (hash &* 33) ^ Int(byte) } }
        return CommandResult(target: target, output: hash & 0xffff, warnings: hash & 3)
    }
}

final class CommandResult {
    let target: String
    let output: Int
    let warnings: Int
    init(target: String, output: Int, warnings: Int) {
        self.target = target
        self.output = output
        self.warnings = warnings
    }
}

final class FileTable {
    private var nodes: [String: FileNode] = [:]
    private(set) var hits = 0
    func node(_ path: String) -> FileNode {
        if let node = nodes[path] {
            hits += 1
            return node
        }
        let node = FileNode(path: path, stamp: 0)
        nodes[path] = node
        return node
    }
    func touch(_ path: String, stamp: Int) { node(path).stamp = stamp }
    var count: Int { nodes.count }
}

final class BuildLog {
    private var results: [CommandResult] = []
    func append(_ result: CommandResult) { results.append(result) }
    func summary() -> String {
        let byTarget = Dictionary(grouping: results, by: \.target)
        let busiest = byTarget.max { ($0.value.count, $0.key) < ($1.value.count, $1.key) }
        let warnings = results.reduce(0) { $0 + $1.warnings }
        return "\(results.count) commands, \(warnings) warnings, most often \(busiest?.key ?? "-") (\(busiest?.value.count ?? 0))"
    }
}

final class Workspace {
    private let files = FileTable()
    private var targets: [String: Target] = [:]
    private var order: [Target] = []
    private let log = BuildLog()
    private var clock = 1

    func load(targetCount: Int) {
        for t in 0..<targetCount {
            let target = Target(name: "lib\(t)")
            for s in 0..<8 {
                let source = files.node("lib\(t)/s\(s).c")
                for h in 0..<4 { source.includes.append(files.node("include/h\((t * 5 + s * 3 + h * 7) % 90).h")) }
                target.sources.append(source)
            }
            for d in [t / 2, t / 3] where d < t {
                let dependency = targets["lib\(d)"]!
                if !target.dependencies.contains(where: { $0 === dependency }) { target.dependencies.append(dependency) }
            }
            targets[target.name] = target
            usleep(5000)
        }
        sortTargets()
    }

    private func sortTargets() {
        var visited: Set<String> = []
        func visit(_ target: Target) {
            guard visited.insert(target.name).inserted else { return }
            target.dependencies.forEach(visit)
            order.append(target)
        }
        targets.values.sorted { $0.name < $1.name }.forEach(visit)
    }

    func edit(_ path: String) {
        clock += 1
        files.touch(path, stamp: clock)
    }

    private func newest(_ target: Target) -> Int {
        var result = 0
        for source in target.sources {
            result = max(result, source.stamp)
            for header in source.includes { result = max(result, header.stamp) }
        }
        for dependency in target.dependencies { result = max(result, dependency.builtStamp) }
        return result
    }

    func build() -> Int {
        var pending: [Command] = []
        for target in order {
            let stamp = newest(target)
            guard stamp > target.builtStamp else { continue }
            target.builtStamp = stamp
            pending.append(Command(target: target.name, arguments: ["cc", "-shared"] + target.sources.map(\.path) + ["-o", target.name + ".so"]))
        }
        let count = pending.count
        while let command = pending.popLast() { log.append(command.execute()) }
        return count
    }

    func affected(by path: String) -> [String] {
        let node = files.node(path)
        return order.filter { $0.sources.contains { $0 === node || $0.includes.contains { $0 === node } } }.map(\.name)
    }

    func report() {
        print(log.summary())
        print("\(files.count) files, \(files.hits) table hits, h7 affects \(affected(by: "include/h7.h").count) targets")
    }
}

func develop() {
    let workspace = Workspace()
    workspace.load(targetCount: 70)
    var commands = workspace.build()
    for change in 0..<220 {
        workspace.edit(change % 5 == 0 ? "include/h\(change % 90).h" : "lib\(change % 70)/s\(change % 8).c")
        commands += workspace.build()
        usleep(6000)
    }
    print("built with \(commands) commands")
    workspace.report()
}

develop()
