import Glibc

/// A terminal at which a password is typed when the program that runs there hides what is typed.
final class PasswordTerminal {
    /// The path of the device.
    let path: String
    /// The end at which the user types, and that of the program, which is kept open for its settings.
    private let user: Int32
    private let program: Int32

    /// Opens a new terminal.
    /// - Throws: ``BenchError`` when the system has none.
    init() throws {
        var ends: (user: Int32, program: Int32) = (-1, -1)
        var name = [CChar](repeating: 0, count: Int(PATH_MAX))
        guard openpty(&ends.user, &ends.program, nil, nil, nil) == 0, ttyname_r(ends.program, &name, name.count) == 0 else {
            throw BenchError("the system has no terminal for a password")
        }
        for end in [ends.user, ends.program] { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        (user, program) = ends
        path = String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }

    deinit {
        close(user)
        close(program)
    }

    /// Waits until the program hides what is typed, which is also when it has dropped what was typed before, and types a password.
    /// - Throws: ``BenchError`` when the program asks for none.
    func type(_ password: String) throws {
        let deadline = ContinuousClock.now + .seconds(10)
        var settings = termios()
        while tcgetattr(program, &settings) == 0, settings.c_lflag & tcflag_t(ECHO) != 0 {
            guard ContinuousClock.now < deadline else { throw BenchError("the program does not ask for a password") }
            usleep(100)
        }
        let line = Array((password + "\n").utf8)
        guard write(user, line, line.count) == line.count else { throw BenchError("the password cannot be typed") }
    }
}
