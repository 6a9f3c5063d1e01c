import Foundation
import SignetCore
import SwiftASN1
import X509

/// The names and addresses of a server, for its certificate.
struct CertifiedNames: Sendable, Hashable {
    /// DNS names, in lowercase.
    private(set) var hosts: Set<String> = []
    /// IP addresses, 4 or 16 bytes each.
    private(set) var addresses: Set<[UInt8]> = []

    /// Sorts texts into names and addresses.
    /// - Parameter texts: Names and addresses; other texts are ignored.
    init(_ texts: [String]) {
        for text in texts {
            if let address = Self.address(text) {
                addresses.insert(address)
            } else if Self.isName(text) {
                hosts.insert(text.lowercased())
            }
        }
    }

    /// Collects this machine's host name, the loopback names, and the names in a configuration.
    init(of configuration: ServerConfiguration) {
        var texts = ["localhost", "127.0.0.1", "::1", Self.machine]
        if !configuration.listensEverywhere { texts.append(configuration.host) }
        if let url = configuration.publicURL, let endpoint = try? Endpoint(url) { texts.append(endpoint.host) }
        self.init(texts)
    }

    /// Reads the names of a certificate.
    init(_ certificate: Certificate) throws {
        for name in try certificate.extensions.subjectAlternativeNames ?? SubjectAlternativeNames([]) {
            switch name {
            case .dnsName(let host): hosts.insert(host)
            case .ipAddress(let address): addresses.insert(Array(address.bytes))
            default: break
            }
        }
    }

    func isSubset(of other: CertifiedNames) -> Bool {
        hosts.isSubset(of: other.hosts) && addresses.isSubset(of: other.addresses)
    }

    /// The names for a certificate, in a stable order.
    var generalNames: [GeneralName] {
        hosts.sorted().map { .dnsName($0) }
            + addresses.sorted { $0.lexicographicallyPrecedes($1) }.map {
                .ipAddress(ASN1OctetString(contentBytes: $0[...]))
            }
    }

    /// Returns the bytes of an IP address; nil for any other text.
    static func address(_ text: String) -> [UInt8]? {
        for (family, size) in [(AF_INET, 4), (AF_INET6, 16)] {
            var bytes = [UInt8](repeating: 0, count: size)
            if inet_pton(family, text, &bytes) == 1 { return bytes }
        }
        return nil
    }

    private static func isName(_ text: String) -> Bool {
        !text.isEmpty && text.utf8.count <= 253
            && text.split(separator: ".", omittingEmptySubsequences: false).allSatisfy { label in
                !label.isEmpty && label.utf8.count <= 63
                    && label.utf8.allSatisfy { $0.isASCIILetterOrDigit || $0 == UInt8(ascii: "-") }
            }
    }

    private static var machine: String {
        var name = [CChar](repeating: 0, count: 256)
        guard gethostname(&name, name.count - 1) == 0 else { return "" }
        return String(decoding: name.prefix { $0 != 0 }.map { UInt8(bitPattern: $0) }, as: UTF8.self)
    }
}
