#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The server's side of a one-time code: is it right, and has it been used? See protocol/authenticator.md section 2.5.
///
/// A value is the record that is kept for one device. After ``verify(_:at:)`` says `accepted` the changed value must be
/// stored in the same transaction, or the code could be used again.
public struct OATHVerifier: Sendable, Hashable {
    /// The device's settings; for HOTP `next` is the lowest counter that is still acceptable.
    public private(set) var settings: OATHSettings
    /// How many TOTP steps before and after the present one are looked at.
    public let timeWindow: Int
    /// How many HOTP counters ahead are looked at.
    public let counterWindow: Int
    /// The TOTP step that was accepted last. No step at or before it is accepted again.
    public private(set) var lastAcceptedStep: UInt64?

    /// A verifier for a device that has not logged in yet. The windows default to OpenAM's; a negative one counts as none.
    public init(settings: OATHSettings, timeWindow: Int = 2, counterWindow: Int = 100) {
        self.settings = settings
        self.timeWindow = max(0, timeWindow)
        self.counterWindow = max(0, counterWindow)
    }

    /// A verifier as it was, for who keeps it.
    package init(settings: OATHSettings, timeWindow: Int, counterWindow: Int, lastAcceptedStep: UInt64?) {
        self.init(settings: settings, timeWindow: timeWindow, counterWindow: counterWindow)
        self.lastAcceptedStep = lastAcceptedStep
    }

    /// The same record, looking as far around as said. Negative windows count as none.
    public func looking(timeWindow: Int, counterWindow: Int) -> OATHVerifier {
        var verifier = OATHVerifier(settings: settings, timeWindow: timeWindow, counterWindow: counterWindow)
        verifier.lastAcceptedStep = lastAcceptedStep
        return verifier
    }

    /// What became of a code.
    public enum Outcome: Sendable, Hashable {
        /// The code is right and is now used up.
        case accepted
        /// The code is right but its step was used, or lies before one that was used.
        case replayed
        /// No step or counter in the window has this code.
        case wrong
    }

    /// Checks `code`, trying every candidate in constant time each.
    public mutating func verify(_ code: String, at date: Date) -> Outcome {
        switch settings.factor {
        case .time(let period): verifyTime(code, step: TOTP.step(at: date, period: period))
        case .counter(let next): verifyCounter(code, next: next)
        }
    }

    private mutating func verifyTime(_ code: String, step: UInt64) -> Outcome {
        let window = UInt64(timeWindow)
        let first = step > window ? step - window : 0
        let matches = (first...step + window).filter { isRight(code, counter: $0) }
        guard !matches.isEmpty else { return .wrong }
        guard let match = matches.last(where: { candidate in lastAcceptedStep.map { candidate > $0 } ?? true }) else {
            return .replayed
        }
        lastAcceptedStep = match
        return .accepted
    }

    private mutating func verifyCounter(_ code: String, next: UInt64) -> Outcome {
        let (end, overflow) = next.addingReportingOverflow(UInt64(counterWindow))
        let last = overflow ? UInt64.max - 1 : min(end, .max - 1)
        guard next <= last, let match = (next...last).first(where: { isRight(code, counter: $0) }) else { return .wrong }
        settings.factor = .counter(next: match + 1)
        return .accepted
    }

    private func isRight(_ code: String, counter: UInt64) -> Bool {
        ConstantTime.areEqual(
            code,
            HOTP.code(secret: settings.secret, counter: counter, digits: settings.digits, algorithm: settings.algorithm))
    }
}
