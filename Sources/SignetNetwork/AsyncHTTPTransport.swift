import AsyncHTTPClient
import NIOCore
import NIOHTTP1
import NIOPosix
import NIOSSL

#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#else
import Darwin
#endif

/// The transport for Linux and servers, over async-http-client. Its connections end when it is let go of; ``close()`` waits until
/// they have.
///
/// Requests that insist on a server's key (``HTTPRequest/pins``) get connections of their own, on each of which the key is
/// looked at after the handshake, with its usual checks, and before any request is written.
public final class AsyncHTTPTransport: HTTPTransport {
    private let clients: PinnedClients<HTTPClient>
    private let largestBody: Int

    /// The certificates that vouch for servers.
    public enum Authorities: Sendable, Hashable {
        /// Those that the system trusts.
        case system
        /// Those in a file in PEM, and no others: a company's own authority.
        case file(String)
    }

    /// A transport with its own connections.
    /// - Parameters:
    ///   - largestBody: The most bytes of a response that ``send(_:)`` takes.
    ///   - authorities: Who vouches for the servers.
    ///   - longestSilence: How long a peer may say nothing, not even a keep-alive, before it is taken for dead; of it 10 seconds at most
    ///     for a connection to be made.
    public init(
        largestBody: Int = 1 << 20, authorities: Authorities = .system, longestSilence: Duration = .seconds(30)
    ) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // Without this a failed handshake is retried until the connect timeout, and a refused key crashes the client
        // (research/swift-stack.md section 2).
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.timeout.read = TimeAmount(longestSilence)
        configuration.timeout.connect = TimeAmount(min(longestSilence, .seconds(10)))
        var tls = TLSConfiguration.makeClientConfiguration()
        // The library's own list leaves Ed25519 out.
        tls.verifySignatureAlgorithms = [
            .ecdsaSecp256R1Sha256, .ecdsaSecp384R1Sha384, .ed25519, .rsaPssRsaeSha256, .rsaPssRsaeSha384, .rsaPssRsaeSha512,
            .rsaPkcs1Sha256, .rsaPkcs1Sha384, .rsaPkcs1Sha512,
        ]
        if case .file(let path) = authorities { tls.trustRoots = .file(path) }
        configuration.tlsConfiguration = tls
        clients = PinnedClients { [configuration] pins in HTTPClient(configuration: configuration.pinned(to: pins)) }
        self.largestBody = largestBody
    }

    deinit {
        // A debug build would be ended by the library for letting go of a client that has not been shut down.
        let open = clients.close()
        if !open.isEmpty { Task.detached { await Self.end(open) } }
    }

    /// Ends the connections. No request may be made afterwards.
    public func close() async { await Self.end(clients.close()) }

    private static func end(_ clients: [HTTPClient]) async {
        // It fails only when called twice, which leaves it as closed as once.
        for client in clients { try? await client.shutdown() }
    }

    /// True.
    public var canPin: Bool { true }

    /// Does `body`, and then ends the connections, however it went.
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

    /// Sends a request and hands the content over as it comes.
    public func stream(
        _ request: HTTPRequest, receive: @Sendable (_ piece: [UInt8]) async throws -> Void
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

    /// The client's own timeout ends with the head of the response. The body is given up at the first piece that comes too
    /// late, and by the client when no piece comes for the longest silence: a task that sleeps beside every body would cost more
    /// than the exchange.
    private func collect(_ body: HTTPClientResponse.Body, until end: ContinuousClock.Instant) async throws -> [UInt8] {
        var bytes: [UInt8] = []
        for try await piece in body {
            guard ContinuousClock.now < end else { throw HTTPClientError.deadlineExceeded }
            guard bytes.count + piece.readableBytes <= largestBody else { throw NIOTooManyBytesError(maxBytes: largestBody) }
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
    /// The same for connections of which the key is looked at.
    fileprivate func pinned(to pins: Set<PublicKeyPin>) -> HTTPClient.Configuration {
        guard !pins.isEmpty else { return self }
        var configuration = self
        let check: @Sendable (any Channel) -> EventLoopFuture<Void> = { channel in Self.check(channel, pins) }
        configuration.http1_1ConnectionDebugInitializer = check
        configuration.http2ConnectionDebugInitializer = check
        return configuration
    }

    /// Runs when the handshake is over and its checks are passed, and before the connection is given a request.
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
            case is WrongKey: (.wrongKey, "the server's key is none of those that are pinned")
            case HTTPParserError.invalidEOFState, NIOSSLError.uncleanShutdown:
                (.interrupted, "the connection ended before the answer did")
            case is HTTPParserError: (.notHTTP, "the answer is not HTTP")
            case is NIOSSLError, is BoringSSLError, is NIOSSLExtraError: (.tls, "the secure connection could not be made")
            case is NIOTooManyBytesError: (.tooLarge, "the answer is too large")
            case is CancellationError: (.cancelled, "given up")
            case ChannelError.connectTimeout: (.connect, Self.noConnection)
            case is NIOConnectionError: (.connect, "no connection could be made")
            case let error as IOError where Self.comesBeforeConnection.contains(error.errnoCode):
                (.connect, "no connection could be made")
            // Of anything else it is not known whether the server saw the request.
            default: (.interrupted, "the connection ended before the answer did")
            }
        self.init(code, host: Self.host(of: request.url), reason)
    }

    /// What `socket` and `connect` fail with; a connection that was made ends with other numbers.
    private static let comesBeforeConnection: Set<CInt> = [
        ECONNREFUSED, EHOSTUNREACH, ENETUNREACH, ENETDOWN, EHOSTDOWN, EADDRNOTAVAIL, EACCES, EPERM, EMFILE, ENFILE,
    ]

    private static let noConnection = "no connection in time"

    private static func meaning(of error: HTTPClientError) -> (Code, String) {
        switch error {
        // Whoever waits for a connection has sent nothing yet.
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
