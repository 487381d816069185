// Compares how the recorder reads .eh_frame with readelf, and how it reads the starts of functions with .eh_frame.

import CTraceShim
import Foundation
import TestRequirements
import Testing

/// The DWARF numbers of registers, by readelf's names.
private let registerNumbers: [Substring: Int] = [
  "rax": 0, "rdx": 1, "rcx": 2, "rbx": 3, "rsi": 4, "rdi": 5, "rbp": 6, "rsp": 7, "r8": 8, "r9": 9, "r10": 10,
  "r11": 11, "r12": 12, "r13": 13,
  "r14": 14, "r15": 15, "ra": 16,
]

/// A row in readelf's text form. Registers that are unmentioned or unchanged are nil.
private struct RowText: Equatable {
  var frameAddress: String
  var registers: [Int: String] = [:]

  init(_ row: lt_unwind_row) {
    let name = registerNumbers.first { $0.value == Int(row.cfaRegister) }?.key ?? "?"
    frameAddress = row.cfaIsExpression ? "exp" : "\(name)\(signed(row.cfaOffset))"
    withUnsafeBytes(of: row.registers) { bytes in
      let entries = bytes.bindMemory(to: type(of: row.registers.0))
      for (number, entry) in entries.enumerated() {
        registers[number] =
          switch Int(entry.rule) {
          case Int(LT_REGISTER_SAME.rawValue): nil
          case Int(LT_REGISTER_UNDEFINED.rawValue): "u"
          case Int(LT_REGISTER_AT_OFFSET.rawValue): "c\(signed(entry.offset))"
          case Int(LT_REGISTER_IS_OFFSET.rawValue): "v\(signed(entry.offset))"
          case Int(LT_REGISTER_IN_REGISTER.rawValue):
            registerNumbers.first { $0.value == Int(entry.offset) }.map { String($0.key) }
          case Int(LT_REGISTER_AT_EXPRESSION.rawValue): "exp"
          case Int(LT_REGISTER_IS_EXPRESSION.rawValue): "vexp"
          default: "?"
          }
      }
    }
  }

  init(_ row: DescribedFunction.Row) {
    frameAddress = String(row.frameAddress)
    for (name, value) in row.registers where value != "s" && value != "n" {
      // readelf prints the same letter for undefined registers and for registers that were not mentioned yet. The
      // difference matters only for the return address.
      if value == "u" && name != "ra" { continue }
      if let number = registerNumbers[name] { registers[number] = String(value) }
    }
  }
}

private func signed(_ number: Int64) -> String { number < 0 ? "\(number)" : "+\(number)" }

@Suite(.requires(.program("readelf"))) struct UnwindRowTests {
  init() { lt_unwind_images_init() }

  @Test(
    "Rows match readelf's",
    arguments: LoadedImage.named("libc.so", "libstdc++.so", "libswiftCore.so", "libFoundation.so") + LoadedImage.tests)
  func rows(image: LoadedImage) throws {
    let functions = try DescribedFunction.all(of: image, stride: 11)
    var count = 0
    var differences: [String] = []
    for function in functions {
      for row in function.rows where !row.range.isEmpty {
        let expected = RowText(row)
        for address in Set([row.range.lowerBound, row.range.upperBound - 1]) {
          count += 1
          var found = lt_unwind_row(), afterCall = lt_unwind_row()
          guard lt_unwind_row(image.loadBias + address, true, &found),
            lt_unwind_row(image.loadBias + address + 1, false, &afterCall)
          else {
            differences.append("\(String(address, radix: 16)): none")
            continue
          }
          if RowText(found) != expected || RowText(afterCall) != expected {
            differences.append("\(String(address, radix: 16)): \(RowText(found)), not \(expected)")
          }
        }
      }
    }
    #expect(count > 1000)
    #expect(differences.isEmpty, "\(differences.count) of \(count): \(differences.prefix(4))")
  }

  @Test("No row is found outside of code") func outside() {
    var row = lt_unwind_row()
    let heap = UnsafeMutableRawPointer.allocate(byteCount: 64, alignment: 16)
    defer { heap.deallocate() }
    for address in [0, 1, 4096, UInt(bitPattern: heap), UInt(1) << 46, UInt.max - 8] {
      #expect(!lt_unwind_row(address, true, &row))
      #expect(!lt_unwind_row(address, false, &row))
      #expect(!lt_unwind_is_code(address))
    }
  }

  @Test("Rows derived from function prologues match .eh_frame")
  func prologues() throws {
    // The functions have unwind information, but are treated as if they had none.
    let image = try #require(LoadedImage.named("libswiftCore.so").first)
    var checked = 0
    var differences: [String] = []
    for function in try DescribedFunction.all(of: image, stride: 2) where function.range.lowerBound % 16 == 0 {
      // The row that covers the most code is taken as the body. If the body's state is not the state after the
      // prologue, the function is skipped.
      guard let body = function.rows.max(by: { $0.range.count < $1.range.count }), body.range.count > 16,
        body.range.lowerBound - function.range.lowerBound < 40, body.range.lowerBound > function.range.lowerBound
      else { continue }
      checked += 1
      let address = image.loadBias + body.range.upperBound - 1, start = image.loadBias + function.range.lowerBound
      let expected = RowText(body)
      // The end of the previous function is known in one case, and unknown in the other.
      for low in [start - 3, start - 16] {
        var row = lt_unwind_row()
        let found = lt_prologue_row(address, low, &row) ? RowText(row) : nil
        if found != expected {
          differences.append("\(String(function.range.lowerBound, radix: 16)): \(found as Any), not \(expected)")
        }
      }
    }
    // In rare cases, bytes inside another instruction look like the start of a function.
    #expect(checked > 3000)
    #expect(differences.count * 100 <= checked, "\(differences.count) of \(checked): \(differences.prefix(8))")
  }
}
