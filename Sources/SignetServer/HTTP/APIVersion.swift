import HTTPTypes
import SignetCore

/// A version in an `Accept-API-Version` header: `2.1`, or `2` for `2.0`.
struct APIVersion: Sendable, Hashable, CustomStringConvertible {
    let major: Int
    let minor: Int

    init(_ major: Int, _ minor: Int) {
        self.major = major
        self.minor = minor
    }

    init?(_ text: some StringProtocol) {
        let parts = text.split(separator: ".", omittingEmptySubsequences: false)
        guard (1...2).contains(parts.count), parts.allSatisfy({ $0.utf8.allSatisfy { (0x30...0x39).contains($0) } }),
            let major = Int(parts[0]), let minor = parts.count == 2 ? Int(parts[1]) : 0
        else { return nil }
        self.init(major, minor)
    }

    var description: String { "\(major).\(minor)" }

    /// Returns true when a requested version matches by CREST's rule: the same major version, and a minor version that isn't
    /// newer.
    func accepts(_ requested: APIVersion) -> Bool {
        requested.major == major && requested.minor <= minor
    }
}

/// The `Accept-API-Version` header: a list in any order, each part optional (protocol/journey.md section 1.6).
struct AcceptAPIVersion: Sendable, Hashable {
    private(set) var resource: APIVersion?
    private(set) var `protocol`: APIVersion?

    /// The newest protocol version of CREST.
    static let newestProtocol = APIVersion(2, 1)

    init(_ text: String) throws(APIError) {
        let malformed = APIError(.badRequest, "Accept-API-Version: the header is malformed")
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let pair = part.split(separator: "=", omittingEmptySubsequences: false).map { $0.trimming(" \t") }
            guard pair.count == 2, let version = APIVersion(pair[1]) else { throw malformed }
            switch pair[0] {
            case "resource" where resource == nil: resource = version
            case "protocol" where `protocol` == nil: `protocol` = version
            default: throw malformed
            }
        }
        if let asked = `protocol`, (asked.major, asked.minor) > (Self.newestProtocol.major, Self.newestProtocol.minor) {
            throw APIError(.badRequest, "Accept-API-Version: Protocol version \"\(asked)\" is not supported")
        }
    }

    /// Checks that the client accepts version `served` of the resource.
    ///
    /// A request without the header asks for the newest version.
    static func check(_ header: String?, served: APIVersion) throws(APIError) {
        _ = try check(header, served: [served])
    }

    /// Returns the version that the client requests, out of `served`, which lists the newest first.
    static func check(_ header: String?, served: [APIVersion]) throws(APIError) -> APIVersion {
        guard let header, let requested = try AcceptAPIVersion(header).resource else { return served[0] }
        guard let version = served.first(where: { $0.accepts(requested) }) else {
            throw APIError(.notFound, "Accept-API-Version: Requested version \"\(requested)\" does not match any routes.")
        }
        return version
    }
}
