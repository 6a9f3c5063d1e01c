import Crypto
package import SignetCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// AWS Signature Version 4 in the `Authorization` header.
///
/// It consists of pure functions that both the sender and the verifier of a request use.
package enum AWSSignature {
    /// The parts of an HTTP request that the signature covers.
    package struct Request: Sendable {
        var method: String
        /// The path as it was sent, with its percent-encoding.
        var path: String
        /// The names and values of the query, decoded.
        var query: [(name: String, value: String)]
        /// The headers that are signed, with names in lower case.
        var headers: [(name: String, value: String)]
        var body: [UInt8]

        /// Creates a request.
        ///
        /// The path is percent-encoded, the query is decoded, and the names of headers are in lower case.
        package init(
            method: String, path: String, query: [(name: String, value: String)], headers: [(name: String, value: String)],
            body: [UInt8]
        ) {
            (self.method, self.path, self.query, self.headers, self.body) = (method, path, query, headers, body)
        }
    }

    /// The credential scope: the time, region and service for which a signature is valid.
    package struct Scope: Sendable, Hashable {
        /// The time of the request, such as `20150830T123600Z`.
        package let time: String
        let region: String
        let service: String

        /// Creates the scope of a request that is sent at `time`.
        package init(time: String, region: String, service: String) {
            (self.time, self.region, self.service) = (time, region, service)
        }

        var day: String { String(time.prefix(8)) }
        /// The text of the scope, such as `20150830/us-east-1/sns/aws4_request`.
        var text: String { "\(day)/\(region)/\(service)/\(AWSSignature.terminator)" }
    }

    static let algorithm = "AWS4-HMAC-SHA256"
    static let terminator = "aws4_request"

    /// Returns the signature in hexadecimal.
    package static func signature(of request: Request, _ scope: Scope, secret: Secret) -> String {
        var key = SymmetricKey(data: Array("AWS4".utf8) + secret.bytes)
        for part in [scope.day, scope.region, scope.service, terminator] {
            key = SymmetricKey(data: Array(mac(of: part, key)))
        }
        return Hexadecimal.text(of: mac(of: stringToSign(request, scope), key)).lowercased()
    }

    static func stringToSign(_ request: Request, _ scope: Scope) -> String {
        [algorithm, scope.time, scope.text, hash(of: Array(request.canonical.utf8))].joined(separator: "\n")
    }

    /// Returns the value of the `Authorization` header.
    package static func authorization(of request: Request, _ scope: Scope, _ credentials: AWSCredentials) -> String {
        let signature = signature(of: request, scope, secret: credentials.secret)
        return "\(algorithm) Credential=\(credentials.accessKey)/\(scope.text), SignedHeaders=\(request.signedHeaders), "
            + "Signature=\(signature)"
    }

    /// Returns the SHA-256 hash in hexadecimal.
    static func hash(of bytes: [UInt8]) -> String { Hexadecimal.text(of: SHA256.hash(data: bytes)).lowercased() }

    private static func mac(of text: String, _ key: SymmetricKey) -> HMAC<SHA256>.MAC {
        HMAC<SHA256>.authenticationCode(for: Array(text.utf8), using: key)
    }
}

extension AWSSignature.Request {
    /// The names of the signed headers, as they appear in the `Authorization` header.
    var signedHeaders: String { Set(headers.map(\.name)).sorted().joined(separator: ";") }

    /// The canonical form of the request, which is hashed.
    var canonical: String {
        let names = Set(headers.map(\.name)).sorted()
        let lines = names.map { name in
            "\(name):" + headers.filter { $0.name == name }.map { Self.folded($0.value) }.joined(separator: ",")
        }
        let fields = query.map { ($0.name.percentEncoded(), $0.value.percentEncoded()) }.sorted { $0 < $1 }
        return [
            method, canonicalPath, fields.map { "\($0.0)=\($0.1)" }.joined(separator: "&"), lines.joined(separator: "\n"), "",
            names.joined(separator: ";"), AWSSignature.hash(of: body),
        ].joined(separator: "\n")
    }

    /// The normalized path, percent-encoded once more than it was sent.
    ///
    /// AWS requires this second encoding for every service except S3.
    private var canonicalPath: String {
        var segments: [Substring] = []
        let parts = path.split(separator: "/", omittingEmptySubsequences: false)
        for part in parts where !part.isEmpty && part != "." {
            if part == ".." { _ = segments.popLast() } else { segments.append(part) }
        }
        let end = segments.isEmpty || !["", ".", ".."].contains(parts.last ?? "") ? "" : "/"
        return "/" + segments.map { String($0).percentEncoded() }.joined(separator: "/") + end
    }

    /// Removes whitespace at both ends of a value, and replaces each run of whitespace with one space.
    private static func folded(_ value: String) -> String {
        value.split { $0 == " " || $0 == "\t" }.joined(separator: " ")
    }
}

/// Converts times to and from the format of AWS signatures.
package enum AWSTime {
    /// Returns the time as text, such as `20150830T123600Z`.
    package static func text(_ date: Date) -> String {
        let text = date.formatted(.iso8601)
        return text.filter { $0 != "-" && $0 != ":" }
    }

    /// Parses a time; nil when the text has a different format.
    package static func date(_ text: String) -> Date? {
        let digits = Array(text.utf8)
        guard digits.count == 16, digits[8] == UInt8(ascii: "T"), digits[15] == UInt8(ascii: "Z") else { return nil }
        let spread =
            [text.prefix(4), text.dropFirst(4).prefix(2), text.dropFirst(6).prefix(2)].joined(separator: "-") + "T"
            + [text.dropFirst(9).prefix(2), text.dropFirst(11).prefix(2), text.dropFirst(13).prefix(2)].joined(separator: ":")
            + "Z"
        return try? Date(spread, strategy: .iso8601)
    }
}
