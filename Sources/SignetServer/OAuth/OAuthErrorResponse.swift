import HTTPTypes
import Hummingbird
import SignetCore

/// An OAuth 2.0 error response: `{"error","error_description"}` (RFC 6749 section 5.2).
struct OAuthErrorResponse: Error, Sendable, Hashable {
    let status: HTTPResponse.Status
    let code: String
    let message: String
    var headers: HTTPFields = [:]
    /// The reason for the log, which the client doesn't receive.
    ///
    /// When nil, the log has ``message``.
    var reason: String?
    /// The `ui_locales` of the form in the request's body, for a page with the error; nil for a request without it.
    var uiLocales: String?

    init(_ status: HTTPResponse.Status, _ code: String, _ message: String, headers: HTTPFields = [:]) {
        self.status = status
        self.code = code
        self.message = message
        self.headers = headers
    }

    /// Converts an error that any resource can return.
    init(_ refusal: APIError) {
        let code =
            switch refusal.status {
            case .notFound: "not_found"
            case .tooManyRequests, .serviceUnavailable: "temporarily_unavailable"
            case let status where status.kind == .serverError: "server_error"
            default: "invalid_request"
            }
        self.init(refusal.status, code, refusal.message, headers: refusal.headers)
    }

    static func invalidRequest(_ message: String) -> OAuthErrorResponse {
        OAuthErrorResponse(.badRequest, "invalid_request", message)
    }
    static func invalidGrant(_ message: String) -> OAuthErrorResponse {
        OAuthErrorResponse(.badRequest, "invalid_grant", message)
    }
    /// The redirect URI is not one that the client registered, or not the one of the authorization request.
    static let redirectMismatch = OAuthErrorResponse(
        .badRequest, "redirect_uri_mismatch", "The redirection URI provided does not match a pre-registered value.")
    /// The PKCE code verifier is wrong.
    static let wrongVerifier = invalidGrant("The code verifier does not match the challenge")
    /// The DPoP proof has another key than the grant, or is missing.
    static let otherDPoPKey = OAuthErrorResponse(
        .badRequest, "invalid_dpop_proof", "The grant is bound to another key than that of the DPoP proof")
    static func invalidScope(_ message: String) -> OAuthErrorResponse {
        OAuthErrorResponse(.badRequest, "invalid_scope", message)
    }

    /// The client is unknown, or failed to authenticate.
    static func invalidClient(usedBasic: Bool) -> OAuthErrorResponse {
        OAuthErrorResponse(
            .unauthorized, "invalid_client", "Client authentication failed",
            headers: usedBasic ? [.wwwAuthenticate: "Basic realm=\"signet\""] : [:])
    }

    /// The access token is invalid (RFC 6750 section 3.1).
    static func invalidToken(_ message: String) -> OAuthErrorResponse {
        OAuthErrorResponse(
            .unauthorized, "invalid_token", message,
            headers: [.wwwAuthenticate: "Bearer error=\"invalid_token\", error_description=\"\(message)\""])
    }

    /// The request has no access token.
    ///
    /// The response then contains only the authentication schemes in `WWW-Authenticate` (RFC 6750 section 3, RFC 9449 section 7.1).
    static let noToken: OAuthErrorResponse = {
        var headers: HTTPFields = [.wwwAuthenticate: "Bearer"]
        headers.append(HTTPField(name: .wwwAuthenticate, value: DPoPEndpoint.challenge))
        return OAuthErrorResponse(.unauthorized, "invalid_token", "The access token is missing", headers: headers)
    }()

    var response: Response {
        get throws {
            try OAuthReply.make(
                status, ["error": .string(code), "error_description": .string(message)], headers: headers)
        }
    }
}

/// Builds the responses of OAuth 2.0 resources, with the headers that responses with tokens need (RFC 6749 section 5.1).
enum OAuthReply {
    static func make(
        _ status: HTTPResponse.Status, _ body: [String: JSONValue], headers: HTTPFields = [:]
    ) throws -> Response {
        var response = try JSONReply.make(status, body, headers: headers)
        response.headers[.cacheControl] = "no-store"
        response.headers.set("Pragma", "no-cache")
        return response
    }

    /// Returns a signed token as the body (`application/jwt`, RFC 7519 section 10.3.1).
    static func token(_ text: String) -> Response {
        var headers: HTTPFields = [.cacheControl: "no-store"]
        headers.set("Pragma", "no-cache")
        return Response(Array(text.utf8), type: "application/jwt", headers: headers)
    }

    /// Redirects a browser, without a body.
    ///
    /// One SDK treats a body that is not JSON as an error.
    static func redirect(to location: String, headers: HTTPFields = [:]) -> Response {
        var headers = headers
        headers[.location] = location
        headers[.cacheControl] = "no-store"
        return Response(status: .found, headers: headers)
    }
}
