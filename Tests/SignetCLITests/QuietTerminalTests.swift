import Foundation
import Testing

@testable import signet

@Suite("A terminal that does not show what is typed")
struct QuietTerminalTests {
    private func settings(of descriptor: Int32) -> termios? {
        var settings = termios()
        return tcgetattr(descriptor, &settings) == 0 ? settings : nil
    }

    private func withTerminal(_ body: (_ person: Int32, _ program: Int32) throws -> Void) throws {
        let person = open("/dev/ptmx", O_RDWR | O_NOCTTY)
        try #require(person >= 0)
        defer { close(person) }
        // TIOCSPTLCK and TIOCGPTN (tty_ioctl(2)), which Swift does not see: unlock it, and its number.
        var (isLocked, number) = (Int32(0), UInt32(0))
        try #require(ioctl(person, 0x4004_5431, &isLocked) == 0 && ioctl(person, 0x8004_5430, &number) == 0)
        let program = open("/dev/pts/\(number)", O_RDWR | O_NOCTTY)
        try #require(program >= 0)
        defer { close(program) }
        try body(person, program)
    }

    @Test("is as it was afterwards", arguments: [QuietTerminal.Keys.line, .single])
    func restored(keys: QuietTerminal.Keys) throws {
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

    @Test("is none where there is no terminal")
    func pipe() throws {
        let descriptor = open("/dev/null", O_RDWR)
        defer { close(descriptor) }
        #expect(try QuietTerminal(descriptor, keys: .line) == nil)
    }

    @Test("refuses to ask for a secret where it cannot be had", arguments: [QuietTerminal.Keys.line, .single])
    func gone(keys: QuietTerminal.Keys) throws {
        try withTerminal { person, program in
            // Whoever showed the terminal is gone: its settings cannot be read or changed any more.
            let descriptor = dup(program)
            defer { close(descriptor) }
            shutDown(person)
            #expect(throws: Failure.self) { try QuietTerminal(descriptor, keys: keys) }
        }
    }

    /// Puts nothing in the place of a terminal's other end, which hangs it up.
    private func shutDown(_ descriptor: Int32) {
        let nothing = open("/dev/null", O_RDWR)
        dup2(nothing, descriptor)
        close(nothing)
    }
}
