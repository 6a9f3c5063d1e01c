import NIOCore

/// Runs tasks on the event loop of a connection.
///
/// A request is read, answered and written on one thread then. Otherwise, each step wakes another thread, which takes longer than most
/// steps. Nothing that a request does may therefore block its thread: the state and the passwords have their own threads
/// (``TransactionQueue``).
final class EventLoopExecutor: TaskExecutor {
    private let loop: any EventLoop

    init(_ loop: any EventLoop) { self.loop = loop }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        loop.execute { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
