import Foundation
import HTTPTypes
import HummingbirdTesting
import Logging
import NIOCore
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// A received answer of the server.
struct Reply: Sendable {
    let status: Int
    let headers: HTTPFields
    let text: String
    let json: JSONValue

    init(_ response: TestResponse) {
        status = response.status.code
        headers = response.headers
        text = String(buffer: response.body)
        json = (try? JSON.value(of: response.body.readableBytesView)) ?? .null
    }

    func header(_ name: String) -> String? { headers.first { $0.name.canonicalName == name.lowercased() }?.value }
    var message: String? { json["message"]?.string }
    var cookies: [String] { headers[values: .setCookie] }

    /// The journey step in the answer.
    var step: JourneyStep {
        get throws { try JSON.decode(JourneyStep.self, from: text.utf8) }
    }
}

extension ServerConfiguration {
    /// A configuration with two users in the root realm, one of them also in `/alpha` with another password, and short poll intervals.
    static func sample(_ configure: (inout Self) -> Void = { _ in }) -> ServerConfiguration {
        ServerConfiguration { configuration in
            configuration.users = [
                User(name: "mira", password: Secret(TestServer.password.utf8)),
                User(
                    name: "noa", password: Secret("staple".utf8),
                    claims: ["given_name": "Noa", "email": "noa@example.test", "department": "Lab"]),
                User(name: "mira", password: Secret("other".utf8), realm: "/alpha"),
            ]
            configuration.pollInterval = .seconds(1)
            configuration.clients = TestServer.clients
            configuration.signingKey = TestServer.signingKey
            configure(&configuration)
        }
    }
}

extension TestServer {
    static let password = "correct horse"

    /// Runs `body` with a server of the sample configuration.
    static func run(logger: Logger = .silent, _ body: @Sendable (TestServer) async throws -> Void) async throws {
        try await run(.sample(), logger: logger, body)
    }

    func send(
        _ method: HTTPRequest.Method, _ uri: String, headers: [String: String] = ["Content-Type": "application/json"],
        body: String? = nil
    ) async throws -> Reply {
        var fields: HTTPFields = [:]
        for (name, value) in headers { fields[try #require(HTTPField.Name(name))] = value }
        return Reply(
            try await client.executeRequest(uri: uri, method: method, headers: fields, body: body.map { ByteBuffer(string: $0) }))
    }

    func post(_ uri: String, _ body: some Encodable) async throws -> Reply {
        try await send(.post, uri, body: String(decoding: try JSON.encode(body), as: UTF8.self))
    }

    func post(_ uri: String, _ body: PushRequestBody) async throws -> Reply {
        try await send(.post, uri, body: JSON.text(of: body))
    }

    /// The pending messages of a mechanism.
    func inbox(_ mechanismUID: String) async throws -> [PushMessageRecord] {
        try await devServer.context.store.read { tx in
            try tx.pushes.retained(for: mechanismUID, after: nil)
        }
    }
}

// MARK: - Journeys

extension TestServer {
    static let authenticate = "/am/json/realms/root/authenticate"

    func start(_ journey: String, at path: String = authenticate, query: String = "") async throws -> Reply {
        try await send(.post, "\(path)?authIndexType=service&authIndexValue=\(journey)\(query)", body: "{}")
    }

    func next(_ step: JourneyStep, at path: String = authenticate) async throws -> Reply {
        try await post(path, step)
    }

    /// Fills in the name and the password and returns the next answer.
    func logIn(
        _ journey: String, name: String = "mira", password: String = password, at path: String = authenticate, query: String = ""
    ) async throws -> Reply {
        var step = try await start(journey, at: path, query: query).step
        step.fill("NameCallback", .string(name))
        step.fill("PasswordCallback", .string(password))
        return try await next(step, at: path)
    }

    /// Waits as long as the step requires and sends the step again.
    func poll(_ step: JourneyStep, at path: String = authenticate) async throws -> Reply {
        clock.advance(by: Double(try #require(step.waitMilliseconds)) / 1000)
        return try await next(step, at: path)
    }

    /// Registers a phone through a complete journey.
    func registeredPhone(
        _ journey: String = "PushRegistration", uid: String = "phone-1", name: String = "mira", password: String = password,
        at path: String = authenticate
    ) async throws -> Phone {
        let step = try await logIn(journey, name: name, password: password, at: path).step
        let phone = try Phone(uri: try step.registrationURI, uid: uid)
        #expect(try await phone.register(at: self).status == 200)
        #expect(try await poll(step, at: path).json["tokenId"] != nil)
        return phone
    }

    /// Starts a login that waits for its push message.
    func waitingLogin(_ journey: String = "PushLogin", phone: Phone) async throws -> (step: JourneyStep, push: PushMessageRecord)
    {
        let step = try await logIn(journey).step
        return (step, try #require(try await inbox(phone.uid).last))
    }
}

extension JourneyStep {
    /// The enrollment URI in the step.
    var registrationURI: String {
        get throws { try #require(hiddenValue("mfaDeviceRegistration")) }
    }

    /// Answers the first callback of a type.
    mutating func fill(_ type: String, _ value: JSONValue) {
        guard let index = callbacks.firstIndex(where: { $0.type == type }) else { return }
        callbacks[index].answer(value)
    }
}

// MARK: - Phones

/// A device that answers push messages, correctly or not.
struct Phone: Sendable {
    let uid: String
    let enrollment: Enrollment
    let invitation: PushInvitation

    init(uri: String, uid: String) throws {
        enrollment = try EnrollmentURI.parse(uri)
        invitation = try #require(enrollment.push)
        self.uid = uid
    }

    var secret: Secret { invitation.secret }

    var registration: [String: JSONValue] {
        [
            "response": .string(PushClaims.response(to: invitation.challenge, secret: secret)), "mechanismUid": .string(uid),
            "deviceId": "token", "deviceName": "Test phone", "deviceType": "android", "communicationType": "gcm",
        ]
    }

    func register(at server: TestServer, claims: [String: JSONValue]? = nil) async throws -> Reply {
        let jwt = CompactJWS.sign(try JSON.encode(claims ?? registration), with: secret)
        return try await server.post(
            path(invitation.registrationEndpoint), PushRequestBody(messageId: invitation.messageID, jwt: jwt))
    }

    func response(to push: PushMessageRecord) throws -> JSONValue {
        let message = try SealedPushMessage(push.sealed).open(with: secret)
        return .string(PushClaims.response(to: message.challenge, secret: secret))
    }

    /// Sends any claims, with the right response unless they contain one.
    func answer(_ push: PushMessageRecord, _ claims: [String: JSONValue] = [:], at server: TestServer) async throws -> Reply {
        let right = ["response": try response(to: push)]
        let all = claims.merging(right) { own, _ in own }
        return try await send(push.messageID, CompactJWS.sign(try JSON.encode(all), with: secret), at: server)
    }

    func send(_ messageID: String, _ jwt: String, at server: TestServer) async throws -> Reply {
        try await server.post(path(invitation.authenticationEndpoint), PushRequestBody(messageId: messageID, jwt: jwt))
    }

    /// Returns the path and query of an endpoint; an in-process test has no socket to send to.
    func path(_ endpoint: Endpoint) -> String {
        String(endpoint.url.dropFirst("http://".count).drop { $0 != "/" })
    }
}
