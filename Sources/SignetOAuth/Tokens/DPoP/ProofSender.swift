import Foundation
import SignetCore
import SignetNetwork

/// Sends requests with a proof of possession (RFC 9449), and remembers the clocks and the nonces of the servers.
///
/// Requests of the token source and of the app's own transport share it.
final class ProofSender: Sendable {
    private let clock: any WallClock
    private let clocks: ServerClocks
    private let known = Mutex<[String: String]>([:])

    /// The least difference, in seconds, between the time of a refused proof and the server's time for another attempt.
    private static let minDifference: TimeInterval = 5
    /// The maximum length of a nonce.
    private static let maxNonceLength = 1024

    /// Creates a sender without nonces, whose clocks correct `clock`.
    init(_ clock: any WallClock) {
        self.clock = clock
        clocks = ServerClocks(clock)
    }

    /// The nonces of the servers, by origin.
    var nonces: [String: String] { known.withLock { $0 } }

    /// Takes over nonces that are stored with the tokens, as far as no newer ones are known.
    func recall(_ stored: [String: String]) {
        known.withLock { $0.merge(stored) { new, _ in new } }
    }

    /// The reasons for which a request is sent once more, each at most once.
    private enum Reason {
        /// The server requires another nonce, which its response has.
        case nonce
        /// The server refused a proof that has another time than the server.
        case time
    }

    /// Sends a request with a proof, and once more with a new nonce or a corrected time when the server asks for that.
    /// - Parameters:
    ///   - key: The key that signs.
    ///   - token: The access token in the request; nil for a request to the token endpoint.
    ///   - request: Returns the request without the proof. It is called for each attempt, because other parts of a request may also be
    ///     valid only once.
    ///   - deliver: Sends the request.
    /// - Returns: The last response, and the request without the proof to which it belongs.
    /// - Throws: ``LostKey``; the errors of the key, of `request` and of `deliver`.
    func send(
        with key: DPoPKey, presenting token: Secret?, _ request: () async throws -> HTTPRequest,
        deliver: (HTTPRequest) async throws -> HTTPResponse
    ) async throws -> (response: HTTPResponse, request: HTTPRequest) {
        var tried: Set<Reason> = []
        while true {
            let plain = try await request()
            let server = try Self.server(at: plain.url)
            let nonce = known.withLock { $0[server.origin] }
            let time = clocks.clock(of: server).now
            var bound = plain
            bound.headers.set(
                DPoPProof.field,
                try await key.proof(plain.method, plain.url, presenting: token, nonce: nonce, at: time))
            let sent = clock.now
            let response = try await deliver(bound)
            observe(response, of: server, sent: sent)
            guard let reason = reason(to: response, of: server, nonce: nonce, time: time), tried.insert(reason).inserted else {
                return (response, plain)
            }
        }
    }

    /// Returns the time by the clock of the server at an address, as far as its responses have shown it.
    func time(at url: String) -> Date {
        (try? Self.server(at: url)).map { clocks.clock(of: $0).now } ?? clock.now
    }

    /// Remembers the nonce and the time of a response.
    func observe(_ response: HTTPResponse, of server: Endpoint, sent: Date) {
        clocks.clock(of: server).learn(response.headers["Date"], sent: sent, received: clock.now)
        let found = response.headers.all(DPoPProof.nonceField)
        guard found.count == 1, let nonce = found.first, Self.isNonce(nonce) else { return }
        known.withLock { $0[server.origin] = nonce }
    }

    /// Returns a proof for a request that another program sends.
    func proof(
        with key: DPoPKey, _ method: String, _ url: String, presenting token: Secret, nonce: String?
    ) async throws -> String {
        let server = try Self.server(at: url)
        let nonce = nonce ?? known.withLock { $0[server.origin] }
        return try await key.proof(method, url, presenting: token, nonce: nonce, at: clocks.clock(of: server).now)
    }

    /// Returns the server at an address, without the checks of the address, which its transport and the proof make.
    private static func server(at url: String) throws(OAuthError) -> Endpoint {
        guard let server = try? Endpoint(stored: url) else {
            throw OAuthError(.notConfigured, explanation: "a proof of possession needs an absolute web address")
        }
        return server
    }

    /// Returns the reason to send a request once more; nil when the response stands.
    private func reason(
        to response: HTTPResponse, of server: Endpoint, nonce: String?, time: Date
    ) -> Reason? {
        guard response.status == 400 || response.status == 401, let error = Self.proofError(of: response) else { return nil }
        if error == .useDPoPNonce {
            // A server that asks for the nonce that the proof had, or sends none, would ask again.
            return known.withLock { $0[server.origin] } != nonce ? .nonce : nil
        }
        let difference = clocks.clock(of: server).now.timeIntervalSince(time)
        return difference.magnitude >= Self.minDifference ? .time : nil
    }

    /// Returns the error about the proof in a response; nil for another response.
    ///
    /// The token endpoint names it in the content, and a resource in a challenge (RFC 9449 sections 5, 7.1, 8 and 9).
    static func proofError(of response: HTTPResponse) -> OAuthError.Code? {
        let challenge = TokenChallenge(response.headers.all("WWW-Authenticate"), schemes: ["dpop"])?.name
        let names = [challenge, TokenResponse.error(status: response.status, body: response.body)?.name]
        let codes: [OAuthError.Code] = [.useDPoPNonce, .invalidDPoPProof]
        return codes.first { names.contains($0.rawValue) }
    }

    /// Returns true for the characters of a nonce (RFC 9449 section 8.1).
    static func isNonce(_ text: String) -> Bool {
        (1...maxNonceLength).contains(text.utf8.count)
            && text.utf8.allSatisfy { $0 == 0x21 || (0x23...0x5B).contains($0) || (0x5D...0x7E).contains($0) }
    }
}
