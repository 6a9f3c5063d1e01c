import SignetAuthenticator
import SignetCore

/// A detector of a manipulated device or process.
public protocol JailbreakDetector: Sendable {
    /// Returns a score from 0.0, for no sign of a manipulation, to 1.0, for certainty.
    func analyze() -> Double
}

/// The detectors of this process.
public final class FRJailbreakDetector: Sendable {
    /// The detectors of this process, shared by all callers.
    public static let shared = FRJailbreakDetector()

    private init() {}

    /// The detectors that ``analyze()`` asks.
    ///
    /// An app can remove them or add its own.
    public var detectors: [any JailbreakDetector] {
        get { FRCoreProcess.current.state.withLock { $0.detectors } }
        set { FRCoreProcess.current.state.withLock { $0.detectors = newValue } }
    }

    /// Returns the highest score of the detectors, from 0.0 to 1.0; -1.0 without detectors.
    public func analyze() -> Double {
        detectors.map { min(1, max(0, $0.analyze())) }.max() ?? -1
    }
}

/// The detector for a process that another program traces or that loads foreign code.
///
/// Apps take any score above 0 for a manipulated device. Signs that many healthy machines have, such as a program that runs as
/// root in a container, therefore don't count here. `TamperingReadings` has all of them.
public struct ProcessTamperingDetector: JailbreakDetector {
    /// Creates the detector.
    public init() {}

    /// Returns the highest weight of the signs that weigh at least one half; 0.0 without such a sign.
    public func analyze() -> Double {
        TamperingReadings.ofThisProcess().signals.map(\.weight).filter { $0 >= 0.5 }.max() ?? 0
    }
}
