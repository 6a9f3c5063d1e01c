#if os(Linux)
import Foundation
import Glibc
import Synchronization

/// A program that a test starts, the pipes to it, and a thread that looks after them: nothing here blocks who waits.
///
/// Foundation's `Process` will not do: what it learns of a child's end by is inherited by every child that is started at the
/// same time, so that the first seems to run for as long as they do.
package final class TestProcess: Sendable {
    /// What a program finds on its standard input.
    package enum Input: Sendable {
        case nothing
        case bytes([UInt8])
        /// A pipe that stays open until ``TestProcess/closeInput()``.
        case open

        package static func text(_ text: String) -> Input { .bytes(Array(text.utf8)) }
    }

    /// What a program said, and how it ended.
    package struct Outcome: Sendable {
        /// The exit code; the negated number of the signal that killed it.
        package let status: Int32
        package let output: String
        package let errors: String
        package let arguments: [String]

        /// The output without the line end.
        package var line: String { output.trimmingCharacters(in: .newlines) }
    }

    /// It did not say in time what was waited for.
    package struct NotSaid: Error {
        package let soFar: Outcome
    }

    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        /// Our end of its input, for as long as that is open.
        var input: Descriptor?
        var status: Int32?
        /// When it is killed.
        var deadline: ContinuousClock.Instant?
        var waiting: [CheckedContinuation<Outcome, Never>] = []
    }

    /// The system's number for it.
    package let identifier: Int32
    private let arguments: [String]
    private let state: Mutex<State>

    /// More than all pipes hold, on a system with large pages too: what comes after the end beyond that is not the program's.
    private static let mostAfterEnd = 4 << 20

    /// Starts a program, which is looked up in `PATH`.
    /// - Parameter ownGroup: Whether it leads a process group, so that what it starts can be signalled with it.
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
        Thread.detachNewThread { [self, bytes] in look(after: output.reading, errors.reading, feeding: bytes) }
    }

    /// Starts a program that ends with us, however we end, and everything with it that stays in its process group.
    ///
    /// Somebody beside it waits for our end of a pipe to close, which the system does even for a process that was killed, and
    /// then kills the group, whose number is taken for as long as he is in it.
    /// - Throws: ``CannotStart``. A program that is not there ends with 127.
    package static func kept(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment
    ) throws(CannotStart) -> TestProcess {
        let script = "exec 3<&0 </dev/null; { read -r _ <&3; kill -KILL 0; } >/dev/null 2>&1 & exec \"$@\" 3<&-"
        return try TestProcess(
            "sh", ["-c", script, "sh", program] + arguments, environment: environment, input: .open, ownGroup: true)
    }

    /// Runs a program to its end.
    /// - Throws: ``CannotStart``. How it ends is for the caller to judge.
    package static func run(
        _ program: String, _ arguments: [String] = [], environment: [String: String] = ProcessInfo.processInfo.environment,
        input: Input = .nothing, within patience: Duration = Patience.usual
    ) async throws(CannotStart) -> Outcome {
        try await TestProcess(program, arguments, environment: environment, input: input).end(within: patience)
    }

    /// Sends a signal, unless the process has ended; `group` sends it to its whole group.
    package func signal(_ number: Int32, group: Bool = false) {
        state.withLock { if $0.status == nil { _ = kill(group ? -identifier : identifier, number) } }
    }

    /// Writes to an input that was left open. Who does not read it is waited for.
    package func send(_ bytes: [UInt8]) {
        guard let input = state.withLock({ $0.input }) else { return }
        var rest = bytes[...]
        while !rest.isEmpty { rest = input.write(rest) }
    }

    /// Takes away what was written to standard output until now.
    package func takeOutput() -> [UInt8] {
        state.withLock { state in
            defer { state.output = [] }
            return state.output
        }
    }

    /// Ends an input that was left open.
    package func closeInput() { state.withLock { $0.input = nil } }

    package var hasEnded: Bool { state.withLock { $0.status != nil } }

    /// What it has said until now.
    package var soFar: Outcome { state.withLock { outcome($0) } }

    /// Waits for the end. A process that takes longer is killed, which shows in its status. Who is cancelled waits as well.
    package func end(within patience: Duration = Patience.usual) async -> Outcome {
        let deadline = ContinuousClock.now + patience
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

    /// Asks it to end, even if it stands still, and waits until it has.
    package func stop() async {
        signal(SIGTERM)
        signal(SIGCONT)
        _ = await end(within: .seconds(10))
    }

    /// Waits until what was written satisfies `condition`, and gives it.
    /// - Throws: ``NotSaid``.
    @discardableResult
    package func said(
        within patience: Duration = Patience.usual, _ condition: (_ output: String, _ errors: String) -> Bool
    ) async throws -> Outcome {
        let deadline = ContinuousClock.now + patience
        while true {
            // Asked first: on a busy machine all the time there was may pass before what was written is looked at.
            let isLast = hasEnded || ContinuousClock.now > deadline
            let soFar = soFar
            if condition(soFar.output, soFar.errors) { return soFar }
            if isLast { throw NotSaid(soFar: soFar) }
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
    private func look(after output: Descriptor, _ errors: Descriptor, feeding bytes: [UInt8]?) {
        // A reader that leaves early must not end us.
        var signals = sigset_t()
        sigfillset(&signals)
        pthread_sigmask(SIG_BLOCK, &signals, nil)
        var streams = [(pipe: output, bytes: \State.output), (pipe: errors, bytes: \State.errors)]
        var food = bytes?[...]
        state.withLock { if food != nil { $0.input?.doNotBlock() } }
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var (isOver, afterEnd) = (false, 0)
        while true {
            // The end of the process counts, not that of its pipes, which a grandchild may hold open. Asked first: all that
            // the process wrote is in the pipes then.
            if !isOver { isOver = hasDied() }
            if isOver || food?.isEmpty == true {
                closeInput()
                food = nil
            }
            var polls = streams.map { pollfd(fd: $0.pipe.number, events: Int16(POLLIN), revents: 0) }
            let input = food == nil ? nil : state.withLock { $0.input }
            if let input { polls.append(pollfd(fd: input.number, events: Int16(POLLOUT), revents: 0)) }
            let ready = poll(&polls, nfds_t(polls.count), isOver ? 0 : streams.isEmpty ? 2 : 50)
            if isOver, ready <= 0 || afterEnd > Self.mostAfterEnd { break }
            if let input, polls[streams.count].revents != 0 { food = food.map { input.write($0) } }
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

    /// Whether the process is dead; its number stays taken until it is waited for.
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
