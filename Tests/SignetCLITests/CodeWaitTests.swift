import Foundation
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import signet

@Suite("The wait for the next code")
struct CodeWaitTests {
    /// Runs a wait at a manual clock, and returns the code, the seconds that it slept, and the seconds that it announced.
    private func wait(
        _ seconds: Int, left: Double, factor: MovingFactor = .time(period: .thirtySeconds)
    ) async throws -> (code: OneTimeCode, slept: [Duration], announced: [Int]) {
        // A period ends at each multiple of 30 seconds.
        let end = Date(timeIntervalSince1970: 1_700_000_010)
        let clock = ManualClock(end.addingTimeInterval(-left))
        let settings = OATHSettings(secret: try OATHSample.secret, factor: factor)
        let (slept, announced) = (Mutex<[Duration]>([]), Mutex<[Int]>([]))
        let wait = CodeWait(
            seconds: seconds, now: { clock.now },
            sleep: { duration in
                slept.withLock { $0.append(duration) }
                clock.advance(by: Double(duration.components.seconds) + Double(duration.components.attoseconds) / 1e18)
            })
        let code = try await wait.code(
            after: settings.code(at: clock.now), announcing: { seconds in announced.withLock { $0.append(seconds) } },
            read: { settings.code(at: clock.now) })
        return (code, slept.withLock { $0 }, announced.withLock { $0 })
    }

    @Test("A code with enough seconds left is used at once", arguments: [(5, 30.0), (5, 5.0), (5, 4.5), (30, 30.0), (1, 0.5)])
    func usesCodeWithTimeLeft(seconds: Int, left: Double) async throws {
        let (code, slept, announced) = try await wait(seconds, left: left)
        #expect(slept == [] && announced == [])
        let end: Date? = if case .time(_, let end) = code.basis { end } else { nil }
        #expect(end == Date(timeIntervalSince1970: 1_700_000_010))
    }

    @Test(
        "A code with too few seconds left is replaced by the next one after its end",
        arguments: [(5, 4.0, 4), (5, 0.25, 1), (30, 29.0, 29), (20, 19.0, 19)])
    func waitsForNextCode(seconds: Int, left: Double, announcement: Int) async throws {
        let (code, slept, announced) = try await wait(seconds, left: left)
        #expect(slept == [.seconds(left)])
        #expect(announced == [announcement])
        let start: Date? = if case .time(let start, _) = code.basis { start } else { nil }
        #expect(start == Date(timeIntervalSince1970: 1_700_000_010))
    }

    @Test("More seconds than the period has are refused, and nothing is waited for")
    func refusesLongWait() async throws {
        await #expect(throws: Failure.self) { _ = try await wait(31, left: 10) }
    }

    @Test("The code of a counter has no end, so it is used at once")
    func usesCounterCode() async throws {
        let (code, slept, _) = try await wait(600, left: 1, factor: .counter(next: 7))
        #expect(code.digits == "099169" && slept == [])
    }
}
