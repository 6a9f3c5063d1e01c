import HTTPTypes

/// The pages of a logout that an app or a user has begun at `endSession`.
extension HTMLPage {
    /// Returns the page that asks the user whether to end the session of the browser.
    /// - Parameters:
    ///   - user: The user of the session.
    ///   - action: The path to which the form is sent.
    ///   - hidden: The fields of the form, with the CSRF token of the session.
    ///   - target: The address to which the browser goes afterwards; nil for a page of this server.
    /// - Returns: The page, whose form can lead the browser only to this server and to the origin of `target`.
    static func signOut(
        _ user: UserKey, action: String, hidden: [(name: String, value: String)], to target: LogoutReturn?
    ) -> HTMLPage {
        HTMLPage(
            title: localized(.signOutQuestion),
            clientLogo: target?.client.logo,
            content: tag("p") { localized(.signedInAs, ["user": user.name]) }
                + tag("p") {
                    if let target {
                        localized(.signOutReturns, ["client": target.client.shownName])
                    } else {
                        localized(.signOutAbout)
                    }
                }
                + tag("form", ["method": "post", "action": action]) {
                    for (name, value) in hidden { PagePart.hidden(name, value) }
                    tag("div", ["class": "buttons"]) { PagePart.button(localized(.signOut)) }
                },
            formTargets: target.flatMap { CSPSource($0.address) }.map { [$0.text] } ?? [])
    }

    /// Returns the page for a browser whose session has ended.
    /// - Parameters:
    ///   - headers: The headers in addition to those of each page.
    ///   - signInAt: The path of the login page.
    /// - Returns: The page, with a link to sign in again.
    static func signedOut(_ headers: HTTPFields = [:], signInAt: String) -> HTMLPage {
        HTMLPage(
            title: localized(.signedOut),
            content: tag("p") { localized(.sessionEnded) } + PagePart.link(localized(.signInAgain), to: signInAt),
            headers: headers)
    }

    /// Returns the page for a logout without a session.
    /// - Parameter target: The address to which a link leads; nil for no link.
    /// - Returns: The page.
    static func notSignedIn(returningTo target: LogoutReturn?) -> HTMLPage {
        HTMLPage(
            title: localized(.youAreNotSignedIn),
            clientLogo: target?.client.logo,
            content: tag("p") { localized(.noSession) }
                + (target.map { PagePart.link(localized(.returnTo, ["client": $0.client.shownName]), to: $0.address) } ?? .nothing)
        )
    }
}
