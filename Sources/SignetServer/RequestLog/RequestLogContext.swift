import Foundation
import HTTPTypes
import Hummingbird
import SignetCore

/// The details of a request that are collected during its processing, for the request log.
final class RequestLogContext: Sendable {
    struct Record: Sendable {
        var client = RequestLogEntry.Client()
        var parameters: [RequestLogEntry.Parameter] = []
        var problem: String?
        var faults: [String] = []
        /// The resource's name, as in ``FaultRoute``.
        var resource: String?
        /// True when the connection is closed without a response.
        var isCut = false
    }

    private let record = Mutex(Record())

    var all: Record { record.withLock { $0 } }

    func update(_ change: (inout Record) -> Void) { record.withLock { change(&$0) } }

    /// The maximum number of parameters that are logged per request.
    static let maxParameters = 24
    /// The maximum length of a logged value, in characters.
    static let maxTextLength = 100

    /// The parameters whose values are logged, because they contain neither secrets nor data that is private to one client.
    private static let open: Set = [
        "_action", "_queryFilter", "_queryId", "acr_values", "authIndexType", "client_id", "code_challenge_method", "decision",
        "display", "ForceAuth", "grant_type", "max_age", "noSession", "prompt", "realm", "response_mode", "response_type",
        "save_consent", "scope", "service", "token_type_hint", "ui_locales",
    ]

    /// Logs the parameters of a query.
    func update(query: String) {
        guard !query.isEmpty else { return }
        let fields = FormCoding.decode(query) { Self.open.contains($0) || $0 == "authIndexValue" }
        update(fields.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) })
    }

    /// Logs the parameters of a form or a query.
    func update(_ fields: [(name: String, value: String)]) {
        record.withLock { record in
            for (name, value) in fields {
                if name == "client_id", Self.isLoggable(value) { record.client.oauth = value }
                Self.add(name, value, to: &record)
            }
            // `authIndexValue` is a journey's name only with this `authIndexType`.
            guard record.parameters.contains(where: { $0.name == "authIndexType" && $0.value == "service" }) else { return }
            for (name, value) in fields where name == "authIndexValue" && Self.isLoggable(value) {
                record.parameters.removeAll { $0.name == name }
                record.parameters.append(RequestLogEntry.Parameter(name: name, value: value))
            }
        }
    }

    /// Logs the member names of a JSON body, and the types of its callbacks.
    func update(json: JSONValue) {
        guard let members = json.object, !members.isEmpty else { return }
        record.withLock { record in
            for name in members.keys.sorted() {
                guard name == "callbacks", let callbacks = members[name]?.array else {
                    Self.add(name, " ", to: &record)
                    continue
                }
                let types = callbacks.prefix(8).compactMap { $0["type"]?.string }.filter(Self.isName)
                record.parameters.append(RequestLogEntry.Parameter(name: name, value: types.joined(separator: ",")))
            }
        }
    }

    private static func add(_ name: String, _ value: String, to record: inout Record) {
        // Skip an unknown name without a value: it may be a secret in the wrong place.
        guard isName(name), open.contains(name) || !value.isEmpty, record.parameters.count < maxParameters,
            !record.parameters.contains(where: { $0.name == name })
        else { return }
        let loggedValue = open.contains(name) && isLoggable(value) ? value : nil
        record.parameters.append(RequestLogEntry.Parameter(name: name, value: loggedValue))
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 40
            && text.utf8.allSatisfy { $0.isASCIILetterOrDigit || "_-.:".utf8.contains($0) }
    }

    private static func isLoggable(_ text: String) -> Bool {
        text.utf8.count <= maxTextLength && text.utf8.allSatisfy { (0x20...0x7E).contains($0) }
    }
}

extension RequestLog {
    /// Adds a request with its collected details.
    func add(
        _ request: Request, _ method: HTTPRequest.Method, path: String, _ status: HTTPResponse.Status, _ log: RequestLogContext,
        at date: Date, took duration: Duration
    ) {
        log.update(query: request.uri.query ?? "")
        var record = log.all
        let agent = request.headers[.userAgent].map { $0.limited(to: Self.maxAgentLength) }
        record.client.userAgent = agent
        let entry = RequestLogEntry.Request(
            method: method.rawValue.limited(to: Self.maxMethodLength), path: path.limited(to: Self.maxPathLength),
            resource: record.resource, status: record.isCut ? 0 : status.code, duration: duration,
            parameters: record.parameters, problem: record.problem.map { $0.limited(to: Self.maxPathLength) },
            client: record.client)
        add(.request(entry), at: date, faults: record.faults)
    }

    /// Adds a request whose head was incomplete, so that its method and path are unknown.
    func add(_ error: HeadError, from address: String?, at date: Date) {
        var client = RequestLogEntry.Client()
        client.address = address
        let entry = RequestLogEntry.Request(
            method: RequestLogEntry.Request.unknown, path: RequestLogEntry.Request.unknown, resource: nil,
            status: error.status.code,
            duration: error.duration, parameters: [], problem: error.message, client: client)
        add(.request(entry), at: date)
    }

    /// Adds a connection that could not be accepted, or the fact that further ones wait, with status 0 for the missing response.
    func add(connectionProblem problem: String, at date: Date) {
        let entry = RequestLogEntry.Request(
            method: RequestLogEntry.Request.unknown, path: RequestLogEntry.Request.unknown, resource: nil, status: 0,
            duration: .zero, parameters: [], problem: problem.limited(to: Self.maxPathLength), client: RequestLogEntry.Client()
        )
        add(.request(entry), at: date)
    }

    private static var maxAgentLength: Int { 128 }
    private static var maxMethodLength: Int { 32 }
}
