#if PostgreSQL
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import Testing
import TestSupport

/// The state that responses confirmed, which must stay true whatever happens to the instance that sent them.
actor AcceptedState {
    /// A device's answer that the server accepted.
    struct Answer: Sendable {
        let messageID: String
        let jwt: String
    }

    private(set) var answers: [Answer] = []
    private(set) var sessions: [String] = []
    private(set) var accessTokens: [String] = []
    /// The number of completed logins.
    private(set) var logins = 0
    /// The number of logins whose request was lost with a killed instance, so that their outcome is unknown.
    private(set) var restarts = 0
    /// An action that runs when this number of logins has completed.
    private let middle: (count: Int, action: @Sendable () -> Void)?

    init(at middle: (count: Int, action: @Sendable () -> Void)? = nil) { self.middle = middle }

    func add(_ answer: Answer) { answers.append(answer) }
    func add(session: String) { sessions.append(session) }
    func restart() { restarts += 1 }

    func finish(accessToken: String) {
        accessTokens.append(accessToken)
        logins += 1
        if let middle, logins == middle.count { middle.action() }
    }
}

/// A user with a push device at two instances.
///
/// Each request goes to the other instance than the request before. The device holds its stream open at one of them, and goes to
/// the other when that one is gone.
actor PushUser {
    static let redirectURI = "http://127.0.0.1/callback"
    private static let verifier = "dBjftJeZ4CVP-mB92K27uhbUJU1p1r_wW1gFWFOEjXk"
    private static let authenticate = "/json/realms/root/authenticate"
    private static let oauth = "/oauth2/realms/root"

    private let number: Int
    private let pair: InstancePair
    private let accepted: AcceptedState
    private let invitation: PushInvitation
    private let uid: String
    private var turn: Int
    /// The messages that arrived, by the name that the login gave itself.
    private var inbox: [String: PushDelivery] = [:]
    private var lastEventID: String?
    private(set) var repeatedDeliveries = 0

    // MARK: Registration

    /// Registers a device: the journey runs at one instance, and the device answers at the other.
    static func registered(_ number: Int, at pair: InstancePair, _ accepted: AcceptedState) async throws -> PushUser {
        let first = number % 2
        let begun = try await pair.send("POST", path("PushRegistration"), headers: json, body: "{}", at: first)
        let step = try filled(try #require(begun), number)
        let offer = try #require(try await pair.send("POST", authenticate, headers: json, body: step, at: 1 - first))
        let uri = try #require(try JSON.decode(JourneyStep.self, from: offer.body).hiddenValue("mfaDeviceRegistration"))
        let user = PushUser(number, pair, accepted, try #require(try EnrollmentURI.parse(uri).push))
        try await user.register()
        let end = try #require(try await pair.send("POST", authenticate, headers: json, body: offer.text, at: 1 - first))
        try #require(end.json["tokenId"]?.string != nil, "\(end.text)")
        return user
    }

    private init(_ number: Int, _ pair: InstancePair, _ accepted: AcceptedState, _ invitation: PushInvitation) {
        (self.number, self.pair, self.accepted, self.invitation) = (number, pair, accepted, invitation)
        (uid, turn) = ("device-\(number)", number)
    }

    private func register() async throws {
        let claims: [String: JSONValue] = [
            "response": .string(PushClaims.response(to: invitation.challenge, secret: invitation.secret)),
            "mechanismUid": .string(uid), "deviceId": .string("device"), "deviceName": .string("Test phone"),
            "deviceType": .string("android"), "communicationType": .string("gcm"),
        ]
        let body = Self.message(invitation.messageID, jwt: jwt(claims))
        let reply = try await ask("POST", path(of: invitation.registrationEndpoint), Self.json, body).reply
        try #require(reply.status == 200, "\(reply.text)")
    }

    // MARK: Login

    /// Logs in by push and gets tokens, and starts again where a killed instance leaves the outcome unknown.
    ///
    /// With `twice`, the device's answer and the browser's poll go to both instances at the same instant.
    func logIn(_ login: Int, twice: Bool) async throws {
        for attempt in 0..<3 {
            guard let session = try await session("login \(login).\(attempt)", twice: twice) else {
                await accepted.restart()
                continue
            }
            await accepted.add(session: session)
            guard let token = try await accessToken(session) else {
                await accepted.restart()
                continue
            }
            return await accepted.finish(accessToken: token)
        }
        Issue.record("a login of \(uid) did not complete")
    }

    /// Returns the session, or nil when the request that would have continued the login was cut off.
    private func session(_ agent: String, twice: Bool) async throws -> String? {
        let begun = try await ask("POST", Self.path("PushLogin"), Self.json + [("User-Agent", agent)], "{}").reply
        let (waiting, wasCut) = try await ask("POST", Self.authenticate, Self.json, try Self.filled(begun, number))
        guard waiting.json["authId"] != nil else {
            try #require(wasCut, "\(agent): \(waiting.status) \(waiting.text)")
            return nil
        }
        try await answer(try await delivery(agent), twice: twice)
        if twice {
            let ends = try await atBoth("POST", Self.authenticate, Self.json, waiting.text)
            let sessions = ends.compactMap { $0.json["tokenId"]?.string }
            try #require(sessions.count == 1, "\(agent): \(ends.map(\.text))")
            return sessions[0]
        }
        let (end, endWasCut) = try await ask("POST", Self.authenticate, Self.json, waiting.text)
        if end.json["tokenId"] == nil { try #require(endWasCut && end.status == 401, "\(agent): \(end.status) \(end.text)") }
        return end.json["tokenId"]?.string
    }

    private func answer(_ delivery: PushDelivery, twice: Bool) async throws {
        let message = try SealedPushMessage(delivery.message).open(with: invitation.secret)
        let jwt = jwt(["response": .string(PushClaims.response(to: message.challenge, secret: invitation.secret))])
        let body = Self.message(delivery.messageId, jwt: jwt)
        let path = path(of: invitation.authenticationEndpoint)
        if twice {
            let statuses = try await atBoth("POST", path, Self.json, body).map(\.status)
            try #require(statuses == [200, 200])
        } else {
            // The request that was cut off counted or not; the repeated one makes sure that it counts once.
            let reply = try await ask("POST", path, Self.json, body).reply
            try #require(reply.status == 200, "\(reply.status) \(reply.text)")
        }
        await accepted.add(AcceptedState.Answer(messageID: delivery.messageId, jwt: jwt))
    }

    /// Returns the token, or nil when the exchange was cut off: the code may be used up.
    private func accessToken(_ session: String) async throws -> String? {
        let query = FormCoding.encode([
            ("response_type", "code"), ("client_id", "app"), ("redirect_uri", Self.redirectURI), ("scope", "openid"),
            ("code_challenge", ProofKey.challenge(for: Self.verifier)), ("code_challenge_method", "S256"), ("state", "x"),
        ])
        let allowed = try await ask("GET", "\(Self.oauth)/authorize?\(query)", [("iPlanetDirectoryPro", session)], "").reply
        let code = try #require(
            FormCoding.query(of: allowed.headers["Location"] ?? "")["code"], "\(allowed.status) \(allowed.text)")
        let body = FormCoding.encode([
            ("grant_type", "authorization_code"), ("code", code), ("client_id", "app"), ("redirect_uri", Self.redirectURI),
            ("code_verifier", Self.verifier),
        ])
        let form = [("Content-Type", "application/x-www-form-urlencoded")]
        let (reply, wasCut) = try await ask("POST", "\(Self.oauth)/access_token", form, body)
        if reply.status != 200 { try #require(wasCut && reply.status == 400, "\(reply.status) \(reply.text)") }
        return reply.json["access_token"]?.string
    }

    // MARK: Messages

    /// Holds the device's stream open until the task is canceled.
    func listen() async throws {
        var candidate = number + 1
        while !Task.isCancelled {
            let index = pair.isKilled(candidate % 2) ? candidate + 1 : candidate
            do {
                try await stream(at: index % 2)
            } catch {
                guard pair.isKilled(index % 2) || Task.isCancelled else { throw error }
            }
            candidate += 1
        }
    }

    private func stream(at index: Int) async throws {
        let server = "/json/push/stream"
        let challenge = try await pair.send("GET", server, at: index)?.headers["WWW-Authenticate"] ?? ""
        let parts = challenge.split(separator: "\"")
        guard parts.count == 2 else { throw Missing(description: "no nonce: \(challenge)") }
        let proof = CompactJWS.sign(
            JSON.encode(PushStreamProof(mechanismUid: uid, nonce: String(parts[1]))), with: invitation.secret)
        let last = lastEventID.map { [("Last-Event-ID", $0)] } ?? []
        let request = pair.request(
            "GET", server, headers: [("Authorization", "\(PushStreamProof.scheme) \(proof)")] + last, at: index)
        let events = EventReader()
        // A transport of its own: it has a limited number of connections to a server, and a stream occupies one.
        try await AsyncHTTPTransport().use { transport in
            _ = try await transport.stream(request) { piece in
                for event in try await events.feed(piece) { try await self.receive(event) }
            }
        }
    }

    private func receive(_ event: ServerSentEvent) throws {
        guard event.name == PushStreamProof.eventName else { return }
        lastEventID = event.id
        let delivery = try JSON.decode(PushDelivery.self, from: event.data.utf8)
        let message = try SealedPushMessage(delivery.message).open(with: invitation.secret)
        let context = try JSON.value(of: Array((message.contextInfo ?? "{}").utf8))
        let agent = try #require(context["userAgent"]?.string)
        if inbox.updateValue(delivery, forKey: agent) != nil { repeatedDeliveries += 1 }
    }

    /// Returns the message of a login, which the stream delivers.
    private func delivery(_ agent: String) async throws -> PushDelivery {
        for _ in 0..<12_000 {
            if let delivery = inbox[agent] { return delivery }
            try await Task.sleep(for: .milliseconds(5))
        }
        throw Missing(description: "no message came to \(uid) for \(agent)")
    }

    // MARK: Requests

    /// Asks the instance whose turn it is, and the other one when it was killed meanwhile: the first request may have counted.
    private func ask(
        _ method: String, _ path: String, _ headers: [(String, String)], _ body: String
    ) async throws -> (reply: HTTPResponse, wasCut: Bool) {
        turn += 1
        let index = pair.isKilled(turn % 2) ? 1 - turn % 2 : turn % 2
        if let reply = try await pair.send(method, path, headers: headers, body: body, at: index) { return (reply, false) }
        return (try #require(try await pair.send(method, path, headers: headers, body: body, at: 1 - index)), true)
    }

    private func atBoth(
        _ method: String, _ path: String, _ headers: [(String, String)], _ body: String
    ) async throws -> [HTTPResponse] {
        async let one = pair.send(method, path, headers: headers, body: body, at: 0)
        async let other = pair.send(method, path, headers: headers, body: body, at: 1)
        return [try #require(try await one), try #require(try await other)]
    }

    private static let json = [("Content-Type", "application/json")]

    private static func path(_ journey: String) -> String {
        "\(authenticate)?authIndexType=service&authIndexValue=\(journey)"
    }

    /// Returns the path and query of an endpoint below the context path: it names the registering instance, and any will do.
    private func path(of endpoint: Endpoint) -> String {
        let url = pair.instances.map(\.url).first { endpoint.url.hasPrefix($0) } ?? ""
        return String(endpoint.url.dropFirst(url.count))
    }

    private func jwt(_ claims: [String: JSONValue]) -> String {
        CompactJWS.sign(JSON.encode(.object(claims)), with: invitation.secret)
    }

    private static func message(_ id: String, jwt: String) -> String {
        JSON.text(of: PushRequestBody(messageId: id, jwt: jwt))
    }

    /// Returns a first step with name and password filled in.
    private static func filled(_ response: HTTPResponse, _ user: Int) throws -> String {
        var step = try JSON.decode(JourneyStep.self, from: response.body)
        for index in step.callbacks.indices {
            switch step.callbacks[index].type {
            case "NameCallback": step.callbacks[index].answer(.string(InstancePair.name(user)))
            case "PasswordCallback": step.callbacks[index].answer(.string(InstancePair.password))
            default: break
            }
        }
        return String(decoding: try JSON.encode(step), as: UTF8.self)
    }
}

/// An error for an expected message that did not arrive.
struct Missing: Error, CustomStringConvertible {
    let description: String
}

/// Reads events of a stream piece by piece.
private actor EventReader {
    private var parser = ServerSentEvent.Parser()
    func feed(_ piece: [UInt8]) throws -> [ServerSentEvent] { try parser.feed(piece) }
}
#endif
