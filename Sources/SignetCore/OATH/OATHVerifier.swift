#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The server side of one-time codes: it verifies a code and detects replays.
///
/// See protocol/authenticator.md section 2.5.
///
/// A value is the stored record of one device. After ``verify(_:at:)`` returns `accepted`, the caller must store the changed
/// value in the same transaction. Without that the code could be used again.
public struct OATHVerifier: Sendable, Hashable {
    /// The device's settings.
    ///
    /// For HOTP, `next` is the lowest counter that is still acceptable.
    public private(set) var settings: OATHSettings
    /// The number of TOTP steps before and after the device's current one that are checked.
    public let timeWindow: Int
    /// The number of HOTP counters after the next one that are checked.
    public let counterWindow: Int
    /// The TOTP step that was accepted last.
    ///
    /// That step and earlier steps are not accepted again.
    public private(set) var lastAcceptedStep: UInt64?
    /// The number of steps by which the device's clock is ahead of the server's: that of the code that was accepted last.
    ///
    /// It is negative when the device's clock is behind. The window moves with it.
    public private(set) var drift = 0

    /// The maximum number of steps by which a device's clock may differ, unless ``timeWindow`` is larger.
    public static let maxDrift = 5

    /// The maximum of ``timeWindow`` and ``counterWindow``.
    ///
    /// The verifier computes a code for each step or counter of the window.
    public static let maxWindow = 10_000

    /// Creates a verifier for a device that has not logged in yet.
    ///
    /// The default windows are those of OpenAM. A negative window counts as zero, and a larger one than ``maxWindow`` as that.
    public init(settings: OATHSettings, timeWindow: Int = 2, counterWindow: Int = 100) {
        self.settings = settings
        self.timeWindow = min(max(0, timeWindow), Self.maxWindow)
        self.counterWindow = min(max(0, counterWindow), Self.maxWindow)
    }

    /// Restores a verifier from stored values.
    package init(settings: OATHSettings, timeWindow: Int, counterWindow: Int, lastAcceptedStep: UInt64?, drift: Int = 0) {
        self.init(settings: settings, timeWindow: timeWindow, counterWindow: counterWindow)
        self.lastAcceptedStep = lastAcceptedStep
        self.drift = drift
    }

    /// Returns the same record with other windows, which have the limits of ``init(settings:timeWindow:counterWindow:)``.
    public func looking(timeWindow: Int, counterWindow: Int) -> OATHVerifier {
        var verifier = OATHVerifier(settings: settings, timeWindow: timeWindow, counterWindow: counterWindow)
        verifier.lastAcceptedStep = lastAcceptedStep
        verifier.drift = drift
        return verifier
    }

    /// The result of a verification.
    public enum Outcome: Sendable, Hashable {
        /// The code is correct and cannot be used again.
        case accepted
        /// The code is correct, but its step was already used or precedes a used step, or the device's current step was used.
        case replayed
        /// The code does not match any step or counter in the window.
        case wrong
    }

    /// Checks `code`.
    ///
    /// Each comparison takes constant time.
    public mutating func verify(_ code: String, at date: Date) -> Outcome {
        switch settings.factor {
        case .time(let period): verifyTime(code, step: TOTP.step(at: date, period: period))
        case .counter(let next): verifyCounter(code, next: next)
        }
    }

    /// Checks a TOTP code.
    ///
    /// As in OpenAM, the window is around the step of the device's clock, and one code is accepted in each step of that clock.
    private mutating func verifyTime(_ code: String, step: UInt64) -> Outcome {
        // No sum below overflows, whatever the date is.
        let (now, limit) = (min(Int(clamping: step), .max / 2), max(Self.maxDrift, timeWindow))
        let current = now + min(max(drift, -limit), limit)
        let first = max(current - timeWindow, now - limit, 0)
        let last = max(min(current + timeWindow, now + limit), first)
        let matches = (first...last).map(UInt64.init).filter { isRight(code, counter: $0) }
        guard !matches.isEmpty else { return .wrong }
        guard lastAcceptedStep.map(Int.init(clamping:)) != current,
            let match = matches.last(where: { candidate in lastAcceptedStep.map { candidate > $0 } ?? true })
        else { return .replayed }
        lastAcceptedStep = match
        drift = Int(match) - now
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
        ConstantTime.areEqual(code, settings.text(of: counter))
    }
}
