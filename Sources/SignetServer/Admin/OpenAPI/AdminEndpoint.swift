import HTTPTypes
import SignetCore

/// A method and an address of the administration API, with what it takes and what it answers.
///
/// ``all`` has each one that ``ServerContext`` adds to the router; a test compares the two.
struct AdminEndpoint: Sendable {
    /// The part of the API that an endpoint belongs to.
    enum Group: String, CaseIterable, Sendable {
        case server, clock, faults, log, sessions, tokens, users, logins, clients, journeys, messages, state
    }

    /// The body of a request or a response.
    struct Content: Sendable {
        /// The media types, each with the same schema.
        let types: [String]
        let schema: AdminSchema

        static func json(_ schema: AdminSchema) -> Content { Content(types: ["application/json"], schema: schema) }
        static func model(_ model: AdminModel) -> Content { json(.model(model)) }
        static func object(_ members: AdminMember...) -> Content { json(.object(members)) }

        /// An object without members.
        static let empty = json(.object([]))
        static let bytes = Content(types: ["application/octet-stream"], schema: .any)
        static func text(_ type: String) -> Content { Content(types: [type], schema: .string) }

        /// A part of a configuration file, as YAML or as JSON with the same members.
        static let configuration = Content(types: ["application/yaml", "application/json"], schema: .map(.any))
    }

    let method: HTTPRequest.Method
    /// The path below `/admin`, as the router takes it.
    let path: String
    /// The name of the operation in the document, from which generators of clients make the names of functions.
    let id: String
    let group: Group
    let summary: String
    /// The parameters of the query.
    let query: [AdminMember]
    let body: Content?
    /// The statuses of success: 200, and 201 when the request creates something.
    let statuses: [HTTPResponse.Status]
    let answer: Content

    /// Describes an endpoint.
    /// - Parameters:
    ///   - method: The method.
    ///   - path: The path below `/admin`, as the router takes it.
    ///   - id: The name of the operation.
    ///   - group: The part of the API.
    ///   - summary: What a request does, without a period.
    ///   - query: The parameters of the query.
    ///   - body: The body of the request; nil when it has none.
    ///   - statuses: The statuses of success.
    ///   - answer: The body of a response with such a status.
    init(
        _ method: HTTPRequest.Method, _ path: String, _ id: String, _ group: Group, _ summary: String,
        query: [AdminMember] = [], body: Content? = nil, statuses: [HTTPResponse.Status] = [.ok], answers answer: Content = .empty
    ) {
        (self.method, self.path, self.id, self.group, self.summary) = (method, path, id, group, summary)
        (self.query, self.body, self.statuses, self.answer) = (query, body, statuses, answer)
    }

    /// The parameters of the path, in their order.
    var pathParameters: [AdminMember] {
        path.split(separator: "/").filter { $0.hasPrefix(":") }.map { Self.pathParameter(String($0.dropFirst())) }
    }

    /// The parameters of paths, by the name that the router has for them.
    private static func pathParameter(_ name: String) -> AdminMember {
        let parameters: [String: (AdminSchema, String)] = [
            "name": (.string, "The name of a fault"), "key": (.string, "The key of a session, as the list has it"),
            "user": (.string, "The name of a user"),
            "kind": (.choice(DeviceKind.allCases.map(\.rawValue)), "The kind of a device"),
            "number": (.integer, "The number of a login"), "grant": (.string, "The grant of a token, as the list has it"),
            "client": (.string, "The ID of a client"), "journey": (.string, "The name of a journey"),
        ]
        let (schema, about) = parameters[name] ?? (.string, "The ID, as the list has it")
        return .required(name, schema, about)
    }
}
