import SignetCore
import SignetServer

/// The message of a server that is ready: its addresses, users, clients and realms.
struct ReadyMessage {
    /// A user in the message.
    struct UserEntry {
        let name: String
        let realm: String
        /// The generated password in clear; nil for a user with a configured password.
        let generatedPassword: String?

        /// The entry as JSON.
        var json: JSONValue {
            JSONText.object(["name": .string(name), "realm": .string(realm), "password": .string(generatedPassword)])
        }

        /// The entry as a line for the user.
        var line: TerminalText {
            "User: \(name)" + (realm == "/" ? "" : " in \(realm)") + (generatedPassword.map { "  password: \($0)" } ?? "")
        }

        /// Returns the name of a user as a ``ConfigurationDifference`` has it.
        static func label(_ user: User) -> String { ConfigurationDifference.name(user.name, in: user.realm) }
    }

    let url: String
    let users: [UserEntry]
    /// The generated secrets in clear, by the label of the client (``clientLabel(_:)``).
    var clientSecrets: [String: String] = [:]
    let configuration: ServerConfiguration
    /// The description of the place of the state.
    let state: String
    /// A link to the console that works once; nil if none could be made.
    let console: String?
    let pushGateway: String?
    /// The address of the administration API, and the file with its token.
    let admin: (url: String, tokenFile: String)?

    /// Returns the name of a client as a ``ConfigurationDifference`` has it.
    static func clientLabel(_ client: RegisteredClient) -> String { ConfigurationDifference.name(client.id, in: client.realm) }

    /// Returns the line of a client for the user.
    static func line(of client: RegisteredClient, secret: String?) -> TerminalText {
        "Client: \(client.id)" + (client.realm == "/" ? "" : " in \(client.realm)")
            + (client.redirectURIs.isEmpty ? "" : "  redirect: \(client.redirectURIs.joined(separator: ", "))")
            + (secret.map { "  secret: \($0)" } ?? "")
    }

    private var authority: String? { configuration.tls?.authorityFile }

    /// The message as JSON.
    var json: JSONValue {
        let clients = configuration.clients.map { client in
            JSONText.object([
                "id": .string(client.id), "realm": .string(client.realm),
                "redirectUris": .array(client.redirectURIs.map { .string($0) }),
                "secret": .string(clientSecrets[Self.clientLabel(client)]),
            ])
        }
        var members: [String: JSONValue] = [
            "url": .string(url), "realms": .array(configuration.realms.map { .string($0) }), "users": .array(users.map(\.json)),
            "clients": .array(clients),
        ]
        members["console"] = console.map { .string($0) }
        members["admin"] = admin.map { .object(["url": .string($0.url), "tokenFile": .string($0.tokenFile)]) }
        members["pushGateway"] = pushGateway.map { .string($0) }
        members["authority"] = authority.map { .string($0) }
        return .object(members)
    }

    /// The message as lines for the user.
    var lines: [TerminalText] {
        var lines: [TerminalText] = ["Signet development server: \(url)  (for development and CI only; \(state))"]
        if let authority { lines.append("To trust it: signet login --ca-file \(authority), or give that file to the browser") }
        lines.append("Realms: \(configuration.realms.joined(separator: ", "))")
        lines += users.map(\.line)
        for client in configuration.clients {
            lines.append(Self.line(of: client, secret: clientSecrets[Self.clientLabel(client)]))
        }
        if let pushGateway { lines.append("Push gateway: \(pushGateway)") }
        lines.append("Sign in with a browser: \(url)/XUI/")
        lines.append(console.map { "Console, once, on this machine: \($0)" } ?? "Console: no link could be made, see the log")
        if let admin { lines.append("Administration, on this machine: \(admin.url)  token in \(admin.tokenFile)") }
        lines.append("Stop with Ctrl-C.")
        return lines
    }
}
