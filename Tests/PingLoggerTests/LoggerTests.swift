import Logging
import SignetCore
import Testing

@testable import PingLogger

/// The lines that a handler of swift-log was given.
private final class Lines: Sendable {
    private let kept = Mutex<[String]>([])
    var all: [String] { kept.withLock { $0 } }
    func add(_ line: String) { kept.withLock { $0.append(line) } }
}

private struct KeepingHandler: LogHandler {
    let lines: Lines
    var metadata: Logging.Logger.Metadata = [:]
    var logLevel = Logging.Logger.Level.trace

    subscript(metadataKey key: String) -> Logging.Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.level): \(event.message)") }
}

private struct Refused: Error {}

@Suite("Loggers under the Ping SDK's names")
struct LoggerTests {
    private let lines = Lines()

    private func standard() -> StandardLogger {
        let lines = lines
        return StandardLogger(to: Logging.Logger(label: "test") { _ in KeepingHandler(lines: lines) })
    }

    private func logAll(_ logger: any PingLogger.Logger) {
        logger.d("one")
        logger.i("two")
        logger.w("three", error: nil)
        logger.e("four", error: Refused())
    }

    @Test("The standard logger writes each level to swift-log")
    func standardLoggerWritesEachLevel() {
        logAll(standard())
        #expect(lines.all.prefix(3) == ["debug: one", "info: two", "warning: three"])
        #expect(lines.all.count == 4 && lines.all.last?.hasPrefix("error: four (") == true)
    }

    @Test("The warning logger writes warnings and errors only, and the none logger writes nothing")
    func quieterLoggersWriteLess() {
        logAll(WarningLogger(over: standard()))
        #expect(lines.all.count == 2)
        logAll(NoneLogger())
        #expect(lines.all.count == 2)
    }

    @Test("The manager's logger is the none logger until an app sets another")
    func managerKeepsAppLogger() {
        #expect(LogManager.logger is NoneLogger)
        LogManager.logger = LogManager.warning
        defer { LogManager.logger = LogManager.none }
        #expect(LogManager.logger is WarningLogger)
        #expect(LogManager.standard is StandardLogger)
    }
}
