import HTTPTypes
import Hummingbird
import SignetCore

/// `GET` and `POST /oauth2/.../device/user`: the user approves or denies a device in a browser.
struct DeviceUserController: Sendable {
    let server: ServerContext

    func deviceUser(_ request: Request, context: AppRequestContext) async throws -> Response {
        let realm = context.realm
        let tokens = request.sessionTokens(server.configuration.cookieName)
        var parameters = try request.queryParameters()
        if request.method == .post {
            parameters = try await request.form(context)
        }
        let presented = try await server.store.write { tx in
            try tx.session(tokens, in: realm).map { ($0, tx.csrf(of: $0.token)) }
        }
        guard let (presented, csrf) = presented else { return OAuthReply.redirect(to: loginPage(parameters["user_code"], realm)) }
        guard let answer = parameters["decision"], request.method == .post else {
            return try await question(parameters["user_code"], presented.session.user, context, csrf)
        }
        guard let given = parameters["csrf"], ConstantTime.areEqual(given, csrf) || ConstantTime.areEqual(given, presented.token)
        else {
            throw OAuthErrorResponse(.forbidden, "access_denied", "The form is not one of this session")
        }
        let userCode = try parameters.required("user_code")
        let guess = UserCodeGuess(by: presented.session.user, from: context.client.network)
        let client = try await guess.check(at: server) { tx -> ClientKey? in
            guard let device = try tx.deviceCodes.device(showing: userCode, in: realm) else { return nil }
            let grant = Grant(
                client: device.client, user: presented.session.user, scopes: device.scopes,
                authenticatedAt: presented.session.authenticatedAt, session: TokenHash(presented.token), nonce: nil,
                generation: presented.session.generation)
            try tx.deviceCodes.decide(userCode, answer == "allow" ? .allowed(grant) : .denied)
            return device.client
        }
        guard let client else { throw OAuthErrorResponse(.badRequest, "not_found", "The user code is invalid or has expired") }
        return HTMLPage.deviceAnswered(answer == "allow", clientLogo: server.clients[client]?.logo).response(at: server)
    }

    private func question(
        _ userCode: String?, _ user: UserKey, _ context: AppRequestContext, _ csrf: String
    ) async throws -> Response {
        var device: DeviceAuthorization?
        if let userCode {
            let guess = UserCodeGuess(by: user, from: context.client.network)
            device = try await guess.check(at: server) { [realm = context.realm] tx in
                try tx.deviceCodes.device(showing: userCode, in: realm)
            }
        }
        let page =
            device.map { HTMLPage.device($0, of: server.clients[$0.client], csrf: csrf) }
            ?? HTMLPage.deviceCode(isWrong: userCode != nil)
        return page.response(at: server)
    }

    private func loginPage(_ userCode: String?, _ realm: RealmPath) -> String {
        let query = userCode.map { "?user_code=\($0.percentEncoded())" } ?? ""
        let goto = "\(server.baseURL)\(Route.Address(.deviceUser, realm: realm).path)\(query)"
        return LoginController.address(server.baseURL, realm, goto: goto)
    }
}

/// A user code that a user has entered, which may be a guess at the code of another person's device.
///
/// With such a code an attacker could log that device in as the attacker. The codes are short, so wrong ones are limited by user and
/// by address (RFC 8628 section 5.1).
private struct UserCodeGuess: Sendable {
    private let user: UserKey
    private let address: AddressRate?

    init(by user: UserKey, from network: String?) {
        self.user = user
        address = network.map { AddressRate(kind: .userCode, address: $0) }
    }

    /// Looks a device up by the code, and counts a wrong code.
    /// - Parameters:
    ///   - server: The server.
    ///   - look: Looks the device up and returns nil when the code is wrong.
    /// - Returns: The result of `look`.
    /// - Throws: ``APIError`` when there were too many wrong codes; `look` does not run then.
    func check<Found: Sendable>(
        at server: ServerContext, _ look: @escaping @Sendable (inout ServerTransaction) throws -> Found?
    ) async throws -> Found? {
        guard let limit = server.configuration.rateLimits.userCode else { return try await server.store.write(look) }
        let now = server.clock.now
        let address = server.configuration.limitsUserCodesOfAddress ? address : nil
        if let address, let wait = server.rates.withLock({ $0.wait(address, limit, at: now) }) {
            server.telemetry.count([.refused(.tooManyGuesses)])
            throw APIError.tooMany(waiting: wait)
        }
        let result = try await server.store.write { [user] tx -> Result<Found?, APIError> in
            if let wait = try tx.guesses.waitForUserCode(user, limit) {
                tx.count(.refused(.tooManyGuesses))
                return .failure(.tooMany(waiting: wait))
            }
            let found = try look(&tx)
            if found == nil { try tx.guesses.takeUserCode(user, limit) }
            return .success(found)
        }
        let found = try result.get()
        if found == nil, let address { _ = server.rates.withLock { $0.take(address, limit, at: now) } }
        return found
    }
}
