import FRAuth
import FRCore
import SignetCore
import SignetNetwork
import SignetStorage
import Testing

import protocol FRCore.RequestInterceptor
import struct SignetOAuth.LogOutReport
import class SignetOAuth.SessionStore

/// Tests that a session is sent to no server but its own.
@Suite("Stored session with unusable or replaced settings")
struct SessionSettingsTests {
    /// Replaces the remembered settings with another document.
    private func remember(_ document: JSONValue, on fixture: FRAuthFixture) async throws {
        try await KeychainStorage<JSONValue>(account: "frauth/app/app/options", in: fixture.keychain).save(item: document)
    }

    @Test("A session of an unknown server is removed, and sent to no other server")
    func removesSessionOfUnknownServer() async throws {
        try await FRAuthFixture.with { fixture in
            let session = try await fixture.started {
                try await logIn()
                return try #require(FRSession.currentSession?.sessionToken)
            }
            try await remember(.object(["forgerock_url": .string("http://am.example.test/am")]), on: fixture)
            fixture.requests.clear()
            try await fixture.started {
                #expect(FRUser.currentUser == nil)
                let report = try #require(await FRAuth.shared?.formerSession())
                #expect(report.local == .done && !report.tokens.isOver && !report.session.isOver)
                #expect(fixture.requests.names.isEmpty)
                try await logIn()
            }
            #expect(try await fixture.knows(session))
        }
    }

    @Test("Objects of earlier settings do not receive the session of the new server")
    func hidesNewSessionFromOldObjects() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                try await logIn()
                let old = try #require(FRAuth.shared)
                let api = old.authorizedTransport(for: [try Endpoint(unchecked: fixture.url)])
                #expect(try await api.send(HTTPRequest("GET", "\(fixture.url)/nothing")).status == 404)
                guard
                    case .node(let node) = try await FRSession.authenticate(Token.self, authIndexValue: "ConfirmationCallback")
                else { throw Unexpected() }

                let options = fixture.options
                options.realm = "root"
                try FRAuth.start(options: options)
                try await logIn()
                fixture.requests.clear()
                await #expect(throws: (any Error).self) { try await api.send(HTTPRequest("GET", fixture.url)) }
                await #expect(throws: (any Error).self) { _ = try await node.next(Token.self) }
                #expect(fixture.requests.names.isEmpty)
                #expect(FRUser.currentUser != nil)
            }
        }
    }

    @Test("A logout of an SDK that was replaced leaves the new session alone")
    func leavesNewSessionOnLogoutOfReplacedSDK() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started {
                try await logIn()
                let old = try #require(FRAuth.shared)
                let options = fixture.options
                options.realm = "root"
                try FRAuth.start(options: options)
                try await logIn()
                #expect(await FRAuth.shared?.formerSession()?.isComplete == true)
                fixture.requests.clear()
                #expect(await old.logout() == .nothing)
                #expect(fixture.requests.names.isEmpty)
                #expect(FRUser.currentUser?.token != nil)
            }
        }
    }

    @Test("A journey of the old server stores no session in the app's own store after a start with other settings")
    func discardsLateJourneyInOwnStore() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.program {
                try FRAuth.setStore(try SessionStore.memory())
                try FRAuth.start(options: fixture.options)
                guard case .node(let node) = try await FRSession.authenticate(Token.self, authIndexValue: "Login") else {
                    throw Unexpected()
                }
                // The start happens while the last answer of the journey is on its way.
                let options = fixture.options
                options.realm = "root"
                let other = options
                RequestInterceptorRegistry.shared.registerInterceptors(interceptors: [RestartingInterceptor(fixture: fixture)])
                fill(node)
                await #expect(throws: StoreError.self) { _ = try await node.next(Token.self) }
                await FRAuth.shared?.ready()
                #expect(FRAuth.shared?.options == other && FRSession.currentSession == nil)
            }
        }
    }

    /// Starts the SDK with other settings while a request is sent.
    private struct RestartingInterceptor: RequestInterceptor {
        let fixture: FRAuthFixture
        func intercept(request: Request, action: Action) -> Request {
            if action.type == "AUTHENTICATE" {
                let options = fixture.options
                options.realm = "root"
                try? FRAuth.start(options: options)
            }
            return request
        }
    }

    @Test("The SDK does not use a session with unreadable settings, and a logout removes it")
    func leavesUnreadableSessionUntilLogout() async throws {
        try await FRAuthFixture.with { fixture in
            try await fixture.started { try await logIn() }
            try await remember(.object(["forgerock_url": .bool(true)]), on: fixture)
            fixture.requests.clear()
            try await fixture.started {
                #expect(FRUser.currentUser == nil)
                #expect(FRAuth.shared?.lastStorageError?.code == .typeMismatch)
                await #expect(throws: StoreError.self) { _ = try await FRUser.login() }
                let api = try #require(FRAuth.shared).authorizedTransport(for: [try Endpoint(unchecked: fixture.url)])
                await #expect(throws: StoreError.self) { try await api.send(HTTPRequest("GET", fixture.url)) }
                // Another start finds the same state.
                let options = fixture.options
                options.timeout = "70"
                try FRAuth.start(options: options)
                #expect(FRUser.currentUser == nil)
                await #expect(throws: StoreError.self) { _ = try await FRUser.login() }
                #expect(fixture.requests.names.isEmpty)
                let report = try #require(await FRAuth.shared?.logout())
                #expect(report.local == .done && !report.isComplete)
                #expect(fixture.requests.names.isEmpty)
                try await logIn()
            }
            try await fixture.started { #expect(FRUser.currentUser != nil) }
        }
    }
}
