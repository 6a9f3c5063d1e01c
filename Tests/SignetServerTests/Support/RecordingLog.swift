import Logging
import SignetCore

/// A log that records all messages for a test to read.
final class RecordingLog: Sendable {
    private let text = Mutex("")

    var lines: String { text.withLock { $0 } }

    var logger: Logger {
        var logger = Logger(label: "test") { _ in Handler(log: self) }
        logger.logLevel = .trace
        return logger
    }

    private func append(_ line: String) {
        text.withLock { $0 += line + "\n" }
    }

    private struct Handler: LogHandler {
        let log: RecordingLog
        var metadata: Logger.Metadata = [:]
        var logLevel = Logger.Level.trace

        subscript(metadataKey key: String) -> Logger.Metadata.Value? {
            get { metadata[key] }
            set { metadata[key] = newValue }
        }

        func log(event: LogEvent) {
            log.append("\(event.level) \(event.message) \(metadata) \(event.metadata ?? [:])")
        }
    }
}
