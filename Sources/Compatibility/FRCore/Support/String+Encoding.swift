public import Foundation
import SignetCore

extension String {
    /// Returns the base64 of the text.
    public func base64Encoded() -> String? { Base64.encode(Array(utf8), as: .standard) }

    /// Returns the URL-safe base64 of the text, without padding.
    public func base64URLSafeEncoded() -> String? { Base64.encode(Array(utf8), as: .url) }

    /// Returns the text of this base64, padded or not; nil when it is neither base64 nor text.
    public func base64Decoded() -> String? { decodeBase64().flatMap { String(data: $0, encoding: .utf8) } }

    /// Returns true when this is base64 with its padding.
    public func isBase64Encoded() -> Bool { Data(base64Encoded: self) != nil }

    /// Returns the bytes of this URL-safe base64; nil when it is something else.
    public func decodeURL() -> Data? { urlSafeDecoding().decodeBase64() }

    /// Returns the bytes of this base64, padded or not; nil when it is something else.
    public func decodeBase64() -> Data? { Data(base64Encoded: base64Pad()) }

    /// Returns the text with as many `=` as base64 of its length needs.
    public func base64Pad() -> String { self + String(repeating: "=", count: (4 - count % 4) % 4) }

    /// Returns the text with the characters of standard base64 in place of the URL-safe ones.
    public func urlSafeDecoding() -> String { String(map { $0 == "-" ? "+" : $0 == "_" ? "/" : $0 }) }

    /// Returns the text with the URL-safe characters in place of those of standard base64, without padding.
    public func urlSafeEncoding() -> String {
        String(filter { $0 != "=" }.map { $0 == "+" ? "-" : $0 == "/" ? "_" : $0 })
    }

    /// The bytes of the text in UTF-8.
    public var bytes: [UInt8] { Array(utf8) }

    /// The SHA-256 of the text in UTF-8.
    public var sha256: Data? { Data(utf8).sha256 }

    /// True for an absolute `http` or `https` address with a host.
    public var isValidUrl: Bool { (try? Endpoint(unchecked: self)) != nil }
}

extension URL {
    /// Returns the value of a parameter of the query; nil without it.
    public func valueOf(_ queryParamaterName: String) -> String? {
        URLComponents(string: absoluteString)?.queryItems?.first { $0.name == queryParamaterName }?.value
    }

    /// Returns true when both addresses have the same scheme, host and port and, if asked, the same path.
    ///
    /// An empty path and `/` are the same.
    public func isSame(_ url: URL, shouldCheckPath: Bool = true) -> Bool {
        func path(_ url: URL) -> String { url.relativePath == "/" ? "" : url.relativePath }
        guard host == url.host, scheme == url.scheme, port == url.port else { return false }
        return !shouldCheckPath || path(self) == path(url)
    }
}
