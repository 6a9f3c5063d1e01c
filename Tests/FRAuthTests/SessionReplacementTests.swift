import FRAuth
import FRCore
import Foundation
import SignetCore
import SignetNetwork
import SignetTesting
import TestSupport
import Testing

import class FRAuth.AccessToken

/// Journeys of a user that is logged in (protocol/journey.md section 3.2), and the completions of a user's calls.
@Suite("A user of FRAuth with a session")
struct SessionReplacementTests {
    /// The question whether journeys create a new session.
    private final class Question: Sendable {
        let isNew = Mutex(false)
    }

    /// Runs a program whose journeys send no session, so that each of them creates a new one, while the answer is true.
    private func with(_ question: Question, _ fixture: FRAuthFixture, _ body: () async throws -> Void) async throws {
        let network = AsyncHTTPTransport()
        let transport = ScriptedTransport { (request) throws(TransportError) in
            let isNew = question.isNew.withLock { $0 }
            guard isNew, request.url.contains("/authenticate") else { return try await network.send(request) }
            var other = request
            other.headers = [:]
            for field in request.headers.fields where !["iPlanetDirectoryPro", "Cookie"].contains(field.name) {
                other.headers.append(field.name, field.value)
            }
            return try await network.send(other)
        }
        try await fixture.program {
            $0.transport = transport
        } _: {
            try FRAuth.start(options: fixture.options)
            try await body()
        }
        await network.close()
    }

    @Test("A journey's new session ends the old one and its tokens; the same session keeps them; a logout of it removes both")
    func replacesSession() async throws {
        try await FRAuthFixture.with { fixture in
            let question = Question()
            try await with(question, fixture) {
                let user = try await logIn()
                let token = try #require(user.token)
                let session = try #require(FRSession.currentSession?.sessionToken)
                // The server answers with the session that it knows.
                guard case .success(let same?) = try await FRSession.authenticate(Token.self, authIndexValue: "Login") else {
                    throw Unexpected()
                }
                #expect(same.value == session.value && user.token == token)
                question.isNew.withLock { $0 = true }
                let next = try await logInForSession()
                #expect(next.value != session.value && FRSession.currentSession?.sessionToken == next)
                #expect(FRUser.currentUser != nil && FRUser.currentUser?.token == nil)
                #expect(try await !fixture.takes(token))
                #expect(try await !fixture.knows(session))
                #expect(!fixture.requests.names.contains("END_SESSION"))
                try await FRUser.currentUser?.getAccessToken()
                let again = try #require(FRUser.currentUser?.token)
                #expect(try await fixture.takes(again))
                _ = await FRSession.currentSession?.logout().value
                #expect(FRUser.currentUser?.token == nil && FRSession.currentSession == nil)
            }
        }
    }

    /// Runs a program that has started the SDK, at a server whose journeys end with an empty session while a toggle is on.
    private static func withEmptySessions(_ body: (Toggle) async throws -> Void) async throws {
        try await FRAuthFixture.with { fixture in
            let network = AsyncHTTPTransport()
            let isEmpty = Toggle()
            let transport = ScriptedTransport { (request) throws(TransportError) in
                guard isEmpty.isOn, request.url.contains("/authenticate") else { return try await network.send(request) }
                return HTTPResponse(status: 200, body: Array(#"{"tokenId":"","successUrl":"/console","realm":"/alpha"}"#.utf8))
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                try await body(isEmpty)
            }
            await network.close()
        }
    }

    @Test("A journey that ends with an empty session returns neither the stored user nor the stored token")
    func keepsStoredUserFromEmptySession() async throws {
        try await Self.withEmptySessions { isEmpty in
            let user = try await logIn()
            let token = try #require(user.token)
            let session = try #require(FRSession.currentSession?.sessionToken)
            isEmpty.turnOn()
            await #expect(throws: AuthError.userAuthenticationRequired) {
                _ = try await FRSession.authenticate(FRUser.self, authIndexValue: "Login")
            }
            await #expect(throws: AuthError.userAuthenticationRequired) {
                _ = try await FRSession.authenticate(AccessToken.self, authIndexValue: "Login")
            }
            guard case .success(let empty?) = try await FRSession.authenticate(Token.self, authIndexValue: "Login") else {
                throw Unexpected()
            }
            #expect(empty.value.count == 0 && empty.successUrl == "/console")
            #expect(user.token == token && FRSession.currentSession?.sessionToken == session)
        }
    }

    @Test("After the error of an empty session a login is possible until a session or a token is stored")
    func allowsLoginAfterEmptySession() async throws {
        try await Self.withEmptySessions { isEmpty in
            let user = try await logIn()
            let token = try #require(user.token)
            await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { _ = try await FRUser.login() }
            isEmpty.turnOn()
            await #expect(throws: AuthError.userAuthenticationRequired) {
                _ = try await FRSession.authenticate(FRUser.self, authIndexValue: "Login")
            }
            // The journeys of a login and of a registration end with an empty session too.
            await #expect(throws: AuthError.userAuthenticationRequired) { _ = try await FRUser.login() }
            await #expect(throws: AuthError.userAuthenticationRequired) { _ = try await FRUser.register() }
            try await user.getAccessToken()
            #expect(user.token == token)
            await #expect(throws: AuthError.userAuthenticationRequired) { _ = try await FRUser.login() }
            isEmpty.turnOff()
            let again = try await logIn()
            #expect(again.token != nil)
            await #expect(throws: AuthError.userAlreadyAuthenticated(true)) { _ = try await FRUser.login() }
        }
    }

    @Test("A revocation that fails removes the tokens, and its completion gets the user and the error")
    func reportsFailedRevocation() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await logIn() }
            try await fixture.program {
                $0.transport = ScriptedTransport { (_) throws(TransportError) in
                    throw TransportError(.connect, host: "am.example.test", "no route")
                }
            } _: {
                try FRAuth.start(options: fixture.options)
                let user = try #require(FRUser.currentUser)
                #expect(user.token != nil)
                let (hasUser, error) = await withCheckedContinuation { (done: CheckedContinuation<(Bool, (any Error)?), Never>) in
                    user.revokeAccessToken { user, error in done.resume(returning: (user != nil, error)) }
                }
                #expect(hasUser && error is NetworkError && user.token == nil && FRSession.currentSession != nil)
            }
        }
    }

    @Test("The description of the claims about a user has each claim")
    func describesClaims() async throws {
        let claims: [String: String] = [
            "name": "Mira Harbor", "family_name": "Harbor", "given_name": "Mira", "middle_name": "Q.", "nickname": "mi",
            "email": "mira@example.com", "phone_number": "+1 555 0100", "preferred_username": "mira", "gender": "f",
            "profile": "https://example.com/mira", "picture": "https://example.com/mira.png", "website": "https://mira.example",
            "zoneinfo": "Europe/Paris", "locale": "en-US",
        ]
        let address = [
            "formatted": "1 Quay St", "locality": "Bergen", "region": "Vestland", "postal_code": "5003", "country": "NO",
        ]
        var all = claims.mapValues { JSONValue.string($0) }
        all["address"] = .object(address.mapValues { .string($0) })
        all["email_verified"] = .bool(true)
        let members = all
        try await FRAuthFixture.with { fixture in
            let network = AsyncHTTPTransport()
            let transport = ScriptedTransport { (request) throws(TransportError) in
                var response = try await network.send(request)
                guard request.url.hasSuffix("/userinfo"), let own = (try? JSON.value(of: response.body))?.object else {
                    return response
                }
                response.body = JSON.encode(.object(own.merging(members) { $1 }))
                return response
            }
            try await fixture.program {
                $0.transport = transport
            } _: {
                try FRAuth.start(options: fixture.options)
                let info = try await logIn().getUserInfo()
                let missing = (Array(claims.values) + Array(address.values) + ["true", info.sub ?? "?"]).filter {
                    !info.debugDescription.contains($0)
                }
                #expect(missing.isEmpty)
                #expect(info.address?.locality == "Bergen" && info.emailVerified && info.zoneInfo == "Europe/Paris")
            }
            await network.close()
        }
    }
}
