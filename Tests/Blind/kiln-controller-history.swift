// PID control of a pottery kiln following a firing programme.
import Foundation

final class KilnSample {
    let second: Int
    let celsius: Double
    let duty: Double

    init(second: Int, celsius: Double, duty: Double) {
        self.second = second
        self.celsius = celsius
        self.duty = duty
    }
}

struct FiringStep {
    let target: Double
    let rampPerMinute: Double
    let soakMinutes: Int
}

struct KilnModel {
    var celsius = 20.0

    mutating func step(duty: Double, seconds: Double) {
        let heating = duty * 0.9 * seconds
        let losses = (celsius - 20) * 0.0004 * seconds
        celsius += heating - losses
    }
}

final class KilnController {
    private var history: [KilnSample] = []
    private var integral = 0.0
    private let kp = 0.02, ki = 0.0004, kd = 0.05

    func control(second: Int, celsius: Double, setpoint: Double) -> Double {
        let error = setpoint - celsius
        integral = min(max(integral + error * ki, 0), 1)
        let duty = min(max(kp * error + integral - kd * slope(), 0), 1)
        history.append(KilnSample(second: second, celsius: celsius, duty: duty))
        return duty
    }

    /// Degrees per second over the most recent samples.
    private func slope() -> Double {
        let recent = history.suffix(5)
        guard let first = recent.first, let last = recent.last, last.second > first.second else { return 0 }
        return (last.celsius - first.celsius) / Double(last.second - first.second)
    }

    var averageDuty: Double {
        let recent = history.suffix(5)
        return recent.isEmpty ? 0 : recent.reduce(0) { $0 + $1.duty } / Double(recent.count)
    }
}

let programme = [
    FiringStep(target: 120, rampPerMinute: 4, soakMinutes: 20),
    FiringStep(target: 580, rampPerMinute: 6, soakMinutes: 10),
    FiringStep(target: 1040, rampPerMinute: 9, soakMinutes: 15),
]

let controller = KilnController()
var kiln = KilnModel()
var setpoint = 20.0
var stepIndex = 0
var soakLeft = programme[0].soakMinutes * 60
let period = 10
var peak = 0.0

for cycle in 0..<1600 {
    let second = cycle * period
    if stepIndex < programme.count {
        let step = programme[stepIndex]
        if setpoint < step.target {
            setpoint = min(step.target, setpoint + step.rampPerMinute / 60 * Double(period))
        } else {
            soakLeft -= period
            if soakLeft <= 0 {
                stepIndex += 1
                if stepIndex < programme.count { soakLeft = programme[stepIndex].soakMinutes * 60 }
            }
        }
    } else {
        setpoint = max(20, setpoint - 0.8)
    }
    let duty = controller.control(second: second, celsius: kiln.celsius, setpoint: setpoint)
    kiln.step(duty: duty, seconds: Double(period))
    peak = max(peak, kiln.celsius)
    if cycle % 100 == 0 { usleep(4000) }
}

print(String(format: "firing finished: peak %.0f C, now %.0f C, duty %.2f", peak, kiln.celsius, controller.averageDuty))
