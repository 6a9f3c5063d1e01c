import SignetCore

/// The source of a script, or the reason why an export does not give it.
typealias ScriptSource = Result<String, ScriptSourceProblem>

/// The reason why the source of a script is not known.
enum ScriptSourceProblem: Error, Sendable, Hashable {
    /// The export has the script without its source.
    case absent
    /// The source is in a file that does not exist.
    case missing(String)
    /// The source is in a file that cannot be read: a link, no regular file, not UTF-8, or without permission.
    case unreadable(String)
    /// The source is in a file outside of the export, where nothing is read.
    case outside(String)
    /// The source is larger than the limit, in bytes.
    case tooLarge(Int)

    /// Returns the reason in words.
    /// - Parameter name: The name of the script.
    /// - Returns: The reason, without a period.
    func explanation(of name: String) -> String {
        switch self {
        case .absent: "the export does not have the source of its script `\(name)`"
        case .missing(let file): "the file `\(file.shortened)` of its script `\(name)` is missing"
        case .unreadable(let file): "the file `\(file.shortened)` of its script `\(name)` cannot be read as a text file"
        case .outside(let file): "the file `\(file.shortened)` of its script `\(name)` is outside of the export"
        case .tooLarge(let limit): "its script `\(name)` is larger than \(limit >> 10) KiB"
        }
    }
}
