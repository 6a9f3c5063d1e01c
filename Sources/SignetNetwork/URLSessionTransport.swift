#if canImport(Security)
import Foundation
import Security
import SignetCore

#if canImport(FoundationNetworking)
// On Linux this file is type-checked against a substitute for the Security framework.
import FoundationNetworking
#endif

/// The transport for Apple's systems, over `URLSession`.
///
/// It honors the user's proxy, VPN and low-data settings, as every app does.
///
/// Requests with pinned keys (``HTTPRequest/pins``) use separate connections. On each of them the key is checked in addition to
/// the system's checks, before any request is written.
///
/// It has not been run on a Mac or an iPhone yet. It is type-checked on Linux (`scripts/check-apple`).
public final class URLSessionTransport: HTTPTransport {
    private let sessions = PinnedClients { _ in URLSession(configuration: .plain) }
    private let maxBodySize: Int

    /// Creates a transport with its own connections, without the cookies, caches and credentials of the system.
    /// - Parameter maxBodySize: The maximum size of a response for ``send(_:)``, in bytes.
    public init(maxBodySize: Int = 1 << 20) {
        self.maxBodySize = maxBodySize
    }

    deinit { close() }

    /// Closes the connections after the running requests have ended.
    ///
    /// Requests made afterwards fail.
    public func close() {
        for session in sessions.close() { session.finishTasksAndInvalidate() }
    }

    /// Always true: this transport checks pins.
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

    /// Sends a request and passes the content to `receive` as it arrives.
    public func stream(
        _ request: HTTPRequest, receive: ContentReceiver
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
                    // Pieces end at line ends, because streams are line-based.
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

    /// Sends a request and passes the response head and the bytes of the content to `body`.
    /// - Throws: ``TransportError``, and any ``ReceiverError`` of `body`.
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
            guard body.count < maxBodySize else { throw URLError(.dataLengthExceedsMaximum) }
            // The clock is checked once every 1024 bytes; if the server stops sending, the session's own timeout applies.
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
    /// A configuration without the cookies, caches and credentials of the system.
    fileprivate static var plain: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.ephemeral
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        configuration.urlCredentialStorage = nil
        return configuration
    }
}

/// The task delegate of one request: checks the server's key against the pins, and stops redirects.
private final class KeyCheck: NSObject, URLSessionTaskDelegate {
    private let pins: Set<PublicKeyPin>
    private let refused = Mutex(false)

    init(_ pins: Set<PublicKeyPin>) { self.pins = pins }

    /// True when the server's key wasn't one of the pins.
    var hasRefused: Bool { refused.withLock { $0 } }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        // The system's default handling rejects certificates that it doesn't trust.
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
            // Foundation joins repeated fields into one, which must be split again for cookies.
            let values = name.lowercased() == "set-cookie" ? HTTPHeaders.cookies(joined: value) : [value]
            for value in values { headers.append(name, value) }
        }
    }
}

extension TransportError {
    fileprivate init(_ error: any Error, host: String, refusedKey: Bool) {
        let (code, reason): (Code, String) =
            switch (error as? URLError)?.code {
            case _ where refusedKey: (.wrongKey, "the server's key is not one of the pinned keys")
            case .timedOut?: (.timeout, "no answer in time")
            case .cannotFindHost?, .cannotConnectToHost?, .dnsLookupFailed?, .notConnectedToInternet?:
                (.connect, "no connection could be made")
            case .serverCertificateHasBadDate?, .serverCertificateNotYetValid?:
                (.tls, "the server's certificate has expired, or is not valid yet")
            case .serverCertificateUntrusted?, .serverCertificateHasUnknownRoot?:
                (.tls, "the server's certificate is not trusted here")
            case .secureConnectionFailed?, .clientCertificateRejected?, .clientCertificateRequired?:
                (.tls, "the secure connection could not be made")
            case .badServerResponse?, .cannotParseResponse?: (.notHTTP, "the answer is not HTTP")
            case .dataLengthExceedsMaximum?: (.tooLarge, "the answer is too large")
            case .cancelled?: (.cancelled, "given up")
            case .badURL?, .unsupportedURL?: (.invalidRequest, "not an address that can be asked")
            case nil where error is CancellationError: (.cancelled, "given up")
            // For any other error it is unknown whether the server received the request.
            default: (.interrupted, "the connection ended before the answer did")
            }
        self.init(code, host: host, reason)
    }
}
#endif
