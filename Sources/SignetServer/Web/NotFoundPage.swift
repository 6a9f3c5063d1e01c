import HTTPTypes

extension HTMLPage {
    /// Returns the page for a browser that opens an address, or a realm, that the server does not have.
    /// - Parameters:
    ///   - error: The error with status 404.
    ///   - signInAt: The path of the login page.
    /// - Returns: A page with the status of the error and a link to the login page.
    static func notFound(_ error: APIError, signInAt: String) -> HTMLPage {
        HTMLPage(
            title: "There is nothing here", status: error.status,
            content: PagePart.alert(error == .resourceNotFound ? "There is no such page." : error.message)
                + PagePart.link("Sign in", to: signInAt),
            headers: error.headers)
    }
}
