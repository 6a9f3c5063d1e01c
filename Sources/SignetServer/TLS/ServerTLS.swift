#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What a server shows so that its clients know that it is the one they mean.
public enum ServerTLS: Sendable, Hashable {
    /// A certificate, with those that lead to its authority behind it, and its key: paths of files in PEM. The key's file may be read by its
    /// owner and a group only.
    case files(certificate: String, key: String)
    /// An authority of the server's own, in a directory: made when there is none, and kept. Whoever is to believe the server trusts
    /// ``authorityFile``. The authority can vouch for this machine's names, the ``ServerConfiguration/host`` and the public address, for names
    /// below them, and for no other name; keys are of mode 0600.
    case ownAuthority(directory: String)

    /// The certificate that clients are to trust, as a path of a file in PEM; nil where the server's certificate is somebody else's.
    public var authorityFile: String? {
        if case .ownAuthority(let directory) = self { "\(directory)/\(AuthorityDirectory.certificateName)" } else { nil }
    }
}

/// Why a server has no certificate to show. It names the file, and the way on; nothing of what is in it.
public struct ServerTLSError: Error, Sendable, Hashable, CustomStringConvertible {
    /// What is wrong.
    public let description: String

    init(_ description: String) { self.description = description }
}
