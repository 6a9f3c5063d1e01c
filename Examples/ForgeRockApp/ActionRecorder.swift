import FRCore

/// An interceptor of the app that records the actions of requests.
final class ActionRecorder: RequestInterceptor {
    private let (recorded, recording) = AsyncStream<String>.makeStream()

    func intercept(request: Request, action: Action) -> Request {
        recording.yield(action.type)
        return request
    }

    /// Waits until there were requests with all of these actions.
    func wait(for actions: Set<String>) async {
        var missing = actions
        for await name in recorded {
            missing.remove(name)
            if missing.isEmpty { return }
        }
    }

    /// Ends the recording and returns the names of the actions in alphabetical order, without those that read the server's
    /// metadata.
    func actions() async -> String {
        recording.finish()
        var names: Set<String> = []
        for await name in recorded { names.insert(name) }
        return names.subtracting(["WELL_KNOWN", "KEYS"]).sorted().joined(separator: " ")
    }
}
