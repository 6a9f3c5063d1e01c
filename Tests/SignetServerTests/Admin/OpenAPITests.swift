import HTTPTypes
import Hummingbird
import HummingbirdTesting
import SignetCore
import TestSupport
import Testing

@testable import SignetServer

@Suite("The OpenAPI document of the administration API", .timeLimit(.minutes(5)))
struct OpenAPITests {
    private func run(_ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await TestServer.run(.sample { $0.adminToken = Secret(AdminTests.token.utf8) }, body)
    }

    // MARK: Routes

    /// Keeps the paths that are added to a router.
    private final class RecordedPaths: RouterMethods {
        typealias Context = AppRequestContext

        private(set) var paths: Set<String> = []

        func on<Responder: HTTPResponder>(
            _ path: RouterPath, method: HTTPRequest.Method, responder: Responder
        ) -> Self where Responder.Context == AppRequestContext {
            paths.insert(path.description)
            return self
        }

        func add(middleware: any MiddlewareProtocol<Request, Response, AppRequestContext>) -> Self { self }
    }

    /// The paths of the administration API in the form of the document, without the one for unknown addresses.
    private static func registeredPaths(_ server: TestServer) -> Set<String> {
        let recorded = RecordedPaths()
        server.devServer.context.addAdmin(to: recorded.group("admin"))
        let paths = recorded.paths.map { path in
            "/" + path.split(separator: "/").dropFirst().joined(separator: "/")
        }
        return Set(paths.filter { $0 != "/**" })
    }

    @Test("The document has each method of each address that the router has, and no others")
    func documentHasEachRoute() async throws {
        try await run { server in
            var registered: Set<String> = []
            for path in Self.registeredPaths(server) {
                // A request with a method that no address has gets the list of those that the address has.
                let target = path.dropFirst().replacing(#/\{[a-z]+\}/#, with: "x")
                let reply = try await server.admin(.trace, String(target))
                #expect(reply.status == 405, "\(path)")
                let methods = (reply.header("Allow") ?? "").split(separator: ",").map { $0.filter { $0 != " " } }
                for method in methods { registered.insert("\(method) \(path)") }
            }
            let documented = AdminEndpoint.all.map { "\($0.method.rawValue) \(OpenAPIDocument.path(of: $0))" }
            #expect(registered.subtracting(documented).sorted() == [])
            #expect(Set(documented).subtracting(registered).sorted() == [])
            #expect(Set(documented).count == documented.count)
        }
    }

    @Test("The server and the program have the same document, whose references all lead to a schema")
    func documentIsComplete() async throws {
        try await run { server in
            let document = try await server.admin(.get, "openapi.json").json
            let url = try #require(document["servers"]?.array?.first?["url"]?.string)
            #expect(document == OpenAPIDocument.value(url: url) && url.hasSuffix("/am/admin"))
            let text = JSON.text(of: document)
            let references = text.matches(of: #/components/schemas/([A-Za-z]+)/#).map { String($0.output.1) }
            let models = document["components"]?["schemas"]?.object ?? [:]
            #expect(Set(references) == Set(models.keys) && references.count > 20)
            let names = AdminEndpoint.all.map(\.id)
            #expect(Set(names).count == names.count)
        }
    }

    // MARK: Requests

    private static func isUnknown(_ reply: Reply, _ name: String) -> Bool {
        reply.status == 400 && reply.message?.contains("Unknown parameter '\(name)'") == true
    }

    @Test("An endpoint takes the parameters that the document has for it, and refuses all others")
    func endpointsTakeTheirParameters() async throws {
        let names = Set(AdminEndpoint.all.flatMap { $0.query.map(\.name) })
        try await run { server in
            for endpoint in AdminEndpoint.all {
                let path = endpoint.path.split(separator: "/").map { $0.hasPrefix(":") ? "1" : String($0) }.joined(separator: "/")
                for name in names {
                    let reply = try await server.admin(endpoint.method, "\(path)?\(name)=0")
                    let isKnown = endpoint.query.contains { $0.name == name }
                    #expect(Self.isUnknown(reply, name) != isKnown, "\(endpoint.id) \(name): \(reply.text)")
                }
            }
        }
    }

    @Test("An endpoint reads each member that the document has for its body")
    func endpointsReadTheirMembers() async throws {
        try await run { server in
            for endpoint in AdminEndpoint.all {
                guard let members = endpoint.body?.members else { continue }
                for member in members {
                    let messages = try await Self.refusals(of: member, in: members, endpoint, server)
                    let isRead = messages.contains { $0.contains("'\(member.name)' is") }
                    #expect(isRead, "\(endpoint.id) \(member.name): \(messages)")
                }
            }
        }
    }

    /// Sends bodies in which a member is an empty array, which no member can be, and returns the messages.
    ///
    /// The members that a fault can have depend on its kind.
    private static func refusals(
        of member: AdminMember, in members: [AdminMember], _ endpoint: AdminEndpoint, _ server: TestServer
    ) async throws -> [String] {
        var body: [String: JSONValue] = [:]
        for other in members where other.isRequired { body[other.name] = .string("mira") }
        let path = endpoint.path.replacing(":user", with: "mira").replacing(":id", with: "1")
        var messages: [String] = []
        for kind in endpoint.id == "enableFault" ? FaultKind.examples.map(\.name) : [""] {
            if !kind.isEmpty { body["kind"] = .string(kind) }
            body[member.name] = .array([])
            let reply = try await server.admin(endpoint.method, path, JSON.text(of: .object(body)))
            #expect(reply.status == 400)
            messages.append(reply.message ?? "")
        }
        return messages
    }

    // MARK: Responses

    /// One successful request of each endpoint: the name, the values of the path and the query, and the body.
    private static let requests: [(id: String, path: String, body: String?)] = [
        ("overview", "", nil), ("openAPI", "openapi.json", nil), ("metrics", "metrics", nil), ("clock", "clock", nil),
        ("setClock", "clock", #"{"stopped": true}"#), ("resumeClock", "clock/resume", nil),
        ("advanceClock", "clock/advance", #"{"seconds": 1.5}"#), ("resetClock", "clock", nil),
        (
            "enableFault", "faults",
            #"{"kind": "status", "status": 503, "route": "keys", "client": {"oauth": "x"}, "seconds": 60}"#
        ),
        ("enableFault", "faults", #"{"kind": "latency", "milliseconds": 5, "name": "slow", "route": "keys", "times": 3}"#),
        ("faults", "faults", nil), ("disableFault", "faults/slow", nil), ("disableFaults", "faults", nil),
        ("requestLog", "request-log", nil), ("logins", "logins", nil), ("login", "logins/1", nil),
        ("sessions", "sessions", nil), ("openSession", "sessions", #"{"user": "noa"}"#), ("tokens", "tokens", nil),
        (
            "issueToken", "tokens",
            #"{"subject": "noa", "client": "app", "scopes": ["read"], "audience": ["urn:api"], "claims": {"role": "a"}}"#
        ),
        ("issueToken", "tokens", #"{"subject": "robot", "seconds": 60, "algorithm": "EdDSA"}"#), ("tokens", "tokens", nil),
        ("keys", "keys", nil), ("rotateKeys", "keys", nil), ("keys", "keys", nil),
        ("revokeTokens", "tokens/GRANT", nil), ("users", "users", nil), ("user", "users/mira", nil),
        ("addUser", "users", #"{"name": "kim", "password": "p", "claims": {"email": "kim@example.test"}}"#),
        ("changeUser", "users/kim", #"{"locked": true}"#), ("clients", "clients", nil), ("client", "clients/app", nil),
        ("putClient", "clients/new", #"{"redirectURIs": ["https://new.example.test/"]}"#),
        ("putClient", "clients/new", #"{"redirectURIs": ["https://new.example.test/cb"]}"#), ("deleteClient", "clients/new", nil),
        ("journeys", "journeys", nil), ("journey", "journeys/OATHLogin", nil), ("journeyGraph", "journeys/OATHLogin/graph", nil),
        ("putJourney", "journeys/New", journey), ("putJourney", "journeys/New", journey), ("deleteJourney", "journeys/New", nil),
        ("emails", "emails", nil), ("email", "emails/EMAIL", nil), ("deleteEmail", "emails/EMAIL", nil),
        ("deleteEmails", "emails", nil), ("pushes", "pushes", nil), ("answerPush", "pushes/PUSH/answer", #"{"approve": true}"#),
        ("pushes", "pushes", nil), ("removeDevice", "users/mira/devices/push/DEVICE", nil),
        ("removeDevices", "users/mira/devices", nil), ("endSession", "sessions/KEY", nil), ("endSessions", "sessions", nil),
        ("snapshot", "snapshot", nil), ("clearRequestLog", "request-log", nil), ("clearLogins", "logins", nil),
        ("reset", "reset", nil),
    ]

    private static let journey =
        #"{"nodes": {"name": {"type": "UsernameCollectorNode", "outcomes": {"outcome": "success"}}}}"#

    /// Makes a session, tokens, an email and a push message that waits, and returns their names.
    private static func names(_ server: TestServer) async throws -> [String: String] {
        let session = try await server.session()
        _ = try await server.exchange(try await server.code(session))
        var step = try await server.start("EmailLogin").step
        step.fill("NameCallback", "noa")
        _ = try await server.next(step)
        let phone = try await server.registeredPhone("CombinedRegistration")
        let (_, push) = try await server.waitingLogin(phone: phone)
        let devices = try await server.admin(.get, "users/mira").json["devices"]?.array ?? []
        let device = devices.first { $0["kind"] == "push" }
        let names = [
            "KEY": TokenHash(session).text, "PUSH": push.messageID, "DEVICE": device?["_id"]?.string,
            "GRANT": try await server.admin(.get, "tokens").json["tokens"]?.array?.first?["grant"]?.string,
            "EMAIL": try await server.admin(.get, "emails").json["emails"]?.array?.first?["id"]?.string,
        ]
        return names.compactMapValues { $0 }
    }

    @Test("The response of each endpoint has the form that the document says")
    func responsesHaveTheirForm() async throws {
        // The test of snapshots restores one.
        #expect(Set(AdminEndpoint.all.map(\.id)).subtracting(Self.requests.map(\.id)) == ["restore"])
        try await run { server in
            let names = try await Self.names(server)
            #expect(names.count == 5)
            for (id, path, body) in Self.requests {
                let found = AdminEndpoint.all.first { $0.id == id }
                let endpoint = try #require(found)
                let target = names.reduce(path) { $0.replacing($1.key, with: $1.value) }
                let reply = try await server.admin(endpoint.method, target, body)
                #expect((200..<300).contains(reply.status), "\(id): \(reply.text)")
            }
        }
    }
}

extension AdminEndpoint.Content {
    /// The members of an object that is sent as JSON alone; nil for other contents.
    fileprivate var members: [AdminMember]? {
        guard types == ["application/json"] else { return nil }
        return switch schema {
        case .model(let model): model.members
        case .object(let members): members
        default: nil
        }
    }
}

extension AdminEndpoint {
    /// Returns the endpoint of a request, whose target is the path below `/admin`; nil when its address or its method doesn't exist.
    static func matching(_ method: HTTPRequest.Method, _ target: String) -> AdminEndpoint? {
        let segments = target.prefix { $0 != "?" }.split(separator: "/")
        return all.first { endpoint in
            let steps = endpoint.path.split(separator: "/")
            return endpoint.method == method && steps.count == segments.count
                && zip(steps, segments).allSatisfy { $0.hasPrefix(":") || $0 == $1 }
        }
    }

    /// Returns what is wrong with a response, by the document; empty for an address that doesn't exist.
    static func problems(_ method: HTTPRequest.Method, _ target: String, _ reply: Reply) -> [String] {
        guard let endpoint = matching(method, target) else { return [] }
        let check = SchemaCheck(document: document)
        let isSuccess = reply.status < 400
        guard !isSuccess || endpoint.statuses.contains(where: { $0.code == reply.status }) else {
            return ["\(endpoint.id) answered \(reply.status)"]
        }
        let content = isSuccess ? endpoint.answer : .model(.error)
        let type = reply.header("Content-Type")?.prefix { $0 != ";" } ?? ""
        guard content.types.contains(String(type)) else { return ["\(endpoint.id) answered with the type \(type)"] }
        guard type == "application/json" else { return [] }
        return check.problems(reply.json, .object(content.schema.json)).map { "\(endpoint.id): \($0)" }
    }

    private static let document = OpenAPIDocument.value(url: "http://127.0.0.1:8080/am/admin")
}
