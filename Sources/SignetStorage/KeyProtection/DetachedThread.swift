#if canImport(Glibc)
import Glibc

/// A thread that runs one function and is not waited for (pthread_detach(3)).
///
/// Calls into libraries that may never return run on such threads, such as those that wait in GLib. Dispatch and Swift's pool have
/// only a limited number of threads, and the callers that wait for this one may occupy all of them.
package enum DetachedThread {
    /// Starts a thread.
    /// - Parameter body: The function that the thread runs before it ends.
    /// - Returns: True when the thread was started; false when the system has no more threads, and `body` is not called.
    package static func start(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(Body(run: body))
        var thread = pthread_t()
        let status = pthread_create(
            &thread, nil,
            { box in
                if let box { Unmanaged<Body>.fromOpaque(box).takeRetainedValue().run() }
                return nil
            }, box.toOpaque())
        guard status == 0 else {
            box.release()
            return false
        }
        pthread_detach(thread)
        return true
    }

    private final class Body: Sendable {
        let run: @Sendable () -> Void
        init(run: @escaping @Sendable () -> Void) { self.run = run }
    }
}
#endif
