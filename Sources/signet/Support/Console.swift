import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// What a person or a program reads. Written straight to the descriptor, so that a line is there when the call returns.
enum Console {
    /// Whoever reads may go away (`| head -1`) without ending the process, which has something to tidy up.
    static func outlivesReaders() {
        signal(SIGPIPE, SIG_IGN)
    }

    /// A line on standard output.
    static func line(_ text: String = "") {
        write(text + "\n", to: STDOUT_FILENO)
    }

    /// Bytes on standard output, as they are.
    static func bytes(_ bytes: [UInt8]) {
        write(bytes, to: STDOUT_FILENO)
    }

    /// A line on standard error.
    static func error(_ text: String) {
        write(text + "\n", to: STDERR_FILENO)
    }

    /// Something on standard error, with nothing behind it: what a person is asked.
    static func prompt(_ text: String) {
        write(text, to: STDERR_FILENO)
    }

    /// Whether standard error is a terminal.
    static var showsToPerson: Bool { isatty(STDERR_FILENO) == 1 }

    /// Whether standard output is a terminal.
    static var isTerminal: Bool { isatty(STDOUT_FILENO) == 1 }

    /// Whether a person can be asked on standard input.
    static var canAsk: Bool { isatty(STDIN_FILENO) == 1 }

    /// The bytes of standard input, at most `limit`; nil when there are more.
    static func input(limit: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: limit + 1)
        var count = 0
        while count < bytes.count {
            let more = bytes.withUnsafeMutableBytes { read(STDIN_FILENO, $0.baseAddress.map { $0 + count }, $0.count - count) }
            if more < 0, errno == EINTR { continue }
            guard more > 0 else { break }
            count += more
        }
        return count > limit ? nil : Array(bytes[..<count])
    }

    /// Returns when standard input ends, or the task is cancelled. A thread waits for it, since nothing else tells.
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

    /// Whoever reads may have gone; there is nobody left to tell then. A full disk under a file is another matter: a script
    /// must not take an empty file for the answer, so the process ends.
    private static func write(_ text: String, to descriptor: Int32) {
        write(Array(text.utf8), to: descriptor)
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

/// `write(2)`, outside of a type that has a `write` of its own.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawBufferPointer) -> Int {
    write(descriptor, bytes.baseAddress, bytes.count)
}
