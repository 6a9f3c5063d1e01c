import FRAuthenticator
import FRCore
import Logging
import SignetCore
import SignetTesting
import Testing

@Suite("Log of the SDK")
struct LogTests {
    static let levels: [(LogLevel?, [String])] = [
        (nil, ["warning w", "error e", "warning set up"]), (LogLevel.none, []),
        (.all, ["debug v", "info i", "warning w", "error e", "warning set up"]), (.error, ["error e"]),
        ([.verbose, .info], ["debug v", "info i"]),
    ]

    @Test("The log has the lines of the levels that the app sets, and the SDK's failures as warnings", arguments: levels)
    func logsLinesOfChosenLevels(level: LogLevel?, expected: [String]) throws {
        let lines = Lines()
        var settings = ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
        settings.logger = Logger(label: "test") { _ in LineLog(lines: lines) }
        try FRAProcess.$current.withValue(FRAProcess(settings)) {
            if let level { FRALog.setLogLevel(level) }
            try FRAClient.setStorage(storage: RecordingClient(ClientRecording())).get()
            FRAClient.start()
            FRALog.v("v")
            FRALog.i("i")
            FRALog.w("w")
            FRALog.e("e")
            // The client has started: the change is refused and logged.
            #expect(throws: FRAError.invalidStateForChangingStorage) {
                try FRAClient.setStorage(storage: RecordingClient(ClientRecording())).get()
            }
        }
        let beginnings = lines.all.map { String($0.split(separator: ":")[0]) }
        #expect(beginnings == expected)
    }
}

/// A log handler that keeps the lines.
private struct LineLog: LogHandler {
    let lines: Lines
    var metadata = Logger.Metadata()
    var logLevel = Logger.Level.trace

    init(lines: Lines) {
        self.lines = lines
    }

    subscript(metadataKey key: String) -> Logger.MetadataValue? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) { lines.add("\(event.level) \(event.message)") }
}

private final class Lines: Sendable {
    private let lines = Mutex<[String]>([])
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
