import Logging
import NIOSSL
import SignetCore
import Synchronization

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What the server shows to each new connection: TLS 1.2 or newer. A certificate of the server's own authority is renewed while the server
/// runs, before it ends; somebody else's is read when the server starts.
final class TLSIdentity: Sendable {
    private struct State: Sendable {
        var context: NIOSSLContext
        /// Nil for never.
        var renewsAt: Date?
    }

    private let authority: AuthorityDirectory?
    /// The machine's own clock: clients go by theirs.
    private let clock: any WallClock
    private let logger: Logger
    private let state: Mutex<State>

    /// - Throws: ``ServerTLSError`` when there is no certificate to show.
    init(_ configuration: ServerConfiguration, _ tls: ServerTLS, clock: any WallClock, logger: Logger) throws(ServerTLSError) {
        self.clock = clock
        self.logger = logger
        switch tls {
        case .files(let certificate, let key):
            authority = nil
            state = Mutex(State(context: try Self.context(certificateFile: certificate, keyFile: key)))
        case .ownAuthority(let directory):
            let authority = AuthorityDirectory(path: directory, names: CertifiedNames(of: configuration))
            self.authority = authority
            let identity = try authority.identity(at: clock.now)
            Self.tell(identity, authority, logger)
            state = Mutex(State(context: try Self.context(identity), renewsAt: identity.renewsAt))
        }
    }

    /// What a new connection is shown.
    func context() -> NIOSSLContext {
        let now = clock.now
        return state.withLock { state in
            guard let authority, let renewsAt = state.renewsAt, now >= renewsAt else { return state.context }
            do {
                let identity = try authority.identity(at: now)
                state.context = try Self.context(identity)
                state.renewsAt = identity.renewsAt
                Self.tell(identity, authority, logger)
            } catch {
                // The present one is good for a while; an hour later there is another try.
                state.renewsAt = now + 3600
                logger.error("the server's certificate could not be renewed", metadata: ["reason": "\(error)"])
            }
            return state.context
        }
    }

    private static func tell(_ identity: AuthorityDirectory.Identity, _ authority: AuthorityDirectory, _ logger: Logger) {
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
        try context(
            certificates: Array(identity.certificate.utf8), key: Array(identity.key.utf8), "the server's certificate", "its key")
    }

    private static func context(certificateFile: String, keyFile: String) throws(ServerTLSError) -> NIOSSLContext {
        guard let certificates = try PrivateFiles.bytes(of: certificateFile, forbidden: 0) else {
            throw ServerTLSError("there is no file \(certificateFile)")
        }
        guard let key = try PrivateFiles.bytes(of: keyFile, forbidden: 0o027) else {
            throw ServerTLSError("there is no file \(keyFile)")
        }
        return try context(certificates: certificates, key: key, certificateFile, keyFile)
    }

    private static func context(
        certificates: [UInt8], key: [UInt8], _ certificateName: String, _ keyName: String
    ) throws(ServerTLSError) -> NIOSSLContext {
        guard let chain = try? NIOSSLCertificate.fromPEMBytes(certificates), !chain.isEmpty else {
            throw ServerTLSError("\(certificateName) is no certificate in PEM")
        }
        guard let privateKey = try? NIOSSLPrivateKey(bytes: key, format: .pem) else {
            throw ServerTLSError("\(keyName) is no key in PEM, or has a passphrase, which a server cannot be asked for")
        }
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
