import Foundation
import SignetNetwork
import SignetTesting
import SwiftASN1
import TestSupport
import Testing

@Suite("Public key pinning")
struct PinningTests {
    /// Runs the body with a transport that trusts `authority` and is closed afterwards.
    private func with<R>(
        _ authority: TestAuthority, _ body: (AsyncHTTPTransport) async throws -> R
    ) async throws -> R {
        try await TemporaryDirectory.with { directory in
            let file = directory.file("authority.pem")
            try Data(authority.certificate.utf8).write(to: URL(filePath: file))
            return try await AsyncHTTPTransport(authorities: .file(file)).use(body)
        }
    }

    private func outcome(_ transport: AsyncHTTPTransport, _ url: String, _ pins: Set<PublicKeyPin>) async -> Result<
        Int, TransportError
    > {
        do throws(TransportError) {
            return .success(try await transport.deliver(HTTPRequest("GET", url, timeout: .seconds(240), pins: pins)).status)
        } catch {
            return .failure(error)
        }
    }

    @Test("A pin matches a certificate with its key, of any key type, and no other", arguments: TestAuthority.Kind.allCases)
    func matchesPinOfEveryKeyType(kind: TestAuthority.Kind) async throws {
        let authority = try TestAuthority()
        let (theirs, another) = (try authority.identity(kind), try authority.identity(kind))
        try await TLSServer.with(theirs) { server in
            try await with(authority) { (transport: AsyncHTTPTransport) async throws in
                // Another library computes the same pin from the certificate.
                let certificate = try PEMDocument(pemString: theirs.certificate).derBytes
                #expect(PublicKeyPin(ofCertificate: certificate) == theirs.pin)
                let right = await outcome(transport, server.url, [another.pin, theirs.pin])
                #expect(right == .success(200) && server.requests == 1)
                let wrong = await outcome(transport, server.url, [another.pin])
                #expect(throws: TransportError.self) { _ = try wrong.get() }
                if case .failure(let error) = wrong {
                    #expect(error.code == .wrongKey && error.code.isBeforeRequest && !error.isRetryable)
                }
                #expect(server.requests == 1, "a request was sent before the key was checked")
                #expect(server.connections >= 2)
                let unpinned = await outcome(transport, server.url, [])
                #expect(unpinned == .success(200))
            }
        }
    }

    @Test("A pin is checked in addition to a valid certificate chain")
    func checksPinAndChain() async throws {
        let (trusted, foreign) = (try TestAuthority(), try TestAuthority("Another authority"))
        let rows = [
            ("another authority", try foreign.identity()), ("another name", try trusted.identity(for: "other.example.com")),
            ("expired", try trusted.identity(isExpired: true)),
        ]
        for (what, identity) in rows {
            try await TLSServer.with(identity) { server in
                try await with(trusted) { (transport: AsyncHTTPTransport) async throws in
                    for pins: Set<PublicKeyPin> in [[identity.pin], []] {
                        let outcome = await outcome(transport, server.url, pins)
                        guard case .failure(let error) = outcome else {
                            Issue.record("\(what) was accepted")
                            return
                        }
                        #expect(error.code == .tls, "\(what)")
                    }
                    #expect(server.requests == 0, "\(what)")
                }
            }
        }
    }

    @Test("A wrong pin stops two hundred concurrent requests without a crash")
    func wrongPinStopsConcurrentRequests() async throws {
        let authority = try TestAuthority()
        let (theirs, another) = (try authority.identity(), try authority.identity())
        try await TLSServer.with(theirs) { server in
            try await with(authority) { (transport: AsyncHTTPTransport) async throws in
                let codes = await withTaskGroup(of: TransportError.Code?.self) { group in
                    for _ in 0..<200 {
                        group.addTask {
                            if case .failure(let error) = await outcome(transport, server.url, [another.pin]) {
                                error.code
                            } else {
                                nil
                            }
                        }
                    }
                    return await group.reduce(into: []) { $0.append($1) }
                }
                let otherCodes = codes.filter { $0 != .wrongKey }
                #expect(codes.count == 200 && otherCodes.isEmpty)
                #expect(server.requests == 0)
                let right = await outcome(transport, server.url, [theirs.pin])
                #expect(right == .success(200))
            }
        }
    }

    @Test("A pinned request without https, or over a transport that cannot check pins, is not sent")
    func refusesUncheckablePin() async throws {
        let pin = PublicKeyPin(of: [1, 2, 3])
        let scripted = ScriptedTransport { _ in HTTPResponse(status: 200) }
        await #expect(throws: TransportError.self) {
            _ = try await scripted.deliver(HTTPRequest("GET", "https://a.example.com/", pins: [pin]))
        }
        #expect(scripted.requests.isEmpty)
        let transport = AsyncHTTPTransport()
        let server = try RawServer { $0.answer("200 OK") }
        let plain = await outcome(transport, "http://127.0.0.1:\(server.port)/", [pin])
        if case .failure(let error) = plain { #expect(error.code == .cannotPin) } else { Issue.record("the request was sent") }
        await transport.close()
    }

    @Test("A truncated certificate has no pin, and a changed one causes no crash")
    func toleratesInvalidCertificate() throws {
        let der = try PEMDocument(pemString: try TestAuthority().identity().certificate).derBytes
        for length in 0..<der.count { #expect(CertificateKey.info(inCertificate: der.prefix(length)) == nil) }
        #expect(CertificateKey.info(inCertificate: der + [0]) == nil)
        for index in der.indices {
            var other = der
            other[index] ^= 0xFF
            // Whatever the parser finds, it must not crash.
            if let key = CertificateKey.info(inCertificate: other) { #expect(key.count < other.count) }
        }
    }

    @Test("A pin is read from the base64 of a SHA-256 with or without the prefix")
    func readsPinSpellings() throws {
        let text = "47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU="
        let pin = try PublicKeyPin(text)
        #expect(pin == PublicKeyPin(of: []) && pin.description == text)
        let named = try PublicKeyPin("sha256/" + text)
        #expect(named == pin)
        for wrong in ["", "sha256/", "47DEQpj8", "sha1/" + text, String(repeating: "A", count: 64)] {
            #expect(throws: PublicKeyPin.Invalid.self) { _ = try PublicKeyPin(wrong) }
        }
    }
}
