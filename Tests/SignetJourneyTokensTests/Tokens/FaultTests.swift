import Foundation
import SignetCore
import SignetJourney
import SignetNetwork
import SignetTesting
import Testing

@Suite("Whatever fails on the way, what is stored stays")
struct FaultTests {
    /// What is asked of the server, and by which of its addresses.
    enum Operation: String, CaseIterable, Sendable {
        case refresh, authorize, exchange, keys, userInfo, device

        var path: String {
            switch self {
            case .refresh, .exchange, .device: "token"
            case .authorize: "authorize"
            case .keys: "jwks"
            case .userInfo: "userinfo"
            }
        }

        var session: SSOToken? { self == .authorize || self == .exchange || self == .keys ? Bench.session : nil }
        var token: AccessToken? {
            switch self {
            case .refresh: Bench.old(session: nil)
            case .userInfo, .device: Bench.old(left: 3600, session: nil)
            default: nil
            }
        }

        func run(_ bench: Bench, by tokens: TokenSource? = nil) async throws {
            let tokens = tokens ?? bench.tokens
            switch self {
            case .refresh, .authorize, .exchange, .keys: _ = try await tokens.token()
            case .userInfo: _ = try await tokens.userInfo()
            case .device:
                let polls = DeviceLogin(tokens) { _ in bench.clock.advance(by: 200) }
                _ = try await polls.finish(try await polls.begin())
            }
        }
    }

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

    /// An authorization endpoint answers with its head alone, so a body that breaks off there changes nothing that is needed.
    private func isHarmless(_ fault: TestProvider.Fault, for operation: Operation) -> Bool {
        operation == .authorize && fault == .halfJSON
    }

    @Test("An answer that is none", arguments: Operation.allCases, faults)
    func answers(operation: Operation, fault: Fault) async throws {
        if isHarmless(fault.fault, for: operation) { return }
        // Only where the server is silent has anything to wait for the end of it.
        let isSilent = [.silent, .silentAfterHead, .silentInBody].contains(fault.fault)
        try await Bench.with(
            session: operation.session, token: operation.token, timeout: isSilent ? .milliseconds(500) : .seconds(240),
            silence: isSilent ? .seconds(1) : .seconds(240),
            .set {
                Bench.knowsOld(&$0)
                $0.faults[operation.path] = fault.fault
            }
        ) { bench in
            let before = try await bench.kept()
            let result = await outcome { try await operation.run(bench) }
            let error = try #require(result.tokenError, "\(result)")
            #expect(try await bench.kept() == before)
            if operation == .device {
                // Such failures are waited out until the login is too late.
                #expect(error.code == .refused || error.code == .unreachable)
            } else if operation == .authorize, fault.fault == .page {
                // A page where a code should be is how a server asks for a login; the session's own address denies nothing.
                #expect(error.code == .loginRequired)
            } else {
                #expect(error.isRetryable == fault.isRetryable, "\(error)")
            }
            if case .status(503, _, _) = fault.fault, operation != .device { #expect(error.retryAfter == .seconds(7)) }
            // And when it is over, it works.
            guard operation != .device, !isSilent else { return }
            bench.provider.change { $0.faults = [:] }
            if operation == .refresh { bench.provider.change { $0.used = [] } }
            let patient = TokenSource(
                bench.provider.endpoints(), client: Bench.client, store: bench.store, transport: bench.transport,
                clock: bench.clock)
            try await operation.run(bench, by: patient)
        }
    }

    @Test("Nobody at the port", arguments: [Operation.refresh, .authorize, .userInfo])
    func refused(operation: Operation) async throws {
        let closed = try ClosedPort()
        let url = "http://127.0.0.1:\(closed.port)"
        let endpoints = OAuthEndpoints(
            authorize: "\(url)/a", token: "\(url)/t", userInfo: "\(url)/u", jwks: "\(url)/k", issuer: url)
        try await Bench.with(session: operation.session, token: operation.token, endpoints: .from { _ in endpoints }) { bench in
            let before = try await bench.kept()
            let error = try #require(await outcome { try await operation.run(bench) }.tokenError)
            #expect(error.code == .unreachable && error.isRetryable)
            #expect(try await bench.kept() == before)
            // The server saw nothing, so no refresh is noted as begun.
            #expect(try await bench.store.token()?.renewalBegun == nil)
        }
    }

    @Test("A certificate for another name, or of nobody", arguments: [Operation.refresh, .authorize, .userInfo])
    func wrongName(operation: Operation) async throws {
        try await TLSServer.with(try TestAuthority().identity(for: "other.example.com")) { server in
            let url = "https://localhost:\(server.port)"
            let endpoints = OAuthEndpoints(
                authorize: "\(url)/a", token: "\(url)/t", userInfo: "\(url)/u", jwks: "\(url)/k", issuer: url)
            try await Bench.with(session: operation.session, token: operation.token, endpoints: .from { _ in endpoints }) {
                bench in
                let before = try await bench.kept()
                let error = try #require(await outcome { try await operation.run(bench) }.tokenError)
                #expect(error.code == .unreachable && !error.isRetryable)
                #expect(try await bench.kept() == before && server.requests == 0)
            }
        }
    }

    @Test("A profile with pins and a transport that looks at no key")
    func pins() async throws {
        let transport = ScriptedTransport { _ in HTTPResponse(status: 200) }
        let store = try SessionStore.memory()
        try await store.save(Bench.session)
        let endpoints = OAuthEndpoints(
            authorize: "https://op/a", token: "https://op/t", jwks: "https://op/k", issuer: "x",
            pins: [PublicKeyPin(of: [1])])
        let tokens = TokenSource(endpoints, client: Bench.client, store: store, transport: transport)
        let error = try #require(await outcome { try await tokens.token() }.tokenError)
        #expect(
            error.cause
                == .network(
                    TransportError(
                        .cannotPin, host: "op",
                        "this transport cannot check the server's key: use one that can, or take the pins out of the profile")))
        #expect(transport.requests.isEmpty)
        #expect(try await store.session() == Bench.session)
    }
}
