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

    private static let numbers = [SIGINT, SIGTERM, SIGHUP]

    /// Calls `action` when somebody asks for an end after this has returned.
    private static func onSignal(_ action: @escaping @Sendable () -> Void) async -> [any DispatchSourceSignal] {
        var sources: [any DispatchSourceSignal] = []
        for number in numbers {
            signal(number, SIG_IGN)
            let source = DispatchSource.makeSignalSource(signal: number, queue: .global())
            source.setEventHandler(handler: action)
            // What comes before the system knows of the source goes to nobody.
            await withCheckedContinuation { registered in
                source.setRegistrationHandler { registered.resume() }
                source.resume()
            }
            sources.append(source)
        }
        return sources
    }
}
