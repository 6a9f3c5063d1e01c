import Crypto

/// The HTTP request to which a DPoP proof belongs (RFC 9449 section 4.2).
package struct DPoPRequest: Sendable, Hashable {
    /// The HTTP method (`htm`).
    package let method: String
    /// The address without query and fragment, normalized (`htu`).
    package let url: String
    /// The hash of the access token in the request (`ath`); nil for a request without an access token.
    package let accessTokenHash: String?

    /// Creates the description of a request.
    ///
    /// Returns nil for an address that isn't an absolute `http` or `https` address.
    /// - Parameters:
    ///   - method: The HTTP method.
    ///   - url: The address; its query and its fragment are dropped.
    ///   - accessToken: The access token in the request; nil for a request without one.
    package init?(method: String, url: String, accessToken: Secret? = nil) {
        guard let url = Self.normalized(url) else { return nil }
        self.method = method
        self.url = url
        accessTokenHash = accessToken.map { Base64.encode(Array(SHA256.hash(data: $0.bytes)), as: .url) }
    }

    /// Returns an address without query and fragment in the form of RFC 3986 sections 6.2.2 and 6.2.3.
    ///
    /// Returns nil when it isn't an absolute `http` or `https` address.
    ///
    /// The scheme, the host and percent-encodings are written in one way, a default port and dot segments are removed, and an empty
    /// path is `/`.
    package static func normalized(_ url: String) -> String? {
        guard let endpoint = try? Endpoint(unchecked: url) else { return nil }
        let rest = url.utf8.drop { $0 != UInt8(ascii: ":") }.dropFirst(3)
        let address = rest.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        guard let path = normalizedPath(Array(address.drop { $0 != UInt8(ascii: "/") })) else { return nil }
        let host = endpoint.host.contains(":") ? "[\(endpoint.host)]" : endpoint.host
        let isDefault = endpoint.port == (endpoint.scheme == "https" ? 443 : 80)
        return "\(endpoint.scheme)://\(host)\(isDefault ? "" : ":\(endpoint.port)")\(path)"
    }

    private static func normalizedPath(_ path: [UInt8]) -> String? {
        var text: [UInt8] = []
        text.reserveCapacity(path.count)
        var index = 0
        while index < path.count {
            guard path[index] == UInt8(ascii: "%") else {
                text.append(path[index])
                index += 1
                continue
            }
            guard index + 2 < path.count, let high = hexValue(path[index + 1]), let low = hexValue(path[index + 2]) else {
                return nil
            }
            let byte = high << 4 | low
            if isUnreserved(byte) {
                text.append(byte)
            } else {
                text += [UInt8(ascii: "%"), upperHexDigit(high), upperHexDigit(low)]
            }
            index += 3
        }
        return withoutDotSegments(String(decoding: text, as: UTF8.self))
    }

    /// Removes the segments `.` and `..` (RFC 3986 section 5.2.4).
    private static func withoutDotSegments(_ path: String) -> String {
        guard path.contains("/.") else { return path.isEmpty ? "/" : path }
        var kept: [Substring] = []
        let segments = path.split(separator: "/", omittingEmptySubsequences: false).dropFirst()
        for segment in segments where segment != "." {
            if segment == ".." { _ = kept.popLast() } else { kept.append(segment) }
        }
        let isDirectory = segments.last.map { $0 == "." || $0 == ".." } ?? false
        return "/" + kept.joined(separator: "/") + (isDirectory && !kept.isEmpty ? "/" : "")
    }

    private static func isUnreserved(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"), UInt8(ascii: "0")...UInt8(ascii: "9"),
            UInt8(ascii: "-"), UInt8(ascii: "."), UInt8(ascii: "_"), UInt8(ascii: "~"):
            true
        default: false
        }
    }

    private static func hexValue(_ digit: UInt8) -> UInt8? {
        switch digit {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): digit - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): digit - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): digit - UInt8(ascii: "A") + 10
        default: nil
        }
    }

    private static func upperHexDigit(_ value: UInt8) -> UInt8 {
        value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
    }
}
