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
        let shown = try await server.store.write { tx in
            try tx.session(tokens, in: realm).map { ($0, tx.csrf(of: $0.token)) }
        }
        guard let (shown, csrf) = shown else { return OAuthReply.redirect(to: loginPage(parameters["user_code"], realm)) }
        guard let answer = parameters["decision"], request.method == .post else {
            return try await question(parameters["user_code"], realm, csrf)
        }
        guard let given = parameters["csrf"], ConstantTime.areEqual(given, csrf) || ConstantTime.areEqual(given, shown.token)
        else {
            throw OAuthErrorResponse(.forbidden, "access_denied", "The form is not one of this session")
        }
        let userCode = try parameters.required("user_code")
        let isDone = try await server.store.write { tx in
            guard let device = try tx.deviceCodes.device(showing: userCode, in: realm) else { return false }
            let grant = Grant(
                client: device.client, user: shown.session.user, scopes: device.scopes,
                authenticatedAt: shown.session.authenticatedAt, session: TokenHash(shown.token), nonce: nil)
            try tx.deviceCodes.decide(userCode, answer == "allow" ? .allowed(grant) : .denied)
            return true
        }
        guard isDone else { throw OAuthErrorResponse(.badRequest, "not_found", "The user code is invalid or has expired") }
        return HTMLPage.deviceAnswered(answer == "allow").response(at: server)
    }

    private func question(_ userCode: String?, _ realm: RealmPath, _ csrf: String) async throws -> Response {
        let device = try await server.store.read { tx in
            try userCode.flatMap { try tx.deviceCodes.device(showing: $0, in: realm) }
        }
        let page = device.map { HTMLPage.device($0, csrf: csrf) } ?? HTMLPage.deviceCode(isWrong: userCode != nil)
        return page.response(at: server)
    }

    private func loginPage(_ userCode: String?, _ realm: RealmPath) -> String {
        let query = userCode.map { "?user_code=\($0.percentEncoded())" } ?? ""
        let goto = "\(server.baseURL)\(Route.Address(.deviceUser, realm: realm).path)\(query)"
        return LoginController.address(server.baseURL, realm, goto: goto)
    }
}
