import Foundation
import Glibc

/// A program started without a shell, and what it used until it ended.
final class ChildProcess {
    /// The target of a standard stream.
    enum Stream {
        /// To a pipe that this process holds the other end of.
        case pipe
        /// To a file: read for input; made, or emptied, for output.
        case file(String)

        static let nowhere = Stream.file("/dev/null")
    }

    private(set) var identifier: pid_t = 0
    /// Our ends of the pipes.
    private var input: Descriptor?
    private var output: Descriptor?

    /// The program of this name in `PATH`.
    static func find(_ name: String) -> String? {
        (ProcessInfo.processInfo.environment["PATH"] ?? "").split(separator: ":").map { "\($0)/\(name)" }
            .first { access($0, X_OK) == 0 }
    }

    /// This process's environment with `additions`, as programs take it.
    ///
    /// Made once and before anything is timed: it takes a tenth of the time that a small program runs.
    static func environment(adding additions: [String: String] = [:]) -> [String] {
        ProcessInfo.processInfo.environment.merging(additions) { $1 }.map { "\($0)=\($1)" }
    }

    /// Starts `command`, a path and arguments.
    ///
    /// What it says on standard error is dropped.
    init(_ command: [String], environment: [String], input: Stream, output: Stream) throws {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        let inputPipe = try Self.connect(STDIN_FILENO, to: input, flags: O_RDONLY, &actions)
        let outputPipe = try Self.connect(STDOUT_FILENO, to: output, flags: O_WRONLY | O_CREAT | O_TRUNC, &actions)
        posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0)
        let status = withExtendedLifetime((inputPipe, outputPipe)) {
            command.withCStrings { arguments in
                environment.withCStrings { variables in posix_spawn(&identifier, command[0], &actions, nil, arguments, variables)
                }
            }
        }
        guard status == 0 else { throw BenchError("\(command[0]): \(String(cString: strerror(status)))") }
        self.input = inputPipe?.writing
        self.output = outputPipe?.reading
    }

    /// Waits for the end.
    /// - Throws: When it ended with anything but 0.
    @discardableResult
    func wait() throws -> rusage {
        try Self.wait(identifier)
    }

    /// Waits for the end of any child.
    static func wait(_ identifier: pid_t) throws -> rusage {
        var status: Int32 = 0
        var usage = rusage()
        while wait4(identifier, &status, 0, &usage) < 0 {
            guard errno == EINTR else { throw BenchError("wait4: \(String(cString: strerror(errno)))") }
        }
        guard status == 0 else { throw BenchError("a program that is measured failed (wait status \(status))") }
        return usage
    }

    func write(_ text: String) throws {
        let bytes = Array(text.utf8)
        guard let input, Glibc.write(input.number, bytes, bytes.count) == bytes.count else {
            throw BenchError("a program does not listen")
        }
    }

    /// The next line that the program writes; nil at the end.
    func readLine() -> String? {
        guard let output else { return nil }
        var line: [UInt8] = []
        var byte: UInt8 = 0
        while read(output.number, &byte, 1) == 1 {
            if byte == UInt8(ascii: "\n") { return String(decoding: line, as: UTF8.self) }
            line.append(byte)
        }
        return line.isEmpty ? nil : String(decoding: line, as: UTF8.self)
    }

    func closePipes() {
        input = nil
        output = nil
    }

    private static func connect(
        _ descriptor: Int32, to stream: Stream, flags: Int32, _ actions: inout posix_spawn_file_actions_t
    ) throws -> (reading: Descriptor, writing: Descriptor)? {
        switch stream {
        case .file(let path):
            posix_spawn_file_actions_addopen(&actions, descriptor, path, flags, 0o600)
            return nil
        case .pipe:
            let pipe = try Descriptor.pipe()
            let theirs = descriptor == STDIN_FILENO ? pipe.reading : pipe.writing
            posix_spawn_file_actions_adddup2(&actions, theirs.number, descriptor)
            return pipe
        }
    }
}

/// An open file descriptor that no program inherits.
///
/// It closes itself.
private final class Descriptor {
    let number: Int32

    private init(_ number: Int32) {
        self.number = number
        _ = fcntl(number, F_SETFD, FD_CLOEXEC)
    }

    deinit { close(number) }

    static func pipe() throws -> (reading: Descriptor, writing: Descriptor) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw BenchError("no pipe: \(String(cString: strerror(errno)))") }
        return (Descriptor(ends[0]), Descriptor(ends[1]))
    }
}

extension [String] {
    /// Lends the texts as a C array that ends with a null.
    fileprivate func withCStrings<R>(_ body: (UnsafeMutablePointer<UnsafeMutablePointer<CChar>?>) -> R) -> R {
        var pointers = map { strdup($0) } + [nil]
        defer { for pointer in pointers { free(pointer) } }
        return body(&pointers)
    }
}
