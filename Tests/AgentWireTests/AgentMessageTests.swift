import AgentWire
import Testing

@Suite("A message of the agent")
struct AgentMessageTests {
    private static let request = AgentRequest(
        version: "0.1.0", home: AgentHome { $0 == "HOME" ? "/home/mira" : nil }, operation: "code",
        arguments: [Array("mira".utf8), []])

    /// Reads the request in a message.
    private func read(_ message: AgentMessage) throws -> AgentRequest? {
        try message.bytes.dropFirst(4).withUnsafeBytes { try AgentRequest(body: $0) }
    }

    @Test(
        "The fields of a message are read as they were written",
        arguments: [[], [[]], [[1]], [[1, 2], [], [0xFF]]] as [[[UInt8]]])
    func readsFieldsOfMessage(fields: [[UInt8]]) {
        let bytes = AgentMessage(fields).bytes
        #expect(AgentMessage.length(bytes) == bytes.count - 4)
        #expect(AgentMessage(body: Array(bytes.dropFirst(4)))?.fields == fields)
    }

    @Test(
        "A message that ends in the middle of a field is refused",
        arguments: [[0], [0, 0, 0, 1], [0, 0, 0, 2, 7], [0xFF, 0xFF, 0xFF, 0xFF], [0, 0, 0, 0, 1]] as [[UInt8]])
    func refusesCutMessage(body: [UInt8]) {
        #expect(AgentMessage(body: body) == nil)
        let failure = body.withUnsafeBytes { bytes in
            Result { () throws(AgentRequest.Malformed) in try AgentRequest(body: bytes) }
        }
        #expect(failure == .failure(AgentRequest.Malformed()))
    }

    @Test("A request has the client's version, the variables of its vault, the operation and the arguments")
    func readsRequest() throws {
        let found = try read(Self.request.message)
        let request = try #require(found)
        #expect(request == Self.request)
        #expect(request.home.environment == ["HOME": "/home/mira"])
    }

    @Test("A passphrase is sent as the argument of a request to unlock, and read into memory that is zeroed")
    func readsSecretOfRequest() throws {
        let passphrase = Array("four unrelated words".utf8)
        let home = Self.request.home
        let request = AgentRequest(
            version: "0.1.0", home: home, operation: AgentRequest.unlocking, arguments: [],
            secret: passphrase.withUnsafeBytes { AgentSecret(copying: $0) })
        let plain = AgentRequest(
            version: "0.1.0", home: home, operation: AgentRequest.unlocking, arguments: [passphrase])
        #expect(request.beginning + passphrase == plain.message.bytes)
        let found = try read(plain.message)
        #expect(found == request && found?.arguments.isEmpty == true)
        let content = found?.secret?.withUnsafeBytes { Array($0) }
        #expect(content == passphrase)
        let none = try read(AgentRequest(version: "0.1.0", home: home, operation: "unlock", arguments: []).message)
        #expect(none?.secret == nil && none?.operation == "unlock")
        // Without a secret all bytes are sent at once.
        #expect(Self.request.beginning == Self.request.message.bytes)
    }

    @Test("A secret is not in its description, is compared as a whole, and its memory is zeroed by wiping")
    func hidesAndWipesSecret() {
        func secret(_ text: String) -> AgentSecret { Array(text.utf8).withUnsafeBytes { AgentSecret(copying: $0) } }
        #expect(secret("abc") == secret("abc") && secret("abc") != secret("abd") && secret("abc") != secret("ab"))
        #expect("\(secret("abc"))" == "<secret of 3 bytes>" && secret("").count == 0)
        var bytes = Array("abc".utf8)
        bytes.withUnsafeMutableBytes { AgentSecret.wipe($0) }
        #expect(bytes == [0, 0, 0])
    }

    @Test("A message of another format is not a request")
    func refusesOtherFormat() throws {
        var other = Self.request.message
        other.fields[0] = Array("signet-agent 2".utf8)
        var notText = Self.request.message
        notText.fields[1] = [0xFF]
        for message in [other, AgentMessage([]), AgentMessage(Array(Self.request.message.fields.prefix(6))), notText] {
            let request = try read(message)
            #expect(request == nil)
        }
    }

    @Test(
        "A reply is read as it was written",
        arguments: [
            AgentReply.result([]), .result([Array("123456".utf8)]), .declined(.locked), .declined(.otherVersion),
            .failure(AgentFailure(exit: 66, code: "notFound", message: "no account called 'x'", part: nil)),
            .failure(AgentFailure(exit: 65, code: "input", message: "", part: "uri")),
        ])
    func readsReply(reply: AgentReply) {
        #expect(AgentReply(reply.message) == reply)
    }

    @Test(
        "A message that is not a reply is refused",
        arguments: [
            [], ["other"], ["declined"], ["declined", "other"], ["failure", "x", "a", "b", ""], ["failure", "1", "a", "b"],
        ] as [[String]])
    func refusesOtherReply(fields: [String]) {
        let message = AgentMessage(fields.map { [UInt8]($0.utf8) })
        #expect(AgentReply(message) == nil)
    }
}

@Suite("The socket of the agent")
struct AgentSocketTests {
    @Test(
        "The path is in the runtime directory, or the one that SIGNET_AGENT names",
        arguments: [
            (["XDG_RUNTIME_DIR": "/run/user/1000"], "/run/user/1000/signet/agent.sock"),
            (["XDG_RUNTIME_DIR": "/run/user/1000", "SIGNET_AGENT": "/tmp/a"], "/tmp/a"),
            (["XDG_RUNTIME_DIR": "/run/user/1000", "SIGNET_AGENT": "off"], nil),
            (["XDG_RUNTIME_DIR": "/run/user/1000", "SIGNET_AGENT": ""], "/run/user/1000/signet/agent.sock"),
            (["XDG_RUNTIME_DIR": "run"], nil), ([:], nil),
        ] as [([String: String], String?)])
    func findsPath(environment: [String: String], path: String?) {
        let found = AgentSocket.path { environment[$0] }
        #expect(found == path)
    }

    @Test("A client without an agent says that the operation was not begun")
    func reportsMissingAgent() {
        let home = AgentHome { _ in nil }
        let request = AgentRequest(version: "0.1.0", home: home, operation: "status", arguments: [])
        for path in ["/nonexistent/agent.sock", String(repeating: "a", count: 200)] {
            let client = AgentClient(path: path)
            #expect(throws: AgentClient.Failure.noAgent) { try client.reply(to: request) }
        }
    }
}
