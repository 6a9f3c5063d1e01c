import FRAuthenticator
import FRCore
import SignetCore
import SignetTesting
import TestSupport
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
        let log = LogLines()
        var settings = ClientFixture.settings(ScriptedTransport(ClientFixture.accept), ManualClock(Sample.start))
        settings.logger = log.logger
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
        let beginnings = log.lines.map { String($0.split(separator: ":")[0]) }
        #expect(beginnings == expected)
    }
}
