import Foundation

indirect enum Form {
    case number(Int)
    case symbol(String)
    case list([Form])
}

enum Value {
    case number(Int)
    case lambda(Lambda)
    case none
}

final class Lambda {
    let parameters: [String]
    let body: Form
    let scope: Frame
    init(parameters: [String], body: Form, scope: Frame) {
        self.parameters = parameters
        self.body = body
        self.scope = scope
    }
}

final class Frame {
    var slots: [String: Value] = [:]
    var outer: Frame?
    init(outer: Frame?) { self.outer = outer }

    func lookup(_ name: String) -> Value {
        var frame: Frame? = self
        while let current = frame {
            if let value = current.slots[name] { return value }
            frame = current.outer
        }
        return .none
    }
}

final class Arena {
    private var frames: [Frame] = []
    private(set) var peak = 0

    func make(outer: Frame?) -> Frame {
        let frame = Frame(outer: outer)
        frames.append(frame)
        peak = max(peak, frames.count)
        return frame
    }

    func reset() {
        for frame in frames {
            frame.slots.removeAll()
            frame.outer = nil
        }
        frames.removeAll()
    }
}

final class Reader {
    private var tokens: [Substring]
    private var position = 0
    init(_ text: String) {
        tokens = text.replacingOccurrences(of: "(", with: " ( ")
            .replacingOccurrences(of: ")", with: " ) ").split(separator: " ")
    }
    func read() -> Form {
        let token = tokens[position]
        position += 1
        if token == "(" {
            var items: [Form] = []
            while tokens[position] != ")" { items.append(read()) }
            position += 1
            return .list(items)
        }
        if let number = Int(token) { return .number(number) }
        return .symbol(String(token))
    }
}

final class Interpreter {
    let globals = Frame(outer: nil)
    let arena = Arena()

    func eval(_ form: Form, _ frame: Frame) -> Value {
        switch form {
        case .number(let n): return .number(n)
        case .symbol(let s): return frame.lookup(s)
        case .list(let items):
            guard case .symbol(let head) = items[0] else { return .none }
            switch head {
            case "def":
                if case .symbol(let name) = items[1] { frame.slots[name] = eval(items[2], frame) }
                return .none
            case "fn":
                guard case .list(let ps) = items[1] else { return .none }
                let names = ps.compactMap { p -> String? in
                    if case .symbol(let s) = p { return s } else { return nil }
                }
                return .lambda(Lambda(parameters: names, body: items[2], scope: frame))
            case "if":
                if case .number(let c) = eval(items[1], frame), c > 0 { return eval(items[2], frame) }
                return eval(items[3], frame)
            case "+", "-", "*":
                guard case .number(let a) = eval(items[1], frame),
                      case .number(let b) = eval(items[2], frame) else { return .none }
                return .number(head == "+" ? a &+ b : head == "-" ? a &- b : a &* b)
            default:
                guard case .lambda(let f) = frame.lookup(head) else { return .none }
                let local = arena.make(outer: f.scope)
                for (name, arg) in zip(f.parameters, items.dropFirst()) {
                    local.slots[name] = eval(arg, frame)
                }
                return eval(f.body, local)
            }
        }
    }

    func run(script lines: [String]) -> Int {
        let scope = arena.make(outer: globals)
        var last = Value.none
        for line in lines { last = eval(Reader(line).read(), scope) }
        arena.reset()
        if case .number(let n) = last { return n }
        return 0
    }
}

let lisp = Interpreter()
for k in 0..<20 {
    _ = lisp.eval(Reader("(def scale\(k) (fn (x) (* x \(k))))").read(), lisp.globals)
}
var sum = 0
for index in 0..<150 {
    sum &+= lisp.run(script: [
        "(def fact (fn (n) (if n (* n (fact (- n 1))) 1)))",
        "(def total (fn (n) (if n (+ n (total (- n 1))) 0)))",
        "(+ (fact 6) (scale\(index % 20) (total \(10 + index % 7))))",
    ])
    usleep(3000)
}
print("sum \(sum), peak frames \(lisp.arena.peak), globals \(lisp.globals.slots.count)")
