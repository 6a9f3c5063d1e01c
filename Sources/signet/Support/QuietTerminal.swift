#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// A terminal that does not show what is typed, until it is told to again.
struct QuietTerminal {
    private let descriptor: Int32
    private let settings: termios

    /// What becomes of the keys meanwhile.
    enum Keys {
        /// A line is edited by the terminal, and Ctrl-C is a signal.
        case line
        /// Each key is read as it is, also those that would end the process.
        case single
    }

    /// Nil when `descriptor` is no terminal.
    /// - Throws: ``Failure`` for a terminal that goes on showing what is typed.
    init?(_ descriptor: Int32, keys: Keys) throws(Failure) {
        var settings = termios()
        guard tcgetattr(descriptor, &settings) == 0 else {
            if isatty(descriptor) == 0, errno == ENOTTY { return nil }
            throw Self.failure()
        }
        var quiet = settings
        quiet.c_lflag &= ~tcflag_t(ECHO)
        switch keys {
        case .line: quiet.c_lflag |= tcflag_t(ECHONL)
        case .single: quiet.c_lflag &= ~tcflag_t(ICANON | ISIG)
        }
        guard tcsetattr(descriptor, TCSAFLUSH, &quiet) == 0 else { throw Self.failure() }
        self.descriptor = descriptor
        self.settings = settings
        // It reports success when any of several changes could be made.
        var now = termios()
        guard tcgetattr(descriptor, &now) == 0, now.c_lflag & tcflag_t(ECHO) == 0 else {
            restore()
            throw Self.failure()
        }
    }

    func restore() {
        var settings = settings
        tcsetattr(descriptor, TCSAFLUSH, &settings)
    }

    private static func failure() -> Failure {
        Failure(
            .unavailable, "terminal",
            "the terminal cannot be kept from showing what is typed, so no secret is asked for; give it on standard input or a"
                + " descriptor: '--help' says which option names it")
    }
}
