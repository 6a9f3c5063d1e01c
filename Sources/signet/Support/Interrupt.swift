import Foundation
import SignetCore

/// Handles SIGINT, SIGTERM and SIGHUP, so that the work in progress can clean up.
enum Interrupt {
    /// Runs `work` and cancels it on a termination signal.
    /// - Throws: The error of `work`; after a signal, always `CancellationError`.
    static func ending<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) async throws -> R {
        let (interrupts, interrupted) = AsyncStream.makeStream(of: Void.self)
        // The handlers must be in place before any work begins.
        let signals = numbers.compactMap { HeldSignal($0, evenIfIgnored: true) { interrupted.yield() } }
        let task = Task { try await work() }
        let watch = Task { for await _ in interrupts { task.cancel() } }
        defer {
            watch.cancel()
            // Afterwards the signals have their earlier effect again.
            for signal in signals { signal.release() }
        }
        do {
            return try await task.value
        } catch {
            throw task.isCancelled ? CancellationError() : error
        }
    }

    /// Runs a blocking `body`, which can ask whether a termination signal has arrived.
    ///
    /// It is for a terminal whose echo is off: a process that simply ended would leave it off.
    static func catchingSignals<R>(_ body: (_ isAskedToEnd: () -> Bool) -> R) -> R {
        let flag = Latch()
        // A signal that is already ignored, such as SIGHUP under nohup, stays ignored.
        let signals = numbers.compactMap { HeldSignal($0, evenIfIgnored: false) { flag.set() } }
        defer { for signal in signals { signal.release() } }
        return body { flag.isSet }
    }

    fileprivate static let numbers = [SIGINT, SIGTERM, SIGHUP]
}

/// A signal that calls a closure instead of its usual action, until it is released.
struct HeldSignal {
    private typealias Action = @Sendable @convention(c) (Int32) -> Void

    private let number: Int32
    private let before: Action?
    private let source: Source

    /// Installs the closure.
    ///
    /// Returns nil if the signal is ignored, unless `evenIfIgnored`. Signals are reported from the return of this initializer on.
    init?(_ number: Int32, evenIfIgnored: Bool, handler: @escaping @Sendable () -> Void) {
        let actions = Interrupt.numbers.contains(number) ? Self.actions : Self.terminalActions
        let catching = actions[number] ?? nil
        before = Self.replace(number, SIG_IGN)
        guard evenIfIgnored || !Self.isIgnoring(before) else { return nil }
        self.number = number
        source = Source(number, handler)
        Self.replace(number, catching)
    }

    /// Gives the signal its earlier action again.
    ///
    /// A signal that is sent afterwards has this action, and is not taken by Dispatch.
    func release() {
        source.end()
        Self.replace(number, before)
    }

    /// The actions of the signals that end the process.
    private static let actions: [Int32: Action?] = firstActions(of: Interrupt.numbers)

    /// The actions of the signals of a terminal: a new size, Ctrl-Z, and its end.
    private static let terminalActions: [Int32: Action?] = firstActions(of: [SIGWINCH, SIGTSTP, SIGCONT])

    /// Returns the action that each signal needs so that a dispatch source receives it.
    ///
    /// Dispatch installs its own action, but only for the first source of a signal in a process. Later sources receive nothing
    /// while another action is installed.
    private static func firstActions(of numbers: [Int32]) -> [Int32: Action?] {
        Dictionary(
            uniqueKeysWithValues: numbers.map { number in
                let before = replace(number, SIG_IGN)
                let first = Source(number) {}
                defer { first.end() }
                return (number, replace(number, before))
            })
    }

    /// A source of Dispatch for a signal.
    ///
    /// Dispatch registers and removes it on another thread, where it reads signals from a descriptor. A signal that is sent before
    /// the one is lost, and a signal that is sent before the other is taken from the process.
    private struct Source {
        private let source: any DispatchSourceSignal
        private let ended = DispatchSemaphore(value: 0)

        /// Creates a source, and waits until it is registered.
        init(_ number: Int32, _ handler: @escaping @Sendable () -> Void) {
            source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            let registered = DispatchSemaphore(value: 0)
            source.setEventHandler(handler: handler)
            source.setRegistrationHandler { registered.signal() }
            source.setCancelHandler { [ended] in ended.signal() }
            source.resume()
            registered.wait()
        }

        /// Ends the source, and waits until it is removed.
        func end() {
            source.cancel()
            ended.wait()
            ended.signal()
        }
    }

    /// Sets a signal's action, and returns the previous one.
    @discardableResult
    private static func replace(_ number: Int32, _ action: (@convention(c) (Int32) -> Void)?) -> Action? {
        unsafeBitCast(signal(number, action), to: Action?.self)
    }

    private static func isIgnoring(_ action: Action?) -> Bool {
        unsafeBitCast(action, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
