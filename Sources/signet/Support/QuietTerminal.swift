import Foundation

/// A terminal with its echo turned off until it is restored.
struct QuietTerminal {
    private let descriptor: Int32
    private let settings: termios

    /// The handling of keys while the echo is off.
    enum Keys {
        /// The terminal edits the line, and Ctrl-C sends a signal.
        case line
        /// Each key is read unchanged, also those that would send a signal.
        case single
    }

    /// Turns off the echo of a terminal.
    ///
    /// Returns nil if `descriptor` isn't a terminal.
    /// - Throws: ``Failure`` for a terminal whose echo cannot be turned off.
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
        // `tcsetattr` reports success if any of the changes succeeded.
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
