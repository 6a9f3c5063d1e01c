import ArgumentParser
import Foundation
import Logging
import NIOCore
import SignetCore
import SignetServer
import SignetStorage

struct Serve: NetworkedCommand {
    static let configuration = CommandConfiguration(
        commandName: "serve",
        abstract: "Run an AM-compatible server for development and tests.",
        discussion: """
            For development and continuous integration, not for production. The server listens on this machine only, unless --host \
            and --allow-remote permit other machines; then wrong passwords lock an account for a while, and too many requests are \
            refused. The state is kept in a file, or in the place that --state names. Realms, users, OAuth 2.0 clients and journeys \
            come from --config, or from the starter file that --print-default-config prints. --import adds the journeys of an AM \
            server.

            The configuration file, the console and the requests of --admin are described at: \
            \(HelpText.documentation)

            EXAMPLES:
              signet serve
              signet serve --print-default-config > signet.yaml
              signet serve --validate-config signet.yaml
              signet serve --config signet.yaml --port 8443 --tls
              signet serve --import exports/
            """)

    @Option(
        help: ArgumentHelp("A YAML file with realms, users, clients and journeys.", valueName: "file"), completion: .file())
    var config: String?

    @Option(
        help: ArgumentHelp("Print a summary of such a file, or all its problems, and exit.", valueName: "file"),
        completion: .file())
    var validateConfig: String?

    @Flag(help: "Print the starter file, and exit.")
    var printDefaultConfig = false

    @Flag(help: "Check the configuration file and the imported journeys, and exit; --json prints each problem with its line.")
    var check = false

    @Flag(help: "Print the JSON Schema of the configuration file, for editors, and exit.")
    var schema = false

    @Flag(name: .customLong("openapi"), help: "Print the OpenAPI document of the administration API, and exit.")
    var openAPI = false

    @OptionGroup var importOptions: JourneyImportOptions

    @Option(help: "The address to listen on.")
    var host = "127.0.0.1"

    @Flag(help: "Allow a --host that other machines can reach. Passwords travel in plain http then, unless it speaks https.")
    var allowRemote = false

    @Option(
        help: ArgumentHelp(
            "The server's address for clients, with its path, such as https://am.example.test/am. Default: the host and port.",
            valueName: "url"))
    var publicURL: String?

    @OptionGroup var tlsOptions: ServeTLSOptions

    @Option(help: "The port to listen on; 0 for any that is free.")
    var port = 8080

    @Option(
        help:
            "A file with users: a JSON object of names and passwords, of mode 0600. Otherwise there are those of the configuration.",
        completion: .file())
    var users: String?

    @Option(
        help: ArgumentHelp("How long a push message can be answered; 120, unless the configuration says.", valueName: "seconds"))
    var pushTimeout: Int?

    @Flag(
        help: "Let programs on this machine that know a token control the clock and faults."
    )
    var admin = false

    @Option(
        help: ArgumentHelp(
            "Like --admin, with the token in this file of mode 0600, which is created if needed. --admin uses a temporary file.",
            valueName: "file"), completion: .file())
    var adminTokenFile: String?

    @Option(
        help: ArgumentHelp(
            "Where the state is kept: a file, memory, or postgresql:... for several servers. Otherwise a file beside the vault.",
            valueName: "location"))
    var state: String?

    @Option(
        help: ArgumentHelp(
            "A file of mode 0600 with the 32 bytes that secrets in the state are sealed with: the same for servers that share it.",
            valueName: "file"), completion: .file())
    var stateKey: String?

    @Flag(help: "Stop when standard input ends, as it does when the program that started this one is gone.")
    var exitOnStdinEOF = false

    @Flag(
        help:
            "Print one line of JSON when ready: url, users with generated passwords, clients, realms, console, admin, authority."
    )
    var json = false

    @Option(
        help: ArgumentHelp(
            "Write that line to this file, of mode 0600, when ready, and remove the file at the end.", valueName: "file"),
        completion: .file())
    var readyFile: String?

    @Option(
        help: "How much to log to standard error: trace, debug, info, notice, warning, error, critical.",
        completion: .list(Logger.Level.allCases.map(\.rawValue)), transform: Self.level)
    var logLevel = Logger.Level.warning

    func validate() throws {
        guard allowRemote || EndpointPolicy.isLoopback(host) else {
            throw ValidationError(
                "--host \(host) can be reached by other machines; pass --allow-remote to permit that, and --tls to avoid plain http."
            )
        }
        guard (0...65535).contains(port) else { throw ValidationError("--port is a number from 0 to 65535.") }
        guard [config != nil, validateConfig != nil, printDefaultConfig].count(where: { $0 }) <= 1 else {
            throw ValidationError("--config, --validate-config and --print-default-config exclude each other.")
        }
        guard [check, schema, openAPI, validateConfig != nil, printDefaultConfig].count(where: { $0 }) <= 1 else {
            throw ValidationError(
                "--check, --schema, --openapi, --validate-config and --print-default-config exclude each other.")
        }
        guard importOptions.path == nil || (validateConfig == nil && !printDefaultConfig) else {
            throw ValidationError(
                "--import excludes --validate-config and --print-default-config: see 'signet journeys convert'.")
        }
        guard config == nil || users == nil else {
            throw ValidationError("--users and --config exclude each other: the configuration has users.")
        }
        guard publicURL.map(ServerConfiguration.isPublicURL) ?? true else {
            throw ValidationError("--public-url is an address of the web, such as https://am.example.test/am.")
        }
        guard readyFile != TransferFile.standardStream else {
            throw ValidationError("--ready-file names a file; --json prints the line on standard output.")
        }
        guard pushTimeout ?? 1 > 0 else { throw ValidationError("--push-timeout is a number of seconds, 1 or more.") }
    }

    func run() async throws {
        if printDefaultConfig {
            Console.bytes(Array(ServerConfiguration.starterText.utf8))
            return
        }
        if schema {
            Console.bytes(Array((JSON.text(of: ConfigurationSchema.value) + "\n").utf8))
            return
        }
        if openAPI {
            Console.bytes(Array((JSON.text(of: OpenAPIDocument.value(url: "http://127.0.0.1:8080/am/admin")) + "\n").utf8))
            return
        }
        let tls = try tlsOptions.tls()
        if check { return try ServeCheck(config: config, imports: importOptions, usesTLS: tls == nil).run(json: json) }
        if let validateConfig {
            let configuration = try ConfigurationFile.read(validateConfig, usesTLS: tls == nil)
            Console.line("\(validateConfig): \(ConfigurationFile.summary(configuration))")
            return
        }
        var configuration = try self.configuration(tls)
        configuration.state = try StateLocation.read(state, keyPath: stateKey)
        configuration.onEmail = { [json] email in Console.line(Self.line(for: email, json: json)) }
        let readyFile = try readyFile.map { try ReadyFile(at: $0) }
        defer { readyFile?.remove() }
        let token = try adminTokenFile.map { try AdminTokenFile(at: $0) } ?? (admin ? AdminTokenFile() : nil)
        defer { token?.remove() }
        configuration.adminToken = token?.token
        try await serve(configuration, tls, admin: token?.path, readyFile)
    }

    /// Returns the configuration of the files and the options, without the place of the state.
    func configuration(_ tls: ServerTLS?) throws -> ServerConfiguration {
        var configuration = try importOptions.configuration(config, usesTLS: tls == nil)
        if let users { configuration.users = try UserFile.users(users) }
        configuration.generatesPasswords = true
        configuration.host = host
        configuration.port = port
        configuration.publicURL = publicURL ?? configuration.publicURL
        configuration.tls = tls ?? configuration.tls
        configuration.pushTimeout = pushTimeout ?? configuration.pushTimeout
        return configuration
    }

    private func serve(
        _ configuration: ServerConfiguration, _ tls: ServerTLS?, admin: String?, _ readyFile: ReadyFile?
    ) async throws {
        var logger = Logger(label: "signet.serve")
        logger.logLevel = logLevel
        ProcessLimits.allowOpenFiles()
        Console.outlivesReaders()
        let server = DevServer(configuration: configuration, logger: logger)

        let watch = Mutex<Task<Void, Never>?>(nil)
        defer { watch.withLock { $0?.cancel() } }
        let isListening = Latch()
        do {
            let users = try await Self.entries(configuration.users, server)
            let secrets = try await Self.secrets(configuration.clients, server)
            let reload = ServeReload(serve: self, server: server, tls: tls)
            let hangup: @Sendable () async -> Bool = { await reload.run() }
            try await server.run(gracefulShutdownSignals: true, onHangup: hangup) { [logger] url in
                isListening.set()
                warn(url, configuration)
                let console = await Self.consoleLink(server, logger)
                let ready = ReadyMessage(
                    url: url, users: users, clientSecrets: secrets, configuration: configuration,
                    state: StateLocation.words(state), console: console, pushGateway: server.pushGatewayURL,
                    admin: admin.map { (server.adminURL, $0) })
                for line in json ? [JSONText.line(ready.json)] : ready.lines { Console.line(line) }
                do { try readyFile?.write(ready.json) } catch { Failure.report(error) }
                // Only now can the server shut down gracefully, and its startup message has been printed.
                if exitOnStdinEOF { watch.withLock { $0 = Task { await Self.stopWhenInputEnds() } } }
            }
        } catch let error as StoreError {
            throw error
        } catch let error as ConfigurationError {
            throw Failure(.software, "configuration", "the starter file cannot be read:\n\(error)", hasLines: true)
        } catch let error as ServerTLSError {
            throw Failure(.badInput, "tls", error.description)
        } catch let error where !isListening.isSet {
            throw cannotListen(error)
        }
    }

    /// Shuts the server down gracefully when standard input ends, as SIGTERM from another process would.
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

    static func entries(_ users: [User], _ server: DevServer) async throws -> [ReadyMessage.UserEntry] {
        var entries: [ReadyMessage.UserEntry] = []
        for user in users {
            let hasNone = user.password == nil && user.passwordHash == nil
            let generated = hasNone ? try await server.generatedPassword(of: user.name, realm: user.realm) : nil
            entries.append(ReadyMessage.UserEntry(name: user.name, realm: user.realm, generatedPassword: generated?.text))
        }
        return entries
    }

    /// Returns the generated secrets of clients.
    static func secrets(_ clients: [RegisteredClient], _ server: DevServer) async throws -> [String: String] {
        var secrets: [String: String] = [:]
        for client in clients where client.generatesSecret {
            secrets[ReadyMessage.clientLabel(client)] = try await server.generatedSecret(of: client.id, realm: client.realm)?.text
        }
        return secrets
    }

    /// Warns if other machines can reach the server but get a loopback address from it.
    private func warn(_ url: String, _ configuration: ServerConfiguration) {
        guard configuration.listensEverywhere, configuration.publicURL == nil else { return }
        Console.error(
            "Enrollment URIs, emails and OAuth 2.0 use \(url), which other machines can't reach: "
                + "pass the URL at which they reach this server with --public-url.")
    }

    /// Returns the line that shows an email on the console.
    static func line(for email: Email, json: Bool) -> TerminalText {
        guard json else {
            return "Email to \(email.user.isEmpty ? email.to ?? "" : email.user): \(email.link ?? email.code ?? email.subject)"
        }
        var members: [String: JSONValue] = ["user": .string(email.user), "realm": .string(email.realm)]
        members["to"] = email.to.map { .string($0) }
        members["link"] = email.link.map { .string($0) }
        members["code"] = email.code.map { .string($0) }
        return JSONText.line(.object(["email": .object(members)]))
    }

    /// Returns a link to the console.
    ///
    /// If the state prevents that, logs the error and returns nil; the server continues without a link.
    private static func consoleLink(_ server: DevServer, _ logger: Logger) async -> String? {
        do {
            return try await server.consoleLink()
        } catch {
            logger.error("no link to the console could be made", metadata: ["error": "\(error)"])
            return nil
        }
    }
}
