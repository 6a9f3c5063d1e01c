import Foundation

/// Writes to standard output and standard error, and reads standard input.
///
/// It writes directly to the descriptor, so that a line is written when the call returns.
enum Console {
    /// Ignores SIGPIPE, so that the process can clean up when its reader ends (`| head -1`).
    static func outlivesReaders() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// Writes a line to standard output.
    static func line(_ text: TerminalText) {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// Writes bytes to standard output unchanged.
    static func bytes(_ bytes: [UInt8]) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// Writes a line to standard error.
    static func error(_ text: TerminalText) {
        write(text + "\n", to: STDERR_FILENO)
    }

    /// Writes text to standard error without a line ending, as a prompt.
    static func prompt(_ text: TerminalText) {
        write(text, to: STDERR_FILENO)
    }

    /// True when standard error is a terminal.
    static var showsToUser: Bool { isatty(STDERR_FILENO) == 1 }

    /// True when standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// True when standard input is a terminal, so that the user can be asked.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 }

    /// Waits until standard input ends or the task is canceled.
    ///
    /// A thread reads it, because the end isn't signaled in another way.
    static func inputEnd() async {
        let (ended, end) = AsyncStream<Void>.makeStream()
        DispatchQueue.global().async {
            var byte: UInt8 = 0
            while true {
                let count = read(STDIN_FILENO, &byte, 1)
                if count == 0 || (count < 0 && errno != EINTR) { break }
            }
            end.finish()
        }
        for await _ in ended {}
    }

    /// Writes text.
    ///
    /// If the reader of a pipe has ended, the rest is dropped silently. Any other error on standard output, such as a full disk,
    /// ends the process: a script must not take an empty file for the result.
    static func write(_ text: TerminalText, to descriptor: Int32) {
        write(Array(text.description.utf8), to: descriptor)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0) }
            if count < 0, errno == EINTR { continue }
            if count < 0, descriptor == STDOUT_FILENO, errno != EPIPE {
                let reason = String(cString: strerror(errno))
                Failure.report(Failure(.store, "output", "standard output cannot be written: \(reason)"))
            }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// Calls `write(2)`.
///
/// It is a global function because ``Console`` has its own `write`.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
