#if os(Linux)
import Foundation
import Glibc

/// A program in the background that ends with us, however we end: a shell waits beside it for our end of a socket to close,
/// which the system does even for a process that was killed.
struct KeptProcess: Sendable {
    private let shell: Child
    /// Of the program itself.
    let identifier: Int32

    private static let script = """
        "$@" </dev/null >"$LOG" 2>&1 &
        echo $!
        exec >/dev/null
        read -r _
        kill -CONT $! 2>/dev/null
        kill $! 2>/dev/null
        wait $!
        """

    /// Starts the program; what it writes goes to the file `log`.
    init(_ command: [String], environment: [String: String] = [:], log: String) throws {
        shell = try Child(["sh", "-c", Self.script, "sh"] + command, environment: environment.merging(["LOG": log]) { $1 })
        var line = [UInt8](repeating: 0, count: 32)
        let count = max(0, read(shell.socket, &line, line.count))
        guard let identifier = Int32(String(decoding: line.prefix(count).prefix { $0 != UInt8(ascii: "\n") }, as: UTF8.self))
        else {
            throw CannotStart(reason: "\(command[0]) cannot be started")
        }
        self.identifier = identifier
    }

    /// Whether it runs.
    var isRunning: Bool { kill(identifier, 0) == 0 }

    /// Ends the program, and waits until it has ended.
    func stop() async {
        close(shell.socket)
        _ = await shell.status()
    }

    /// Lets it stand still, and go on.
    func pause() { kill(identifier, SIGSTOP) }
    func resume() { kill(identifier, SIGCONT) }

    /// Runs a program to its end, and answers with what it wrote.
    /// - Throws: ``CannotStart`` when it does not end with 0.
    static func run(_ command: [String], environment: [String: String]) async throws -> String {
        let child = try Child(command, environment: environment)
        let output = FileHandle(fileDescriptor: child.socket, closeOnDealloc: true)
        let text = await withCheckedContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(returning: String(decoding: (try? output.readToEnd()) ?? Data(), as: UTF8.self))
            }
        }
        let status = await child.status()
        guard status == 0 else {
            throw CannotStart(reason: "\(command.joined(separator: " ")) ended with wait status \(status): \(text)")
        }
        return text
    }

    /// Whether a program of that name is in the path.
    static func isInstalled(_ name: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").contains {
            FileManager.default.isExecutableFile(atPath: "\($0)/\(name)")
        }
    }
}

/// Why a program that a test needs does not run.
public struct CannotStart: Error, Sendable, CustomStringConvertible {
    /// What went wrong.
    public let reason: String
    /// The same as ``reason``.
    public var description: String { reason }
}

/// A child process, with a socket for its standard input, output and errors.
///
/// Foundation's `Process` will not do here: what it learns of a child's end by is inherited by every other child that is
/// started at the same time, so that the first seems to run as long as they do.
private struct Child: Sendable {
    let identifier: pid_t
    let socket: Int32

    init(_ command: [String], environment: [String: String]) throws {
        var ends: [Int32] = [-1, -1]
        guard socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue), 0, &ends) == 0 else {
            throw CannotStart(reason: "no socket: \(String(cString: strerror(errno)))")
        }
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        for descriptor in 0...2 { posix_spawn_file_actions_adddup2(&actions, ends[1], Int32(descriptor)) }
        // The threads of a test block signals, and a child that inherits that could not be ended.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var signals = sigset_t()
        sigemptyset(&signals)
        posix_spawnattr_setsigmask(&attributes, &signals)
        posix_spawnattr_setflags(&attributes, Int16(POSIX_SPAWN_SETSIGMASK))
        let variables = ProcessInfo.processInfo.environment.merging(environment) { $1 }.map { "\($0)=\($1)" }
        var identifier = pid_t()
        let status = Self.withCStrings(command) { arguments in
            Self.withCStrings(variables) { posix_spawnp(&identifier, command[0], &actions, &attributes, arguments, $0) }
        }
        close(ends[1])
        guard status == 0 else {
            close(ends[0])
            throw CannotStart(reason: "\(command[0]): \(String(cString: strerror(status)))")
        }
        (self.identifier, socket) = (identifier, ends[0])
    }

    /// How it ended, when it has.
    func status() async -> Int32 {
        var status: Int32 = 0
        while waitpid(identifier, &status, WNOHANG) == 0 {
            // Also when the task was cancelled: the program has been told to end.
            await withCheckedContinuation { continuation in
                DispatchQueue.global().asyncAfter(deadline: .now() + .milliseconds(2)) { continuation.resume() }
            }
        }
        return status
    }

    private static func withCStrings<R>(
        _ texts: [String], _ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R
    ) -> R {
        var pointers = texts.map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}
#endif
