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
        let received = JourneyRequest(request, context.client)
        let result: JourneyResult
        let dispatched: [String]
        let cookies: [String]
        if let authID = body["authId"] {
            guard let authID = authID.string else { throw APIError.invalidAuthID }
            let continuation = JourneyContinuation(
                realm: realm, authID: authID, callbacks: body["callbacks"], noSession: request.flag("noSession"),
                upgradeToken: request.upgradeToken, destinations: request.destinations)
            (result, dispatched, cookies) = try await server.store.write(for: received) { tx in
                (try tx.proceed(continuation), tx.dispatched, tx.responseCookies)
            }
        } else if let token = request.query("suspendedId") {
            (result, dispatched, cookies) = try await server.store.write(for: received) { tx in
                (try tx.resume(token, in: realm), tx.dispatched, tx.responseCookies)
            }
        } else {
            var start = try JourneyStart(request, realm: realm, server.configuration)
            // A page's address could come from an attacker, so the login pages do not read the token from it.
            start.upgradeToken = request.upgradeToken
            let credentials = try HeaderCredentials(request)
            (result, dispatched, cookies) = try await server.store.write(for: received) { [start] tx in
                let result = try tx.begin(start, with: credentials)
                if result.isStep { tx.allowLossInPowerFailure() }
                return (result, tx.dispatched, tx.responseCookies)
            }
        }
        let reply = try result.get()
        try await server.deliver(dispatched)
        var response = try respond(reply, realm: realm)
        for cookie in cookies { response.headers.append(HTTPField(name: .setCookie, value: cookie)) }
        return response
    }

    private func respond(_ reply: JourneyReply, realm: RealmPath) throws -> Response {
        switch reply {
        case .step(let step):
            return try JSONReply.make(.ok, step, headers: server.cookies(session: nil), version: Self.version)
        case .loggedIn(let user, let tree, let token, let successURL):
            server.logger.info("logged in", metadata: ["journey": "\(tree)", "realm": "\(realm)", "user": "\(user.name)"])
            var body: [String: JSONValue] = [
                "successUrl": .string(successURL ?? server.defaultSuccessURL), "realm": .string(realm.description),
            ]
            if let token {
                body["tokenId"] = .string(token)
            } else {
                body["message"] = .string("Authentication Successful")
            }
            return try JSONReply.make(.ok, body, headers: server.cookies(session: token), version: Self.version)
        }
    }
}

extension JourneyStart {
    /// Reads the parameters of a request that begins a journey, which has no `authId`.
    init(_ request: Request, realm: RealmPath, _ configuration: ServerConfiguration) throws(APIError) {
        self.init(
            realm: realm, tree: request.query("authIndexValue"), indexType: request.query("authIndexType") ?? "service",
            noSession: request.flag("noSession"), userAgent: request.header("user-agent").map { $0.limited(to: 256) },
            isForced: request.flag("ForceAuth"), sessionTokens: request.sessionTokens(configuration.cookieName),
            destinations: request.destinations)
        switch indexType {
        case "service": break
        case "composite_advice", "composite":
            let advice = try PolicyAdvice(tree ?? "")
            tree = nil
            if advice.isForced { isForced = true }
            switch advice.requirement {
            case .services(let services):
                choices = services.filter { $0.realm == nil || $0.realm == realm }.map(\.name)
                guard let first = choices.first else { throw .adviceForOtherRealm }
                tree = first
            case .realm(let names):
                guard names.contains(realm) else { throw .adviceForOtherRealm }
            case .transaction:
                tree = configuration.transactionJourney
                isForced = true
            }
        default: throw APIError(.badRequest, "This server has no authentication index but service and composite_advice.")
        }
    }
}

extension Request {
    /// The URLs to go to after the journey.
    fileprivate var destinations: RequestedDestinations {
        RequestedDestinations(goto: query("goto"), gotoOnFail: query("gotoOnFail"))
    }

    /// The token of the session to upgrade.
    fileprivate var upgradeToken: String? { query("sessionUpgradeSSOTokenId").flatMap { $0.isEmpty ? nil : $0 } }
}

extension APIError {
    fileprivate static let adviceForOtherRealm = APIError(.badRequest, "The policy advice is about another realm.")
}
