import SwiftASN1

/// Extracts the key from a certificate.
///
/// It reads only as much of X.509 (RFC 5280 section 4.1) as that requires. It is for transports whose library provides
/// certificates but not their SubjectPublicKeyInfo.
package enum CertificateKey {
    /// Returns the SubjectPublicKeyInfo of a DER certificate, byte for byte, or nil if the input isn't a certificate.
    package static func info(inCertificate der: some Sequence<UInt8>) -> [UInt8]? {
        guard case .constructed(let certificate)? = (try? DER.parse(Array(der)))?.content,
            case .constructed(let fields)? = certificate.first(where: { $0.identifier == .sequence })?.content
        else { return nil }
        // Signature algorithm, issuer, validity, subject, key. The other fields have other tags.
        return fields.filter { $0.identifier == .sequence }.dropFirst(4).first.map { Array($0.encodedBytes) }
    }
}

extension PublicKeyPin {
    /// Computes the pin of the key in a certificate, or returns nil if the input isn't a certificate.
    /// - Parameter certificate: The certificate in DER.
    package init?(ofCertificate certificate: some Sequence<UInt8>) {
        guard let info = CertificateKey.info(inCertificate: certificate) else { return nil }
        self.init(of: info)
    }
}
