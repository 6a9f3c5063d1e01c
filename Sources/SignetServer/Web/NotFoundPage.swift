import HTTPTypes

extension HTMLPage {
    /// Returns the page for a browser that opens an address, or a realm, that the server does not have.
    /// - Parameters:
    ///   - error: The error with status 404.
    ///   - signInAt: The path of the login page.
    /// - Returns: A page with the status of the error and a link to the login page.
    static func notFound(_ error: APIError, signInAt: String) -> HTMLPage {
        HTMLPage(
            title: localized(.nothingHere), status: error.status,
            content: PagePart.alert(error == .resourceNotFound ? localized(.noSuchPage) : error.message)
                + PagePart.link(localized(.signIn), to: signInAt),
            headers: error.headers)
    }
}
