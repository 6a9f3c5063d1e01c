import SignetCore

#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// The access keys of the clients that may send through the gateway.
///
/// It checks that a request is signed with one of them.
package struct PushGatewayKeys: Sendable {
    /// The maximum difference between a sender's clock and the server's clock, in seconds.
    ///
    /// AWS uses the same value.
    static let tolerance = 900.0

    private let keys: [String: AWSCredentials]
    /// A random secret that belongs to no client.
    ///
    /// The check computes a signature with it when the access key is unknown, so that it does the same work for known and unknown
    /// keys.
    private let decoy = Secret.random(byteCount: 32)

    /// Creates the check for the keys of a configuration.
    package init(_ configuration: PushGatewayConfiguration) {
        keys = Dictionary(configuration.keys.map { ($0.accessKey, $0) }, uniquingKeysWith: { _, last in last })
    }

    /// Checks the signature of a request.
    /// - Parameters:
    ///   - method: The method of the request.
    ///   - path: The path of the request.
    ///   - query: The query of the request, without the question mark.
    ///   - body: The body of the request.
    ///   - now: The time of the machine's clock. Senders don't know the adjustable clock of the server.
    ///   - header: Returns the value of a header, given its name in lower case.
    /// - Throws: ``SNSError`` when the signature is missing, wrong, expired or made with an unknown key.
    package func check(
        method: String, path: String, query: String, body: [UInt8], now: Date, header: (String) -> String?
    ) throws(SNSError) {
        guard let authorization = header("authorization") else { throw .missingToken }
        let claim = try SignatureClaim(authorization)
        guard let time = header("x-amz-date"), let sentAt = AWSTime.date(time) else {
            throw .incompleteSignature(
                "Authorization header requires existence of a 'X-Amz-Date' header of the form 20150830T123600Z.")
        }
        guard ["host", "x-amz-date"].allSatisfy(claim.signedHeaders.contains) else {
            throw .incompleteSignature("The headers 'host' and 'x-amz-date' must be signed.")
        }
        guard claim.day == time.prefix(8), claim.service == "sns" else {
            throw .wrongSignature("Credential should be scoped to the day of the request and to the service 'sns'.")
        }
        let headers = claim.signedHeaders.map { (name: $0, value: header($0) ?? "") }
        let request = AWSSignature.Request(
            method: method, path: path, query: Self.fields(query), headers: headers, body: body)
        let scope = AWSSignature.Scope(time: time, region: claim.region, service: claim.service)
        let key = keys[claim.accessKey]
        let expected = AWSSignature.signature(of: request, scope, secret: key?.secret ?? decoy)
        let isRight = ConstantTime.areEqual(expected, claim.signature)
        guard let key else { throw .unknownKey }
        guard isRight, Self.hasToken(key, header("x-amz-security-token")) else {
            throw .wrongSignature(
                "The request signature we calculated does not match the signature you provided. Check your AWS Secret Access Key "
                    + "and signing method. Consult the service documentation for details.")
        }
        // The signature is checked before the time, so that only the owner of a key learns the server's time from the error.
        guard abs(now.timeIntervalSince(sentAt)) <= Self.tolerance else {
            let isLate = sentAt < now
            throw .wrongSignature(
                "Signature \(isLate ? "expired" : "not yet current"): \(time) is \(isLate ? "now earlier" : "still later") than "
                    + "\(AWSTime.text(now.addingTimeInterval(isLate ? -Self.tolerance : Self.tolerance))) "
                    + "(\(AWSTime.text(now)) \(isLate ? "-" : "+") 15 min.)")
        }
    }

    /// Returns true when the security token of the request is the key's token.
    ///
    /// Temporary credentials have a token, and the signature covers it.
    private static func hasToken(_ key: AWSCredentials, _ token: String?) -> Bool {
        guard let expected = key.sessionToken else { return token == nil }
        return token.map { Secret($0.utf8) } == expected
    }

    private static func fields(_ query: String) -> [(name: String, value: String)] {
        query.split(separator: "&").map { part in
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
                .map { String($0).percentDecoded() ?? String($0) }
            return (name: pair[0], value: pair.count > 1 ? pair[1] : "")
        }
    }
}

/// The contents of the `Authorization` header of a signed request.
struct SignatureClaim: Sendable, Hashable {
    let accessKey: String
    let day: String
    let region: String
    let service: String
    let signedHeaders: [String]
    let signature: String

    init(_ header: String) throws(SNSError) {
        let parts = header.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0] == AWSSignature.algorithm else {
            throw .incompleteSignature("Authorization header requires '\(AWSSignature.algorithm)'.")
        }
        var members: [String: String] = [:]
        for part in parts[1].split(separator: ",") {
            let pair = part.split(separator: "=", maxSplits: 1).map { $0.trimming(" ") }
            guard pair.count == 2, members.updateValue(String(pair[1]), forKey: String(pair[0])) == nil else {
                throw .incompleteSignature("Authorization header requires members of the form 'name=value', each once.")
            }
        }
        func member(_ name: String) throws(SNSError) -> String {
            guard let value = members[name] else {
                throw .incompleteSignature("Authorization header requires '\(name)' parameter.")
            }
            return value
        }
        let scope = try member("Credential").split(separator: "/", omittingEmptySubsequences: false).map(String.init)
        guard scope.count == 5, scope[4] == AWSSignature.terminator, !scope.contains("") else {
            throw .incompleteSignature(
                "Credential must have exactly 5 slash-delimited elements: key, day, region, service, aws4_request.")
        }
        (accessKey, day, region, service) = (scope[0], scope[1], scope[2], scope[3])
        signedHeaders = try member("SignedHeaders").split(separator: ";").map(String.init)
        signature = try member("Signature")
    }
}
