import Crypto
import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// A request for AM's configuration REST, and the replies to it in the form of CREST.
struct ConfigurationRequest {
    /// The maximum size of a document, in bytes.
    static let maxDocumentSize = 4 << 20

    let request: Request
    let context: AppRequestContext
    let address: ConfigurationAddress
    let server: ServerContext

    var realm: RealmPath { address.realm }
    var method: HTTPRequest.Method { context.method }
    /// The action that the query names; nil for none.
    var action: String? { request.query("_action") }

    /// The configuration that runs.
    var running: RunningConfiguration { server.holder.current }
    var view: ConfigurationView { ConfigurationView(running, realm) }

    /// Reads the body, which must be a JSON object.
    func document() async throws -> JSONValue {
        var context = context
        context.maxUploadSize = Self.maxDocumentSize
        let document = try await request.json(context)
        guard document.isStorable else { throw APIError(.badRequest, "The request's body is nested too deeply.") }
        return document
    }

    /// Checks that a name in an address can be one of a document.
    /// - Throws: ``APIError`` with status 400.
    static func checkName(_ name: String) throws(APIError) {
        guard !name.isEmpty, name.count <= ImportLimits().nameLength, name.isSafeName, !name.contains("/") else {
            throw APIError(.badRequest, "The name in the address is not valid.")
        }
    }

    // MARK: Conditions

    /// Checks the conditions of a request that changes a document (RFC 9110 section 13.1).
    /// - Parameter present: The document that exists; nil for none.
    /// - Throws: ``APIError`` with status 412 when a condition does not hold, and 404 when the document must exist.
    func checkConditions(_ present: JSONValue?) throws(APIError) {
        let failed = APIError(.preconditionFailed, "The resource has another revision than the request requires.")
        if let tag = request.header("if-none-match"), let present {
            guard tag != "*", Self.tag(tag) != Self.revision(present) else { throw failed }
        }
        guard let tag = request.header("if-match") else { return }
        guard let present else { throw .documentNotFound }
        guard tag == "*" || Self.tag(tag) == Self.revision(present) else { throw failed }
    }

    /// Returns an entity tag without its quotes, which some clients leave out.
    private static func tag(_ text: String) -> String {
        String((text.hasPrefix("W/") ? text.dropFirst(2) : text[...]).trimming("\""))
    }

    /// Returns the revision of a document, which changes with its content; a number, as in AM.
    private static func revision(_ document: JSONValue) -> String {
        let bytes = SHA256.hash(data: JSON.encode(document)).prefix(4)
        return String(Int32(bitPattern: bytes.reduce(0) { $0 << 8 | UInt32($1) }))
    }

    // MARK: Replies

    /// Returns the reply with a document.
    func reply(_ document: JSONValue, _ status: HTTPResponse.Status = .ok) throws -> Response {
        let revision = Self.revision(document)
        if method == .get, request.header("if-none-match").map({ Self.tag($0) == revision }) == true {
            return Response(status: .notModified, headers: [.eTag: "\"\(revision)\"", .cacheControl: "no-cache, no-store"])
        }
        var headers: HTTPFields = [.eTag: "\"\(revision)\""]
        if status == .created, let id = document["_id"]?.string, method == .put {
            headers[.location] = server.baseURL + context.path
            context.log.update { $0.parameters.append(RequestLogEntry.Parameter(name: "created", value: Self.loggable(id))) }
        }
        return try JSONReply.make(
            status, Self.revised(document), headers: headers, version: ConfigurationController.version(of: address.resource))
    }

    /// Returns the reply to a query: the documents that match its filter.
    func reply(all documents: [JSONValue]) throws -> Response {
        let filter: QueryFilter
        do throws(QueryFilterError) {
            filter = try QueryFilter(request.query("_queryFilter") ?? "true")
        } catch {
            throw APIError(.badRequest, "_queryFilter: \(error.explanation)")
        }
        let found = documents.filter { document in
            filter.matches { path in path.split(separator: "/").reduce(Optional(document)) { $0?[String($1)] } }
        }
        let isCounted = request.query("_totalPagedResultsPolicy") == "EXACT"
        let body: [String: JSONValue] = [
            "result": .array(found.map { selected(Self.revised($0)) }), "resultCount": .integer(Int64(found.count)),
            "pagedResultsCookie": .null, "totalPagedResultsPolicy": .string(isCounted ? "EXACT" : "NONE"),
            "totalPagedResults": .integer(isCounted ? Int64(found.count) : -1), "remainingPagedResults": .integer(-1),
        ]
        return try reply(body)
    }

    /// Returns the reply to an action with a list.
    func reply(result documents: [JSONValue]) throws -> Response { try reply(["result": .array(documents)]) }

    /// Returns a reply without a revision.
    func reply(_ body: [String: JSONValue]) throws -> Response {
        try JSONReply.make(.ok, body, version: ConfigurationController.version(of: address.resource))
    }

    private static func revised(_ document: JSONValue) -> JSONValue {
        .object((document.object ?? [:]).merging(["_rev": .string(revision(document))]) { $1 })
    }

    /// Returns the members of a document that the query asks for (`_fields`).
    private func selected(_ document: JSONValue) -> JSONValue {
        guard let fields = request.query("_fields"), !fields.isEmpty else { return document }
        let names = Set(fields.split(separator: ",").map { String($0.trimming(" /")) } + ["_id", "_rev"])
        return .object((document.object ?? [:]).filter { names.contains($0.key) })
    }

    // MARK: Changes

    /// Changes the configuration, and tells the change in the logs.
    /// - Parameter body: Changes the documents.
    /// - Returns: The value that `body` returned.
    /// - Throws: The error of `body`; ``APIError``; `StoreError`. Nothing is changed then.
    func change<R>(_ body: (inout ConfigurationEdit) throws -> R) async throws -> R {
        let (result, changes) = try await server.holder.change { before in
            var edit = ConfigurationEdit(before, realm)
            let result = try body(&edit)
            let new = try edit.result()
            if !edit.changes.isEmpty { try await server.store.replace(clients: new.clients, trees: new.trees) }
            return (new, (result, edit.changes))
        }
        for change in changes {
            server.logger.notice(
                "the configuration was changed", metadata: ["change": "\(change)", "realm": "\(realm)"])
        }
        if !changes.isEmpty {
            let text = Self.loggable(changes.joined(separator: "; "))
            context.log.update { $0.parameters.append(RequestLogEntry.Parameter(name: "changed", value: text)) }
        }
        return result
    }

    private static func loggable(_ text: String) -> String {
        String(text.unicodeScalars.map { (0x20...0x7E).contains($0.value) ? Character($0) : "?" }.prefix(200))
    }
}
