package import Logging
import SignetCore

/// The lines that a logger was given.
///
/// `scripts/check-apple` compiles this file too.
package final class LogLines: Sendable {
    private let kept = Mutex<[String]>([])

    /// Creates an empty log.
    package init() {}

    /// The level and the message of each line, for example `warning the vault has no recovery key`.
    package var lines: [String] { kept.withLock { $0 } }

    /// A logger that adds to the lines, at every level.
    package var logger: Logger { Logger(label: "test") { _ in Handler(target: self) } }

    private struct Handler: LogHandler {
        let target: LogLines
        var logLevel = Logger.Level.trace
        var metadata: Logger.Metadata = [:]

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            target.kept.withLock { $0.append("\(event.level.rawValue) \(event.message)") }
        }
    }
}
