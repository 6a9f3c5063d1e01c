import Synchronization

/// Waits for work of somebody else's, but not for ever.
enum TimeLimit {
    /// What `work` answers, or nil when it has not answered in time. Then it is cancelled, which it may disregard; what it
    /// answers later is handed to `late`.
    static func run<Value: Sendable>(
        _ limit: Duration, late: @escaping @Sendable (Value) -> Void = { _ in },
        _ work: @escaping @Sendable () async -> Value
    ) async -> Value? {
        let race = Race<Value>()
        let worker = Task {
            let value = await work()
            if !race.end(with: value) { late(value) }
        }
        let watch = Task {
            // It ends early when the work is done.
            guard (try? await Task.sleep(for: limit)) != nil else { return }
            if race.end(with: nil) { worker.cancel() }
        }
        defer { watch.cancel() }
        return await withTaskCancellationHandler {
            await race.end
        } onCancel: {
            worker.cancel()
        }
    }
}

/// The first of two to come in.
private final class Race<Value: Sendable>: Sendable {
    private enum State {
        case running
        case awaited(CheckedContinuation<Value?, Never>)
        case over(Value?)
    }

    private let state = Mutex(State.running)

    /// Comes in. Returns whether nobody had before.
    func end(with value: Value?) -> Bool {
        let (isFirst, waiting) = state.withLock { state -> (Bool, CheckedContinuation<Value?, Never>?) in
            switch state {
            case .over: return (false, nil)
            case .running:
                state = .over(value)
                return (true, nil)
            case .awaited(let continuation):
                state = .over(value)
                return (true, continuation)
            }
        }
        waiting?.resume(returning: value)
        return isFirst
    }

    /// What the first came with. To be asked once.
    var end: Value? {
        get async {
            await withCheckedContinuation { continuation in
                let over = state.withLock { state -> Value?? in
                    if case .over(let value) = state { return .some(value) }
                    state = .awaited(continuation)
                    return nil
                }
                if case .some(let value) = over { continuation.resume(returning: value) }
            }
        }
    }
}
