#if AsyncHTTPClient
import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#else
import Darwin
#endif

/// The transport for Linux and servers, over async-http-client.
///
/// It exists if the package trait `AsyncHTTPClient` is enabled, which is the default.
///
/// Releasing the transport closes its connections in the background; ``close()`` waits until they are closed.
///
/// Requests with pinned keys (``HTTPRequest/pins``) use separate connections. On each of them the key is checked after the
/// handshake and its usual checks, before any request is written.
public final class AsyncHTTPTransport: HTTPTransport {
    private let clients: PinnedClients<HTTPClient>
    private let maxBodySize: Int

    /// The certificate authorities that are trusted for servers.
    public enum Authorities: Sendable, Hashable {
        /// The authorities that the system trusts.
        case system
        /// Only the authorities in a PEM file, for example those of a company.
        case file(String)
    }

    /// Creates a transport with its own connections.
    /// - Parameters:
    ///   - maxBodySize: The maximum size of a response for ``send(_:)``, in bytes.
    ///   - authorities: The certificate authorities that are trusted for servers.
    ///   - idleTimeout: The maximum time without any data from the server, including keep-alives, before a connection is
    ///     considered dead. The connect timeout has the same value, but at most 10 seconds.
    public init(
        maxBodySize: Int = 1 << 20, authorities: Authorities = .system, idleTimeout: Duration = .seconds(30)
    ) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // Otherwise a failed handshake is retried until the connect timeout, and a rejected key ends the process
        // (async-http-client 1.37.0).
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.read = TimeAmount(idleTimeout)
        configuration.timeout.connect = TimeAmount(min(idleTimeout, .seconds(10)))
        var tls = TLSConfiguration.makeClientConfiguration()
        // The default list of the library lacks Ed25519.
        tls.verifySignatureAlgorithms = [
            .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ed25519, .rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512,
            .rsaPkcs1Sha256, .rsaPkcs1Sha384, .rsaPkcs1Sha512,
        ]
        if case .file(let path) = authorities { tls.trustRoots = .file(path) }
        configuration.tlsConfiguration = tls
        clients = PinnedClients { [configuration] pins in HTTPClient(configuration: configuration.pinned(to: pins)) }
        self.maxBodySize = maxBodySize
    }

    deinit {
        // In a debug build the library traps if a client is released before its shutdown.
        let open = clients.close()
        if !open.isEmpty { Task.detached { await Self.end(open) } }
    }

    /// Closes the connections and waits until they are closed.
    ///
    /// Requests made afterwards fail.
    public func close() async { await Self.end(clients.close()) }

    private static func end(_ clients: [HTTPClient]) async {
        // A shutdown fails only if the client is already shut down.
        for client in clients { try? await client.shutdown() }
    }

    /// Always true: this transport checks pins.
    public var canPin: Bool { true }

    /// Runs `body` and then closes the connections, also when `body` throws.
    public func use<R, E: Error>(_ body: (AsyncHTTPTransport) async throws(E) -> R) async throws(E) -> R {
        do throws(E) {
            let value = try await body(self)
            await close()
            return value
        } catch {
            await close()
            throw error
        }
    }

    /// Sends a request and waits for the whole response.
    public func send(_ request: HTTPRequest) async throws(TransportError) -> HTTPResponse {
        let client = try clients.client(for: request)
        do {
            let end = ContinuousClock.now + request.timeout
            let response = try await client.execute(Self.message(request), timeout: TimeAmount(request.timeout))
            return HTTPResponse(
                status: Int(response.status.code), headers: HTTPHeaders(response.headers),
                body: try await collect(response.body, until: end))
        } catch {
            throw TransportError(error, request: request)
        }
    }

    /// Sends a request and returns the status of the response as soon as its head has arrived.
    ///
    /// The body is not read. A connection on which a part of the body is still to come is closed.
    /// - Parameter request: The request. Its timeout is the maximum time until the head of the response.
    /// - Returns: The status code.
    /// - Throws: ``TransportError`` when no head of a response arrives in time.
    package func status(of request: HTTPRequest) async throws(TransportError) -> Int {
        let client = try clients.client(for: request)
        do {
            return Int(try await client.execute(Self.message(request), timeout: TimeAmount(request.timeout)).status.code)
        } catch {
            throw TransportError(error, request: request)
        }
    }

    /// Sends a request and passes the content to `receive` as it arrives.
    public func stream(
        _ request: HTTPRequest, receive: ContentReceiver
    ) async throws -> HTTPResponse {
        let response: HTTPClientResponse
        let client = try clients.client(for: request)
        do {
            response = try await client.execute(Self.message(request), timeout: TimeAmount(request.timeout))
        } catch {
            throw TransportError(error, request: request)
        }
        var result = HTTPResponse(status: Int(response.status.code), headers: HTTPHeaders(response.headers))
        do {
            if (200..<300).contains(result.status) {
                for try await piece in response.body {
                    try await ReceiverError.guarding { try await receive(Array(buffer: piece)) }
                }
            } else {
                result.body = try await collect(response.body, until: ContinuousClock.now + request.timeout)
            }
        } catch let error as ReceiverError {
            throw error.cause
        } catch let error as CancellationError {
            throw error
        } catch {
            throw TransportError(error, request: request)
        }
        return result
    }

    /// Collects the body until `end`.
    ///
    /// The timeout of the HTTP client covers only the response head. A body is abandoned at the first piece that arrives after
    /// `end`, or by the HTTP client if no piece arrives for the longest silence. A timeout task for each body would cost more
    /// than the exchange itself.
    private func collect(_ body: HTTPClientResponse.Body, until end: ContinuousClock.Instant) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in body {
            guard ContinuousClock.now < end else { throw HTTPClientError.deadlineExceeded }
            guard bytes.count + piece.readableBytes <= maxBodySize else { throw NIOTooManyBytesError(maxBytes: maxBodySize) }
            bytes += piece.readableBytesView
        }
        return bytes
    }

    private static func message(_ request: HTTPRequest) -> HTTPClientRequest {
        var message = HTTPClientRequest(url: request.url)
        message.method = HTTPMethod(rawValue: request.method)
        for field in request.headers.fields { message.headers.add(name: field.name, value: field.value) }
        if !request.body.isEmpty || request.method == "POST" { message.body = .bytes(request.body) }
        return message
    }
}

extension HTTPClient.Configuration {
    /// Returns this configuration with a check of the server's key on each connection.
    fileprivate func pinned(to pins: Set<PublicKeyPin>) -> HTTPClient.Configuration {
        guard !pins.isEmpty else { return self }
        var configuration = self
        let check: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in Self.check(channel, pins) }
        configuration.http1_1ConnectionDebugInitializer = check
        configuration.http2ConnectionDebugInitializer = check
        return configuration
    }

    /// Checks the key of a connection.
    ///
    /// Runs after the handshake and its checks, before the connection gets a request.
    private static func check(_ channel: any Channel, _ pins: Set<PublicKeyPin>) -> EventLoopFuture<Void> {
        channel.nioSSL_peerCertificate().flatMapThrowing { certificate in
            guard let key = try certificate?.extractPublicKey().toSPKIBytes(), pins.contains(PublicKeyPin(of: key)) else {
                throw WrongKey()
            }
        }.flatMapError { error in
            channel.close().flatMapThrowing { throw error }.flatMapErrorThrowing { _ in throw error }
        }
    }
}

/// The server's key is not among the pins.
private struct WrongKey: Error {}

extension HTTPHeaders {
    fileprivate init(_ headers: NIOHTTP1.HTTPHeaders) {
        self.init()
        for header in headers { append(header.name, header.value) }
    }
}

extension TransportError {
    fileprivate init(_ error: any Error, request: HTTPRequest) {
        let (code, reason): (Code, String) =
            switch error {
            case let error as HTTPClientError: Self.meaning(of: error)
            case is WrongKey: (.wrongKey, "the server's key is not one of the pinned keys")
            case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown:
                (.interrupted, "the connection ended before the answer did")
            case is HTTPParserError: (.notHTTP, "the answer is not HTTP")
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: (.tls, Self.reason(ofTLS: error))
            case is NIOTooManyBytesError: (.tooLarge, "the answer is too large")
            case is CancellationError: (.cancelled, "given up")
            case ChannelError.connectTimeout: (.connect, Self.noConnection)
            case is NIOConnectionError: (.connect, "no connection could be made")
            case let error as IOError where Self.comesBeforeConnection.contains(error.errnoCode):
                (.connect, "no connection could be made")
            // For any other error it is unknown whether the server received the request.
            default: (.interrupted, "the connection ended before the answer did")
            }
        self.init(code, host: Self.host(of: request.url), reason)
    }

    /// The error numbers of `socket` and `connect`.
    ///
    /// An established connection fails with other numbers.
    private static let comesBeforeConnection: Set<CInt> = [
        ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EACCES, EPERM, EMFILE, ENFILE,
    ]

    private static let noConnection = "no connection in time"

    /// Returns the reason of a failed handshake.
    ///
    /// BoringSSL says that a certificate was not accepted, and not whether its authority is unknown or its time is over.
    private static func reason(ofTLS error: any Error) -> String {
        switch error {
        case _ where (error as? NIOSSLExtraError) == .failedToValidateHostname: otherHostName
        case _ where "\(error)".contains("CERTIFICATE_VERIFY_FAILED"):
            "the server's certificate is not trusted here: its authority is unknown, or it has expired"
        case _ where "\(error)".contains("WRONG_VERSION_NUMBER"): noTLS
        default: "the secure connection could not be made"
        }
    }

    private static func meaning(of error: HTTPClientError) -> (Code, String) {
        switch error {
        // A request that still waits for a connection has sent nothing.
        case .connectTimeout, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout, .httpProxyHandshakeTimeout,
            .socksHandshakeTimeout:
            (.connect, noConnection)
        case .deadlineExceeded, .readTimeout, .writeTimeout: (.timeout, "no answer in time")
        case .remoteConnectionClosed, .requestStreamCancelled, .writeAfterRequestSent, .uncleanShutdown:
            (.interrupted, "the connection ended before the answer did")
        case .cancelled, .alreadyShutdown: (.cancelled, "given up")
        case .invalidURL, .emptyHost, .emptyScheme: (.invalidRequest, "not an address that can be asked")
        default: (.invalidRequest, "the request cannot be sent: \(error.shortDescription)")
        }
    }
}

extension TimeAmount {
    fileprivate init(_ duration: Duration) {
        let (seconds, attoseconds) = duration.components
        self = .nanoseconds(seconds * 1_000_000_000 + attoseconds / 1_000_000_000)
    }
}
#endif
