/// A place in a text file.
public struct SourcePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line, from 1.
    public let line: Int
    /// The column in Unicode scalars, from 1.
    public let column: Int

    /// A place as given.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// `12:9`.
    public var description: String { "\(line):\(column)" }

    /// The order of the file.
    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// Where every file begins.
    package static let start = SourcePosition(line: 1, column: 1)
}
