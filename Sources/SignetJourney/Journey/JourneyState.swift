public import SignetCore

/// The state of a journey after a response of the server.
public enum JourneyState: Sendable, Hashable {
    /// The server requests input, shows a message, or asks the client to wait.
    case step(JourneyStep)
    /// The user is logged in.
    case loggedIn(SSOToken)
    /// The journey succeeded without a new session, because none was requested or the journey creates none. An existing session
    /// stays unchanged.
    case completed(JourneyCompletion)
}

/// The result of a journey that creates no session.
public struct JourneyCompletion: Sendable, Hashable {
    /// The address to which the server would redirect a browser.
    public let successURL: String?
    /// The realm, with a leading slash.
    public let realm: String?
    /// True when the server sent an empty session token instead of none, as at the end of a journey that passes the user through.
    package var hasEmptyToken = false
}

extension JourneyState {
    /// The maximum number of callbacks of a step.
    ///
    /// A page of AM has about ten. Each callback can make the client ask a question, collect data or print a text, so a server could
    /// otherwise keep a client busy with one response.
    private static var maxCallbacks: Int { 1000 }

    /// Reads a successful response (protocol/journey.md section 2.3): a step, a session, or the end of a journey without a
    /// session.
    /// - Throws: ``JourneyError/Code/serverMisbehaved``, also for a step with more than ``maxCallbacks`` callbacks.
    init(_ body: [UInt8], status: Int) throws(JourneyError) {
        guard let json = try? JSON.value(of: body), let members = json.object else {
            throw JourneyError(
                .serverMisbehaved, status: status, message: "the answer is not JSON; check that the address is that of an AM",
                isRetryable: true)
        }
        if let authID = members["authId"] {
            guard authID != .string("") else {
                throw JourneyError(.serverMisbehaved, status: status, message: "the step has an empty authId")
            }
            let count = members["callbacks"]?.array?.count ?? 0
            guard count <= Self.maxCallbacks else {
                throw JourneyError(
                    .serverMisbehaved, status: status, message: "the step has \(count) callbacks, of at most \(Self.maxCallbacks)"
                )
            }
            do {
                self = .step(try JourneyStep(json: json).proposing())
            } catch {
                throw JourneyError(
                    .serverMisbehaved, status: status, message: "the step cannot be read: \(error)",
                    isInvalidCallback: error.name.hasPrefix("callbacks["))
            }
            return
        }
        guard ["tokenId", "successUrl", "realm"].contains(where: { members[$0]?.string != nil }) else {
            throw JourneyError(.serverMisbehaved, status: status, message: "the response contains neither a step nor a session")
        }
        let (successURL, realm) = (members["successUrl"]?.string, members["realm"]?.string)
        let token = members["tokenId"]?.string
        if let token, !token.isEmpty {
            self = .loggedIn(SSOToken(value: Secret(token.utf8), successURL: successURL, realm: realm))
        } else {
            self = .completed(JourneyCompletion(successURL: successURL, realm: realm, hasEmptyToken: token != nil))
        }
    }
}
