/// The format of errors of the authorization endpoint that cannot be sent to a client, of errors of `endSession` in a browser, and
/// of the 404 response to a browser at an address that does not exist.
///
/// The server redirects only to a redirect URI that it has verified. Other errors are for the browser.
public enum AuthorizeErrorFormat: String, Sendable, CaseIterable {
    /// A page, as in AM.
    case page
    /// JSON with `error` and `error_description`, as at the other addresses of OAuth 2.0.
    case json
}
