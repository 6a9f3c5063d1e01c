/// A position in a text file.
public struct SourcePosition: Sendable, Hashable, Comparable, CustomStringConvertible {
    /// The line number, from 1.
    public let line: Int
    /// The column in Unicode scalars, from 1.
    public let column: Int

    /// Creates a position.
    package init(line: Int, column: Int) {
        self.line = line
        self.column = column
    }

    /// The line and the column, for example `12:9`.
    public var description: String { "\(line):\(column)" }

    /// Returns true when `left` comes before `right` in the file.
    public static func < (left: SourcePosition, right: SourcePosition) -> Bool {
        (left.line, left.column) < (right.line, right.column)
    }

    /// The position at which every file begins.
    package static let start = SourcePosition(line: 1, column: 1)
}
