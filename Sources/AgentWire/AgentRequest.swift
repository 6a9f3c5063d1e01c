/// A request to `signet agent`.
package struct AgentRequest: Sendable, Hashable {
    /// The version of the format of requests and replies.
    ///
    /// A client and an agent with different formats do not talk to each other.
    package static let format = "signet-agent 1"

    /// The version of the client's program, such as `0.1.0`.
    package let version: String
    /// The environment variables that lead to the client's vault.
    package let home: AgentHome
    /// The name of the operation.
    package let operation: String
    /// The arguments of the operation.
    package let arguments: [[UInt8]]

    /// Creates a request.
    package init(version: String, home: AgentHome, operation: String, arguments: [[UInt8]]) {
        self.version = version
        self.home = home
        self.operation = operation
        self.arguments = arguments
    }

    /// Reads a request.
    ///
    /// Returns nil when the message is not a request of this ``format``.
    package init?(_ message: AgentMessage) {
        let fields = message.fields
        let texts = fields.prefix(3 + AgentHome.names.count).map { String(validating: $0, as: UTF8.self) }
        guard texts.count == 3 + AgentHome.names.count, texts[0] == Self.format, let version = texts[1],
            let operation = texts.last ?? nil, let home = AgentHome(Array(texts[2..<(2 + AgentHome.names.count)]))
        else { return nil }
        self.init(version: version, home: home, operation: operation, arguments: Array(fields.dropFirst(texts.count)))
    }

    /// The message with the request.
    package var message: AgentMessage {
        let head = [Self.format, version] + home.values.map { $0 ?? "" } + [operation]
        return AgentMessage(head.map { Array($0.utf8) } + arguments)
    }
}

/// The environment variables that say where a vault is (`VaultDirectory` reads them).
///
/// The client sends them instead of a path, so that the rule is in one place.
package struct AgentHome: Sendable, Hashable {
    /// The names of the variables.
    package static let names = ["SIGNET_HOME", "STATE_DIRECTORY", "XDG_DATA_HOME", "HOME"]

    /// The values of the variables in the order of ``names``; nil for a variable that is not set or empty.
    package let values: [String?]

    /// Creates the values from a function that returns the value of a variable.
    package init(_ value: (String) -> String?) {
        values = Self.names.map { name in value(name).flatMap { $0.isEmpty ? nil : $0 } }
    }

    fileprivate init?(_ texts: [String?]) {
        var values: [String?] = []
        for text in texts {
            guard let text else { return nil }
            values.append(text.isEmpty ? nil : text)
        }
        self.values = values
    }

    /// The variables that are set.
    package var environment: [String: String] {
        var environment: [String: String] = [:]
        for (name, value) in zip(Self.names, values) { environment[name] = value }
        return environment
    }
}
