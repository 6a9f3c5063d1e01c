import ArgumentParser
import Logging
import NIOCore
import SignetCore
import SignetServer
import SignetStorage
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

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
            and says so. What it learns survives it, in a file of its own unless --state says otherwise. Where other machines can
            reach it, wrong passwords lock an account for a while and too many requests are refused (docs/operations.md). Realms,
            users, OAuth 2.0 clients and journeys are those of the
            starter file, which --starter prints, or of a file of your own. See docs/server.md, docs/configuration.md.
            """)

    @Option(help: ArgumentHelp("Serve what a file says: realms, users, clients, journeys, in YAML.", valueName: "file"))
    var config: String?

    @Option(help: ArgumentHelp("Say what is in such a file, or everything that is wrong with it, and end.", valueName: "file"))
    var check: String?

    @Flag(help: "Print a file to start from, and end.")
    var starter = false

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Flag(help: "Allow a --host that other machines can reach. Passwords travel in plain http then, unless it speaks https.")
    var exposed = false

    @OptionGroup var tlsOptions: ServeTLSOptions

    @Option(help: "The port to listen on; 0 for any that is free.")
    var port = 8080

    @Option(
        help:
            "A file with users: a JSON object of names and passwords, of mode 0600. Otherwise there are those of the configuration."
    )
    var users: String?

    @Option(
        help: ArgumentHelp("How long a push message can be answered; 120, unless the configuration says.", valueName: "seconds"))
    var pushTimeout: Int?

    @Flag(
        help: "Let programs on this machine that know a token move the clock, break answers, read the journal. See docs/admin.md."
    )
    var admin = false

    @Option(
        help: ArgumentHelp(
            "As --admin, with the token in this file, of mode 0600; it is made if it is not there. Otherwise one is made for this run.",
            valueName: "file"))
    var adminTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Where the state is kept: a file, memory, or postgresql:... for several servers. Otherwise a file beside the vault.",
            valueName: "place"))
    var state: String?

    @Option(
        help: ArgumentHelp(
            "A file of mode 0600 with the 32 bytes that secrets in the state are sealed with: the same for servers that share it.",
            valueName: "file"))
    var stateKey: String?

    @Flag(help: "Stop when standard input ends, as it does when the program that started this one is gone.")
    var attached = false

    @Flag(
        help:
            "Print one line of JSON when ready: url, users with the password that was made up, clients, realms, console, admin, authority."
    )
    var json = false

    @Option(
        help: "How much to log to standard error: trace, debug, info, notice, warning, error, critical.", transform: Self.level)
    var logLevel = Logger.Level.warning

    func validate() throws {
        guard exposed || EndpointPolicy.isLoopback(host) else {
            throw ValidationError(
                "--host \(host) can be reached by other machines; pass --exposed if that is meant, and --tls, or it is plain http."
            )
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard [config != nil, check != nil, starter].count(where: { $0 }) <= 1 else {
            throw ValidationError("--config, --check and --starter exclude each other.")
        }
        guard config == nil || users == nil else {
            throw ValidationError("--users and --config exclude each other: the configuration has users.")
        }
        guard pushTimeout ?? 1 > 0 else { throw ValidationError("--push-timeout is a number of seconds, 1 or more.") }
    }

    func run() async throws {
        if starter {
            Console.bytes(Array(ServerConfiguration.starterText.utf8))
            return
        }
        if let check {
            Console.line("\(check): " + ConfigurationFile.summary(try ConfigurationFile.read(check)))
            return
        }
        var configuration = try config.map { try ConfigurationFile.read($0) } ?? ServerConfiguration.starter
        if let users { configuration.users = try UserFile.users(users) }
        let users = Self.entries(&configuration.users)
        configuration.host = host
        configuration.port = port
        configuration.tls = try tlsOptions.tls() ?? configuration.tls
        configuration.pushTimeout = pushTimeout ?? configuration.pushTimeout
        // Secrets do not stand in arguments; AWS's own variables are where its programs look for them.
        if configuration.sns?.credentials == nil {
            configuration.sns?.credentials = AWSCredentials(environment: ProcessInfo.processInfo.environment)
        }
        if configuration.sns != nil, configuration.sns?.credentials == nil {
            throw Failure(
                .badInput, "configuration",
                "push messages go to SNS, and there is no access key: say `accessKey` and `secret` in the configuration, or in "
                    + "AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY")
        }
        configuration.state = try StatePlace.read(state, keyPath: stateKey)
        configuration.onLetter = { [json] letter in Self.announce(letter, json: json) }
        let token = try adminTokenFile.map { try AdminTokenFile(at: $0) } ?? (admin ? AdminTokenFile() : nil)
        defer { token?.remove() }
        configuration.adminToken = token?.token
        try await serve(configuration, users, admin: token?.path)
    }

    private func serve(_ configuration: ServerConfiguration, _ users: [UserEntry], admin: String?) async throws {
        var logger = Logger(label: "signet.serve", factory: { StreamLogHandler.standardError(label: $0) })
        logger.logLevel = logLevel
        OpenFiles.allowMost()
        let server = DeskServer(configuration: configuration, logger: logger)

        let watch = attached ? Task { await Self.stopWhenInputEnds() } : nil
        defer { watch?.cancel() }
        let isListening = Atomic(false)
        do {
            try await server.run(gracefulShutdownSignals: true) { [logger] url in
                isListening.store(true, ordering: .relaxed)
                let console = await Self.consoleLink(server, logger)
                announce(url, users, configuration, console: console, pushFront: server.pushFrontURL, admin: admin)
            }
        } catch let error as StoreError {
            throw error
        } catch let error as ConfigurationError {
            throw Failure(.software, "configuration", "the starter file cannot be read:\n\(error)")
        } catch let error as ServerTLSError {
            throw Failure(.badInput, "tls", error.description)
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

    /// A user, as they are told of when the server is ready.
    private struct UserEntry {
        let name: String
        let realm: String
        /// In clear only when it was made up here.
        let madeUpPassword: String?
    }

    /// Makes up passwords for those who have none.
    private static func entries(_ users: inout [User]) -> [UserEntry] {
        users.indices.map { index in
            var madeUp: String?
            if users[index].password == nil, users[index].passwordHash == nil {
                let password = Secret.random(byteCount: 10).withUnsafeBytes { Base32.encode($0).lowercased() }
                users[index].password = Secret(password.utf8)
                madeUp = password
            }
            return UserEntry(name: users[index].name, realm: users[index].realm, madeUpPassword: madeUp)
        }
    }

    private static func announce(_ letter: Letter, json: Bool) {
        guard json else {
            Console.line("Letter to \(letter.user): \(letter.link)")
            return
        }
        let members: [String: JSONValue] = [
            "user": .string(letter.user), "realm": .string(letter.realm), "link": .string(letter.link),
        ]
        Console.line(JSONText.line(.object(["letter": .object(members)])))
    }

    /// A link to the console; nil when the state does not let it be made, which is said. The server goes on without.
    private static func consoleLink(_ server: DeskServer, _ logger: Logger) async -> String? {
        do {
            return try await server.consoleLink()
        } catch {
            logger.error("no link to the console could be made", metadata: ["error": "\(error)"])
            return nil
        }
    }

    private func announce(
        _ url: String, _ users: [UserEntry], _ configuration: ServerConfiguration, console: String?, pushFront: String?,
        admin: String?
    ) {
        let (clients, realms) = (configuration.clients, configuration.realms)
        let authority = configuration.tls?.authorityFile
        if json {
            let users = users.map { user in
                JSONText.object([
                    "name": .string(user.name), "realm": .string(user.realm), "password": .string(user.madeUpPassword),
                ])
            }
            let clients = clients.map { client in
                JSONText.object([
                    "id": .string(client.id), "realm": .string(client.realm),
                    "redirectUris": .array(client.redirectURIs.map { .string($0) }),
                ])
            }
            var members: [String: JSONValue] = [
                "url": .string(url), "realms": .array(realms.map { .string($0) }), "users": .array(users),
                "clients": .array(clients),
            ]
            members["console"] = console.map { .string($0) }
            members["admin"] = admin.map { .object(["url": .string("\(url)/admin"), "tokenFile": .string($0)]) }
            members["pushFront"] = pushFront.map { .string($0) }
            members["authority"] = authority.map { .string($0) }
            Console.line(JSONText.line(.object(members)))
            return
        }
        Console.line("Signet desk server: \(url)  (for desks and CI only; \(StatePlace.words(state)))")
        if let authority { Console.line("To trust it: signet login --ca-file \(authority), or give that file to the browser") }
        Console.line("Realms: \(realms.joined(separator: ", "))")
        for user in users {
            Console.line(
                "User: \(user.name)" + (user.realm == "/" ? "" : " in \(user.realm)")
                    + (user.madeUpPassword.map { "  password: \($0)" } ?? ""))
        }
        for client in clients {
            Console.line(
                "Client: \(client.id)" + (client.realm == "/" ? "" : " in \(client.realm)")
                    + "  redirect: \(client.redirectURIs.joined(separator: ", "))")
        }
        if let pushFront { Console.line("Push front: \(pushFront)") }
        Console.line("Sign in with a browser: \(url)/XUI/")
        Console.line(console.map { "Console, once, on this machine: \($0)" } ?? "Console: no link could be made, see the log")
        if let admin { Console.line("Administration, on this machine: \(url)/admin  token in \(admin)") }
        Console.line("Stop with Ctrl-C.")
    }
}
