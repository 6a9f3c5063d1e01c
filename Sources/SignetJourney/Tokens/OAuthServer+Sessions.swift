import SignetCore
import SignetNetwork
import Synchronization

/// AM's sessions resource.
extension OAuthServer {
    /// The versions that are asked for (protocol/journey.md section 1.7).
    enum SessionsVersion: String {
        /// AM's.
        case newest = "3.1"
        /// OpenAM's, which answers 404 to newer ones.
        case openAM = "2.0"
    }

    /// Ends AM's session.
    func logOut(_ session: SSOToken, cookies: CookieJar) async throws {
        let response = try await ask(session, "logout", cookies, for: .logout)
        // A session that is over already answers 401, and is as over as it can be.
        if response.status == 401, isSessionGone(response) { return }
        try mustBeDone(response)
    }

    /// What the server says of a session.
    enum SessionAnswer {
        /// In so many words, that it is over.
        case over
        /// That it is not.
        case alive
        /// Nothing, and why; nil where there is nobody to ask.
        case unknown((any Error)?)
    }

    /// Whether a session is over.
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

    /// `{"code":401,"reason":"Unauthorized",…}`: AM's own refusal, and not that of something in front of it.
    private func isSessionGone(_ response: HTTPResponse) -> Bool {
        (try? JSON.value(of: response.body))?["code"]?.wholeNumber == 401
    }

    /// Asks the sessions resource, with version 2.0 where the server answers 404 to 3.1; a version that was understood is used from then on.
    private func ask(
        _ session: SSOToken, _ action: String, _ cookies: CookieJar, for purpose: RequestAction
    ) async throws -> HTTPResponse {
        let version = sessionsVersion.withLock { $0 } ?? (given.dialect == .openAM ? .openAM : .newest)
        let response = try await ask(session, action, version, cookies, for: purpose)
        guard response.status == 404, version == .newest else { return response }
        let second = try await ask(session, action, .openAM, cookies, for: purpose)
        if (200..<300).contains(second.status) { sessionsVersion.withLock { $0 = .openAM } }
        return second
    }

    private func ask(
        _ session: SSOToken, _ action: String, _ version: SessionsVersion, _ cookies: CookieJar, for purpose: RequestAction
    ) async throws -> HTTPResponse {
        guard let place = known.session else { throw OAuthError(.notConfigured, explanation: "the server has no sessions") }
        let url = FormCoding.address(try checked(place), adding: [("_action", action)])
        var headers = headers(session, for: url, cookies)
        headers.append("Accept-API-Version", "resource=\(version.rawValue), protocol=1.0")
        headers.append("Content-Type", "application/json")
        headers.append("Accept", "application/json")
        return try await send("POST", url, headers: headers, body: Array("{}".utf8), for: purpose).response
    }
}
