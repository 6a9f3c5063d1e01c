import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /json/.../authenticate`: begins and continues journeys (protocol/journey.md section 2).
struct AuthenticateController: Sendable {
    static let version = APIVersion(2, 1)
    let server: ServerContext

    func authenticate(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        try AcceptAPIVersion.check(request.header("accept-api-version"), served: Self.version)
        let body = try await request.json(context)
        let reply: JourneyReply
        if let authID = body["authId"] {
            guard let authID = authID.string else { throw APIError.invalidAuthID }
            let continuation = JourneyContinuation(
                realm: realm, authID: authID, callbacks: body["callbacks"], noSession: request.flag("noSession"))
            reply = try await server.store.write { tx in try tx.proceed(continuation) }.get()
        } else if let token = request.query("suspendedId") {
            reply = try await server.store.write { tx in try tx.resume(token, in: realm) }.get()
        } else {
            let start = try JourneyStart(request, realm: realm, server.configuration)
            reply = try await server.store.write { tx in try tx.begin(start) }.get()
        }
        return try respond(reply, realm: realm)
    }

    private func respond(_ reply: JourneyReply, realm: RealmPath) throws -> Response {
        switch reply {
        case .step(let step):
            return try JSONReply.make(.ok, step, headers: cookies(session: nil), version: Self.version)
        case .loggedIn(let user, let tree, let token):
            server.logger.info("logged in", metadata: ["journey": "\(tree)", "realm": "\(realm)", "user": "\(user.name)"])
            var body: [String: JSONValue] = [
                "successUrl": .string("\(server.contextPath)/console"), "realm": .string(realm.description),
            ]
            if let token {
                body["tokenId"] = .string(token)
            } else {
                body["message"] = .string("Authentication Successful")
            }
            return try JSONReply.make(.ok, body, headers: cookies(session: token), version: Self.version)
        }
    }

    private func cookies(session token: String?) -> HTTPFields {
        let cookie = SessionCookie(server.time)
        var headers: HTTPFields = [:]
        if let token, !token.isEmpty { headers.append(cookie.set(token)) }
        if let routing = server.configuration.loadBalancerCookie { headers.append(cookie.plain(routing)) }
        return headers
    }
}

extension JourneyStart {
    /// Reads the parameters of a request that begins a journey, which has no `authId`.
    init(_ request: Request, realm: RealmPath, _ configuration: ServerConfiguration) throws(APIError) {
        self.init(
            realm: realm, tree: request.query("authIndexValue"), indexType: request.query("authIndexType") ?? "service",
            noSession: request.flag("noSession"), userAgent: request.header("user-agent").map { String($0.prefix(256)) },
            isForced: request.flag("ForceAuth"), sessionTokens: request.sessionTokens(configuration.cookieName))
        switch indexType {
        case "service": break
        case "composite_advice":
            switch try PolicyAdvice(tree ?? "") {
            case .service(let name, let place):
                guard place == nil || place == realm else {
                    throw APIError(.badRequest, "The policy advice is about another realm.")
                }
                tree = name
            case .transaction:
                tree = configuration.transactionJourney
                isForced = true
            }
        default: throw APIError(.badRequest, "This server has no authentication index but service and composite_advice.")
        }
    }
}
