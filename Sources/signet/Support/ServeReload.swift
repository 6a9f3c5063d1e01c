import SignetCore
import SignetServer

/// The answer of `signet serve` to SIGHUP: it reads its configuration again.
struct ServeReload: Sendable {
    let serve: Serve
    let server: DevServer
    let tls: ServerTLS?
    /// True when the server was started at a terminal.
    private let hadTerminal: Bool

    init(serve: Serve, server: DevServer, tls: ServerTLS?) {
        (self.serve, self.server, self.tls) = (serve, server, tls)
        hadTerminal = Self.hasTerminal
    }

    private static var hasTerminal: Bool { Console.isTerminal || Console.showsToUser || Console.canAsk }

    /// Reloads the configuration and prints the difference; a configuration with problems changes nothing, and they are printed.
    /// - Returns: False when the signal was sent because the terminal is gone, and the server is to stop.
    func run() async -> Bool {
        guard !hadTerminal || Self.hasTerminal else { return false }
        do {
            guard serve.config != TransferFile.standardStream else {
                throw Failure(
                    .badInput, "configuration", "the configuration came from standard input, which cannot be read again")
            }
            let configuration = try serve.configuration(tls)
            let difference = try await server.reload(configuration)
            // The server makes a password for a new user without one, as at the start.
            let users = configuration.users.filter { difference.users.added.contains(ReadyMessage.UserEntry.label($0)) }
            let clients = configuration.clients.filter { difference.clients.added.contains(ReadyMessage.clientLabel($0)) }
            let secrets = try await Serve.secrets(clients, server)
            show(
                difference, try await Serve.entries(users, server).filter { $0.generatedPassword != nil },
                clients.compactMap { client in secrets[ReadyMessage.clientLabel(client)].map { (client, $0) } })
        } catch {
            Failure(error).show()
        }
        return true
    }

    private func show(
        _ difference: ConfigurationDifference, _ users: [ReadyMessage.UserEntry],
        _ clients: [(client: RegisteredClient, secret: String)]
    ) {
        guard serve.json else {
            let lines = difference.isEmpty ? ["nothing changed"] : difference.lines
            for line in lines { Console.line("Configuration reloaded: \(line)") }
            for user in users { Console.line(user.line) }
            for (client, secret) in clients { Console.line(ReadyMessage.line(of: client, secret: secret)) }
            return
        }
        func names(_ names: ConfigurationDifference.Names) -> JSONValue {
            .object(["added": .texts(names.added), "changed": .texts(names.changed), "removed": .texts(names.removed)])
        }
        let members: [String: JSONValue] = [
            "users": names(difference.users), "clients": names(difference.clients), "journeys": names(difference.journeys),
            "settings": .texts(difference.settings), "restart": .texts(difference.restartSettings),
            "passwords": .array(users.map(\.json)),
            "secrets": .array(
                clients.map { client, secret in
                    JSONText.object(["id": .string(client.id), "realm": .string(client.realm), "secret": .string(secret)])
                }),
        ]
        Console.line(JSONText.line(.object(["reload": .object(members)])))
    }
}
