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
    /// The passphrase, in a request to unlock the vault; it is the argument of such a request, which has no other one.
    package let secret: AgentSecret?

    /// The name of the operation whose argument is a passphrase.
    package static let unlocking = "unlock"

    /// Creates a request.
    package init(version: String, home: AgentHome, operation: String, arguments: [[UInt8]], secret: AgentSecret? = nil) {
        self.version = version
        self.home = home
        self.operation = operation
        self.arguments = arguments
        self.secret = secret
    }

    /// The bytes are not a message.
    package struct Malformed: Error, Sendable, Hashable {
        /// Creates the error.
        package init() {}
    }

    /// Reads a request from the bytes of a message without its length.
    ///
    /// Returns nil when the message is not a request of this ``format``. A passphrase is copied into ``secret`` only.
    /// - Throws: ``Malformed`` for bytes that end in the middle of a field.
    package init?(body: UnsafeRawBufferPointer) throws(Malformed) {
        guard let ranges = AgentMessage.ranges(in: body) else { throw Malformed() }
        let headCount = 3 + AgentHome.names.count
        let texts = ranges.prefix(headCount).map { AgentMessage.text(body[$0]) }
        guard texts.count == headCount, texts[0] == Self.format, let version = texts[1], let operation = texts.last ?? nil,
            let home = AgentHome(Array(texts[2..<(headCount - 1)]))
        else { return nil }
        let rest = ranges.dropFirst(headCount)
        if operation == Self.unlocking {
            let secret = rest.first.map { AgentSecret(copying: UnsafeRawBufferPointer(rebasing: body[$0])) }
            self.init(version: version, home: home, operation: operation, arguments: [], secret: secret)
        } else {
            self.init(version: version, home: home, operation: operation, arguments: rest.map { Array(body[$0]) })
        }
    }

    /// The message with the request, without its ``secret``.
    package var message: AgentMessage {
        let head = [Self.format, version] + home.values.map { $0 ?? "" } + [operation]
        return AgentMessage(head.map { Array($0.utf8) } + arguments)
    }

    /// The bytes to send before those of the ``secret``; all bytes of the request when it has none.
    package var beginning: [UInt8] {
        let bytes = message.bytes
        guard let secret else { return bytes }
        // The secret is a field like the others: its length comes before it, and the message's length includes both.
        var beginning: [UInt8] = []
        AgentMessage.append(bytes.count + secret.count, to: &beginning)
        beginning += bytes.dropFirst(4)
        AgentMessage.append(secret.count, to: &beginning)
        return beginning
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
