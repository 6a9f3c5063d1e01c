import AgentWire
import Testing

@Suite("A message of the agent")
struct AgentMessageTests {
    private static let request = AgentRequest(
        version: "0.1.0", home: AgentHome { $0 == "HOME" ? "/home/mira" : nil }, operation: "code",
        arguments: [Array("mira".utf8), []])

    @Test("The fields of a message are read as they were written", arguments: [[], [[]], [[1]], [[1, 2], [], [0xFF]]] as [[[UInt8]]])
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
    }

    @Test("A request has the client's version, the variables of its vault, the operation and the arguments")
    func readsRequest() throws {
        let read = try #require(AgentRequest(Self.request.message))
        #expect(read == Self.request)
        #expect(read.home.environment == ["HOME": "/home/mira"])
    }

    @Test("A message of another format is not a request")
    func refusesOtherFormat() {
        var message = Self.request.message
        message.fields[0] = Array("signet-agent 2".utf8)
        #expect(AgentRequest(message) == nil)
        #expect(AgentRequest(AgentMessage([])) == nil)
        #expect(AgentRequest(AgentMessage(Array(Self.request.message.fields.prefix(6)))) == nil)
        var notText = Self.request.message
        notText.fields[1] = [0xFF]
        #expect(AgentRequest(notText) == nil)
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
        let message = AgentMessage(fields.map { Array<UInt8>($0.utf8) })
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
