import SignetCore

extension HTMLPage {
    /// Returns the page for an authorization request whose error cannot be sent to its client.
    ///
    /// Programs read the error in `pageData`, which AM's page has in the same form.
    /// - Parameters:
    ///   - refusal: The error.
    ///   - realm: The realm of the request.
    ///   - baseURL: The public address of the server.
    /// - Returns: A page with the status of the error.
    static func authorizationError(_ refusal: OAuthErrorResponse, in realm: RealmPath, baseURL: String) -> HTMLPage {
        let literal = { (text: String) in JSON.text(of: .string(text)) }
        let error = "{ description: \(literal(refusal.message)), message: \(literal(refusal.code)) }"
        let data = "{ realm: \(literal(realm.description)), baseUrl: \(literal(baseURL + "/XUI")), error: \(error) }"
        return HTMLPage(
            title: localized(.requestRefused), status: refusal.status,
            purpose: localized(.requestRefusedAbout),
            content: PagePart.alert(refusal.message)
                + tag("p", ["class": "quiet"]) {
                    localized(.errorCode)
                    " "
                    tag("code") { refusal.code }
                } + dataBlock("pageData = \(data);"),
            headers: refusal.headers)
    }
}
