import FRAuth
import FRCore
import SignetCore
import Testing

import struct SignetJourney.DeviceProfile

@Suite("FRLog")
struct LogTests {
    private final class Kept: FRLogger {
        let lines = Mutex<[String]>([])

        private func keep(_ level: String, _ prefix: String, _ message: String) {
            lines.withLock { $0.append("\(level) \(prefix.hasPrefix("[FRAuth][")) \(message)") }
        }

        func logVerbose(timePrefix: String, logPrefix: String, message: String) { keep("verbose", logPrefix, message) }
        func logInfo(timePrefix: String, logPrefix: String, message: String) { keep("info", logPrefix, message) }
        func logNetwork(timePrefix: String, logPrefix: String, message: String) { keep("network", logPrefix, message) }
        func logWarning(timePrefix: String, logPrefix: String, message: String) { keep("warning", logPrefix, message) }
        func logError(timePrefix: String, logPrefix: String, message: String) { keep("error", logPrefix, message) }
    }

    @Test("Messages go to the logger that the app sets, at the levels that it sets, with the module's name")
    func logsToLoggerOfApp() {
        let cases: [(LogLevel, [String])] = [
            (.none, []), (.all, ["verbose true m", "info true sub m", "warning true m", "error true m"]),
            ([.info, .error], ["info true sub m", "error true m"]),
        ]
        for (levels, expected) in cases {
            FRCoreProcess.$current.withValue(FRCoreProcess()) {
                let kept = Kept()
                FRLog.setCustomLogger(kept)
                FRLog.setLogLevel(levels)
                FRLog.v("m")
                FRLog.i("m", subModule: "sub")
                FRLog.w("m", false)
                FRLog.e("m")
                let lines = kept.lines.withLock { $0 }
                #expect(lines == expected)
            }
        }
    }

    @Test("A DeviceProfileCallback whose response the app has replaced by something else logs an error and enters nothing")
    func logsMalformedResponse() throws {
        try FRCoreProcess.$current.withValue(FRCoreProcess()) {
            let kept = Kept()
            FRLog.setCustomLogger(kept)
            FRLog.setLogLevel(.error)
            let callback = try DeviceProfileCallback(
                json: callbackJSON("DeviceProfileCallback", output: ["metadata": .bool(true)], inputs: [""]))
            let value = callback.getValue() as? String
            callback.response = ["output": "private"]
            callback.setProfile(DeviceProfile(identifier: "i", metadata: ["x": .bool(true)], location: nil))
            let reason = AuthError.invalidCallbackResponse("the callback has no type")
            let lines = kept.lines.withLock { $0 }
            #expect(lines == ["error true DeviceProfileCallback.setProfile entered nothing: \(reason)"])
            #expect(callback.getValue() as? String == value)
        }
    }
}
