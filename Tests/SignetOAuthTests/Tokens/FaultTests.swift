import Foundation
import SignetCore
import SignetNetwork
import SignetOAuth
import SignetTesting
import TestSupport
import Testing

@Suite("Network failures and what stays stored")
struct FaultTests {
    struct Fault: Sendable, CustomTestStringConvertible {
        let name: String
        let fault: TestProvider.Fault
        let isRetryable: Bool
        var testDescription: String { name }
    }

    static let faults = [
        Fault(name: "reset", fault: .reset, isRetryable: true), Fault(name: "cut", fault: .cut, isRetryable: true),
        Fault(name: "silent", fault: .silent, isRetryable: true),
        Fault(name: "silent after the head", fault: .silentAfterHead, isRetryable: true),
        Fault(name: "silent in the body", fault: .silentInBody, isRetryable: true),
        Fault(name: "a hotel's page", fault: .page, isRetryable: true), Fault(name: "500", fault: .failed, isRetryable: true),
        Fault(name: "503", fault: .busy, isRetryable: true), Fault(name: "half the JSON", fault: .halfJSON, isRetryable: true),
        Fault(name: "broken off", fault: .brokenOff, isRetryable: true),
        Fault(name: "no HTTP", fault: .garbage, isRetryable: false),
        Fault(name: "404 in HTML", fault: .status(404, [], "<html>"), isRetryable: false),
        Fault(name: "403 in HTML", fault: .status(403, [], "<html>"), isRetryable: false),
    ]

    /// Some responses are complete with their head: their effect stays, whatever happens to the body.
    private func isHarmless(_ fault: TestProvider.Fault, for operation: Operation) -> Bool {
        fault == .halfJSON && [.authorize, .revoke, .logOut, .endSession].contains(operation)
    }

    @Test("An invalid response fails an operation and leaves the stored data unchanged", arguments: Operation.allCases, faults)
    func invalidResponseKeepsStoredData(operation: Operation, fault: Fault) async throws {
        if isHarmless(fault.fault, for: operation) { return }
        // Only a silent server makes the client wait for the timeout.
        let isSilent = [.silent, .silentAfterHead, .silentInBody].contains(fault.fault)
        try await TokenSourceFixture.with(
            session: operation.session, token: operation.token, idleTimeout: isSilent ? .seconds(1) : .seconds(240),
            .set {
                TokenSourceFixture.addOldToken(&$0)
                $0.faults[operation.path] = fault.fault
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let before = try await fixture.stored()
            let app = try fixture.app(timeout: isSilent ? .milliseconds(500) : .seconds(240))
            let failure = await outcome { try await operation.run(app, fixture) }.error
            let error = try #require(failure)
            #expect(try await fixture.stored() == operation.stored(before))
            check(error, operation, fault)
            // Afterwards the operation works.
            guard operation != .poll, !isSilent else { return }
            fixture.provider.change {
                $0.faults = [:]
                $0.used = []
            }
            try await operation.run(try fixture.app(), fixture)
        }
    }

    private func check(_ error: any Error, _ operation: Operation, _ fault: Fault) {
        switch operation {
        case .poll:
            // Such failures are retried until the login expires.
            let code = (error as? TokenError)?.code
            #expect(code == .refused || code == .unreachable, "\(error)")
        case .authorize where fault.fault == .page:
            // A page instead of a code is a request for the user; the session's own address says that the session is valid.
            #expect((error as? TokenError)?.code == .interactionRequired, "\(error)")
        case .endSession where fault.fault == .page:
            #expect(error is NeedsBrowser, "\(error)")
        default:
            #expect(error.mayBeTriedAgain == fault.isRetryable, "\(error)")
            if fault.fault == .busy { #expect(error.wait == .seconds(7), "\(error)") }
        }
    }

    @Test(
        "A network that answers everything with its own login page leaves the stored data unchanged",
        arguments: Operation.allCases)
    func captivePortalKeepsStoredData(operation: Operation) async throws {
        try await TokenSourceFixture.with(
            session: operation.session, token: operation.token,
            .set { state in
                for operation in Operation.allCases { state.faults[operation.path] = .page }
            }
        ) { (fixture: TokenSourceFixture) async throws in
            let before = try await fixture.stored()
            let app = try fixture.app()
            let failure = await outcome { try await operation.run(app, fixture) }.error
            let error = try #require(failure)
            #expect(try await fixture.stored() == operation.stored(before))
            #expect(error.mayBeTriedAgain == true || error is NeedsBrowser, "\(error)")
        }
    }

    /// Checks that an operation fails with a retryable connect error and leaves the stored data unchanged.
    private func expectConnectError(_ operation: Operation, _ fixture: TokenSourceFixture, at url: String) async throws {
        let before = try await fixture.stored()
        let app = try fixture.app(at: url)
        let failure = await outcome { try await operation.run(app, fixture) }.error
        let error = try #require(failure)
        #expect(error.transportCode == .connect && error.mayBeTriedAgain == true, "\(error)")
        #expect(try await fixture.stored() == operation.stored(before))
        // The server received nothing, so no refresh is recorded as begun.
        #expect(try await fixture.store.token()?.renewalBegun == nil)
    }

    @Test("A refused connection is reported as retryable and leaves the stored data unchanged", arguments: Operation.allCases)
    func refusedConnectionKeepsStoredData(operation: Operation) async throws {
        let closed = try ReservedPort()
        try await TokenSourceFixture.with(session: operation.session, token: operation.token) {
            try await expectConnectError(operation, $0, at: "http://127.0.0.1:\(closed.number)")
        }
    }

    @Test(
        "A server that never accepts a connection or never answers the TLS handshake causes a connect error",
        arguments: Operation.allCases, ["http", "https"])
    func unacceptedConnectionKeepsStoredData(operation: Operation, scheme: String) async throws {
        let full = try FullPort()
        let silent = try RawServer { $0.waitForEnd() }
        let port = scheme == "http" ? full.port : silent.port
        try await TokenSourceFixture.with(session: operation.session, token: operation.token, idleTimeout: .seconds(1)) {
            try await expectConnectError(operation, $0, at: "\(scheme)://127.0.0.1:\(port)")
        }
    }

    @Test(
        "A certificate for another name or of an unknown authority causes a TLS error that is not retryable",
        arguments: Operation.allCases)
    func refusesWrongCertificate(operation: Operation) async throws {
        try await TLSServer.with(try TestAuthority().identity(for: "other.example.com")) { server in
            try await TokenSourceFixture.with(session: operation.session, token: operation.token) {
                (fixture: TokenSourceFixture) async throws in
                let before = try await fixture.stored()
                let app = try fixture.app(at: "https://localhost:\(server.port)")
                let failure = await outcome { try await operation.run(app, fixture) }.error
                let error = try #require(failure)
                #expect(error.transportCode == .tls && error.mayBeTriedAgain == false, "\(error)")
                #expect(try await fixture.stored() == operation.stored(before) && server.requests == 0)
            }
        }
    }

    @Test(
        "A wrong key, or a transport that cannot check pins, is refused and leaves the stored data unchanged",
        arguments: Operation.allCases)
    func refusesWrongPin(operation: Operation) async throws {
        let authority = try TestAuthority()
        try await TLSServer.with(try authority.identity()) { (server: TLSServer) async throws in
            let file = try TemporaryDirectory()
            defer { file.remove() }
            try Data(authority.certificate.utf8).write(to: URL(filePath: file.file("authority.pem")))
            let looking = AsyncHTTPTransport(authorities: .file(file.file("authority.pem")))
            try await looking.use { (looking: AsyncHTTPTransport) async throws in
                let statusOnly = ScriptedTransport { _ in HTTPResponse(status: 200) }
                let rows: [(any HTTPTransport, TransportError.Code)] = [(looking, .wrongKey), (statusOnly, .cannotPin)]
                for (transport, code) in rows {
                    try await TokenSourceFixture.with(
                        session: operation.session, token: operation.token, transport: transport
                    ) { (fixture: TokenSourceFixture) async throws in
                        let before = try await fixture.stored()
                        let app = try fixture.app(at: "https://localhost:\(server.port)", pins: [PublicKeyPin(of: [1])])
                        let failure = await outcome { try await operation.run(app, fixture) }.error
                        let error = try #require(failure)
                        #expect(error.transportCode == code && error.mayBeTriedAgain == false, "\(error)")
                        #expect(try await fixture.stored() == operation.stored(before))
                    }
                }
                #expect(server.requests == 0 && statusOnly.requests.isEmpty)
            }
        }
    }
}
