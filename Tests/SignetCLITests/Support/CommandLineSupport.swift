import Foundation
import SignetCore
import SignetTesting
import Synchronization
import Testing

// What the tests of the command line share: `signet` as a new process, and a place for it.

extension Tag {
    /// Takes more than some seconds, most of it waiting.
    @Tag static var slow: Self
}

/// A directory for one test, in which `signet` runs as a person would run it.
struct Workplace: Sendable {
    let directory: TemporaryDirectory

    /// Where the vault is, or is to be.
    var home: String { directory.file("vault") }

    /// Runs `body` at a new place, with a vault if `vault` says so.
    static func with<R>(vault: Bool = true, _ body: (Workplace) async throws -> R) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let place = Workplace(directory: directory)
            if vault { try await place.signet("init", "--protect", "keyfile").succeeds() }
            return try await body(place)
        }
    }

    /// Runs `signet` to its end.
    func signet(
        _ arguments: String..., input: TestProcess.Input = .nothing, environment: [String: String] = [:],
        patience: Duration = .seconds(60)
    ) async throws -> Outcome {
        try await Gate.processes.pass {
            try await start(arguments, input: input, environment: environment).end(within: patience)
        }
    }

    /// Starts `signet`, or another program, and lets it run.
    func start(
        _ arguments: [String], program: String = Program.path, input: TestProcess.Input = .nothing,
        environment: [String: String] = [:],
        ownGroup: Bool = false
    ) throws -> TestProcess {
        let own = ["SIGNET_HOME": home, "HOME": directory.path, "TMPDIR": directory.path]
        let all = Program.environment.merging(own) { _, new in new }.merging(environment) { _, new in new }
        return try TestProcess(program, arguments, environment: all, input: input, ownGroup: ownGroup)
    }

    /// Writes a file that only its owner reads, and gives its path.
    func write(_ bytes: some Sequence<UInt8>, to name: String, mode: mode_t = 0o600) throws -> String {
        let path = directory.file(name)
        try Data(bytes).write(to: URL(filePath: path))
        try #require(chmod(path, mode) == 0)
        return path
    }

    /// The accounts, as `signet accounts --json` lists them.
    func accounts() async throws -> [JSONValue] { try await signet("accounts", "--json").succeeds().jsonLines }

    /// The push messages, as `signet push list --all --json` lists them.
    func messages() async throws -> [JSONValue] { try await signet("push", "list", "--all", "--json").succeeds().jsonLines }

    /// Every file of the vault's directory but what SQLite makes for its own use, by name, with its bytes.
    func vaultFiles() throws -> [String: Data] {
        let names = try FileManager.default.contentsOfDirectory(atPath: home).filter {
            !$0.hasSuffix("-shm") && !$0.hasSuffix("-wal")
        }
        return try Dictionary(uniqueKeysWithValues: names.map { ($0, try Data(contentsOf: URL(filePath: "\(home)/\($0)"))) })
    }
}

/// The program under test.
enum Program {
    /// `signet`, which the build puts beside the test bundle.
    static let path: String = {
        let starts = ["/proc/self/exe"] + CommandLine.arguments
        for start in starts {
            var folder = URL(filePath: start).resolvingSymlinksInPath().deletingLastPathComponent()
            while folder.pathComponents.count > 1 {
                let candidate = folder.appending(path: "signet").path(percentEncoded: false)
                var isFolder = ObjCBool(false)
                if FileManager.default.fileExists(atPath: candidate, isDirectory: &isFolder), !isFolder.boolValue,
                    FileManager.default.isExecutableFile(atPath: candidate)
                {
                    return candidate
                }
                folder.deleteLastPathComponent()
            }
        }
        return "signet: not built"
    }()

    /// What of our own environment a child gets.
    static let environment = ProcessInfo.processInfo.environment.filter {
        ["PATH", "LANG", "LD_LIBRARY_PATH", "SWIFT_BACKTRACE", "ASAN_OPTIONS"].contains($0.key)
    }
}

/// How a process ended.
struct Outcome: Sendable {
    /// The exit code; the negated number of the signal that killed it.
    let status: Int32
    let output: String
    let errors: String
    let arguments: [String]

    /// Insists on exit code 0.
    @discardableResult
    func succeeds(_ location: SourceLocation = #_sourceLocation) throws -> Outcome {
        try #require(status == 0, "signet \(arguments.joined(separator: " ")): \(errors)", sourceLocation: location)
        return self
    }

    /// Expects an exit code, nothing on standard output, and each of `words` on standard error.
    func fails(_ expected: Int32, _ words: String..., at location: SourceLocation = #_sourceLocation) {
        #expect(status == expected, "\(errors)", sourceLocation: location)
        #expect(output == "", sourceLocation: location)
        for word in words { #expect(errors.contains(word), sourceLocation: location) }
    }

    /// Standard output without the line end.
    var line: String { output.trimmingCharacters(in: .newlines) }

    var json: JSONValue { Self.json(output) }
    var jsonLines: [JSONValue] { output.split(separator: "\n").map(Self.json) }
    /// What standard error says as `{"error": …}`.
    var jsonError: JSONValue? { Self.json(errors)["error"] }

    private static func json(_ text: some StringProtocol) -> JSONValue {
        (try? JSON.value(of: Array(text.utf8))) ?? .null
    }
}

/// Lets so many in at a time: a hundred processes at once would only time each other out.
actor Gate {
    static let processes = Gate(places: 4)

    private var places: Int
    private var queue: [CheckedContinuation<Void, Never>] = []

    init(places: Int) { self.places = places }

    func pass<R: Sendable>(_ body: @Sendable () async throws -> R) async rethrows -> R {
        if places > 0 {
            places -= 1
        } else {
            await withCheckedContinuation { queue.append($0) }
        }
        defer {
            if queue.isEmpty { places += 1 } else { queue.removeFirst().resume() }
        }
        return try await body()
    }
}

/// A process, its pipes, and a thread that looks after them. `Foundation.Process` lets children inherit each other's pipes
/// when several are started at once.
final class TestProcess: Sendable {
    /// What a process finds on its standard input.
    enum Input: Sendable {
        case nothing
        case bytes([UInt8])
        /// A pipe that stays open until ``TestProcess/closeInput()``.
        case open
        static func text(_ text: String) -> Input { .bytes(Array(text.utf8)) }
    }

    struct CannotStart: Error { let status: Int32 }

    private struct State {
        var output: [UInt8] = []
        var errors: [UInt8] = []
        var status: Int32?
        var input: Int32?
    }

    let identifier: pid_t
    let arguments: [String]
    private let state: Mutex<State>
    /// Held from the making of pipes to the start of their process, so that no other process gets them.
    private static let spawning = Mutex(())

    convenience init(
        _ program: String, _ arguments: [String], environment: [String: String], input: Input, ownGroup: Bool = false
    ) throws {
        let started = try Self.spawning.withLock { _ in
            try Self.spawn(program, arguments, environment: environment, input: input, ownGroup: ownGroup)
        }
        self.init(started.identifier, arguments, input: started.feed)
        Thread.detachNewThread { [self] in look(after: started.output, started.errors) }
    }

    private init(_ identifier: pid_t, _ arguments: [String], input: Int32?) {
        self.identifier = identifier
        self.arguments = arguments
        state = Mutex(State(input: input))
    }

    private struct Started {
        let identifier: pid_t
        let output: Int32
        let errors: Int32
        let feed: Int32?
    }

    private static func spawn(
        _ program: String, _ arguments: [String], environment: [String: String], input: Input, ownGroup: Bool
    ) throws -> Started {
        let (stdin, feed) = try Self.input(input)
        let (output, outputEnd) = try Self.pipe()
        let (errors, errorsEnd) = try Self.pipe()
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        for (number, descriptor) in [stdin, outputEnd, errorsEnd].enumerated() {
            posix_spawn_file_actions_adddup2(&actions, descriptor, Int32(number))
        }
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        for number in [SIGPIPE, SIGINT, SIGTERM, SIGHUP] { sigaddset(&signals, number) }
        posix_spawnattr_setsigdefault(&attributes, &signals)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK | (ownGroup ? POSIX_SPAWN_SETPGROUP : 0)))
        var words: [UnsafeMutablePointer<CChar>?] = ([program] + arguments).map { strdup($0) } + [nil]
        var variables: [UnsafeMutablePointer<CChar>?] = environment.map { strdup("\($0)=\($1)") } + [nil]
        var identifier: pid_t = 0
        let status = posix_spawn(&identifier, program, &actions, &attributes, &words, &variables)
        for word in words + variables { free(word) }
        posix_spawn_file_actions_destroy(&actions)
        posix_spawnattr_destroy(&attributes)
        for descriptor in [stdin, outputEnd, errorsEnd] { close(descriptor) }
        guard status == 0 else { throw CannotStart(status: status) }
        return Started(identifier: identifier, output: output, errors: errors, feed: feed)
    }

    /// Sends a signal, unless the process has ended; `group` sends it to its whole group.
    func signal(_ number: Int32, group: Bool = false) {
        state.withLock { if $0.status == nil { _ = kill(group ? -identifier : identifier, number) } }
    }

    func closeInput() {
        state.withLock { state in
            if let input = state.input.take() { close(input) }
        }
    }

    var hasEnded: Bool { state.withLock { $0.status != nil } }

    /// Waits for the end. A process that takes longer is killed, which shows in its status.
    func end(within patience: Duration = .seconds(60)) async throws -> Outcome {
        let deadline = ContinuousClock.now + patience
        while true {
            if let outcome { return outcome }
            if ContinuousClock.now > deadline { signal(SIGKILL) }
            try await Task.sleep(for: .milliseconds(5))
        }
    }

    /// Waits until what was written satisfies `condition`, and gives it.
    @discardableResult
    func said(within patience: Duration = .seconds(30), _ condition: (_ output: String, _ errors: String) -> Bool) async throws
        -> Outcome
    {
        let deadline = ContinuousClock.now + patience
        while ContinuousClock.now < deadline {
            let soFar = soFar
            if condition(soFar.output, soFar.errors) { return soFar }
            if hasEnded, outcome.map({ condition($0.output, $0.errors) }) != true { break }
            try await Task.sleep(for: .milliseconds(10))
        }
        // On a busy machine the sleep may have taken all the time there was.
        let last = soFar
        guard condition(last.output, last.errors) else { throw NotSaid(soFar: last) }
        return last
    }

    struct NotSaid: Error { let soFar: Outcome }

    var soFar: Outcome {
        state.withLock { state in
            Outcome(
                status: state.status ?? -1000, output: String(decoding: state.output, as: UTF8.self),
                errors: String(decoding: state.errors, as: UTF8.self), arguments: arguments)
        }
    }

    private var outcome: Outcome? { hasEnded ? soFar : nil }

    private func look(after output: Int32, _ errors: Int32) {
        var streams = [(output, \State.output), (errors, \State.errors)]
        var buffer = [UInt8](repeating: 0, count: 65_536)
        var isOver = false
        while !streams.isEmpty {
            var polls = streams.map { pollfd(fd: $0.0, events: Int16(POLLIN), revents: 0) }
            let ready = poll(&polls, nfds_t(polls.count), isOver ? 0 : 50)
            if ready == 0, isOver { break }
            for (index, entry) in polls.enumerated().reversed() where entry.revents != 0 {
                let count = read(entry.fd, &buffer, buffer.count)
                if count > 0 {
                    state.withLock { $0[keyPath: streams[index].1] += buffer[..<count] }
                } else {
                    close(entry.fd)
                    streams.remove(at: index)
                }
            }
            // A grandchild may hold the pipes open for longer than the process lives.
            if ready == 0 { isOver = hasDied(waiting: false) }
        }
        for (descriptor, _) in streams { close(descriptor) }
        _ = hasDied(waiting: true)
        state.withLock { state in
            var status: Int32 = 0
            waitpid(identifier, &status, 0)
            state.status = status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F)
            if let input = state.input.take() { close(input) }
        }
    }

    /// Whether the process is dead; its number stays taken until it is waited for.
    private func hasDied(waiting: Bool) -> Bool {
        var information = siginfo_t()
        while waitid(P_PID, id_t(identifier), &information, WEXITED | WNOWAIT | (waiting ? 0 : WNOHANG)) != 0, errno == EINTR {}
        return information.si_signo == SIGCHLD
    }

    private static func pipe() throws -> (read: Int32, write: Int32) {
        var ends: [Int32] = [0, 0]
        guard Foundation.pipe(&ends) == 0 else { throw CannotStart(status: errno) }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    /// What becomes the child's standard input, and our end of it if it is to stay open.
    private static func input(_ input: Input) throws -> (child: Int32, feed: Int32?) {
        guard case .nothing = input else {
            let (read, write) = try pipe()
            guard case .bytes(let bytes) = input else { return (read, write) }
            // A reader that leaves early must not end this process.
            Foundation.signal(SIGPIPE, SIG_IGN)
            Thread.detachNewThread {
                FileHandle(fileDescriptor: write, closeOnDealloc: true).writeQuietly(bytes)
            }
            return (read, nil)
        }
        return (open("/dev/null", O_RDONLY | O_CLOEXEC), nil)
    }
}

extension FileHandle {
    fileprivate func writeQuietly(_ bytes: [UInt8]) {
        try? write(contentsOf: Data(bytes))
        try? close()
    }
}
