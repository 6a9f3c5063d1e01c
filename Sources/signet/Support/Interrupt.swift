import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What happens when a person, or who supervises us, asks for an end: the work is told, and tidies up.
enum Interrupt {
    /// Does `work`; a signal that asks for an end cancels it.
    /// - Throws: What `work` throws; whatever that is after a signal, `CancellationError`.
    static func ending<R: Sendable>(_ work: @escaping @Sendable () async throws -> R) async throws -> R {
        let (interrupts, interrupted) = AsyncStream.makeStream(of: Void.self)
        // Before anything begins that would have to be ended.
        let signals = numbers.compactMap { HeldSignal($0, evenIfIgnored: true) { interrupted.yield() } }
        let task = Task { try await work() }
        let watch = Task { for await _ in interrupts { task.cancel() } }
        defer {
            watch.cancel()
            // Afterwards an end is an end.
            for signal in signals { signal.release() }
        }
        do {
            return try await task.value
        } catch {
            throw task.isCancelled ? CancellationError() : error
        }
    }

    /// Does `body`, which blocks, and is told whether somebody has asked for an end since it began: for a terminal that does not show
    /// what is typed, and that a process which just ended would leave so.
    static func noting<R>(_ body: (_ isAskedToEnd: () -> Bool) -> R) -> R {
        let flag = Latch()
        // What is ignored already, such as a hang-up under nohup, goes on being ignored.
        let signals = numbers.compactMap { HeldSignal($0, evenIfIgnored: false) { flag.set() } }
        defer { for signal in signals { signal.release() } }
        return body { flag.isSet }
    }

    fileprivate static let numbers = [SIGINT, SIGTERM, SIGHUP]
}

/// A signal that is told of instead of followed, until it is released.
private struct HeldSignal {
    private typealias Action = @Sendable @convention(c) (Int32) -> Void

    private let number: Int32
    private let before: Action?
    private let source: any DispatchSourceSignal

    /// Nil for a signal that is ignored, unless it is meant even so. What comes after this has returned is told of.
    init?(_ number: Int32, evenIfIgnored: Bool, tell: @escaping @Sendable () -> Void) {
        let catching = Self.actions[number] ?? nil
        before = Self.replace(number, SIG_IGN)
        guard evenIfIgnored || !Self.isIgnoring(before) else { return nil }
        self.number = number
        source = Self.source(number, tell)
        Self.replace(number, catching)
    }

    func release() {
        source.cancel()
        Self.replace(number, before)
    }

    /// What must stand as each signal's action for a source to hear of it. Dispatch puts its own there, but only for a signal's first
    /// source in a process; later ones hear nothing while something else stands there.
    private static let actions: [Int32: Action?] = Dictionary(
        uniqueKeysWithValues: Interrupt.numbers.map { number in
            let before = replace(number, SIG_IGN)
            let first = source(number) {}
            defer { first.cancel() }
            return (number, replace(number, before))
        })

    /// A source that has been registered: what comes before the system knows of it goes to nobody.
    private static func source(_ number: Int32, _ tell: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        let registered = DispatchSemaphore(value: 0)
        source.setEventHandler(handler: tell)
        source.setRegistrationHandler { registered.signal() }
        source.resume()
        registered.wait()
        return source
    }

    /// Sets a signal's action, and gives the one before.
    @discardableResult
    private static func replace(_ number: Int32, _ action: (@convention(c) (Int32) -> Void)?) -> Action? {
        unsafeBitCast(signal(number, action), to: Action?.self)
    }

    private static func isIgnoring(_ action: Action?) -> Bool {
        unsafeBitCast(action, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
    }
}
