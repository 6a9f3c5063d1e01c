public import SignetCore

/// Where a journey stands after an answer of the server.
public enum JourneyState: Sendable, Hashable {
    /// The server asks, tells, or wants to be asked again later.
    case step(JourneyStep)
    /// The person is logged in.
    case loggedIn(SSOToken)
    /// The journey came to its good end without a new session: none was asked for, or the journey makes none. A session that there
    /// was before is untouched.
    case passed(JourneyCompletion)
}

/// The end of a journey that makes no session.
public struct JourneyCompletion: Sendable, Hashable {
    /// Where the server would send a browser.
    public let successURL: String?
    /// The realm, with a slash in front.
    public let realm: String?
}

extension JourneyState {
    /// What a successful answer means (protocol/journey.md section 2.3): a step, a session, or the end without one.
    /// - Throws: ``JourneyError/Code/serverMisbehaved``.
    init(_ body: [UInt8], status: Int) throws(JourneyError) {
        guard let json = try? JSON.value(of: body), let members = json.object else {
            throw JourneyError(
                .serverMisbehaved, status: status, message: "the answer is not JSON; is this an AM?", isRetryable: true)
        }
        if members["authId"] != nil {
            do {
                self = .step(try JourneyStep(json: json).proposing())
            } catch {
                throw JourneyError(.serverMisbehaved, status: status, message: "the step cannot be read: \(error)")
            }
            return
        }
        guard ["tokenId", "successUrl", "realm"].contains(where: { members[$0]?.string != nil }) else {
            throw JourneyError(.serverMisbehaved, status: status, message: "neither a step nor a session came")
        }
        let (successURL, realm) = (members["successUrl"]?.string, members["realm"]?.string)
        if let token = members["tokenId"]?.string, !token.isEmpty {
            self = .loggedIn(SSOToken(value: Secret(token.utf8), successURL: successURL, realm: realm))
        } else {
            self = .passed(JourneyCompletion(successURL: successURL, realm: realm))
        }
    }
}
