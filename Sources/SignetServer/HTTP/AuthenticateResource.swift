import HTTPTypes
import Hummingbird
import Logging
import SignetCore

/// `POST /json/.../authenticate`: begins a journey and goes on with it (protocol/journey.md section 2).
struct AuthenticateResource: Sendable {
    let version = APIVersion(2, 1)
    let desk: Desk

    func respond(to reader: RequestReader, realm: RealmPath) async throws -> Response {
        try reader.require(.post)
        try AcceptAPIVersion.check(reader.header("accept-api-version"), served: version)
        let body = try await json(of: reader)
        let reply: JourneyReply
        if let authID = body["authId"] {
            guard let authID = authID.string else { throw Refusal.invalidAuthID }
            let request = JourneyContinuation(
                realm: realm, authID: authID, callbacks: body["callbacks"], noSession: reader.flag("noSession"))
            reply = try desk.transact { state, moment throws(Refusal) in try state.proceed(request, moment) }
        } else {
            let start = try start(reader, realm: realm)
            reply = try desk.transact { state, moment throws(Refusal) in try state.begin(start, moment) }
        }
        return try respond(reply, realm: realm)
    }

    /// The body, or an empty object where there is none: SDKs begin with nothing, with no bytes, or with `{}`.
    private func json(of reader: RequestReader) async throws -> JSONValue {
        let bytes = try await reader.body()
        guard reader.saysJSON || (bytes.isEmpty && reader.header("content-type") == nil) else {
            throw Refusal(.unsupportedMediaType, "The request's body is not application/json.")
        }
        guard !bytes.isEmpty else { return .object([:]) }
        guard let json = try? JSON.value(of: bytes), json.object != nil else {
            throw Refusal(.badRequest, "The request's body is not a JSON object.")
        }
        return json
    }

    private func start(_ reader: RequestReader, realm: RealmPath) throws(Refusal) -> JourneyStart {
        guard reader.query("suspendedId") == nil else {
            throw Refusal(
                .unauthorized,
                "org.forgerock.openam.auth.nodes.framework.token.SuspendedAuthSessionException: Token not found. It may have expired."
            )
        }
        let indexType = reader.query("authIndexType") ?? "service"
        guard indexType == "service" else { throw Refusal(.badRequest, "This server has no authentication index but service.") }
        return JourneyStart(
            realm: realm, tree: reader.query("authIndexValue"), indexType: indexType, noSession: reader.flag("noSession"),
            userAgent: reader.header("user-agent").map { String($0.prefix(256)) })
    }

    private func respond(_ reply: JourneyReply, realm: RealmPath) throws -> Response {
        switch reply {
        case .step(let step):
            return try JSONReply.make(.ok, step, headers: cookies(session: nil), version: version)
        case .loggedIn(let user, let tree, let token):
            desk.logger.info("logged in", metadata: ["journey": "\(tree)", "realm": "\(realm)", "user": "\(user.name)"])
            var body: [String: JSONValue] = [
                "successUrl": .string("\(desk.contextPath)/console"), "realm": .string(realm.description),
            ]
            if let token {
                body["tokenId"] = .string(token)
            } else {
                body["message"] = .string("Authentication Successful")
            }
            return try JSONReply.make(.ok, body, headers: cookies(session: token), version: version)
        }
    }

    private func cookies(session token: String?) -> HTTPFields {
        let security = desk.baseURL.lowercased().hasPrefix("https:") ? "; Secure" : ""
        var headers: HTTPFields = [:]
        if let token {
            headers.append(
                HTTPField(name: .setCookie, value: "\(desk.configuration.cookieName)=\(token); Path=/; HttpOnly\(security)"))
        }
        if let cookie = desk.configuration.loadBalancerCookie {
            headers.append(HTTPField(name: .setCookie, value: "\(cookie); Path=/\(security)"))
        }
        return headers
    }
}
