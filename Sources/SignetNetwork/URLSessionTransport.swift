#if canImport(Security)
import Foundation
import Security
import Synchronization

#if canImport(FoundationNetworking)
// Where the stand-in for Security is checked.
import FoundationNetworking
#endif

/// The transport for Apple's systems, over `URLSession`: the person's proxies, VPN and low-data settings count as they do for every
/// other app.
///
/// Requests that insist on a server's key (``HTTPRequest/pins``) get connections of their own, on each of which the key is looked at
/// on top of the system's checks and before any request is written.
///
/// It has not been run on a Mac or an iPhone yet. It is type-checked on Linux (`scripts/check-apple`).
public final class URLSessionTransport: HTTPTransport {
    private let sessions = PinnedClients { _ in URLSession(configuration: .plain) }
    private let largestBody: Int

    /// A transport with its own connections, without cookies, caches or credentials of the system's.
    /// - Parameter largestBody: The most bytes of a response that ``send(_:)`` takes.
    public init(largestBody: Int = 1 << 20) {
        self.largestBody = largestBody
    }

    deinit { close() }

    /// Ends the connections once what is under way has ended. No request may be made afterwards.
    public func close() {
        for session in sessions.close() { session.finishTasksAndInvalidate() }
    }

    /// True.
    public var canPin: Bool { true }

    /// Sends a request and waits for the whole response.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let end = ContinuousClock.now + request.timeout
        do {
            return try await open(request) { response, bytes in
                var response = response
                response.body = try await self.collect(bytes, until: end)
                return response
            }
        } catch {
            throw error as? TransportError
                ?? TransportError(error, host: TransportError.host(of: request.url), refusedKey: false)
        }
    }

    /// Sends a request and hands the content over as it comes.
    public func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
    ) async throws -> HTTPResponse {
        do {
            return try await open(request) { response, bytes in
                var response = response
                guard (200..<300).contains(response.status) else {
                    response.body = try await self.collect(bytes, until: ContinuousClock.now + request.timeout)
                    return response
                }
                var piece: [UInt8] = []
                for try await byte in bytes {
                    piece.append(byte)
                    // A piece ends where a line does: what is streamed is lines.
                    guard byte == UInt8(ascii: "\n") || piece.count >= 16_384 else { continue }
                    try await ReceiverError.guarding { try await receive(piece) }
                    piece = []
                }
                if !piece.isEmpty { try await ReceiverError.guarding { try await receive(piece) } }
                return response
            }
        } catch let error as ReceiverError {
            throw error.cause
        }
    }

    /// - Throws: ``TransportError``, and a ``ReceiverError`` of `body`.
    private func open(
        _ request: HTTPRequest,
        _ body: (HTTPResponse, URLSession.AsyncBytes) async throws -> HTTPResponse
    ) async throws -> HTTPResponse {
        let host = TransportError.host(of: request.url)
        let session = try sessions.client(for: request)
        guard let message = Self.message(request) else {
            throw TransportError(.invalidRequest, host: host, "not an address that can be asked")
        }
        let check = KeyCheck(request.pins)
        do {
            let (bytes, head) = try await session.bytes(for: message, delegate: check)
            guard let head = head as? HTTPURLResponse else { throw URLError(.badServerResponse) }
            return try await body(HTTPResponse(head), bytes)
        } catch let error as ReceiverError {
            throw error
        } catch {
            throw TransportError(error, host: host, refusedKey: check.hasRefused)
        }
    }

    private func collect(_ bytes: URLSession.AsyncBytes, until end: ContinuousClock.Instant) async throws -> [UInt8] {
        var body: [UInt8] = []
        for try await byte in bytes {
            guard body.count < largestBody else { throw URLError(.dataLengthExceedsMaximum) }
            // The clock is read once in a while: the session itself gives up a body that falls silent.
            if body.count.isMultiple(of: 1024), ContinuousClock.now >= end { throw URLError(.timedOut) }
            body.append(byte)
        }
        return body
    }

    private static func message(_ request: HTTPRequest) -> URLRequest? {
        guard let url = URL(string: request.url) else { return nil }
        var message = URLRequest(url: url, timeoutInterval: request.timeout / .seconds(1))
        message.httpMethod = request.method
        for field in request.headers.fields { message.addValue(field.value, forHTTPHeaderField: field.name) }
        if !request.body.isEmpty || request.method == "POST" { message.httpBody = Data(request.body) }
        return message
    }
}

extension URLSessionConfiguration {
    /// Without cookies, caches or credentials of the system's.
    fileprivate static var plain: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

/// Looks at a server's key for one request, and follows no redirects.
private final class KeyCheck: NSObject, URLSessionTaskDelegate {
    private let pins: Set<PublicKeyPin>
    private let refused = Mutex(false)

    init(_ pins: Set<PublicKeyPin>) { self.pins = pins }

    /// Whether the server's key was none of those that are pinned.
    var hasRefused: Bool { refused.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The system refuses by itself what it does not trust.
        guard !pins.isEmpty, let trust = challenge.protectionSpace.serverTrust, SecTrustEvaluateWithError(trust, nil) else {
            return completionHandler(.performDefaultHandling, nil)
        }
        let chain = SecTrustCopyCertificateChain(trust) as? [SecCertificate]
        let certificate = chain?.first.map { SecCertificateCopyData($0) as Data }
        guard let pin = certificate.flatMap({ PublicKeyPin(ofCertificate: $0) }), pins.contains(pin) else {
            refused.withLock { $0 = true }
            return completionHandler(.cancelAuthenticationChallenge, nil)
        }
        completionHandler(.useCredential, URLCredential(trust: trust))
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse,
        newRequest request: URLRequest, completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }
}

extension HTTPResponse {
    fileprivate init(_ head: HTTPURLResponse) {
        self.init(status: head.statusCode)
        for (name, value) in head.allHeaderFields {
            guard let name = name as? String, let value = value as? String else { continue }
            // What came as several fields is handed out as one, which for cookies has to be undone.
            let values = name.lowercased() == "set-cookie" ? HTTPHeaders.cookies(joined: value) : [value]
            for value in values { headers.append(name, value) }
        }
    }
}

extension TransportError {
    fileprivate init(_ error: any Error, host: String, refusedKey: Bool) {
        let (code, reason): (Code, String) =
            switch (error as? URLError)?.code {
            case _ where refusedKey: (.wrongKey, "the server's key is none of those that are pinned")
            case .timedOut?: (.timeout, "no answer in time")
            case .cannotFindHost?, .cannotConnectToHost?, .dnsLookupFailed?, .notConnectedToInternet?:
                (.connect, "no connection could be made")
            case .secureConnectionFailed?, .serverCertificateHasBadDate?, .serverCertificateUntrusted?,
                .serverCertificateHasUnknownRoot?, .serverCertificateNotYetValid?, .clientCertificateRejected?,
                .clientCertificateRequired?:
                (.tls, "the secure connection could not be made")
            case .badServerResponse?, .cannotParseResponse?: (.notHTTP, "the answer is not HTTP")
            case .dataLengthExceedsMaximum?: (.tooLarge, "the answer is too large")
            case .cancelled?: (.cancelled, "given up")
            case .badURL?, .unsupportedURL?: (.invalidRequest, "not an address that can be asked")
            case nil where error is CancellationError: (.cancelled, "given up")
            // Of anything else it is not known whether the server saw the request.
            default: (.interrupted, "the connection ended before the answer did")
            }
        self.init(code, host: host, reason)
    }
}
#endif
