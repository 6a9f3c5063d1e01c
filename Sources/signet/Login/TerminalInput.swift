import Foundation
import SignetCore

/// Reads lines of standard input in a task that may be canceled.
///
/// At a terminal a secret is typed without echo.
enum TerminalInput {
    private static let maxLength = 65_536

    /// Reads a line, and no byte after it.
    /// - Parameters:
    ///   - prompt: The question. It is printed on standard error when the terminal is ready for the answer. If empty, nothing is
    ///     printed.
    ///   - isHidden: True to turn off the terminal's echo.
    /// - Returns: The line without its line ending; nil at the end of the input.
    /// - Throws: `CancellationError`; ``Failure`` for a line of more than 64 KiB, and for a terminal whose echo cannot be turned
    ///   off.
    static func line(_ prompt: TerminalText = "", isHidden: Bool = false) async throws -> [UInt8]? {
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
            throw Failure(.badInput, "answer.tooLong", "a line of standard input is longer than \(maxLength >> 10) KiB")
        }
    }

    private enum Line {
        case whole([UInt8])
        /// The input has ended, or the task was canceled.
        case ended
        case tooLong
    }

    /// Returns true if the user presses Enter within a time.
    /// - Throws: `CancellationError`.
    static func hasEnter(within time: Duration) async throws -> Bool {
        let end = ContinuousClock.now + time
        let isPressed = await onThread { isOver in
            guard isReadable(STDIN_FILENO, unless: { isOver() || ContinuousClock.now >= end }) else { return false }
            return if case .ended = read(isOver) { false } else { true }
        }
        try Task.checkCancellation()
        // At the end of the input, the full time must still pass.
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
            guard bytes.count < maxLength else { return .tooLong }
            bytes.append(byte)
        }
        return .ended
    }

    /// Waits until there is something to read or the input has ended.
    ///
    /// Returns false if `isOver` returns true first.
    static func isReadable(_ descriptor: Int32, unless isOver: () -> Bool) -> Bool {
        while !isOver() {
            var input = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
            if poll(&input, 1, 50) > 0 { return true }
        }
        return false
    }

    /// Runs a blocking function on a separate thread.
    ///
    /// When the task is canceled, `isOver` returns true; the task still waits for the function, so that the terminal's echo is
    /// restored.
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

/// Calls `read(2)` for one byte.
///
/// It is a global function because ``TerminalInput`` has its own `read`.
private func systemRead(_ descriptor: Int32, _ byte: inout UInt8) -> Int {
    read(descriptor, &byte, 1)
}
