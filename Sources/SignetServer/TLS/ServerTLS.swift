import Foundation

/// The source of a server's TLS certificate.
public enum ServerTLS: Sendable, Hashable {
    /// Paths of PEM files: the certificate, followed by the intermediate certificates, and its private key. Only the owner and
    /// the group may have access to the key file, and the group only to read it.
    case files(certificate: String, key: String)
    /// The server's own certificate authority, in a directory. It is created if it is missing. Clients must trust
    /// ``authorityFile``. The authority can certify only this machine's names, the ``ServerConfiguration/host``, the public
    /// address, and their subdomains. Key files have mode 0600.
    case ownAuthority(directory: String)

    /// The path of the PEM file with the certificate that clients must trust; nil when the server's certificate comes from
    /// another authority.
    public var authorityFile: String? {
        if case .ownAuthority(let directory) = self { "\(directory)/\(AuthorityDirectory.certificateName)" } else { nil }
    }
}

/// The error for a server without a usable certificate.
///
/// It names the file and the remedy, and never contains the contents of the file.
public struct ServerTLSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The message.
    public let description: String

    init(_ description: String) { self.description = description }
}
