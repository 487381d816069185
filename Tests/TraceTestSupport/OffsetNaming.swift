// Names for tests that need no symbols.

import TextWriting
@testable import TraceReading
@testable import TraceSymbolication

/// Names every frame by image and offset, without opening files.
package struct OffsetNaming: FrameNaming {
  package init() {}

  package var remarks: [String] { [] }

  package func frames(for key: FrameKey, in image: LoadedImage?) -> [SourceFrame] {
    let function: String
    if let image {
      function = "\(fileName(ofPath: image.path))+\(Hexadecimal.text(key.address.rawValue &- image.loadBias))"
    } else {
      function = Hexadecimal.text(key.address.rawValue)
    }
    return [
      SourceFrame(
        function: function, fullFunction: function, mangledName: nil, imagePath: image?.path, file: nil, line: nil,
        column: nil,
        isInlined: false, kind: .user, isAsync: key.isAsync, asyncPart: nil)
    ]
  }
}
