import SignetNetwork
import SignetTesting
import TestSupport
import Testing

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

@Suite("Other programs")
struct ProgramStartTests {
    /// Waits for the end of a child, and returns its exit status.
    private func status(of child: pid_t) async throws -> Int32? {
        var status: Int32 = -1
        let hasEnded = try await eventually { waitpid(child, &status, WNOHANG) == child }
        return hasEnded ? (status >> 8) & 0xFF : nil
    }

    @Test("A program gets its arguments, and /dev/null as the standard streams that have no descriptor")
    func startsProgramWithoutStreams() async throws {
        let script = "read line; test $? = 1 && test \"$1\" = 'a b' && exit 7"
        let child = try ProgramStart.start("sh", ["-c", script, "sh", "a b"])
        let ended = try await status(of: child)
        #expect(ended == 7)
    }

    @Test("A program in a session of its own is not in that of this process")
    func startsProgramInOwnSession() async throws {
        for hasOwnSession in [true, false] {
            let child = try ProgramStart.start("sleep", ["30"], hasOwnSession: hasOwnSession)
            let session = getsid(child)
            #expect((session == child) == hasOwnSession)
            kill(child, SIGKILL)
            _ = try await status(of: child)
        }
    }

    @Test("A program that is not there is an error of the system", arguments: ["signet-no-such-program", "/nonexistent/program"])
    func reportsMissingProgram(name: String) {
        #expect(throws: ProgramStart.Failure(number: ENOENT)) { try ProgramStart.start(name, []) }
    }
}
