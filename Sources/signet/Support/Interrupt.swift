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
        let sources = await onSignal { interrupted.yield() }
        let task = Task { try await work() }
        let watch = Task { for await _ in interrupts { task.cancel() } }
        defer {
            watch.cancel()
            for source in sources { source.cancel() }
            // Afterwards an end is an end.
            for number in numbers { signal(number, SIG_DFL) }
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
        let held = numbers.compactMap { number in
            let before = signal(number, SIG_IGN)
            // What is ignored already, such as a hang-up under nohup, goes on being ignored.
            let isIgnored = unsafeBitCast(before, to: Int.self) == unsafeBitCast(SIG_IGN, to: Int.self)
            return isIgnored ? nil : (number, before, source(number) { flag.set() })
        }
        let registered = DispatchGroup()
        for (_, _, source) in held {
            registered.enter()
            source.setRegistrationHandler { registered.leave() }
            source.resume()
        }
        registered.wait()
        defer {
            for (number, before, source) in held {
                source.cancel()
                signal(number, before)
            }
        }
        return body { flag.isSet }
    }

    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// Calls `action` when somebody asks for an end after this has returned.
    private static func onSignal(_ action: @escaping @Sendable () -> Void) async -> [any DispatchSourceSignal] {
        var sources: [any DispatchSourceSignal] = []
        for number in numbers {
            signal(number, SIG_IGN)
            let source = source(number, action)
            // What comes before the system knows of the source goes to nobody.
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
            sources.append(source)
        }
        return sources
    }

    private static func source(_ number: Int32, _ action: @escaping @Sendable () -> Void) -> any DispatchSourceSignal {
        let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
        source.setEventHandler(handler: action)
        return source
    }
}
