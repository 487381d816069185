import Foundation

final class RenderPass {
    let name: String
    let cost: Int
    var next: RenderPass?

    init(name: String, cost: Int, next: RenderPass?) {
        self.name = name
        self.cost = cost
        self.next = next
    }
}

final class Frame {
    let number: Int
    var pixels: [Int]
    init(number: Int) {
        self.number = number
        self.pixels = (0..<16).map { $0 &* number }
    }
}

typealias Stage = (Frame) -> Frame

protocol Effect {
    func wrap(_ next: @escaping Stage) -> Stage
}

struct Gamma: Effect {
    let factor: Int
    func wrap(_ next: @escaping Stage) -> Stage {
        { frame in
            for i in frame.pixels.indices { frame.pixels[i] = (frame.pixels[i] * factor) & 0xff }
            return next(frame)
        }
    }
}

struct Threshold: Effect {
    let limit: Int
    func wrap(_ next: @escaping Stage) -> Stage {
        { frame in
            let result = next(frame)
            result.pixels = result.pixels.map { $0 > limit ? $0 : 0 }
            return result
        }
    }
}

final class SceneRenderer {
    private var passes: RenderPass?
    private(set) var totalCost = 0

    func build(passCount: Int) {
        for n in 0..<passCount {
            passes = RenderPass(name: "pass\(n)", cost: n % 9, next: passes)
        }
    }

    func walk() {
        var current = passes
        while let pass = current {
            totalCost += pass.cost + pass.name.count
            current = pass.next
        }
    }

    func dismantle() {
        while let first = passes {
            passes = first.next
            first.next = nil
        }
    }

    func render(_ frame: Frame, effects: [Effect]) -> Int {
        var stage: Stage = { $0 }
        for effect in effects { stage = effect.wrap(stage) }
        return stage(frame).pixels.reduce(0, +)
    }
}

let renderer = SceneRenderer()
var light = 0
for scene in 0..<5 {
    renderer.build(passCount: 300)
    for number in 0..<30 {
        var effects: [Effect] = []
        for n in 0..<(3 + number % 5) {
            if n % 2 == 0 {
                effects.append(Gamma(factor: n + 2))
            } else {
                effects.append(Threshold(limit: 20 * n))
            }
        }
        light += renderer.render(Frame(number: scene * 30 + number), effects: effects)
    }
    renderer.walk()
    renderer.dismantle()
}
print("light \(light) cost \(renderer.totalCost)")
