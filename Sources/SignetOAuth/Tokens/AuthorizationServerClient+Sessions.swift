import SignetCore
import SignetNetwork

/// The requests to AM's sessions resource.
extension AuthorizationServerClient {
    /// The versions of the sessions resource (protocol/journey.md section 1.7).
    enum SessionsVersion: String {
        /// The version of AM.
        case newest = "3.1"
        /// The version of OpenAM, which responds with 404 to newer ones.
        case openAM = "2.0"
    }

    /// Ends a session of AM.
    func logOut(_ session: SSOToken, cookies: CookieJar) async throws {
        let response = try await ask(session, "logout", cookies, for: .logout)
        // A session that has already ended returns 401, and then nothing is left to do.
        if response.status == 401, isSessionGone(response) { return }
        try mustBeDone(response, from: known.session ?? "")
    }

    /// The server's answer about the state of a session.
    enum SessionAnswer {
        /// The server states explicitly that the session has ended.
        case over
        /// The session is valid.
        case alive
        /// The state is unknown. The error states the reason; it is nil when the server has no sessions endpoint.
        case unknown((any Error)?)
    }

    /// Asks the server for the state of a session.
    func state(of session: SSOToken, cookies: CookieJar) async -> SessionAnswer {
        guard known.session != nil else { return .unknown(nil) }
        do {
            let response = try await ask(session, "getSessionInfo", cookies, for: .sessionInfo)
            if response.status == 401, isSessionGone(response) { return .over }
            _ = try members(response)
            return .alive
        } catch {
            return .unknown(error)
        }
    }

    /// Returns true for AM's own error `{"code":401,"reason":"Unauthorized",…}`.
    ///
    /// The error of a proxy in front of AM has another form.
    private func isSessionGone(_ response: HTTPResponse) -> Bool {
        (try? JSON.value(of: response.body))?["code"]?.lenientInteger == 401
    }

    /// Sends a request to the sessions resource.
    ///
    /// Asks with the other version when the server responds with 404, unless the profile sets the server's variant, and keeps to
    /// the version that succeeds.
    private func ask(
        _ session: SSOToken, _ action: String, _ cookies: CookieJar, for purpose: RequestAction
    ) async throws -> HTTPResponse {
        dialect.recall(session)
        let isOpenAM = dialect.current == .openAM
        let response = try await ask(session, action, isOpenAM ? .openAM : .newest, cookies, for: purpose)
        guard response.status == 404, dialect.setting == nil else { return response }
        let second = try await ask(session, action, isOpenAM ? .newest : .openAM, cookies, for: purpose)
        if (200..<300).contains(second.status) { dialect.show(isOpenAM ? .accessManager : .openAM) }
        return second
    }

    private func ask(
        _ session: SSOToken, _ action: String, _ version: SessionsVersion, _ cookies: CookieJar, for purpose: RequestAction
    ) async throws -> HTTPResponse {
        guard let address = known.session else { throw OAuthError(.notConfigured, explanation: "the server has no sessions") }
        let url = FormCoding.address(try checked(address), adding: [("_action", action)])
        var headers = headers(session, for: url, cookies)
        headers.append("Accept-API-Version", "resource=\(version.rawValue), protocol=1.0")
        headers.append("Content-Type", "application/json")
        headers.append("Accept", "application/json")
        return try await send("POST", url, headers: headers, body: Array("{}".utf8), for: purpose).response
    }
}
