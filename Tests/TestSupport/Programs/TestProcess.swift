#if os(Linux)
import Foundation
import Glibc
import SignetTesting
import SignetCore

/// A program that a test starts, with its pipes and a thread that serves them.
///
/// Waiting for it does not block the calling thread.
///
/// Foundation's `Process` isn't suitable: the descriptor that signals a child's end is inherited by all children that are started
/// at the same time, so the first child seems to run as long as they do.
package final class TestProcess: Sendable {
    /// The standard input of a program.
    package enum Input: Sendable {
        case nothing
        case bytes([UInt8])
        /// A pipe that stays open until ``TestProcess/closeInput()``.
        case open

        package static func text(_ text: String) -> Input { .bytes(Array(text.utf8)) }
    }

    /// The output of a program and its exit status.
    package struct Outcome: Sendable {
        /// The exit code, or the negated number of the signal that killed the program.
        package let status: Int32
        package let output: String
        package let errors: String
        package let arguments: [String]

        /// The output without its trailing line ending.
        package var line: String { output.trimmingCharacters(in: .newlines) }
    }

    /// An error that reports that the expected output did not come in time.
    package struct OutputTimeout: Error {
        package let soFar: Outcome
    }

    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        /// The parent's end of the input pipe, while it is open.
        var input: Descriptor?
        var status: Int32?
        /// The time at which the process is killed.
        var deadline: ContinuousClock.Instant?
        var waiting: [CheckedContinuation<Outcome, Never>] = []
    }

    /// The process id.
    package let identifier: Int32
    private let arguments: [String]
    private let state: Mutex<State>

    /// The maximum number of bytes that are read after the process has ended.
    ///
    /// It exceeds the capacity of all pipes, also on systems with large pages. Further bytes cannot come from the process.
    private static let maxBytesAfterEnd = 4 << 20

    /// Starts a program, which is looked up in `PATH`.
    /// - Parameters:
    ///   - program: The name or path of the program.
    ///   - arguments: The arguments.
    ///   - environment: The environment variables.
    ///   - input: The standard input.
    ///   - ownGroup: True when the process leads a new process group, so that its children can be signaled together with it.
    /// - Throws: ``CannotStart``.
    package init(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment,
        input: Input = .nothing, ownGroup: Bool = false
    ) throws(CannotStart) {
        let (output, errors) = (try Descriptor.pipe(), try Descriptor.pipe())
        let theirInput: Descriptor
        var ourInput: Descriptor?
        var bytes: [UInt8]?
        if case .nothing = input {
            theirInput = try .nothing()
        } else {
            (theirInput, ourInput) = try Descriptor.pipe()
        }
        if case .bytes(let all) = input { bytes = all }
        identifier = try Self.spawn(
            [program] + arguments, environment, [theirInput, output.writing, errors.writing], ownGroup: ownGroup)
        self.arguments = arguments
        state = Mutex(State(input: ourInput))
        Thread.detachNewThread { [self, bytes] in watch(output.reading, errors.reading, feeding: bytes) }
    }

    /// Starts a program that ends with the test process, however that process ends, together with all processes of its process
    /// group.
    ///
    /// A background process in the group waits until the parent's end of a pipe closes. The system closes it even when the test
    /// process is killed. The background process then kills the group. The group id cannot be reused before that, because the
    /// background process belongs to the group.
    /// - Throws: ``CannotStart``. When the program does not exist, the process exits with 127.
    package static func kept(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CannotStart) -> TestProcess {
        let script = "exec 3<&0 </dev/null; { read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & exec \"$@\" 3<&-"
        return try TestProcess(
            "sh", ["-c", script, "sh", program] + arguments, environment: environment, input: .open, ownGroup: true)
    }

    /// Runs a program to its end.
    ///
    /// The caller must check the exit status.
    /// - Throws: ``CannotStart``.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment,
        input: Input = .nothing, within timeout: Duration = TestTimeout.default
    ) async throws(CannotStart) -> Outcome {
        try await TestProcess(program, arguments, environment: environment, input: input).end(within: timeout)
    }

    /// Sends a signal, unless the process has ended.
    ///
    /// With `group` the signal goes to the whole process group.
    package func signal(_ number: Int32, group: Bool = false) {
        state.withLock { if $0.status == nil { _ = kill(group ? -identifier : identifier, number) } }
    }

    /// Writes to an input that was left open.
    ///
    /// The call blocks until the process has read enough.
    package func send(_ bytes: [UInt8]) {
        guard let input = state.withLock({ $0.input }) else { return }
        var rest = bytes[...]
        while !rest.isEmpty { rest = input.write(rest) }
    }

    /// Removes and returns the standard output so far.
    package func takeOutput() -> [UInt8] {
        state.withLock { state in
            defer { state.output = [] }
            return state.output
        }
    }

    /// Closes an input that was left open.
    package func closeInput() { state.withLock { $0.input = nil } }

    package var hasEnded: Bool { state.withLock { $0.status != nil } }

    /// The output so far.
    package var soFar: Outcome { state.withLock { outcome($0) } }

    /// Waits until the process ends.
    ///
    /// After the timeout the process is killed, which its status shows. Cancellation of the waiting task does not end the wait.
    package func end(within timeout: Duration = TestTimeout.default) async -> Outcome {
        let deadline = ContinuousClock.now + timeout
        return await withCheckedContinuation { continuation in
            let ended: Outcome? = state.withLock { state in
                if state.status != nil { return outcome(state) }
                state.deadline = min(state.deadline ?? deadline, deadline)
                state.waiting.append(continuation)
                return nil
            }
            if let ended { continuation.resume(returning: ended) }
        }
    }

    /// Terminates the process, even if it is suspended, and waits until it has ended.
    package func stop() async {
        signal(SIGTERM)
        signal(SIGCONT)
        _ = await end(within: .seconds(10))
    }

    /// Waits until the output satisfies `condition`, and returns the output.
    /// - Throws: ``OutputTimeout``.
    @discardableResult
    package func waitForOutput(
        within timeout: Duration = TestTimeout.default, _ condition: (_ output: String, _ errors: String) -> Bool
    ) async throws -> Outcome {
        let deadline = ContinuousClock.now + timeout
        while true {
            // The deadline is read before the output: on a busy machine the timeout may end before the first check, and one check
            // must follow it.
            let isLast = hasEnded || ContinuousClock.now > deadline
            let soFar = soFar
            if condition(soFar.output, soFar.errors) { return soFar }
            if isLast { throw OutputTimeout(soFar: soFar) }
            try await Task.sleep(for: .milliseconds(10))
        }
    }

    private func outcome(_ state: State) -> Outcome {
        Outcome(
            status: state.status ?? -1000, output: String(decoding: state.output, as: UTF8.self),
            errors: String(decoding: state.errors, as: UTF8.self), arguments: arguments)
    }
}

// MARK: The thread

extension TestProcess {
    private func watch(_ output: Descriptor, _ errors: Descriptor, feeding bytes: [UInt8]?) {
        // A write to a closed pipe raises SIGPIPE, which must not end the test process.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var streams = [(pipe: output, bytes: \State.output), (pipe: errors, bytes: \State.errors)]
        var pendingInput = bytes?[...]
        state.withLock { if pendingInput != nil { $0.input?.doNotBlock() } }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var (isOver, afterEnd) = (false, 0)
        while true {
            // The loop ends when the process ends, not when its pipes close, because a grandchild may hold them open. The state
            // of the process is read first: if it has ended, all of its output is in the pipes.
            if !isOver { isOver = hasDied() }
            if isOver || pendingInput?.isEmpty == true {
                closeInput()
                pendingInput = nil
            }
            var polls = streams.map { pollfd(fd: $0.pipe.number, events: Int16(POLLIN), revents: 0) }
            let input = pendingInput == nil ? nil : state.withLock { $0.input }
            if let input { polls.append(pollfd(fd: input.number, events: Int16(POLLOUT), revents: 0)) }
            let ready = poll(&polls, nfds_t(polls.count), isOver ? 0 : streams.isEmpty ? 2 : 50)
            if isOver, ready <= 0 || afterEnd > Self.maxBytesAfterEnd { break }
            if let input, polls[streams.count].revents != 0 { pendingInput = pendingInput.map { input.write($0) } }
            for index in streams.indices.reversed() where polls[index].revents != 0 {
                let count = read(streams[index].pipe.number, &buffer, buffer.count)
                if count > 0 {
                    state.withLock { $0[keyPath: streams[index].bytes] += buffer[..<count] }
                    if isOver { afterEnd += count }
                } else {
                    streams.remove(at: index)
                }
            }
            killIfLate()
        }
        finish()
    }

    private func killIfLate() {
        state.withLock { state in
            guard let deadline = state.deadline, ContinuousClock.now > deadline else { return }
            kill(identifier, SIGKILL)
        }
    }

    /// Returns true when the process has ended.
    ///
    /// It stays a zombie, which keeps its id reserved, until `waitpid`.
    private func hasDied() -> Bool {
        var information = siginfo_t()
        return waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | WNOHANG) == 0
            && information.si_signo == SIGCHLD
    }

    private func finish() {
        let waiting = state.withLock { state in
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            state.status = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
            state.input = nil
            return state.waiting
        }
        for continuation in waiting { continuation.resume(returning: soFar) }
    }
}
#endif
