import Dispatch

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// Standard input, a line at a time, for a task that may be cancelled meanwhile. At a terminal a secret is typed unseen.
enum Keyboard {
    private static let longest = 65_536

    /// Reads a line, and no byte behind it.
    /// - Parameters:
    ///   - prompt: What is asked; on standard error, when the terminal is ready for the answer. Empty for nothing.
    ///   - isHidden: Whether what a person types is not shown.
    /// - Returns: The line without its end; nil when there is nothing more to read.
    /// - Throws: `CancellationError`; ``Failure`` for a line of more than 64 KiB, and for a terminal that would show a secret.
    static func line(_ prompt: String = "", isHidden: Bool = false) async throws -> [UInt8]? {
        let line = await onThread { isOver -> Result<Line, Failure> in
            Result { () throws(Failure) in
                let quiet = isHidden ? try QuietTerminal(STDIN_FILENO, keys: .line) : nil
                defer { quiet?.restore() }
                Console.prompt(prompt)
                return read(isOver)
            }
        }
        try Task.checkCancellation()
        switch try line.get() {
        case .whole(let bytes): return bytes
        case .ended: return nil
        case .tooLong:
            throw Failure(.badInput, "answer.tooLong", "a line of standard input is longer than \(longest >> 10) KiB")
        }
    }

    private enum Line {
        case whole([UInt8])
        /// There is nothing more to read, or nobody waits for it.
        case ended
        case tooLong
    }

    /// Whether somebody presses Enter within a time.
    /// - Throws: `CancellationError`.
    static func hasEnter(within time: Duration) async throws -> Bool {
        let end = ContinuousClock.now + time
        let isPressed = await onThread { isOver in
            guard isReadable(STDIN_FILENO, unless: { isOver() || ContinuousClock.now >= end }) else { return false }
            return if case .ended = read(isOver) { false } else { true }
        }
        try Task.checkCancellation()
        // Nothing can be read any more: that is no reason to wait less.
        if !isPressed { try await Task.sleep(until: end) }
        return isPressed
    }

    private static func read(_ isOver: () -> Bool) -> Line {
        var bytes: [UInt8] = []
        var byte: UInt8 = 0
        while isReadable(STDIN_FILENO, unless: isOver) {
            let count = systemRead(STDIN_FILENO, &byte)
            if count < 0, errno == EINTR || errno == EAGAIN { continue }
            guard count == 1 else { return bytes.isEmpty ? .ended : .whole(bytes) }
            guard byte != UInt8(ascii: "\n") else { return .whole(bytes.last == UInt8(ascii: "\r") ? bytes.dropLast() : bytes) }
            guard bytes.count < longest else { return .tooLong }
            bytes.append(byte)
        }
        return .ended
    }

    /// Waits until there is something to read, or the input has ended. False when it is over first.
    static func isReadable(_ descriptor: Int32, unless isOver: () -> Bool) -> Bool {
        while !isOver() {
            var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&input, 1, 50) > 0 { return true }
        }
        return false
    }

    /// Runs what blocks on a thread where it may. It is told when nobody waits for it any more, and then waited for all the same:
    /// the terminal is not left as it was for a password.
    private static func onThread<R: Sendable>(_ body: @escaping @Sendable (_ isOver: () -> Bool) -> R) async -> R {
        let flag = Latch()
        return await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                DispatchQueue.global().async { continuation.resume(returning: body { flag.isSet }) }
            }
        } onCancel: {
            flag.set()
        }
    }
}

/// `read(2)` of one byte, outside of a type that has a `read` of its own.
private func systemRead(_ descriptor: Int32, _ byte: inout UInt8) -> Int {
    read(descriptor, &byte, 1)
}
