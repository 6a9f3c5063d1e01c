import PingPush
import TestSupport

/// A Ping logger that records the lines of a client.
struct ClientLines: Logger {
    private let logger: RecordingLogger

    init(_ logger: RecordingLogger) {
        self.logger = logger
    }

    func d(_ message: String) { logger.log(.debug, message) }
    func i(_ message: String) { logger.log(.debug, message) }
    func w(_ message: String, error: (any Error)?) { logger.log(.warning, message) }
    func e(_ message: String, error: (any Error)?) { logger.log(.error, message) }
}
