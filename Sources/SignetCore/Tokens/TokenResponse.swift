#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// What token endpoints answer, read with patience for what real ones write: a content type that is not JSON's, numbers as
/// strings, `expires_in` left out, error names of their own, empty bodies.
package enum TokenResponse {
    /// The token in a token endpoint's answer (RFC 6749 section 5.1).
    /// - Parameters:
    ///   - requestedScope: What was asked for, which is what was given when the answer does not say (section 5.1).
    ///   - now: When the answer came.
    ///   - retryAfter: The answer's `Retry-After`.
    /// - Throws: ``OAuthError``.
    package static func token(
        status: Int, body: [UInt8], requestedScope: String = "", now: Date, retryAfter: Duration? = nil
    ) throws(OAuthError) -> AccessToken {
        let json = try members(status: status, body: body, retryAfter: retryAfter)
        guard let text = json["access_token"]?.string, !text.isEmpty else {
            throw OAuthError(.unreadable, status: status, explanation: "the answer has no access token")
        }
        func secret(_ name: String) -> Secret? {
            json[name]?.string.flatMap { $0.isEmpty ? nil : Secret(text: $0) }
        }
        let type = json["token_type"]?.string ?? ""
        return AccessToken(
            value: Secret(text: text), tokenType: type.isEmpty ? "Bearer" : type,
            scope: scope(json["scope"]) ?? requestedScope, issuedAt: now,
            expiresAt: lifetime(json["expires_in"]).map { now + $0 }, refreshToken: secret("refresh_token"),
            idToken: secret("id_token"))
    }

    /// The members of a successful answer in JSON.
    /// - Throws: ``OAuthError``, also for a success that names an error: some servers answer everything with 200.
    package static func members(
        status: Int, body: [UInt8], retryAfter: Duration? = nil
    ) throws(OAuthError) -> [String: JSONValue] {
        let json = (try? JSON.value(of: withoutMark(body)))?.object
        if let error = error(json: json, status: status, retryAfter: retryAfter) { throw error }
        guard let json else {
            throw OAuthError(.unreadable, status: status, explanation: "the answer is not JSON; is this the right address?")
        }
        return json
    }

    /// The error of an answer; nil for a success.
    package static func error(status: Int, body: [UInt8], retryAfter: Duration? = nil) -> OAuthError? {
        error(json: (try? JSON.value(of: withoutMark(body)))?.object, status: status, retryAfter: retryAfter)
    }

    private static func error(json: [String: JSONValue]?, status: Int, retryAfter: Duration?) -> OAuthError? {
        // A server in trouble may say anything; that it is in trouble is what counts.
        let isInTrouble = status >= 500 || status == 429 || status == 408
        if let name = json?["error"]?.string, !name.isEmpty {
            let said = OAuthError(
                name: name, explanation: json?["error_description"]?.string, status: status, retryAfter: retryAfter)
            guard isInTrouble, !said.isRetryable else { return said }
            return OAuthError(
                .failed, status: status, name: said.name, explanation: said.explanation, retryAfter: retryAfter)
        }
        if (200..<300).contains(status) { return nil }
        if isInTrouble { return OAuthError(.failed, status: status, retryAfter: retryAfter) }
        // AM's own resources answer {"code":401,"reason":"Unauthorized","message":"Access Denied"}.
        if let json, let message = json["message"]?.string ?? json["detail"]?.string ?? json["reason"]?.string {
            return OAuthError(name: "other", explanation: message, status: status, retryAfter: retryAfter)
        }
        return OAuthError(.unreadable, status: status, retryAfter: retryAfter)
    }

    /// Without the mark that some editors put in front of UTF-8.
    private static func withoutMark(_ body: [UInt8]) -> [UInt8] {
        body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
    }

    /// Seconds; nil when there are none to be read. Ten years are as good as more.
    private static func lifetime(_ value: JSONValue?) -> Double? {
        let seconds: Double? =
            switch value {
            case .integer(let number): Double(number)
            case .number(let number): number
            case .string(let text): Double(text)
            default: nil
            }
        guard let seconds, seconds.isFinite else { return nil }
        return min(max(0, seconds), 315_360_000)
    }

    private static func scope(_ value: JSONValue?) -> String? {
        value?.string ?? value?.array?.compactMap(\.string).joined(separator: " ")
    }
}
