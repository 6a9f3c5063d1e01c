/// Extracts the key from a certificate. It parses only as much of X.509 (RFC 5280 section 4.1) as that requires. It is for
/// transports whose library provides certificates but not their SubjectPublicKeyInfo.
package enum CertificateKey {
    /// Returns the SubjectPublicKeyInfo of a DER certificate, byte for byte, or nil if the input isn't a certificate.
    package static func info(inCertificate der: some Sequence<UInt8>) -> [UInt8]? {
        var whole = DER(bytes: Array(der)[...])
        guard let certificate = whole.next(DER.sequence), whole.bytes.isEmpty else { return nil }
        var outer = DER(bytes: certificate.content)
        guard let signed = outer.next(DER.sequence) else { return nil }
        var fields = DER(bytes: signed.content)
        // The version is absent in certificates of version 1.
        _ = fields.next(DER.version)
        // Skips the serial number, then signature algorithm, issuer, validity and subject.
        guard fields.next(DER.integer) != nil, (0..<4).allSatisfy({ _ in fields.next(DER.sequence) != nil }) else { return nil }
        return fields.next(DER.sequence).map { Array($0.whole) }
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

/// Reads consecutive DER (X.690) elements.
private struct DER {
    static let sequence: UInt8 = 0x30
    static let integer: UInt8 = 0x02
    static let version: UInt8 = 0xA0

    var bytes: ArraySlice<UInt8>

    struct Element {
        let whole: ArraySlice<UInt8>
        let content: ArraySlice<UInt8>
    }

    /// Reads the next element if it has this tag. Otherwise returns nil and doesn't advance.
    mutating func next(_ tag: UInt8) -> Element? {
        guard bytes.first == tag, let first = bytes.dropFirst().first else { return nil }
        var length = Int(first)
        var head = 2
        if first >= 0x80 {
            let digits = Int(first & 0x7F)
            head += digits
            guard (1...4).contains(digits), bytes.count >= head else { return nil }
            length = bytes.dropFirst(2).prefix(digits).reduce(0) { $0 << 8 | Int($1) }
        }
        guard bytes.count - head >= length else { return nil }
        let whole = bytes.prefix(head + length)
        bytes = bytes.dropFirst(head + length)
        return Element(whole: whole, content: whole.dropFirst(head))
    }
}
