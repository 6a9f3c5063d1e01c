import Foundation
import SignetCore

/// The terminal of `signet watch`: without echo, with its second screen, and as before when it is closed.
struct WatchScreen {
    /// True to use colors and other styles.
    let hasColors: Bool
    private var quiet: QuietTerminal?
    /// The lines on the screen; empty when it has to be drawn as a whole.
    private var shown: [String] = []

    /// Text that is too wide by mistake does not go on in the next line, and pasted text is marked as such.
    private static let beginning: TerminalText = "\u{1B}[?7l\u{1B}[?2004h"
    private static let end: TerminalText = "\u{1B}[0m\u{1B}[?2004l\u{1B}[?7h"

    /// Creates a screen that is not open.
    init(environment: [String: String]) {
        hasColors = Self.hasColors(environment)
    }

    /// Returns true unless the environment asks for no colors (no-color.org), or names a terminal that cannot show them.
    static func hasColors(_ environment: [String: String]) -> Bool {
        (environment["NO_COLOR"] ?? "").isEmpty && environment["TERM"] != "dumb"
    }

    /// The size of the terminal.
    static var size: TerminalSize { TerminalSize(of: STDOUT_FILENO) ?? .usual }

    /// Shows the second screen and turns off the echo.
    /// - Throws: ``Failure`` when the terminal does not allow it.
    mutating func open() throws(Failure) {
        guard quiet == nil else { return }
        quiet = try QuietTerminal(STDIN_FILENO, keys: .single)
        shown = []
        Console.write(SecondScreen.beginning + Self.beginning, to: STDOUT_FILENO)
    }

    /// Shows the first screen again, with the settings of before; nothing when the screen is not open.
    mutating func close() {
        guard let quiet else { return }
        self.quiet = nil
        quiet.restore()
        Console.write(Self.end + SecondScreen.end, to: STDOUT_FILENO)
    }

    /// Lets the next frame be drawn as a whole.
    mutating func forget() { shown = [] }

    /// Draws the lines that have changed.
    mutating func draw(_ lines: [String]) {
        let changes = Self.changes(from: shown, to: lines)
        shown = lines
        guard !changes.isEmpty else { return }
        Console.write(TerminalText(verbatim: changes), to: STDOUT_FILENO)
    }

    /// Returns the control sequences and lines that change a screen.
    /// - Parameters:
    ///   - old: The lines on the screen; with another number of lines everything is drawn.
    ///   - new: The lines for the screen, each as wide as the terminal.
    /// - Returns: The text for the terminal; empty when nothing has changed.
    static func changes(from old: [String], to new: [String]) -> String {
        let isWhole = old.count != new.count
        var text = isWhole ? "\u{1B}[2J" : ""
        for (index, line) in new.enumerated() where isWhole || old[index] != line {
            text += "\u{1B}[\(index + 1);1H\(line)"
        }
        return text
    }
}

/// Reads what the user types, as it arrives.
struct WatchInput {
    private let source: any DispatchSourceRead

    /// The most bytes of one piece.
    private static let pieceSize = 4096

    /// Begins to read.
    /// - Parameters:
    ///   - descriptor: The terminal.
    ///   - handle: Called with each piece, and with nil when the terminal is gone.
    init(_ descriptor: Int32, _ handle: @escaping @Sendable ([UInt8]?) -> Void) {
        source = DispatchSource.makeReadSource(fileDescriptor: descriptor, queue: .global())
        let handler: @Sendable () -> Void = {
            // A background process must not read: the shell reads the same terminal. The process is about to be stopped.
            guard ForegroundProcess.isThis(at: descriptor) else {
                _ = poll(nil, 0, 20)
                return
            }
            var piece = [UInt8](repeating: 0, count: Self.pieceSize)
            let count = read(descriptor, &piece, Self.pieceSize)
            if count < 0, errno == EINTR || errno == EAGAIN { return }
            handle(count > 0 ? Array(piece[..<count]) : nil)
        }
        source.setEventHandler(handler: handler)
        source.resume()
    }

    /// Ends reading.
    func end() { source.cancel() }
}

/// The process group that may use a terminal.
enum ForegroundProcess {
    /// Returns true when this process may use the terminal, and when that is not known.
    static func isThis(at descriptor: Int32) -> Bool {
        let group = tcgetpgrp(descriptor)
        return group < 0 || group == getpgrp()
    }

    /// Stops this process and the others of its group, and returns when the shell has continued it in the foreground.
    ///
    /// In a session without a shell that could continue it, the system ignores the signal and the process goes on.
    static func stop() {
        send(SIGTSTP)
        waitUntilThis(at: STDIN_FILENO)
    }

    /// Stops this process as long as it is in the background, where it must not use the terminal.
    static func waitUntilThis(at descriptor: Int32) {
        while !isThis(at: descriptor), !Task.isCancelled { send(SIGTTIN) }
    }

    /// Sends a signal that stops the processes of this group.
    private static func send(_ number: Int32) {
        // The threads of Dispatch and of Swift's tasks block most signals.
        var signals = sigset_t()
        sigemptyset(&signals)
        sigaddset(&signals, number)
        var before = sigset_t()
        pthread_sigmask(SIG_UNBLOCK, &signals, &before)
        kill(0, number)
        // Another thread may get the signal, and then this one stops a little later.
        _ = poll(nil, 0, 100)
        pthread_sigmask(SIG_SETMASK, &before, nil)
    }
}

/// Standard error while a view fills the terminal.
///
/// A line of a library would be drawn into the view, so it becomes a line of the view.
struct CapturedErrors {
    private let before: Int32
    private let source: any DispatchSourceRead

    /// Begins to read what this process writes to standard error; nil when that is not a terminal.
    /// - Parameter handle: Called with each piece.
    init?(_ handle: @escaping @Sendable (String) -> Void) {
        guard Console.showsToUser else { return nil }
        var ends: [Int32] = [-1, -1]
        guard pipe(&ends) == 0 else { return nil }
        let (reading, writing) = (ends[0], ends[1])
        _ = fcntl(reading, F_SETFD, FD_CLOEXEC)
        before = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, STDERR_FILENO + 1)
        guard before >= 0, dup2(writing, STDERR_FILENO) >= 0 else {
            close(reading)
            close(writing)
            return nil
        }
        close(writing)
        source = DispatchSource.makeReadSource(fileDescriptor: reading, queue: .global())
        let handler: @Sendable () -> Void = {
            var piece = [UInt8](repeating: 0, count: 4096)
            let count = read(reading, &piece, 4096)
            if count > 0 { handle(String(decoding: piece[..<count], as: UTF8.self)) }
        }
        source.setEventHandler(handler: handler)
        let cancelled: @Sendable () -> Void = { close(reading) }
        source.setCancelHandler(handler: cancelled)
        source.resume()
    }

    /// Gives standard error back.
    func end() {
        dup2(before, STDERR_FILENO)
        close(before)
        source.cancel()
    }
}
