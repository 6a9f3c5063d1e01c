#if canImport(FoundationEssentials)
package import FoundationEssentials
#else
package import Foundation
#endif

/// Parses the responses of token endpoints.
///
/// It accepts the deviations of real servers: content types other than JSON, numbers as strings, a missing `expires_in`, a missing
/// `token_type`, error names of their own, and empty bodies.
package enum TokenResponse {
    /// Returns the token of a token endpoint's response (RFC 6749 section 5.1).
    /// - Parameters:
    ///   - status: The HTTP status.
    ///   - body: The body of the response.
    ///   - requestedScope: The requested scope. It is the granted scope when the response has none (section 5.1).
    ///   - now: The time at which the response arrived.
    ///   - retryAfter: The `Retry-After` header of the response.
    /// - Returns: The access token, with its expiry and with the refresh token and the ID token if the response has them. It must
    ///   pass ``check(_:)`` before it is used or stored. It is returned in any case, so that the tokens of a refused response can
    ///   be revoked.
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
        return AccessToken(
            value: Secret(text: text), tokenType: tokenType(json["token_type"]), scope: scope(json["scope"]) ?? requestedScope,
            issuedAt: now,
            expiresAt: lifetime(json["expires_in"]).map { now + $0 }, refreshToken: secret("refresh_token"),
            idToken: secret("id_token"))
    }

    /// Checks that the tokens of a response can be used.
    ///
    /// A client must not use a token of a type that it doesn't understand (RFC 6749 section 7.1). After a request with a proof of
    /// possession the token must be bound to the key: a bearer token would be weaker than what the client asked for (RFC 9449
    /// section 5). The access token becomes a part of a header, so it has visible ASCII characters only, without a space. The
    /// refresh token may have spaces (RFC 6749 appendix A).
    /// - Parameter token: The token, with the key of the request as its binding.
    /// - Throws: ``OAuthError/Code/unusableToken``.
    package static func check(_ token: AccessToken) throws(OAuthError) {
        func refused(_ reason: String) -> OAuthError { OAuthError(.unusableToken, explanation: reason) }
        if token.binding == nil {
            guard token.tokenType.lowercased() == "bearer" else { throw refused("the type of the access token is not Bearer") }
        } else {
            guard token.isBound else {
                throw refused("the type of the access token is not DPoP, so the server did not bind it to the key of the client")
            }
        }
        guard token.value.consists(of: 0x21...0x7E) else {
            throw refused("the access token has a character other than visible ASCII")
        }
        guard token.refreshToken?.consists(of: 0x20...0x7E) ?? true else {
            throw refused("the refresh token has a character other than visible ASCII")
        }
    }

    /// Returns the JSON members of a successful response.
    /// - Throws: ``OAuthError``, also for a successful status with an error name, because some servers answer all requests with
    ///   200. ``OAuthError/Code/repeatedMember`` for a response whose meaning depends on its reader.
    package static func members(
        status: Int, body: [UInt8], retryAfter: Duration? = nil
    ) throws(OAuthError) -> [String: JSONValue] {
        var json: [String: JSONValue]?
        var isAmbiguous = false
        do {
            json = try JSON.value(of: withoutMark(body)).object
        } catch {
            isAmbiguous = error.isRepeatedName
        }
        if let error = error(json: json, status: status, retryAfter: retryAfter) { throw error }
        if isAmbiguous {
            throw OAuthError(.repeatedMember, status: status, explanation: "a name occurs twice in an object of the answer")
        }
        guard let json else {
            throw OAuthError(.unreadable, status: status, explanation: "the answer is not JSON; is this the right address?")
        }
        return json
    }

    /// Returns the error of a response; nil for a success.
    package static func error(status: Int, body: [UInt8], retryAfter: Duration? = nil) -> OAuthError? {
        error(json: (try? JSON.value(of: withoutMark(body)))?.object, status: status, retryAfter: retryAfter)
    }

    private static func error(json: [String: JSONValue]?, status: Int, retryAfter: Duration?) -> OAuthError? {
        // With these statuses a server may send any error name. The error stays retryable whatever the name is.
        let isTemporary = status >= 500 || status == 429 || status == 408
        if let name = json?["error"]?.string, !name.isEmpty {
            let serverError = OAuthError(
                name: name, explanation: json?["error_description"]?.string, status: status, retryAfter: retryAfter)
            guard isTemporary, !serverError.isRetryable else { return serverError }
            return OAuthError(
                .failed, status: status, name: serverError.name, explanation: serverError.explanation, retryAfter: retryAfter)
        }
        if (200..<300).contains(status) { return nil }
        if isTemporary { return OAuthError(.failed, status: status, retryAfter: retryAfter) }
        // AM's own resources answer {"code":401,"reason":"Unauthorized","message":"Access Denied"}.
        if let json, let message = json["message"]?.string ?? json["detail"]?.string ?? json["reason"]?.string {
            return OAuthError(name: "other", explanation: message, status: status, retryAfter: retryAfter)
        }
        return OAuthError(.unreadable, status: status, retryAfter: retryAfter)
    }

    /// Returns the body without a UTF-8 byte order mark.
    private static func withoutMark(_ body: [UInt8]) -> [UInt8] {
        body.starts(with: [0xEF, 0xBB, 0xBF]) ? Array(body.dropFirst(3)) : body
    }

    /// Returns the lifetime in seconds, limited to ten years; nil when the value isn't a finite number.
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

    /// Returns the token type; an empty text when the value isn't text.
    ///
    /// A missing type counts as Bearer.
    private static func tokenType(_ value: JSONValue?) -> String {
        switch value {
        case nil, .null?: "Bearer"
        default: value?.string ?? ""
        }
    }

    private static func scope(_ value: JSONValue?) -> String? {
        value?.string ?? value?.array?.compactMap(\.string).joined(separator: " ")
    }
}

extension Secret {
    /// Returns true when each byte is in the range.
    fileprivate func consists(of range: ClosedRange<UInt8>) -> Bool {
        withUnsafeBytes { $0.allSatisfy { range.contains($0) } }
    }
}
