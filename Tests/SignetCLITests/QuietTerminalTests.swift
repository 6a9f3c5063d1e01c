import Foundation
import Testing

@testable import signet

@Suite("A terminal without echo")
struct QuietTerminalTests {
    private func settings(of descriptor: Int32) -> termios? {
        var settings = termios()
        return tcgetattr(descriptor, &settings) == 0 ? settings : nil
    }

    private func withTerminal(_ body: (_ person: Int32, _ program: Int32) throws -> Void) throws {
        let person = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(person >= 0)
        defer { close(person) }
        // TIOCSPTLCK and TIOCGPTN (tty_ioctl(2)), which Swift does not import: they unlock the terminal and return its number.
        var (isLocked, number) = (Int32(0), UInt32(0))
        try #require(ioctl(person, 0x4004_5431, &isLocked) == 0 && ioctl(person, 0x8004_5430, &number) == 0)
        let program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(program >= 0)
        defer { close(program) }
        try body(person, program)
    }

    @Test("A terminal without echo restores its former settings", arguments: [QuietTerminal.Keys.line, .single])
    func restoresTerminalSettings(keys: QuietTerminal.Keys) throws {
        try withTerminal { _, program in
            let before = try #require(settings(of: program))
            let quiet = try #require(try QuietTerminal(program, keys: keys))
            let meanwhile = try #require(settings(of: program))
            #expect(meanwhile.c_lflag & tcflag_t(ECHO) == 0)
            #expect((meanwhile.c_lflag & tcflag_t(ISIG) == 0) == (keys == .single))
            quiet.restore()
            #expect(try #require(settings(of: program)).c_lflag == before.c_lflag)
        }
    }

    @Test("A descriptor without a terminal gives no terminal without echo")
    func ignoresNonTerminal() throws {
        let descriptor = open("/dev/null", O_RDWR)
        defer { close(descriptor) }
        #expect(try QuietTerminal(descriptor, keys: .line) == nil)
    }

    @Test("A terminal whose echo cannot be turned off is refused for a secret", arguments: [QuietTerminal.Keys.line, .single])
    func refusesTerminalWithEcho(keys: QuietTerminal.Keys) throws {
        try withTerminal { person, program in
            // The other end of the terminal is closed: its settings cannot be read or changed any more.
            let descriptor = dup(program)
            defer { close(descriptor) }
            shutDown(person)
            #expect(throws: Failure.self) { try QuietTerminal(descriptor, keys: keys) }
        }
    }

    /// Replaces a terminal's other end with /dev/null, which hangs it up.
    private func shutDown(_ descriptor: Int32) {
        let nothing = open("/dev/null", O_RDWR)
        dup2(nothing, descriptor)
        close(nothing)
    }
}
