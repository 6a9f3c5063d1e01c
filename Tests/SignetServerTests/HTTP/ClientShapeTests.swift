import Foundation
import HTTPTypes
import SignetCore
import SignetTesting
import TestSupport
import Testing

@testable import SignetServer

/// The form of one SDK's requests, as sections 1.6, 2.1 and 4.3 of protocol/journey.md define it.
struct ClientShape: Sendable, CustomTestStringConvertible {
    var testDescription: String
    var authenticatePath = "/am/json/realms/root/authenticate"
    var headers: [String: String]
    /// The body of the first request; nil for none.
    var startBody: String?
    /// The query of every further request.
    var continueQuery = ""
    /// The members of a step that are sent back, besides the authId and the callbacks.
    var echoes: Set<String> = []
    /// Members that the SDK adds.
    var additions: [String: JSONValue] = [:]
    /// The types of callbacks that the SDK never sends back.
    var drops: Set<String> = []
    /// The places in which the session is sent: in a cookie, in the header of that name, or in both.
    var showsSession: (header: Bool, cookie: Bool)
    var authorizeHeaders: [String: String]
    /// The parameters of a token refresh, besides the token and the client.
    var refresh: [String: String]?
    /// True when form values are sent unencoded.
    var writesPlainForms = false
    var tokenHeaders: [String: String] = [:]
    var logoutHeaders: [String: String]
    var logoutBody: String?
    var sessionsPath = "/am/json/realms/root/sessions"

    static let all: [ClientShape] = [
        ClientShape(
            testDescription: "ForgeRock iOS 4.9",
            headers: [
                "accept-api-version": "resource=2.1,protocol=1.0", "Content-Type": "application/json",
                "Accept": "application/json", "x-requested-with": "forgerock-sdk", "x-requested-platform": "ios",
            ], startBody: nil, echoes: ["stage", "header", "description"], drops: ["TextOutputCallback"],
            showsSession: (true, true),
            authorizeHeaders: [
                "accept-api-version": "resource=2.1,protocol=1.0", "Content-Type": "application/x-www-form-urlencoded",
            ],
            refresh: ["scope": "openid profile", "response_type": "token"], writesPlainForms: true,
            tokenHeaders: ["accept-api-version": "resource=2.1,protocol=1.0"],
            logoutHeaders: ["accept-api-version": "resource=3.1", "Content-Type": "application/json"],
            logoutBody: "{\"tokenId\":\"TOKEN\"}"),
        ClientShape(
            testDescription: "ForgeRock Android 4.8",
            headers: [
                "Accept-API-Version": "resource=2.1, protocol=1.0", "Content-Type": "application/json; charset=utf-8",
                "x-requested-with": "forgerock-sdk", "x-requested-platform": "android",
            ], startBody: "", echoes: ["stage"], showsSession: (true, true),
            authorizeHeaders: ["Accept-API-Version": "resource=2.1, protocol=1.0"],
            refresh: ["scope": "openid profile", "response_type": "code"],
            tokenHeaders: ["Accept-API-Version": "resource=2.1, protocol=1.0"],
            logoutHeaders: ["Accept-API-Version": "resource=3.1, protocol=1.0", "Content-Type": "application/json"],
            logoutBody: ""),
        ClientShape(
            testDescription: "Ping iOS 2.0",
            headers: [
                "Accept-API-Version": "resource=2.1, protocol=1.0", "Content-Type": "application/json",
                "x-requested-with": "ping-sdk", "x-requested-platform": "ios", "Accept-Language": "en-US, en;q=0.9",
            ], startBody: "{}", continueQuery: "?noSession=false&ForceAuth=false", drops: ["MetadataCallback", "NovelCallback"],
            showsSession: (true, false), authorizeHeaders: ["Accept-API-Version": "resource=2.1, protocol=1.0"],
            refresh: [:], writesPlainForms: true,
            logoutHeaders: ["Accept-API-Version": "resource=3.1, protocol=1.0", "Content-Type": "application/json"],
            logoutBody: "{}"),
        ClientShape(
            testDescription: "ForgeRock JavaScript 4.8",
            headers: [
                "Accept-API-Version": "protocol=1.0,resource=2.1", "Content-Type": "application/json",
                "Accept": "application/json", "x-requested-with": "forgerock-sdk", "x-requested-platform": "javascript",
            ], startBody: nil, continueQuery: "?authIndexType=service&authIndexValue=JOURNEY",
            echoes: ["stage", "header", "description"], additions: ["status": .integer(200), "ok": .bool(true)],
            showsSession: (false, true), authorizeHeaders: [:], refresh: nil,
            logoutHeaders: ["Accept-API-Version": "protocol=1.0,resource=2.0"], logoutBody: nil,
            sessionsPath: "/am/json/realms/root/sessions/"),
    ]

    func session(_ token: String) -> [String: String] {
        var headers: [String: String] = [:]
        if showsSession.header { headers["iPlanetDirectoryPro"] = token }
        if showsSession.cookie { headers["Cookie"] = "amlbcookie=01; iPlanetDirectoryPro=\(token)" }
        return headers
    }

    /// Returns the body of the request that answers a step.
    func body(_ step: JSONValue, _ callbacks: [JourneyCallback]) throws -> String {
        let kept = callbacks.filter { !drops.contains($0.type) }
        var members: [String: JSONValue] = ["authId": try #require(step["authId"])]
        members["callbacks"] = try JSON.value(of: JSON.encode(kept))
        for name in echoes { members[name] = step[name] }
        return JSON.text(of: .object(members.merging(additions) { $1 }))
    }

    func form(_ parameters: [String: String]) -> String {
        guard writesPlainForms else { return TestServer.form(parameters) }
        return parameters.map { "\($0.key)=\($0.value)" }.joined(separator: "&")
    }
}

@Suite("Complete logins in the request format of each SDK")
struct ClientShapeTests {
    private func start(_ server: TestServer, _ shape: ClientShape, _ journey: String, session: String? = nil) async throws
        -> Reply
    {
        try await server.send(
            .post, "\(shape.authenticatePath)?authIndexType=service&authIndexValue=\(journey)",
            headers: shape.headers.merging(session.map(shape.session) ?? [:]) { $1 }, body: shape.startBody)
    }

    private func next(
        _ server: TestServer, _ shape: ClientShape, _ reply: Reply, _ journey: String, _ fill: (inout JourneyStep) -> Void
    ) async throws -> Reply {
        var step = try reply.step
        fill(&step)
        let query = shape.continueQuery.replacingOccurrences(of: "JOURNEY", with: journey)
        return try await server.send(
            .post, shape.authenticatePath + query, headers: shape.headers, body: try shape.body(reply.json, step.callbacks))
    }

    private func logIn(_ server: TestServer, _ shape: ClientShape, _ journey: String = "Login") async throws -> Reply {
        try await next(server, shape, try await start(server, shape, journey), journey) { step in
            step.fill("NameCallback", "mira")
            step.fill("PasswordCallback", .string(TestServer.password))
        }
    }

    @Test(
        "An SDK's user logs in, gets tokens, refreshes them, reads claims, revokes the tokens and logs out",
        arguments: ClientShape.all)
    func completesLoginTokensAndLogout(shape: ClientShape) async throws {
        try await TestServer.run { server in
            let session = try #require(try await logIn(server, shape).json["tokenId"]?.string)
            let again = try await start(server, shape, "Login", session: session)
            #expect(again.json["tokenId"] == .string(session))

            let redirect = try await server.authorize(
                nil, headers: shape.authorizeHeaders.merging(shape.session(session)) { $1 })
            #expect(redirect.status == 302)
            let code = try #require(try redirect.location["code"])
            func post(_ path: String, _ parameters: [String: String]) async throws -> Reply {
                let headers = shape.tokenHeaders.merging(["Content-Type": "application/x-www-form-urlencoded"]) { $1 }
                return try await server.send(.post, "\(TestServer.oauth)/\(path)", headers: headers, body: shape.form(parameters))
            }
            var tokens = try Tokens(
                try await post(
                    "access_token",
                    [
                        "grant_type": "authorization_code", "code": code, "redirect_uri": TestServer.redirectURI,
                        "client_id": "app",
                        "code_verifier": TestServer.verifier,
                    ]))
            if let refresh = shape.refresh {
                let own = [
                    "grant_type": "refresh_token", "refresh_token": try #require(tokens.refresh), "client_id": "app",
                ]
                tokens = try Tokens(try await post("access_token", own.merging(refresh) { $1 }))
            }
            #expect(try await server.userInfo(tokens.access).json["sub"] == "mira")

            let revoked = try await post("token/revoke", ["token": tokens.refresh ?? tokens.access, "client_id": "app"])
            #expect(revoked.text == "{}")
            #expect(try await server.userInfo(tokens.access).status == 401)
            let out = try await server.sessionAction(
                "logout", shape.logoutHeaders.merging(shape.session(session)) { $1 }, at: shape.sessionsPath,
                body: shape.logoutBody?.replacingOccurrences(of: "TOKEN", with: session))
            #expect(out.text == "{\"result\":\"Successfully logged out\"}")
            #expect(try await start(server, shape, "Login", session: session).json["authId"] != nil)
        }
    }

    @Test(
        "A login succeeds without the callbacks that an SDK omits from its answers", arguments: ClientShape.all,
        ["TextOutputCallback", "MetadataCallback", "NovelCallback"])
    func acceptsOmittedCallbacks(shape: ClientShape, journey: String) async throws {
        try await TestServer.run { server in
            let shown = try await logIn(server, shape, journey)
            let reply = try await next(server, shape, shown, journey) { step in
                // The SDKs for iOS send numbers as strings.
                step.fill("ConfirmationCallback", shape.testDescription.contains("iOS") ? "0" : .integer(0))
            }
            #expect(reply.json["tokenId"] != nil, "\(reply.text)")
        }
    }

    @Test("A failed or timed-out login has the error body that the SDK reads", arguments: ClientShape.all)
    func failuresHaveBodyThatSDKReads(shape: ClientShape) async throws {
        try await TestServer.run { server in
            let first = try await start(server, shape, "Login")
            let failure = try await next(server, shape, first, "Login") { _ in }
            #expect(failure.status == 401)
            #expect(failure.json["reason"] == "Unauthorized")
            #expect(failure.message == "Login failure")
            let late = try await start(server, shape, "Login")
            server.clock.advance(by: 301)
            let timeout = try await next(server, shape, late, "Login") { _ in }
            #expect(timeout.status == 401)
            #expect(timeout.json["detail"]?["errorCode"] == "110")
        }
    }
}
