import AgentWire

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Darwin)
import Darwin
#endif

/// The program that a package installs as `signet`.
///
/// It asks the agent for the code in `signet code NAME`. Everything else, and this too when no agent answers, is done by the full
/// program, which takes its place. The full program links what a server and a vault need, so it takes several times as long to start.
@main
enum Front {
    static func main() {
        // To a terminal the full program also writes how long the code is valid.
        if isatty(STDOUT_FILENO) == 0, let name = codeName(in: CommandLine.arguments), let reply = reply(to: name) {
            switch reply {
            case .result(let fields): return write((fields.first ?? []) + [UInt8(ascii: "\n")], to: STDOUT_FILENO)
            // The full program shows a list of the accounts with a similar name.
            case .failure(let failure) where AccountChoice.isPossible && AccountChoice.resolves(failure.code): break
            case .failure(let failure):
                write(Array("signet: \(failure.message)\n".utf8), to: STDERR_FILENO)
                exit(failure.exit)
            // The full program reports another version, and asks for the passphrase of a locked vault.
            case .declined: break
            }
        }
        runFullProgram()
    }

    /// Returns the name in `signet code NAME` without options; nil for every other command.
    private static func codeName(in arguments: [String]) -> String? {
        guard arguments.count == 3, arguments[1] == "code", !arguments[2].hasPrefix("-") else { return nil }
        return arguments[2]
    }

    /// Returns the agent's reply; nil when no agent has begun the operation.
    private static func reply(to name: String) -> AgentReply? {
        // The full program checks a level of protection that the environment requires.
        guard environmentValue("SIGNET_REQUIRE") == nil, let path = AgentSocket.path(environmentValue) else { return nil }
        let (client, time) = (AgentClient(path: path), AgentClient.statusTimeout)
        var isUserAsked = false
        do throws(AgentClient.Failure) {
            let atOnce = request("code-at-once", [name, AgentDeadline(secondsFromNow: time).text])
            let reply = try client.reply(to: atOnce, within: time)
            guard reply == .declined(.asks) else { return reply }
            isUserAsked = true
            return try client.reply(to: request("code", [name]))
        } catch {
            // An agent that is stopped declines the request later. One that is slow may use up a code of a counter for it; the full
            // program then makes the next one.
            guard error != .timedOut || isUserAsked, let failure = AgentFailure(error) else { return nil }
            return .failure(failure)
        }
    }

    private static func request(_ operation: String, _ arguments: [String]) -> AgentRequest {
        AgentRequest(
            version: AgentVersion.current, home: AgentHome(environmentValue), operation: operation,
            arguments: arguments.map { Array($0.utf8) })
    }

    private static func environmentValue(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

    /// Replaces this program by the full one, which is in `libexec/signet` beside the directory of this program.
    private static func runFullProgram() -> Never {
        guard let program = fullProgram() else { fail("the directory of the program is not known") }
        var arguments: [UnsafeMutablePointer<CChar>?] = CommandLine.arguments.map { strdup($0) }
        arguments.append(nil)
        execv(program, arguments)
        fail("\(program) cannot be run: \(String(cString: strerror(errno)))")
    }

    private static func fullProgram() -> String? {
        var bytes = [CChar](repeating: 0, count: Int(PATH_MAX))
        let length = readlink("/proc/self/exe", &bytes, bytes.count)
        guard length > 0, length < bytes.count else { return nil }
        let path = String(decoding: bytes.prefix(length).map { UInt8(bitPattern: $0) }, as: UTF8.self)
        let parts = path.split(separator: "/").dropLast(2)
        return "/" + (parts + ["libexec", "signet", "signet"]).joined(separator: "/")
    }

    private static func fail(_ message: String) -> Never {
        write(Array("signet: \(message)\n".utf8), to: STDERR_FILENO)
        exit(71)
    }

    private static func write(_ bytes: [UInt8], to descriptor: Int32) {
        var rest = bytes[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { systemWrite(descriptor, $0.baseAddress, $0.count) }
            if count < 0, errno == EINTR { continue }
            if count < 0, descriptor == STDOUT_FILENO, errno != EPIPE { fail("standard output cannot be written") }
            guard count > 0 else { return }
            rest = rest.dropFirst(count)
        }
    }
}

/// Calls `write(2)`; a global function, because ``Front`` has its own `write`.
private func systemWrite(_ descriptor: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int { write(descriptor, bytes, count) }
