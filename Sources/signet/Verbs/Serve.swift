import ArgumentParser
import Logging
import NIOCore
import SignetCore
import SignetServer
import Synchronization

#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

struct Serve: AsyncParsableCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run an AM-compatible server for the desk.",
        discussion: """
            For desks and continuous integration, not for production: it listens on this machine only, unless --exposed,
            and its state is in memory and gone when it stops. Journeys: Login, OATHRegistration, OATHLogin, PushRegistration,
            CombinedRegistration, PushLogin, PushNumberLogin, PushBiometricLogin. See docs/desk.md.
            """)

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Flag(help: "Allow a --host that other machines can reach. Passwords travel in plain http then.")
    var exposed = false

    @Option(help: "The port to listen on; 0 for any that is free.")
    var port = 8080

    @Option(
        help:
            "A file with users: a JSON object of names and passwords, of mode 0600. Without it there is one user, demo, with a new password."
    )
    var users: String?

    @Option(help: ArgumentHelp("How long a push message can be answered.", valueName: "seconds"))
    var pushTimeout = 120

    @Flag(help: "Stop when standard input ends, as it does when the program that started this one is gone.")
    var attached = false

    @Flag(help: "Print one line of JSON when ready: url, users with the password that was made up, realms, console.")
    var json = false

    @Option(
        help: "How much to log to standard error: trace, debug, info, notice, warning, error, critical.", transform: Self.level)
    var logLevel = Logger.Level.warning

    func validate() throws {
        guard exposed || EndpointPolicy.isLoopback(host) else {
            throw ValidationError(
                "--host \(host) can be reached by other machines, over plain http; pass --exposed if that is meant.")
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard pushTimeout > 0 else { throw ValidationError("--push-timeout is a number of seconds, 1 or more.") }
    }

    func run() async throws {
        let users = try UserFile.users(users)
        let configuration = ServerConfiguration {
            $0.users = users.map { User(name: $0.name, password: $0.password) }
            $0.host = host
            $0.port = port
            $0.pushTimeout = pushTimeout
        }
        var logger = Logger(label: "signet.serve", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = logLevel
        let server = DeskServer(configuration: configuration, logger: logger)
        let realms = configuration.realms

        let watch = attached ? Task { await Self.stopWhenInputEnds() } : nil
        defer { watch?.cancel() }
        let isListening = Atomic(false)
        do {
            try await server.run(gracefulShutdownSignals: true) { url in
                isListening.store(true, ordering: .relaxed)
                announce(url, users, realms, console: server.consoleLink())
            }
        } catch let error where !isListening.load(ordering: .relaxed) {
            throw cannotListen(error)
        }
    }

    /// Ends the server in order, as the signal from outside would.
    private static func stopWhenInputEnds() async {
        await Console.inputEnd()
        if !Task.isCancelled { kill(getpid(), SIGTERM) }
    }

    private func cannotListen(_ error: any Error) -> Failure {
        let number = (error as? IOError)?.errnoCode
        let reason = number.map { String(cString: strerror($0)) } ?? "\(type(of: error))"
        return Failure(
            number == EACCES ? .notAllowed : .unavailable, "listen", "cannot listen at \(host), port \(port): \(reason)")
    }

    @Sendable private static func level(_ name: String) throws -> Logger.Level {
        guard let level = Logger.Level(rawValue: name) else {
            throw ValidationError("--log-level: no level is called '\(name)'.")
        }
        return level
    }

    private func announce(_ url: String, _ users: [UserFile.Entry], _ realms: [String], console: String) {
        if json {
            let users = users.map { user in
                JSONText.object(["name": .string(user.name), "password": .string(user.madeUpPassword)])
            }
            Console.line(
                JSONText.line(
                    .object([
                        "url": .string(url), "realms": .array(realms.map { .string($0) }), "users": .array(users),
                        "console": .string(console),
                    ])))
            return
        }
        Console.line("Signet desk server: \(url)  (for desks and CI only; state is in memory)")
        Console.line("Realms: \(realms.joined(separator: ", "))")
        for user in users {
            Console.line("User: \(user.name)" + (user.madeUpPassword.map { "  password: \($0)" } ?? ""))
        }
        Console.line("Sign in with a browser: \(url)/XUI/")
        Console.line("Console, once, on this machine: \(console)")
        Console.line("Stop with Ctrl-C.")
    }
}
