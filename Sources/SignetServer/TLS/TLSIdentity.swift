import Foundation
import Logging
import NIOSSL
import SignetCore

/// The TLS configuration (TLS 1.2 or newer) for new connections.
///
/// A certificate from the server's own authority is renewed while the server runs, before it expires. A certificate from files is
/// read when the server starts.
final class TLSIdentity: Sendable {
    private struct State: Sendable {
        var context: NIOSSLContext
        /// The time of the next renewal; nil for a certificate that isn't renewed.
        var renewsAt: Date?
    }

    private let authority: AuthorityDirectory?
    /// The machine's clock, because clients check certificates by their own clocks.
    private let clock: any WallClock
    private let logger: Logger
    private let state: Mutex<State>

    /// Loads or creates the certificate.
    /// - Throws: ``ServerTLSError`` when the certificate is not usable.
    init(_ configuration: ServerConfiguration, _ tls: ServerTLS, clock: any WallClock, logger: Logger) throws(ServerTLSError) {
        self.clock = clock
        self.logger = logger
        switch tls {
        case .files(let certificate, let key):
            authority = nil
            let (chain, privateKey) = (try Self.certificates(in: certificate), try Self.privateKey(in: key))
            state = Mutex(State(context: try Self.context(chain, privateKey, certificate, key)))
        case .ownAuthority(let directory):
            let authority = AuthorityDirectory(path: directory, names: CertifiedNames(of: configuration))
            self.authority = authority
            let identity = try authority.identity(at: clock.now)
            Self.report(identity, authority, logger)
            state = Mutex(State(context: try Self.context(identity), renewsAt: identity.renewsAt))
        }
    }

    /// Returns the TLS context for a new connection.
    ///
    /// Renews the certificate if it is time.
    func context() -> NIOSSLContext {
        let now = clock.now
        return state.withLock { state in
            guard let authority, let renewsAt = state.renewsAt, now >= renewsAt else { return state.context }
            do {
                let identity = try authority.identity(at: now)
                state.context = try Self.context(identity)
                state.renewsAt = identity.renewsAt
                Self.report(identity, authority, logger)
            } catch {
                // The present certificate is valid for some time yet. Retry in an hour.
                state.renewsAt = now + 3600
                logger.error("the server's certificate could not be renewed", metadata: ["reason": "\(error)"])
            }
            return state.context
        }
    }

    private static func report(_ identity: AuthorityDirectory.Identity, _ authority: AuthorityDirectory, _ logger: Logger) {
        let file: Logger.Metadata = ["file": "\(authority.path)/\(AuthorityDirectory.certificateName)"]
        switch identity.authority {
        case .kept: break
        case .renewed:
            logger.warning(
                "the authority's certificate ends soon; clients have half a year to take the new one, of the same key",
                metadata: file)
        case .new: logger.notice("a new authority was made; clients have to trust it", metadata: file)
        }
    }

    private static func context(_ identity: AuthorityDirectory.Identity) throws(ServerTLSError) -> NIOSSLContext {
        let (certificateName, keyName) = ("the server's certificate", "its key")
        return try context(
            certificates(Array(identity.certificate.utf8), certificateName), privateKey(Array(identity.key.utf8), keyName),
            certificateName, keyName)
    }

    /// Reads the certificates in a file.
    static func certificates(in file: String) throws(ServerTLSError) -> [NIOSSLCertificate] {
        try certificates(bytes(of: file, forbidden: 0), file)
    }

    /// Reads the private key in a file that must not be readable for all users.
    static func privateKey(in file: String) throws(ServerTLSError) -> NIOSSLPrivateKey {
        try privateKey(bytes(of: file, forbidden: 0o027), file)
    }

    private static func bytes(of file: String, forbidden: UInt32) throws(ServerTLSError) -> [UInt8] {
        guard let bytes = try PrivateFiles.bytes(of: file, forbidden: forbidden) else {
            throw ServerTLSError("there is no file \(file)")
        }
        return bytes
    }

    private static func certificates(_ bytes: [UInt8], _ name: String) throws(ServerTLSError) -> [NIOSSLCertificate] {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(bytes), !chain.isEmpty else {
            throw ServerTLSError("\(name) is not a certificate in PEM")
        }
        return chain
    }

    private static func privateKey(_ bytes: [UInt8], _ name: String) throws(ServerTLSError) -> NIOSSLPrivateKey {
        guard let key = try? NIOSSLPrivateKey(bytes: bytes, format: .pem) else {
            throw ServerTLSError("\(name) is not a key in PEM without a passphrase")
        }
        return key
    }

    /// Creates a TLS context from a certificate and its key.
    ///
    /// The names are for error messages.
    static func context(
        _ chain: [NIOSSLCertificate], _ privateKey: NIOSSLPrivateKey, _ certificateName: String, _ keyName: String
    ) throws(ServerTLSError) -> NIOSSLContext {
        var configuration = TLSConfiguration.makeServerConfiguration(
            certificateChain: chain.map { .certificate($0) }, privateKey: .privateKey(privateKey))
        configuration.minimumTLSVersion = .tlsv12
        configuration.applicationProtocols = ["http/1.1"]
        do {
            return try NIOSSLContext(configuration: configuration)
        } catch {
            throw ServerTLSError("\(keyName) is not the key of \(certificateName)")
        }
    }
}
