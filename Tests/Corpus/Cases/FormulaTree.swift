// A cycle through the boxes of an indirect enumeration.

indirect enum Formula {
  case number(Int)
  case cells(Sheet)
  case sum(Formula, Formula)
}

final class Sheet {
  var formula = Formula.number(0)
  let rows: Int
  init(rows: Int) { self.rows = rows }

  func evaluate(_ formula: Formula) -> Int {
    switch formula {
    case .number(let value): value
    case .cells(let sheet): sheet.rows
    case .sum(let left, let right): evaluate(left) + evaluate(right)
    }
  }
}

enum FormulaTree: FaultyProgram {
  static func faulty() { for rows in 0..<6 { calculate(rows) } }
  static func correct() { for rows in 0..<6 { calculateAndClear(rows) } }

  @inline(never) private static func calculate(_ rows: Int) {
    let sheet = Sheet(rows: rows)
    sheet.formula = .sum(.number(rows), .cells(sheet))
    note(sheet.evaluate(sheet.formula))
  }

  @inline(never) private static func calculateAndClear(_ rows: Int) {
    let sheet = Sheet(rows: rows)
    sheet.formula = .sum(.number(rows), .cells(sheet))
    note(sheet.evaluate(sheet.formula))
    sheet.formula = .number(0)
  }
}
