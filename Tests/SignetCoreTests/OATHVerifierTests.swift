import Foundation
import SignetCore
import Testing

@Suite("Verification of one-time codes by a server")
struct OATHVerifierTests {
    private func clock(window: Int = 2) throws -> OATHVerifier {
        OATHVerifier(settings: OATHSettings(secret: try Sample.oathSecret), timeWindow: window)
    }

    private func counter(next: UInt64, window: Int = 100) throws -> OATHVerifier {
        OATHVerifier(settings: OATHSettings(secret: try Sample.oathSecret, factor: .counter(next: next)), counterWindow: window)
    }

    private func code(steps: Int) throws -> String {
        TOTP.code(secret: try Sample.oathSecret, at: date(steps: steps))
    }

    private func date(steps: Int) -> Date { Sample.newYear2025.addingTimeInterval(Double(steps) * 30) }

    // MARK: Time

    @Test("A TOTP code is accepted up to two steps before and after the server's step", arguments: -4...4)
    func acceptsCodeInWindow(steps: Int) throws {
        var verifier = try clock()
        let outcome = verifier.verify(try code(steps: steps), at: date(steps: 0))
        #expect(outcome == ((-2...2).contains(steps) ? .accepted : .wrong))
        #expect(verifier.lastAcceptedStep == ((-2...2).contains(steps) ? UInt64(57_856_320 + steps) : nil))
    }

    @Test(
        "A window of zero accepts only the current step",
        arguments: [(-1, OATHVerifier.Outcome.wrong), (0, .accepted), (1, .wrong)])
    func zeroWindowAcceptsCurrentStep(steps: Int, outcome: OATHVerifier.Outcome) throws {
        var verifier = try clock(window: 0)
        #expect(verifier.verify(try code(steps: steps), at: date(steps: 0)) == outcome)
    }

    @Test("A TOTP code is accepted once, and its repetition at any step of the window is refused", arguments: -2...2)
    func refusesReplayedCode(laterSteps: Int) throws {
        var verifier = try clock()
        #expect(verifier.verify(try code(steps: 0), at: date(steps: 0)) == .accepted)
        #expect(verifier.verify(try code(steps: 0), at: date(steps: laterSteps)) == .replayed)
    }

    @Test("A code older than the last accepted one is refused, even within the window")
    func refusesOlderCode() throws {
        var verifier = try clock()
        #expect(verifier.verify(try code(steps: 0), at: date(steps: 0)) == .accepted)
        #expect(verifier.verify(try code(steps: -1), at: date(steps: 0)) == .replayed)
        #expect(verifier.verify(try code(steps: -2), at: date(steps: 0)) == .replayed)
        #expect(verifier.verify(try code(steps: 1), at: date(steps: 0)) == .replayed)
        #expect(verifier.verify(try code(steps: 1), at: date(steps: 1)) == .accepted)
    }

    @Test("S16: The window moves with the drift of the device's clock, and each step of that clock accepts one code")
    func windowMovesWithDrift() throws {
        // The offsets that OpenAM 16.0.5 was sent within one step, and what it answered.
        var verifier = try clock()
        let rows: [(Int, OATHVerifier.Outcome)] = [
            (-3, .wrong), (-2, .accepted), (2, .wrong), (1, .wrong), (0, .replayed), (2, .wrong), (-1, .replayed),
        ]
        for (offset, outcome) in rows {
            #expect(verifier.verify(try code(steps: offset), at: date(steps: 0)) == outcome, "\(offset)")
        }
        #expect(verifier.drift == -2)
        // One step later the device is at -1: its window is from -3 to 1.
        #expect(verifier.verify(try code(steps: 2), at: date(steps: 1)) == .wrong)
        #expect(verifier.verify(try code(steps: -1), at: date(steps: 1)) == .accepted)
        #expect(verifier.drift == -2)
        #expect(verifier.verify(try code(steps: 2), at: date(steps: 2)) == .accepted)
        #expect(verifier.drift == 0)
    }

    @Test("S16: The drift grows from login to login, up to five steps", arguments: [-1, 1])
    func driftHasMaximum(direction: Int) throws {
        var verifier = try clock()
        for (login, drift) in [2, 4, 5].enumerated() {
            let time = login * 10
            if drift == 5 { #expect(verifier.verify(try code(steps: time + 6 * direction), at: date(steps: time)) == .wrong) }
            #expect(verifier.verify(try code(steps: time + drift * direction), at: date(steps: time)) == .accepted)
            #expect(verifier.drift == drift * direction)
        }
        #expect(verifier.looking(timeWindow: 0, counterWindow: 0).drift == 5 * direction)
        #expect(verifier.verify(try code(steps: 100), at: date(steps: 100)) == .wrong)
    }

    @Test("S16: A larger window permits a larger drift, which a smaller window limits again")
    func windowPermitsDrift() throws {
        var verifier = try clock(window: 20)
        #expect(verifier.verify(try code(steps: 20), at: date(steps: 0)) == .accepted)
        #expect(verifier.drift == 20)
        verifier = verifier.looking(timeWindow: 2, counterWindow: 0)
        #expect(verifier.verify(try code(steps: 120), at: date(steps: 100)) == .wrong)
        #expect(verifier.verify(try code(steps: 105), at: date(steps: 100)) == .accepted)
    }

    @Test("A window has a maximum, and the last steps of a date are checked like others", arguments: [-1, 20_000, .max])
    func windowHasMaximum(window: Int) throws {
        let settings = OATHSettings(secret: try Sample.oathSecret)
        var verifier = OATHVerifier(settings: settings, timeWindow: window, counterWindow: window)
        let expected = window < 0 ? 0 : OATHVerifier.maxWindow
        #expect(verifier.timeWindow == expected)
        #expect(verifier.counterWindow == expected)
        #expect(verifier.verify("no code", at: Date(timeIntervalSince1970: 5e20)) == .wrong)
    }

    @Test("A refused code does not change the verifier's state")
    func refusalKeepsState() throws {
        var verifier = try clock()
        #expect(verifier.verify(try code(steps: 0), at: date(steps: 0)) == .accepted)
        let before = verifier
        #expect(verifier.verify("000000", at: date(steps: 0)) == .wrong)
        #expect(verifier.verify(try code(steps: 0), at: date(steps: 0)) == .replayed)
        #expect(verifier == before)
    }

    @Test("The window does not extend before 1970", arguments: [-1e9, 0, 29, 30])
    func windowStartsAt1970(time: Double) throws {
        var verifier = try clock()
        let first = HOTP.code(secret: try Sample.oathSecret, counter: 0)
        #expect(verifier.verify(first, at: Date(timeIntervalSince1970: time)) == .accepted)
        #expect(verifier.lastAcceptedStep == 0)
        #expect(verifier.verify(first, at: Date(timeIntervalSince1970: time)) == .replayed)
    }

    @Test(
        "Text that is not exactly the code is refused",
        arguments: [
            "", "867205 ", " 867205", "0867205", "86720", "36867205", "８６７２０５", "867205\0", "-67205", "867\u{301}205",
        ])
    func refusesInexactCode(text: String) throws {
        var verifier = try clock()
        #expect(verifier.verify(text, at: date(steps: 0)) == .wrong)
        #expect(verifier.verify("867205", at: date(steps: 0)) == .accepted)
    }

    // MARK: Counter

    @Test(
        "An HOTP code up to 100 counters ahead is accepted, and the next counter follows it", arguments: [0, 1, 50, 100])
    func acceptsLookAhead(ahead: UInt64) throws {
        var verifier = try counter(next: 7)
        #expect(verifier.verify(HOTP.code(secret: try Sample.oathSecret, counter: 7 + ahead), at: date(steps: 0)) == .accepted)
        #expect(verifier.settings.factor == .counter(next: 8 + ahead))
        #expect(verifier.lastAcceptedStep == nil)
    }

    @Test(
        "An HOTP code behind the counter or beyond the window is refused and does not move the counter",
        arguments: [0, 6, 108, 1007] as [UInt64])
    func refusesCodeOutsideWindow(counter value: UInt64) throws {
        var verifier = try counter(next: 7)
        #expect(verifier.verify(HOTP.code(secret: try Sample.oathSecret, counter: value), at: date(steps: 0)) == .wrong)
        #expect(verifier.settings.factor == .counter(next: 7))
    }

    @Test("A login uses up its HOTP code and all earlier ones")
    func loginUsesUpEarlierCodes() throws {
        var verifier = try counter(next: 7)
        let codes = try (7...9).map { HOTP.code(secret: try Sample.oathSecret, counter: $0) }
        #expect(verifier.verify(codes[1], at: date(steps: 0)) == .accepted)
        #expect(verifier.verify(codes[1], at: date(steps: 0)) == .wrong)
        #expect(verifier.verify(codes[0], at: date(steps: 0)) == .wrong)
        #expect(verifier.verify(codes[2], at: date(steps: 0)) == .accepted)
    }

    @Test(
        "The window is cut at the last counter, which is never accepted",
        arguments: [
            (.max - 50, .max - 1, .accepted), (.max - 1, .max - 1, .accepted), (.max - 50, .max, .wrong),
            (.max - 1, .max, .wrong), (.max, .max, .wrong),
        ] as [(UInt64, UInt64, OATHVerifier.Outcome)])
    func windowEndsAtLastCounter(next: UInt64, used: UInt64, outcome: OATHVerifier.Outcome) throws {
        var verifier = try counter(next: next)
        #expect(verifier.verify(HOTP.code(secret: try Sample.oathSecret, counter: used), at: date(steps: 0)) == outcome)
        #expect(verifier.settings.factor == .counter(next: outcome == .accepted ? used + 1 : next))
    }
}
