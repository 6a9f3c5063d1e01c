import Crypto
import Foundation
import SwiftASN1
import X509

/// A directory with the server's own certificate authority, and the server certificate that the authority has issued.
///
/// A client that trusts the authority also trusts any holder of its private key. Therefore name constraints in the authority's
/// certificate (RFC 5280 section 4.2.1.10) limit the names that it can certify. A stolen key is valid for the names of this
/// server only.
struct AuthorityDirectory {
    static let certificateName = "authority.pem"

    let path: String
    let names: CertifiedNames

    /// The server's certificate and private key, in PEM.
    struct Identity: Sendable {
        let certificate: String
        let key: String
        /// The time from which the certificate should be replaced.
        let renewsAt: Date
        let authority: State
    }

    /// The state of the authority, which tells if clients already trust it.
    enum State: Sendable, Hashable {
        /// The authority's certificate is unchanged, and clients that trust it trust the server.
        case kept
        /// The authority has a new certificate for the same key. Clients that trust the old one must install the new one before
        /// the old one expires.
        case renewed
        /// The authority is new, and no client trusts it yet.
        case new
    }

    private struct Signer {
        /// Nil when only the key exists, because the certificate was never written or was removed.
        var certificate: Certificate?
        let key: Certificate.PrivateKey
    }

    private struct Authority {
        let certificate: Certificate
        let key: Certificate.PrivateKey
        let state: State
    }

    private static let day = 86_400.0
    private static let authorityLife = 3650 * day
    private static let authorityMargin = 180 * day
    private static let serverLife = 90 * day
    private static let serverMargin = 30 * day

    private var authorityFiles: (certificate: String, key: String) {
        ("\(path)/\(Self.certificateName)", "\(path)/authority.key")
    }
    private var serverFiles: (certificate: String, key: String) { ("\(path)/server.pem", "\(path)/server.key") }

    /// Returns the stored identity if it is valid for long enough.
    ///
    /// Creates the parts that are missing or expire soon.
    /// - Throws: ``ServerTLSError`` when the files cannot be used. No file is removed then.
    func identity(at now: Date) throws(ServerTLSError) -> Identity {
        try PrivateFiles.withLock(on: path) { () throws(ServerTLSError) in
            let authority = try authority(at: now)
            if authority.state == .kept, let server = try server(of: authority, at: now) { return server }
            return try makeServer(of: authority, at: now)
        }
    }

    // MARK: The authority

    private func authority(at now: Date) throws(ServerTLSError) -> Authority {
        let known = try keptAuthority()
        if let known, let certificate = known.certificate {
            try checkNames(certificate)
            if now < certificate.notValidAfter - Self.authorityMargin {
                return Authority(certificate: certificate, key: known.key, state: .kept)
            }
        }
        return try makeAuthority(at: now, after: known)
    }

    private func keptAuthority() throws(ServerTLSError) -> Signer? {
        let files = authorityFiles
        let (certificate, key) = (try text(of: files.certificate), try text(of: files.key, isSecret: true))
        guard certificate != nil || key != nil else { return nil }
        guard let key, let read = Self.signer(certificate, key) else {
            throw ServerTLSError(
                "\(files.certificate) and \(files.key) are not an authority and its key: put them back, or remove both for a new one, "
                    + "which has to be trusted anew")
        }
        return read
    }

    /// Creates the authority's certificate.
    ///
    /// An existing key and name are kept, so that certificates that the key has signed are valid under the old and the new
    /// certificate.
    private func makeAuthority(at now: Date, after known: Signer?) throws(ServerTLSError) -> Authority {
        let key = known?.key ?? Certificate.PrivateKey(P256.Signing.PrivateKey())
        let permitted = names.hosts.union(Self.permittedNames(known?.certificate) ?? [])
        let made = Result { () throws -> Certificate in
            let name =
                try known?.certificate?.subject
                ?? DistinguishedName {
                    CommonName(
                        "Signet development authority (\(permitted.sorted().filter { $0 != "localhost" }.first ?? "localhost"))")
                }
            let identifier = SubjectKeyIdentifier(hash: key.publicKey)
            let extensions = try Certificate.Extensions {
                Critical(BasicConstraints.isCertificateAuthority(maxPathLength: 0))
                Critical(KeyUsage(keyCertSign: true, cRLSign: true))
                Critical(NameConstraints(permittedSubtrees: permitted.sorted().map { .dnsName($0) }))
                identifier
            }
            return try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
                notValidBefore: now - Self.day, notValidAfter: now + Self.authorityLife, issuer: name, subject: name,
                signatureAlgorithm: .ecdsaWithSHA256, extensions: extensions, issuerPrivateKey: key)
        }
        let certificate = try Self.unwrap(made)
        if known == nil { _ = try save(key, to: authorityFiles.key) }
        _ = try save(certificate, to: authorityFiles.certificate)
        return Authority(certificate: certificate, key: key, state: known?.certificate == nil ? .new : .renewed)
    }

    private static func permittedNames(_ certificate: Certificate?) -> Set<String>? {
        (try? certificate?.extensions.nameConstraints).map { Set($0.permittedDNSDomains) }
    }

    /// Checks that the authority can certify all names.
    ///
    /// A further name requires a new authority that no client trusts yet, so the server reports an error instead of creating one.
    private func checkNames(_ authority: Certificate) throws(ServerTLSError) {
        guard let permitted = Self.permittedNames(authority) else { return }
        let missing = names.hosts.filter { !permitted.contains($0) }.sorted()
        guard missing.isEmpty else {
            throw ServerTLSError(
                "the authority in \(path) is not permitted to certify \(missing.joined(separator: ", ")), only for "
                    + "\(permitted.sorted().joined(separator: ", ")): name another directory, or remove that one, "
                    + "and trust the new authority")
        }
    }

    // MARK: The server's certificate

    /// Returns the stored server certificate; nil when it isn't valid for these names, from this authority, and for long enough.
    private func server(of authority: Authority, at now: Date) throws(ServerTLSError) -> Identity? {
        let files = serverFiles
        guard let certificate = try text(of: files.certificate), let key = try text(of: files.key, isSecret: true),
            let read = Self.signer(certificate, key)?.certificate, let known = try? CertifiedNames(read),
            names.isSubset(of: known), read.issuer == authority.certificate.subject,
            authority.key.publicKey.isValidSignature(read.signature, for: read)
        else { return nil }
        let renewsAt = read.notValidAfter - Self.serverMargin
        guard read.notValidBefore <= now, now < renewsAt else { return nil }
        return Identity(certificate: certificate, key: key, renewsAt: renewsAt, authority: .kept)
    }

    private func makeServer(of authority: Authority, at now: Date) throws(ServerTLSError) -> Identity {
        let key = Certificate.PrivateKey(P256.Signing.PrivateKey())
        let end = min(now + Self.serverLife, authority.certificate.notValidAfter)
        let made = Result { () throws -> Certificate in
            let extensions = try Certificate.Extensions {
                Critical(BasicConstraints.notCertificateAuthority)
                Critical(KeyUsage(digitalSignature: true))
                try ExtendedKeyUsage([.serverAuth])
                SubjectAlternativeNames(names.generalNames)
                SubjectKeyIdentifier(hash: key.publicKey)
                AuthorityKeyIdentifier(
                    keyIdentifier: SubjectKeyIdentifier(hash: authority.key.publicKey).keyIdentifier)
            }
            return try Certificate(
                version: .v3, serialNumber: Certificate.SerialNumber(), publicKey: key.publicKey,
                notValidBefore: now - Self.day, notValidAfter: end, issuer: authority.certificate.subject,
                subject: try DistinguishedName { CommonName("Signet development server") }, signatureAlgorithm: .ecdsaWithSHA256,
                extensions: extensions, issuerPrivateKey: authority.key)
        }
        let certificate = try Self.unwrap(made)
        let keyText = try save(key, to: serverFiles.key)
        return Identity(
            certificate: try save(certificate, to: serverFiles.certificate), key: keyText, renewsAt: end - Self.serverMargin,
            authority: authority.state)
    }

    // MARK: Files

    private func text(of file: String, isSecret: Bool = false) throws(ServerTLSError) -> String? {
        let bytes = try PrivateFiles.bytes(of: file, forbidden: isSecret ? 0o077 : 0o022, mustBeOwn: true)
        return bytes.map { String(decoding: $0, as: UTF8.self) }
    }

    private func save(_ certificate: Certificate, to file: String) throws(ServerTLSError) -> String {
        let text = try Self.unwrap(Result { try certificate.serializeAsPEM().pemString + "\n" })
        try PrivateFiles.replace(file, with: text, mode: 0o644)
        return text
    }

    /// Saves a key.
    ///
    /// The key must be saved before its certificate, because a certificate without its key is treated as damage.
    private func save(_ key: Certificate.PrivateKey, to file: String) throws(ServerTLSError) -> String {
        let text = try Self.unwrap(Result { try key.serializeAsPEM().pemString + "\n" })
        try PrivateFiles.replace(file, with: text, mode: 0o600)
        return text
    }

    /// Reads a key and the certificate for it, if there is one.
    ///
    /// Returns nil when they are invalid or don't match.
    private static func signer(_ certificate: String?, _ key: String) -> Signer? {
        guard let key = try? Certificate.PrivateKey(pemEncoded: key) else { return nil }
        guard let certificate else { return Signer(key: key) }
        guard let certificate = try? Certificate(pemEncoded: certificate), certificate.publicKey == key.publicKey else {
            return nil
        }
        return Signer(certificate: certificate, key: key)
    }

    private static func unwrap<R>(_ result: Result<R, any Error>) throws(ServerTLSError) -> R {
        switch result {
        case .success(let value): return value
        case .failure(let error as ServerTLSError): throw error
        case .failure(let error): throw ServerTLSError("the certificate cannot be made: \(type(of: error))")
        }
    }
}
