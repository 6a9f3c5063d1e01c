import HTTPTypes
import SignetCore

/// The resources that a client requests a token for (RFC 8707).
enum ResourceIndicators {
    /// Returns true for an absolute URI without a fragment (RFC 8707 section 2).
    static func isResource(_ text: String) -> Bool { TextRule.isRedirect(text) }

    /// Returns the resources of an authorization request; nil when it names none.
    /// - Throws: `invalid_target` when the client has not registered one of them.
    static func requested(
        by parameters: Parameters, of client: RegisteredClient
    ) throws(AuthorizationErrorResponse) -> [String]? {
        let asked = parameters.list("resource")
        guard asked.allSatisfy(client.audiences.contains) else {
            let error = OAuthErrorResponse.invalidTarget
            throw AuthorizationErrorResponse(code: error.code, message: error.message)
        }
        return asked.isEmpty ? nil : asked
    }
}

extension OAuthErrorResponse {
    /// The client requests a resource that it can't have a token for (RFC 8707 section 2).
    static let invalidTarget = OAuthErrorResponse(
        .badRequest, "invalid_target", "The client may not request a token for this resource")

    /// The client may not use the grant (RFC 6749 section 5.2).
    static let unauthorizedClient = OAuthErrorResponse(
        .badRequest, "unauthorized_client", "The client is not authorized to use this grant type")
}
