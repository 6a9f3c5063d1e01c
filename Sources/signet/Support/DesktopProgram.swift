import Foundation
import SignetNetwork

/// Runs a program of the desktop, such as xclip or grim, with pipes as its input and output.
///
/// `Foundation.Process` isn't suitable: wl-copy and xclip leave a process in the background that inherits all descriptors, so they
/// would seem to run until another program owns the clipboard (docs/decisions/028-child-processes.md).
enum DesktopProgram {
    /// The end of a program and its output.
    struct Outcome {
        /// The exit status, or the negated number of the signal that ended the program.
        let status: Int32
        let output: [UInt8]
    }

    /// The time after which a program is killed.
    static let timeout = Duration.seconds(20)

    /// Returns the path of a program; nil when no directory of `PATH` has it.
    ///
    /// Only absolute directories count, so that a program in the working directory is never started.
    static func path(of name: String, in environment: [String: String]) -> String? {
        let directories = (environment["PATH"] ?? "/usr/local/bin:/usr/bin:/bin").split(separator: ":").filter {
            $0.hasPrefix("/")
        }
        return directories.map { "\($0)/\(name)" }.first { FileManager.default.isExecutableFile(atPath: $0) }
    }

    /// Runs a program to its end.
    ///
    /// A process that the program leaves in the background is not waited for, unless the output is read.
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments. Other users can read them, so they contain no secret.
    ///   - input: The bytes for its standard input.
    ///   - outputLimit: The most bytes of standard output; 0 to send the output to `/dev/null`.
    ///   - isOver: Returns true when the program must be ended before its time.
    /// - Returns: The exit status and the output.
    /// - Throws: ``Failure`` when the program cannot be started, does not end in time, or writes more.
    static func run(
        _ path: String, _ arguments: [String], input: [UInt8] = [], outputLimit: Int = 0, unless isOver: () -> Bool = { false }
    ) throws(Failure) -> Outcome {
        let deadline = ContinuousClock.now + timeout
        let (theirInput, ourInput) = try pipe(for: path)
        var output: (reading: Int32, writing: Int32)?
        if outputLimit > 0 {
            do throws(Failure) {
                output = try pipe(for: path)
            } catch {
                close(theirInput)
                close(ourInput)
                throw error
            }
        }
        defer { if let output { close(output.reading) } }
        let child: Result<pid_t, Failure> = Result { () throws(Failure) in
            try start(path, arguments, input: theirInput, output: output?.writing)
        }
        close(theirInput)
        if let output { close(output.writing) }
        write(input, to: ourInput)
        close(ourInput)
        let identifier = try child.get()
        var bytes: [UInt8] = []
        if let output {
            let read = contents(of: output.reading, limit: outputLimit, unless: { isOver() || ContinuousClock.now > deadline })
            guard let read else {
                stop(identifier)
                throw failure(path, "wrote more than \(outputLimit) bytes, or did not end in time")
            }
            bytes = read
        }
        guard let status = status(of: identifier, unless: { isOver() || ContinuousClock.now > deadline }) else {
            stop(identifier)
            throw failure(path, "did not end in time")
        }
        return Outcome(status: status, output: bytes)
    }

    /// Starts a program in a session of its own, which the end of the terminal does not end, and does not wait for it.
    /// - Parameters:
    ///   - path: The path of the program.
    ///   - arguments: The arguments. Other users can read them, so they contain no secret.
    ///   - input: The bytes for its standard input, fewer than a pipe holds.
    /// - Returns: The process. It is a child, so a command that runs on has to wait for its end.
    /// - Throws: ``Failure`` when the program cannot be started.
    static func startDetached(_ path: String, _ arguments: [String], input: [UInt8]) throws(Failure) -> pid_t {
        let (theirInput, ourInput) = try pipe(for: path)
        let child: Result<pid_t, Failure> = Result { () throws(Failure) in
            try start(path, arguments, input: theirInput, output: nil, hasOwnSession: true)
        }
        close(theirInput)
        write(input, to: ourInput)
        close(ourInput)
        return try child.get()
    }

    // MARK: The child

    private static func start(
        _ path: String, _ arguments: [String], input: Int32, output: Int32?, hasOwnSession: Bool = false
    ) throws(Failure) -> pid_t {
        do throws(ProgramStart.Failure) {
            return try ProgramStart.start(
                path, arguments, input: .descriptor(input), output: output.map { .descriptor($0) } ?? .nowhere,
                hasOwnSession: hasOwnSession)
        } catch {
            throw failure(path, "cannot be started: \(error)")
        }
    }

    /// Returns the exit status of a child, or the negated number of its signal; nil when `isOver` returns true first.
    private static func status(of child: pid_t, unless isOver: () -> Bool) -> Int32? {
        while true {
            var status: Int32 = 0
            let ended = waitpid(child, &status, WNOHANG)
            if ended == child { return status & 0x7F == 0 ? (status >> 8) & 0xFF : -(status & 0x7F) }
            if ended < 0, errno != EINTR { return -1 }
            if isOver() { return nil }
            _ = poll(nil, 0, 5)
        }
    }

    private static func stop(_ child: pid_t) {
        kill(child, SIGKILL)
        var status: Int32 = 0
        while waitpid(child, &status, 0) < 0, errno == EINTR {}
    }

    // MARK: The pipes

    /// Creates a pipe that children do not inherit, with other descriptors than those of the standard streams.
    private static func pipe(for path: String) throws(Failure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard systemPipe(&ends) == 0 else { throw failure(path, "gets no pipe: \(String(cString: strerror(errno)))") }
        let moved = ends.map { end in
            let moved = fcntl(end, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
            close(end)
            return moved
        }
        guard moved[0] >= 0, moved[1] >= 0 else {
            for end in moved where end >= 0 { close(end) }
            throw failure(path, "gets no pipe: this process has too many open files")
        }
        return (moved[0], moved[1])
    }

    /// Writes bytes to a pipe.
    ///
    /// When the program has ended, the rest is dropped.
    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        guard !bytes.isEmpty else { return }
        // Otherwise a program that ends before it has read its input ends this process too.
        Console.outlivesReaders()
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }

    /// Reads a pipe until its end; nil when it has more bytes, and when `isOver` returns true first.
    private static func contents(of descriptor: Int32, limit: Int, unless isOver: () -> Bool) -> [UInt8]? {
        var bytes: [UInt8] = []
        var piece = [UInt8](repeating: 0, count: 65_536)
        while TerminalInput.isReadable(descriptor, unless: isOver) {
            let count = read(descriptor, &piece, piece.count)
            if count < 0, errno == EINTR { continue }
            guard count > 0 else { return bytes }
            bytes += piece[..<count]
            guard bytes.count <= limit else { return nil }
        }
        return nil
    }

    private static func failure(_ path: String, _ reason: String) -> Failure {
        Failure(.unavailable, "program", "\(path) \(reason)")
    }
}

/// Calls `pipe(2)`.
///
/// It is a global function because ``DesktopProgram`` has its own `pipe`.
private func systemPipe(_ ends: inout [Int32]) -> Int32 { pipe(&ends) }

/// Calls `write(2)`.
///
/// It is a global function because ``DesktopProgram`` has its own `write`.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
