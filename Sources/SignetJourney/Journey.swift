public import SignetCore
public import SignetNetwork

/// A walk through one of a server's login journeys: start it, answer its steps, and end with a session or an error.
///
/// A value without state: the step carries the server's handle, so several walks may go on side by side.
public struct Journey: Sendable {
    private let profile: ServerProfile
    private let transport: any HTTPTransport

    /// Journeys of one server.
    public init(_ profile: ServerProfile, transport: any HTTPTransport) {
        self.profile = profile
        self.transport = transport
    }

    /// Starts the journey called `name`, for example `Login`.
    /// - Throws: ``JourneyError``, `TransportError`.
    public func start(_ name: String) async throws -> JourneyState {
        try await post(
            profile.authenticateURL(query: [("authIndexType", "service"), ("authIndexValue", name)]), body: Array("{}".utf8))
    }

    /// Sends a step whose callbacks have been filled in. A step that only waits is sent back as it is.
    /// - Throws: ``JourneyError``, `TransportError`.
    public func next(_ step: JourneyStep) async throws -> JourneyState {
        try await post(profile.authenticateURL(), body: try JSON.encode(step))
    }

    private func post(_ url: String, body: [UInt8]) async throws -> JourneyState {
        let response = try await transport.send(
            HTTPRequest(
                "POST", url,
                headers: [
                    "Accept-API-Version": "resource=2.1, protocol=1.0", "Content-Type": "application/json",
                    "Accept": "application/json",
                ], body: body))
        guard let json = try? JSON.value(of: response.body), json.object != nil else {
            throw JourneyError(.serverMisbehaved, status: response.status, message: "the answer is not JSON; is this an AM?")
        }
        guard (200..<300).contains(response.status) else { throw JourneyError(status: response.status, body: json) }
        guard json["authId"] != nil else {
            guard ["tokenId", "successUrl", "realm"].contains(where: { json[$0] != nil }) else {
                throw JourneyError(.serverMisbehaved, status: response.status, message: "neither a step nor a session came")
            }
            return .loggedIn(JourneySession(json))
        }
        guard let step = try? JSON.decode(JourneyStep.self, from: response.body) else {
            throw JourneyError(.serverMisbehaved, status: response.status, message: "the step cannot be read")
        }
        return .step(step)
    }
}

/// Where a walk stands.
public enum JourneyState: Sendable, Hashable {
    /// The server asks, tells, or wants to be asked again later.
    case step(JourneyStep)
    /// The person is logged in.
    case loggedIn(JourneySession)
}

/// What a server gives at the end of a journey.
public struct JourneySession: Sendable, Hashable {
    /// The session token; nil when the journey ends without a session.
    public let token: Secret?
    /// Where the server would send a browser.
    public let successURL: String?
    /// The realm, with a slash in front.
    public let realm: String?

    init(_ json: JSONValue) {
        token = json["tokenId"]?.string.map { Secret($0.utf8) }
        successURL = json["successUrl"]?.string
        realm = json["realm"]?.string
    }
}
